"""deepcopy and pickle of tensors, and legacy constructors."""

import pickle
from copy import deepcopy

import pytest

import mindtorch as torch


def roundtrip(value):
    return pickle.loads(pickle.dumps(value))


class TestPickle:
    @pytest.mark.parametrize("copied", [roundtrip, deepcopy])
    def test_strides_dtype_and_flag(self, copied):
        x = torch.arange(6.0, dtype=torch.float64).reshape(2, 3).t()
        y = copied(x.requires_grad_())
        assert y.stride() == (1, 3) and y.dtype is torch.float64 and y.requires_grad and y.tolist() == x.tolist()

    @pytest.mark.parametrize("copied", [roundtrip, deepcopy])
    def test_sharing_is_kept(self, copied):
        x = torch.zeros(4)
        y, view = copied([x, x[2:]])
        view.fill_(1)
        assert y.tolist() == [0, 0, 1, 1] and x.tolist() == [0] * 4

    @pytest.mark.parametrize("copied", [roundtrip, deepcopy])
    def test_attributes_come_along(self, copied):
        x = torch.zeros(2)
        x.note = ["hello"]
        assert copied(x).note == ["hello"]

    @pytest.mark.parametrize("dtype", [torch.bool, torch.bfloat16, torch.complex64, torch.uint16])
    def test_dtypes(self, dtype):
        assert roundtrip(torch.ones(3).to(dtype)).dtype is dtype

    def test_meta(self):
        x = roundtrip(torch.zeros(2, 3, device="meta"))
        assert x.is_meta and x.shape == (2, 3)

    def test_grad_is_copied_by_deepcopy(self):
        x = torch.ones(2, requires_grad=True)
        x.sum().backward()
        assert deepcopy(x).grad.tolist() == [1, 1]

    def test_only_leaves_are_copied(self):
        with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
            deepcopy(torch.ones(2, requires_grad=True) * 2)

    def test_the_same_tensor_twice(self):
        x = torch.zeros(2)
        a, b = deepcopy([x, x])
        assert a is b


class TestLegacy:
    def test_sizes_and_data(self):
        assert torch.Tensor(2, 3).shape == (2, 3) and torch.Tensor(torch.Size([2, 1])).shape == (2, 1)
        assert torch.Tensor([1, 2]).tolist() == [1.0, 2.0] and torch.Tensor().shape == (0,)
        assert torch.LongTensor([1, 2]).dtype is torch.int64 and torch.DoubleTensor(2, 1).dtype is torch.float64

    def test_another_tensor_is_shared(self):
        x = torch.zeros(2)
        assert torch.Tensor(x).data_ptr() == x.data_ptr()

    def test_errors(self):
        with pytest.raises(TypeError, match=r"new\(\): data must be a sequence \(got float\)"):
            torch.Tensor(3.5)
        with pytest.raises(TypeError, match=r"new\(\): invalid data type 'str'"):
            torch.Tensor("a")
        with pytest.raises(RuntimeError, match=r"Trying to create tensor with negative dimension -1: \[-1\]"):
            torch.Tensor(-1)
        with pytest.raises(RuntimeError, match="legacy constructor expects device type: cpu but device type: meta"):
            torch.Tensor([1], device="meta")

    def test_types(self):
        x = torch.zeros(2)
        assert x.type() == "torch.FloatTensor" and isinstance(x, torch.FloatTensor)
        assert not isinstance(x, torch.LongTensor) and repr(torch.FloatTensor) == "<class 'torch.FloatTensor'>"
        assert x.type(torch.float64).dtype is torch.float64 and x.type("torch.LongTensor").dtype is torch.int64
        with pytest.raises(ValueError, match="invalid type: 'what'"):
            x.type("what")

    def test_new(self):
        x = torch.zeros(1, dtype=torch.int16)
        assert x.new([1, 2]).dtype is torch.int16 and x.new(2, 1).shape == (2, 1)
