"""The tensor itself: geometry, storage, versions, views, conversion to Python values."""

import contextlib
import gc
import weakref

import numpy as np
import pytest

import mindtorch as torch
from mindtorch._core.tensor import ASK, WrappedNumber, as_operand, view_of, view_outputs, wrap


class TestGeometry:
    def test_sizes_and_strides(self):
        x = torch.zeros(2, 3, 4)
        assert x.shape == x.size() == torch.Size([2, 3, 4]) and type(x.shape) is torch.Size
        assert x.stride() == (12, 4, 1) and x.stride(-1) == 1 and x.size(1) == 3
        assert x.dim() == x.ndim == x.ndimension() == 3 and x.numel() == x.nelement() == 24
        assert x.element_size() == x.itemsize == 4 and x.nbytes == 96

    @pytest.mark.parametrize("shape", [(2, 0, 3), (0,), (3, 0), (1, 0, 1)])
    def test_empty_tensors_have_torchs_strides(self, shape):
        expected, step = [], 1
        for size in reversed(shape):
            expected.insert(0, step)
            step *= max(size, 1)
        assert torch.zeros(shape).stride() == tuple(expected)

    def test_dimension_out_of_range(self):
        message = r"Dimension out of range \(expected to be in range of \[-1, 0\], but got 5\)"
        with pytest.raises(IndexError, match=message):
            torch.zeros(2).size(5)
        with pytest.raises(IndexError, match="Dimension specified as 5 but tensor has no dimensions"):
            torch.zeros(()).stride(5)

    def test_contiguity(self):
        x = torch.zeros(2, 3, 4, 5)
        assert x.is_contiguous() and not x.is_contiguous(memory_format=torch.channels_last)
        y = x.permute(0, 3, 1, 2)
        assert not y.is_contiguous() and y.is_contiguous(memory_format=torch.channels_last)

    def test_kinds(self):
        assert torch.zeros(1).is_floating_point() and torch.zeros(1, dtype=torch.complex64).is_complex()
        assert not torch.zeros(1, dtype=torch.uint8).is_signed()
        assert torch.zeros(1).layout is torch.strided and torch.zeros(1).is_cpu and not torch.zeros(1).is_sparse
        assert torch.zeros(1, device="meta").is_meta

    def test_read_only_attributes(self):
        for name in ("shape", "dtype", "device", "_version"):
            message = f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable"
            with pytest.raises(AttributeError, match=message):
                setattr(torch.zeros(1), name, 3)
            with pytest.raises(AttributeError, match=message):
                delattr(torch.zeros(1), name)


class TestStorage:
    def test_views_share_it(self):
        x = torch.arange(6.0)
        view = x[2:]
        assert view.untyped_storage() == x.untyped_storage() and view.storage_offset() == 2
        assert view.untyped_storage() is x.untyped_storage()
        assert view.data_ptr() == x.data_ptr() + 8 and x.untyped_storage().data_ptr() == x.data_ptr()
        assert x.clone().untyped_storage() != x.untyped_storage()

    def test_bytes(self):
        storage = torch.tensor([1, 2], dtype=torch.int16).untyped_storage()
        assert storage.tolist() == [1, 0, 2, 0] and len(storage) == storage.nbytes() == 4 and storage[2] == 2
        assert storage.clone().tolist() == storage.tolist() and storage.clone() != storage

    def test_a_transposed_owner(self):
        x = wrap(np.asfortranarray(np.arange(6.0).reshape(2, 3)))
        assert x.untyped_storage().nbytes() == 48 and x.storage_offset() == 0 and x.stride() == (1, 2)

    def test_as_strided_of_numpy_keeps_the_root(self):
        base = np.zeros(4)
        view = np.lib.stride_tricks.as_strided(base, (2,), (16,))
        assert wrap(view).untyped_storage() == wrap(base).untyped_storage()

    def test_meta_tensors_have_a_size_only(self):
        x = torch.zeros(2, 3, device="meta")
        assert x.untyped_storage().nbytes() == 24 and x.data_ptr() == 0 and x[1].storage_offset() == 3
        assert x[1].untyped_storage() == x.untyped_storage()


class TestVersionsAndViews:
    def test_a_fresh_tensor_has_no_counter(self):
        x = torch.zeros(2)
        assert x._mt_version is None and x._version == 0 and x._mt_meta is None and x._mt_edge is None

    def test_writing_counts_once(self):
        x = torch.zeros(2, 2)
        for write in (lambda: x.add_(1), lambda: x.zero_(), lambda: x.copy_(x.clone()), lambda: x[0].mul_(2)):
            before = x._version
            write()
            assert x._version == before + 1

    def test_views_and_detached_twins_share_the_counter(self):
        x = torch.zeros(2, 2)
        view, twin = x[0], x.detach()
        view.add_(1)
        twin.add_(1)
        assert x._version == view._version == twin._version == 2

    def test_data_has_a_counter_of_its_own(self):
        x = torch.zeros(2)
        x.add_(1)
        assert x.data._version == 0
        x.data.add_(1)
        assert x._version == 1 and x.tolist() == [2, 2]

    def test_base_is_the_root(self):
        x = torch.zeros(4, 4)
        assert x[0][1]._base is x and x[0]._is_view() and not x._is_view() and x._base is None

    def test_every_view_asks_its_base(self):
        x = torch.zeros(2)
        assert x[:1]._mt_edge is ASK and not x[:1].requires_grad

    def test_how_a_view_was_made(self):
        x = wrap(np.zeros((2, 2)))
        assert view_of(x, x._mt_array[0], None, None)._mt_meta.creation_meta == "default"
        assert view_outputs(x, (x._mt_array[0], x._mt_array[1]), None, None)[1]._mt_meta.creation_meta == "multi_output"
        with torch.no_grad():
            made = view_of(x, x._mt_array[0], None, None)
        assert made._mt_meta.creation_meta == "no_grad"
        assert view_of(made, made._mt_array[:1], None, None)._mt_meta.creation_meta == "no_grad"

    def test_inference_tensors_have_no_version(self):
        with torch.inference_mode():
            x = torch.ones(2)
        assert x.is_inference() and not torch.ones(2).is_inference()
        with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
            _ = x._version


class TestPythonValues:
    def test_item(self):
        assert torch.tensor(3).item() == 3 and type(torch.tensor(3.0).item()) is float
        assert type(torch.ones((), dtype=torch.bfloat16).item()) is float and torch.tensor(True).item() is True
        with pytest.raises(RuntimeError, match="a Tensor with 3 elements cannot be converted to Scalar"):
            torch.zeros(3).item()
        with pytest.raises(RuntimeError, match=r"Tensor.item\(\) cannot be called on meta tensors"):
            torch.zeros((), device="meta").item()

    def test_truth(self):
        assert bool(torch.tensor([[1]])) and not torch.tensor(0.0)
        with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
            bool(torch.zeros(3))
        with pytest.raises(RuntimeError, match="Boolean value of Tensor with no values is ambiguous"):
            bool(torch.zeros(0))

    def test_numbers(self):
        assert int(torch.tensor(3.7)) == 3 and float(torch.tensor([2])) == 2.0 and complex(torch.tensor(1)) == 1 + 0j
        assert [10, 20][torch.tensor(1)] == 20
        with pytest.raises(ValueError, match="only one element tensors can be converted to Python scalars"):
            int(torch.zeros(3))
        with pytest.raises(TypeError, match="only integer tensors of a single element can be converted to an index"):
            torch.tensor(1.5).__index__()
        with pytest.raises(RuntimeError, match="value cannot be converted to type double without overflow"):
            float(torch.tensor(1 + 2j))

    def test_float_of_a_tensor_that_requires_grad_warns(self):
        with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar"):
            assert float(torch.ones((), requires_grad=True)) == 1.0

    def test_tolist(self):
        assert torch.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]] and torch.tensor(2).tolist() == 2
        assert torch.ones(2, dtype=torch.bfloat16).tolist() == [1.0, 1.0]
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
            torch.zeros(2, device="meta").tolist()

    def test_len_and_iteration(self):
        assert len(torch.zeros(3, 2)) == 3 and [row.tolist() for row in torch.tensor([[1], [2]])] == [[1], [2]]
        with pytest.raises(TypeError, match=r"len\(\) of a 0-d tensor"):
            len(torch.tensor(1))
        with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
            iter(torch.tensor(1))

    def test_contains(self):
        assert 2 in torch.tensor([1, 2]) and 3 not in torch.tensor([1, 2])
        with pytest.raises(RuntimeError, match="only supports Tensor or scalar, but you passed in a <class 'str'>"):
            "a" in torch.zeros(2)  # noqa: B015

    def test_format(self):
        assert f"{torch.tensor(1.5):.3f}" == "1.500" and f"{torch.tensor([1.0])}" == "tensor([1.])"
        with pytest.raises(TypeError, match="unsupported format string passed to Tensor.__format__"):
            f"{torch.zeros(2):.3f}"

    def test_hash_is_identity(self):
        x = torch.zeros(2)
        assert len({x, x, torch.zeros(2)}) == 2


class TestOperands:
    def test_numbers_are_wrapped(self):
        for number in (2, 2.5, True, 1j, np.float64(2), np.int8(3)):
            operand = as_operand(number)
            assert type(operand) is WrappedNumber and operand._mt_array == number and operand._mt_edge is None
            assert type(operand._mt_array) in (int, float, bool, complex)

    def test_tensors_are_taken_as_they_are(self):
        x = torch.zeros(2)
        assert as_operand(x) is x

    def test_other_things_are_refused(self):
        assert [as_operand(value) for value in (None, "a", [1], np.zeros(2))] == [None] * 4


class TestReflectedOperators:
    def test_values(self):
        assert (1 / torch.tensor(2)).item() == 0.5 and (2 ** torch.tensor(3)).item() == 8
        assert (7 // torch.tensor(2.0)).item() == 3 and (7 % torch.tensor(3)).item() == 1
        assert (np.float64(2) * torch.ones(2)).dtype is torch.float32

    def test_unknown_operands(self):
        with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'Tensor' and 'str'"):
            torch.zeros(2) + "a"
        with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for /: 'str' and 'Tensor'"):
            "a" / torch.zeros(2)


class TestTransposingAttributes:
    def test_shapes(self):
        assert torch.zeros(2, 3).T.shape == (3, 2) and torch.zeros(2, 3, 4).mT.shape == (2, 4, 3)
        assert torch.zeros(2, 3).H.shape == (3, 2)

    def test_errors(self):
        with pytest.raises(RuntimeError, match="only supported on matrices or batches of matrices. Got 1-D tensor."):
            _ = torch.zeros(3).mT
        with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex dtypes."):
            _ = torch.zeros(3).imag


REFUSED = {
    "operator": lambda x: x + torch.ones(3),
    "method": lambda x: x.sum(5),
    "function": lambda x: torch.cat([x, torch.ones(2, 2)]),
    "composite": lambda x: torch.einsum("ij->i", x),
    "view": lambda x: x.view(7),
    "index": lambda x: x[5],
    "written index": lambda x: x.__setitem__(torch.tensor([0]), torch.ones(1)),
    "leaf": lambda x: x.mul_(2),
    "out": lambda x: torch.add(x, 1, out=torch.ones(2)),
    "transform": lambda x: torch.func.grad(lambda a: a + torch.ones(3))(x),
    "layer": lambda x: torch.nn.functional.linear(x, torch.ones(3, 3)),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_tensors_of_a_refused_call_do_not_live_on(call):
    """Nor do their graphs: a leaf would keep its node, which expects gradients of the shape that it has had."""
    gc.collect()
    gc.disable()
    try:
        x = torch.ones(2, requires_grad=True)
        kept = weakref.ref(x)
        with contextlib.suppress(RuntimeError, IndexError):
            call(x)
        del x
        assert kept() is None
    finally:
        gc.enable()
