"""dtype, device, layout, memory format and Size."""

import pickle

import ml_dtypes
import numpy as np
import pytest

import mindtorch as torch
from mindtorch._core.dtype import ALL_DTYPES, from_numpy_dtype


class TestDtype:
    def test_repr_is_torchs(self):
        assert [repr(torch.float32), repr(torch.bool)] == ["torch.float32", "torch.bool"]

    def test_aliases_are_the_same_objects(self):
        assert torch.float is torch.float32 and torch.long is torch.int64 and torch.cfloat is torch.complex64
        assert torch.half is torch.float16 and torch.double is torch.float64 and torch.short is torch.int16

    @pytest.mark.parametrize("dtype", ALL_DTYPES, ids=repr)
    def test_numpy_and_back(self, dtype):
        assert from_numpy_dtype(dtype.numpy) is dtype

    def test_bfloat16_is_that_of_ml_dtypes(self):
        assert torch.bfloat16.numpy == np.dtype(ml_dtypes.bfloat16)
        assert torch.bfloat16.is_floating_point and torch.bfloat16.is_signed and torch.bfloat16.itemsize == 2

    @pytest.mark.parametrize("dtype", ALL_DTYPES, ids=repr)
    def test_pickle_keeps_identity(self, dtype):
        assert pickle.loads(pickle.dumps(dtype)) is dtype

    def test_signs(self):
        assert torch.int8.is_signed and not torch.uint8.is_signed and not torch.bool.is_signed

    def test_real_and_complex(self):
        assert torch.complex64.to_real() is torch.float32 and torch.float64.to_complex() is torch.complex128
        with pytest.raises(RuntimeError, match="Unknown Complex ScalarType for Long"):
            torch.int64.to_complex()

    def test_a_numpy_dtype_without_counterpart(self):
        with pytest.raises(TypeError, match="can't convert np.ndarray of type numpy.str_"):
            from_numpy_dtype(np.dtype("U3"))

    def test_limits(self):
        assert repr(torch.finfo(torch.float32)) == (
            "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, smallest_normal=1.17549e-38, "
            "tiny=1.17549e-38, dtype=float32)"
        )
        assert torch.finfo(torch.bfloat16).resolution == 0.01 and torch.finfo(torch.complex64).dtype == "float32"
        assert torch.iinfo(torch.uint8).max == 255
        with pytest.raises(TypeError, match="Use torch.finfo to handle 'torch.iinfo'"):
            torch.iinfo(torch.float32)

    def test_default_dtype(self):
        torch.set_default_dtype(torch.float64)
        try:
            assert torch.zeros(2).dtype is torch.float64
        finally:
            torch.set_default_dtype(torch.float32)
        with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
            torch.set_default_dtype(torch.int32)


class TestDevice:
    def test_repr_and_str(self):
        assert repr(torch.device("cpu")) == "device(type='cpu')" and str(torch.device("npu", 1)) == "npu:1"
        assert repr(torch.device("npu:0")) == "device(type='npu', index=0)"

    def test_equality_looks_at_the_index(self):
        assert torch.device("cpu") == torch.device("cpu") != torch.device("cpu:0")
        assert len({torch.device("cpu"), torch.device("cpu")}) == 1

    @pytest.mark.parametrize("text", ["cpu:-1", "cpu:x", "cuda:01", "cpu:1:2", "cuda: 1"])
    def test_malformed_strings(self, text):
        with pytest.raises(RuntimeError, match=f"Invalid device string: '{text}'"):
            torch.device(text)

    def test_other_errors(self):
        with pytest.raises(RuntimeError, match="device type at start of device string: foo"):
            torch.device("foo")
        with pytest.raises(RuntimeError, match="must not include an index because index was passed explicitly: cpu:1"):
            torch.device("cpu:1", 1)
        with pytest.raises(RuntimeError, match="Device index must not be negative"):
            torch.device("cpu", -1)
        with pytest.raises(TypeError, match="received an invalid combination of arguments - got \\(float\\)"):
            torch.device(1.5)

    def test_attributes_cannot_be_written(self):
        with pytest.raises(AttributeError, match="attribute 'type' of 'torch.device' objects is not writable"):
            torch.device("cpu").type = "meta"

    def test_default_device(self):
        with torch.device("meta"):
            assert torch.zeros(2).device.type == "meta"
        assert torch.zeros(2).device.type == "cpu"

    def test_missing_devices_say_so(self):
        assert not torch.npu.is_available() and not torch.cuda.is_available()
        with pytest.raises(RuntimeError, match="The npu device is not available: the Ascend libraries"):
            torch.zeros(2, device="npu")
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            torch.zeros(2, device="cuda")

    def test_pickle(self):
        assert pickle.loads(pickle.dumps(torch.device("npu:1"))) == torch.device("npu", 1)


class TestSize:
    def test_stays_a_size(self):
        size = torch.Size([2, 3])
        for other in (size + (1,), (1,) + size, size[:1], size * 2, 2 * size):
            assert type(other) is torch.Size
        assert size[0] == 2 and type(size[0]) is int

    def test_repr_and_numel(self):
        assert repr(torch.Size([2, 3])) == "torch.Size([2, 3])" and torch.Size([2, 3]).numel() == 6
        assert torch.Size([]).numel() == 1

    def test_takes_what_has_an_index(self):
        assert torch.Size([np.int64(3), torch.tensor(2)]) == (3, 2)

    def test_errors(self):
        with pytest.raises(TypeError, match=r"torch.Size\(\) takes an iterable of 'int' \(item 1 is 'str'\)"):
            torch.Size([2, "a"])
        with pytest.raises(TypeError, match=r"can only concatenate tuple \(not list\) to torch.Size"):
            torch.Size([2]) + [1]


def test_layouts_and_memory_formats():
    assert repr(torch.strided) == "torch.strided" and repr(torch.channels_last) == "torch.channels_last"
    assert pickle.loads(pickle.dumps(torch.sparse_coo)) is torch.sparse_coo
