"""The bare kernels of a problem, for the loops of solvers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae._frozen import refuse_copies
from rbdae.conserving import SCHEMES, Scheme, predict
from rbdae.formulations.base import Callback, Derivative, Explicit, ImplicitStep
from rbdae.kernels import records as kb
from rbdae.kernels.entry import Entry
from rbdae.machine.factors import BoundFactors, Factors, NoFactors, Tables
from rbdae.machine.function import MachineFunction, Shapes, trampoline
from rbdae.machine.loops.fixed import SAYS
from rbdae.multibody.code.code import Wanted
from rbdae.multibody.code.operations import Operations, counted
from rbdae.multibody.code.rates_jacobian import RatesCode, rates_code
from rbdae.multibody.code.recorded_factors import Wanted as FactorsWanted
from rbdae.multibody.code.recorded_factors import factors_of
from rbdae.multibody.code.traced import Tally, TracedKernel, traced
from rbdae.multibody.elements.step_elements import apply_to
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.in_python import Recorded, in_python
from rbdae.multibody.recorded.recording import Pattern
from rbdae.problem.driven import inputs_of
from rbdae.problem.projection import Projection, functions_of

HowMade: TypeAlias = Literal["machine", "folded", "plain", "mixed"]

_NAMES = ("residual", "jacobian", "jacobian_data", "rhs", "rhs_jacobian")
_OF_FACTORS = ("factors", "solve")


@final
class Callbacks:
    """The bare kernels: in place, nothing checked, nothing returned; compiled, or loaded, when first asked for.

    Arrays must be float64, vectors contiguous (read-only inputs are fine); matrices may have any content and any
    positive strides (kernels trust them: with negative ones they write beyond the array). Outputs must not share memory
    with inputs.
    `rhs(t, y, out)` and `rhs_jacobian(t, y, out)` are for ODE kinds only. `jacobian_data(t, y, yd, c, data)` fills CSC
    data in the order of `Problem.sparsity`.
    """

    def __init__(self, problem: Any) -> None:
        workspace: Workspace = problem.workspace
        self._problem, self._workspace = problem, workspace
        self._kernels = workspace.settings.kernels
        self._traced: dict[str, TracedKernel | RatesCode | None] = {}
        self._machine: dict[str, MachineFunction] = {}
        self._of_inputs: dict[str, Callable[..., None]] = {}
        self._factors: Factors | None = None
        self._tally = Tally()
        self._schemes: dict[str, StepFunctions] = {}

    __reduce__ = refuse_copies

    @cached_property
    def residual(self) -> Callable[[float, Vec, Vec, Vec], None]:
        """residual(t, y, yd, out)."""
        return self._call("residual")

    @cached_property
    def jacobian(self) -> Callable[[float, Vec, Vec, float, Mat], None]:
        """jacobian(t, y, yd, c, out)."""
        return self._call("jacobian")

    @cached_property
    def jacobian_data(self) -> Callable[[float, Vec, Vec, float, Vec], None]:
        """jacobian_data(t, y, yd, c, data)."""
        return self._call("jacobian_data")

    @cached_property
    def rhs(self) -> Callable[[float, Vec, Vec], None]:
        """rhs(t, y, out)."""
        return self._call("rhs")

    @cached_property
    def rhs_jacobian(self) -> Callable[[float, Vec, Mat], None]:
        """rhs_jacobian(t, y, out)."""
        return self._call("rhs_jacobian")

    def _by_inputs(self, name: str) -> Callable[..., None]:
        """Fills (t, y, yd, out) with dF/du, (n_equations, n_u), or (t, y, out) with df/du, (n, n_u)."""
        if name not in self._of_inputs:
            self._of_inputs[name] = self._call(f"{name}_by_inputs")
        return self._of_inputs[name]

    @cached_property
    def _projection(self) -> tuple[MachineFunction, MachineFunction]:
        return functions_of(self._workspace)

    # ------------------------------------------------------------ which code

    def machine(self, name: str) -> MachineFunction:
        """A callback by its name as a C function, for loops in machine code; see `rbdae.machine.function`.

        Beside `residual`, `jacobian`, `jacobian_data`, `rhs` and `rhs_jacobian` there are those of `factors`:
        ``"factors"`` fills the memory of dF/dy + c dF/dyd, whose size is ``factors().size``, and ``"solve"`` takes this
        memory as y and the right side as yd. ``"project"`` projects y as `rbdae.Projection` does by default. Matrices
        are those of C, row after row.

        Raises ValueError for another name, AttributeError for the right-hand side of a DAE.
        """
        if name in _OF_FACTORS:
            of_factors: MachineFunction = getattr(self.factors(), name)
            return of_factors
        if name != "project" and name not in _NAMES:
            known = ", ".join(map(repr, (*_NAMES, *_OF_FACTORS, "project")))
            raise ValueError(f"Callbacks: there is no machine function {name!r}; choose from {known}")
        if name not in self._machine:
            if name == "project":
                found = Projection().bind(self._problem).machine()
            elif (own := self._of_this_model(name)) is not None:
                found = own.function()
            else:
                signs = self._kernel(name).signs[1:].replace("M", "o")
                found = trampoline(self._plain(name), signs, self._shapes(name))
            self._machine[name] = found
        return self._machine[name]

    def factors(self, of: str = "residual") -> Factors:
        """Factors of dF/dy + c dF/dyd as two C functions, for loops in machine code; those of ``"rates"`` are of
        c I - df/dy, which is the same where F = yd - f.

        Raises ValueError for forms with more equations than unknowns, and, of ``"rates"``, where F is another one.
        """
        if of == "rates" and (self._workspace.settings.reduced or not isinstance(self._kernels, Explicit)):
            name = self._workspace.settings.formulation.name
            raise NoFactors(f"the residual of {name} is not yd - f, so that there are no factors of c I - df/dy")
        if self._problem.n_equations != self._workspace.layout.n:
            name = self._workspace.settings.formulation.name
            raise NoFactors(f"{name} has more equations than unknowns, so that its Jacobian has no factors")
        if self._factors is not None:
            return self._factors
        problem, pattern, known = self._problem, self._entries(), self._known_factors()
        with nullcontext() if known else self._workspace.memory.preparation:
            self._factors = Factors(
                problem.n, pattern.rows, pattern.columns, lambda: self.machine("jacobian_data"),
                lambda *given: self.jacobian_data(*given), (problem.t0, problem.y0, problem.yd0), known,
            )  # fmt: skip
        return self._factors

    def _known_factors(self) -> BoundFactors | Tables | None:
        """Those of the structure; None where the Jacobian has no code of its own."""
        jacobian = self._of_this_model("jacobian_data")
        if not isinstance(jacobian, TracedKernel):
            return None
        return factors_of(self._workspace, FactorsWanted(self._kernel("jacobian"), self._entries(), jacobian.code))

    def _entries(self) -> Pattern:
        found: Pattern = self._problem._block_pattern
        return found

    def steps(self, scheme: str) -> StepFunctions:
        """The functions of an integration scheme of `rbdae.conserving`, for loops in machine code."""
        if scheme not in self._schemes:
            self._schemes[scheme] = step_functions(self._workspace, scheme, self._tally)
        return self._schemes[scheme]

    def work_of_steps(self, scheme: str) -> MachineFunction:
        """The work of what has no potential in a step of such a scheme: out[0]."""
        steps = self.steps(scheme)
        shapes: Shapes = {"y": (self._workspace.layout.n,), "yd": (steps.n_unknowns + 1,), "out": (1,)}
        return _made(self._workspace, SCHEMES[steps.scheme].work, shapes, self._tally)[0]

    def code(self, name: str) -> Literal["machine", "folded", "plain"]:
        """How a callback runs: as machine code, with the numbers of the model folded in, or as plain Python. Raises
        ValueError for another name."""
        self._refuse_other(name)
        return "plain" if self._of_this_model(name) is None else self._workspace.memory.name

    def _code_of(self, names: Collection[str]) -> HowMade:
        """The code of some callbacks, and of integration schemes: ``"mixed"`` if it is not the same for all."""
        found = {self._schemes[name].code if name in self._schemes else self.code(name) for name in names}
        return found.pop() if len(found) == 1 else "mixed"

    def operations(self, name: str) -> Operations:
        """The operations of an evaluation of a callback, counted in the code of this model. [NS], Table 1, has such
        counts for right-hand sides.

        Raises ValueError for another name, and where the callback runs as plain Python; AttributeError for the
        right-hand side of a DAE.
        """
        self._refuse_other(name)
        if isinstance(self._of_this_model(name), RatesCode):
            raise ValueError(f"Callbacks: {name!r} of this model runs loops over its joints; there is no list to count")
        if self._of_this_model(name) is None:
            raise ValueError(
                f"Callbacks: {name!r} has no machine code, whose operations are counted: the model is too large, or "
                "llvmlite is missing"
            )
        wanted = Wanted(self._kernel(name), self._shapes(name), self._entries_of(name), name == "jacobian_data")
        return counted(self._workspace, wanted)

    @property
    def _fallbacks(self) -> int:
        """How often machine code has fallen back to plain Python so far, where a guard did not hold."""
        return self._tally.count

    def _call(self, name: str) -> Callable[..., None]:
        found = self._of_this_model(name)
        return self._plain(name) if found is None else found.call

    def _kernel(self, name: str) -> Callback:
        of_rhs = name.startswith("rhs")
        kernels = self._explicit() if of_rhs else self._kernels
        kernel = kernels.rates if of_rhs else kernels.residual
        if name in ("rhs", "residual"):
            return kernel
        return Derivative(kernel, "inputs" if name.endswith("by_inputs") else "state")

    def _refuse_other(self, name: str) -> None:
        if name not in _NAMES:
            raise ValueError(f"Callbacks: there is no callback {name!r}; choose from {', '.join(map(repr, _NAMES))}")

    def _of_this_model(self, name: str) -> TracedKernel | RatesCode | None:
        if name not in self._traced:
            kernel, workspace = self._kernel(name), self._workspace
            if not workspace.memory.traced:
                return None
            by_rates = rates_code(workspace, self._tally) if name == "rhs_jacobian" else None
            self._traced[name] = by_rates or traced(
                workspace,
                kernel,
                self._shapes(name),
                pattern=self._entries_of(name),
                sparse=name == "jacobian_data",
                tally=self._tally,
            )
        return self._traced[name]

    def _plain(self, name: str) -> Callable[..., None]:
        return in_python(self._workspace, self._kernel(name), self._entries_of(name))

    def _entries_of(self, name: str) -> Pattern | None:
        """The entries of a Jacobian of the residual, whose pattern is known."""
        return self._entries() if name.startswith("jacobian") else None

    def _shapes(self, name: str) -> Shapes:
        n, of_rhs = self._workspace.layout.n, name.startswith("rhs")
        rows = n if of_rhs else self._problem.n_equations
        out: tuple[int, ...] = (rows,)
        if name == "jacobian_data":
            out = (len(self._entries().rows),)
        elif name.endswith("jacobian"):
            out = rows, n
        elif name.endswith("by_inputs"):
            out = rows, len(inputs_of(self._workspace))
        return {"y": (n,), "out": out} if of_rhs else {"y": (n,), "yd": (n,), "out": out}

    def _explicit(self) -> Explicit:
        if not isinstance(self._kernels, Explicit):
            raise AttributeError(
                f"{self._workspace.settings.formulation.name} is a DAE and has no right-hand side; choose index-0, "
                "null-space or hamiltonian-eliminated for one"
            )
        return self._kernels


# ------------------------------------------------------------ functions of integration schemes

IN_DIRECTORS: Mapping[str, str] = {"QUAT.EM-R": "DIR.EM", "QUAT.EM": "DIR.EM"}
"""What these are in director momenta: the paper's scheme there, whose increments have Rodrigues parameters."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class StepFunctions:
    """``newton``, ``advance`` and ``predict`` of a scheme, and all of a `step` in one function where there is one, see
    `rbdae.machine.loops.fixed`; a step has `n_unknowns`, of which `n_rows` belong to joints; `scheme` is its
    name, in directors that of what it is there."""

    scheme: str
    newton: MachineFunction
    advance: MachineFunction
    predict: MachineFunction
    step: MachineFunction | None
    n_unknowns: int
    n_rows: int
    code: HowMade

    def check(self) -> None:
        """Raise what a Python function behind one of them has raised."""
        for function in (self.newton, self.advance, self.predict):  # a step in one function calls nothing of the user
            function.check()


def step_functions(workspace: Workspace, scheme: str, tally: Tally) -> StepFunctions:
    """The functions of a scheme of `rbdae.conserving.SCHEMES`; `tally` counts where plain Python runs. Raises
    ValueError for forces and drives that the scheme does not have."""
    if workspace.settings.kind.number == kb.DIRECTOR_RATE:
        scheme = IN_DIRECTORS.get(scheme, scheme)
    found = SCHEMES[scheme]
    if refused := _refused(workspace, found):
        raise ValueError(f"{scheme} has no discrete form of {refused}; use rbdae:dop853, or leave them out")
    workspace.make_newton()
    layout = workspace.layout
    n = workspace.head.n_body_unknowns + layout.n_rows
    made = [
        _made(workspace, kernel, {"y": (layout.n,), "yd": (n + 1,), "out": (size,)}, tally)
        for kernel, size in ((found.newton, n + 1), (found.advance, layout.n), (predict, n + 1))
    ]
    (newton, own_newton), (advance, own_advance), (first, _) = made
    codes: set[HowMade] = {"plain" if own is None else workspace.memory.name for _, own in made}
    code = codes.pop() if len(codes) == 1 else "mixed"
    step = _step(workspace, found, n, own_newton, own_advance)
    return StepFunctions(scheme, newton, advance, first, step, n, layout.n_rows, code)


def _made(
    workspace: Workspace, kernel: Entry, shapes: Shapes, tally: Tally
) -> tuple[MachineFunction, TracedKernel | None]:
    """A kernel as a machine function, of this model alone if there is code of it, and that code."""
    plain = workspace.raising(Recorded(workspace, kernel))  # steps are written with derivatives of symbols
    own = traced(workspace, kernel, shapes, tally=tally)
    return trampoline(plain, kernel.signs[1:], shapes) if own is None else own.function(), own


LONGEST_STEP = 1500
"""Nodes of a step up to which it is one function: in longer ones nothing is gained by that."""


def _step(
    workspace: Workspace, scheme: Scheme, n: int, newton: TracedKernel | None, advance: TracedKernel | None
) -> MachineFunction | None:
    """All of a step in one function, where its kernels are short and call nothing of the user."""
    if newton is None or advance is None or newton.code.functions or advance.code.functions:
        return None
    if newton.code.n_nodes + advance.code.n_nodes > LONGEST_STEP or apply_to(workspace, scheme.newton):
        return None
    kernel, size = ImplicitStep(scheme.newton, scheme.advance), workspace.layout.n
    shapes: Shapes = {"y": (size,), "yd": (2 * n + SAYS,), "out": (size,)}
    found = traced(workspace, kernel, shapes)
    return None if found is None else found.code.function(workspace)


def _refused(workspace: Workspace, scheme: Scheme) -> str:
    """What acts on the bodies and has no discrete form in a scheme; some have none but for joints and weight."""
    model = workspace.model
    elements = model.forces.elements
    kinds = {
        "forces with internal states": np.any((elements["shaping"] == kb.FUNCTION) & (elements["n_states"] > 0)),
        "forces under the reaction of a joint": len(model.frictions) > 0,
        "rotational springs": (np.any(elements["stiffness"], axis=(1, 2)) & (elements["holonomic"] == 0)).any(),
        "drives": not scheme.forces and len(model.drives) > 0,
        "applied forces": not scheme.forces and len(elements) > 0,
    }
    return next((name for name, there in kinds.items() if there), "")
