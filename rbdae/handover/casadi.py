"""Problems as functions of CasADi (https://web.casadi.org): SX functions of named arguments, and the dictionary that
its integrators take."""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.graph.graph import FUNCTIONS, OF_TWO
from rbdae.handover.symbolic import ARITHMETIC, Model, values


@final
class CasadiModel(Model):
    """SX functions of a problem, made when first asked for; see `Problem.casadi`.

    x = y for ODE kinds. A DAE has x = (q, v, s) and z = (vdot, la) as in `Problem.with_constant_mass`.
    """

    _package = "casadi"

    @cached_property
    def rhs(self) -> Any:
        """The function (t, y, u, p) -> ode, the rates f of y; AttributeError for a DAE."""
        return self._made("rhs", "ode")

    @cached_property
    def residual(self) -> Any:
        """The function (t, y, yd, u, p) -> residual, (n_equations,)."""
        return self._made("residual", "residual")

    def _made(self, name: str, result: str) -> Any:
        casadi, function = self._module, self._function(name)
        given = {x: casadi.SX.sym(x, size) for x, size in {"t": 1, **self._sizes(function)}.items()}
        of_numbers = {x: getattr(casadi, {"abs": "fabs"}.get(x, x)) for x in (*FUNCTIONS, *OF_TWO)}
        operations = {**ARITHMETIC, **of_numbers, "select": casadi.if_else}
        out = casadi.vertcat(*values(function, operations, **given))
        return casadi.Function(name, [*given.values()], [out], [*given], [result])

    @cached_property
    def dae(self) -> dict[str, Any]:
        """The equations for `casadi.integrator`: t, x, u, p, ode, and of a DAE z, alg: qdot, vdot = z, and
        0 = M vdot - psi + G^T la with the constraints.

        It has the index of the problem. CasADi's integrators take 1 (`index-1`, `baumgarte`); a collocation of your
        own may take more. ValueError for an overdetermined form.
        """
        casadi = self._module
        sizes = {"t": 1, "x": len(self.x0), "z": len(self.z0), "u": len(self.inputs), "p": len(self.parameters)}
        given = {x: casadi.SX.sym(x, size) for x, size in sizes.items()}
        t, x, z, u, p = given.values()
        if self._mass is None:
            del given["z"]
            return {**given, "ode": self.rhs(t, x, u, p)}
        mass, (of_x, of_z) = self._mass, self._places
        both, yd, f = casadi.SX(mass.n, 1), casadi.SX.zeros(self.problem.n), casadi.SX.zeros(mass.n)
        both[of_x], both[of_z] = x, z
        yd[mass._rates.tolist()] = both[mass.w]
        y = both[mass._places.tolist()]
        f[mass._rows.tolist()] = casadi.DM(mass._signs) * self.residual(t, y, yd, u, p)
        f[mass._places[mass._rates].tolist()] = both[mass.w]
        return {**given, "ode": f[of_x], "alg": f[of_z]}

    @cached_property
    def x0(self) -> Vec:
        """The start of x."""
        return self.y0 if self._mass is None else self._mass.u0[self._places[0]]

    @cached_property
    def z0(self) -> Vec:
        """The start of z."""
        return np.empty(0) if self._mass is None else self._mass.u0[self._places[1]]

    @cached_property
    def unknowns(self) -> Any:
        """The function (x, z) -> y, by which `Problem.states`, `joints`, `reactions`, ... read results."""
        casadi = self._module
        x, z = casadi.SX.sym("x", len(self.x0)), casadi.SX.sym("z", len(self.z0))
        y = x
        if self._mass is not None:
            order = np.argsort(np.concatenate(self._places))[self._mass._places]
            y = casadi.vertcat(x, z)[order.tolist()]
        return casadi.Function("unknowns", [x, z], [y], ["x", "z"], ["y"])

    @cached_property
    def _mass(self) -> Any:
        """The equations with vdot as unknowns; None for ODE kinds, which are solved for their rates."""
        return None if self.problem.kind == "ode" else self.problem.with_constant_mass()

    @cached_property
    def _places(self) -> tuple[list[int], list[int]]:
        """The places of x and of z among the unknowns of `_mass`."""
        differs = self._mass.diagonal == 1.0
        return np.flatnonzero(differs).tolist(), np.flatnonzero(~differs).tolist()
