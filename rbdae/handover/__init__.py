"""Models in other languages: one walk over recorded functions (`rbdae.handover.recorded`), and a file for each language."""
