"""Examples made from the inputs that the tests use: one sample of an op, written as statements."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import mindtorch
from codegen.model import Model, Op
from mindtorch.autograd._engine.node_base import RefusingNode
from tests.harness import samples_of, specs_in
from tests.samples import DTYPE_GROUPS, DtypeOf, Sample, TensorSpec

from .places import example_call

_PREFERRED_DTYPES = ("float32", "complex64", "int64", "bool")
_LITERAL_DTYPES = ("float32", "complex64", "int64", "bool")  # what torch.tensor makes of Python's numbers
_PYTHON_TYPES: dict[str, type] = {"bool": bool, "int": int, "uint": int, "complex": complex}
_MOST_ELEMENTS = 6
_MOST_GRADIENTS = 2


@dataclass(frozen=True, slots=True)
class Written:
    """A sample as statements: the tensors by name, and the call."""

    tensors: dict[str, TensorSpec]
    call: str

    def assignments(self, with_grad: Sequence[str]) -> Iterator[str]:
        for name, spec in self.tensors.items():
            yield f"{name} = {literal(spec, name in with_grad)}"


def example_of(model: Model, op: Op) -> list[str]:
    """The statements of an example: the call, and the gradients if the op has any."""
    sample = best_sample(op)
    written = _written(op, sample)
    with_grad = _differentiable(model, op, written)
    result = _try(written, with_grad)
    first = result[0] if isinstance(result, (tuple, list)) else result
    if not with_grad or not first.requires_grad or _is_refused(first.grad_fn):
        return [*written.assignments(()), written.call]
    gradients = [f"{name}.grad" for name in with_grad[:_MOST_GRADIENTS]]
    y = "result" if "y" in written.tensors else "y"
    loss = y if result is first else f"{y}[0]"
    loss += ".abs()" if first.is_complex() else ""
    backward = f"{loss}.sum().backward()" if first.ndim else f"{loss}.backward()"
    return [*written.assignments(with_grad), f"{y} = {written.call}", y, backward, *gradients]


def _is_refused(node: Any) -> bool:
    """Whether a backward pass from a node meets an op that has no derivative."""
    if node is None:
        return False
    return isinstance(node, RefusingNode) or any(_is_refused(each) for each, _ in node.next_functions)


def best_sample(op: Op) -> Sample:
    """The one that shows most in few numbers."""
    dtypes = DTYPE_GROUPS[op.dtypes]
    dtype = next((name for name in _PREFERRED_DTYPES if name in dtypes), dtypes[0])
    return min(samples_of(op, dtype), key=_clumsiness)


def _clumsiness(sample: Sample) -> tuple[bool, int, int]:
    """Samples without elements come last, then those with many, then those with a layout that text cannot show."""
    specs = specs_in(sample)
    sizes = [spec.data.size for spec in specs]
    dull = sum(size == 0 for size in sizes) + all(spec.data.ndim == 0 for spec in specs)
    return dull > 0, sum(max(0, size - _MOST_ELEMENTS) for size in sizes), -sum(min(size, 3) for size in sizes)


def literal(spec: TensorSpec, requires_grad: bool = False) -> str:
    """The tensor of a spec as a call of ``torch.tensor``, its values rounded."""
    options = "" if spec.dtype in _LITERAL_DTYPES else f", dtype=torch.{spec.dtype}"
    options += ", requires_grad=True" if requires_grad else ""
    return f"torch.tensor({_numbers(spec)}{options})"


def _numbers(spec: TensorSpec) -> str:
    data: Any = np.asarray(spec.data, _PYTHON_TYPES.get(spec.dtype.rstrip("0123456789"), float))
    rounded: list[Any] = (data if data.dtype == bool else np.round(data, 1)).tolist()
    return str(rounded).replace("nan", 'float("nan")').replace("inf", 'float("inf")')


def _written(op: Op, sample: Sample) -> Written:
    tensors: dict[str, TensorSpec] = {}
    names = ["x" if argument.name == "self" else argument.python_name for argument in op.schema.positional]
    words = [_argument(name, value, tensors) for name, value in zip(names, sample.args)]
    words += [f"{name}={_argument(name, value, tensors)}" for name, value in sample.kwargs.items()]
    call = example_call(op)
    if call.startswith("x."):
        words.remove("x")
    return Written(tensors, f"{call}({', '.join(words)})")


def _argument(name: str, value: Any, tensors: dict[str, TensorSpec]) -> str:
    """An argument of the call; a tensor gets a name."""
    if isinstance(value, TensorSpec):
        tensors[name] = value
        return name
    if isinstance(value, DtypeOf):
        return f"torch.{value.name}"
    if isinstance(value, (list, tuple)) and any(isinstance(item, TensorSpec) for item in value):
        items = [_argument(f"{name[0]}{i}", item, tensors) for i, item in enumerate(value)]
        return f"[{', '.join(items)}]"
    return repr(value)


def _differentiable(model: Model, op: Op, written: Written) -> list[str]:
    """The tensors that get a gradient: none of an op that writes, for they are leaves; in a composite op all may."""
    derivative = model.derivatives.get(op.name)
    if op.schema.written_arguments or (derivative is None and not op.is_composite):
        return []
    without = {f.targets[0] for f in derivative.backward if not f.is_expression} if derivative else set()
    specs = {name: spec for name, spec in written.tensors.items() if ("self" if name == "x" else name) not in without}
    return [name for name, spec in specs.items() if spec.differentiable and spec.dtype.startswith(("float", "complex"))]


def _try(written: Written, with_grad: Sequence[str]) -> Any:
    namespace: dict[str, Any] = {"torch": mindtorch}
    exec("\n".join(written.assignments(with_grad)), namespace)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is shown shows them
        return eval(written.call, namespace)
