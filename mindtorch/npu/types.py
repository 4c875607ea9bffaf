"""`FloatTensor` and its like: the old names of the types of tensors on NPUs."""

from mindtorch._core.device import device
from mindtorch._core.dtype import bfloat16, float16, float32, float64, int8, int16, int32, int64, uint8
from mindtorch._core.dtype import bool as bool_dtype
from mindtorch._tensor_methods.legacy import legacy_type_of

_NPU = device("npu")

BFloat16Tensor = legacy_type_of(bfloat16, _NPU)
BoolTensor = legacy_type_of(bool_dtype, _NPU)
ByteTensor = legacy_type_of(uint8, _NPU)
CharTensor = legacy_type_of(int8, _NPU)
DoubleTensor = legacy_type_of(float64, _NPU)
FloatTensor = legacy_type_of(float32, _NPU)
HalfTensor = legacy_type_of(float16, _NPU)
IntTensor = legacy_type_of(int32, _NPU)
LongTensor = legacy_type_of(int64, _NPU)
ShortTensor = legacy_type_of(int16, _NPU)
