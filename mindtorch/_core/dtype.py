"""The element types, their NumPy counterparts, `finfo`, `iinfo` and the default dtype."""

import builtins
from functools import cache
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from mindtorch._core import state
from mindtorch._support import errors


class dtype:
    """An element type. The objects are constants; compare with `is`.

    `numpy` is the NumPy dtype, `storage_name` the word in the legacy type names ("Float" in `torch.FloatTensor`).
    """

    __module__ = "mindtorch"

    torch_name = "torch.dtype"
    __slots__ = ("_name", "storage_name", "numpy", "itemsize", "is_floating_point", "is_complex", "is_signed")

    itemsize: builtins.int
    is_floating_point: builtins.bool
    is_complex: builtins.bool
    is_signed: builtins.bool

    def __init__(self, name: str, storage_name: str, numpy_type: Any) -> None:
        self._name = name
        self.storage_name = storage_name
        self.numpy = np.dtype(numpy_type)
        self.itemsize = self.numpy.itemsize
        self.is_complex = self.numpy.kind == "c"
        self.is_floating_point = "float" in name
        self.is_signed = self.numpy.kind not in "bu"

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name

    def to_real(self) -> "dtype":
        return _REAL_OF.get(self, self)

    def to_complex(self) -> "dtype":
        if self.is_complex:
            return self
        if self not in _COMPLEX_OF:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.storage_name}")
        return _COMPLEX_OF[self]


class NameOnly(dtype):
    """A dtype that programs list, or compare those of their tensors with; no tensor has it here."""

    __slots__ = ()

    def __init__(self, name: str, storage_name: str, itemsize: Any, is_complex: Any = False) -> None:
        self._name = name
        self.storage_name = storage_name
        self.itemsize = itemsize
        self.is_complex = is_complex
        self.is_floating_point = not is_complex
        self.is_signed = name != "float8_e8m0fnu"

    @property
    def numpy(self) -> Any:
        raise TypeError(f"mindtorch has no tensors of dtype {self}")


# From here on `bool`, `int` and `float` are dtypes in this module, as they are in torch's namespace.
bool = dtype("bool", "Bool", np.bool_)
uint8 = dtype("uint8", "Byte", np.uint8)
uint16 = dtype("uint16", "UInt16", np.uint16)
uint32 = dtype("uint32", "UInt32", np.uint32)
uint64 = dtype("uint64", "UInt64", np.uint64)
int8 = dtype("int8", "Char", np.int8)
int16 = short = dtype("int16", "Short", np.int16)
int32 = int = dtype("int32", "Int", np.int32)
int64 = long = dtype("int64", "Long", np.int64)
float16 = half = dtype("float16", "Half", np.float16)
bfloat16 = dtype("bfloat16", "BFloat16", ml_dtypes.bfloat16)
float32 = float = dtype("float32", "Float", np.float32)
float64 = double = dtype("float64", "Double", np.float64)
complex64 = cfloat = dtype("complex64", "ComplexFloat", np.complex64)
complex128 = cdouble = dtype("complex128", "ComplexDouble", np.complex128)
complex32: dtype = NameOnly("complex32", "ComplexHalf", 2 * float16.itemsize, is_complex=True)
chalf = complex32
float8_e4m3fn: dtype = NameOnly("float8_e4m3fn", "Float8_e4m3fn", 1)
float8_e4m3fnuz: dtype = NameOnly("float8_e4m3fnuz", "Float8_e4m3fnuz", 1)
float8_e5m2: dtype = NameOnly("float8_e5m2", "Float8_e5m2", 1)
float8_e5m2fnuz: dtype = NameOnly("float8_e5m2fnuz", "Float8_e5m2fnuz", 1)
float8_e8m0fnu: dtype = NameOnly("float8_e8m0fnu", "Float8_e8m0fnu", 1)

ALL_DTYPES = (
    bool, uint8, uint16, uint32, uint64, int8, int16, int32, int64,
    float16, bfloat16, float32, float64, complex64, complex128,
)  # fmt: skip
NAMES_ONLY = (complex32, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu)

_REAL_OF = {complex32: float16, complex64: float32, complex128: float64}
_COMPLEX_OF = {float16: complex64, bfloat16: complex64, float32: complex64, float64: complex128}

FROM_NUMPY = {each.numpy: each for each in ALL_DTYPES}

# Python's types that stand for dtypes.
PYTHON_TYPES: dict[Any, dtype] = {
    builtins.float: float64,
    builtins.int: int64,
    builtins.bool: bool,
    builtins.complex: complex128,
}


def is_dtype(value: Any) -> builtins.bool:
    """Whether a value is a dtype, or a type of Python's that stands for one."""
    return isinstance(value, dtype) or (isinstance(value, type) and value in PYTHON_TYPES)


_C_NAMES = {
    uint8: "unsigned char",
    uint16: "unsigned short",
    uint32: "unsigned int",
    uint64: "unsigned long",
    int8: "signed char",
    int16: "short int",
    int64: "long int",
    float16: "c10::Half",
    bfloat16: "c10::BFloat16",
    complex64: "c10::complex<float>",
    complex128: "c10::complex<double>",
}


def c_name(dtype: dtype) -> str:
    """The C++ type of the elements, by which torch's messages call some dtypes."""
    return _C_NAMES.get(dtype, dtype.storage_name.lower())


def from_numpy_dtype(numpy_dtype: Any) -> dtype:
    """The dtype of a NumPy dtype; torch's TypeError for one that has no counterpart."""
    try:
        return FROM_NUMPY[np.dtype(numpy_dtype)]
    except KeyError:
        raise errors.numpy_dtype_unsupported(np.dtype(numpy_dtype)) from None


def with_own_dtype(array: Any) -> Any:
    """A NumPy array that comes from a program, with the dtype object that kernels know.

    They compare dtypes by identity. An array that was pickled, that has metadata or is of C's `long long` has an equal
    dtype that is another object.
    """
    own = from_numpy_dtype(array.dtype).numpy
    return array if array.dtype is own else array.view(own)


state.default_dtype = float32


def get_default_dtype() -> dtype:
    """The dtype of tensors that are made from Python floats."""
    return state.default_dtype


def set_default_dtype(d: dtype) -> None:
    """Make `d`, a floating-point dtype, the dtype of tensors that are made from Python floats."""
    if not isinstance(d, dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    if isinstance(d, NameOnly):
        raise TypeError(f"couldn't find storage object {d.storage_name}Storage")
    state.default_dtype = d


AnyDtype: TypeAlias = dtype


class finfo:
    """The limits of a floating-point dtype (of the real part, for a complex one)."""

    __module__ = "mindtorch"

    bits: builtins.int
    eps: builtins.float
    max: builtins.float
    min: builtins.float
    resolution: builtins.float
    smallest_normal: builtins.float
    tiny: builtins.float
    dtype: str

    def __init__(self, type: AnyDtype | None = None) -> None:
        if type is None:
            type = state.default_dtype
        if not isinstance(type, dtype):
            raise errors.argument_type("finfo", "type", 1, "torch.dtype", type)
        if not (type.is_floating_point or type.is_complex):
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        self.__dict__.update(_limits_of(type.to_real()))

    def __repr__(self) -> str:
        shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{name}={getattr(self, name):g}' for name in shown)}, dtype={self.dtype})"


@cache
def _limits_of(type: dtype) -> dict[str, Any]:
    limits = ml_dtypes.finfo(type._name if isinstance(type, NameOnly) else type.numpy)  # type: ignore[no-untyped-call]
    numbers = ("eps", "max", "min", "tiny", "smallest_normal")
    found = {name: np.float64(getattr(limits, name)).item() for name in numbers}
    return {"bits": limits.bits, "dtype": type._name, "resolution": 10.0**-limits.precision, **found}


class iinfo:
    """The limits of an integer dtype."""

    __module__ = "mindtorch"

    bits: builtins.int
    max: builtins.int
    min: builtins.int
    dtype: str

    def __init__(self, type: AnyDtype) -> None:
        if not isinstance(type, dtype):
            raise errors.argument_type("iinfo", "type", 1, "torch.dtype", type)
        if type.is_floating_point or type.is_complex:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        if type is bool:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        limits = np.iinfo(type.numpy)
        self.bits = limits.bits
        self.min = limits.min
        self.max = limits.max
        self.dtype = type._name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
