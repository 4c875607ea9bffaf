"""Plain arrays: what a tensor remembers of its array, when it forgets that, and what it says of results."""

import warnings

import numpy as np
import pytest

import mindtorch as torch
from mindtorch._core.fast_path import KINDS, PLAIN_DOUBLE, PLAIN_FLOAT, common_kind, kind_of
from mindtorch._core.tensor import WrappedNumber
from mindtorch.dispatch.registry import kernel_table


def plain(*shape, dtype=torch.float32):
    """A plain tensor that was looked at."""
    tensor = torch.ones(shape, dtype=dtype)
    assert kind_of(tensor) in KINDS
    return tensor


def looked_at(tensor):
    kind_of(tensor)
    return tensor


def check_next_results(tensor, strides):
    """The tensor is looked at afresh by the ops that come next: a unary one, one with a number, one with a tensor."""
    assert tensor._mt_kind is None
    for result in (tensor.exp(), tensor * 2, tensor * tensor):
        assert (result.shape, result.dtype, result.stride()) == (tensor.shape, tensor.dtype, strides)
        assert not result._mt_kind or result._mt_kind.dtype == result._mt_array.dtype and result.is_contiguous()
    assert kind_of(tensor) is (tensor._mt_kind or None)


# -------------------- looking --------------------


@pytest.mark.parametrize(
    ("tensor", "kind"),
    [
        (torch.ones(3), PLAIN_FLOAT),
        (torch.ones(2, 3), PLAIN_FLOAT),
        (torch.ones(2, 3, dtype=torch.float64), PLAIN_DOUBLE),
        (torch.ones(4, 3)[1:], PLAIN_FLOAT),
        (torch.ones(3, 2).t().contiguous(), PLAIN_FLOAT),
        (torch.ones(()), None),
        (torch.ones(2, 1), None),
        (torch.ones(3, 2).t(), None),
        (torch.ones(2, 6)[:, ::2], None),
        (torch.ones(3).expand(2, 3), None),
        (torch.ones(2, 3, dtype=torch.int64), None),
        (torch.ones(2, 3, dtype=torch.bool), None),
        (torch.ones(2, 3, dtype=torch.float16), None),
        (torch.ones(2, 3, dtype=torch.complex64), None),
        (torch.ones(2, 3, device="meta"), None),
        (WrappedNumber(2.0), None),
    ],
)
def test_kind_of(tensor, kind):
    assert kind_of(tensor) is kind
    assert tensor._mt_kind is (kind or False)  # remembered
    assert kind_of(tensor) is kind


def test_common_kind():
    x = plain(2, 3)
    assert common_kind(x, plain(3)) is PLAIN_FLOAT
    assert common_kind(x, plain(3, dtype=torch.float64)) is None
    assert common_kind(x, torch.ones(3, 2).t()) is None
    assert common_kind(torch.ones(3, 2).t(), x) is None
    assert [common_kind(x, WrappedNumber(number)) for number in (2, 2.5, True)] == [PLAIN_FLOAT] * 3
    assert common_kind(x, WrappedNumber(2j)) is None
    assert common_kind(torch.ones(2, dtype=torch.int64), WrappedNumber(2)) is None


# -------------------- forgetting --------------------


def test_resize():
    x = plain(2, 3)
    check_next_results(x.resize_(3, 1), (1, 1))
    y = plain(2, 2, 3)
    check_next_results(y.resize_(2, 2, 2, 3, memory_format=torch.channels_last), (12, 1, 6, 2))


def test_set():
    x = plain(2, 3)
    check_next_results(x.set_(torch.ones(3, 2).t()), (1, 2))
    y = plain(2, 3)
    check_next_results(y.set_(y.untyped_storage(), 0, (2, 3), (1, 2)), (1, 2))


def test_data():
    x = plain(2, 3)
    x.data = torch.ones(3, 2).t()
    check_next_results(x, (1, 2))
    y = plain(2, 3)
    y.data = torch.ones(2, 3, dtype=torch.float64)
    check_next_results(y, (3, 1))
    assert kind_of(y) is PLAIN_DOUBLE


def test_views_in_place():
    check_next_results(plain(2, 3).t_(), (1, 3))
    check_next_results(plain(2, 3).unsqueeze_(1), (3, 3, 1))
    x = torch.ones(2, 1, 3)
    assert kind_of(x) is None
    check_next_results(x.squeeze_(), (3, 1))
    assert kind_of(x) is PLAIN_FLOAT


def test_out():
    out = looked_at(torch.empty(0))
    torch.add(torch.ones(3, 2).t(), 1, out=out)
    check_next_results(out, (1, 2))
    values, indices = looked_at(torch.empty(0)), torch.empty(0, dtype=torch.int64)
    torch.max(torch.ones(2, 3), 1, keepdim=True, out=(values, indices))
    check_next_results(values, (1, 1))


def test_out_with_a_warning():
    out = plain(5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.exp(torch.ones(2, 1), out=out)
    assert "was resized" in str(caught[0].message)
    check_next_results(out, (1, 1))


def test_out_of_a_composite():
    out = looked_at(torch.empty(0))
    torch.square(torch.ones(2, 1), out=out)
    check_next_results(out, (1, 1))


def test_an_alias_forgets_alone():
    x = plain(2, 3)
    alias = x.data
    assert alias._mt_kind is PLAIN_FLOAT
    check_next_results(alias.t_(), (1, 3))
    assert x._mt_kind is PLAIN_FLOAT and (x * 2).stride() == (3, 1)


def test_a_view_is_looked_at_itself():
    view = plain(2, 3).t()
    check_next_results(view, (1, 3))


# -------------------- results --------------------


@pytest.mark.parametrize(("dtype", "kind"), [(torch.float32, PLAIN_FLOAT), (torch.float64, PLAIN_DOUBLE)])
def test_results_of_plain_operands(dtype, kind):
    x = plain(2, 3, dtype=dtype)
    for result in (
        x.exp(),
        x * 2,
        x * 2.5,
        x + True,
        x + x,
        x / 2,
        x * plain(3, dtype=dtype),
        plain(3, dtype=dtype) - x,
    ):
        assert result._mt_kind is kind
        assert (result.shape, result.dtype, result.stride()) == (torch.Size([2, 3]), dtype, (3, 1))


def test_complex_numbers():
    x = plain(2, 3)
    result = x * 2j
    assert result.dtype is torch.complex64 and kind_of(result) is None
    assert (result * x).dtype is torch.complex64 and (result + 1).tolist() == [[1 + 2j] * 3] * 2


def test_floats_and_doubles():
    x, y = plain(2, 3), plain(2, 3, dtype=torch.float64)
    for result in (x * y, y * x, x + y):
        assert result.dtype is torch.float64 and kind_of(result) is PLAIN_DOUBLE
    assert (x * y * x).dtype is torch.float64
    assert (x * torch.tensor(2.0, dtype=torch.float64)).dtype is torch.float32


def test_other_dtypes():
    x, counts = plain(2, 3), torch.ones(2, 3, dtype=torch.int64)
    assert kind_of(x * counts) is kind_of(counts * x) is PLAIN_FLOAT
    assert kind_of(counts * 2) is None and (counts * 2).dtype is torch.int64
    assert (x == x).dtype is torch.bool and kind_of(x == x) is None


def test_broadcasting_with_other_layouts():
    x, turned, column = plain(2, 3), torch.ones(3, 2).t(), torch.ones(2, 1)
    assert (turned * x).stride() == (1, 2) and (x * turned).stride() == (3, 1)
    assert kind_of(turned * x) is None and kind_of(x * column) is PLAIN_FLOAT


def test_shapes_that_do_not_broadcast():
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(3\) must match the size of tensor b \(4\)"):
        plain(3) * plain(4)


def test_gradients():
    x = plain(2, 3).requires_grad_()
    (x * plain(2, 3)).sum().backward()
    assert x.grad.dtype is torch.float32 and x.grad.stride() == (3, 1)
    assert not x.grad._mt_kind or x.grad._mt_kind is PLAIN_FLOAT


def test_the_result_of_an_op_on_something_else_is_not_judged():
    assert torch.arange(4).sqrt()._mt_kind is None
    assert torch.ones(4, 6)[:, :3].exp()._mt_kind is None


def test_a_kernel_that_is_missing():
    table = kernel_table("mul.Tensor")
    kernels = dict(table)
    del table[np.ndarray]
    try:
        with pytest.raises(NotImplementedError, match="Could not run 'aten::mul.Tensor'"):
            plain(2) * plain(2)
        table[np.ndarray] = kernels[np.ndarray]
        assert (plain(2) * plain(2)).tolist() == [1, 1]
    finally:
        table.update(kernels)
