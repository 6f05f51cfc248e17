"""Problems as functions of JAX (https://docs.jax.dev), for jit, vmap, grad, and diffrax."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, final

from rbdae.graph.graph import FUNCTIONS, OF_TWO
from rbdae.handover.symbolic import ARITHMETIC, Model, values


@final
class JaxModel(Model):
    """Pure functions of a problem on arrays of JAX, made and compiled when first asked for; see `Problem.jax`."""

    _package = "jax"

    @cached_property
    def rhs(self) -> Any:
        """f(t, y, u=None, p=None), (n,): the rates of y with inputs and parameters, or with those of the problem.
        `diffrax.ODETerm` takes it as it is, args being u. AttributeError for a DAE."""
        call = self._made("rhs")
        return self._module.jit(lambda t, y, u=None, p=None: call(t=t, y=y, u=u, p=p))

    @cached_property
    def residual(self) -> Any:
        """F(t, y, yd, u=None, p=None), (n_equations,)."""
        call = self._made("residual")
        return self._module.jit(lambda t, y, yd, u=None, p=None: call(t=t, y=y, yd=yd, u=u, p=p))

    def _made(self, name: str) -> Callable[..., Any]:
        function, jnp, own = self._function(name), self._module.numpy, {"u": self.u0, "p": self.p0}
        of_numbers = {x: getattr(jnp, x) for x in (*FUNCTIONS, *OF_TWO)}
        operations = {**ARITHMETIC, **of_numbers, "select": lambda c, a, b: jnp.where(c != 0.0, a, b)}

        def call(t: Any, **given: Any) -> Any:
            vectors = {x: jnp.asarray(own[x] if v is None else v, float) for x, v in given.items()}
            for x, size in self._sizes(function).items():
                if vectors[x].shape != (size,):
                    raise ValueError(f"{name}: {x} must have the shape {(size,)}, got {vectors[x].shape}")
            apart = {x: [v[k] for k in range(len(v))] for x, v in vectors.items()}  # JAX compiles [*v] long
            results = values(function, operations, t=t, **apart)
            return jnp.stack([jnp.asarray(x, float) for x in results])

        return call
