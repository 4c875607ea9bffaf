"""The statements of random programs that are about tensors, views, writes and autograd."""

from typing import Any

from tests.parity.random_programs.differences import is_differentiable
from tests.parity.random_programs.runs import is_leaf, observed
from tests.parity.random_programs.writer import (
    COMMON_DTYPES,
    DTYPES,
    LAYOUTS,
    NUMBERS,
    SHAPES,
    Writer,
    expands,
    statement,
)

UNARY = (
    "neg abs exp sin cos tanh sigmoid relu square sqrt rsqrt log log1p expm1 reciprocal sign floor ceil round trunc "
    "erf atan sgn frac positive logical_not bitwise_not angle isnan isfinite signbit clone contiguous"
).split()
UNARY_IN_PLACE = (
    "neg_ abs_ exp_ sin_ cos_ tanh_ sigmoid_ relu_ square_ sqrt_ floor_ round_ zero_ reciprocal_ sign_ log_ trunc_ "
    "logical_not_ bitwise_not_ erf_ expm1_"
).split()
BINARY = (
    "add sub mul div maximum minimum atan2 fmod remainder floor_divide eq ne lt le gt ge logical_and logical_or "
    "logical_xor bitwise_and bitwise_or bitwise_xor hypot copysign fmax fmin"
).split()
OPERATORS = "+ - * / // % == < >= & | ^ **".split()
BINARY_IN_PLACE = (
    "add_ sub_ mul_ div_ copy_ eq_ gt_ le_ logical_and_ bitwise_or_ fmod_ remainder_ floor_divide_ atan2_ copysign_"
).split()
REDUCTIONS = "sum mean prod amax amin any all argmax argmin std var nansum".split()
OVER_DIMS = "sum mean amax amin any all nansum".split()
ALONG = (
    "cumsum cumprod softmax log_softmax logsumexp max min sort flip cummax cummin median argsort diff "
    "unbind squeeze unsqueeze sum mean"
).split()


@statement(6)
def leaf(w: Writer) -> str:
    dtype = w.pick(DTYPES if w.chance(0.3) else COMMON_DTYPES)
    shape = w.pick(SHAPES)
    layout = "plain" if w.chance(0.3) else w.pick(list(LAYOUTS))
    requires_grad = w.chance(0.6) and ("float" in dtype or "complex" in dtype)
    return f"{w.new()} = make({shape}, {dtype!r}, {layout!r}, {w.random.randint(0, 99)}, {requires_grad})"


@statement(6)
def unary(w: Writer) -> str:
    return f"{w.new()} = {w.name()}.{w.pick(UNARY)}()"


@statement(8)
def binary(w: Writer) -> str:
    name = w.name()
    return f"{w.new()} = T.{w.pick(BINARY)}({name}, {w.partner(name)})"


@statement(8)
def operator(w: Writer) -> str:
    name = w.name()
    sides = [name, w.partner(name)]
    w.random.shuffle(sides)
    return f"{w.new()} = {sides[0]} {w.pick(OPERATORS)} {sides[1]}"


@statement(6)
def binary_with_alpha(w: Writer) -> str:
    name = w.name()
    options = [
        f"T.add({name}, {w.partner(name)}, alpha=2)",
        f"T.lerp({name}, {w.source(name)}, 0.5)",
        f"T.addcmul({name}, {w.source(name)}, {w.source(name)}, value=2)",
        f"T.rsub({name}, {w.partner(name)})",
        f"T.where({name} > 0, {name}, {w.partner(name)})",
        f"{name}.masked_fill({name} != 0, {w.pick(NUMBERS)})",
        f"{name}.clamp({w.pick(NUMBERS)}, {w.pick(NUMBERS)})",
        f"T.div({name}, {w.partner(name)}, rounding_mode='floor')",
        f"{name}.clamp_min({w.pick(NUMBERS)})",
    ]
    return f"{w.new()} = {w.pick(options)}"


@statement(6)
def unary_in_place(w: Writer) -> str:
    return f"{w.name()}.{w.pick(UNARY_IN_PLACE)}()"


@statement(10)
def binary_in_place(w: Writer) -> str:
    name = w.name()
    return f"{name}.{w.pick(BINARY_IN_PLACE)}({w.source(name)})"


@statement(4)
def augmented(w: Writer) -> str:
    name = w.name()
    return f"{name} {w.pick(['+=', '*=', '-=', '/='])} {w.source(name)}"


@statement(4)
def other_in_place(w: Writer) -> str:
    name, number = w.name(), w.pick(NUMBERS)
    calls = [
        f"fill_({number})",
        f"clamp_({number}, 2)",
        f"masked_fill_({name} > 0, {number})",
        "tril_()",
        "triu_(1)",
        f"addcmul_({w.source(name)}, {w.source(name)}, value=0.5)",
        f"lerp_({w.source(name)}, 0.25)",
        f"add_({w.source(name)}, alpha=2)",
        f"clamp_min_({number})",
        "t_()" if w.env[name].ndim < 3 else "squeeze_()",
        "squeeze_()",
        "unsqueeze_(0)",
        f"transpose_({w.dim(name)}, {w.dim(name)})",
        f"pow_({w.pick('123')})",
        f"fill_diagonal_({number})",
        f"cumsum_({w.dim(name)})",
        "swapaxes_(0, -1)",
    ]
    return f"{name}.{w.pick(calls)}"


@statement(5)
def out_variant(w: Writer) -> str:
    name = w.name()
    shape = w.env[name].shape
    other = w.pick(NUMBERS) if w.chance(0.3) else w.name(lambda tensor: tensor.shape == shape)
    out = w.name(lambda tensor: tensor.shape == shape)
    into = f"T.empty(0, dtype={out}.dtype)"  # cat and reductions of a tensor into itself are not defined
    calls = [
        f"T.{w.pick(BINARY)}({name}, {other}, out={out})",
        f"T.{w.pick(UNARY[:20])}({name}, out={out})",
        f"T.sum({name}, dim={w.dims(name)}, out={into})",
        f"T.cat([{name}, {name}], {w.dim(name)}, out={into})",
        f"T.cumsum({name}, {w.dim(name)}, out={into})",
        f"T.amax({name}, dim={w.dims(name)}, out={into})",
    ]
    return f"{w.new()} = {w.pick(calls)}"


@statement(6)
def reduction(w: Writer) -> str:
    name = w.name()
    kind = w.random.random()
    if kind < 0.4:
        return f"{w.new()} = {name}.{w.pick(REDUCTIONS)}()"
    if kind < 0.7:
        return f"{w.new()} = {name}.{w.pick(REDUCTIONS)}({w.dim(name)}, {w.chance(0.5)})"
    return f"{w.new()} = {name}.{w.pick(OVER_DIMS)}(dim={w.dims(name)}, keepdim={w.chance(0.5)})"


@statement(4)
def along_a_dimension(w: Writer) -> str:
    name = w.name()
    call = w.pick(ALONG)
    dim = w.dim(name)
    picked = "[0]" if call in ("max", "min", "sort", "cummax", "cummin", "median", "unbind") else ""
    return f"{w.new()} = {name}.{call}({[dim] if call == 'flip' else dim}){picked}"


@statement(22)
def view(w: Writer) -> str:
    name = w.name()
    tensor = w.env[name]
    dim, numel = w.dim(name), tensor.numel()
    size = tensor.shape[dim] if -tensor.ndim <= dim < tensor.ndim else 1
    order = w.random.sample(range(tensor.ndim), tensor.ndim)
    shapes = [shape for shape in [(-1,), (1, -1), (2, -1), (-1, 3), (numel,), (2, 2, -1), (-1, 1, 2)] if numel]
    shape = w.pick(shapes or [tuple(tensor.shape)])
    start = w.random.randint(0, size)
    calls = [
        f"view{shape}",
        f"reshape{shape}",
        f"view({tuple(tensor.shape)})",
        f"transpose({dim}, {w.dim(name)})",
        f"permute({order})",
        f"expand(2, {', '.join(['-1'] * tensor.ndim)})" if tensor.ndim else "expand(2)",
        f"expand({', '.join(str(3 if n == 1 else n) for n in tensor.shape)})" if tensor.ndim else "expand(3, 2)",
        "squeeze()",
        f"squeeze({dim})",
        f"unsqueeze({dim})",
        f"select({dim}, {w.random.randint(-size, max(size - 1, 0))})",
        f"narrow({dim}, {start}, {size - start})",
        f"split({w.random.randint(1, 3)}, {dim})[-1]",
        f"chunk(2, {dim})[0]",
        f"unbind({dim})[0]",
        f"diagonal({w.random.randint(-1, 1)}, {dim}, {w.dim(name)})",
        f"unfold({dim}, {max(size - 1, 0)}, 1)",
        "detach()",
        "t()",
        "T",
        "mT",
        "flatten()",
        "real",
        "imag",
        f"as_strided({strided_shape(tensor)})",
        "view_as(T.empty(" + f"{tuple(tensor.shape)}))",
        "data",
        f"movedim({dim}, {w.dim(name)})",
        "swapaxes(0, -1)",
        f"unflatten({dim}, (-1, 1))",
        "view(T.int32)",
        f"tensor_split(2, {dim})[1]",
        "ravel()",
        f"expand_as({w.name()})",
        f"squeeze({tuple(w.dims(name))})",
        "H",
        f"select({dim}, 0)",
        "detach().requires_grad_()",
    ]
    call = w.pick(calls)
    if call == "H" and tensor.is_complex():
        return None
    return f"{w.new()} = {name}.{call}"


def strided_shape(tensor: Any) -> str:
    """Arguments of as_strided that stay inside the tensor's own elements."""
    ndim = tensor.ndim
    if not tensor.numel() or not ndim:
        return f"{tuple(tensor.shape)}, {tuple(tensor.stride())}"
    return f"({tensor.shape[0]},), ({tensor.stride(0)},), {tensor.storage_offset()}"


@statement(10)
def index_read(w: Writer) -> str:
    name = w.name()
    return f"{w.new()} = {name}[{w.index(name)}]"


@statement(14)
def index_write(w: Writer) -> str:
    name = w.name()
    index = w.index(name)
    try:
        target = eval(f"{name}.detach()[{index}]", dict(w.env))
        value = w.name(lambda tensor: expands(tensor.shape, target.shape))
    except (IndexError, RuntimeError, TypeError, ValueError):
        value = "1"
    value = w.pick(NUMBERS) if w.chance(0.4) else value
    return f"{name}[{index}] {w.pick(['=', '=', '=', '+=', '*='])} {value}"


@statement(6)
def join(w: Writer) -> str:
    name = w.name()
    shape = w.env[name].shape
    other = w.name(lambda tensor: tensor.shape == shape)
    # mindtorch keeps the order of dimensions in a stack of permuted tensors with a dimension of size 1; torch does not.
    kinds = ["cat", "stack"] if w.env[name].is_contiguous() else ["cat"]
    return f"{w.new()} = T.{w.pick(kinds)}([{name}, {other}], {w.dim(name)})"


@statement(4)
def product(w: Writer) -> str:
    name = w.name(lambda tensor: tensor.ndim in (1, 2, 3))
    tensor = w.env[name]
    inner = tensor.shape[-1] if tensor.ndim else 1
    other = w.name(
        lambda t: t.ndim > 0 and t.dtype == tensor.dtype and (t.shape[-2] if t.ndim > 1 else t.shape[0]) == inner
    )
    return f"{w.new()} = {name} @ {other}"


@statement(4)
def gather_and_scatter(w: Writer) -> str:
    name = w.name()
    dim = w.dim(name)
    index = f"T.zeros({tuple(w.env[name].shape)}, dtype=T.int64)"
    calls = [
        f"gather({dim}, {index})",
        f"index_select({dim}, T.tensor([0, -0]))",
        f"scatter({dim}, {index}, 1)",
        f"scatter_add({dim}, {index}, {name})",
        "tril()",
        f"roll(1, {dim})",
        f"repeat(2, {', '.join('1' * w.env[name].ndim) or 1})",
        "nonzero()",
        "triu()",
        f"index_add({dim}, T.tensor([0]), {name})",
        "repeat_interleave(2)",
        "flip([0])",
        "new_zeros(2)",
        "new_ones((1, 2))",
    ]
    return f"{w.new()} = {name}.{w.pick(calls)}"


@statement(6)
def convert(w: Writer) -> str:
    name = w.name()
    dtype = w.pick(DTYPES)
    calls = [
        f"to(T.{dtype})",
        "double()",
        f"to(T.{dtype}, copy=True)",
        "float()",
        f"type(T.{dtype})",
        f"to({w.name()})",
    ]
    return f"{w.new()} = {name}.{w.pick(calls)}"


@statement(3)
def like(w: Writer) -> str:
    function = w.pick(["zeros_like", "ones_like"])
    return f"{w.new()} = T.{function}({w.name()})"


@statement(6)
def autograd_setting(w: Writer) -> str:
    name = w.name(lambda tensor: not tensor._is_view())
    other = w.name(lambda tensor: tensor.shape == w.env[name].shape and tensor.dtype == w.env[name].dtype)
    lines = [
        f"{name}.requires_grad_()",
        f"{name}.requires_grad_(False)",
        f"{name}.detach_()",
        f"{name}.retain_grad()",
        f"{name}.requires_grad_()",
        f"{name}.data = {other}",
        f"{name}.register_hook(lambda grad: grad * 2)",
        f"{name}.register_hook(lambda grad: calls.append(grad.shape))",
        f"{name}.grad = None",
        f"{name}.retain_grad()",
        f"{name}.grad = {other}.detach()",
        f"{name}.data.mul_(2)",
        f"{name}.requires_grad = True",
        f"{w.new()} = {name}.grad",
    ]
    return w.pick(lines)


@statement(5)
def backward(w: Writer) -> str:
    name = w.name(lambda tensor: observed(is_leaf, tensor) is False and is_differentiable(tensor))
    loss = f"{name}.sum()" if not w.env[name].is_complex() else f"{name}.abs().sum()"
    options = w.pick(["", "", "retain_graph=True", "retain_graph=True", "create_graph=True"])
    leaf = w.name(lambda tensor: tensor.requires_grad)
    extra = f", {options}" if options else ""
    lines = [
        f"{loss}.backward({options})",
        f"{loss}.backward({options})",
        f"{name}.backward(T.ones_like({name}){extra})",
        f"{w.new()} = T.autograd.grad({loss}, {leaf}, allow_unused=True)[0].detach()",
        f"T.autograd.grad({loss}, {leaf}{extra})",
        f"{loss}.backward(inputs=[{leaf}]{extra})",
    ]
    return w.pick(lines)
