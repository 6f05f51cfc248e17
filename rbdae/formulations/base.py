"""The definition of a formulation: a class declares its unknowns and constraints and has the kernels of its equations.
Its fields are its options, and `rbdae.formulate` takes its values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Literal, TypeAlias, final, get_args, get_type_hints

from rbdae import _check
from rbdae.kernels.entry import Entry

Kind = Literal["ode", "dae", "overdetermined"]
Unknowns = Literal["velocities", "momenta", "quasi-velocities"]
Multipliers = Literal["none", "values", "integrals"]
RadialInertia = Literal["zero", "half-trace"]
Gyroscopic = Literal["third-order", "fifth-order"]
PullBack = Literal["homogeneous", "moment", "inhomogeneous"]
DirectorConstraints = Literal["rows", "columns"]
Norm = Literal["any", "unit"]


@final
@dataclass(frozen=True, slots=True)
class Derivative:
    """The Jacobian of a kernel, derived from what the kernel has recorded (`rbdae.multibody.recorded.derived`).

    Parameters
    ----------
    of : a residual, or a right-hand side
    by : ``"state"``, ``"inputs"``, or ``"parameter"`` of a workspace whose symbols follow one
    """

    of: Entry
    by: Literal["state", "inputs", "parameter"] = "state"

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.of.name}{'' if self.by == 'state' else '_' + self.by}_jacobian"

    @property
    def bodies_first(self) -> Derivative:
        """That of the kernel in the orders that serve any position."""
        return Derivative(self.of.bodies_first, self.by)

    @property
    def signs(self) -> str:
        """As those of `rbdae.kernels.entry.Entry`."""
        return {"ityyo": "ityytM", "ityo": "ityM"}[self.of.signs] if self.by == "state" else f"{self.of.signs[:-1]}M"


Callback: TypeAlias = Entry | Derivative


@final
@dataclass(frozen=True, slots=True)
class ImplicitStep:
    """A step of an integration scheme, compiled for a model as one function (`rbdae.machine.loops.fixed.whole`).

    Parameters
    ----------
    newton, advance : kernels of one iteration, and of the end of the step
    """

    newton: Entry
    advance: Entry

    @property
    def name(self) -> str:
        """For messages and files."""
        return f"{self.newton.name}_and_{self.advance.name.rpartition(':')[2]}"

    @property
    def signs(self) -> str:
        """The arguments of its kernels."""
        return self.newton.signs


@dataclass(frozen=True, slots=True)
class Implicit:
    """The equations of a formulation as kernels. Their Jacobians are derived.

    1. `residual` is F(t, y, yd).
    2. `rates` maps (t, y) to the consistent rates of positions, velocities and internal states, by elimination of the
       multipliers; the multipliers follow if the output has room for them.
    3. All include the internal states of forces (`rbdae.kernels.bodies.gather`). The head has the places of s
       and the multipliers in y: states_at, multipliers_at.
    """

    residual: Entry
    rates: Entry

    @property
    def jacobian(self) -> Derivative:
        """dF/dy + c dF/dyd."""
        return Derivative(self.residual)


@final
@dataclass(frozen=True, slots=True)
class Explicit(Implicit):
    """Equations that can also be solved for yd = `rates`.

    Parameters
    ----------
    solving : those of these kernels that solve the saddle-point system on their way
    balance : (m, x, out), its residual at x = (vdot, la), zero at the solution, through which that is differentiated
    """

    solving: tuple[Entry, ...] = ()
    balance: Entry | None = None

    def solves(self, kernel: Entry) -> bool:
        """Whether a kernel solves this system, in whatever order."""
        return any(entry.function is kernel.function for entry in self.solving)

    @property
    def rhs_jacobian(self) -> Derivative:
        """d(rates)/dy."""
        return Derivative(self.rates)


@dataclass(frozen=True, kw_only=True)
class Formulation:
    """One way to write the equations of motion, with its options. Values are compared by class and options.

    Class arguments are its attributes, and its fields the options: a `Literal` is a choice by name, a float is a
    parameter. Kernels read the parameters, in the order of the fields, through
    `rbdae.kernels.memory.formulation_parameters`. Your own class with options is also a frozen dataclass.

    Attributes
    ----------
    name, source : the public name, paper and equation
    kind, index : kind of problem and differentiation index
    velocities : its choices of velocities, the default first
    kernels : its equations
    unknowns : velocities, momenta, or independent quasi-velocities
    levels : levels of the constraints in the residual (0 position, 1 velocity, 2 acceleration). The first belongs to
        the multipliers' equations. A DAE with two levels has a second set of multipliers, for the kinematic correction;
        an overdetermined form has the other levels as further equations.
    multipliers : whether y contains them, or their integrals
    corrections : the same for the multipliers of the kinematic correction, if it has no others
    charts : names of its charts; empty for all that have its velocities
    projected : whether the dynamics of each body are projected onto the tangents of its unit norm, which then has no
        multiplier among the unknowns
    stabilised : whether the constraints on accelerations have Baumgarte's terms, with the first two parameters
    damping : the name of the parameter that damps constraint violations, which therefore grow back in time; or empty
    """

    name: ClassVar[str]
    source: ClassVar[str]
    kind: ClassVar[Kind]
    index: ClassVar[int]
    velocities: ClassVar[tuple[str, ...]]
    kernels: ClassVar[Implicit]
    unknowns: ClassVar[Unknowns] = "velocities"
    levels: ClassVar[tuple[int, ...]] = ()
    multipliers: ClassVar[Multipliers] = "none"
    corrections: ClassVar[Multipliers] = "none"
    charts: ClassVar[tuple[str, ...]] = ()
    projected: ClassVar[bool] = False
    stabilised: ClassVar[bool] = False
    damping: ClassVar[str] = ""

    def __init_subclass__(cls, **attributes: Any) -> None:
        super().__init_subclass__()
        for name, value in attributes.items():
            if name not in Formulation.__annotations__:
                raise _check.unknown(f"attribute of {cls.__name__}", name, Formulation.__annotations__)
            setattr(cls, name, value)

    def __post_init__(self) -> None:
        for option, value in self.chosen():
            object.__setattr__(self, option.name, self.checked(option.name, value))

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (type(self), self.options)

    def __str__(self) -> str:
        """The name, with options that differ from the defaults."""
        options = [f"{option.name}={value!r}" for option, value in self.chosen() if not option.metadata.get("in_name")]
        return f"{self.name} ({'; '.join(options)})" if options else self.name

    @classmethod
    def checked(cls, name: str, value: object, owner: str = "") -> str | float:
        """A valid value of one of its options; messages name `owner` in place of the class.

        Raises
        ------
        TypeError, ValueError
        """
        own: Any = cls
        choices = get_args(_hints(own)[name])
        if choices:
            if not isinstance(value, str) or value not in choices:
                raise _check.unknown(f"value of {name}", value, choices)
            return value
        owner, option = owner or cls.__name__, cls.__dataclass_fields__[name]
        number = _check.number(owner, name, value)
        why = option.metadata.get("why")
        if why is not None and number < 0.0:
            got = f"got {_check.show(value)}; pass e.g. {option.default}"
            raise ValueError(f"{owner}: {name} must not be negative ({why}), {got}")
        return number

    def chosen(self) -> Iterator[tuple[Field[Any], str | float]]:
        """Options that differ from the defaults, with their values."""
        options = self.options
        return ((option, options[option.name]) for option in fields(self) if options[option.name] != option.default)

    @property
    def summary(self) -> str:
        """A line about it."""
        return (type(self).__doc__ or "").partition("\n")[0].rstrip(".")

    @property
    def options(self) -> dict[str, str | float]:
        """Its options by name."""
        return {option.name: getattr(self, option.name) for option in fields(self)}

    @property
    def parameters(self) -> dict[str, float]:
        """Its numeric options, in the order of its kernels."""
        return {name: value for name, value in self.options.items() if isinstance(value, float)}

    def choice(self, name: str) -> str:
        """An option that is a name; empty if it has no such option."""
        return str(getattr(self, name, ""))

    @property
    def corrected(self) -> bool:
        """Whether there is a second set of multipliers, for the kinematic correction."""
        return self.corrections != "none" or (self.kind == "dae" and len(self.levels) == 2)

    @property
    def unknown_multipliers(self) -> Multipliers:
        """Whether y contains multipliers, of constraints or of the correction, or their integrals."""
        return self.multipliers if self.multipliers != "none" else self.corrections

    @property
    def further_levels(self) -> tuple[int, ...]:
        """Levels of the constraints that an overdetermined form adds as further equations."""
        if self.kind != "overdetermined":
            return ()
        return self.levels if self.multipliers == "none" else self.levels[1:]


@cache
def _hints(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls)


def _made(cls: type[Formulation], options: dict[str, Any]) -> Formulation:
    return cls(**options)


def parameter(default: float, why: str) -> float:
    """Field of a nonnegative number; `why` explains the limit in messages."""
    out: float = field(default=default, metadata={"why": why})
    return out


@dataclass(frozen=True, kw_only=True)
class AbsoluteFormulation(Formulation, velocities=("angular", "spatial", "coordinate")):
    """A formulation in the positions and velocities of all bodies.

    Parameters
    ----------
    radial_inertia : ``"zero"`` or ``"half-trace"``
        J0 of the quaternion mass with coordinate velocities: 0 ([NS]) or tr(J)/2 ([BS09], always in its forms). The
        motion is the same, the multiplier of the unit norm differs.
    gyroscopic : ``"third-order"`` or ``"fifth-order"``
        The gyroscopic term there: [SNS15] (29), which is [NS] (33), or (23). The motion and the joints' multipliers are
        the same, the unit norm's multiplier differs (`rbdae_papers.norm_multipliers`).
    pull_back : ``"homogeneous"``, ``"moment"`` or ``"inhomogeneous"``
        Map from weights, applied forces and joint forces to generalised forces there: by the gradient of
        R(p) = (p0^2 - e . e) I + 2 e e^T + 2 p0 e~, [NS] (48), linear in p; as 2 L^T n, [SNS15] (59), without a part
        along p; or by the gradient of (5), which uses |p| = 1, (69). Again only the multiplier of the norm differs.
    director_constraints : ``"rows"`` or ``"columns"``
        The six internal constraints of ``"directors"``: R R^T = I, [NS] (19), or R^T R = I, (44). The motion is the
        same; La of the columns is R^T La R of the rows.
    """

    radial_inertia: RadialInertia = "zero"
    gyroscopic: Gyroscopic = "third-order"
    pull_back: PullBack = "homogeneous"
    director_constraints: DirectorConstraints = "rows"
