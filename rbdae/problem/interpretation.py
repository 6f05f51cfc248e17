"""The meaning of the unknowns: motion of bodies, energy, constraints, multipliers, reactions; for one selection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any, cast, final

import numpy as np

from rbdae._arrays import ArrayLike, Bools, Mat, Vec
from rbdae._frozen import ByName, by_fields
from rbdae.formulations import null_space
from rbdae.kernels import outputs, readings
from rbdae.kernels.entry import Entry
from rbdae.kernels.joint_rows import balanced, independence, pivots
from rbdae.kernels.readings import joint_loads, joint_matrix, potentials, power
from rbdae.machine.function import MachineFunction
from rbdae.machine.reading import slices
from rbdae.multibody.choices.row_selection import (
    WEAKENED,
    carried_by_kept,
    minimum_norm,
    null_directions,
    redundant_rows,
)
from rbdae.multibody.choices.selection import KeptRows
from rbdae.multibody.code.bound import BoundKernel
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.system.model import Model
from rbdae.problem.matrices import Matrices, MatrixView
from rbdae.problem.measures import Measures, Recorded
from rbdae.problem.owners import Owners
from rbdae.problem.quantities import (
    BodyState,
    Constraints,
    Energy,
    Measured,
    Momentum,
    Reaction,
    lazy_state,
    of_bodies,
    rotation,
)
from rbdae.problem.timed import as_rows

_NEARLY_SINGULAR = 1e-3
"""Sine between a joint row and those before it, below which reactions are found by singular values."""

_MOVED = 1e-6
"""Components that unit multipliers move by more are not unique; forces count times the model's length."""

_PER_VIOLATION, _MOST_MOVED = 100.0, 1e-2
"""The same where the constraints are violated: rows that follow from the others do so as far as these hold."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Interpretation:
    """Reads states by one selection. Methods of `t, y` take a time and (n,), or times (m,) and (m, n)."""

    workspace: Workspace

    __reduce__ = by_fields

    @property
    def model(self) -> Model:
        """The model whose states it reads."""
        return self.workspace.model

    @property
    def n_constraints(self) -> int:
        """Internal constraints of the chart and joint equations."""
        return self.model.n * len(self.workspace.settings.chart.internal) + self.workspace.layout.n_rows

    # ------------------------------------------------------------ kernels, row by row

    @cached_property
    def _bound(self) -> dict[Entry, BoundKernel]:
        return {}

    def _kernel(self, entry: Entry) -> BoundKernel:
        if entry not in self._bound:
            self._bound[entry] = BoundKernel(self.workspace, entry)
        return self._bound[entry]

    @cached_property
    def events(self) -> dict[Any, Any]:
        """The events of quantities that no run has at work, see `rbdae.problem.event`."""
        return {}

    def function(self, entry: Entry, *lengths: int) -> MachineFunction:
        """The kernel as a C function, whatever is behind it, for y, yd and out of these lengths."""
        return self._kernel(entry).function(*lengths)

    @property
    def _rates(self) -> Entry:
        return self.workspace.settings.kernels.rates

    def rows(self, t: ArrayLike, y: ArrayLike) -> tuple[Vec, Mat, bool]:
        """Times (m,), states (m, n), and whether one state was given; refuses other shapes."""
        return as_rows(self.workspace.layout.n, t, y)

    def evaluated(self, entry: Entry, t: Vec, inputs: Sequence[Mat], n: int) -> Mat:
        """A kernel's n results at rows of its inputs, (m, n)."""
        out = np.empty((len(t), n))
        self._kernel(entry).each(t, inputs, out)
        return out

    def read(self, entry: Entry, t: ArrayLike, y: ArrayLike, n: int) -> Mat:
        """A kernel's n results at (t, y), (..., n)."""
        times, values, single = self.rows(t, y)
        out = self.evaluated(entry, times, (values,), n)
        return out[0] if single else out

    def machine(self, entry: Entry, n: int) -> MachineFunction | None:
        """The same as a machine function of (t, y); None where Python is called anyway."""
        return self._kernel(entry).machine(self.workspace.layout.n, n)

    @cached_property
    def places(self) -> list[int]:
        """Where each body is in rows of `in_memory`."""
        return [int(k) for k in self.workspace.layout.rank[: self.model.n]]

    def in_memory(self, t: Vec, y: Mat) -> Mat:
        """Natural coordinates Z (m, 24 bodies) with the bodies as they are in memory."""
        return self.evaluated(outputs.natural, t, (y,), 24 * self.model.n)

    # ------------------------------------------------------------ motion

    def natural(self, t: ArrayLike, y: ArrayLike) -> Mat:
        """Natural coordinates and their rates, (x, d1, d2, d3, xdot, d1dot, ...), shape (..., bodies, 24).

        x is the centre of mass of a free body and the pivot of a body that has one; bodies in the order of addition.
        """
        return self.by_body(outputs.natural, t, y, 24)

    def by_body(self, entry: Entry, t: ArrayLike, y: ArrayLike, width: int) -> Mat:
        """A kernel's results, `width` numbers a body, for the bodies in the order of addition, (..., bodies, width)."""
        n = self.model.n
        out = self.read(entry, t, y, width * n)
        return out.reshape(*out.shape[:-1], n, width)[..., self.workspace.layout.rank[:n], :]

    def states(self, t: ArrayLike, y: ArrayLike) -> dict[str, BodyState]:
        """Motion of every body by name; vectorised over rows of y."""
        times, values, single = self.rows(t, y)
        times, values = times.copy(), values.copy()
        Z = self.in_memory(times, values) if single else None

        @cache
        def read(what: str) -> Mat:
            out = np.empty((self.model.n, len(times), 4 if what == "quaternion" else 3))
            for part in slices(len(times), 28 * self.model.n):
                here = self.in_memory(times[part], values[part]) if Z is None else Z
                of_bodies(self.model, here, what, self.places, out, part.start)
            return out[:, 0] if single else out

        def of_body(b: int, what: str) -> Any:
            return rotation(read("quaternion")[b]) if what == "orientation" else read(what)[b]

        return ByName("body", ((name, lazy_state(partial(of_body, b))) for b, name in enumerate(self.model.names)))

    def _of_model(self, name: str, make: Callable[[], Any]) -> Any:
        """What problems that follow each other have in common; one with other numbers shares only the memory."""
        known: dict[str, Any] = self.workspace.memory.known
        if known.get(name, (None,))[0] is not self.model:
            known[name] = self.model, make()
        return known[name][1]

    @cached_property
    def owners(self) -> Owners:
        """Joints and forces with their quantities."""
        return cast(Owners, self._of_model("owners", lambda: Owners(self.model)))

    @cached_property
    def recorded(self) -> Recorded:
        """Their quantities, recorded once for a model."""
        return cast(Recorded, self._of_model("recorded", lambda: Recorded(self)))

    def measures(self, t: ArrayLike, y: ArrayLike) -> Measures:
        """The reader of quantities at rows of their own."""
        times, values, single = self.rows(t, y)
        return Measures(self, times.copy(), values.copy(), single)

    def joints(self, t: ArrayLike, y: ArrayLike) -> dict[str, Measured]:
        """Quantities of every joint by name, such as ``["pin"].angle``, ``.rate``, ``.acceleration``, ``.torque``,
        ``.power``; vectorised over rows of y. Angles are in (-pi, pi]; `Solution.joints` counts turns."""
        return self.measures(t, y).all("joints")

    def forces(self, t: ArrayLike, y: ArrayLike) -> dict[str, Measured]:
        """Quantities of every force by name, such as ``["spring"].length``, ``.rate``, ``.force``, ``.power``, which is
        that on the bodies; vectorised over rows of y."""
        return self.measures(t, y).all("forces")

    @cached_property
    def level(self) -> float:
        """The part of the weight's potential that pivots have: it is zero at the origin of space."""
        B = self.model.bodies[: self.model.n]
        pivots = B["nt"] == 0
        return float(np.sum(B["mass"][pivots][:, None] * B["origin"][pivots] * self.model.system.gravity))

    def energy(self, t: ArrayLike, y: ArrayLike) -> Energy:
        """Kinetic, potential and total energy, J; the kinetic energy is that of the formulation's own velocities, with
        its own mass matrix, which differ where the state has drifted from the constraints."""
        out = self.read(readings.energies, t, y, 2)
        kinetic, potential = out.T.copy()
        potential -= self.level
        return Energy(kinetic, potential, kinetic + potential)

    def momentum(self, t: ArrayLike, y: ArrayLike) -> Momentum:
        """Linear momentum, and angular momentum about the origin of space."""
        out = self.read(readings.momenta, t, y, 6)
        return Momentum(out[..., :3], out[..., 3:])

    def power(self, t: ArrayLike, y: ArrayLike) -> Mat:
        """Power of all that has no potential, drives among it, and that of the user's forces that have one, without
        rates, W; (..., 2)."""
        out = self.read(power, t, y, 2 + self.workspace.layout.n_rows)
        if len(self.model.drives):  # the joints' forces -G^T la have the power -la . G w = la . g_t
            la = self.rates_of_selection(t, y)[1][..., self.workspace.layout.n_internal :]
            out[..., 0] += np.sum(la * out[..., 2:], axis=-1)
        return out[..., :2]

    # ------------------------------------------------------------ constraints

    def constraints(self, t: ArrayLike, y: ArrayLike) -> Constraints:
        """g and gdot: internal constraints of the chart, then joints."""
        n = self.n_constraints
        out = self.read(outputs.constraints, t, y, 2 * n)
        return Constraints(out[..., :n], out[..., n:])

    def joint_matrix(self, t: ArrayLike, y: ArrayLike) -> Mat:
        """G of all joint rows with respect to (xdot, Omega) of all bodies, (..., rows, 6 n)."""
        n, rows = self.model.n, self.workspace.layout.n_rows
        G = self.read(joint_matrix, t, y, rows * 6 * n)
        in_order = G.reshape(*G.shape[:-1], rows, n, 6)[..., self.places, :]
        return np.asarray(in_order.reshape(*G.shape[:-1], rows, 6 * n))

    def potentials(self, t: Vec, Z: Mat, s: Mat) -> Mat:
        """Potentials of the force elements, (m, elements), at natural coordinates (m, n, 24)
        and internal states s (m, states) of the forces: windings select the branch of their angles."""
        rows = np.ascontiguousarray(Z[:, list(self.workspace.layout.order)]).reshape(len(t), -1)
        return self.evaluated(potentials, t, (rows, np.ascontiguousarray(s)), len(self.model.forces.elements))

    def independence(self, t: ArrayLike, y: ArrayLike) -> Mat:
        """Squares of the sines between each joint row, in the order of elimination, and those before it, (..., rows);
        the largest |c|^2 of a dropped one g = c G by the kept ones, (...); of each dropped one multipliers of the
        joints that give no force, (..., dropped, rows)."""
        n = self.workspace.layout.n_rows
        return self.read(independence, t, y, n + 1 + n * len(self.workspace.selection.rows.dropped))

    def pivots(self, t: ArrayLike, y: ArrayLike) -> Mat:
        """Pivots of the kept joint rows over the floors below which they are suspended; 0 for suspended rows. For
        problems that suspend rows."""
        floor = self.workspace.selection.rows.pivot_floor
        assert floor is not None
        kept = floor > 0.0
        found: Mat = self.read(pivots, t, y, len(floor))[..., kept] / floor[kept]
        return found

    def null_space(self, t: float, y: Vec) -> tuple[Vec, Mat]:
        """w = (xdot, Omega), or (xdot, omega), and T (n_v, n_nu) of the null-space form at one state."""
        layout = self.workspace.layout
        n_v = layout.n_velocities
        out = self.read(null_space.motion, t, y, n_v * (1 + layout.v.stop - layout.v.start))
        return out[:n_v], out[n_v:].reshape(n_v, -1)

    def growth(self, t: float, y: Vec) -> float:
        """The largest growth of a column of T since the independent velocities were selected."""
        return float(self.read(null_space.growth, t, y, 1)[0])

    def distance_to_singularity(self, t: float, y: Vec) -> tuple[float, int]:
        """The smallest angle in radians from a body's rotation parameters to the singular set of their chart, and the
        number of that body; (inf, 0) for charts without one."""
        if not self.workspace.settings.chart.centre:
            return np.inf, 0
        out = self.read(outputs.distances, t, y, self.model.n)
        place = int(out.argmin())
        return float(out[place]), self.workspace.layout.order[place]

    @cached_property
    def _matrices(self) -> MatrixView:
        return MatrixView(self.workspace)

    def matrices(self, t: float, y: Vec, sparse: bool | None = None) -> Matrices:
        """M, G, K, g, g_I, g_II, psi, and T, r of the null-space form, at one state."""
        return self._matrices.at(t, y, sparse)

    # ------------------------------------------------------------ multipliers

    @property
    def n_rates(self) -> int:
        """Numbers that `rates` gives, multipliers among them."""
        return self.workspace.layout.n_differential + self.workspace.layout.n_constraints

    def rates(self, t: ArrayLike, y: ArrayLike) -> tuple[Mat, Mat]:
        """Consistent yd (without multipliers) and multipliers at positions and velocities of y, by elimination. The
        multipliers belong among the unknowns: of redundant equations those that are left out have zero."""
        n = self.workspace.layout.n_differential
        times, values, single = self.rows(t, y)
        out = self.evaluated(self._rates, times, (values,), self.n_rates)
        if self.workspace.selection.rows.dropped:
            needs = self.independence(times, values)[:, self.workspace.layout.n_rows]
            for k in np.flatnonzero(needs > self._most_needed).tolist():
                self._rates_of_good_rows(float(times[k]), values[k], out[k])
        out = out[0] if single else out
        return out[..., :n], out[..., n:]

    @property
    def _most_needed(self) -> float:
        return self.workspace.selection.rows.most_needed(WEAKENED)

    def rates_of_selection(self, t: ArrayLike, y: ArrayLike) -> tuple[Mat, Mat]:
        """The same with the rows of this selection, by whose multipliers the equations hold there."""
        out, n = self.read(self._rates, t, y, self.n_rates), self.workspace.layout.n_differential
        return out[..., :n], out[..., n:]

    @cached_property
    def compiled_rates(self) -> tuple[MachineFunction, int] | None:
        """The same as a machine function of (t, y), and how many numbers it gives; None where Python is called
        anyway."""
        found = self.machine(self._rates, self.n_rates)
        return None if found is None else (found, self.n_rates)

    def _rates_of_good_rows(self, t: float, y: Vec, out: Vec) -> None:
        """The same by other rows, where the kept ones are ill-conditioned; the kept ones carry the multipliers. `out`
        has those of the kept ones, which stay where no others are better."""
        selection = self.workspace.selection
        dropped, G = selection.rows.dropped, self.joint_matrix(t, y)
        rows = redundant_rows(self.model, G, prefer_trees=False, at_least=len(dropped))
        if len(rows) != len(dropped) or rows == dropped:
            return
        kept = KeptRows(rows, pivot_floor=selection.rows.pivot_floor)
        other = self.workspace.with_selection(replace(selection, rows=kept))
        BoundKernel(other, self.workspace.settings.kernels.rates)(t, y, out)
        la = out[self.workspace.layout.n_differential + self.workspace.layout.n_internal :]
        la[:] = carried_by_kept(self.model, la, null_directions(self.model, G, len(dropped)), dropped)

    def multipliers(self, t: ArrayLike, y: ArrayLike) -> Mat:
        """Lagrange multipliers la, shape (..., constraints), that belong to positions and velocities of y, by
        elimination: internal constraints of the velocities, then joints. Multipliers among the unknowns are not read,
        see `run_multipliers`. With redundant equations: those of least norm, where
        forces count times the model's length. They give the forces of those of `rates`, G^T la, which y has.

        G is the gradient of the constraints, ``matrices(t, y).G``. The sign, for every form:

        - forms in velocities:  M vdot = psi - G^T la  ([NS] (1)-(6)); `hiller-anantharaman` has integrals of them,
          la = Lambda'. Other values of `pull_back` have W in place of G^T, ``matrices(t, y).W``: with them the joints'
          multipliers are the same, a unit norm's is in `rbdae_papers.norm_multipliers`; projected forms have 0 for it;
        - Hamiltonian forms:  pdot = -dH/dq + Q - G^T la  ([BS09] (38));
        - null-space forms: la of the joints in  M wdot = psi - G^T la  with w = (xdot, Omega).

        So the joints act on the bodies with the forces -G^T la: where a joint says that point 1 of its first body is at
        point 2 of its second, la is the force on the second.
        """
        if not self.ambiguous:
            return self.rates(t, y)[1]
        times, values, single = self.rows(t, y)
        first, parts = self.workspace.layout.n_internal, []
        for part in slices(len(times), self._width):
            la, best, _, _ = self._of_least_norm(times[part], values[part])
            if first and not self.workspace.settings.formulation.projected:
                change = best - la[:, first:]
                la[:, :first] += self.evaluated(balanced, times[part], (values[part], change), first)
            parts.append(np.concatenate([la[:, :first], best], axis=1))
        la = np.concatenate(parts)
        return la[0] if single else la

    @cached_property
    def _width(self) -> int:
        """How many numbers a row of multipliers and reactions needs."""
        layout, n_null = self.workspace.layout, len(self.workspace.selection.rows.dropped)
        return 2 * layout.n + layout.n_constraints + 21 * len(self.model.joints) + n_null * layout.n_rows

    @property
    def _sizes(self) -> Vec:
        return self.model.scales.sizes(self.model.scales.length)

    def _of_least_norm(self, t: Vec, y: Mat) -> tuple[Mat, Mat, Mat, Vec]:
        """Multipliers (m, constraints); those of the joints of least norm with the same forces, (m, rows); orthonormal
        bases (m, k, rows) of the multipliers of joints, times the sizes of their equations, that give no force; the
        largest violation of a constraint on positions over its size (m,).

        Where rows are nearly singular or ill-conditioned they are found by singular values; vectors of the bases beyond
        those of a row are zero.
        """
        layout, rows, m, sizes = self.workspace.layout, self.workspace.selection.rows, len(t), self._sizes
        la, n_rows, n_internal = self.rates_of_selection(t, y)[1], layout.n_rows, layout.n_internal
        if not self.ambiguous:
            return la, la[:, n_internal:], np.empty((m, 0, n_rows)), np.zeros(m)
        found = self.independence(t, y)
        null, best = found[:, n_rows + 1 :].reshape(m, -1, n_rows) * sizes, la[:, n_internal:].copy()
        with np.errstate(all="ignore"):  # of singular rows, which are not regular
            for k in range(null.shape[1]):  # Gram and Schmidt
                v = null[:, k]
                for before in range(k):
                    v -= null[:, before] * _products(null[:, before], v)
                v /= np.sqrt(_products(v, v))
                best -= v * _products(v, best * sizes) / sizes
        g = np.abs(self.constraints(t, y).position)
        g[:, g.shape[1] - n_rows :] /= sizes
        regular = np.isfinite(best).all(axis=1) & (found[:, n_rows] <= self._most_needed)
        regular &= found[:, :n_rows].min(axis=1, initial=1.0) > _NEARLY_SINGULAR**2
        for k in np.flatnonzero(~regular).tolist():
            at, state = t[k : k + 1], y[k : k + 1]
            la[k] = self.rates(at, state)[1][0]
            suspended = 0 if rows.pivot_floor is None else np.count_nonzero(self.pivots(at, state) == 0.0, axis=-1)
            own = null_directions(self.model, self.joint_matrix(at, state), len(rows.dropped) + suspended)[0]
            best[k] = minimum_norm(self.model, la[k, n_internal:], own)
            if own.shape[1] > null.shape[1]:
                null = np.pad(null, ((0, 0), (0, own.shape[1] - null.shape[1]), (0, 0)))
            null[k] = 0.0
            null[k, : own.shape[1]] = own.T
        return la, best, null, g.max(axis=1, initial=0.0)

    def run_multipliers(self, t: ArrayLike, y: ArrayLike) -> Mat:
        """The multipliers among the unknowns y, of the same sign and order, as the solver has computed them: what they
        are worth is up to its tolerances. Those of equations that are left out are zero.

        Raises ValueError for forms whose unknowns have no multipliers, or their integrals.
        """
        layout, form = self.workspace.layout, self.workspace.settings.formulation
        if form.multipliers != "values":
            integrals = form.multipliers == "integrals"
            instead = ", but their integrals, y[..., problem.layout.la]" if integrals else ""
            raise ValueError(
                f"run_multipliers: y of {form.name!r} has no multipliers{instead}; problem.multipliers gives those "
                "that belong to its positions and velocities"
            )
        self.rows(t, y)
        la = np.asarray(y, dtype=float)[..., layout.la]
        return np.concatenate([np.zeros((*la.shape[:-1], layout.n_hidden)), la], axis=-1)

    @property
    def ambiguous(self) -> bool:
        """Whether joint equations may follow from others, so that multipliers are not unique."""
        rows = self.workspace.selection.rows
        return bool(rows.dropped) or rows.pivot_floor is not None

    def reactions(self, t: ArrayLike, y: ArrayLike) -> dict[str, dict[str, Reaction]]:
        """Force and torque of each joint on each of its bodies, ``[joint][body]``, spatial components; the torque
        about the joint's point on that body. From `multipliers`: as exact as positions and velocities are."""
        times, values, single = self.rows(t, y)
        model, n = self.model, len(self.model.joints)
        out = np.empty((len(times), n, 21))
        own, in_space = np.ones((2, n, 2, 2, 3), dtype=bool)
        for part in slices(len(times) if n else 0, self._width):
            at = times[part], values[part]
            _, la, null, violations = self._of_least_norm(*at)
            _, frames = self.joint_loads(*at, la, out[part])
            if null.shape[1]:
                pulls = [self.joint_loads(*at, null[:, k] / self._sizes)[0] for k in range(null.shape[1])]
                for unique, not_so in zip(
                    (own, in_space), _moved(pulls, frames, violations, model.scales.length), strict=True
                ):
                    unique &= ~not_so
            finite = np.isfinite(la).all(axis=0)
            if not finite.all():  # joints with multipliers that are not finite have no unique reactions
                counts = [sum(int(model.primitives["n"][i]) for i in joint.primitives) for joint in model.joints]
                for k, known in enumerate(np.split(finite, np.cumsum(counts)[:-1])):
                    own[k] &= known.all()
                    in_space[k] &= known.all()
        return _named(model, out[0] if single else out, own, in_space)

    def joint_loads(self, t: Vec, y: Mat, la: Mat, out: Mat | None = None) -> tuple[Any, Mat]:
        """Forces of joints on their two bodies and torques about their points there, (m, joints, 2, 2, 3), and their
        frames (m, joints, 3, 3), by multipliers of joint equations; views of `out` (m, joints, 21)."""
        m, n = len(t), len(self.model.joints)
        out = np.empty((m, n, 21)) if out is None else out
        self._kernel(joint_loads).each(t, (y, np.ascontiguousarray(la)), out.reshape(m, 21 * n))
        return out[..., :12].reshape(m, n, 2, 2, 3), out[..., 12:].reshape(m, n, 3, 3)


def _products(v: Mat, w: Mat) -> Mat:
    return np.asarray(np.einsum("mi,mi->m", v, w)[:, None])


def _moved(pulls: Sequence[Mat], frames: Mat, violations: Vec, length: float) -> tuple[Bools, Bools]:
    """The components (joints, 2, 2, 3) in the joints' frames, and in space, that multipliers without a force move at
    some row: `pulls` (m, joints, 2, 2, 3) are what they pull, and `violations` (m,) those of the constraints."""
    E, scale = frames[:, :, None, None], np.array([length, 1.0])[:, None]
    limit = np.minimum(_MOVED + _PER_VIOLATION * violations, _MOST_MOVED)[:, None, None, None, None]

    def found(pulled: Sequence[Any]) -> Bools:
        return np.asarray((~(scale * np.sqrt(sum(pull * pull for pull in pulled)) <= limit)).any(axis=0))

    return found([sum(pull[..., i, None] * E[..., i, :] for i in range(3)) for pull in pulls]), found(pulls)


def _named(model: Model, numbers: Mat, own: Bools, in_space: Bools) -> dict[str, dict[str, Reaction]]:
    """Reactions by joint and body, from rows of what the kernel `joint_loads` gives and unique components."""
    out = ByName[dict[str, Reaction]]("joint")
    unique: Any = own.all(axis=(2, 3)).tolist()
    rows = numbers.shape[:-2]
    for k, joint in enumerate(model.joints):
        entry: ByName[Reaction] = ByName("body of this joint")
        frame = numbers[..., k, 12:].reshape(*rows, 3, 3)
        for side, b in enumerate(joint.bodies):
            name, load = model.system.ground.name if b == model.n else model.names[b], numbers[..., k, 6 * side :]
            sure = own[k, side, 0], own[k, side, 1], in_space[k, side, 0], in_space[k, side, 1]
            entry[name] = Reaction(load[..., :3], load[..., 3:6], unique[k][side], *sure, frame)
        out[joint.name] = entry
    return out
