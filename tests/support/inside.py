"""The one place from which tests reach inside rbdae.

Tests go through public names; what has none is asked here, by a function that says what it is. If the inside changes,
this file changes and no test does. `tests/house/test_public_names_only.py` holds the others to it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import rbdae
from rbdae._arrays import Mat, Vec
from rbdae._check import nearest, show, unknown
from rbdae._frozen import fill, twin
from rbdae.cli import write_states
from rbdae.conserving import SCHEMES
from rbdae.forces.element import of_one_displacement
from rbdae.forces.packing import pack
from rbdae.formulations import pairing
from rbdae.formulations.base import Derivative
from rbdae.graph import elimination
from rbdae.graph import pivots as graph_pivots
from rbdae.graph.evaluate import OPERATIONS, computed
from rbdae.graph.graph import Graph, operands
from rbdae.graph.in_python import InPython as InPython
from rbdae.graph.loaded import LoadedNumbers
from rbdae.graph.on_stacks import stacked as values_on_rows
from rbdae.graph.symbols import Recorder
from rbdae.initial import formulate as formulating
from rbdae.initial.start import LARGEST as LARGEST_ASSEMBLY
from rbdae.kernels import records
from rbdae.kernels.entry import entry
from rbdae.kernels.linear import elimination as symmetric_elimination
from rbdae.kernels.linear.accelerations import friction_margins
from rbdae.kernels.outputs import constraints, natural
from rbdae.laws.law import Derived, Recorded
from rbdae.machine import cache as entry_files
from rbdae.machine import factors as machine_factors
from rbdae.machine import function as machine_function
from rbdae.machine import module, straight
from rbdae.machine.data import Table
from rbdae.machine.elements import evaluated, scheduled
from rbdae.machine.factors import PIVOTS, Factors
from rbdae.machine.factors import tables as factor_tables
from rbdae.machine.loops import control as loop_control
from rbdae.machine.loops import elimination as elimination_loops
from rbdae.machine.loops import host as loops
from rbdae.machine.loops import odex
from rbdae.machine.loops.host import Controls
from rbdae.machine.pieces import in_pieces
from rbdae.models.pendulums import CV_GRAVITY
from rbdae.multibody.choices import selection, velocity_selection
from rbdae.multibody.choices.row_selection import redundant_rows, strength
from rbdae.multibody.choices.selection import KeptRows
from rbdae.multibody.choices.states import write
from rbdae.multibody.choices.velocity_selection import Metric, metric
from rbdae.multibody.code import code as code_of_kernels
from rbdae.multibody.code import rates_jacobian, recorded_factors, traced
from rbdae.multibody.elements import elements, rhs_elements
from rbdae.multibody.memory import saddle_order
from rbdae.multibody.memory.memory import Memory
from rbdae.multibody.memory.open_numbers import RECORDS, OpenNumbers
from rbdae.multibody.memory.workspace import Workspace, with_unit_masses
from rbdae.multibody.recorded import derived, recording
from rbdae.multibody.recorded.in_python import Recorded as in_python
from rbdae.multibody.recorded.in_python import in_python as kernel_in_python
from rbdae.multibody.recorded.recording import Recording
from rbdae.multibody.system import parameters as named_numbers
from rbdae.multibody.system.bodies import BodyMotion
from rbdae.multibody.system.model import compile_system, varied
from rbdae.problem import problem
from rbdae.problem.projection import functions_of
from rbdae.problem.switches import VelocitySwitch, with_pivot_floor
from rbdae.rotations import functions as chart_functions
from rbdae.rotations import quaternions
from rbdae.solving import along as singular
from rbdae_adapters.rbdae_loops import SCHEMES as FIXED_SCHEMES
from rbdae_adapters.sundials import _library as sundials_library


def constraint_gradient(problem: rbdae.Problem, t: float | Vec, y: Vec) -> Mat:
    """G of all joint equations with respect to (xdot, Omega) of the bodies, at a state or at rows of states."""
    return problem.interpretation.joint_matrix(t, y)


def omitted_rows(problem: rbdae.Problem) -> list[int]:
    """The joint equations without a multiplier, in the order of the joints."""
    return list(problem.selection.rows.dropped)


def internal_constraints(problem: rbdae.Problem) -> int:
    """Constraints of all rotations together: unit norms, orthonormality."""
    return problem.model.n * len(problem.workspace.settings.chart.internal)


def n_velocities(problem: rbdae.Problem) -> int:
    """Velocities of all bodies, before constraints of joints."""
    return problem.layout.n_velocities


def n_quasi_velocities(problem: rbdae.Problem) -> int:
    """Independent quasi-velocities nu of a null-space form."""
    return problem.layout.v.stop - problem.layout.v.start


class TracedCall(NamedTuple):
    """A kernel of which a problem has code of its own; that code, and a call of it with arrays of these shapes."""

    name: str
    entry: Any
    shapes: dict[str, tuple[int, ...]]
    sparse: bool
    code: Any
    call: Any


def traced_kernels(problem: rbdae.Problem) -> list[TracedCall]:
    """All that have been recorded for the selection of the problem."""
    out, workspace = [], problem.workspace
    mine = workspace.structure
    for key, code in workspace.memory.recorded.items():
        if code is not None and len(key) == 5 and key[-2] == mine:
            entry, shapes, sparse, *_ = key
            otherwise = partial(plain_kernel, problem, entry, sparse=sparse)
            found = traced.traced(workspace, entry, dict(shapes), otherwise=otherwise, **_stored(problem, sparse))
            out.append(TracedCall(entry.name.rpartition(":")[2], entry, dict(shapes), sparse, code, found.call))
    return out


def _stored(problem: rbdae.Problem, sparse: bool) -> dict[str, Any]:
    """How a matrix is filled, as data or whole."""
    return {"sparse": sparse, "pattern": problem.callbacks._entries() if sparse else None}


def plain_kernel(problem: rbdae.Problem, entry: Any, *, sparse: bool = False) -> Any:
    """A kernel as plain Python, with the selection of the problem."""
    if sparse:
        return problem.callbacks._plain("jacobian_data")
    if isinstance(entry, Derivative):
        return problem.callbacks._plain("jacobian" if entry.of.signs == "ityyo" else "rhs_jacobian")
    return in_python(problem.workspace, entry)


def kernel_after_guard(problem: rbdae.Problem, kernel: TracedCall) -> Any:
    """What takes over where a guard of a kernel does not hold: code with bodies before joints where it has an order of
    its own, else plain Python."""
    workspace, plain = problem.workspace, plain_kernel(problem, kernel.entry, sparse=kernel.sparse)
    if not saddle_order.order_for(workspace, kernel.entry):
        return plain
    other = kernel.entry.bodies_first
    found = traced.traced(workspace, other, kernel.shapes, otherwise=lambda: plain, **_stored(problem, kernel.sparse))
    return plain if found is None else found.call


def recording_point(problem: rbdae.Problem, kernel: TracedCall) -> tuple[float, Vec, Vec, float]:
    """(t, y, yd, c) where the conditions of a kernel are answered."""
    return recording.recording_point(problem.workspace, kernel.shapes)


def recording_of(problem: rbdae.Problem, kernel: TracedCall) -> Recording:
    """What a kernel's code was made of."""
    workspace, jacobian = problem.workspace, problem.workspace.settings.kernels.jacobian
    pattern = problem.callbacks._entries() if kernel.sparse or kernel.entry == jacobian else None
    point = recording_point(problem, kernel)
    return derived.recorded_kernel(workspace, kernel.entry, kernel.shapes, point, recording.MOST_NODES, pattern)


def machine_text(problem: rbdae.Problem, name: str) -> str:
    """The text that machine code of a callback is made from."""
    callbacks, workspace = problem.callbacks, problem.workspace
    kernel, sparse = callbacks._kernel(name), name == "jacobian_data"
    pattern = callbacks._entries() if name.startswith("jacobian") else None
    wanted = code_of_kernels.Wanted(kernel, callbacks._shapes(name), pattern, sparse)
    return code_of_kernels._text(workspace, wanted)[1].write()[0]


def machine_code(made: Recording, kernel: TracedCall) -> Any:
    """Machine code of a recording."""
    signs, shapes = kernel.entry.signs[1:].replace("M", "o"), {**kernel.shapes, "out": (len(made.outputs),)}
    return code_of_kernels.of_recording(made, signs, shapes)


def machine_call(address: int) -> Any:
    """A C function of machine code, to be called with addresses; see `rbdae.machine.function`."""
    return machine_function.PROTOTYPE(address)


def projection_in_python(projector: Any) -> Any:
    """The same projection with the model's functions in plain Python."""
    of = projector.problem.workspace
    workspace = Workspace(Memory.of(of.model, of.settings, code="plain"), of.selection)
    out = projector.projection.bind(projector.problem)
    out._functions = functions_of(with_unit_masses(workspace) if out.projection.metric == "identity" else workspace)
    return out


def evaluate(graph: Graph, outputs: Sequence[int], inputs: dict[str, Any], functions: Sequence[Any] = ()) -> list[Any]:
    """Values of some nodes, one after the other, those of pairs as well. Users' functions are ``f(t, x, out)``."""
    values: dict[int, Any] = {}
    with np.errstate(all="ignore"):
        for k in graph.needed(outputs):
            kind, *rest = node = graph.nodes[k]
            of = [values[j] for j in operands(node)]
            if kind == "pair":
                values[k] = tuple(of)
            elif kind == "lane":
                values[k] = of[0][rest[1]]
            elif of and isinstance(of[0], tuple):
                values[k] = tuple(OPERATIONS[kind](*numbers) for numbers in zip(*of, strict=True))
            else:
                values[k] = computed(node, values, inputs, functions)
    return [values[k] for k in outputs]


def straight_text(graph: Graph, outputs: list[int]) -> str:
    """The LLVM text of a graph as it comes."""
    return straight.straight("straight", graph, graph.needed(outputs), outputs, {}, Table(), in_pairs=False)


def values_of_machine_code(
    graph: Any, nodes: Sequence[int], outputs: Sequence[int], guards: Mapping[int, bool], y: Vec
) -> Vec:
    """The outputs of a graph, computed by straight machine code; its guards hold."""
    text = straight.straight("straight", graph, nodes, outputs, guards, Table()).replace("define internal", "define")
    code = module.compiled(f"{straight.DECLARATIONS}\n{text}")
    out = np.full(len(outputs) + 1, np.pi)
    assert machine_call(code["straight"])(None, 0.0, y.ctypes.data, None, 0.0, out.ctypes.data) == 0
    assert out[-1] == np.pi  # nothing behind the last one
    return out[:-1]


def machine_context(selection: Vec, code: Any, problem: rbdae.Problem) -> Any:
    """What a code takes first, with the numbers of a problem."""
    return code.context_with(selection, problem.workspace.open_numbers.values)


def forget_code(monkeypatch: pytest.MonkeyPatch, *, on_disk: bool = True) -> None:
    """No code of models in memory, as in a new process; nor on disk, unless `on_disk`."""
    monkeypatch.setattr(traced, "_RECENT", type(traced._RECENT)())
    if not on_disk:
        for one in (code_of_kernels, recorded_factors):
            monkeypatch.setattr(one, "on_disk", lambda *_: None)


def record_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a kernel is recorded, or a pattern."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("something is recorded")

    for one in (code_of_kernels, recorded_factors):
        monkeypatch.setattr(one, "recorded_kernel", refuse)
    monkeypatch.setattr(problem, "jacobian_pattern", refuse)


def no_longer_code(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Code of a model has at most so many nodes, also that of models that were there before."""
    monkeypatch.setattr(traced, "_RECENT", type(traced._RECENT)())
    monkeypatch.setattr(code_of_kernels, "LARGEST", most)
    monkeypatch.setattr(code_of_kernels, "on_disk", lambda *_: None)
    entry_files.say_once.cache_clear()


def law_of_motion(function: Any) -> tuple[Recorded, Derived]:
    """A function (t, s, rate) as laws of the motion are had, and its derivatives by s and rate."""
    recorded = Recorded("law", [function], partial(of_one_displacement, "law", None), 2, 1)
    return recorded, recorded.slopes


def workspace(problem: rbdae.Problem) -> Workspace:
    """A workspace of its own for the problem's model, settings and selection, without machine code."""
    of = problem.workspace
    return Workspace(Memory.of(of.model, of.settings), of.selection)


def in_plain_python(problem: rbdae.Problem, name: str, *at: Any) -> Vec:
    """``"residual"`` of (t, y, yd) or ``"rates"`` of (t, y) by the plain kernel, which takes complex numbers."""
    out = np.zeros(problem.n_equations if name == "residual" else problem.n, dtype=np.result_type(*at))
    _plain_function(problem, name)(*at, out)
    return out


@lru_cache(4)  # what it has recorded serves for all states of a test
def _plain_function(problem: rbdae.Problem, name: str) -> Any:
    of = workspace(problem)
    return in_python(of, getattr(of.settings.kernels, name))


def along(problem: rbdae.Problem, name: str, t: float, y: Vec, yd: Vec, c: float, D: Mat) -> Mat:
    """The product of a Jacobian, by its name, with the columns of D (n, k), by complex steps of the plain kernel."""
    columns = []
    for step in 1e-30j * D.T:
        at = ("residual", t, y + step, yd + c * step) if name.startswith("jacobian") else ("rates", t, y + step)
        columns.append(in_plain_python(problem, *at).imag / 1e-30)
    return np.array(columns).T


def parameter_difference(problem: rbdae.Problem, name: str, y: Vec, yd: Vec | None) -> tuple[Vec, float]:
    """dF/dp, or without yd df/dp, by central differences of order eight between systems, with the unknowns and the
    selection of the problem; and the step."""
    of = problem.workspace
    parameter = named_numbers.parameters(problem.system)[name]

    def residual(h: float) -> Vec:
        system = parameter.replaced(problem.system, parameter.value + h)
        other = Workspace(Memory.of(compile_system(system), of.settings), of.selection)
        out = np.zeros(problem.n_equations)
        if yd is None:
            other.plain(of.settings.kernels.rates)(problem.t0, y, out)
        else:
            other.plain(of.settings.kernels.residual)(problem.t0, y, yd, out)
        return out

    body, _, field = name.partition(".inertia")
    whole = name.rpartition(".")[0] if set(name.rpartition(".")[2]) <= set("xyz") else name
    size = float(np.linalg.norm([x for key, x in problem.parameters.items() if key.startswith(whole)])) or 1.0
    if field:  # the inverse is smooth over a part of the smallest moment
        size = np.linalg.eigvalsh(next(b for b in problem.system.bodies if b.name == body).inertia)[0]
    h = (2.0**-9 if yd is not None else 1e-4) * size  # right-hand sides divide by what may be nearly singular
    slopes = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    return sum(c * (residual(k * h) - residual(-k * h)) for k, c in enumerate(slopes, 1)) / h, h


def parameter_step(problem: rbdae.Problem, name: str, y: Vec, yd: Vec | None) -> Vec:
    """dF/dp, or without yd df/dp, by a complex step of the packing and of the plain kernels."""
    of = problem.workspace
    system = named_numbers.parameters(problem.system)[name].varied(problem.system, 1e-30)
    other = Workspace(Memory.of(varied(of.model, system), of.settings), of.selection)
    out = np.zeros(problem.n_equations, dtype=complex)
    if yd is None:
        other.plain(of.settings.kernels.rates)(problem.t0, y + 0j, out)
    else:
        other.plain(of.settings.kernels.residual)(problem.t0, y + 0j, yd + 0j, out)
    return out.imag / 1e-30


def plain_residual(system: rbdae.System, formulation: str) -> Any:
    """The kernel of the residual on floats; nothing is compiled on the way."""
    options = formulating.check_choices(formulation, "quaternion", None, {}, "error", "space")
    of = Memory.of(compile_system(system, t0=0.0), options.settings("any"))
    workspace = Workspace(of, selection.Selection())
    return workspace.plain(options.formulation.kernels.residual)


# ---------------------------------------------------------------- compiling


def before_compilation(monkeypatch: pytest.MonkeyPatch, part: int, do: Any) -> None:
    """Call ``do()`` where recorded code goes to the compiler for the time number ``part``, from 0 on."""
    written, calls = code_of_kernels._written, iter(range(1000))

    def interrupted(*arguments: Any) -> Any:
        if next(calls) == part:
            do()
        return written(*arguments)

    monkeypatch.setattr(code_of_kernels, "_written", interrupted)


def number_of(k: int) -> float:
    """The number k, by machine code that is in the cache, or is made."""
    code = module.compiled(f"define double @number() {{\n  ret double {float(k)!r}\n}}")
    out: float = ctypes.CFUNCTYPE(ctypes.c_double)(code["number"])()
    return out


def entry_of(k: int) -> Path:
    """Where the cache has this code."""
    before = {path: path.stat().st_mtime_ns for path in machine_folder().glob("*.o")}
    number_of(k)
    (made,) = [path for path in machine_folder().glob("*.o") if before.get(path) != path.stat().st_mtime_ns]
    return made


def machine_folder() -> Path:
    """Where machine code of models is kept."""
    found = entry_files.folder()
    assert found is not None
    return found


def may_say_again() -> None:
    """Forget what has been said once in this process, and that a cache could not be used."""
    entry_files.say_once.cache_clear()


def limits_of_cache(monkeypatch: pytest.MonkeyPatch, most_files: int) -> None:
    """Have the cache of machine code keep fewer files, and look at each writing."""
    monkeypatch.setattr(entry_files, "MOST_FILES", most_files)
    monkeypatch.setattr(entry_files, "_EVERY", 1)


# ---------------------------------------------------------------- selections


def selects_velocities(problem: rbdae.Problem) -> bool:
    """Whether nu are independent velocities that a run may have to select again."""
    return problem.selection.velocities is not None


def square_work(problem: rbdae.Problem) -> tuple[int, int]:
    """The multiplications of one factorisation of a sparse square system, and of one solution of it."""
    owned = problem.workspace.owned
    rows = np.split(owned["square_column"], owned["square_start"][1:-1])
    at: dict[int, list[int]] = {}
    for i, columns in enumerate(rows):
        for column in columns.tolist():
            at.setdefault(column, []).append(i)
    entries = [len(columns) for columns in rows]
    left = [{j for column in columns.tolist() for j in at[column] if j > i} for i, columns in enumerate(rows)]
    factors = sum(entries[i] * (1 + len(others)) for i, others in enumerate(left))
    for others in left:
        for j in others:
            left[j] |= {k for k in others if k > j}
        factors += len(others) * (len(others) + 3) // 2
    return factors, 2 * sum(map(len, left)) + 3 * sum(entries)


def null_space(problem: rbdae.Problem, t: float, y: Vec) -> tuple[Vec, Mat]:
    """w = (xdot, Omega) and T at a state."""
    return problem.interpretation.null_space(t, y)


def velocity_metric(problem: rbdae.Problem) -> Metric:
    """How velocities are compared."""
    return metric(problem.model)


def unknowns_of(problem: rbdae.Problem, other: rbdae.Problem, t: float, y: Vec) -> Vec:
    """A state of another problem of the same system in the unknowns of this one; multipliers are zero."""
    of, Z = problem.workspace, other.natural(t, y)
    R = np.swapaxes(Z[:, 3:12].reshape(-1, 3, 3), 1, 2)
    spins = np.array([state.angular_velocity for state in other.states(t, y).values()])
    motion = BodyMotion(Z[:, :3], np.array([quaternions.from_matrix(each) for each in R]), Z[:, 12:15], spins)
    return write(of.model, of.settings, of.layout, motion, of.selection)


def reselected(problem: rbdae.Problem, t: float, y: Vec) -> rbdae.Problem:
    """The problem from (t, y) on with independent velocities selected there."""
    switch = next(s for s in problem.switches() if isinstance(s, VelocitySwitch))
    out = switch.resume(t, y)
    assert isinstance(out, rbdae.Problem)
    return out


def dropping(problem: rbdae.Problem, rows: tuple[int, ...]) -> rbdae.Problem:
    """The problem with these joint rows dropped, from its own start; none is suspended."""
    before = problem.selection.rows
    G = problem.interpretation.joint_matrix(problem.t0, problem.y0)
    kept = KeptRows(rows, strength(problem.model, G, rows), before.closeness)
    if before.pivot_floor is not None:
        kept = with_pivot_floor(problem.workspace, kept, problem.t0, problem.y0, 1e-8)
    return problem.resumed(problem.t0, problem.y0, replace(problem.selection, rows=kept))


def with_best_rows(problem: rbdae.Problem) -> rbdae.Problem:
    """The problem with the joint rows that are best conditioned at its start, as a switch in a run chooses them."""
    before = problem.selection.rows
    G = problem.interpretation.joint_matrix(problem.t0, problem.y0)
    rows = redundant_rows(problem.model, G, prefer_trees=False, at_least=len(before.dropped))
    kept = KeptRows(rows, strength(problem.model, G, rows), before.closeness)
    return problem.resumed(problem.t0, problem.y0, replace(problem.selection, rows=kept))


def suspends(problem: rbdae.Problem) -> bool:
    """Whether joint equations are suspended near singular positions."""
    return problem.selection.rows.pivot_floor is not None


def suspending(problem: rbdae.Problem, fraction: float) -> rbdae.Problem:
    """The problem with floors of this fraction of the pivots at its start."""
    rows = with_pivot_floor(problem.workspace, problem.selection.rows, problem.t0, problem.y0, fraction)
    return problem.with_selection(replace(problem.selection, rows=rows))


def pivots(problem: rbdae.Problem, t: float, y: Vec) -> Vec:
    """Pivots of the kept joint rows over their floors, 0 for suspended ones."""
    return problem.interpretation.pivots(t, y)


class VelocitySettings(NamedTuple):
    """What the energy of a rotation depends on: ``"angular"``, ``"directors"`` or ``"quaternions"``, whether there are
    momenta, and the factor of the radial inertia."""

    kind: str
    momenta: bool
    radial: float


def settings_of(problem: rbdae.Problem) -> VelocitySettings:
    """What the energy of a rotation depends on."""
    found = problem.workspace.settings
    names = {records.ANGULAR: "angular", records.DIRECTOR_RATE: "directors", records.QUATERNION_RATE: "quaternions"}
    return VelocitySettings(names[found.kind.number], bool(found.momenta), float(found.radial))


def potentials_of_forces(problem: rbdae.Problem, t: Vec, y: Mat) -> Vec:
    """The sum of the potentials of all forces, (m,)."""
    Z = problem.natural(t, y)
    out: Vec = problem.interpretation.potentials(t, Z, y[:, problem.layout.s]).sum(axis=1)
    return out


def segment_times(solution: rbdae.Solution) -> tuple[float, ...]:
    """The times at which a run has selected again."""
    return solution.segments.times


# ---------------------------------------------------------------- elements


def make_elements_from(monkeypatch: pytest.MonkeyPatch, least: int) -> list[int]:
    """Make residuals and Jacobians of models with so many bodies by elements, without code that is there; returns a
    list that gets the number of kinds of each."""
    forget_code(monkeypatch, on_disk=False)
    monkeypatch.setattr(elements, "RESIDUAL_FROM", least)
    monkeypatch.setattr(elements, "JACOBIAN_FROM", least)
    made, kinds = elements.elements_of, []

    def counted(*arguments: Any) -> Any:
        found = made(*arguments)
        if found is not None:
            kinds.append(len(found.kinds))
        return found

    monkeypatch.setattr(code_of_kernels, "elements_of", counted)
    return kinds


def elements_apply(problem: rbdae.Problem) -> list[bool]:
    """Whether the residual, and the sparse Jacobian, are made of elements."""
    kernels = problem.workspace.settings.kernels
    found = ((kernels.residual, None), (kernels.jacobian, code_of_kernels.Pattern(*pattern_of_elements(problem))))
    return [elements.apply_to(problem.workspace, kernel, pattern) for kernel, pattern in found]


def pattern_of_elements(problem: rbdae.Problem) -> tuple[Any, Any]:
    """The rows and columns of the entries of its Jacobian that elements have."""
    found = elements.pattern_of_elements(problem.workspace)
    assert found is not None
    return found


def complex_jacobian(problem: rbdae.Problem, t: float, y: Vec, yd: Vec, c: float) -> Any:
    """dF/dy + c dF/dyd by complex steps of the plain kernel, column by column."""
    of = workspace(problem)
    residual, h = in_python(of, of.settings.kernels.residual), 1e-30j
    columns = np.zeros((problem.n, problem.n_equations), dtype=complex)
    for j, out in enumerate(columns):
        unit = np.eye(1, problem.n, j)[0]
        residual(t, y + h * unit, yd + h * c * unit, out)
    return columns.T.imag / 1e-30


def make_rhs_elements(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Make all right-hand sides that can be made so by elements, without code that is there; returns a list
    that gets the number of kinds of each."""
    forget_code(monkeypatch, on_disk=False)
    for name in ("BODIES_FROM", "REDUCED_FROM"):
        monkeypatch.setattr(rhs_elements, name, 1)
    monkeypatch.setattr(rhs_elements, "enough", lambda *_: True)
    made, kinds = rhs_elements.rhs_elements, []

    def counted(*arguments: Any) -> Any:
        found = made(*arguments)
        if found is not None:
            kinds.append(len(found.kinds))
        return found

    monkeypatch.setattr(code_of_kernels.rhs_elements, "rhs_elements", counted)
    return kinds


def rhs_elements_apply(problem: rbdae.Problem) -> bool:
    """Whether the right-hand side is made of elements."""
    workspace, shape = problem.workspace, (problem.workspace.layout.n_differential,)
    kernel = workspace.settings.kernels.rates
    applies = rhs_elements.apply_to(workspace, kernel, shape)
    return applies and rhs_elements.rhs_elements(workspace, kernel, *shape) is not None


def text_of_rhs_elements(problem: rbdae.Problem) -> str:
    """The text of the right-hand side by elements."""
    workspace = problem.workspace
    found = rhs_elements.rhs_elements(workspace, workspace.settings.kernels.rates, workspace.layout.n_differential)
    assert found is not None
    return scheduled("straight", found)[0]


def text_of_elements(problem: rbdae.Problem) -> str:
    """The text of the residual by elements."""
    found = elements.elements_of(problem.workspace, None)
    assert found is not None
    return scheduled("straight", found)[0]


def steps_of(problem: Any, scheme: str) -> Any:
    """The functions of an integration scheme of a problem."""
    return problem.callbacks.steps(scheme)


def nodes_of_an_iteration(problem: Any, scheme: str) -> int:
    """The nodes of what is recorded of an iteration of Newton's method in a step."""
    n, space = steps_of(problem, scheme).n_unknowns, problem.workspace
    shapes = {"y": (problem.n,), "yd": (n + 1,), "out": (n + 1,)}
    point = recording.recording_point(space, shapes)
    found = derived.recorded_kernel(space, SCHEMES[scheme].newton, shapes, point, recording.MOST_NODES)
    return len(found.graph.needed(found.outputs))
