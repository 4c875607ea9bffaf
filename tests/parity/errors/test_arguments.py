"""Calls with arguments that don't fit: error types and texts, and the calls next to them that do work.

Both libraries run the same text. What isn't here: calls that Python refuses itself (too few, too many or unknown
arguments), whose texts are Python's, and wrong keyword arguments, which torch doesn't number.
"""

import numpy as np
import pytest
import torch

import mindtorch

FUNCTIONS = """
    torch.exp(3) ; torch.exp("a") ; torch.exp(None) ; torch.exp([x]) ; torch.exp(np.zeros(2)) ;
    torch.exp(x, out=3) ; torch.exp(x, out="a") ; torch.exp(x, x) ; torch.exp(x, foo=1)
    x.add(x, out=x) ; x.mul(x, out=x) ; x.sum(0, out=x) ; x.add(x, foo=1)
    torch.mm(x, 3)
    torch.add(x, "a") ; torch.add(x, None) ; torch.add(x, [1]) ; torch.add(x, x, alpha="s") ; torch.add(x, x, 2) ;
    torch.add("a", x) ; torch.add(x, x, out=(x,)) ; torch.add(3, x) ; torch.add(2, 3)
    torch.mul(x, "a") ; torch.mul(x, None) ; torch.mul(2, x) ; torch.mul(2, 3)
    torch.div(x, "a") ; torch.div(x, x, rounding_mode="x") ; torch.div(1, x)
    torch.cat([]) ; torch.cat(3) ; torch.cat(x) ; torch.cat([x, 2]) ; torch.cat([2, x]) ; torch.cat([x], "a") ;
    torch.cat([x], 1.5) ; torch.cat([x], out=3) ; torch.cat((x, None))
    torch.stack(x) ; torch.stack([]) ; torch.stack([x, 1]) ; torch.stack([x], 1.5) ; torch.stack(3)
    torch.transpose(x, 0, 1.5) ; torch.transpose(x, True, 0) ; torch.transpose(x, "a", "b") ;
    torch.transpose(3, 0, 1)
    torch.reshape(x, "x") ; torch.reshape(x, (1.5, 2)) ; torch.reshape(x, (2, 1.5)) ; torch.reshape(x, (2, "a")) ;
    torch.reshape(x, [2, None]) ; torch.reshape(x, 1.5) ; torch.reshape(x, None) ; torch.reshape(x, True) ;
    torch.reshape(3, (1,))
    torch.permute(x, (0, 1.5)) ; torch.permute(x, 1.5) ; torch.permute(x, (1.5, 0))
    torch.sum(x, "a") ; torch.sum(x, 1.5) ; torch.sum(x, (0, "a")) ; torch.sum(x, ("a", 0)) ; torch.sum(x, 0, 3) ;
    torch.sum(x, 0, "a") ; torch.sum(x, 0, dtype=3) ; torch.sum(x, dtype=3) ; torch.sum(3) ; torch.sum("a") ;
    torch.sum(x, 0, out=3)
    torch.mean(x, "a") ; torch.mean(x, 1.5) ; torch.mean(3)
    torch.max(x, "a") ; torch.max(x, 1.5) ; torch.max(x, 0, 3) ; torch.max(3)
    torch.min(x, "a")
    torch.argmax(x, "a") ; torch.argmax(x, 1.5) ; torch.argmax(x, 0, 3)
    torch.softmax(x, "a") ; torch.softmax(x, 1.5) ; torch.softmax(x)
    torch.log_softmax(x, "a")
    torch.cumsum(x, 1.5) ; torch.cumsum(x, "a")
    torch.any(x, keepdim=True) ; torch.all(x, keepdim=True) ; torch.any(x, None, True) ; torch.count_nonzero(x)
    torch.clamp(x, "a") ; torch.clamp(x, 0, "a") ; torch.clamp(x) ; torch.clamp(x, x, 1)
    torch.where(x) ; torch.where(x, 1) ; torch.where(x > 0, "a", x) ; torch.where(1, x, x) ;
    torch.where(x > 0, x, "a") ; torch.where(x, x, x)
    torch.pow("a", x) ; torch.pow(x, "a") ; torch.pow(x, None) ; torch.pow(2, 3) ; torch.pow(2, x)
    torch.eq(x, "a") ; torch.eq(1, x)
    torch.lt(x, "a") ; torch.lt(1, x)
    torch.sub(3, x)
    torch.remainder(2, x) ; torch.remainder(x, "a")
    torch.floor_divide(2, x)
    torch.true_divide(2, x)
    torch.logical_and(2, x)
    torch.atan2(2, x)
    torch.maximum(x, 2)
    torch.rsub(2, x) ; torch.rsub(x, 2)
    torch.matmul(x, 3) ; torch.matmul(3, x) ; torch.matmul(x, "a")
    torch.bmm(x, 1)
    torch.addmm(x, x, 3)
    torch.baddbmm(x, x, 1)
    torch.squeeze(x, "a") ; torch.squeeze(x, 1.5) ; torch.squeeze(3)
    torch.unsqueeze(x, "a") ; torch.unsqueeze(x) ; torch.unsqueeze(x, 1.5) ; torch.unsqueeze(x, None)
    torch.flatten(x, "a") ; torch.flatten(x, 0, "a") ; torch.flatten(3)
    torch.chunk(x, "a") ; torch.chunk(x, 1.5)
    torch.unbind(x, "a")
    torch.select(x, "a", 0) ; torch.select(x, 0, 1.5)
    torch.gather(x, 0, 3) ; torch.gather(x, "a", xi) ; torch.gather(x, 0, xi, sparse_grad=3)
    torch.index_select(x, 0, 3) ; torch.index_select(x, "a", xi)
    torch.scatter_add(x, 0, xi, 3)
    torch.masked_fill(x, x > 0, "a") ; torch.masked_fill(x, 3, 1)
    torch.masked_select(x, 3)
    torch.take(x, 3)
    torch.index_add(x, 0, xi, 3)
    torch.nonzero(3)
    torch.sort(x, "a") ; torch.sort(x, 0, 3) ; torch.sort(x, descending=3) ; torch.sort(3)
    torch.topk(x, "a") ; torch.topk(x, 1.5) ; torch.topk(x, 1, 0, 3)
    torch.tril(x, "a")
    torch.triu(x, 1.5)
    torch.diag(x, "a")
    torch.diagonal(x, "a")
    torch.flip(x, "a") ; torch.flip(x, 1.5)
    torch.roll(x, "a") ; torch.roll(x, 1.5) ; torch.roll(x, 1, "a")
    torch.tile(x, "a") ; torch.tile(x, 1.5)
    torch.broadcast_to(x, "a") ; torch.broadcast_to(x, 1.5)
    torch.movedim(x, "a", 0)
    torch.swapaxes(x, "a", 0)
    torch.prod(x, "a") ; torch.prod(x, 0, "a")
    torch.logsumexp(x, "a") ; torch.logsumexp(x)
    torch.bernoulli(x, "a") ; torch.bernoulli(3)
    torch.multinomial(x, "a")
    torch.dropout(x, "a", True) ; torch.dropout(x, 0.5, "a")
    torch.relu(3) ; torch.relu(x, 3)
    torch.nn.functional.relu(3)
    torch.nn.functional.linear(x, 3) ; torch.nn.functional.linear(x, x, 3) ; torch.nn.functional.linear(3, x)
    torch.nn.functional.conv2d(x, 3)
    torch.nn.functional.leaky_relu(x, "a")
    torch.nn.functional.hardtanh(x, "a")
    torch.conv2d(x, 3) ; torch.conv2d(x, x, 3)
    torch.conv1d(x, 3)
    torch.einsum(3, x)
    torch.lerp(x, x, "a") ; torch.lerp(x, 3, 0.5)
    torch.addcmul(x, x, 3) ; torch.addcmul(x, x, x, value="a")
    torch.outer(x, 3)
    torch.dot(x, 3) ; torch.dot(3, x)
    torch.trace(3)
    torch.isnan(3)
    torch.isinf("a")
    torch.isfinite(3)
    torch.clone(3)
    torch.sigmoid(3)
    torch.tanh("a")
    torch.neg("a")
    torch.abs(None)
    torch.round(x, decimals="a") ; torch.round(3)
    torch.nan_to_num(x, "a")
    torch.fft.fft(3) ; torch.fft.fft(x, "a") ; torch.fft.fft(x, 1.5)
    torch.special.expit(3)
    torch.equal(x, 3)
    torch.numel(3)
    torch.embedding(x, 3)
    torch.hstack(3)
    torch.vstack([x, 1])
    torch.kron(x, 3)
    torch.triu_indices("a", 2)
    torch.combinations(3)
    torch.as_strided(x, "a", (1,)) ; torch.as_strided(x, (1,), (1.5,))
"""

FACTORIES = """
    torch.zeros("a") ; torch.zeros(2.5) ; torch.zeros((2, 2.5)) ; torch.zeros((2.5, 2)) ; torch.zeros(2, 2.5) ;
    torch.zeros(2, "a") ; torch.zeros(None) ; torch.zeros(2, dtype="a") ; torch.zeros(2, dtype=3) ;
    torch.zeros(2, layout=3) ; torch.zeros(2, device=1.5) ; torch.zeros(2, out=3) ; torch.zeros(2, foo=1) ;
    torch.zeros(True)
    torch.empty("a") ; torch.empty(2, dtype="a")
    torch.ones((2, "a"))
    torch.full((2,), "a") ; torch.full(2, 1) ; torch.full((2,), None) ; torch.full("a", 1)
    torch.arange("a") ; torch.arange(1, "a") ; torch.arange() ; torch.arange(None) ; torch.arange(3, dtype="a")
    torch.eye("a") ; torch.eye(2, "a") ; torch.eye(2.5)
    torch.rand("a") ; torch.rand((2, 2.5))
    torch.randn(2.5)
    torch.randint("a", (2,)) ; torch.randint(3, 2) ; torch.randint(3, "a")
    torch.randperm("a") ; torch.randperm(2.5)
    torch.normal("a", 1)
    torch.zeros_like(3) ; torch.zeros_like(x, dtype=3) ; torch.zeros_like(x, "a")
    torch.full_like(x, "a") ; torch.full_like("a", 1)
    torch.rand_like(3)
"""

METHODS = """
    x.add("a") ; x.add(None) ; x.add(x, alpha="a") ; x.add(x, foo=2)
    x.mul("a")
    x.mm(3)
    x.transpose(0, 1.5) ; x.transpose("a", 0)
    x.reshape("a") ; x.reshape(1.5) ; x.reshape((1.5, 2)) ; x.reshape((2, 1.5)) ; x.reshape(2, 1.5) ;
    x.reshape(None)
    x.view("a") ; x.view(1.5) ; x.view(2, 1.5) ; x.view((2, 1.5)) ; x.view() ; x.view(None)
    x.permute("a") ; x.permute(1.5) ; x.permute(0, 1.5)
    x.expand("a") ; x.expand(1.5)
    x.repeat("a") ; x.repeat(1.5) ; x.repeat(2, 1.5)
    x.sum("a") ; x.sum(1.5) ; x.sum(0, "a")
    x.mean("a")
    x.max("a")
    x.argmax("a") ; x.argmax(1.5)
    x.softmax("a") ; x.softmax(1.5) ; x.softmax()
    x.cumsum("a")
    x.clamp("a") ; x.clamp()
    x.fill_("a") ; x.fill_(None)
    x.copy_(3)
    x.add_("a")
    x.mul_("a")
    x.div_("a")
    x.sub_("a")
    x.pow("a")
    x.pow_("a")
    x.squeeze("a") ; x.squeeze(1.5)
    x.unsqueeze("a") ; x.unsqueeze()
    x.flatten("a")
    x.gather(0, 3) ; x.gather("a", xi)
    x.index_select("a", xi)
    x.masked_fill(3, 1) ; x.masked_fill(x > 0, "a")
    x.masked_fill_(x > 0, "a")
    x.select("a", 0) ; x.select(0, "a")
    x.sort("a")
    x.topk("a")
    x.uniform_("a") ; x.uniform_(0, "a")
    x.normal_("a")
    x.bernoulli_("a")
    x.bernoulli("a")
    x.eq("a")
    x.lt("a") ; x.lt(None)
    x.matmul(3)
    x.dot(3)
    x.unbind("a")
    x.chunk("a")
    x.type_as(3)
    x.expand_as(3)
    x.view_as(3)
    x.reshape_as(3)
    x.new_zeros("a") ; x.new_zeros(2.5)
    x.new_full((2,), "a") ; x.new_full(2, 1)
    x.new_ones((2, "a"))
    x.new_empty(2, dtype=3)
    x.tril("a")
    x.triu(1.5)
    x.diagonal("a")
    x.flip("a") ; x.flip(0, "a")
    x.roll("a")
    x.prod("a")
    x.lerp(x, "a")
    x.addmm(x, 3)
    x.addcmul(x, 3)
    x.to("a") ; x.to([1])
    x.backward("a")
    x.requires_grad_("a")
    x.movedim("a", 0)
    x.unfold("a", 1, 1)
    x.index_add_(0, xi, 3)
    x.index_copy_(0, xi, 3)
    x.masked_scatter_(x > 0, 3)
    x.as_strided("a", (1,))
    x.logical_and(3)
    x.bitwise_and("a")
    x.remainder("a")
    x.repeat_interleave("a")
"""

OPERATORS = """
    x + "a" ; x + None ; x + [1] ; x + (1, 2) ; "a" + x ; [1] + x ; None + x ; x - "a" ; "a" - x ; x * "a" ;
    "a" * x ; x * [1, 2] ; [1, 2] * x ; x / "a" ; "a" / x ; x // "a" ; "a" // x ; x % "a" ; x ** "a" ; "a" ** x ;
    x ** None ; x @ "a" ; x @ 3 ; 3 @ x ; "a" @ x ; x & "a" ; "a" & x ; x | "a" ; x ^ "a" ; x << "a" ; x >> "a" ;
    "a" << x ; xi & 1.5 ; x == "a" ; x != "a" ; x == None ; x != None ; x == [1, 2] ; x < "a" ; x < None ;
    x > "a" ; x >= [1] ; "a" < x ; -x ; ~x ; abs(x) ; 2 // x ; 2 % x ; 2 ** x ; 2 / x ; 2 - x ; 2 & xi ; 2 | xi ;
    2 ^ xi ; xi & True ; True & xi ; x + arr ; arr + x ; x * arr ; arr * x ; arr - x ; x - arr ; x / arr ;
    arr / x ; x == arr ; arr == x ; x < arr ; x @ arr ; arr @ x ; arr // x ; arr ** x ; x ** arr ;
    x + np.float32(1) ; np.float32(1) + x ; np.float64(2) * x ; np.float64(2) - x ; np.float64(2) / x ;
    np.int64(2) // x ; np.int64(2) ** x ; x + np.int64(1) ; x + True ; x + 1j ; x += "a" ; x -= "a" ; x *= None ;
    x //= "a" ; x &= "a"
"""

LARGE_NUMBERS = """
    x * 1e40 ; x * -1e300 ; x + 2 ** 63 ; x + (2 ** 64 - 1) ; x + 2 ** 64 ; x + (-2 ** 63) ; x + (-2 ** 63 - 1)
    x - 2 ** 70 ; x * 10 ** 400 ; x / 2 ** 70 ; 2 ** 70 / x ; x == 2 ** 70 ; x < 2 ** 70 ; x >= -2 ** 70
    x.t() * 2 ** 70 ; x[0, 0] + 2 ** 70 ; x.double() * 2 ** 70 ; x == 1e40 ; x < 1e40
    x += 2 ** 70 ; x *= 1e40 ; x -= -2 ** 70 ; x.half() * 1e10 ; x.half() + 2 ** 60
    xi + 2 ** 63 ; xi + 2 ** 70 ; xi * -2 ** 70 ; xi == 2 ** 70 ; xi & 2 ** 70 ; xi += 2 ** 70
"""

DIMS = """
    torch.any(x, (0, 1)) ; torch.any(x, dim=(0,), keepdim=True) ; torch.any(x, dim=None) ; x.any((0, 1))
    torch.all(x, (0, 1)) ; torch.all(x, []) ; torch.all(x, None, True) ; x.all(dim=[1], keepdim=True)
    x.sum_to_size(1, 2) ; x.sum_to_size((2,)) ; x.sum_to_size(3) ; x.sum_to_size((1, 1))
"""

OVERLOADS = """
    torch.ops.aten.add.out(x, x, out=torch.empty(0)) ; torch.ops.aten.add.Tensor(self=x, other=x)
    torch.ops.aten.add.Tensor(x) ; torch.ops.aten.add.Tensor(x, x, x) ; torch.ops.aten.add.Tensor(x, x, foo=1)
    torch.ops.aten.max.dim_max(x, 0, max=x[0].clone(), max_values=xi[0].clone())
    torch.ops.aten.max.dim_max(x, 0, max=x[0].clone())
    torch.ops.aten.sort.values(x, 0, values=torch.empty(0), indices=xi.clone())
    torch.ops.aten.uniform_(x, **{"from": 1, "to": 1.0}) ; torch.ops.aten.uniform_.default(x, 1, 1)
    torch.ops.aten.sum.dim_IntList(x, [0]) ; torch.ops.aten.sum.dim_IntList(x, 0, True)
    torch.ops.aten.view(x, [4]) ; torch.ops.aten.cat.default([x, x], 1) ; torch.ops.aten.zeros([2])
    torch.ops.aten.any.dims(x, [0]) ; torch.ops.aten.all.dims(x, [0, 1], True) ; torch.ops.aten.any.dims(x)
    torch.ops.aten.pow.Scalar(2, x) ; torch.ops.aten.permute(x, [1, 0]) ; torch.ops.aten.fooo ; torch.ops.aten.add.foo
"""


def calls(*tables):
    return [
        call.strip() for table in tables for line in table.splitlines() for call in line.split(" ;") if call.strip()
    ]


def outcome(library, call):
    """What a call gives: the error, or the result with the dtypes of its tensors."""
    names = {
        "torch": library,
        "np": np,
        "x": library.tensor([[1.0, 2.0], [3.0, 4.0]]),
        "xi": library.tensor([[1, 0], [0, 1]]),
        "arr": np.ones((2, 2)),
    }
    try:
        result = evaluated(call, names)
    except (TypeError, ValueError, RuntimeError, AttributeError, IndexError, OverflowError) as error:
        return type(error).__name__, str(error)
    return shown(library, result)


def evaluated(call, names):
    try:
        return eval(call, names)
    except SyntaxError:  # x += y
        exec(call, names)
        return names["x"]


def shown(library, result):
    if isinstance(result, library.Tensor):
        return str(result.dtype), result.tolist()
    if isinstance(result, (tuple, list)):
        return [shown(library, each) for each in result]
    return repr(result)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", calls(FUNCTIONS, FACTORIES, METHODS, OPERATORS, LARGE_NUMBERS, DIMS, OVERLOADS))
def test_call(call):
    assert outcome(mindtorch, call) == outcome(torch, call)


@pytest.mark.filterwarnings("ignore")
def test_calls_while_a_level_of_vmap_is_alive():
    """All calls go another way then, whose rules may see arguments that have not been checked."""
    found = []
    mindtorch.func.vmap(lambda sample: found.append(sample) or sample)(mindtorch.ones(2, 2))
    assert mindtorch._core.state.batch_levels
    listed = calls(FUNCTIONS, FACTORIES, METHODS, OPERATORS, LARGE_NUMBERS, DIMS, OVERLOADS)
    different = [call for call in listed if outcome(mindtorch, call) != outcome(torch, call)]
    found.clear()
    assert different == []
