"""torch's own samples of its operators, given to both libraries.

torch's test suite, which is in its wheel, describes some 700 operators (`op_db`): functions that make inputs for each
dtype, and calls that have to fail. Here are these descriptions, the function of mindtorch that each is about, and the
conversion of arguments: a tensor becomes one of the same strides over a copy of the same storage.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
import torch

import mindtorch
from tests.parity.support.opinfo_choice import torch_tests

invocations = torch_tests("common_methods_invocations")

DTYPES = (
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
# What runs on GPUs only, and what of torch is not an operator.
_ELSEWHERE = ("jiterator_", "bmm_triton", "torch_ops_aten__efficient_attention", "torch_ops_aten__flash_attention")
OPS = tuple(info for info in invocations.op_db if not info.formatted_name.startswith(_ELSEWHERE))


class NoCounterpart(LookupError):
    """mindtorch does not have what a sample is made of."""


# -------------------- functions --------------------

_NAMESPACES = (
    "",
    "nn.functional",
    "linalg",
    "special",
    "fft",
    "masked",
    "signal.windows",
    "sparse",
    "Tensor",
    "nn.init",
    "nn.utils.rnn",
    "optim.lr_scheduler",
)


def at(T: Any, path: str) -> Any:
    """What has a dotted name in a library."""
    for name in filter(None, path.split(".")):
        try:
            T = getattr(T, name)
        except (AttributeError, RuntimeError) as error:
            raise NoCounterpart(path) from error
    return T


@cache
def _public_names() -> dict[int, str]:
    """The dotted name of each public function and module of torch, by its id."""
    found = {id(torch): ""}
    for namespace in _NAMESPACES:
        place = at(torch, namespace)
        found.setdefault(id(place), namespace)
        for name in sorted(dir(place), key=lambda name: name.startswith("_")):
            value = getattr(place, name, None)
            if callable(value):
                found.setdefault(id(value), f"{namespace}.{name}")
    return found


# What of the test suite uses parts of torch that are not for programs.
_REPLACED = {"freeze_rng_state": mindtorch.random.fork_rng}


def counterpart(value: Any) -> Any:
    """The function, or module, of mindtorch that has the name of one of torch.

    What the test suite defines itself, mostly as a lambda, is defined anew, with mindtorch in the place of torch.
    """
    name = _public_names().get(id(value))
    if name is not None:
        return at(mindtorch, name)
    if isinstance(value, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return at(mindtorch.ops, str(value))
    if isinstance(value, partial):
        return partial(counterpart(value.func), *value.args, **value.keywords)
    if isinstance(value, FunctionType) and value.__module__.startswith("torch.testing."):
        return _REPLACED.get(value.__name__) or _anew(value)
    if isinstance(value, ModuleType) and value.__name__.startswith("torch."):
        return at(mindtorch, value.__name__.removeprefix("torch."))
    if isinstance(value, (BuiltinFunctionType, FunctionType)) and (value.__module__ or "").startswith("torch"):
        return at(mindtorch, f"{value.__module__.removeprefix('torch').strip('.')}.{value.__name__}")
    return value


def _anew(function: FunctionType) -> FunctionType:
    """The same code with the other library."""
    used = _names_in(function.__code__) & function.__globals__.keys()
    names = {**function.__globals__, **{name: counterpart(function.__globals__[name]) for name in used}}
    cells = tuple(CellType(counterpart(cell.cell_contents)) for cell in function.__closure__ or ())
    found = FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
    found.__kwdefaults__ = function.__kwdefaults__
    return found


def _names_in(code: CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*map(_names_in, inner))


# -------------------- arguments --------------------


@dataclass
class Conversion:
    """Makes mindtorch's arguments of torch's. Tensors of one storage share one in the other library, too."""

    storages: dict[int, Any] = field(default_factory=dict)
    tensors: dict[int, Any] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)  # what the addresses in `storages` are of

    def __call__(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) not in self.tensors:
                self.tensors[id(value)] = value, self._tensor(value)  # the first is kept: nothing else has its id
            return self.tensors[id(value)][1]
        if isinstance(value, torch.Size):
            return mindtorch.Size(value)
        if isinstance(value, (list, tuple)):
            return self._sequence(value)
        if isinstance(value, dict):
            return {name: self(item) for name, item in value.items()}
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return at(mindtorch, str(value).removeprefix("torch."))
        if isinstance(value, torch.device):
            return mindtorch.device(str(value))
        if isinstance(value, torch.nn.Module):
            return self._module(value)
        return counterpart(value) if callable(value) else value

    def _module(self, module: Any) -> Any:
        """A module with the same options and parameters."""
        made = mindtorch.nn.Module()
        made.__class__ = at(mindtorch, f"{type(module).__module__}.{type(module).__name__}".removeprefix("torch."))
        for name in module.__dict__.keys() - torch.nn.Module().__dict__.keys():
            setattr(made, name, self(module.__dict__[name]))
        for name, value in module._parameters.items():
            made.register_parameter(name, value if value is None else mindtorch.nn.Parameter(self(value.detach())))
        for name, value in module._buffers.items():
            made.register_buffer(name, self(value), name not in module._non_persistent_buffers_set)
        for name, value in module._modules.items():
            made.add_module(name, self(value))
        return made

    def _sequence(self, value: Any) -> Any:
        items = [self(item) for item in value]
        return type(value)(items) if type(value) in (list, tuple) else type(value)(*items)

    def _tensor(self, tensor: Any) -> Any:
        if tensor.layout is not torch.strided:
            made = self._sparse(tensor)
        else:
            made = self._strided(tensor.detach().resolve_conj().resolve_neg())
        return made.requires_grad_() if tensor.requires_grad else made

    def _strided(self, tensor: Any) -> Any:
        if tensor.ndim > 64:
            raise NoCounterpart(f"tensor of {tensor.ndim} dimensions")
        if tensor.device.type == "meta":
            options = {"dtype": self(tensor.dtype), "device": "meta"}
            return mindtorch.empty_strided(tensor.shape, tensor.stride(), **options)
        storage = tensor.untyped_storage()
        key = storage.data_ptr(), tensor.dtype
        if not storage.nbytes() or key not in self.storages:  # empty ones have no address to tell them apart
            self.kept.append(storage)
            self.storages[key] = _copied(storage, self(tensor.dtype))
        strided = self.storages[key].as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
        return strided.detach()  # is no view

    def _sparse(self, tensor: Any) -> Any:
        size, tensor = tuple(tensor.shape), tensor.detach()
        if tensor.layout is torch.sparse_coo:
            parts, is_coalesced = (self(tensor._indices()), self(tensor._values())), tensor.is_coalesced()
            return mindtorch.sparse_coo_tensor(*parts, size, is_coalesced=is_coalesced)
        rows = tensor.layout in (torch.sparse_csr, torch.sparse_bsr)
        parts = (tensor.crow_indices(), tensor.col_indices()) if rows else (tensor.ccol_indices(), tensor.row_indices())
        values = tensor.values()
        return mindtorch.sparse_compressed_tensor(*map(self, parts), self(values), size, layout=self(tensor.layout))


def _copied(storage: Any, dtype: Any) -> Any:
    """A one-dimensional tensor with the bytes of a storage of torch."""
    if not storage.nbytes():
        return mindtorch.empty(0, dtype=dtype)
    content = torch.empty(0, dtype=torch.uint8).set_(storage)
    return mindtorch.frombuffer(bytearray(content.numpy().tobytes()), dtype=dtype)


# -------------------- samples --------------------


def seed(number: int = 0) -> None:
    """Everything that samples are drawn from begins anew, in both libraries."""
    random.seed(number)
    np.random.seed(number)
    torch.manual_seed(number)
    mindtorch.manual_seed(number)


def samples(info: Any, dtype: str, requires_grad: bool = False, maker: str = "sample_inputs_func") -> Iterator[Any]:
    """The samples of an operator for a dtype: `input`, `args` and `kwargs` of torch.

    `maker` may be `reference_inputs_func`. For dtypes that the operator doesn't take, a maker may fail: then there
    are none.
    """
    make: Callable = getattr(info, maker)
    seed()
    if make is None:
        return
    made = iter(make(info, "cpu", getattr(torch, dtype), requires_grad))
    while True:
        try:
            yield next(made)
        except StopIteration:
            return
        except (RuntimeError, ValueError, TypeError, AssertionError, NotImplementedError):
            if takes(info, dtype):
                raise
            return


def takes(info: Any, dtype: str) -> bool:
    """Whether torch says that the operator computes on a dtype."""
    return getattr(torch, dtype) in info.dtypes


def error_inputs(info: Any) -> Iterator[Any]:
    """Calls that must fail: `sample_input`, `error_type`, `error_regex`."""
    seed()
    if info.error_inputs_func is not None:
        yield from info.error_inputs("cpu")


def arguments(sample: Any) -> tuple[tuple, dict]:
    """The positional and keyword arguments of a sample."""
    return (sample.input, *sample.args), sample.kwargs
