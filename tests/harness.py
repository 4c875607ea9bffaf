"""What the table-driven tests share: the op table, tensors from specs, calls, and comparison.

`T` is the library under test or torch; everything here works with either.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

import mindtorch
from codegen.emit.kernel_texts import is_written
from codegen.load import load
from codegen.model import Op
from tests.recorded import backward_calls
from tests.samples import DTYPE_GROUPS, SAMPLES, DtypeOf, Maker, Sample, TensorSpec, backward

ROOT = Path(__file__).resolve().parent.parent

# How close two libraries' results must be: relative and absolute, by dtype.
TOLERANCES = {
    "float16": (2e-3, 1e-4),
    "bfloat16": (1.6e-2, 1e-3),
    "float32": (1e-5, 2e-6),
    "float64": (1e-9, 1e-11),
    "complex64": (2e-5, 5e-6),
    "complex128": (1e-9, 1e-11),
}

# Parts of the texts with which torch refuses a dtype. What it refuses otherwise, a sample says itself.
REFUSALS = ("\" not implemented for '", "Subtraction, the `-` operator, with a bool tensor is not supported")


# What torch advises against, in texts of warnings that come with a call however it is made.
ADVICE = (
    r"(torch\.|at\W\W)\w+ is deprecated",
    r"Using torch\.cross",
    r"The reduce argument of torch\.scatter",
    r"index_reduce\(\) is in beta",
    r"Using padding='same'",
    r"torch\.searchsorted\(\)",
)


@cache
def model():
    return load(ROOT)


def cpu_kernels(*families: str) -> SimpleNamespace:
    """The CPU's kernels of some families by name, whichever files they are in."""
    found = {name: kernel for family in families for name, kernel in model().kernels["CPU", family].items()}
    modules = {name: import_module(model().project.module_of(kernel.file)) for name, kernel in found.items()}
    return SimpleNamespace(**{name: getattr(module, name) for name, module in modules.items()})


def sampled_ops() -> list[Op]:
    """The functional (or only) form of every op that has a sample generator and a kernel."""
    return [op for op in model().ops.values() if op.samples and op.derived_from is None and not is_stub(op)]


def is_stub(op: Op) -> bool:
    """Whether the CPU kernel of an op is still to be written, which tests/ops/test_complete.py reports."""
    return "CPU" in (op.dispatch or {}) and not is_written(model(), "CPU", op)


def dtypes_of(op: Op) -> tuple[str, ...]:
    return DTYPE_GROUPS[op.dtypes]


def variant(op: Op, kind: str) -> Op | None:
    """The in-place or out= variant that derives from an op."""
    return model().variant(op, kind)


def samples_of(op: Op, dtype: str) -> Iterator[Sample]:
    if op.samples == backward.__name__:
        return _recorded(op, dtype)
    return SAMPLES[op.samples](Maker(op.name, dtype))


def _recorded(op: Op, dtype: str) -> Iterator[Sample]:
    """The calls of `x_backward` that the backward pass makes, for each sample of `x`.

    They are recorded in double precision and converted: an op has samples in dtypes that it refuses, too.
    """
    forward = _forward_of(op)
    double = "complex128" if dtype.startswith("complex") and "complex128" in dtypes_of(forward) else "float64"
    make = Maker(op.name, double)
    for sample in samples_of(forward, double):
        args, kwargs = arguments_of(mindtorch, [list(sample.args), sample.kwargs], True)
        given = outcome(function_of(mindtorch, forward), args, kwargs)
        inputs = [tensor for tensor in tensors_in(mindtorch, [args, kwargs]) if tensor.requires_grad]
        gradients = [tensor_of(mindtorch, make(*each.shape)) for each in tensors_in(mindtorch, given.result)]
        if given.error is None:
            for call in backward_calls(op.schema.name, tensors_in(mindtorch, given.result), inputs, gradients):
                yield Sample(tuple(_specs(call, op, dtype)))


def _forward_of(op: Op) -> Op:
    """The op with samples that an op is the backward of: ``nll_loss_forward`` or ``nll_loss``."""
    name = op.schema.name.removesuffix("_backward")
    found = (model().ops.get(each) for each in (name, f"{name}_forward", name.removeprefix("_")))
    forward = next((each for each in found if each and each.samples), None)
    assert forward, f"no op with samples has {op.name} as its backward pass: give it samples of its own"
    return forward


def _specs(call: tuple, op: Op, dtype: str) -> Iterator[Any]:
    """The arguments of a call as a sample has them, numbers in double precision in another dtype."""
    wanted = differentiable_arguments(op)
    for argument, value in zip(op.schema.inputs, call, strict=False):
        if not isinstance(value, mindtorch.Tensor):
            yield value
        elif value.is_floating_point() or value.is_complex():
            data = (
                to_numpy(value) if dtype.startswith(("float", "bfloat", "complex")) else np.round(to_numpy(value).real)
            )
            yield TensorSpec(data, dtype, differentiable=argument.name in wanted)
        else:
            yield TensorSpec(to_numpy(value), str(value.dtype).removeprefix("torch."), differentiable=False)


def inplace_samples(form: Op, dtype: str) -> Iterator[Sample]:
    """The samples of an op as arguments of its in-place variant, which has `self` first: polygamma(n, self)."""
    op = model().ops[form.derived_from]
    order = [argument.name for argument in op.schema.inputs]
    if order[0] == "self" or "self" not in order:
        yield from samples_of(op, dtype)
        return
    for sample in samples_of(op, dtype):
        args = list(sample.args)
        yield replace(sample, args=(args.pop(order.index("self")), *args))


def differentiable_arguments(op: Op) -> set[str]:
    """The tensor arguments for which derivatives.yaml has a formula, None when the op is made of other ops."""
    derivative = model().derivatives.get(op.name)
    if derivative is None:
        return set()
    return {name for formula in derivative.backward if formula.kind == "expression" for name in formula.targets}


# ---- tensors ----


def _plain(T, data, dtype):
    if not data.size:  # NumPy's empty arrays have strides of their own
        return T.zeros(data.shape, dtype=getattr(T, dtype))
    if dtype == "bfloat16":
        return T.from_numpy(np.array(data, dtype=np.float32, order="C")).to(T.bfloat16)
    with np.errstate(invalid="ignore"):  # an infinity as an integer
        return T.from_numpy(np.array(data, dtype=dtype, order="C"))


def _transposed(T, data, dtype):
    return _plain(T, data.T, dtype).t()


def _permuted(T, data, dtype):
    order = tuple(reversed(range(data.ndim)))
    return _plain(T, data.transpose(order), dtype).permute(order)


def _stepped(T, data, dtype):
    return _plain(T, np.repeat(data, 2, axis=0), dtype)[::2]


def _expanded(T, data, dtype):
    return _plain(T, data[:1], dtype).expand(data.shape)


def _offset(T, data, dtype):
    return _plain(T, np.concatenate([data[:1], data]), dtype)[1:]


LAYOUTS = {
    "plain": _plain,
    "transposed": _transposed,
    "permuted": _permuted,
    "stepped": _stepped,
    "expanded": _expanded,
    "offset": _offset,
}


def tensor_of(T, spec: TensorSpec, requires_grad: bool = False):
    """The tensor that a spec describes, in library T."""
    tensor = LAYOUTS[spec.layout](T, spec.data, spec.dtype)
    if requires_grad and spec.differentiable and spec.dtype.startswith(("float", "bfloat", "complex")):
        tensor = tensor.detach().requires_grad_()
    return tensor


def arguments_of(T, value: Any, requires_grad: bool = False) -> Any:
    """A sample's value with specs made into tensors and dtypes of library T."""
    if isinstance(value, TensorSpec):
        return tensor_of(T, value, requires_grad)
    if isinstance(value, DtypeOf):
        return getattr(T, value.name)
    if isinstance(value, list):
        return [arguments_of(T, item, requires_grad) for item in value]
    if isinstance(value, dict):
        return {name: arguments_of(T, item, requires_grad) for name, item in value.items()}
    return value


def tensors_in(T, value: Any) -> list:
    """Every tensor in nested arguments or results, in order."""
    if isinstance(value, T.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_in(T, item)]
    if isinstance(value, dict):
        return [tensor for item in value.values() for tensor in tensors_in(T, item)]
    return []


def to_numpy(tensor) -> np.ndarray:
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if str(tensor.dtype) == "torch.bfloat16":
        return tensor.float().numpy().astype(ml_dtypes.bfloat16)
    return tensor.numpy(force=True)


def specs_in(sample: Sample) -> list[TensorSpec]:
    """Every tensor spec among a sample's arguments."""
    found = []

    def visit(value):
        if isinstance(value, TensorSpec):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            for item in value:
                visit(item)

    visit(list(sample.args))
    visit(list(sample.kwargs.values()))
    return found


# ---- derivatives ----

_DOMAINS = {
    "": lambda matrix: matrix,
    "hermitian": lambda matrix: (matrix + matrix.mH) / 2,
    "lower": lambda matrix: matrix.tril(),
    "upper": lambda matrix: matrix.triu(),
}


def domains_of(sample: Sample, tensors: list) -> dict[int, Any]:
    """By the id of each of a sample's tensors: what makes a matrix of the kind that the op takes it for."""
    return {id(tensor): _DOMAINS[spec.domain] for tensor, spec in zip(tensors, specs_in(sample), strict=True)}


def determined(sample: Sample, result: Any) -> Any:
    """What of a result does not depend on a choice that a library is free to make."""
    return sample.invariant(*result) if sample.invariant and result is not None else result


def without_overlap(value: Any) -> Any:
    """Elements in one place of memory cannot change one by one, as finite differences want it."""
    if isinstance(value, TensorSpec):
        return replace(value, layout="plain") if value.layout == "expanded" else value
    return [without_overlap(item) for item in value] if isinstance(value, list) else value


# ---- calls ----


def function_of(T, op: Op):
    """The op by its schema name, as torch.ops.aten.add.Tensor."""
    return getattr(getattr(T.ops.aten, op.schema.name), op.schema.overload or "default")


def function_in(T, op: Op, sample: Sample, args: list, kwargs: dict, inputs: list):
    """The op as a function of the tensors that have gradients. What is written in place is a copy."""
    domains = domains_of(sample, tensors_in(T, [args, kwargs]))

    def function(*replacements):
        places = {id(old): domains[id(old)](new) for old, new in zip(inputs, replacements, strict=True)}

        def swap(value):
            if isinstance(value, T.Tensor):
                return places.get(id(value), value)
            return [swap(item) for item in value] if isinstance(value, list) else value

        given = [swap(value) for value in args]
        if sample.tied:
            given = sample.tied(*given)
        if op.kind == "inplace":
            given[0] = given[0].clone()
        result = function_of(T, op)(*given, **{name: swap(value) for name, value in kwargs.items()})
        found = tensors_in(T, determined(sample, result))
        return tuple(t for t in found if t.is_floating_point() or t.is_complex())

    return function


@dataclass
class Outcome:
    """What a call gave: a result or an error."""

    result: Any = None
    error: Exception | None = None

    def __str__(self) -> str:
        return f"{type(self.error).__name__}: {self.error}" if self.error else repr(self.result)


def outcome(function, args, kwargs) -> Outcome:
    """Call and keep what happens; every kind of error is a result to compare."""
    try:
        return Outcome(function(*args, **kwargs))
    except (ArithmeticError, AttributeError, IndexError, RuntimeError, TypeError, ValueError) as error:
        return Outcome(error=error)


# ---- comparison ----


def difference(actual, expected, tolerance: float = 1.0, strides: bool = True, cancels: bool = False) -> str | None:
    """In words, how two tensors differ in dtype, shape, strides or values; None if they don't.

    `cancels`: the values are long sums of products, so that a small one is as wrong as the large ones are.
    """
    for what in ("dtype", "shape"):
        left, right = str(getattr(actual, what)), str(getattr(expected, what))
        if left != right:
            return f"{what} {left}, expected {right}"
    # A tensor without elements keeps no strides in NumPy.
    if strides and actual.numel() and tuple(actual.stride()) != tuple(expected.stride()):
        return f"strides {tuple(actual.stride())}, expected {tuple(expected.stride())}"
    dtype = str(actual.dtype).removeprefix("torch.")
    return value_difference(to_numpy(actual), to_numpy(expected), dtype, tolerance, cancels)


def value_difference(
    actual: np.ndarray, expected: np.ndarray, dtype: str, tolerance: float = 1.0, cancels: bool = False
) -> str | None:
    if dtype not in TOLERANCES:
        return None if np.array_equal(actual, expected) else f"values {actual.tolist()}, expected {expected.tolist()}"
    relative, absolute = TOLERANCES[dtype]
    wide = np.complex128 if dtype.startswith("complex") else np.float64
    left, right = actual.astype(wide), expected.astype(wide)
    if cancels and right.size:
        absolute = max(absolute, 0.5 * relative * np.abs(right[np.isfinite(right)]).max(initial=0.0))
    if np.allclose(left, right, rtol=relative * tolerance, atol=absolute * tolerance, equal_nan=True):
        return None
    return f"values {left.tolist()}, expected {right.tolist()}"


def result_difference(T, U, actual: Any, expected: Any, **options) -> str | None:
    """How two results differ: tensors, or sequences of them, or plain values."""
    if isinstance(expected, (list, tuple)) and not isinstance(expected, U.Size):
        if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
            return f"{actual!r}, expected {len(expected)} results"
        pairs = zip(actual, expected, strict=True)
        return next((text for pair in pairs if (text := result_difference(T, U, *pair, **options))), None)
    if isinstance(expected, U.Tensor):
        if not isinstance(actual, T.Tensor):
            return f"{actual!r}, expected a tensor"
        return difference(actual, expected, **options)
    return None if actual == expected else f"{actual!r}, expected {expected!r}"


def error_difference(actual: Exception | None, expected: Exception | None) -> str | None:
    """How two errors differ in type or text (the first line: torch adds hints about its own frames below)."""
    if expected is None:
        return f"raised {type(actual).__name__}: {actual}"
    if actual is None:
        return f"did not raise {type(expected).__name__}: {expected}"
    if type(actual).__name__ != type(expected).__name__ and not isinstance(actual, type(expected)):
        return f"raised {type(actual).__name__}: {actual}, expected {type(expected).__name__}: {expected}"
    left, right = str(actual).split("\n")[0], str(expected).split("\n")[0]
    return None if left == right else f"error text {left!r}, expected {right!r}"


def without_dtype(form: Op, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Keyword arguments as an `out=` variant takes them, which has its dtype from `out` unless it asks for one."""
    needed = {argument.name for argument in form.schema.inputs}
    return {name: value for name, value in kwargs.items() if name in needed or name not in ("dtype", "device")}


def is_refusal(error: Exception | None) -> bool:
    """Whether an error says that an op does not take a dtype."""
    return isinstance(error, RuntimeError) and any(text in str(error) for text in REFUSALS)


def describe(sample: Sample) -> str:
    """A sample in one line, for a failing test."""

    def word(value):
        if isinstance(value, TensorSpec):
            return f"{value.dtype}{list(value.data.shape)}{'' if value.layout == 'plain' else ':' + value.layout}"
        return f"[{', '.join(word(item) for item in value)}]" if isinstance(value, list) else repr(value)

    words = [word(value) for value in sample.args]
    return ", ".join(words + [f"{name}={word(value)}" for name, value in sample.kwargs.items()])
