"""Adapters of `rbdae` to solver packages, a module each, and the tools that they share (`rbdae_adapters.toolkit`).

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
"""The adapters of this distribution: the name before the colon in ``solver="name:method"``, and the module whose
``ADAPTER`` it is. ``pyproject.toml`` has the same pairs as entry points of the group ``rbdae.adapters``. Adapters of
other distributions have theirs there."""

__all__ = ["ADAPTERS"]
