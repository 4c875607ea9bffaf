"""Derivatives inside `vmap`: those of a batch of directions must be those of each direction on its own."""

from collections.abc import Callable
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.lazy import lazy
from mindtorch.autograd._engine.engine import grad
from mindtorch.autograd.forward_ad import dual_level, make_dual, unpack_dual
from mindtorch.autograd.gradcheck.arguments import as_tuple, sources_of
from mindtorch.autograd.gradcheck.errors import (
    BATCHED_GRADIENT_ADVICE,
    BATCHED_TANGENT_ADVICE,
    GradcheckError,
    batched_mismatch,
)
from mindtorch.autograd.gradcheck.numerical import are_close
from mindtorch.dispatch import ops

_func = lazy("mindtorch.func")
_BATCH = 2


def check_batched_gradients(outputs: tuple, arguments: tuple) -> None:
    """One backward pass in `vmap` against one pass for each gradient."""
    sources = [value for _, value in sources_of(arguments)]
    for place, output in enumerate(outputs):

        def vjp(gradient: Any, output: Any = output) -> tuple:
            found = grad(output, sources, gradient, retain_graph=True, allow_unused=True)
            return tuple(
                _zeros_like(source) if each is None else each for each, source in zip(found, sources, strict=True)
            )

        found, expected = _together_and_alone(vjp, output, BATCHED_GRADIENT_ADVICE)
        for source, pair in enumerate(zip(found, expected, strict=True)):
            _check(place, source, *pair, BATCHED_GRADIENT_ADVICE)


def check_batched_tangents(function: Callable, arguments: tuple) -> None:
    """One call in `vmap` with dual numbers against one call for each tangent."""
    plain = [value.detach() if isinstance(value, Tensor) else value for value in arguments]
    for place, source in sources_of(arguments):

        def jvp(tangent: Any, place: int = place) -> tuple:
            with dual_level():
                duals = [*plain[:place], make_dual(plain[place], tangent), *plain[place + 1 :]]
                parts = (unpack_dual(output) for output in as_tuple(function(*duals)) if output is not None)
                return tuple(_zeros_like(part.primal) if part.tangent is None else part.tangent for part in parts)

        found, expected = _together_and_alone(jvp, source, BATCHED_TANGENT_ADVICE)
        for output, pair in enumerate(zip(found, expected, strict=True)):
            _check(output, output, *pair, BATCHED_TANGENT_ADVICE)


def _together_and_alone(derivative: Callable, like: Any, advice: str) -> tuple[tuple, list]:
    """What a linear function gives for random directions of the shape of a tensor: in `vmap`, and one by one."""
    directions = [ops.randn_like(like.detach()) for _ in range(_BATCH)]
    expected = [ops.stack(shards) for shards in zip(*map(derivative, directions), strict=True)]
    try:
        return _func.vmap(derivative)(ops.stack(directions)), expected
    except RuntimeError as error:
        raise GradcheckError(f"While computing batched gradients, got: {error}\n\n{advice}") from error


def _check(output: int, source: int, found: Any, expected: Any, advice: str) -> None:
    if not are_close(found, expected):
        raise batched_mismatch(output, source, found, expected, advice)


def _zeros_like(tensor: Any) -> Any:
    return ops.zeros((), dtype=tensor.dtype, device=tensor.device).expand(tensor.shape)
