"""The user's functions of forces, called once at the start: what they give must be what the kernels expect.

Python functions are checked at every call, too (`rbdae.forces.packing`). Those compiled by numba write into the
kernels' memory without a check, so that here alone it is seen what they fill.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec, cross
from rbdae.actuators.network import elements_of
from rbdae.body import Body
from rbdae.compiler.user_functions import is_compiled
from rbdae.forces.element import Element, StateElement, UserElement, value_of
from rbdae.initial.user_potentials import check_potential
from rbdae.inputs import Input
from rbdae.system import System

_ROOM = 1024
"""Numbers behind `out` in which a function may be seen to write too far."""

_MARK = -7.2057594037927936e16
"""What no law gives by chance."""


class _Real(np.ndarray[Any, Any]):
    """An array that refuses what NumPy would cut: imaginary parts."""

    def __setitem__(self, key: Any, value: Any) -> None:
        if np.iscomplexobj(value):
            raise TypeError(
                f"a function of a force writes complex numbers, {_check.show(value)}, into out[{_check.show(key)}]; "
                "give real ones"
            )
        super().__setitem__(key, value)


def check_user_laws(system: System, t0: float) -> None:
    """Call every function of every force at the start.

    Raises
    ------
    TypeError, ValueError
        for one that gives other than finite real numbers of the right shape, by the name of the force; what the
        function itself raises passes as it is
    """
    for name, element, bodies in elements_of(system.forces, system.joints):
        owner = f"force {name!r}"
        if isinstance(element, UserElement):
            x = _motion(bodies, 2)
            _check_filling(owner, "force", element.force, t0, x, 24)
            if element.jacobian is not None:
                _check_filling(owner, "jacobian", element.jacobian, t0, x, 1152)
            if element.potential is not None:
                _check_filling(owner, "potential", element.potential, t0, x[:24], 1)
                check_potential(owner, bodies, element, t0, x[:24])
        elif isinstance(element, StateElement):
            start = _check.array(owner, "the start of its internal states", element.start, (len(element.names),))
            _check_inputs(owner, system, element.inputs)
            inputs = np.array([system.source(each)(t0) for each in element.inputs])
            least = 2 if element.bodies is None else 0
            x = np.concatenate([_motion(bodies, least), start, inputs])
            n = element.n_results(max(len(bodies), least))
            _check_filling(owner, "function", element.function, t0, x, n)
            if element.jacobian is not None:
                _check_filling(owner, "jacobian", element.jacobian, t0, x, n * len(x))
        elif isinstance(element, Element) and element.force is not None:
            _check_inputs(owner, system, element.force.inputs)
            element.force.check(owner, t0, [system.source(each)(t0) for each in element.force.inputs])
        elif isinstance(element, Element):
            _check_inputs(owner, system, element.law.inputs)
            if element.law.function is not None:
                value_of(owner, element.law, t0)


def _check_inputs(owner: str, system: System, inputs: Sequence[Input]) -> None:
    """Refuse inputs of other systems."""
    for each in inputs:
        try:
            system.source(each)
        except ValueError as error:
            raise ValueError(f"{owner}: {error}") from None


def _check_filling(owner: str, what: str, function: Callable[[float, Vec, Vec], Any], t: float, x: Vec, n: int) -> None:
    room = np.full(n + 2 * _ROOM, _MARK)
    out, given = room[_ROOM : _ROOM + n], x.copy()
    _check.takes(owner, what, function, "t", "x", "out")
    returned: Any = function(t, given, out if is_compiled(function) else out.view(_Real))
    if returned is not None:
        raise TypeError(
            f"{owner}: {what} must fill out and return nothing, got {_check.show(returned)}; write out[:] = ..."
        )
    if np.any(room[:_ROOM] != _MARK) or np.any(room[_ROOM + n :] != _MARK):
        raise ValueError(f"{owner}: {what} fills more than the {n} numbers that out has; correct its indices")
    unset = np.flatnonzero(out == _MARK)
    if len(unset):
        raise ValueError(
            f"{owner}: {what} does not fill out: out[{unset[0]}] is unset at t = {t:g}, as are {len(unset) - 1} others "
            f"of {n}; begin with out[:] = 0.0"
        )
    if not np.isfinite(out).all():
        k = int(np.flatnonzero(~np.isfinite(out))[0])
        raise ValueError(f"{owner}: {what} gives out[{k}] = {out[k]} at t = {t:g}; it must be finite at the start")
    if not np.array_equal(given, x):
        raise ValueError(f"{owner}: {what} changes x; it has to leave it alone: work on x.copy()")


def _motion(bodies: Sequence[Body], least: int) -> Vec:
    """(Z, Zdot) of bodies as they were added, and of the ground for those that lack; 24 numbers of each."""
    n = max(least, len(bodies))
    Z, Zd = np.zeros((n, 4, 3)), np.zeros((n, 4, 3))
    Z[:, 1:] = np.eye(3)
    for k, body in enumerate(bodies):
        if not body.fixed:
            Z[k], Zd[k] = _natural(body)
    return np.concatenate([Z.ravel(), Zd.ravel()])


def _natural(body: Body) -> tuple[Any, Any]:
    """(x, d1, d2, d3) of a body and their rates, by rows."""
    R, arm = np.array(body.rotation), np.array(body.reference)
    rate = R @ cross(np.array(body.angular_velocity), np.eye(3)).T
    return np.vstack([body.position + R @ arm, R.T]), np.vstack([body.velocity + rate @ arm, rate.T])


__all__ = ["check_user_laws"]
