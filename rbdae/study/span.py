"""From when to when the runs of a study go."""

from __future__ import annotations

from rbdae import _check


def checked_end(owner: str, t_end: float) -> float:
    """The end of all runs, s. They begin at 0, and go back in time where it is negative."""
    end = _check.number(owner, "t_end", t_end)
    if end == 0.0:
        raise ValueError(
            f"{owner}: t_end must not be zero, got {_check.show(t_end)}; runs begin at 0; give another end, in seconds"
        )
    return end


__all__ = ["checked_end"]
