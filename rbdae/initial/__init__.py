"""From a system to a problem with consistent initial values."""
