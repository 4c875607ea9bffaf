"""Dtypes, a layout and quantization schemes of PyTorch's that no tensor here has: programs list and compare them."""

from mindtorch._core.dtype import NameOnly, dtype
from mindtorch._core.layout import layout
from mindtorch._core.named_constant import NamedConstant

jagged = layout("jagged", "Jagged")


class qscheme(NamedConstant):
    """How the elements of a quantized tensor stand for numbers. The objects are constants; compare with `is`."""

    __module__ = "mindtorch"
    __slots__ = ()


per_tensor_affine = qscheme("per_tensor_affine")
per_tensor_symmetric = qscheme("per_tensor_symmetric")
per_channel_affine = qscheme("per_channel_affine")
per_channel_symmetric = qscheme("per_channel_symmetric")
per_channel_affine_float_qparams = qscheme("per_channel_affine_float_qparams")


class _BitsOnly(NameOnly):
    """A dtype of integers, of quantized ones or of bits."""

    def __init__(self, name: str, storage_name: str, itemsize: int = 1) -> None:
        super().__init__(name, storage_name, itemsize)
        self.is_floating_point = name.startswith("float")
        self.is_signed = not name.startswith(("uint", "quint"))


def _few_bits(kind: str) -> tuple[dtype, ...]:
    return tuple([_BitsOnly(f"{kind.lower()}{bits}", f"{kind}{bits}") for bits in range(1, 8)])


int1, int2, int3, int4, int5, int6, int7 = _few_bits("Int")
uint1, uint2, uint3, uint4, uint5, uint6, uint7 = _few_bits("UInt")
qint8: dtype = _BitsOnly("qint8", "QInt8")
quint8: dtype = _BitsOnly("quint8", "QUInt8")
qint32: dtype = _BitsOnly("qint32", "QInt32", 4)
quint4x2: dtype = _BitsOnly("quint4x2", "QUInt4x2")
quint2x4: dtype = _BitsOnly("quint2x4", "QUInt2x4")
bits1x8: dtype = _BitsOnly("bits1x8", "Bits1x8")
bits2x4: dtype = _BitsOnly("bits2x4", "Bits2x4")
bits4x2: dtype = _BitsOnly("bits4x2", "Bits4x2")
bits8: dtype = _BitsOnly("bits8", "Bits8")
bits16: dtype = _BitsOnly("bits16", "Bits16", 2)
float4_e2m1fn_x2: dtype = _BitsOnly("float4_e2m1fn_x2", "Float4_e2m1fn_x2")
