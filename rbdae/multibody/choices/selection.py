"""The choices that a run may have to make again on its way, as frozen data: the independent velocities, the kept joint
rows, the rotations at which charts are centred, and the values of inputs.

A selection does not change n, the labels or the motion. An inactive row reads la = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec


@final
@dataclass(frozen=True, slots=True, eq=False)
class IndependentVelocities:
    """The quasi-velocities nu = S (xdot, Omega) of the null-space form of loops: S (n_nu, n_v), and the sizes (n_nu,)
    of the columns of T = [G; S]^-1 [0; I] where S was selected."""

    S: Mat
    sizes: Vec


@final
@dataclass(frozen=True, slots=True, eq=False)
class KeptRows:
    """The joint rows that are kept.

    Parameters
    ----------
    dropped : rows (counted over all joints) that are left out because they follow from the others
    strength : (1 + |c|^2)^(-1/2) where they were selected, of the row c G that needs the kept ones most
    closeness : smallest over largest singular value of all rows at the start of the run
    pivot_floor : pivots below which a row is suspended, (rows,) in the order of elimination; None for never
    """

    dropped: tuple[int, ...] = ()
    strength: float = 1.0
    closeness: float = 1.0
    pivot_floor: Vec | None = None

    def most_needed(self, fraction: float) -> float:
        """|c|^2 at which the strength has fallen to a fraction of this."""
        return (fraction * self.strength) ** -2 - 1.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """The choices that a run has made up to some time.

    Parameters
    ----------
    rows : the kept joint rows
    velocities : the independent velocities of loops; None in all other forms
    references : R_ref of each body in R = R_ref R(a), (n, 3, 3) in the order of addition; None where all are I. The
        material angular velocity does not notice a constant R_ref ([GR95] (159), (160)), so K(a) stays
    inputs : the values of the inputs in their order; None if there are none
    """

    rows: KeptRows = KeptRows()
    velocities: IndependentVelocities | None = None
    references: Mat | None = None
    inputs: Vec | None = None


def to_arrays(selections: Sequence[Selection]) -> dict[str, Any]:
    """Selections of one run as arrays, for a file."""
    rows = [s.rows for s in selections]
    out: dict[str, Any] = {
        "selection_dropped": np.array([r.dropped for r in rows], dtype=np.int64),
        "selection_strength": np.array([[r.strength, r.closeness] for r in rows]),
    }
    if all(r.pivot_floor is not None for r in rows):
        out["selection_pivot_floor"] = np.stack([r.pivot_floor for r in rows if r.pivot_floor is not None])
    velocities = [s.velocities for s in selections if s.velocities is not None]
    if velocities:
        out["selection_S"] = np.stack([v.S for v in velocities])
        out["selection_sizes"] = np.stack([v.sizes for v in velocities])
    inputs = [s.inputs for s in selections if s.inputs is not None]
    if len(inputs) == len(selections) and inputs[0].size:
        out["selection_inputs"] = np.stack(inputs)
    known = next((s.references for s in selections if s.references is not None), None)
    if known is not None:
        space = np.tile(np.eye(3), (len(known), 1, 1))
        out["selection_references"] = np.stack([space if s.references is None else s.references for s in selections])
    return out


def from_arrays(arrays: Mapping[str, Any], first: Selection) -> list[Selection]:
    """Selections from a file; what it does not tell is that of `first`. Velocities and reference rotations that
    a change of the run has left alone are one object, as they were: states are not translated between them."""
    n = next((len(arrays[name]) for name in ("selection_dropped", "selection_S") if name in arrays), 1)
    references, first = first.references, replace(first, references=None)  # a run without any has I
    out: list[Selection] = []
    for k in range(n):
        found = _from_row(arrays, k, first)
        old, new = out[-1].velocities if out else None, found.velocities
        if old and new and np.array_equal(old.S, new.S) and np.array_equal(old.sizes, new.sizes):
            found = replace(found, velocities=old)
        if references is not None and found.references is not None and np.array_equal(references, found.references):
            found = replace(found, references=references)
        references = found.references
        out.append(found)
    return out


def _from_row(arrays: Mapping[str, Any], k: int, first: Selection) -> Selection:
    own: dict[str, Any] = {}
    if "selection_dropped" in arrays:
        strength, closeness = arrays["selection_strength"][k]
        floor = arrays["selection_pivot_floor"][k] if "selection_pivot_floor" in arrays else None
        dropped = tuple(int(row) for row in arrays["selection_dropped"][k])
        own["rows"] = KeptRows(dropped, float(strength), float(closeness), floor)
    if "selection_S" in arrays:
        own["velocities"] = IndependentVelocities(arrays["selection_S"][k], arrays["selection_sizes"][k])
    for name in ("inputs", "references"):
        if f"selection_{name}" in arrays:
            own[name] = arrays[f"selection_{name}"][k]
    return replace(first, **own)
