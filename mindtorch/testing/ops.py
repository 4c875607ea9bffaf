"""Tests of the ops of a package that keeps its own ops.yaml: values, variants, shapes and derivatives.

    from mindtorch.testing.ops import checks
    from wavelets._generated.op_table import OPS

    @pytest.mark.parametrize("check", checks(OPS, samples), ids=str)
    def test_op(check):
        check()

The table `OPS` is generated. `samples` is a module with a function for each `samples:` word of ops.yaml; it gets a
`Maker` and yields a `call(...)` for every set of arguments. A dict REFERENCES in it has, by the op's name, a function
of NumPy arrays that says what the result should be; a dict UNVARIED the names of arguments that no call gives another
value than their default, which is an error for all others.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from inspect import signature
from types import ModuleType
from typing import Any
from zlib import crc32

import numpy as np

from mindtorch._core.dtype import ALL_DTYPES, bfloat16, float16
from mindtorch._core.interop import from_numpy
from mindtorch._core.tensor import Tensor
from mindtorch.autograd.gradcheck import gradcheck, gradgradcheck
from mindtorch.dispatch.keys import device_types
from mindtorch.dispatch.registry import OpEntry, find_op, kernel_table
from mindtorch.dispatch.schema.function_schema import Argument, Schema
from mindtorch.testing.comparison import assert_close
from mindtorch.testing.dtype_groups import DTYPE_GROUPS

_DTYPES = {repr(dtype).removeprefix("torch."): dtype for dtype in ALL_DTYPES}
_BACKWARD: dict[str, Callable[..., bool]] = {"gradient": gradcheck, "second gradient": gradgradcheck}
_SCALAR_ADVICE = (
    "which NumPy makes of arrays without dimensions: return an array, by `deliver(result, out)` of "
    "mindtorch.backends.writing or by np.asarray(result)"
)
_FORWARD: dict[str, Callable[..., bool]] = {
    "forward mode": partial(gradcheck, check_forward_ad=True, check_backward_ad=False)
}


@dataclass(frozen=True)
class OpRow:
    """An op of the table: the words of its entry, and the names of the variants that derive from it."""

    name: str
    samples: str
    dtypes: str
    inplace: str | None = None
    out: str | None = None

    @property
    def entry(self) -> OpEntry:
        entry = find_op(self.name)
        if entry is None:
            raise LookupError(f"{self.name} is not registered: import the package that it belongs to")
        return entry


@dataclass(frozen=True)
class Sample:
    """The arguments of one call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def mapped(self, change: Callable[[Any], Any]) -> "Sample":
        """The call with every tensor changed, those in lists too."""
        return Sample(_mapped(self.args, change), {name: _mapped(each, change) for name, each in self.kwargs.items()})

    def tensors(self) -> list[Any]:
        found: list[Any] = []
        self.mapped(found.append)
        return found


def call(*args: Any, **kwargs: Any) -> Sample:
    """What a function of the samples module yields."""
    return Sample(args, kwargs)


class Maker:
    """Makes tensors of one dtype, the same ones in every run; `with_gradients`: floats require grad."""

    def __init__(self, name: str, dtype: str, with_gradients: bool = False) -> None:
        self.dtype = dtype
        self._random = np.random.default_rng(crc32(name.encode()))
        self._with_gradients = with_gradients

    def __call__(
        self, *shape: int, low: float = -2.0, high: float = 2.0, dtype: str | None = None, differentiable: bool = True
    ) -> Any:
        wanted = _DTYPES[dtype or self.dtype]
        values = self._random.uniform(low, high, shape)
        if wanted.is_complex:
            values = values + 1j * self._random.uniform(low, high, shape)
        tensor = from_numpy(np.asarray(values)).to(wanted)
        return tensor.requires_grad_(self._with_gradients and differentiable and _has_gradient(tensor))


@dataclass(frozen=True)
class Check:
    """One thing about one op, for all its samples."""

    row: OpRow
    what: str
    run: Callable[[], None]

    def __str__(self) -> str:
        return f"{self.row.name}: {self.what}"

    def __call__(self) -> None:
        self.run()


# Arguments that only decide where a result is, how it lies in memory, or which random numbers it has.
_PLACES = ("Device", "Generator", "Layout", "MemoryFormat")
_PLACE_NAMES = ("non_blocking", "pin_memory")
_NAMED_DEFAULTS = {"Mean": 1, "Sum": 2}


def unvaried(schema: Schema, calls: Iterable[Any]) -> list[str]:
    """The arguments that no call gives another value than their default, as the schema writes them."""
    return [_written(each) for each in _unvaried(schema, calls)]


def _unvaried(schema: Schema, calls: Iterable[Any]) -> list[Argument]:
    """The arguments that no call gives another value than their default.

    A formula may do with them what it likes: no test would notice. `calls` have `args` and `kwargs`, as `call` makes
    them; options that change no value (devices, layouts, generators) are left out.
    """
    left = {
        each.name: each
        for each in schema.arguments
        if each.default is not None and each.element not in _PLACES and each.name not in _PLACE_NAMES
    }
    names = [each.name for each in schema.arguments if not each.keyword_only]
    for sample in calls:
        for name, value in [*zip(names, sample.args), *sample.kwargs.items()]:
            if name in left and not _is_default(value, left[name].default):
                del left[name]
        if not left:
            break
    return list(left.values())


def _written(argument: Argument) -> str:
    return f"{argument.type} {argument.name}={argument.default}"


def _is_default(value: Any, default: str | None) -> bool:
    try:
        stated = ast.literal_eval(str(default))
    except (ValueError, SyntaxError):
        stated = _NAMED_DEFAULTS.get(str(default), default)
    plain = list(value) if isinstance(value, tuple) else value
    return isinstance(plain, (bool, int, float, str, list, type(None))) and (
        plain == stated or isinstance(plain, list) and bool(plain) and all(each == stated for each in plain)
    )


def checks(rows: Iterable[OpRow], samples: ModuleType) -> list[Check]:
    """Every check that the ops of a table allow, to be called one by one; of an op that is not complete, only that."""
    return [Check(row, what, run) for row in rows for what, run in _checks_of(_Op(row, samples))]


def _checks_of(op: "_Op") -> Iterator[tuple[str, Callable[[], None]]]:
    missing = [*op.missing_kernel(), *op.missing_samples()]
    if missing:
        yield "complete", partial(_fail, "\n".join([f"{op.row.name} is not complete:", *missing]))
        return
    dtypes = DTYPE_GROUPS[op.row.dtypes]
    if _unvaried(op.row.entry.schema, ()):
        yield "arguments are varied", op.check_arguments
    for dtype in dtypes:
        for what, check in op.checks_of_values().items():
            yield f"{what} in {dtype}", partial(check, dtype)
    for device in op.further_devices():
        yield f"on {device}", partial(op.check_device, device)
    for dtype in ("float64", "complex128"):
        for what, agrees in op.checks_of_derivatives().items() if dtype in dtypes else ():
            yield f"{what} in {dtype}", partial(op.check_derivative, agrees, dtype)


def _fail(text: str) -> None:
    raise AssertionError(text)


class _Op:
    """The checks of one op."""

    def __init__(self, row: OpRow, samples: ModuleType) -> None:
        self.row = row
        self._function = row.entry.function
        self._kernels = kernel_table(row.name)
        self._make_samples = getattr(samples, row.samples)
        name = row.name.rpartition("::")[2]
        self._reference = getattr(samples, "REFERENCES", {}).get(name)
        self._unvaried = frozenset(getattr(samples, "UNVARIED", {}).get(name, "").split())

    def missing_kernel(self) -> Iterator[str]:
        """What the stub says that the generator has written in place of the kernel."""
        kernel: Any = self._kernels.get(np.ndarray)
        if "._generated.stubs." in str(getattr(kernel, "__module__", "")):
            try:
                kernel(*[None] * len(signature(kernel).parameters))
            except NotImplementedError as error:
                yield str(error)

    def missing_samples(self) -> Iterator[str]:
        try:
            next(iter(self._samples(DTYPE_GROUPS[self.row.dtypes][0])), None)
        except NotImplementedError as error:
            yield str(error)

    def checks_of_values(self) -> dict[str, Callable[[str], None]]:
        """The checks of one dtype: those that the op's variants and kernels allow."""
        has_shape = self.row.entry.composite or "Meta" in self._kernels.backends()
        has_shape = has_shape and "data_dependent_output" not in self.row.entry.tags
        return {
            "value": self.check_value,
            **({"shape": self.check_shape} if has_shape else {}),
            **({"in place": self.check_inplace} if self.row.inplace else {}),
            **({"out=": self.check_out} if self.row.out else {}),
        }

    def checks_of_derivatives(self) -> dict[str, Callable[..., bool]]:
        """How the derivatives that there are can be checked; composite ops have those of what they are made of."""
        entry = self.row.entry
        return {
            **(_BACKWARD if entry.composite or entry.differentiable else {}),
            **(_FORWARD if entry.composite or entry.jvp is not None else {}),
        }

    def further_devices(self) -> list[str]:
        """The devices besides the CPU whose backends have a kernel."""
        return [name for name, kind in device_types() if name not in ("cpu", "meta") and kind in self._kernels]

    def _samples(self, dtype: str, with_gradients: bool = False) -> Iterator[Sample]:
        return self._make_samples(Maker(self.row.name, dtype, with_gradients))

    def _result(self, sample: Sample) -> Any:
        given = self._fresh(sample)
        result = self._function(*given.args, **given.kwargs)
        if any(isinstance(tensor._mt_array, np.generic) for tensor in _tensors_of(result)):
            raise AssertionError(f"the kernel of {self.row.name} returns a NumPy scalar, {_SCALAR_ADVICE}")
        return result if isinstance(result, Tensor) else _tensors_of(result)

    def _fresh(self, sample: Sample) -> Sample:
        """The arguments of a call; an op that writes some of them works on copies."""
        return sample.mapped(Tensor.clone) if self.row.entry.schema.is_mutable else sample

    def check_arguments(self) -> None:
        """Every argument has another value than its default in some sample, but for those in `UNVARIED`."""
        samples = [each for dtype in DTYPE_GROUPS[self.row.dtypes] for each in self._samples(dtype)]
        missing = _unvaried(self.row.entry.schema, samples)
        for argument in missing:
            if argument.name not in self._unvaried:
                raise AssertionError(
                    f"the samples '{self.row.samples}' of {self.row.name} never vary '{_written(argument)}': yield a "
                    "call that gives it another value, so that a kernel or a formula that ignores it is noticed"
                )
        for name in self._unvaried.difference(each.name for each in missing):
            raise AssertionError(f"the samples of {self.row.name} vary '{name}': take it out of UNVARIED")

    def check_value(self, dtype: str) -> None:
        """The result is what the reference says, and the inputs are as they were."""
        for sample in self._samples(dtype):
            before = sample.mapped(Tensor.clone)
            result = self._result(sample)
            assert_close(sample.tensors(), before.tensors())
            if self._reference is not None:
                arrays = sample.mapped(_array)
                expected = map(np.array, _as_tuple(self._reference(*arrays.args, **arrays.kwargs)))
                assert_close(_as_tuple(result), tuple(map(from_numpy, expected)), check_dtype=False)

    def check_shape(self, dtype: str) -> None:
        """Meta tensors give the shapes and dtypes that the kernels give."""
        for sample in self._samples(dtype):
            shown = self._result(sample.mapped(lambda tensor: tensor.to("meta")))
            assert _facts(shown) == _facts(self._result(sample))

    def check_inplace(self, dtype: str) -> None:
        """The in-place variant writes the same result to its first argument, if that can hold it."""
        function = OpRow(str(self.row.inplace), "", "").entry.function
        for sample in self._samples(dtype):
            expected = self._result(sample)
            given = self._fresh(sample)
            written = given.args[0].clone()
            if _facts(written) != _facts(expected):
                continue
            assert function(written, *given.args[1:], **given.kwargs) is written
            assert_close(written, expected)

    def check_out(self, dtype: str) -> None:
        """The out= variant writes the same result: into a tensor, a part of one, and one that has to be resized."""
        for sample in self._samples(dtype):
            expected = self._result(sample)
            for make in (_new, _part, _empty):
                out = _mapped(expected, make)
                whole = [tensor._base for tensor in _as_tuple(out)]
                fresh = self._fresh(sample)
                given = self._function(*fresh.args, **fresh.kwargs, out=out)
                assert [*map(id, _as_tuple(given))] == [*map(id, _as_tuple(out))]
                assert_close(_as_tuple(out), _as_tuple(expected))
                for base, tensor in zip(whole, _as_tuple(expected)):
                    if base is not None:
                        assert_close(base[..., 1], tensor, msg=f"{self.row.out} does not write to the memory of `out`")

    def check_device(self, device: str) -> None:
        """Another backend gives what the CPU gives."""
        for sample in self._samples("float32"):
            result = self._result(sample.mapped(lambda tensor: tensor.to(device)))
            assert all(tensor.device.type == device for tensor in _as_tuple(result))
            assert_close(_mapped(_as_tuple(result), lambda tensor: tensor.cpu()), _as_tuple(self._result(sample)))

    def check_derivative(self, agrees: Callable[..., bool], dtype: str) -> None:
        """A derivative agrees with differences of values."""
        for sample in self._samples(dtype, with_gradients=True):
            inputs = tuple(tensor for tensor in sample.tensors() if tensor.requires_grad)
            assert not inputs or agrees(partial(self._result_of, sample), inputs)

    def _result_of(self, sample: Sample, *inputs: Any) -> Any:
        """The result with other tensors in place of those that require grad."""
        given = iter(inputs)
        return self._result(sample.mapped(lambda tensor: next(given) if tensor.requires_grad else tensor))


# -------------------- structures of tensors --------------------


def _new(tensor: Any) -> Any:
    return tensor.new_empty(tensor.shape)


def _part(tensor: Any) -> Any:
    """Every other element of a tensor."""
    return tensor.new_zeros((*tensor.shape, 2))[..., 1]


def _empty(tensor: Any) -> Any:
    return tensor.new_empty((0,))


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, (tuple, list)):
        return (list if isinstance(value, list) else tuple)([_mapped(each, change) for each in value])
    return value


def _array(tensor: Any) -> np.ndarray:
    """A copy as NumPy has it: float16 and bfloat16 as float32, in which references are exact enough."""
    return (tensor.float() if tensor.dtype in (float16, bfloat16) else tensor.clone()).numpy()


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _tensors_of(result: Any) -> tuple[Any, ...]:
    """What is compared: an op may have numbers among its results."""
    return tuple([each for each in _as_tuple(result) if isinstance(each, Tensor)])


def _facts(value: Any) -> list[tuple[Any, Any]]:
    return [(tuple(tensor.shape), tensor.dtype) for tensor in _as_tuple(value)]


def _has_gradient(tensor: Any) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())
