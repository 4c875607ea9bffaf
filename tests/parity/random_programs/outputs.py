"""The statements of random programs that are about where results go: several outputs, `out=`, writes through views."""

from tests.parity.random_programs.differences import is_differentiable
from tests.parity.random_programs.writer import NUMBERS, Writer, further_statement

FURTHER_LAYERS = (
    "softmin(dim=0) hardshrink() softshrink(0.25) logsigmoid() hardsigmoid() rrelu(training=False) "
    "elu_() relu_() threshold_(0.5,2.0) leaky_relu_(0.2) hardtanh_(-0.5,0.5) alpha_dropout(training=False) "
    "normalize(p=1,dim=0) softmax(dim=0,dtype=T.float64) tanhshrink() silu(inplace=True) mish(inplace=True)"
).split()
PAIRS = "huber_loss poisson_nll_loss cosine_similarity pairwise_distance".split()


@further_statement(5)
def several_results(w: Writer) -> str:
    name = w.name(lambda tensor: tensor.ndim > 0)
    dim = w.dim(name)
    calls = [
        f"T.sort({name}, dim={dim}, stable=True)",
        f"T.max({name}, {dim})",
        f"T.min({name}, {dim}, True)",
        f"T.median({name}, {dim})",
        f"T.cummax({name}, {dim})",
        f"T.cummin({name}, {dim})",
        f"T.aminmax({name}, dim={dim})",
        f"T.frexp({name})",
        f"T.broadcast_tensors({name}, {w.name()})",
        f"T.meshgrid({name}.flatten(), {name}.flatten(), indexing='ij')",
    ]
    return f"{w.new()}, {w.new()} = {w.pick(calls)}"


@further_statement(5)
def into_given(w: Writer) -> str:
    """Results written to a tensor without elements, which takes their shape, or to one that has it."""
    name = w.name()
    shape, dim = w.env[name].shape, w.dim(name)
    other = w.name(lambda tensor: tensor.shape == shape)
    out = w.pick([f"T.empty(0, dtype={name}.dtype)", f"T.zeros({tuple(shape)}, dtype={other}.dtype)", other])
    calls = [
        f"T.clamp({name}, {w.pick(NUMBERS)}, 2, out={out})",
        f"T.pow({name}, {w.pick(NUMBERS)}, out={out})",
        f"T.stack([{name}, {name}], {dim}, out=T.empty(0, dtype={other}.dtype))",
        f"T.matmul({name}, {name}, out=T.empty(0, dtype={name}.dtype))",
        f"T.index_select({name}, {dim}, T.tensor([0, 0]), out=T.empty(0, dtype={other}.dtype))",
        f"T.gather({name}, {dim}, T.zeros({tuple(shape)}, dtype=T.int64), out=T.empty(0, dtype={name}.dtype))",
        f"T.where({name} > 0, {name}, {w.source(name)}, out=T.empty(0, dtype={name}.dtype))",
        f"T.mean({name}, dim={w.dims(name)}, out=T.empty(0, dtype={name}.dtype))",
        f"T.std({name}, {dim}, out=T.empty(0, dtype={name}.dtype))",
        f"T.cumprod({name}, {dim}, out=T.empty(0, dtype={other}.dtype))",
        f"T.masked_select({name}, {name} > 0, out=T.empty(0, dtype={name}.dtype))",
        f"T.max({name}, {dim}, out=(T.empty(0, dtype={name}.dtype), T.empty(0, dtype=T.int64)))[0]",
        f"T.addmm({name}, {name}, {name}, out=T.empty(0, dtype={name}.dtype))",
        f"T.tril({name}, out=T.empty(0, dtype={name}.dtype))",
        f"T.argmax({name}, {dim}, out=T.empty(0, dtype=T.int64))",
        f"T.all({name}, {dim}, out=T.empty(0, dtype=T.{w.pick(['bool', 'uint8', 'int32'])}))",
        f"T.eq({name}, {w.source(name)}, out=T.empty(0, dtype={other}.dtype))",
    ]
    return f"{w.new()} = {w.pick(calls)}"


@further_statement(8)
def write_through_view(w: Writer) -> str:
    name = w.name(lambda tensor: tensor.ndim > 0)
    views = [
        f"{name}.mT",
        f"{name}[0]",
        f"{name}[::2]",
        f"{name}[..., -1]",
        f"{name}.diagonal()",
        f"{name}.view(-1)",
        f"{name}.real",
        f"{name}.unsqueeze(0)",
        f"{name}.flatten()",
        f"{name}.chunk(2)[0]",
        f"{name}.squeeze()",
        f"{name}.movedim(0, -1)",
        f"{name}.unfold(0, 1, 1)",
        f"{name}.detach()",
        f"{name}.select({w.dim(name)}, 0)",
    ]
    number = w.pick(NUMBERS)
    writes = [
        f"add_({number})",
        f"mul_({name}.sum())",
        "zero_()",
        "neg_()",
        f"copy_({w.name(lambda tensor: tensor.ndim == 0)})",
        f"fill_({number})",
        "sigmoid_()",
        f"clamp_(0, {number})",
        f"div_({number})",
        f"masked_fill_({w.name()} > 0, {number})",
        "cumsum_(-1)",
        "round_()",
        f"pow_({w.pick('234')})",
        "index_fill_(0, T.tensor([0]), 2)",
    ]
    return f"{w.new()} = {w.pick(views)}.{w.pick(writes)}"


@further_statement(5)
def further_layer(w: Writer) -> str:
    name = w.name(is_differentiable)
    if w.chance(0.4):
        other = w.name(lambda tensor: tensor.shape == w.env[name].shape and is_differentiable(tensor))
        return f"{w.new()} = T.nn.functional.{w.pick(PAIRS)}({name}, {other})"
    function, arguments = w.pick(FURTHER_LAYERS).split("(", 1)
    return f"{w.new()} = T.nn.functional.{function}({name}{', ' if arguments != ')' else ''}{arguments}"


@further_statement(5)
def numeric(w: Writer) -> str:
    name = w.name()
    dim = w.dim(name)
    other = w.name(lambda tensor: tensor.shape == w.env[name].shape)
    calls = [
        f"T.nn.functional.prelu({name}, T.tensor([0.25], dtype={name}.dtype))",
        f"T.xlogy({name}, {other})",
        f"T.logaddexp({name}, {w.partner(name)})",
        f"T.nextafter({name}, {other})",
        f"T.ldexp({name}, {other})",
        f"T.gcd({name}, {other})",
        f"T.bitwise_left_shift({name}, {w.pick('012')})",
        f"T.float_power({name}, {w.partner(name)})",
        f"T.true_divide({name}, {w.partner(name)})",
        f"T.div({name}, {w.partner(name)}, rounding_mode='trunc')",
        f"T.isclose({name}, {other})",
        f"T.complex({name}, {other})",
        f"T.polar({name}, {other})",
        f"T.view_as_real({name})",
        f"{name}.count_nonzero({dim})",
        f"{name}.nanmean({dim})",
        f"T.nanmedian({name}, {dim})[0]",
        f"T.trapezoid({name}, dim={dim})",
        f"T.rot90({name})",
        f"{name}.bincount()",
        f"T.searchsorted({name}, {other})",
        f"T.bucketize({name}, T.tensor([-1.0, 0.0, 2.0]))",
        f"T.kron({name}, {other})",
        f"T.cov({name})",
        f"T.renorm({name}, 2, {dim}, 1.5)",
        f"T.cdist({name}, {other})",
        f"T.histc({name}, 4, -2, 2)",
        f"T.cross({name}, {other}, dim={dim})",
        f"T.linalg.cholesky({name} @ {name}.mT + 9 * T.eye({name}.shape[-2], dtype={name}.dtype))",
        f"T.linalg.matrix_power({name}, 2)",
        f"T.fft.fft({name}, dim={dim})",
    ]
    return f"{w.new()} = {w.pick(calls)}"
