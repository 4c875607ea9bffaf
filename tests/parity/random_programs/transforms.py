"""The statements of random programs that are about transforms of functions: forward mode, vmap, higher derivatives."""

from typing import Any

from tests.parity.random_programs.differences import is_differentiable
from tests.parity.random_programs.writer import Writer, further_statement

# Functions of a tensor `a`; most take any shape that has a dimension.
FUNCTIONS = (
    "a.sin() * a;a.softmax(-1);a.cumsum(0);a.unsqueeze(-1) + a.sum();a.exp().sum(-1);a.sort(-1)[0];a.var(-1);"
    "a.prod();T.where(a > 0, a, a * 2);a.max();a.amax(0);a.logsumexp(-1);a.flip(0);T.cat([a, a]);"
    "a.index_select(0, T.tensor([0]));a.norm();T.nn.functional.gelu(a);a.clamp(-1, 1);a.abs().sqrt();"
    "a.reshape(-1);a.mT @ a;a[0] * a;a ** 2;a ** 1.5;a.masked_fill(a > 0, 3);a.roll(1, 0);a.cumprod(0);"
    "a.mean(0, keepdim=True) / a;a.diff();a.tril();a.log_softmax(0);T.stack([a, a * 2], -1);a.reciprocal();"
    "a.pow(a);a.median(-1)[0];a.std();a.squeeze();a.expand(2, *a.shape);a.atan2(a.detach() + 1);a.fmod(2);"
    "a.lerp(a * 2, 0.3);T.addcmul(a, a, a);a.gather(0, T.zeros_like(a, dtype=T.int64));"
    "T.outer(a.reshape(-1), a.reshape(-1));a.narrow(0, 0, 1).tanh();a.nan_to_num();T.nn.functional.elu(a);"
    "a.chunk(2)[0];T.nn.functional.layer_norm(a, a.shape[-1:]);a.sigmoid().log();"
    "T.nn.functional.normalize(a, dim=-1);a.diagonal();a.scatter(0, T.zeros_like(a, dtype=T.int64), a);"
    "a.copysign(a);T.einsum('...i->...', a);a.logcumsumexp(0);a.relu();T.nn.functional.pad(a, (1, 2));"
    "a.view_as(a);a.unfold(0, 1, 1);a.repeat_interleave(2);a.square().mean()"
).split(";")

# Only the values are compared: what is known to be constant, and its strides, does not matter.
PLAIN = ".detach().clone(memory_format=T.contiguous_format)"


def _variable(w: Writer) -> str | None:
    """A tensor that functions can be differentiated at. Of narrow dtypes, little more than rounding is left by second
    derivatives."""
    name = w.name(lambda tensor: is_differentiable(tensor) and 0 < tensor.ndim < 3 and tensor.numel() > 0)
    tensor = w.env[name]
    return name if is_differentiable(tensor) and tensor.numel() <= 12 and tensor.element_size() > 2 else None


def _number_of(function: str, tensor: Any) -> str:
    """A function whose value is one real number.

    Behind an `abs`, which complex ones need, torch's gradients of gradients are zero tensors that hide the nan and the
    infinities of the nodes behind them.
    """
    return f"({function}).{'abs()' if tensor.is_complex() else 'square()'}.sum()"


def _gradient_of(function: str, tensor: Any) -> str:
    return f"T.func.grad(lambda a: {_number_of(function, tensor)})"


@further_statement(5)
def forward_mode(w: Writer) -> str | None:
    name = _variable(w)
    if name is None:
        return None
    function, tangent = w.pick(FUNCTIONS), w.pick([f"T.ones_like({name})", f"{name}.detach() * 2"])
    calls = [
        f"T.func.jvp(lambda a: {function}, ({name},), ({tangent},))[1]",
        f"T.func.jvp({_gradient_of(function, w.env[name])}, ({name},), ({tangent},))[1]",
        f"T.func.vjp(lambda a: {function}, {name})[1](T.ones_like((lambda a: {function})({name})))[0]",
    ]
    return f"{w.new()} = ({w.pick(calls)}){PLAIN}"


@further_statement(5)
def mapped(w: Writer) -> str | None:
    name = _variable(w)
    if name is None or w.env[name].ndim < 2:  # a sample has a dimension, too
        return None
    function, dim = w.pick(FUNCTIONS), w.random.randint(0, w.env[name].ndim - 1)
    calls = [
        f"T.vmap(lambda a: {function}, in_dims={dim}, out_dims={w.pick([0, 0, -1])})({name})",
        f"T.vmap({_gradient_of(function, w.env[name])})({name})",
        f"T.vmap(lambda a, b: {function} + b.sum(), in_dims=({dim}, None))({name}, {w.name(_is_small)})",
        f"T.func.jacrev(lambda a: {function})({name})",
        f"T.func.jacfwd(lambda a: {function})({name})",
        f"T.func.hessian(lambda a: {_number_of(function, w.env[name])})({name})",
    ]
    return f"{w.new()} = ({w.pick(calls)}){PLAIN}"


@further_statement(4)
def second_derivative(w: Writer) -> str | None:
    name = _variable(w)
    if name is None:
        return None
    function, tensor = w.pick(FUNCTIONS), w.env[name]
    first = f"T.autograd.grad({_number_of(function, tensor)}, a, create_graph=True)[0]"
    second = f"T.autograd.grad({_number_of(f'{first} * a.detach()', tensor)}, a, materialize_grads=True)[0]"
    return f"{w.new()} = (lambda a: {second})({name}.detach().requires_grad_()){PLAIN}"


def _is_small(tensor: Any) -> bool:
    return 0 < tensor.numel() <= 12
