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

from rbdae_adapters.toolkit.arguments import Functions as Functions
from rbdae_adapters.toolkit.arguments import atol_vector as atol_vector
from rbdae_adapters.toolkit.arguments import first_step as first_step
from rbdae_adapters.toolkit.arguments import installed as installed
from rbdae_adapters.toolkit.arguments import leaves_error_test as leaves_error_test
from rbdae_adapters.toolkit.arguments import loosened as loosened
from rbdae_adapters.toolkit.arguments import multipliers as multipliers
from rbdae_adapters.toolkit.arguments import take_options as take_options
from rbdae_adapters.toolkit.arguments import usable as usable
from rbdae_adapters.toolkit.events import Dense as Dense
from rbdae_adapters.toolkit.events import GaveUp as GaveUp
from rbdae_adapters.toolkit.events import finite as finite
from rbdae_adapters.toolkit.recorder import MAX_STALLED as MAX_STALLED
from rbdae_adapters.toolkit.recorder import AbstractStepper as AbstractStepper
from rbdae_adapters.toolkit.recorder import Recorder as Recorder
from rbdae_adapters.toolkit.recorder import drive as drive
