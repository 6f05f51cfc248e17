"""Tools for adapters, in this distribution and in others; public.

An adapter is a subclass of `rbdae.adapter.AbstractAdapter`, which lists its duties. With these tools, an adapter for a
package that takes one step at a time is

1. an `AbstractStepper` around the package's solver;
2. a `run` that calls `take_options`, makes a `Recorder` and the stepper, and returns ``drive(stepper, recorder)``::

       def run(self, problem, method, request):
           options = take_options(request.options, {"max_step"}, "mine:method")
           recorder = Recorder(problem, request, one_step=method.one_step)
           return drive(MyStepper(problem, request, recorder.y0, options), recorder)

Exceptions of callbacks reach the user unchanged, however a package treats them: `rbdae.solve` remembers the first one,
and its callbacks raise it again.

A package with its own loop calls ``recorder.accept`` after each step; `Recorder` lists the duties of such an adapter.
``tests/support/toy_adapter`` in the repository is a complete adapter in a distribution of its own.
"""

from rbdae_adapters.toolkit.arguments import (
    Functions,
    atol_vector,
    first_step,
    installed,
    leaves_error_test,
    loosened,
    multipliers,
    take_options,
    usable,
)
from rbdae_adapters.toolkit.events import Dense, GaveUp, finite
from rbdae_adapters.toolkit.recorder import MAX_STALLED, AbstractStepper, Recorder, drive

__all__ = [
    "MAX_STALLED",
    "AbstractStepper",
    "Dense",
    "Functions",
    "GaveUp",
    "Recorder",
    "atol_vector",
    "drive",
    "finite",
    "first_step",
    "installed",
    "leaves_error_test",
    "loosened",
    "multipliers",
    "take_options",
    "usable",
]
