"""What works for every op: the kernel runs for one sample after the other."""

from typing import Any

from mindtorch._core.memory_format import contiguous_format
from mindtorch._support import vmap_errors as errors
from mindtorch.backends.batched.batch import Batch, Kernel, Rule, batched, is_array, run
from mindtorch.backends.batched.pointwise import aligned
from mindtorch.dispatch.modes.batching import check_not_empty


def one_by_one(op: str, promotion: str | None = None) -> Kernel:
    return batched(op, sample_by_sample(op))


def sample_by_sample(op: str) -> Rule:
    def rule(batch: Batch, *args: Any) -> Any:
        check_not_empty(op, batch.size)
        results = [run(op, *_sample(batch, args, number)) for number in range(batch.size)]
        if isinstance(results[0], (list, tuple)):
            return tuple([_stacked(op, each) for each in zip(*results, strict=True)])
        return _stacked(op, results)

    return rule


def _sample(batch: Batch, args: Any, number: int) -> list[Any]:
    """The arguments of the call for one sample."""

    return batch.each(lambda array: batch.sample(array, number), args)


def _stacked(op: str, results: Any) -> Any:
    if results[0] is None:
        return None
    if not is_array(results[0]):
        raise errors.no_fallback(op)
    return run("stack", list(results), 0)


def stacked(op: str, promotion: str | None = None) -> Kernel:
    """Elementwise ops of which PyTorch stacks the results of all samples, or which give rows however their arguments
    lie in memory: the result is rows with the samples first."""

    def rule(batch: Batch, *args: Any) -> Any:
        result = run(op, *aligned(batch, args))
        return result if result.flags.c_contiguous else run("clone", result, contiguous_format)

    return batched(op, rule)


def dynamic(op: str, promotion: None) -> Kernel:
    """Ops whose samples could have results of different shapes."""

    def rule(batch: Batch, *args: Any) -> Any:
        raise errors.dynamic_shape(op)

    return batched(op, rule)
