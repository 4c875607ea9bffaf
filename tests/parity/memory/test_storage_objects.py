"""Storages as objects, and memory that moves: `UntypedStorage`, `TypedStorage`, sharing, files, order of dimensions.

Each row is evaluated in both libraries. The value or the first line of the error must be the same.
"""

import random

import pytest
import torch

import mindtorch
from tests.parity.memory.test_spellings import check, comparable, rows, tensors
from tests.random_layouts import random_layout, random_shape

UNTYPED = """
T.UntypedStorage(3).size(), T.UntypedStorage().size(), T.UntypedStorage([1, 2, 3]).tolist(), T.UntypedStorage((1, 2))
T.UntypedStorage(b"ab").tolist(), T.UntypedStorage(range(3)).tolist(), T.UntypedStorage([True, 300, -1]).tolist()
T.UntypedStorage(3, device="cpu").device, T.UntypedStorage(3, device="meta").device
T.UntypedStorage("a")
T.UntypedStorage(1.5)
T.UntypedStorage(None)
T.UntypedStorage({1: 2})
T.UntypedStorage(T.ones(2))
T.UntypedStorage(True)
T.UntypedStorage([1, "a"])
T.UntypedStorage([1.5])
T.UntypedStorage(1, 2)
s = T.UntypedStorage([1, 2, 3]); s.resize_(5); s.size(), s.tolist()[:3]
s = T.UntypedStorage([1, 2, 3]); s.resize_(2).tolist()
s = T.UntypedStorage([1, 2, 3]); s.resize_(1).resize_(3).size()
s = T.UntypedStorage(3); s.resize_("a")
s = T.UntypedStorage(3); s.resize_(2.0)
s = T.UntypedStorage(3); s.resize_(True)
s = a.untyped_storage(); s.resize_(8); a.untyped_storage().nbytes(), s is a.untyped_storage()
s = a.untyped_storage(); s.resize_(48); a, a.untyped_storage().nbytes(), a.data_ptr() == s.data_ptr()
b = a[2:]; a.untyped_storage().resize_(100); b.fill_(7); a, b.storage_offset(), b._base is a
b = a.t(); c = a.detach(); a.resize_(50); a.fill_(3); b, c
b = m[:, 1:].t(); m.resize_(4, 4); m.fill_(3); b
leaf.untyped_storage().resize_(40); loss = (leaf * 2).sum(); loss.backward(); leaf.grad
s = T.UntypedStorage([1, 2, 3]); s[0], s[-1], s[1:].tolist(), s[0:2].tolist(), s[5:].size(), s[2:1].size()
s = T.UntypedStorage([1, 2, 3]); s[3]
s = T.UntypedStorage([1, 2, 3]); s[-4]
s = T.UntypedStorage([1, 2, 3]); s["a"]
s = T.UntypedStorage([1, 2, 3]); s[1.0]
s = T.UntypedStorage([1, 2, 3]); s[True]
s = T.UntypedStorage([1, 2, 3]); s[::2]
s = T.UntypedStorage([1, 2, 3]); s[0] = 7; s[1:] = 9; s.tolist()
s = T.UntypedStorage([1, 2, 3]); s[0] = 300; s[2] = -1; s[7:] = 1; s.tolist()
s = T.UntypedStorage([1, 2, 3]); s[0] = "a"; s
s = T.UntypedStorage([1, 2, 3]); s[0] = 1.5; s
s = T.UntypedStorage([1, 2, 3]); s[5] = 1; s
s = T.UntypedStorage([1, 2, 3]); s["a"] = 1; s
s = T.UntypedStorage([1, 2, 3]); s[-1] = 1; s
s = T.UntypedStorage([1, 2, 3]); s[::2] = 1; s
s = T.UntypedStorage([1, 2, 3]); s[0:2] = [1, 2]; s
s = T.UntypedStorage([1, 2, 3]); part = s[1:]; part[0] = 9; s.tolist()
s = T.UntypedStorage([1, 2, 3]); s.fill_(7).tolist(), s.fill_(300).tolist()
s = T.UntypedStorage([1, 2, 3]); s.fill_("a")
s = T.UntypedStorage([1, 2, 3]); s.fill_(1.5)
s = T.UntypedStorage([1, 2, 3]); s.copy_(T.UntypedStorage([4, 5, 6])).tolist()
s = T.UntypedStorage([1, 2, 3]); s.copy_(T.UntypedStorage([4, 5]))
s = T.UntypedStorage([1, 2, 3]); s.copy_(3)
s = T.UntypedStorage([1, 2, 3]); s.clone().tolist(), s.clone() is s, s.cpu() is s, list(s), s
s = T.UntypedStorage(3); s.is_cuda, s.is_sparse, s.filename, s.resizable(), s.is_shared(), s.is_pinned(), s.get_device()
s = T.UntypedStorage(3); s.type(), s.element_size(), len(s), s == s, s == T.UntypedStorage(3)
s = T.UntypedStorage([1, 2, 3, 4]); s.byteswap(T.int32); s.tolist()
s = T.UntypedStorage([1, 2, 3, 4]); s.byteswap(T.int16); s.byteswap(T.bool); s.tolist()
s = T.UntypedStorage([1, 2, 3, 4] * 4); s.byteswap(T.complex64); s.tolist()
s = T.UntypedStorage([1, 2, 3]); s.byteswap(T.int16)
s = T.UntypedStorage([1, 2, 3]); s.byteswap(3)
s = T.UntypedStorage([0, 0, 128, 63]); s.float().tolist(), s.bool().tolist(), s.char().tolist()
s = T.UntypedStorage([0, 128]); s.complex_float().tolist(), s.half().tolist()
T.UntypedStorage.from_buffer(b"abcd", "little", dtype=T.uint8).tolist()
T.UntypedStorage.from_buffer(b"abcd", "big", dtype=T.int16).tolist()
T.UntypedStorage.from_buffer(b"abcdefgh", "native", count=2, offset=2, dtype=T.int16).tolist()
T.UntypedStorage.from_buffer(b"abcde", "native", dtype=T.int16)
T.UntypedStorage.from_buffer(b"abcdefgh", "middle", dtype=T.int16)
T.UntypedStorage.from_buffer(b"abcdefgh", "native", count=9, offset=2, dtype=T.int16)
T.UntypedStorage.from_buffer(b"abcdefgh", "native", offset=12, dtype=T.int16)
T.UntypedStorage.from_buffer(b"abcdefgh", dtype=T.int16)
T.UntypedStorage.from_buffer(b"abc", "native")
s = T.UntypedStorage([1, 2, 3]); s.share_memory_() is s, s.is_shared(), s.tolist(), s.share_memory_() is s, s.filename
a.share_memory_() is a, a.is_shared(), a[1:].is_shared(), a.untyped_storage().is_shared(), a.clone().is_shared()
b = a[1:]; c = a.detach(); a.share_memory_(); b.fill_(2); a, c, b._base is a
b = m.t(); m.share_memory_(); b.add_(1); m, b.is_shared(), b.stride()
p = T.nn.Parameter(v); p.share_memory_() is p, p.is_shared(), v.is_shared()
T.nn.Linear(2, 2).share_memory().weight.is_shared()
T.empty(0).share_memory_().is_shared(), T.empty(0).is_shared()
T.empty(3, device="meta").share_memory_()
T.empty(3, device="meta").untyped_storage()
T.empty(3, device="meta").untyped_storage()[0]
T.empty(3, device="meta").untyped_storage().tolist()
T.empty(3, device="meta").untyped_storage().resize_(20).nbytes()
T.empty(3, device="meta").untyped_storage().clone()
T.empty(3, device="meta").untyped_storage().fill_(3)
T.empty(3, device="meta").untyped_storage().cpu()
T.ones(3, device="meta").resize_(5).stride()
T.ones(3, device="meta").set_(T.ones(2, device="meta")).shape
T.ones(3, device="meta").set_(T.ones(9, device="meta").untyped_storage(), 1, (2, 2)).storage_offset()
a.set_(T.ones(3, device="meta"))
a.set_(T.ones(3, device="meta").untyped_storage())
a[:3].copy_(T.ones(3, device="meta"))
a.resize_(2**40, 2**40)
a.resize_(size=(2,))
a.resize_as_()
T.resize_as_(a, T.ones(2))
T.resize_as_(a, 3)
a.as_strided((2**62,), (4,))
a.is_set_to()
"""

TYPED = """
a.storage()
a.storage().size(), a.storage().tolist(), a.storage().dtype, a.storage().data_ptr() == a.data_ptr()
a.storage()[1], a.storage()[-1]
a.storage()[9]
a.storage()[1:3]
a.storage()["a"]
a.storage()[1.5]
s = a.storage(); s[0] = 5; s[1:3] = 6; a
s = a.storage(); s[::2] = 7; s[0:2] = T.ones(2); a
s = a.storage(); s[9] = 1; a
s = a.storage(); s["a"] = 1; a
s = a.storage(); s[0] = "a"; a
s = a.storage(); s[0:2] = [1, 2]; a
s = a.storage(); s.fill_(2.5) is s, a
s = a.storage(); s.fill_("a")
s = a.storage(); s.resize_(8); s.size(), a.untyped_storage().nbytes()
s = a.storage(); s.resize_("a")
s = a.storage(); s.copy_(T.DoubleStorage([1, 2, 3])) is s, a.view(T.float64)
s = a.storage(); s.copy_(T.DoubleStorage([1]))
s = a.storage(); s.copy_(3)
s = a.storage(); s.clone().tolist(), s.type(), s.pickle_storage_type(), s.nbytes(), s.element_size(), len(s)
s = a.storage(); s.double().tolist(), s.int().tolist(), s.bool().tolist(), s.half().dtype, s.float() is s
s = a.storage(); s.is_shared(), s.is_pinned(), s.is_cuda, s.is_sparse, s.device, s.filename, s.get_device()
s = a.storage(); s.resizable()
s = a.storage(); s.share_memory_() is s, a.is_shared()
s = a.storage(); s == a.storage(), s == s, s.cpu() is s, list(s), bool(s)
T.FloatStorage(3).size(), T.FloatStorage(3).dtype, T.DoubleStorage().size(), T.FloatStorage.dtype
T.FloatStorage([1, 2, 3]), T.LongStorage([1, 2]), T.BoolStorage([True]), T.ByteStorage([1]), T.CharStorage([1])
T.ComplexFloatStorage([1j]), T.ComplexDoubleStorage([1]), T.BFloat16Storage([1.5]), T.HalfStorage([1])
T.ShortStorage([1]), T.IntStorage([1]), T.DoubleStorage([1])
isinstance(a.storage(), T.FloatStorage), isinstance(a.storage(), T.DoubleStorage)
isinstance(a.storage(), T.TypedStorage)
T.FloatStorage(wrap_storage=a.untyped_storage()).tolist()
T.FloatStorage("a")
T.FloatStorage(1.5)
T.FloatStorage(1, 2)
T.FloatStorage(wrap_storage=3)
T.FloatStorage(3, wrap_storage=a.untyped_storage())
T.TypedStorage([1, 2], dtype=T.int32), T.TypedStorage(3).dtype, T.TypedStorage([1, 2])
T.TypedStorage(wrap_storage=a.untyped_storage(), dtype=T.int32).tolist()
T.TypedStorage(wrap_storage=a.untyped_storage())
T.TypedStorage(wrap_storage=3, dtype=T.int32)
T.TypedStorage(1, 2)
T.TypedStorage([1], dtype=3)
T.TypedStorage(3, dtype=T.int32, device="meta").device
T.FloatStorage.from_buffer(b"abcdefgh", "native").size()
T.FloatStorage.from_buffer(b"abcd", dtype=T.int32)
T.TypedStorage.from_buffer(b"abcd", "little", dtype=T.int16)
a.storage_type(), T.is_storage(a.storage()), T.is_storage(a.untyped_storage()), T.is_storage(a), T.typename(a.storage())
a.set_(T.FloatStorage([1, 2])); place(a)
a.set_(T.DoubleStorage([1, 2]))
a.set_(a.storage(), 1, (2,)); place(a)
T.Tensor(a.storage()), T.Tensor(a.untyped_storage()), T.FloatTensor(a.storage())
"""

QUESTIONS = """
T.is_same_size(a, m), T.is_same_size(a, v.new_ones(6)), T.is_signed(a), T.is_signed(a.byte()), T.is_inference(a)
T.is_conj(a), T.is_neg(a), T.is_distributed(a), a.is_distributed(), T.conj(a) is a, T.resolve_conj(a) is a
T.is_same_size(a, 3)
a.is_same_size(3)
T.is_conj(3)
T.resolve_neg(3)
a.is_pinned("x")
x.dim_order(), last.dim_order(), x.permute(3, 0, 1, 2).dim_order(), volume.dim_order(), T.ones(2, 0).dim_order()
last.dim_order(ambiguity_check=True), one_image.dim_order(ambiguity_check=False)
one_channel.dim_order(ambiguity_check=True)
one_channel.dim_order(ambiguity_check=[T.contiguous_format, T.channels_last])
x.dim_order(ambiguity_check=[T.contiguous_format, T.channels_last])
T.ones(2, 1, 1, 2).dim_order(ambiguity_check=[T.contiguous_format])
x.dim_order(ambiguity_check="a")
x.dim_order(ambiguity_check=["a"])
T.empty_permuted((2, 3, 4), (2, 0, 1)).stride(), T.empty_permuted((2, 3), (1, 0), dtype=T.int64).dtype
T.empty_permuted((2, 3, 4), (2, 0))
T.empty_permuted((2, 3, 4), (2, 0, 0))
T.empty_permuted((2, 3, 4), (2, 0, 5))
T.empty_permuted((2, 3, 4), (-1, 0, 1))
T.empty_permuted((2, -3, 4), (2, 0, 1))
a.type("DoubleTensor")
a.type(3)
a.type(float)
a.type(T.Tensor), a.type("torch.ComplexFloatTensor"), a.type(T.DoubleTensor), a.type(dtype=T.int32), a.type(None)
a.to(float), a.to(int), a.to(bool), a.to(complex), a.to(dtype=float), a.to("cpu", int), a.to(None, float)
a.to(-1)
a.to(0)
"""

CHANGES = """
m.select_scatter(v.new_ones(3), 1, -1)
m.select_scatter(v.new_ones(4), 1, -1)
m.select_scatter(v.new_ones(3), 1, 7)
m.slice_scatter(T.ones(3, 2), 1, 0, 4, 2)
m.slice_scatter(T.ones(1, 4), start=1, end=2)
m.slice_scatter(T.ones(3, 2))
m.diagonal_scatter(T.ones(3), 1)
m.diagonal_scatter(T.ones(2), 1)
m.t()[1:].select_scatter(T.ones(3), 0, 0)
T.as_strided_scatter(a, T.ones(2), (2,), (2,), 1)
T.as_strided_scatter(a, T.ones(3), (2,), (2,), 1)
T.as_strided_scatter(m.t(), T.ones(2), (2,), (5,))
b = m[1:]; c = b.as_strided_scatter(T.ones(2), (2,), (2,)); c, c.storage_offset()
v.expand(2, 3).select_scatter(T.ones(3), 0, 0)
m.select_scatter(T.ones(3, dtype=T.int64), 1, 0)
leaf.select_scatter(T.tensor(2.0), 0, 1).grad_fn.name()
b = leaf.slice_scatter(T.ones(1), 0, 1, 2); b.sum().backward(); leaf.grad
T.slice_scatter(a, T.ones(2), 0, 2, 4, out=T.empty(0))
T.select_scatter(a, T.tensor(9.0), 0, 2, out=T.empty(0))
m.transpose_(0, 1), m.transpose_(0, 1), m.swapaxes_(0, 1), m.swapdims_(-1, 0), m.t_()
m.swapaxes_(0, 5)
leaf.transpose_(0, 0)
b = m.clone(); c = b[1:]; c.transpose_(0, 1); c._base is b, c.stride(), b.stride()
T.expand_copy(a, (2, 6), out=T.empty(0)), T.t_copy(m, out=T.empty(0)), m.narrow_copy(1, -1, 1)
T.permute_copy(m, (1, 0)), T.split_copy(m, 2), T.unbind_copy(m), T.view_copy(m, T.int32)
T.squeeze_copy(one_image, (0,))
m.narrow_copy(1, 1, 5)
b = T.detach_copy(leaf); b.requires_grad, T.alias_copy(leaf).requires_grad, T.view_copy(leaf, (3, 1))._is_view()
T.nansum(T.tensor([[1.0, float("nan")]]), 1, True), T.nansum(a.long()), T.nansum(a, dtype=T.float64), T.nansum(a.half())
T.nansum(T.ones(2, dtype=T.complex64))
b = T.tensor([1.0, float("nan")], requires_grad=True); T.nansum(b).backward(); b.grad
"""

COPIES = """
a.copy_("b")
a.copy_(None)
a.copy_([1])
a.copy_(other=T.ones(6)); a
b = T.zeros(3, dtype=T.float16); b.copy_(leaf); (b * 2).sum().backward(); leaf.grad
b = T.zeros(3, dtype=T.complex64); b.copy_(leaf); b.real.sum().backward(); leaf.grad
c = T.ones(3, dtype=T.complex64, requires_grad=True); b = T.zeros(3); b.copy_(c); b.sum().backward(); c.grad
b = leaf.clone(); part = b[1:]; part.copy_(T.ones(2)); b.sum().backward(); leaf.grad
b = leaf.clone(); part = b[1:]; part.copy_(leaf[:1]); (b * T.arange(3.0)).sum().backward(); leaf.grad
b = T.zeros(2, 3); part = b.view(6)[:3]; part.copy_(leaf); (b * 2).sum().backward(); leaf.grad, part.grad_fn.name()
b = T.zeros(4); part = b.unbind(0)[0]; part.copy_(leaf[0])
b = leaf.detach(); b.copy_(T.zeros(3)); leaf, leaf._version
b = T.zeros(3); b.copy_(b); b._version
b = T.zeros(2, 2); b.copy_(T.ones(2, 2).to_sparse())
b = T.zeros(3, requires_grad=True) * 1; c = b.exp(); c.copy_(v); c.sum().backward()
b = leaf * 2; T.zeros(3).copy_(b).grad_fn.next_functions[1][0].name()
T.zeros(3, device="meta").copy_(leaf).requires_grad
b = T.zeros(2, 3); b.T.copy_(T.ones(3, 2)); b
b = T.tensor(1.0); b.copy_(T.ones(2))
b = T.zeros(1, 3); b.copy_(T.ones(1, 1, 3)); b
"""

# What is done to a dual tensor `d` of shape (2, 3).
FORWARD = """
T.zeros(4, 2, 3).copy_(d)
T.zeros(2, 3, dtype=T.int64).copy_(d)
d.copy_(T.ones(3))
b = T.zeros(4, 2, 3); b[1].copy_(d); b
d[0].copy_(T.ones(3)); d
d.transpose_(0, 1)
d.swapaxes_(0, 1)
d.select_scatter(T.ones(3), 0, 0)
T.zeros(4, 2, 3).select_scatter(d, 0, 1)
T.zeros(4, 3).slice_scatter(d, 0, 1, 3)
T.zeros(5, 5).as_strided_scatter(d, (2, 3), (5, 1), 6)
d.as_strided_scatter(T.ones(2), (2,), (4,))
d.t().diagonal_scatter(T.ones(2))
T.nansum(d / d, 0)
T.permute_copy(d, (1, 0))
"""


@pytest.mark.parametrize("ambiguity_check", [False, True, ["contiguous_format", "channels_last"]])
def test_dim_order(ambiguity_check):
    """Of random layouts; the error, too, where strides allow several orders."""
    rng = random.Random(0)
    for _ in range(400):
        layout = random_layout(rng, random_shape(rng), "float32")
        assert dim_order(mindtorch, layout, ambiguity_check) == dim_order(torch, layout, ambiguity_check), layout


def dim_order(T, layout, ambiguity_check):
    checked = ambiguity_check
    if isinstance(ambiguity_check, list):
        checked = [getattr(T, name) for name in ambiguity_check]
    tensor = T.zeros(layout.values().size).as_strided(layout.shape, layout.strides, layout.offset)
    try:
        return tensor.dim_order(ambiguity_check=checked)
    except RuntimeError as error:
        return str(error)


@pytest.mark.parametrize("row", rows(UNTYPED))
def test_untyped_storage(row):
    check(row)


@pytest.mark.parametrize("row", rows(TYPED))
def test_typed_storage(row):
    check(row)


@pytest.mark.parametrize("row", rows(QUESTIONS))
def test_question(row):
    check(row)


@pytest.mark.parametrize("row", rows(CHANGES))
def test_change(row):
    check(row)


@pytest.mark.parametrize("row", rows(COPIES))
def test_copy(row):
    check(row)


@pytest.mark.parametrize("row", rows(FORWARD))
def test_forward_mode(row):
    assert primal_and_tangent(mindtorch, row) == primal_and_tangent(torch, row)


def primal_and_tangent(T, row):
    forward_ad = T.autograd.forward_ad
    *statements, last = row.split("; ")
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(T.arange(6.0).reshape(2, 3) - 1, T.arange(6.0).reshape(2, 3))
        names = tensors(T) | {"d": dual}
        exec("\n".join(statements), names)
        return str(comparable(tuple(forward_ad.unpack_dual(eval(last, names)))))
