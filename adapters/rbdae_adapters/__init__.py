"""Adapters of `rbdae` to solver packages: one module a package, none of them imported here."""
