"""The tests of `opcheck`. Each raises an error if the op fails it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from mindtorch._core.device import device
from mindtorch._core.tensor import Tensor
from mindtorch._functions.comparison import allclose
from mindtorch.autograd._engine.engine import grad as gradients
from mindtorch.dispatch import ops
from mindtorch.dispatch.call_form import tensors_among
from mindtorch.dispatch.overloads import OpOverload
from mindtorch.dispatch.schema.syntax import Declaration, Parameter, parse_declaration
from mindtorch.library.aliasing import memory_of
from mindtorch.library.fake import dynamic_sizes
from mindtorch.library.table import operator_named
from mindtorch.library.unrecorded import WarnNotImplemented


@dataclass(frozen=True, slots=True)
class Case:
    """An op, and the arguments to try it with. Every try gets copies of the tensors."""

    op: OpOverload
    args: tuple
    kwargs: dict[str, Any]
    rtol: float | None
    atol: float | None

    def copies(self, copy: Callable[[Tensor], Tensor]) -> tuple[list[Any], dict[str, Any]]:
        args = [_copied(value, copy) for value in self.args]
        return args, {name: _copied(value, copy) for name, value in self.kwargs.items()}

    @property
    def declaration(self) -> Declaration:
        return parse_declaration(self.op._entry.schema_text)

    def named(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[tuple[Parameter, Any]]:
        """The given arguments with their places in the schema."""
        parameters = self.declaration.arguments
        positional = [each for each in parameters if not each.keyword_only]
        given = {each.name: value for each, value in zip(positional, args)} | kwargs
        return [(each, given[each.name]) for each in parameters if each.name in given]


def _copied(value: Any, copy: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(value, Tensor):
        return copy(value)
    return type(value)(_copied(each, copy) for each in value) if type(value) in (list, tuple) else value


def _clone(tensor: Tensor) -> Tensor:
    return tensor.detach().clone().requires_grad_(tensor.requires_grad)


def _without_data(tensor: Tensor) -> Tensor:
    fake = ops.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
    return fake.requires_grad_(tensor.requires_grad)


# -------------------- test_schema --------------------


def check_schema(case: Case) -> None:
    """Only arguments and results that the schema marks are written, or are views."""
    args, kwargs = case.copies(_clone)
    named = case.named(args, kwargs)
    before = [[_bytes(tensor) for tensor in tensors_among((value,))] for _, value in named]
    results = tensors_among((case.op(*args, **kwargs),))
    for (parameter, value), old in zip(named, before, strict=True):
        tensors = tensors_among((value,))
        if not parameter.written and [_bytes(tensor) for tensor in tensors] != old:
            raise RuntimeError(f"Argument {parameter.name} is not defined as mutable but was mutated")
        if not parameter.alias and _share(tensors, results):
            raise RuntimeError(f"Argument {parameter.name} is not defined to alias output but was aliasing")
    if not case.declaration.returns_alias:
        _check_distinct(results)


def _bytes(tensor: Tensor) -> bytes:
    array = tensor._mt_array
    return array.tobytes() if isinstance(array, np.ndarray) else b""


def _share(tensors: Sequence[Tensor], others: Sequence[Tensor]) -> bool:
    return not {memory_of(tensor) for tensor in tensors}.isdisjoint(memory_of(tensor) for tensor in others)


def _check_distinct(results: Sequence[Tensor]) -> None:
    memories = [memory_of(tensor) for tensor in results]
    for place, memory in enumerate(memories):
        if memory in memories[:place]:
            raise RuntimeError(f"Outputs {memories.index(memory)} and {place} alias unexpectedly")


# -------------------- test_autograd_registration --------------------


def check_autograd_registration(case: Case) -> None:
    """What requires grad comes from an autograd kernel, and not from ops inside a backend's kernel."""
    args, kwargs = case.copies(_clone)
    if _has_autograd(case.op) or not any(
        tensor.requires_grad for tensor in tensors_among((args, tuple(kwargs.values())))
    ):
        return
    if any(_records(tensor) for tensor in tensors_among((case.op(*args, **kwargs),))):
        raise AssertionError(_NO_AUTOGRAD_KERNEL.format(case.op.name()))


def _has_autograd(op: OpOverload) -> bool:
    return not op._entry.boxed or operator_named(op.name()).has_autograd


def _records(tensor: Tensor) -> bool:
    return tensor.requires_grad and not isinstance(tensor.grad_fn, WarnNotImplemented)


# -------------------- test_faketensor --------------------


def check_fake(case: Case) -> None:
    """Without data the results have the same shapes, dtypes and strides."""
    args, kwargs = case.copies(_clone)
    real = tensors_among((case.op(*args, **kwargs),))
    fake, other = (tensors_among((_run_without_data(case, first),)) for first in (3, 5))
    problem = None
    if len(real) != len(fake):
        problem = f"there are {len(fake)} tensors instead of {len(real)}"
    problem = problem or next(filter(None, map(_difference, real, fake, other)), None)
    if problem:
        raise AssertionError(
            f"When comparing the output of {case.op} on FakeTensor and concrete Tensors, found mismatched tensor "
            f"metadata: {problem}"
        )


def _run_without_data(case: Case, first_size: int) -> Any:
    """Call the op with `meta` tensors; sizes that depend on data are counted up from `first_size`."""
    args, kwargs = case.copies(_without_data)
    with dynamic_sizes(count(first_size)), device("meta"):
        return case.op(*args, **kwargs)


def _difference(real: Tensor, fake: Tensor, other: Tensor) -> str | None:
    """How a result differs from the fake one. Sizes in which two fake ones differ depend on the data."""
    if len(real.shape) != len(fake.shape) or not _agree(real.shape, fake.shape, other.shape):
        return f"Shapes {real.shape} and {fake.shape} are not equal!"
    if real.dtype != fake.dtype:
        return f"Dtypes {real.dtype} and {fake.dtype} are not equal!"
    if fake.shape != other.shape or not real.numel():
        return None
    if real.storage_offset() != fake.storage_offset():
        return f"Storage offset mismatch! Offsets are {real.storage_offset()} and {fake.storage_offset()}!"
    for dim, (own, wanted) in enumerate(zip(real.stride(), fake.stride())):
        if own != wanted and real.shape[dim] > 1:
            return f"Stride mismatch! Strides are {real.stride()} and {fake.stride()} (mismatched at {dim})!"
    return None


def _agree(real: Sequence[int], fake: Sequence[int], other: Sequence[int]) -> bool:
    return all(size == known or known != also for size, known, also in zip(real, fake, other))


# -------------------- test_aot_dispatch --------------------


def check_compiled(case: Case) -> None:
    """The op gives the same results and gradients again, and both can be computed without data."""
    first, second = (_results_and_gradients(case, _clone) for _ in range(2))
    if first.gradients and not _has_autograd(case.op):
        raise AssertionError(_WRONG_GRADIENTS)
    _compare(case, first.results, second.results, "Outputs")
    _compare(case, first.gradients, second.gradients, "Gradients")
    with dynamic_sizes(count(3)), device("meta"):
        fake = _results_and_gradients(case, _without_data)
    if [_shape(each) for each in fake.gradients] != [_shape(each) for each in first.gradients]:
        raise AssertionError(_WRONG_GRADIENTS)


@dataclass(frozen=True, slots=True)
class _Run:
    results: list[Tensor]
    gradients: list[Tensor | None]


def _results_and_gradients(case: Case, copy: Callable[[Tensor], Tensor]) -> _Run:
    args, kwargs = case.copies(copy)
    leaves = [tensor for tensor in tensors_among((args, tuple(kwargs.values()))) if tensor.requires_grad]
    results = tensors_among((case.op(*args, **kwargs),))
    outputs = [tensor for tensor in results if _records(tensor)]
    if not leaves or not outputs:
        return _Run(results, [])
    ones = [ops.ones_like(tensor) for tensor in outputs]
    return _Run(results, list(gradients(outputs, leaves, ones, allow_unused=True)))


def _shape(tensor: Tensor | None) -> tuple | None:
    return None if tensor is None else tuple(tensor.shape)


def _compare(case: Case, values: Sequence[Any], others: Sequence[Any], what: str) -> None:
    tolerances: dict[str, Any] = {} if case.rtol is None else {"rtol": case.rtol, "atol": case.atol}
    for value, other in zip(values, others, strict=True):
        if value is not None and not allclose(value, other, equal_nan=True, **tolerances):
            raise AssertionError(
                f"{what} of the operator are different in two runs with the same inputs: it depends on something else."
            )


_NO_AUTOGRAD_KERNEL = (
    "{}: at least one output of this operator has requires_grad=True but the operator does not have an autograd kernel "
    "defined at an autograd key (e.g. DispatchKey::Autograd). This could mean that you have incorrectly registered an "
    "autograd kernel to a non-Autograd DispatchKey, which may lead to silently incorrect results. If your operator "
    "consists of regular PyTorch operations, consider not using an operator at all or registering your operator as "
    "CompositeImplicitAutograd. If you have an autograd.Function registered to a backend (CPU/CUDA/XPU) key, the "
    "correct location for it is the Autograd key."
)
_WRONG_GRADIENTS = (
    "Gradients of the operator are different in eager-mode PyTorch vs AOTDispatcher. This means the operator will have "
    "incorrect gradients underneath torch.compile. This could be because the operator's backward is incorrectly "
    "registered or not traceable."
)
