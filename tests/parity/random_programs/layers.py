"""The statements of random programs that are about neural networks, linear algebra, picking and joining."""

from typing import Any

from tests.parity.random_programs.differences import is_differentiable
from tests.parity.random_programs.runs import is_leaf, observed
from tests.parity.random_programs.writer import LAYOUTS, Writer, statement

ACTIVATIONS = (
    "gelu() silu() softplus() leaky_relu() elu() hardtanh() relu6() hardswish() mish() "
    "selu() celu() softsign() tanhshrink() threshold(0.5,2.0) relu(inplace=True) normalize(dim=-1) "
    "hardtanh(inplace=True) leaky_relu(0.3,inplace=True) gelu(approximate='tanh') dropout(training=False)"
).split()
MORE_UNARY = (
    "exp2 log2 log10 asin acos atan sinh cosh tan erfc asinh acosh atanh logit isinf nan_to_num sinc deg2rad "
    "rad2deg digamma lgamma erfinv isposinf isneginf i0"
).split()
LOSSES = "mse_loss l1_loss smooth_l1_loss binary_cross_entropy_with_logits kl_div".split()
REDUCTIONS = ["'mean'", "'sum'", "'none'"]


@statement(5)
def activation(w: Writer) -> str:
    name, arguments = w.pick(ACTIVATIONS).split("(", 1)
    given = w.name(is_differentiable)
    return f"{w.new()} = T.nn.functional.{name}({given}{', ' if arguments != ')' else ''}{arguments}"


@statement(4)
def more_unary(w: Writer) -> str:
    return f"{w.new()} = T.{w.pick(MORE_UNARY)}({w.name()})"


@statement(6)
def of_three(w: Writer) -> str:
    """Three operands that broadcast, also into one of them or into `out`."""
    name, one = w.name(), w.name()
    calls = [
        f"T.where({one} > 0, {name}, {w.partner(name)})",
        f"T.lerp({name}, {w.partner(name)}, {w.partner(name)})",
        f"T.addcmul({name}, {w.partner(name)}, {w.partner(name)}, value=0.5)",
        f"T.addcdiv({name}, {w.partner(name)}, {w.partner(name)}, value=2)",
        f"{name}.clamp({w.partner(name)}, {w.partner(name)})",
        f"{name}.lerp_({w.source(name)}, {w.source(name)})",
        f"{name}.addcdiv_({w.source(name)}, {w.source(name)})",
        f"{name}.addcmul_({w.source(name)}, {w.source(name)}, value=-1)",
        f"T.addcmul({name}, {w.partner(name)}, {w.partner(name)}, out=T.empty(0, dtype={name}.dtype))",
        f"T.lerp({name}, {w.partner(name)}, 0.5, out=T.empty(0, dtype={name}.dtype))",
    ]
    return f"{w.new()} = {w.pick(calls)}"


@statement(5)
def several_views(w: Writer) -> str:
    """All outputs of a function that gives several views."""
    name = w.name()
    dim = w.dim(name)
    size = w.env[name].shape[dim] if -w.env[name].ndim <= dim < w.env[name].ndim else 1
    half = w.random.randint(0, size)
    calls = [
        f"chunk(2, {dim})",
        f"split({max((size + 1) // 2, 1)}, {dim})",
        f"split([{half}, {size - half}], {dim})",
        f"tensor_split([{half}], {dim})",
        f"unbind({dim})",
    ]
    return f"{w.new()}, {w.new()} = {name}.{w.pick(calls)}"


@statement(6)
def softmax_family(w: Writer) -> str:
    name = w.name(is_differentiable)
    dim = w.dim(name)
    calls = [
        f"softmax({dim})",
        f"log_softmax({dim})",
        f"logsumexp({dim}, {w.chance(0.5)})",
        f"logcumsumexp({dim})",
        f"softmax({dim}, dtype=T.float64)",
        f"norm(2, {dim})",
        f"norm({w.pick(['1', '0', 'T.inf', '3', '0.5'])})",
        f"var({dim}, unbiased={w.chance(0.5)})",
        f"std({dim}, keepdim=True)",
        "norm()",
        f"cumprod({dim})",
        f"diff(dim={dim})",
    ]
    return f"{w.new()} = {name}.{w.pick(calls)}"


@statement(6)
def picking(w: Writer) -> str:
    name = w.name(lambda tensor: tensor.ndim > 0)
    dim = w.dim(name)
    size = max(w.env[name].shape[dim] if -w.env[name].ndim <= dim < w.env[name].ndim else 1, 1)
    index = f"T.tensor({[w.random.randint(0, size - 1) for _ in range(2)]})"
    mask = f"({w.name(lambda tensor: tensor.shape == w.env[name].shape)} > 0)"
    calls = [
        f"index_select({dim}, {index})",
        f"index_fill({dim}, {index}, 2)",
        f"index_copy({dim}, {index}, {name}.index_select({dim}, {index}) * 2)",
        f"index_add({dim}, {index}, {name}.index_select({dim}, {index}), alpha=2)",
        f"index_put((T.tensor([0, -1, 0]),), {name}[0] * 2, accumulate=True)",
        f"masked_scatter({mask}, {name} * 3)",
        f"masked_select({mask})",
        "take(T.tensor([0, -1, 0]))",
        f"topk(1, {dim})[0]",
        f"sort({dim}, descending=True)[0]",
        f"scatter({dim}, T.zeros_like({name}, dtype=T.int64), {name})",
        f"select_scatter({name}.select({dim}, 0) * 2, {dim}, -1)",
        f"slice_scatter({name}.narrow({dim}, 0, 1) * 2, {dim}, 0, 1)",
        f"scatter_reduce({dim}, T.zeros_like({name}, dtype=T.int64), {name}, {w.pick(['amax', 'sum', 'mean'])!r})",
        f"diag({w.random.randint(-1, 1)})",
        f"diag_embed({w.random.randint(-1, 1)})",
        "tile((2, 1))",
        f"index_fill_({dim}, {index}, 0)",
        f"masked_fill_({mask}, 1)",
        f"index_add_({dim}, {index}, {name}.index_select({dim}, {index}))",
        f"index_put_((T.tensor([0, -1, 0]),), {name}[0] * 2, accumulate=True)",
        f"scatter_({dim}, T.zeros_like({name}, dtype=T.int64), 1)",
        f"scatter_add_({dim}, T.zeros_like({name}, dtype=T.int64), {name} * 1)",
        f"index_copy_({dim}, {index}, {name}.index_select({dim}, {index}) * 2)",
    ]
    return f"{w.new()} = {name}.{w.pick(calls)}"


@statement(3)
def joining(w: Writer) -> str:
    name = w.name()
    shape = w.env[name].shape
    other = w.name(lambda tensor: tensor.shape == shape)
    any_other = w.name(lambda tensor: tensor.ndim == len(shape))
    calls = [
        f"T.hstack([{name}, {other}])",
        f"T.vstack([{name}, {any_other}])",
        f"T.dstack([{name}, {other}])",
        f"T.cat([{name}, {any_other}, {name}], {w.dim(name)})",
        f"T.stack([{name}, {other}, {name}], {w.dim(name)})",
        f"T.broadcast_tensors({name}, {w.name()})[0]",
    ]
    return f"{w.new()} = {w.pick(calls)}"


@statement(8)
def linear_algebra(w: Writer) -> str:
    name = w.name(lambda tensor: tensor.ndim == 2)
    tensor = w.env[name]
    dtype, inner = tensor.dtype, tensor.shape[-1] if tensor.ndim else 1
    right = w.name(lambda t: t.ndim == 2 and t.dtype == dtype and t.shape[0] == inner)
    vector = w.name(lambda t: t.ndim == 1 and t.dtype == dtype and t.shape[0] == inner)
    flat = w.name(lambda t: t.ndim == 1)
    cube = w.name(lambda t: t.ndim == 3)
    regular = f"({name} @ {name}.mT + 9 * T.eye({name}.shape[-2], dtype={name}.dtype))"
    calls = [
        f"{name}.mm({right})",
        f"{name}.mv({vector})",
        f"T.addmm({w.pick(NUMBER_TENSORS)}.to({name}.dtype), {name}, {right}, beta=0.5, alpha=2)",
        f"T.addmv({w.pick(NUMBER_TENSORS)}.to({name}.dtype), {name}, {vector})",
        f"{flat}.dot({flat})",
        f"{flat}.outer({flat})",
        f"T.einsum('ij,jk->ik', {name}, {right})",
        f"T.einsum('ij->ji', {name})",
        f"T.einsum('ij,ij->i', {name}, {name})",
        f"T.tensordot({name}, {right}, 1)",
        f"{cube}.bmm({cube}.mT)",
        f"T.baddbmm({cube}, {cube}, {cube}.mT @ {cube})",
        f"{cube} @ {cube}.mT",
        f"{name} @ {name}.mT",
        f"T.matmul({name}, {vector})",
        f"T.linalg.vector_norm({name}, 2, {w.dim(name)})",
        f"T.linalg.norm({name})",
        f"T.linalg.matrix_norm({name}, {w.pick(['1', 'T.inf', chr(39) + 'fro' + chr(39)])})",
        f"T.linalg.inv({regular})",
        f"T.linalg.det({regular}.to(T.float64))",
        f"T.linalg.solve({regular}, {name})",
        f"T.nn.functional.linear({name}, {name})",
        f"T.nn.functional.linear({cube}, T.ones(2, {cube}.shape[-1], dtype={cube}.dtype))",
        f"{name}.addmm_({name}, T.eye({name}.shape[-1], dtype={name}.dtype))",
        f"T.mm({name}, {right}, out=T.empty(0, dtype={name}.dtype))",
    ]
    return f"{w.new()} = {w.pick(calls)}"


NUMBER_TENSORS = ["T.ones(1)", "T.tensor(2.0)"]


def weight(w: Writer, dtype: Any, *shape: int) -> str:
    """A new parameter of a layout of its own."""
    layout = w.pick(list(LAYOUTS))
    return f"make({shape}, {str(dtype).removeprefix('torch.')!r}, {layout!r}, {w.random.randint(0, 99)}, True)"


@statement(8)
def layer(w: Writer) -> str:
    """Convolutions, pools and norms of whatever has three or four dimensions."""
    name = w.name(lambda tensor: tensor.ndim in (3, 4) and is_differentiable(tensor))
    tensor = w.env[name]
    dtype, n = tensor.dtype, tensor.ndim - 2
    channels = tensor.shape[1] if tensor.ndim > 1 else 1
    if n not in (1, 2) or not is_differentiable(tensor) or not tensor.numel():
        return None
    last = tensor.shape[-1]
    kernel = [2] * n
    bounded = f"T.sigmoid({name})"
    # In double precision: of equal numbers, what is left of the mean is noise, which is then divided by its size.
    wide, double = f"{name}.to(T.complex128 if {name}.is_complex() else T.float64)", (
        "complex128" if tensor.is_complex() else "float64"
    )
    calls = [
        f"conv{n}d({name}, {weight(w, dtype, 2, channels, *kernel)}, stride=1, padding={w.random.randint(0, 2)})",
        f"conv{n}d({name}, {weight(w, dtype, 2, channels, *kernel)}, {weight(w, dtype, 2)}, padding='same')",
        f"conv{n}d({name}, {weight(w, dtype, channels, 1, *kernel)}, groups={channels}, dilation=2, padding=2)",
        f"conv_transpose{n}d({name}, {weight(w, dtype, channels, 2, *kernel)}, stride=2)",
        f"max_pool{n}d({name}.contiguous(), 2, 1)",
        f"max_pool{n}d({name}.contiguous(), 2, 2, 1)",
        f"avg_pool{n}d({name}, 2, 1)",
        f"avg_pool{n}d({name}, 2, 2, 1, count_include_pad=False)",
        f"adaptive_avg_pool{n}d({name}, 2)",
        f"adaptive_max_pool{n}d({name}, 1)",
        f"batch_norm({wide}, None, None, training=True)",
        f"batch_norm({wide}, None, None, {weight(w, double, channels)}, {weight(w, double, channels)}, training=True)",
        f"instance_norm({wide})",
        f"group_norm({wide}, 1, {weight(w, double, channels)})",
        f"layer_norm({wide}, [{last}], {weight(w, double, last)})",
        f"layer_norm({wide}, [{tensor.shape[-2]}, {last}])",
        f"pad({name}, (1, 2), value=0.5)",
        (
            f"pad({name}, (1, 1), mode={w.pick(['reflect', 'replicate'])!r})"
            if n == 1
            else f"pad({name}, (1, 1, 1, 0), mode='reflect')"
        ),
        f"interpolate({name}, scale_factor=2)",
        f"scaled_dot_product_attention({bounded}, {bounded}, {bounded}).clone()",
        f"lp_pool{n}d({name}, 2, 2)",
    ]
    return f"{w.new()} = T.nn.functional.{w.pick(calls)}"


@statement(5)
def loss(w: Writer) -> str:
    name = w.name(is_differentiable)
    shape = w.env[name].shape
    other = w.name(lambda tensor: tensor.shape == shape and is_differentiable(tensor))
    classes = f"T.zeros({name}.shape[:1] + {name}.shape[2:], dtype=T.int64)"
    reduction = w.pick(REDUCTIONS)
    calls = [f"{w.pick(LOSSES)}({name}, {other}, reduction={reduction})"] * 3 + [
        f"cross_entropy({name}, {classes}, reduction={reduction})",
        f"cross_entropy({name}, {classes}, label_smoothing=0.1, ignore_index=0)",
        f"cross_entropy({name}, {other}, reduction={reduction})",
        f"nll_loss({name}, {classes}, reduction={reduction})",
    ]
    return f"{w.new()} = T.nn.functional.{w.pick(calls)}"


@statement(1)
def lookup(w: Writer) -> str | None:
    name = w.name(lambda tensor: tensor.ndim == 2 and tensor.is_floating_point())
    if w.env[name].ndim != 2 or not w.env[name].is_floating_point():
        return None
    return f"{w.new()} = T.nn.functional.embedding(T.tensor([[0, {max(len(w.env[name]) - 1, 0)}]]), {name})"


@statement(5)
def higher_order(w: Writer) -> str:
    """A gradient that goes on being part of the graph."""
    name = w.name(lambda tensor: observed(is_leaf, tensor) is False and is_differentiable(tensor))
    leaf = w.name(lambda tensor: tensor.requires_grad)
    weights = w.pick([f"{name}.detach()", f"T.ones_like({name})", f"{name} * 2"])
    gradient = f"T.autograd.grad({name}, {leaf}, {weights}, create_graph=True, materialize_grads=True)[0]"
    # A copy: which gradients are views, and their strides, do not matter as long as they are not in `.grad`.
    return f"{w.new()} = {gradient}.clone(memory_format=T.contiguous_format)"
