"""Tensors from Python data, arrays, buffers and DLPack."""

import warnings

import numpy as np
import pytest

import mindtorch as torch


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        ([1, 2], torch.int64, (2,)),
        ([1, 2.5], torch.float32, (2,)),
        ([True, False], torch.bool, (2,)),
        ([True, 2], torch.int64, (2,)),
        ([1, 2j], torch.complex64, (2,)),
        (3.5, torch.float32, ()),
        ([], torch.float32, (0,)),
        ([[], []], torch.float32, (2, 0)),
        ([[1, 2], [3, 4]], torch.int64, (2, 2)),
        ([[[1.0]], [[2.0]]], torch.float32, (2, 1, 1)),
        ((1, 2), torch.int64, (2,)),
        (range(3), torch.int64, (3,)),
        ([np.float64(1)], torch.float64, (1,)),
        ([np.float32(1), 2], torch.float32, (2,)),
        (np.float16(1), torch.float16, ()),
        (np.ones((2, 3), np.int8), torch.int8, (2, 3)),
    ],
)
def test_inferred_dtype_and_shape(data, dtype, shape):
    made = torch.tensor(data)
    assert made.dtype is dtype
    assert made.shape == shape


def test_floats_follow_the_default_dtype():
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.tensor([1.0]).dtype is torch.float64
        assert torch.tensor([1j]).dtype is torch.complex128
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize(
    ("data", "options", "error", "text"),
    [
        ([[1, 2], [3]], {}, ValueError, "expected sequence of length 2 at dim 1 (got 1)"),
        ([[1, 2], 3], {}, TypeError, "not a sequence"),
        ([1, [2]], {}, TypeError, "'list' object cannot be interpreted as an integer"),
        (["a"], {}, ValueError, "too many dimensions 'str'"),
        ("a", {}, TypeError, "new(): invalid data type 'str'"),
        (None, {}, RuntimeError, "Could not infer dtype of NoneType"),
        ([1.0, None], {}, RuntimeError, "Could not infer dtype of NoneType"),
        (2**63, {}, ValueError, "Overflow when unpacking long long"),
        ([300], {"dtype": torch.uint8}, RuntimeError, "value cannot be converted to type uint8 without overflow"),
        ([1j], {"dtype": torch.float32}, TypeError, "must be real number, not complex"),
        (1, {"dtype": "x"}, TypeError, "tensor(): argument 'dtype' must be torch.dtype, not str"),
        (
            [1],
            {"requires_grad": True},
            RuntimeError,
            "Only Tensors of floating point and complex dtype can require gradients",
        ),
        (1.0, {"requires_grad": 1}, TypeError, "tensor(): argument 'requires_grad' must be bool, not int"),
    ],
)
def test_errors(data, options, error, text):
    with pytest.raises(error) as caught:
        torch.tensor(data, **options)
    assert str(caught.value) == text


def test_tensor_copies():
    array = np.ones(2, np.float32)
    made = torch.tensor(array)
    array[0] = 5
    assert made.tolist() == [1.0, 1.0]
    with pytest.warns(UserWarning, match="recommended to use sourceTensor.detach"):
        copy = torch.tensor(made)
    copy[0] = 7
    assert made.tolist() == [1.0, 1.0]


def test_as_tensor_shares_what_it_can():
    array = np.ones(2, np.float32)
    assert torch.as_tensor(array).data_ptr() == torch.from_numpy(array).data_ptr()
    made = torch.ones(2)
    assert torch.as_tensor(made) is made
    assert torch.as_tensor(made, dtype=torch.float64).dtype is torch.float64


def test_asarray_copies_when_told():
    made = torch.ones(2)
    assert torch.asarray(made) is made
    assert torch.asarray(made, copy=True).data_ptr() != made.data_ptr()
    with pytest.raises(ValueError, match="can't alias tensor with dtype 'Float' into dtype 'Double'"):
        torch.asarray(made, dtype=torch.float64, copy=False)
    with pytest.raises(ValueError, match="can't alias arbitrary sequence into a tensor"):
        torch.asarray([1], copy=False)


def test_from_numpy_shares_memory_and_strides():
    array = np.arange(6.0).reshape(2, 3).T
    made = torch.from_numpy(array)
    made[0, 0] = 9
    assert array[0, 0] == 9
    assert made.stride() == (1, 3)


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        ([1], TypeError, "expected np.ndarray (got list)"),
        (np.array(["a"]), TypeError, "can't convert np.ndarray of type numpy.str_."),
        (np.ones(2)[::-1], ValueError, "At least one stride in the given numpy array is negative"),
        (np.ones(2, ">f4"), ValueError, "given numpy array has byte order different from the native byte order"),
    ],
)
def test_from_numpy_refuses(value, error, text):
    with pytest.raises(error) as caught:
        torch.from_numpy(value)
    assert str(caught.value).startswith(text)


def test_frombuffer():
    buffer = bytearray(b"\x01\x00\x02\x00\x03\x00")
    made = torch.frombuffer(buffer, dtype=torch.int16, offset=2)
    assert made.tolist() == [2, 3]
    made[0] = 9
    assert buffer[2] == 9
    with pytest.raises(ValueError, match=r"buffer length \(5 bytes\) after offset \(1 bytes\) must be a multiple"):
        torch.frombuffer(buffer, dtype=torch.int16, offset=1)


def test_dlpack_both_ways():
    array = np.arange(3.0)
    made = torch.from_dlpack(array)
    assert np.from_dlpack(made).ctypes.data == array.ctypes.data
    with pytest.raises(BufferError, match="Can't export tensors that require gradient"):
        np.from_dlpack(torch.ones(1, requires_grad=True))


def test_numpy():
    made = torch.ones(2)
    made.numpy()[0] = 5
    assert made[0].item() == 5
    with pytest.raises(RuntimeError, match="Can't call numpy.. on Tensor that requires grad"):
        torch.ones(1, requires_grad=True).numpy()
    assert torch.ones(1, requires_grad=True).numpy(force=True).tolist() == [1.0]


def test_new_tensor_takes_dtype_from_its_tensor():
    base = torch.ones(1, dtype=torch.float64)
    assert base.new_tensor([1, 2]).dtype is torch.float64
    assert base.new_tensor([1, 2], dtype=torch.int8).dtype is torch.int8


def test_default_device():
    with torch.device("meta"):
        assert torch.tensor([1.0]).is_meta
    assert torch.tensor([1.0], device="meta").shape == (1,)


def test_wide_numbers_overflow_to_infinity_without_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.tensor([1e50]).tolist() == [float("inf")]
