"""The structured records of the model's memory, and the numbers that name kinds in them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from rbdae.compiler.access import VARIES
from rbdae.rotations.velocities import ANGULAR as ANGULAR
from rbdae.rotations.velocities import DIRECTOR_RATE as DIRECTOR_RATE
from rbdae.rotations.velocities import QUATERNION_RATE as QUATERNION_RATE

# where (xdot, Omega) come from in the null-space forms: head.reduced
SPHERICAL_TREE = 1
LOOPS = 2
TREE = 3

SPATIAL_VELOCITIES, SPATIAL_QUASI_VELOCITIES = 1, 2  # head.spatial
# modes of the target
STRIDED = 0
COLUMNS = 1
RECORD = 2

# forms of [SNS15]: head.gyroscopic and head.pull_back; head.forms says whether one of them, or the projection, is not
# the default
THIRD_ORDER = 0
FIFTH_ORDER = 1
HOMOGENEOUS = 0
MOMENT = 1
INHOMOGENEOUS = 2

# rows of the scratch vectors, see `rbdae.kernels.scratch`
N_VECTORS = 17

# rows below those of the scratch matrix `rhs_tangent`, for sums of its rows
N_TANGENT_ROWS = 3

# shapes of force elements
IDENTITY = 0
ROOT = 1
ANGLE = 2
USER = 3
STATEFUL = 4

ARRAYS = (
    "bodies",
    "references",
    "states",
    "primitives",
    "rows",
    "bushings",
    "factor",
    "pivot_floor",
    "factor_start",
    "factor_column",
    "pairs",
    "vectors",
    "rhs_tangent",
    "block_starts",
    "blocks",
    "null_space",
    "drives",
    "elements",
    "element_bodies",
    "element_inputs",
    "inputs",
    "algebraic",
    "entries",
    "formulation_parameters",
    "element_memory",
    "velocity_selection",
    "velocity_metric",
    "square_factors",
    "row_exchanges",
    "square_rows",
    "square_start",
    "square_column",
    "square_place",
    "square_turning",
    "square_factor",
    "square_factor_start",
    "square_factor_column",
    "square_product_start",
    "square_product_slot",
    "tree_velocities",
    "tangent_memory",
    "state_arguments",
    "state_results",
    "state_tangents",
    "newton_matrix",
    "newton_operations",
    "newton_bodies",
    "newton_joints",
    "newton_forces",
)

# `chained` is 1 where other velocities than (xdot, w) are unknowns: momenta, or spatial ones.
# `most_arguments`, `most_results` are those of the force by functions with states that has the most; `n_columns` those
# of the dynamics' tangents: (q, v, s), where v are all velocities, of null-space forms, too; `states_at`,
# `multipliers_at`, `corrections_at`: where s, la and mu begin in y
HEAD = np.dtype(
    [
        (name, "i8")
        for name in [
            "n_bodies",
            "n_primitives",
            "n_bushings",
            "n_drives",
            "n_elements",
            "n_entries",
            "n_element_bodies",
            "n_element_inputs",
            "n_inputs",
            "n_rows",
            "n_pairs",
            "n_q",
            "n_v",
            "n_la",
            "n_internal",
            "n_states",
            "most_arguments",
            "most_results",
            "n_state_tangents",
            "n_columns",
            "states_at",
            "multipliers_at",
            "corrections_at",
            "integral",
            "stabilised",
            "n_parameters",
            "n_nu",
            "rhs_tangent_width",
            "n_starts",
            "n_blocks",
            "n_factor",
            "n_square_entries",
            "n_square_factor",
            "n_square_products",
            "n_vector",
            "n_body_unknowns",
            "n_newton",
            "n_operations",
            "kind",
            "chart",
            "chart_internal",
            "referenced",
            "momenta",
            "chained",
            "spatial",
            "forms",
            "gyroscopic",
            "pull_back",
            "projected",
            "columns",
            "structure",
            "sparse",
            "level",
            "singular",
            "mode",
            "row_stride",
            "column_stride",
            "cursor",
            "target",
            "n_target",
        ]
    ]
    + [("time", "f8")]
    + [(name, "i8") for name in ARRAYS],
    align=True,
)

HEAD_WORDS = {name: offset // 8 for name, (_, offset, *_) in (HEAD.fields or {}).items()}
"""The place of each number in a head, whose numbers all have eight bytes."""

BODY = np.dtype(
    [
        ("mass", "f8"),
        ("inertia", "f8", (3, 3)),
        ("inertia_inverse", "f8", (3, 3)),
        ("euler", "f8", (3, 3)),
        ("euler_inverse", "f8", (3, 3)),
        ("radial", "f8"),
        ("center", "f8", (3,)),
        ("origin", "f8", (3,)),
        ("weight", "f8", (3,)),
        ("weight_d", "f8", (9,)),
        ("iq", "i8"),
        ("iv", "i8"),
        ("il", "i8"),
        ("nt", "i8"),
        ("na", "i8"),
        ("nr", "i8"),
        ("ni", "i8"),
        ("fixed", "i8"),
        ("parent", "i8"),
        ("inu", "i8"),
        ("arm", "f8", (3,)),
        ("parent_arm", "f8", (3,)),
    ],
    align=True,
)

PRIMITIVE = np.dtype(
    [
        ("linear", "i8"),
        ("n", "i8"),
        ("row", "i8"),
        ("body", "i8", (2,)),
        ("moving", "i8"),
        ("keep", "i8", (3,)),
        ("whole", "i8"),
        ("A", "f8", (8,)),
        ("B", "f8", (8,)),
        ("Ad", "f8", (8,)),
        ("Add", "f8", (8,)),
        ("scale", "f8"),
        ("offset", "f8", (3,)),
        ("offset_rate", "f8", (3,)),
        ("offset_acceleration", "f8", (3,)),
        ("slot", "i8", (3,)),
    ],
    align=True,
)

BUSHING = np.dtype(
    [
        ("body", "i8", (2,)),
        ("A", "f8", (8,)),
        ("stiffness", "f8", (3, 3)),
        ("damping", "f8", (3, 3)),
        ("damped", "i8"),
    ],
    align=True,
)

DRIVE = np.dtype(
    [
        ("law", "i8"),
        ("kind", "i8"),
        ("primitive", "i8"),
        ("e1", "f8", (3,)),
        ("e2", "f8", (3,)),
        ("value", "f8", (9,)),
    ],
    align=True,
)

# see kernels/elements.py; `start` is 3 where the element does not touch x, `tangent` 0 where its forces are constant;
# `winding` is 1 where an angle has its winding as an internal state; `state` is the offset of the `n_states` internal
# states among those of all elements, `tangent_at` that of their Jacobian; elements by functions with states act on
# `n_bodies` bodies, from `first_body` on in `element_bodies`; the `n_inputs` inputs of an element, from `first_input`
# on in `element_inputs`, follow the states among the arguments, or are the load in place of `constant`
ELEMENT = np.dtype(
    [
        (name, "i8")
        for name in [
            "shaping",
            "forms",
            "first",
            "last",
            "start",
            "tangent",
            "damped",
            "winding",
            "holonomic",
            "law",
            "force",
            "jacobian",
            "potential",
            "n_states",
            "state",
            "tangent_at",
            "first_body",
            "n_bodies",
            "first_input",
            "n_inputs",
        ]
    ]
    + [
        ("body", "i8", (2,)),
        ("stiffness", "f8", (3, 3)),
        ("damping", "f8", (3, 3)),
        ("rest", "f8", (3,)),
        ("constant", "f8", (3,)),
        ("sign", "f8"),
        ("level", "f8"),
    ],
    align=True,
)

# a coefficient of a form: row i, column j, or j = -1 for what does not depend on Z
ENTRY = np.dtype([("form", "i8"), ("i", "i8"), ("j", "i8"), ("value", "f8")], align=True)

PAIR = np.dtype(
    [
        ("body", "i8"),
        ("first", "i8"),
        ("second", "i8"),
        ("first_side", "i8"),
        ("second_side", "i8"),
        ("slot", "i8", (3, 3)),
    ],
    align=True,
)

# a body and its joint to the parent: `primitive`, `equation` and `side` of each of its joint equations, which are the
# constraint rows `row`; the rows S of its quasi-velocities nu = S (R^T xdot, Omega); the exchanges of its elimination
TREE_VELOCITY = np.dtype(
    [
        ("n_rows", "i8"),
        ("n_free", "i8"),
        ("primitive", "i8", (6,)),
        ("equation", "i8", (6,)),
        ("side", "i8", (6,)),
        ("row", "i8", (6,)),
        ("pivot", "i8", (6,)),
        ("S", "f8", (6, 6)),
    ],
    align=True,
)

# the Newton equations of a step, `rbdae.kernels.conserving`: where the unknowns of a body, its diagonal block and its
# entries of the right-hand side begin; the same for each equation of a primitive, by side where bodies matter: its
# entry of the right-hand side, its gradient, a row of a block, and its force, a column of another one, whose rows are
# `force_stride` apart; the blocks of the stiffness by pairs of sides
NEWTON_BODY = np.dtype([(name, "i8") for name in ("unknown", "block", "row")], align=True)

NEWTON_JOINT = np.dtype(
    [
        ("row", "i8", (3,)),
        ("gradient", "i8", (2, 3)),
        ("force", "i8", (2, 3)),
        ("force_stride", "i8", (2,)),
        ("stiffness", "i8", (2, 2)),
        ("stiffness_stride", "i8", (2,)),
    ],
    align=True,
)

# blocks of the stiffness of a force, by pairs of sides; first those of the elements, then of the bushings
NEWTON_FORCE = np.dtype([("stiffness", "i8", (2, 2)), ("stride", "i8", (2,))], align=True)

# a step of the elimination: what is done with the blocks that begin at first, second, third
NEWTON_OPERATION = np.dtype(
    [(name, "i8") for name in ("kind", "first", "second", "third", "rows", "columns", "inner")], align=True
)


_VARYING = {VARIES: True}
"""The metadata of records whose numbers depend on the state; those of the others are constants, and laws of time."""


@cache
def state_dtype(scalar: Any) -> np.dtype[Any]:
    """Working memory of one body; names: `d` the directors, a trailing `d` a time derivative."""
    vector, nine, square = (3,), (9,), (9, 9)
    return np.dtype(
        [(n, scalar, vector) for n in ("x", "xd", "xdd", "fx", "px", "pxd", "om", "tx", "gx")]
        + [(n, scalar, nine) for n in ("a", "ad", "w", "wd", "d", "dd", "ddd", "fd", "p", "pd", "s", "t", "gd")]
        + [(n, scalar, square) for n in ("B", "U", "Ud", "Vd")]
        + [
            ("N", scalar, (9, 3)),
            ("C", scalar, (3, 3)),
            ("Ji", scalar, (3, 3)),
            ("Ri", scalar, (3, 9)),
            ("Zi", scalar, (3, 6)),
        ]
        + [("Pi", scalar, (9, 6))],
        align=True,
        metadata=_VARYING,
    )


@cache
def row_dtype(scalar: Any) -> np.dtype[Any]:
    """Working memory of one primitive: the vectors P, Q, and gradients by side (0, 1)."""
    return np.dtype(
        [(n, scalar, (3,)) for n in ("P", "Pd", "Pdd", "Q", "Qd", "Qdd", "la", "mu", "value")]
        + [(n, scalar, (2, 3, 3)) for n in ("Gx", "H", "HJ")]
        + [(n, scalar, (2, 3, 9)) for n in ("Gw", "Pw", "Qw")],
        align=True,
        metadata=_VARYING,
    )


@cache
def tangent_memory_dtype(scalar: Any) -> np.dtype[Any]:
    """Working memory of one primitive or body at a time: it stays in the cache.

    `K`: K(a); `left`, `right`: matrices of quaternion products; `basis`: T_d(d); `work`, `GP`, `A`, `chained`, `block`,
    `product`: of the stage that asks for them.
    """
    return np.dtype(
        [("work", scalar, (2, 3, 9)), ("GP", scalar, (3, 6))]
        + [(n, scalar, (9, 9)) for n in ("K", "A", "left", "right", "chained", "basis", "block", "product")],
        align=True,
        metadata=_VARYING,
    )


@cache
def element_memory_dtype(scalar: Any) -> np.dtype[Any]:
    """Working memory of one force element, see kernels/elements.py."""
    return np.dtype(
        [(n, scalar, (3,)) for n in ("q", "r", "s", "f", "w", "u")]
        + [(n, scalar, (3, 3)) for n in ("J", "X", "C")]
        + [(n, scalar, (3, 24)) for n in ("g", "h")]
        + [
            ("Z", scalar, (48,)),
            ("F", scalar, (24,)),
            ("y", scalar, (24,)),
            ("z", scalar, (24,)),
            ("user", scalar, (1152,)),
        ]
        + [("K", scalar, (24, 24)), ("Y", scalar, (12, 12))],
        align=True,
        metadata=_VARYING,
    )


STATE = state_dtype("f8")
ROW = row_dtype("f8")
ELEMENT_MEMORY = element_memory_dtype("f8")
TANGENT_MEMORY = tangent_memory_dtype("f8")
