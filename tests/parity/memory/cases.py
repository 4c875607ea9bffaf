"""Random cases: tensors in every layout, and an expression over them, as text that means the same in both libraries.

A case is one to three tensors, each an expression over `T`, and an expression over them. `first_difference` runs it
with torch and with mindtorch and compares values, dtypes, strides and errors. `python -m tests.parity.memory.cases KIND
FIRST COUNT` writes the cases of a range of seeds that differ.
"""

import random
import sys
from collections.abc import Callable

import mindtorch
from tests.parity.memory.layouts import (
    DTYPES,
    LAYOUTS,
    Case,
    Tensors,
    channels_last,
    first_difference,
    odd_strides,
    permuted,
    plain,
    stepped,
)


def small_dims(choose: random.Random, ndim: int) -> tuple[int, ...]:
    return tuple(choose.sample(range(-ndim, 0), choose.randint(1, ndim))) if ndim else ()


def pointwise(choose: random.Random) -> Case:
    """One to three operands that broadcast."""
    make = Tensors(choose)
    shape = make.shape()
    if len(shape) > 1:  # torch's strides of results without elements depend on the order of operands: not compared
        shape = tuple([extent or 2 for extent in shape])
    dtype = choose.choice([None, "float32", "float32"])
    tensors = {name: make.tensor(make.broadcastable(shape), dtype) for name in "xyz"}
    return Case(tensors, choose.choice(POINTWISE))


POINTWISE_LINES = """
-x; x.real.abs(); x.exp(); x.relu(); x.sign(); x.square(); x.sigmoid(); x > 1; x == y; x + 1; x * 0.5; 2 - x
x.logical_not(); x + y; x * y; x - y.float(); x.maximum(y); x < y; x / y; T.where(x > 0, y, z)
T.where(y.bool(), x, 1.0); x.add(y, alpha=2); x.float().addcmul(y.float(), z.float())
x.float().lerp(y.float(), 0.5); x.clamp(0, 2); x.float().clamp(y.float(), z.float())
x.float().masked_fill(y.bool(), 3.0); x.pow(2); F.gelu(x.float()); x.float().lerp(y.float(), z.float())
x.isnan(); x.logical_and(y); F.silu(x.float()); F.softplus(x.float()); F.leaky_relu(x.float())
x.float().atan2(y.float()); T.add(x, y, out=T.empty(0)); T.exp(x, out=T.empty(0)); T.nan_to_num(x)
x.clamp(min=y.real); x.float().hypot(y.float()); x.float().copysign(y.float()); x.float().frexp(); x.float().xlogy(y)
F.elu(x.float()); F.mish(x.float()); F.hardswish(x.float()); F.logsigmoid(x.float()); F.softshrink(x.float())
F.binary_cross_entropy(x.float().sigmoid(), x.float().sigmoid(), reduction='none'); T.maximum(x.real, y.real)
x.float().addcdiv(y.float(), z.float() + 9); x.float().requires_grad_().exp().detach()
T.add(x.float(), 1, out=z.float().clone()); x.float().remainder(3); x.real
"""
POINTWISE = [each.strip() for line in POINTWISE_LINES.strip().splitlines() for each in line.split(";")]


def reduction(choose: random.Random) -> Case:
    make = Tensors(choose)
    shape = make.shape()
    expression = choose.choice(REDUCTIONS)
    dims = small_dims(choose, len(shape))
    settings = {"dims": dims, "dim": dims[0] if dims else 0, "keep": choose.random() < 0.5}
    return Case({"x": make.tensor(shape)}, expression.format(**settings))


REDUCTIONS = [
    "x.sum({dims}, keepdim={keep})",
    "x.sum({dims}, keepdim={keep}, dtype=T.float64)",
    "x.float().mean({dims}, keepdim={keep})",
    "x.amax({dims}, keepdim={keep})",
    "x.max({dim}, keepdim={keep})[0]",
    "x.float().min({dim}, keepdim={keep})[0]",
    "x.all({dim}, keepdim={keep})",
    "x.any({dim}, keepdim={keep})",
    "x.float().var({dims}, keepdim={keep})",
    "x.float().std({dim}, keepdim={keep})",
    "x.float().logsumexp({dims}, keepdim={keep})",
    "x.prod({dim}, keepdim={keep})",
    "x.float().norm(2, {dims}, keepdim={keep})",
    "x.cumsum({dim})",
    "x.float().softmax({dim})",
    "x.float().log_softmax({dim})",
    "x.sum()",
    "x.amin()",
    "x.all()",
    "x.float().mean()",
    "x.argmax().ndim",
    "T.sum(x, {dims}, keepdim={keep}, out=T.empty(0, dtype=x.dtype))",
    "T.amax(x, {dims}, keepdim={keep}, out=T.empty(0, dtype=x.dtype))",
    "x.float().sort(dim={dim}, stable=True)",
    "x.float().cumsum({dim}).sum({dims})",
    "x.count_nonzero({dim})",
    "T.linalg.vector_norm(x.float(), 2, {dims}, {keep})",
]


def copying(choose: random.Random) -> Case:
    """Copies and new tensors like one."""
    make = Tensors(choose)
    tensors = {"x": make.tensor(make.shape())}
    form = choose.choice(FORMATS)
    expression = choose.choice(COPIES).format(form=form, dtype=choose.choice(DTYPES))
    return Case(tensors, expression)


FORMATS = [f"T.{name}" for name in ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")]
COPIES = [
    "x.clone()",
    "x.clone(memory_format={form})",
    "x.contiguous()",
    "x.contiguous(memory_format={form})",
    "x.contiguous(memory_format={form}) is x",
    "x.to(memory_format={form})",
    "x.to(memory_format={form}) is x",
    "x.to(T.{dtype})",
    "x.to(T.{dtype}) is x",
    "x.to(T.{dtype}, memory_format={form})",
    "x.to(T.{dtype}, copy=True)",
    "x.to(T.{dtype}, copy=True, memory_format={form}).is_contiguous()",
    "T.empty_like(x).stride()",
    "T.empty_like(x, dtype=T.{dtype}).stride()",
    "T.empty_like(x, memory_format={form}).stride()",
    "T.zeros_like(x)",
    "T.zeros_like(x, memory_format={form})",
    "T.ones_like(x, dtype=T.{dtype})",
    "T.full_like(x, 1, memory_format={form})",
    "T.rand_like(x, dtype=T.float32).stride()",
    "T.randn_like(x, dtype=T.float32, memory_format={form}).stride()",
    "T.randint_like(x.real, 1).stride()",
    "x.new_zeros((2, 3)).stride()",
    "x.is_contiguous(), x.is_contiguous(memory_format={form})",
    "x.float().type(T.float64)",
    "x.double()",
    "x.bool()",
    "x.half()",
    "x.reshape(-1)",
    "x.ravel()",
    "x.flatten()",
    "x.mT.contiguous() if x.ndim > 1 else x",
    "x.untyped_storage().nbytes(), x.clone().untyped_storage().nbytes()",
    "x.flip(tuple(range(x.ndim)))",
    "x.repeat(2, *[2] * x.ndim)",
    "x.roll(1, 0) if x.ndim else x",
    "x.tril() if x.ndim > 1 else x",
    "x.squeeze()",
    "x.unsqueeze(0)",
    "x.movedim(0, -1)",
    "x[..., 0] if x.ndim and x.size(-1) else x",
    "x[:1] if x.ndim else x",
    "x.unfold(0, 1, 1) if x.ndim else x",
    "x.diagonal() if x.ndim > 1 else x",
    "x.view(x.shape)",
    "x.expand(2, *x.shape)",
    "x.detach()",
    "x.t() if x.ndim < 3 else x.swapaxes(0, 2)",
    "x.split(1)[-1] if x.ndim and len(x) else x",
    "x.unbind(0) if x.ndim else x",
    "x.gather(0, T.zeros(x.shape, dtype=T.int64)) if x.ndim and len(x) else x",
    "x.index_select(0, T.tensor([0])) if x.ndim and len(x) else x",
]


def writing(choose: random.Random) -> Case:
    """copy_, in-place ops and `out=`: into one layout from another."""
    make = Tensors(choose)
    shape = make.shape()
    dtypes = choose.choice([("float32", "float32"), (choose.choice(DTYPES), choose.choice(DTYPES))])
    target = choose.choice([each for each in LAYOUTS if each is not odd_strides])  # an overlap makes the order matter
    tensors = {"x": target(make, shape, dtypes[0]), "y": make.tensor(make.broadcastable(shape), dtypes[1])}
    return Case(tensors, choose.choice(WRITES))


WRITES = [
    "x.copy_(y)",
    "x.copy_(y)",
    "x.clone().copy_(y)",
    "x.copy_(x)",
    "x.add_(y)",
    "x.mul_(y)",
    "x.mul_(2)",
    "x.zero_()",
    "x.fill_(1)",
    "x.neg_()",
    "x.relu_()",
    "x.clamp_(0, 1)",
    "x.masked_fill_(y.bool(), 1)",
    "x.sub_(x)",
    "x.exp_()",
    "x.float().addcmul_(y.float(), y.float())",
    "T.add(y, 1, out=x)",
    "T.mul(y, y, out=x)",
    "T.neg(y, out=x)",
    "T.sum(y, 0, out=x) if y.ndim else y",
    "T.cat([y, y], out=x) if y.ndim else y",
    "T.where(y.bool(), y, y, out=x)",
    "x.lerp_(y, 0.5)",
    "x.eq_(y)",
    "x.sqrt_()",
]


def joining(choose: random.Random) -> Case:
    make = Tensors(choose)
    shape = make.shape(1)
    dtype = choose.choice([None, "float32", "float32"])
    tensors = {name: make.tensor(shape, dtype) for name in "xyz"}
    dim = choose.randint(-len(shape), len(shape) - 1)
    return Case(tensors, choose.choice(JOINS).format(dim=dim))


JOINS = [
    "T.cat([x, y], {dim})",
    "T.cat([x, y, z], {dim})",
    "T.cat([x], {dim})",
    "T.stack([x, y], {dim})",
    "T.stack([x, y, z], {dim})",
    "T.stack([x])",
    "T.hstack([x, y])",
    "T.vstack([x, y])",
    "T.where(x.bool(), y, z)",
    "T.cat([x, T.empty(0), y], {dim})",
    "T.cat([x, y], {dim}, out=T.empty(0, dtype=T.complex64))",
]


def images(choose: random.Random) -> Case:
    """What networks do with batches of images, which may be in a channels-last format."""
    channels, height, width = choose.choice([1, 2, 4]), choose.choice([1, 2, 4]), choose.choice([2, 3, 4])
    make = Tensors(choose)
    shape = (choose.choice([1, 2, 3]), channels, height, width)
    layout = choose.choice([channels_last, channels_last, permuted, plain, stepped])
    tensors = {"x": layout(make, shape, "float32"), "w": make.tensor((2, channels, 1, 2), "float32")}
    return Case(tensors, choose.choice(IMAGES))


IMAGES = [
    "F.conv2d(x, w)",
    "F.conv2d(x, w, T.ones(2), padding=1)",
    "F.conv2d(x, w, stride=2, padding=(0, 1))",
    "F.conv2d(x, w, dilation=(1, 1)).relu()",
    "F.conv_transpose2d(x, w.transpose(0, 1))",
    "F.max_pool2d(x, (1, 2))",
    "F.max_pool2d(x, (1, 2), return_indices=True)",
    "F.avg_pool2d(x, (1, 2), 1)",
    "F.adaptive_avg_pool2d(x, 1)",
    "F.adaptive_avg_pool2d(x, (1, 2))",
    "F.adaptive_max_pool2d(x, (1, 2))",
    "F.batch_norm(x, None, None, None, None, True)",
    "F.batch_norm(x, T.zeros(x.size(1)), T.ones(x.size(1)))",
    "F.group_norm(x, 1)",
    "F.instance_norm(x + T.arange(x.size(3)).float())",
    "F.interpolate(x, scale_factor=2)",
    "F.interpolate(x, size=(3, 5), mode='bilinear')",
    "F.pad(x, (1, 1, 0, 1))",
    "F.pad(x, (1, 1), mode='replicate')",
    "F.dropout(x, 0.0)",
    "F.layer_norm(x, x.shape[-1:])",
    "F.softmax(x, 1)",
    "x.mean((2, 3), keepdim=True)",
    "x.sum(1, keepdim=True)",
    "x + T.ones(x.size(1), 1, 1)",
    "x * x.mean((2, 3), keepdim=True)",
    "T.cat([x, x], 1)",
    "F.conv1d(x[:, :, 0], w[:, :, 0])",
    "x.flatten(2).transpose(1, 2)",
]
IMAGES = [
    each for each in IMAGES if hasattr(mindtorch.nn.functional, each[2:].split("(")[0]) or not each.startswith("F.")
]

KINDS: dict[str, Callable[[random.Random], Case]] = {
    each.__name__: each for each in (pointwise, reduction, copying, writing, joining, images)
}


def differences(kind: str, seed: int, count: int) -> list[str]:
    """What differs in the cases of one seed."""
    choose = random.Random(f"{kind} {seed}")
    found = (first_difference(KINDS[kind](choose)) for _ in range(count))
    return [each for each in found if each is not None]


if __name__ == "__main__":
    for number in range(int(sys.argv[2]), int(sys.argv[2]) + int(sys.argv[3])):
        sys.stdout.write("\n\n".join([*differences(sys.argv[1], number, 100), ""]))
