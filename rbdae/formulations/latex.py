"""The equations of a formulation as LaTeX, from the attributes of its class."""

from __future__ import annotations

from rbdae.formulations.base import Formulation

_CONSTRAINTS = {
    0: r"g(q, t) = 0",
    1: r"G\,v + g_{\mathrm{I}} = 0",
    2: r"G\,\dot v + g_{\mathrm{II}} = 0",
}
_OF_MOMENTA = {
    0: r"g(q, t) = 0",
    1: r"\dot g(q, \partial H / \partial p, t) = 0",
    2: r"\ddot g(q, \partial H / \partial p, \dot p, t) = 0",
}
_STABILISED = r"\ddot g + 2\alpha\,\dot g + \beta^2 g = 0"


def equations(form: Formulation, velocity: str) -> tuple[str, ...]:
    """The equations, one per line; empty for a user's own formulation, whose equations are unknown.

    Parameters
    ----------
    form : a value of `rbdae.formulations`
    velocity : "angular", "spatial", "coordinate" or "momentum"
    """
    if not type(form).__module__.startswith(__name__.partition(".")[0] + "."):
        return ()
    if form.unknowns == "quasi-velocities":
        return _of_quasi_velocities(form)
    rows = _OF_MOMENTA if form.unknowns == "momenta" else _CONSTRAINTS
    constraints = [_STABILISED if form.stabilised and level == 2 else rows[level] for level in sorted(form.levels)]
    out = [_kinematics(form, velocity), *_dynamics(form), *constraints]
    if form.multipliers == "integrals":
        out.append(r"\dot\Lambda = \lambda, \quad \dot\Gamma = \mu")
    if form.kind == "ode":
        out.append(r"\lambda \text{ eliminated}")
    return tuple(out)


def _kinematics(form: Formulation, velocity: str) -> str:
    correction = r" - G^{\mathsf T} \mu" if form.corrected else ""
    if form.unknowns == "momenta":
        return rf"\dot q = \partial H / \partial p{correction}"
    if velocity == "coordinate":
        return rf"\dot q = v{correction}"
    omega = r"\omega" if velocity == "spatial" else r"\Omega"
    inner = rf"(v{correction})" if correction else "v"
    return rf"\dot q = K(q)\,{inner}, \quad v = (\dot x, {omega})"


def _dynamics(form: Formulation) -> list[str]:
    if form.unknowns == "momenta":
        return [r"\dot p = -\partial H / \partial q + Q - G^{\mathsf T} \lambda"]
    if form.projected:
        return [
            r"m\,\ddot x = f - G_x^{\mathsf T} \lambda",
            r"4 J L\,\ddot p + 8 L \dot L^{\mathsf T} J L\,\dot p = 2 n - 2 T_d^{\mathsf T} G_d^{\mathsf T} \lambda",
        ]
    return [r"M(q)\,\dot v = \psi(q, v, t) - G^{\mathsf T} \lambda"]


def _of_quasi_velocities(form: Formulation) -> tuple[str, ...]:
    motion = r"\dot q = K(q)\,(w - G^{\mathsf T} \mu)" if form.corrected else r"\dot q = K(q)\,w"
    out = [
        rf"{motion}, \quad w = T(q)\,\nu - r",
        r"T^{\mathsf T} \left[M \dot w - \psi(q, w, t)\right] = 0",
        "G\\,T = 0",
    ]
    return (*out, *(_CONSTRAINTS[level] for level in form.levels))
