"""The records in the arrays of the model block, and the numbers that name kinds in them."""

from __future__ import annotations

import numpy as np

from rbdae.rotations.chart import ANGULAR as ANGULAR
from rbdae.rotations.chart import DIRECTOR_RATE as DIRECTOR_RATE
from rbdae.rotations.chart import QUATERNION_RATE as QUATERNION_RATE

SPATIAL_VELOCITIES, SPATIAL_QUASI_VELOCITIES = 1, 2  # head.spatial

# kinds of force elements: quantities by their forms, or natural forces by a function
IDENTITY, ROOT, ANGLE, FUNCTION, TURN, POINT = range(6)

SHAPES = {"identity": IDENTITY, "root": ROOT, "angle": ANGLE, "point": POINT, "turn": TURN}

MOST_INPUTS = 9
"""Inputs on which the law of an element or of a drive may depend."""

BODY = np.dtype(
    [(n, "i8") for n in ("iq", "iv", "il", "inu", "nt", "na", "nr", "ni", "fixed", "parent")]
    + [(n, "f8") for n in ("mass", "radial")]
    + [(n, "f8", (3, 3)) for n in ("inertia", "inertia_inverse", "euler", "euler_inverse")]
    + [(n, "f8", (3,)) for n in ("center", "origin", "arm", "parent_arm", "weight")]
    + [("weight_d", "f8", (9,))],
    align=True,
)

# of a combination there is a `law`, and `more` has A and B of its second and third parts
PRIMITIVE = np.dtype(
    [(n, "i8") for n in ("linear", "law", "n", "row", "moving")]
    + [("body", "i8", (2,)), ("keep", "i8", (3,)), ("slot", "i8", (3,)), ("scale", "f8")]
    + [(n, "f8", (8,)) for n in ("A", "Ad", "Add", "B")]
    + [("more", "f8", (2, 2, 8))]
    + [(n, "f8", (3,)) for n in ("offset", "offset_rate", "offset_acceleration")],
    align=True,
)

# `input` are the numbers of the inputs that the law takes, whose values are written to `read`
DRIVE = np.dtype(
    [(n, "i8") for n in ("law", "kind", "primitive", "n_inputs")]
    + [("input", "i8", (MOST_INPUTS,)), ("read", "f8", (MOST_INPUTS,))]
    + [("e1", "f8", (3,)), ("e2", "f8", (3,)), ("value", "f8", (9,))],
    align=True,
)

# see kernels/forces/elements.py; `winding` is 1 where an angle has its winding as an internal state; `state` is the
# offset of the `n_states` internal states among those of all elements; elements by functions act on `n_bodies` bodies,
# from `first_body` on in `element_bodies`; the `n_inputs` inputs of an element, from `first_input` on in
# `element_inputs`, and the `n_parameters` numbers of its law, from `first_parameter` on in `element_constants`, are
# among the arguments of its law `force`; without one the inputs are the load in place of `constant`; `reaction` of
# friction under the reaction of a joint is its number from 1 on
ELEMENT = np.dtype(
    [(n, "i8") for n in ("shaping", "forms", "holonomic", "winding", "force", "potential", "reaction")]
    + [(n, "i8") for n in ("first", "last", "state", "n_states", "first_body", "n_bodies")]
    + [(n, "i8") for n in ("first_input", "n_inputs", "first_parameter", "n_parameters")]
    + [("body", "i8", (2,)), ("stiffness", "f8", (3, 3)), ("damping", "f8", (3, 3))]
    + [("rest", "f8", (3,)), ("constant", "f8", (3,)), ("sign", "f8"), ("level", "f8")],
    align=True,
)

# a number of a law
CONSTANT = np.dtype([("value", "f8")], align=True)
# a joint: its primitives from `first` on before `last`, its bodies, its point on each, its frame in the first one
JOINT = np.dtype(
    [("first", "i8"), ("last", "i8"), ("body", "i8", (2,)), ("points", "f8", (2, 3)), ("frame", "f8", (3, 3))],
    align=True,
)

# friction under the reaction of a joint: its element, the primitives from `first` on before `last` and the bodies of
# the joint; whether moments count, with the point of the second body, the axis of the first one and `length`
FRICTION = np.dtype(
    [(name, "i8") for name in ("element", "first", "last", "moments")]
    + [("body", "i8", (2,)), ("point", "f8", (3,)), ("axis", "f8", (3,)), ("length", "f8"), ("floor", "f8")],
    align=True,
)

# a product of a form: P . Q with P = sum A_k Z_k and Q = sum B_k Z_k
ENTRY = np.dtype([("form", "i8"), ("A", "f8", (8,)), ("B", "f8", (8,))], align=True)

# a body and its joint to the parent, -1 for a root: `primitive`, `equation` and `side` of each of its joint equations,
# which are the equations `row`; the rows S of its quasi-velocities nu = S (R^T xdot, Omega), which are the numbers from
# `nu` on; the places of the equations, then of the rows S, among the factors (`rbdae.kernels.null_space.trees`): 0 to 2
# for those that move the body. Parents come first
TREE_VELOCITY = np.dtype(
    [(n, "i8") for n in ("parent", "nu", "n_rows", "n_free")]
    + [(n, "i8", (6,)) for n in ("primitive", "equation", "side", "row", "place")]
    + [("S", "f8", (6, 6))],
    align=True,
)

# working memory of one body; names: `d` the directors, a trailing `d` a time derivative
STATE = np.dtype(
    [(n, "f8", (3,)) for n in ("x", "xd", "xdd", "fx", "px", "pxd")]
    + [(n, "f8", (9,)) for n in ("a", "w", "wd", "d", "dd", "ddd", "fd", "p", "pd")]
    + [("B", "f8", (9, 9)), ("N", "f8", (9, 3)), ("Ji", "f8", (3, 3))],
    align=True,
)

# working memory of one primitive: the vectors P, Q, of a combination g with its rates in P and dg/dZ in F; gradients by
# side (0, 1)
ROW = np.dtype(
    [(n, "f8", (3,)) for n in ("P", "Pd", "Pdd", "Q", "Qd", "Qdd")]
    + [("F", "f8", (8, 3))]
    + [(n, "f8", (2, 3, 3)) for n in ("Gx", "H")]
    + [("Gw", "f8", (2, 3, 9))],
    align=True,
)
