"""Random ops: an array of numbers for all samples, or one for each, as `randomness` of `vmap` says.

What may be asked of which tensors is checked in mindtorch/composite/common/batching.py.
"""

from typing import Any

from mindtorch._core.memory_format import preserve_format
from mindtorch.backends.batched.batch import Batch, Kernel, batched, is_array, run
from mindtorch.backends.batched.pointwise import checked_target


def random_fill(op: str, promotion: str) -> Kernel:
    """Ops that fill their input with random numbers."""

    def rule(batch: Batch, input: Any, *options: Any) -> Any:
        target = batch.front(input)
        if batch.level.randomness == "different":
            return run(op, target, *batch.each(lambda array: batch.ranked(array, input.ndim), options))
        sample = run("clone", run("select.int", target, 0, 0), preserve_format)
        run(op, sample, *options)
        return run("copy_", target, sample, False)

    kernel = batched(op, rule)

    def inplace(input: Any, *options: Any) -> Any:
        checked_target(op, input, [each for each in options if is_array(each)])
        kernel(input, *options)
        return input

    return inplace


def random(op: str, promotion: str) -> Kernel:
    """Ops whose result is as large as their input."""

    def rule(batch: Batch, input: Any, *options: Any) -> Any:
        return run(op, batch.front(input), *options)

    return batched(op, rule)


def native_dropout(op: str, promotion: str) -> Kernel:
    """One mask for all samples, or one for each."""

    def rule(batch: Batch, input: Any, p: float, train: bool | None) -> Any:
        samples = batch.front(input)
        if train is False or batch.level.randomness == "different" or not batch.size:
            return run(op, samples, p, train)
        ones = run("ones_like", run("select.int", samples, 0, 0), None, None, None, None, preserve_format)
        factor, mask = run(op, ones, p, train)
        return run("mul.Tensor", samples, factor), run("expand", mask, tuple(samples.shape), False)

    return batched(op, rule)
