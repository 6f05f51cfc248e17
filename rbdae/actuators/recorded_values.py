"""`RecordedValues`: numbers by keys as a function of (t, x), recorded once for many rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.laws.law import Filling
from rbdae.laws.recorded import Points, Recorded

Key = TypeVar("Key", bound=Hashable)


@final
class RecordedValues(Generic[Key]):
    """Values at rows; one after the other in Python where they cannot be recorded.

    Parameters
    ----------
    owner : whose they are, for messages
    values : f(t, x), which gives the numbers by key, on numbers of any kind
    keys : those that it gives
    points : where results are compared with those of the function itself
    """

    def __init__(
        self, owner: str, values: Callable[[Any, Any], dict[Key, Any]], keys: Sequence[Key], points: Points
    ) -> None:
        self._values, self._keys = values, keys
        self._recorded = Recorded(owner, [values], self._fill, len(points[0][1]), len(keys), points)

    def _fill(self, users: Sequence[Any]) -> Filling:
        def law(t: Any, x: Any, out: Any) -> None:
            found = users[0](t, x)
            for k, key in enumerate(self._keys):
                out[k] = found[key]

        return law

    def at(self, t: Vec, x: Mat) -> dict[Key, Vec]:
        """The values at times (m,) and rows x, (m,) each."""
        law = self._recorded.law
        if law is None:
            rows = [self._values(time, row) for time, row in zip(t.tolist(), x, strict=True)]
            return {key: np.array([row[key] for row in rows], dtype=float) for key in self._keys}
        out, regular = law.at_rows(t, x)
        for k in np.flatnonzero(~regular):  # a law raises there
            self._values(float(t[k]), x[k])
        return dict(zip(self._keys, out.T, strict=True))


__all__ = ["RecordedValues"]
