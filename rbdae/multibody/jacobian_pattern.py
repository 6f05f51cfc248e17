"""The entries that a Jacobian may have: the derivatives that are not zero whatever the state.

They are found by elements, or by recording the whole model. Models that are too long for that have all entries between
the rows and the unknowns of bodies that a joint or a force connects; forms without multipliers, whose accelerations
depend on all bodies, have every entry then. So do kernels that cannot be recorded, which a warning says.
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.derivatives import NoDerivative
from rbdae.graph.symbols import NotStraight
from rbdae.machine.cache import say_once
from rbdae.machine.function import Shapes
from rbdae.multibody.code_text import Pattern
from rbdae.multibody.derived import derivative_rows
from rbdae.multibody.elements import pattern_of_elements
from rbdae.multibody.recording import MOST_NODES, recording_point
from rbdae.multibody.workspace import Workspace

MOST_BODIES = 1000
"""Bodies up to which a model is recorded as a whole; beyond, it takes seconds in every process."""


def jacobian_pattern(workspace: Workspace, n_equations: int) -> Pattern:
    """The entries of dF/dy + c dF/dyd, column by column."""
    try:
        found = pattern_of_elements(workspace)
        if found is None and workspace.model.n <= MOST_BODIES:
            found = _recorded(workspace, n_equations)
    except (NotStraight, NoDerivative):
        found = None
    except (TypeError, AttributeError, ValueError, ArithmeticError) as error:  # a kernel from elsewhere, such as a
        # user's chart, may do with its numbers what cannot be recorded
        name = workspace.settings.kernels.jacobian.name
        say_once(f"{name} cannot be recorded ({type(error).__name__}: {error}); its pattern is by bodies, or full")
        found = None
    rows, columns = found or _coarse(workspace, n_equations)
    columns, rows = np.divmod(np.unique(columns * n_equations + rows), n_equations)
    return Pattern(rows, columns)


def _recorded(workspace: Workspace, n_equations: int) -> tuple[Ints, Ints]:
    """Row and column of the entries."""
    n = workspace.layout.n
    shapes: Shapes = {"y": (n,), "yd": (n,), "out": (n_equations,)}
    kernel = workspace.settings.kernels.jacobian
    _, found = derivative_rows(workspace, kernel, shapes, recording_point(workspace, shapes), MOST_NODES)
    rows = np.repeat(np.arange(n_equations), [len(row) for row in found])
    return rows, np.array([j for row in found for j in row], dtype=np.int64)


def _coarse(workspace: Workspace, n_equations: int) -> tuple[Ints, Ints]:
    """Row and column of all entries between what belongs to one body, or to the bodies of one joint or force."""
    layout, settings = workspace.layout, workspace.settings
    if settings.reduced or settings.formulation.multipliers == "none":
        rows, columns = np.divmod(np.arange(n_equations * layout.n), layout.n)
        return rows, columns
    arrays, n = workspace.arrays, workspace.model.n
    sets = [[k] for k in range(layout.n)]
    of_body = [_of_body(workspace, b) for b in range(n)]
    sets += of_body
    joints: dict[tuple[int, int], list[int]] = {}
    for primitive in arrays["primitives"]:
        pair = int(primitive["body"][0]), int(primitive["body"][1])
        joints.setdefault(pair, []).extend(range(int(primitive["row"]), int(primitive["row"] + primitive["n"])))
    starts = [part.start for part in (layout.la, layout.mu) if part.stop > part.start]
    hidden = layout.n_hidden
    for pair, own in joints.items():
        bodies = [k for b in pair if b < n for k in of_body[b]]
        sets.append([*bodies, *(start + row - hidden for start in starts for row in own)])
    for force in arrays["elements"]:
        of = force["body"]
        if force["n_bodies"]:
            of = arrays["element_bodies"][int(force["first_body"]) : int(force["first_body"] + force["n_bodies"])]
        bodies = [k for b in dict.fromkeys(of.tolist()) if b < n for k in of_body[b]]
        states = range(int(force["state"]), int(force["state"] + force["n_states"]))
        sets.append([*bodies, *(layout.s.start + k for k in states)])
    places = [np.array(own, dtype=np.int64) for own in sets]
    rows = np.concatenate([np.repeat(k, len(k)) for k in places])
    columns = np.concatenate([np.tile(k, len(k)) for k in places])
    return _with_further_rows(workspace, rows, columns, n_equations)


def _of_body(workspace: Workspace, b: int) -> list[int]:
    """The unknowns of one body, which are the places of its rows, too."""
    layout, o = workspace.layout, workspace.arrays["bodies"][b]
    q, v = layout.q.start + int(o["iq"]), layout.v.start + int(o["iv"])
    out = [*range(q, q + int(o["nt"] + o["na"])), *range(v, v + int(o["nt"] + o["nr"]))]
    if not layout.n_hidden:
        for part in (layout.la, layout.mu):
            if part.stop > part.start:
                out += range(part.start + int(o["il"]), part.start + int(o["il"] + o["ni"]))
    return out


def _with_further_rows(workspace: Workspace, rows: Ints, columns: Ints, n_equations: int) -> tuple[Ints, Ints]:
    """The same with the rows after the unknowns, which are constraints again."""
    layout = workspace.layout
    size = layout.n_constraints
    found = [(rows, columns)]
    for first in range(layout.n, n_equations, size or 1):
        mine = (rows >= layout.la.start) & (rows < layout.la.start + size)
        found.append((rows[mine] - layout.la.start + first, columns[mine]))
    return np.concatenate([row for row, _ in found]), np.concatenate([column for _, column in found])
