"""Long models, recorded by kinds of bodies, joints and forces."""
