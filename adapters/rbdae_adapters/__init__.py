"""Adapters of `rbdae` to solver packages, one module each, and their common tools (`rbdae_adapters.toolkit`).

Nothing is imported here: an adapter imports its package when it runs.
"""

ADAPTERS: dict[str, str] = {
    "rbdae": "rbdae_adapters.rbdae_loops",
    "scipy": "rbdae_adapters.scipy_ivp",
    "scikits.odes": "rbdae_adapters.scikits_odes",
    "sundials": "rbdae_adapters.sundials",
    "sksundae": "rbdae_adapters.sksundae",
    "assimulo": "rbdae_adapters.assimulo",
    "solve_dae": "rbdae_adapters.solve_dae",
}
"""The adapters of this distribution: the name before the colon in ``solver="name:method"``, and the module with its
``ADAPTER``. ``pyproject.toml`` lists the same pairs as entry points of the group ``rbdae.adapters``; adapters of other
distributions register there too."""
