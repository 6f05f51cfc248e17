"""`Outputs`: quantities of a problem as one function of (t, y, u), with exact derivatives
(`rbdae.problem.recorded_quantities`). That of an acceleration a(t, y, yd) with yd = f(t, y, u) is da/dy + da/dyd df/dy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat
from rbdae.inputs import values_of
from rbdae.problem.driven import places_of, present
from rbdae.problem.equations import Inputs
from rbdae.problem.owners import Owners
from rbdae.problem.recorded_quantities import Found, Tangents
from rbdae.quantities.quantity import Quantity


def numbers_among(owners: Owners, quantities: Sequence[Quantity | str]) -> list[Found]:
    """Quantities with their owners. Raises TypeError and ValueError for what the system has not, and for vectors."""
    if isinstance(quantities, (str, bytes, Quantity)) or not isinstance(quantities, Sequence):
        raise TypeError(
            f"outputs: quantities must be a list, got {_check.show(quantities)}; give [pin.angle, 'pin.rate']"
        )
    found = [owners.find(each) for each in quantities]
    for owner, each in found:
        if each.components:
            raise ValueError(f"outputs: {owner.name}.{each.name} is a vector; outputs are numbers")
    return found


@final
class Outputs:
    """The quantities of a problem that `rbdae.Problem.outputs` was asked for, in that order.

    Attributes
    ----------
    labels, units : list of str
        "pin.angle", "rad".
    """

    def __init__(self, problem: Any, found: Sequence[Found]) -> None:
        self._problem, self._found = problem, tuple(found)
        self.labels = [f"{owner.name}.{each.name}" for owner, each in found]
        self.units = [each.unit for _, each in found]
        self._tangents: dict[tuple[int, tuple[int, ...]], Tangents] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Outputs, (self._problem, self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"Outputs({', '.join(f'{a} [{b}]' for a, b in zip(self.labels, self.units, strict=True))})"

    def values(self, t: ArrayLike, y: ArrayLike, *, u: Inputs = None) -> Mat:
        """The quantities at a state, (n_outputs,), or at rows of states, (m, n_outputs)."""
        here = self._problem
        if u is not None and here.selection.rows.dropped:  # other rows may be taken, by other workspaces
            values = values_of("outputs", places_of(here.workspace), u, present(here.workspace))
            here = here.with_selection(here.selection.with_inputs(values))
        elif u is not None:
            here = here._driven.under("outputs", u)
        read = {kind: getattr(here, kind)(t, y) for kind in {owner.kind for owner, _ in self._found}}
        columns = [getattr(read[owner.kind][owner.name], each.name) for owner, each in self._found]
        out = np.stack(np.broadcast_arrays(*columns), axis=-1).astype(float) if columns else np.zeros(0)
        moving = [k for k, (_, each) in enumerate(self._found) if each.aspect == "acceleration"]
        if moving and here.kind == "ode":
            out[..., moving] = self._accelerations(here, t, y, moving)
        return out

    def _accelerations(self, here: Any, t: ArrayLike, y: ArrayLike, which: Sequence[int]) -> Mat:
        """Accelerations as rates of rates along the motion, which drift from the constraints has no part in."""
        times, rows, single = here.interpretation.rows(t, y)
        out = np.full((len(rows), len(which)), np.nan)
        for k in np.flatnonzero(np.isfinite(rows).all(axis=1)):
            t = float(times[k])
            out[k] = self._tangents_of(here, which).at(t, rows[k], here.rhs(t, rows[k]))[0]
        return out[0] if single else out

    def _tangents_of(self, here: Any, which: Sequence[int]) -> Tangents:
        key = id(here.workspace), tuple(which)
        if key not in self._tangents:
            self._tangents[key] = Tangents(here, [self._found[k] for k in which])
        return self._tangents[key]

    def jacobian(self, t: float, y: ArrayLike, *, u: Inputs = None) -> Mat:
        """d outputs / dy, (n_outputs, n), at fixed inputs.

        Raises
        ------
        ValueError
            for quantities without a derivative here: accelerations of DAE forms, whose rates follow from multipliers;
            torques and forces of drives, of actuators and of joints without coordinates
        """
        return self._derivatives(t, y, u)[0]

    def input_jacobian(self, t: float, y: ArrayLike, *, u: Inputs = None) -> Mat:
        """d outputs / du, (n_outputs, n_u), with u in the order of `rbdae.Problem.inputs`. Raises as `jacobian`."""
        return self._derivatives(t, y, u)[1]

    def _derivatives(self, t: float, y: ArrayLike, u: Inputs) -> tuple[Mat, Mat]:
        t = _check.time("outputs", t)
        here = self._problem if u is None else self._problem._driven.under("outputs", u)
        y = _check.real(f"y, the {here.n} unknowns of this problem,", y, (here.n,))
        found = self._tangents_of(here, range(len(self._found)))
        n, n_u = here.n, len(here.inputs)
        _, D = found.at(t, y, here.rhs(t, y) if found.accelerated else y)
        if not found.accelerated:
            return D[:, :n], D[:, 2 * n :]
        by_rates = D[:, n : 2 * n]
        by_inputs = here.input_jacobian(t, y) if n_u else np.zeros((n, 0))
        return D[:, :n] + by_rates @ here.rhs_jacobian(t, y), D[:, 2 * n :] + by_rates @ by_inputs
