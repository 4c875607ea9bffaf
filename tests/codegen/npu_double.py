"""What generated NPU kernels import from the runtime, without a device: calls are checked against the table, and noted.

`NpuArray` has everything but memory. `Observed` lets a generated kernel run beside the CPU's, on stand-ins of its
arguments.
"""

import math
from importlib import import_module
from pathlib import Path

import numpy as np

from codegen.errors import Problems
from codegen.npu.aclnn_table import signatures
from codegen.project import Project
from mindtorch._core.device import device as Device
from mindtorch.backends.device_array import DeviceFlags
from mindtorch.backends.meta.array import MetaArray
from mindtorch.dispatch.registry import kernel_table

NPU = Device("npu", 0)


class NpuArray:
    """The geometry of an array on a device, and whether anything has been written to it."""

    __slots__ = ("shape", "strides", "dtype", "is_filled")

    device = NPU
    byte_offset = 0

    def __init__(self, shape, strides, dtype, is_filled=True):
        self.shape, self.strides, self.dtype, self.is_filled = tuple(shape), tuple(strides), dtype, is_filled

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    itemsize = property(lambda self: self.dtype.itemsize)
    flags = property(lambda self: DeviceFlags(self.shape, self.strides, self.dtype.itemsize))

    def __repr__(self):
        return f"NpuArray({self.shape}, {self.strides}, {self.dtype})"


class settings:
    cube_math_type = conv_math_type = 0


_TABLE = signatures(Project(Path()), Problems())
_INTEGERS = dict.fromkeys("chiulq", lambda value: type(value) is int)
_CHECKS = _INTEGERS | {
    "T": lambda value: value is None or type(value) is NpuArray,
    "L": lambda value: isinstance(value, (list, tuple)) and all(type(each) is NpuArray for each in value),
    "S": lambda value: value is None or isinstance(value, (bool, int, float, complex)) or _is_number(value),
    "I": lambda value: value is None or isinstance(value, (list, tuple)) and all(type(each) is int for each in value),
    "B": lambda value: isinstance(value, (list, tuple)) and all(type(each) is bool for each in value),
    "d": lambda value: isinstance(value, np.dtype),
    "z": lambda value: type(value) is str,
    "b": lambda value: type(value) is bool,
    "g": lambda value: isinstance(value, (int, float)),
    "f": lambda value: isinstance(value, (int, float)),
}


# What functions call the arguments that they read, and those that write the one that they are given without reading it.
_READ = ("self", "input", "x", "other", "gradOutput", "index", "target")
_OVERWRITING = tuple(f"aclnnInplace{name}" for name in ("Copy", "FillScalar", "FillTensor", "One", "Zero"))
_OVERWRITING += ("aclnnMaxUnpool3d",)  # it begins with zeros of its own


# Reductions whose list of dimensions is not called `dim`.
_OVER_DIMS = ("aclnnReduceSum", "aclnnLinalgVectorNorm")


def _is_number(value):
    return isinstance(value, np.ndarray) and value.ndim == 0


class aclnn:
    """A prepared call: it refuses what the function does not take."""

    launches = []

    def __init__(self, name, kinds):
        assert kinds == _TABLE[name].kinds, f"{name} takes {_TABLE[name].kinds}, prepared for {kinds}"
        self.name, self.kinds = name, kinds

    def __call__(self, *given):
        assert len(given) == len(self.kinds), f"{self.name} is given {len(given)} arguments"
        for place, (kind, value) in enumerate(zip(self.kinds, given, strict=True)):
            assert _CHECKS[kind](value), f"{self.name} is given {value!r} as number {place + 1}, which is {kind}"
        for parameter, value in zip(_TABLE[self.name].parameters, given, strict=True):
            self._check_value(parameter, value)
        if "dim" in _TABLE[self.name].parameters or self.name in _OVER_DIMS:
            places = [place for place, kind in enumerate(self.kinds) if kind == "I"]
            assert all(
                given[place] or not given[0].ndim for place in places
            ), f"{self.name} wants all dimensions by name"
        for value in given:
            if type(value) is NpuArray:
                value.is_filled = True
        self.launches.append((self.name, given))

    def _check_value(self, parameter, value):
        """What is read has been written before."""
        is_read = parameter in _READ or parameter.endswith("Ref") and self.name not in _OVERWRITING
        assert (
            not is_read or type(value) is not NpuArray or value.is_filled
        ), f"{self.name} reads '{parameter}' too early"


def remembered(rule, op=""):
    """The rule itself: what it answers is what is tested here."""
    return rule


def placed(result, like):
    """What the rule says, on the device of an array: `out` itself, new memory, or nothing for a result left out."""
    assert type(like) is NpuArray, f"{like!r} is on no device"
    return placed_on(result, like.device)


def placed_on(result, device):
    return NpuArray(result.shape, result.strides, result.dtype, False) if isinstance(result, MetaArray) else result


def placed_all(results, like):
    return tuple([placed(result, like) for result in results])


def operands(*values):
    """Numbers, and 0-dim arrays of the CPU, as arrays on the device of the others."""
    assert any(type(value) is NpuArray for value in values)
    return tuple([_on_device(value) for value in values])


def _on_device(value):
    if value is None or type(value) is NpuArray:
        return value
    assert _is_number(value) or isinstance(value, (bool, int, float, complex)), f"{value!r} is no operand"
    return NpuArray((), (), np.asarray(value).dtype)


def copied(result, source):
    if result is not source:
        assert np.broadcast_shapes(result.shape, source.shape) == result.shape
        aclnn("aclnnInplaceCopy", "TT")(result, source)


def delivered(result, out):
    if result is not out and result.shape == out.shape:
        copied(out, result)
        return out
    return result


def delivered_all(results, outs):
    return tuple([delivered(result, out) for result, out in zip(results, outs, strict=True)])


def seed_and_offset(generator, result):
    assert type(result) is NpuArray
    return 1, 0


# -------------------- beside the CPU --------------------


def stand_in(array):
    return NpuArray(array.shape, array.strides if array.size else _row_major(array), array.dtype)


def _row_major(array):
    """NumPy's strides of an array without elements are its own."""
    return MetaArray(array.shape, array.dtype).strides


class Observed:
    """The CPU's kernel of an op; each call runs the generated kernel, too, and compares what both give.

    `differences` are in words. With `keep_numbers`, 0-dim arrays stay on the CPU if another argument is on the device.
    """

    def __init__(self, op, module, function, keep_numbers=False):
        self.op, self.keep_numbers = op, keep_numbers
        self.differences, self.calls = [], 0
        self._kernel = getattr(import_module(module), function)
        self._table = kernel_table(op)

    def __enter__(self):
        self._on_cpu = self._table[np.ndarray]  # first, as it may have to load the family
        self._kept, self._direct = dict(self._table), self._table.direct
        self._table[np.ndarray] = self
        return self

    def __exit__(self, *error):
        self._table.clear()
        dict.update(self._table, self._kept)
        self._table.direct = self._direct

    def direct(self, *args):
        raise KeyError  # ask for the kernel with all its arguments

    def __call__(self, *args, **kwargs):
        expected = self._on_cpu(*args, **kwargs)
        places = {id(array): stand_in(array) for array in _arrays(args) if array.ndim or not self.keep_numbers}
        if not places and _arrays(args):
            return expected
        places |= {id(array): stand_in(array) for array in _arrays(kwargs) if id(array) not in places}
        given, named = _moved(list(args), places), _moved(kwargs, places)
        self.calls += 1
        try:
            found = self._ran(given, named)
            text = self._compared(found, expected, kwargs.get("out"), named.get("out"))
        except Exception as error:  # noqa: BLE001 - whatever goes wrong there is what the test is about
            text = f"{type(error).__name__}: {error}"
        if text:
            self.differences.append(f"{self.op}{tuple(given)}, {named}: {text}")
        return expected

    def _ran(self, given, named):
        aclnn.launches.clear()
        found = self._kernel(*given, **named)
        written = [each for _, values in aclnn.launches for each in values if type(each) is NpuArray]
        for result in found if isinstance(found, tuple) else (found,):
            assert result is None or any(result is each for each in written), f"no call writes {result}"
        return found

    def _compared(self, found, expected, out, moved_out):
        many = isinstance(expected, (tuple, list))
        pairs = zip(found, expected, strict=True) if many else [(found, expected)]
        outs = zip(moved_out, out, strict=True) if many and out else [(moved_out, out)] * (len(expected) if many else 1)
        for (result, wanted), (mine, theirs) in zip(pairs, outs, strict=True):
            if text := _difference(result, wanted):
                return text
            if theirs is not None and (wanted is theirs) != (result is mine):
                return f"'out' is {'not ' if wanted is theirs else ''}given back"
        return ""


def _arrays(value):
    """All arrays in arguments."""
    if isinstance(value, (list, tuple, dict)):
        return [array for each in (value.values() if isinstance(value, dict) else value) for array in _arrays(each)]
    return [value] if isinstance(value, np.ndarray) else []


def _moved(value, places):
    """Arguments with the stand-ins of arrays in their places."""
    if isinstance(value, dict):
        return {name: _moved(each, places) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_moved(each, places) for each in value])
    return places.get(id(value), value)


def _difference(result, wanted):
    if result is None or wanted is None:
        return "" if result is wanted else f"gives {result}, the CPU {wanted}"
    expected = stand_in(wanted)
    for what in ("dtype", "shape", "strides"):
        if getattr(result, what) != getattr(expected, what) and not (what == "strides" and not wanted.size):
            if what == "strides" and _same_layout(result, wanted):
                continue
            return f"{what} {getattr(result, what)}, of the CPU {getattr(expected, what)}"
    return ""


def _same_layout(result, wanted):
    """Strides of dimensions of one element say nothing."""
    return all(size == 1 or mine == theirs for size, mine, theirs in zip(wanted.shape, result.strides, wanted.strides))
