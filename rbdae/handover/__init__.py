"""Models in other languages: one walk over recorded functions (`rbdae.handover.recorded`), a file for each language."""
