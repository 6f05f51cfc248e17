"""`RecordedValues`: numbers by keys as a function of (t, x), recorded once for many rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.laws.law import Filling, Users
from rbdae.laws.recorded import Recorded

Key = TypeVar("Key", bound=Hashable)


@final
class RecordedValues(Generic[Key]):
    """Values at rows; one after the other in Python where they cannot be recorded.

    Parameters
    ----------
    owner : whose they are, for messages
    users : functions of users
    values : f(users, t, x), which gives the numbers by key, on numbers of any kind
    keys : those that it gives
    n_in : the length of x
    """

    def __init__(
        self, owner: str, users: Users, values: Callable[..., dict[Key, Any]], keys: Sequence[Key], n_in: int
    ) -> None:
        self._values, self._keys = values, keys
        self._recorded = Recorded(owner, users, self._fill, n_in, len(keys))

    def _fill(self, users: Users) -> Filling:
        def law(t: Any, x: Any, out: Any) -> None:
            found = self._values(users, t, x)
            for k, key in enumerate(self._keys):
                out[k] = found[key]

        return law

    def at(self, t: Vec, x: Mat) -> dict[Key, Vec]:
        """The values at times (m,) and rows x, (m,) each."""
        law, out, called = self._recorded.law, np.zeros((len(t), len(self._keys))), np.arange(len(t))
        if law is not None:
            out, regular = law.at_rows(t, x)
            called = np.flatnonzero(~regular)
        for k in called:
            self._recorded(float(t[k]), x[k], out[k])
        return dict(zip(self._keys, out.T, strict=True))


__all__ = ["RecordedValues"]
