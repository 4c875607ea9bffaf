"""What random programs have found: for each kind of fault, short programs whose last line is compared."""

import pytest
import torch

import mindtorch
from tests.parity.random_programs.differences import INSTEAD, difference_of_errors
from tests.parity.random_programs.found import compared
from tests.parity.random_programs.notes import noted

# What stands in front of the lines of a kind.
BEFORE = {
    "gradients where numbers are nan": "x = T.tensor([T.nan, 1., -1, 0, 3, -3, 0.05], requires_grad=True)",
    "no gradient at all, of nan": "x = T.tensor([T.nan, 7., -3, 0.5, 0], requires_grad=True)",
    "complex limits": "x, n = T.tensor([1., -2.], dtype=T.float64), T.tensor([1, 2], dtype=T.uint8)",
    "out= that requires grad": "x = T.ones(3, 2, requires_grad=True); flags = T.ones(3, 2, dtype=T.bool)",
    "saved for its shape only": "x = T.tensor([[1., 3.], [2., -1.]], requires_grad=True); y = x * 1",
    "views with nothing behind them": "x = T.ones(3, requires_grad=True)\nwith T.no_grad(): v = x[:]",
    "tensors of inference mode": "x = T.ones(2, 3)\nwith T.inference_mode(): a = T.ones(2, 3)",
    "indices where there is nothing": "i = T.tensor([2, 1])",
    "extremes": "x = T.tensor([1., T.nan, 3.], requires_grad=True)",
}
KINDS = {
    "gradients where numbers are nan": [
        *[
            f"T.nn.functional.{name}(x).sum().backward(); x.grad"
            for name in "elu selu celu leaky_relu relu relu6 hardtanh hardswish hardshrink softplus logsigmoid".split()
        ],
        "x.logit(0.1).sum().backward(); x.grad",
        "x.logit().sum().backward(); x.grad",
        "T.maximum(x, x.detach().flip(0)).sum().backward(); x.grad",
        "T.minimum(x.detach().flip(0), x).sum().backward(); x.grad",
        "T.fmax(x, x.detach().flip(0)).sum().backward(); x.grad",
    ],
    "no gradient at all, of nan": [
        "T.xlogy(x, x.detach()).backward(T.zeros(5)); x.grad",
        "T.xlogy(x, 0).backward(T.zeros(5)); x.grad",
        "T.special.xlog1py(x, x.detach()).backward(T.zeros(5)); x.grad",
        "T.nn.functional.kl_div(x, x, reduction='sum').backward(T.tensor(0.)); x.grad",
    ],
    "indices where there is nothing": [
        f"x = T.ones({shape}, requires_grad=True); y = x.{call}; y.sum().backward(); (y, x.grad)"
        for shape in ("2, 0, 4", "2, 4, 0, 4", "0, 4, 4")
        for call in (
            *("index_copy(-1, i, x.index_select(-1, i) * 2)", "index_add(-1, i, x.index_select(-1, i))"),
            *("index_select(-1, i)", "gather(-1, T.zeros_like(x, dtype=T.int64))", "index_fill(-1, i, 3.0)"),
            *("scatter_add(-1, T.zeros_like(x, dtype=T.int64), x)", "put(i[:0], T.ones(0))", "take(i[:0])"),
        )
    ],
    "extremes": [
        *[f"x.{call}.backward(); x.grad" for call in "amin() amax(0) max() min() median() norm(T.inf)".split()],
        "sum(x.aminmax()).backward(); x.grad",
        "T.func.jvp(T.amax, (x.detach(),), (T.ones(3),))",
        "T.func.jvp(lambda x: x.norm(T.inf), (x.detach(),), (T.ones(3),))",
        "y = T.tensor(T.nan, requires_grad=True); y.max().backward(); y.grad",
        "y = T.tensor([-T.inf, -T.inf], requires_grad=True); y.logsumexp(0).backward(); y.grad",
    ],
    "variances without degrees of freedom": [
        *[
            f"x = T.tensor({numbers}, requires_grad=True); x.var({arguments}).sum().backward(); x.grad"
            for numbers in ("[1., 2., 3.]", "[2., 2.]", "T.nan", "4.", "[1.]")
            for arguments in ("", "correction=2", "correction=5", "0", "0, correction=3", "(0,), correction=5")
        ],
    ],
    "complex numbers": [
        "x = T.tensor([2+1j, 0.5], requires_grad=True); (T.tensor([-2.]) ** x).sum().backward(T.tensor(1+0j)); x.grad",
        "T.tensor([complex(T.inf, T.inf), complex(-T.inf, 1)]) ** T.tensor([-1.5])",
        "(0j * T.ones(1)) ** T.tensor([0.])",
        "T.nn.functional.mse_loss(T.ones(2), T.ones(2, dtype=T.complex64))",
        "T.nn.functional.smooth_l1_loss(T.ones(2, dtype=T.complex64), T.ones(2))",
    ],
    "complex limits": [
        *[f"x.{call}" for call in "clamp(1+2j) clamp_(1+2j,2) clamp_min(1+2j) clamp_max_(1+2j) clamp(1+0j)".split()],
        *[f"n.{call}" for call in "clamp(1+2j) clamp_(1+2j,2) clamp_min_(1+2j) clamp_(2,1+2j) clamp_(1.5)".split()],
        "T.clamp(n, 0, 1+2j, out=T.empty(2))",
    ],
    "numbers in tensors of another dtype": [
        "t = T.zeros(2, 1, dtype=T.uint8); t[:] = T.tensor(300); t",
        "t = T.zeros(2, 1, dtype=T.uint8); t.fill_(T.tensor(-1.5)); t",
        "t = T.zeros(2, 1); t[0] = T.tensor(1+2j); t",
        "t = T.zeros(2, 0, dtype=T.uint8); t[:] = T.tensor(T.nan); t",
        *[f"t = T.zeros(2, 3); t[{index}] = 1+2j" for index in ("False", "7", "1, 2, 3", "T.tensor(0)")],
        *[f"t = T.zeros(2, 3, dtype=T.uint8); t[{index}] = 300" for index in ("False", "7", "5, 1, 2", ":0")],
        "t = T.zeros(2, 3, dtype=T.uint8); t[7, [1]] = -2.5",
        "t = T.zeros(2, 3); t[False] = 'a'",
    ],
    "second passes through what has saved nothing": [
        "x = T.ones(2, requires_grad=True); y = (x % T.ones(2)).sum(); y.backward(); y.backward(); x.grad",
        "x = T.ones(2, requires_grad=True); y = (x % x).sum(); y.backward(); y.backward()",
        "x = T.ones(2, requires_grad=True); y = T.hypot(x, x).sum(); y.backward(); y.backward()",
    ],
    "saved for its shape only": [
        *[
            f"z = y.{call}\ny.data.copy_(y)\nwith T.no_grad(): y.neg_()\nz.sum().backward()"
            for call in (
                "cummax(0)[0]",
                "cummin(1)[0]",
                "gather(0, T.tensor([[0]]))",
                "masked_select(T.tensor([True, False]))",
            )
        ],
        "z = T.zeros(2, 2).index_add(0, T.tensor([0, 1]), y)\nwith T.no_grad(): y.neg_()\nz.sum().backward()",
        "z = x.copysign(y)\nwith T.no_grad(): y.neg_()\nz.sum().backward(); x.grad",
        "z = x * T.ones(2); z.copysign_(z); z.sum().backward()",
    ],
    "views with nothing behind them": [
        "T.autograd.grad(v.exp().sum(), v)",
        "y = T.hypot(v, x).sum(); y.backward(inputs=[v], retain_graph=True); y.backward(); (v.grad, x.grad)",
        "y = x * 1\nwith T.no_grad(): v = y[:]\ny += v\ny.sum().backward(); x.grad",
        "y = x * 1\nwith T.no_grad(): v = y[:]\ny += v\nv.sum().backward()",
        "n = T.ones(3, dtype=T.int64)\nwith T.no_grad(): w = n[:]\nw.bitwise_not_()",
        "x = T.ones(2, 2, requires_grad=True); w = x.squeeze(-1)\nwith T.no_grad(): w.tanh_()\n"
        "with T.inference_mode(): w.backward(T.ones(2, 2))\nx.grad",
    ],
    "tensors of inference mode": [
        "b = a.view(T.int32); (b._version, b.is_inference())",
        "with T.inference_mode(): b = x.view(T.int32)\nb.is_inference()",
        "with T.inference_mode(): b = x.view(T.int32)\nb._version",
        "a.data.mul_(2); (a, a.is_inference())",
        "d = a.data; d.add_(1); (d._version, d.is_inference())",
        "y = T.ones(2, 3, requires_grad=True); (y * a.data).sum().backward()",
        *[
            f"y = T.ones(2, 3, requires_grad=True); z = {made}\n"
            "with T.inference_mode(): z.backward(retain_graph=True)\n(y.grad.is_inference(), y.grad)"
            for made in ("(y * 2).sum()", "y.exp().sum()", "T.cat([y, y]).sum()", "y.T.sum()")
        ],
    ],
    "edges and saved results": [
        "x = T.tensor([-1., 0., 2.], requires_grad=True); g = T.autograd.grad(T.nn.functional.selu(x).sum(), x, "
        "create_graph=True)[0]; g.sum().backward(); x.grad",
        "T.tensordot(T.ones(1, 1, dtype=T.int8), T.ones(1, 1, dtype=T.int8), 1)",
        "y = T.ones(2, 4, requires_grad=True) * 1\nwith T.no_grad(): v, w = y.split(2, 1)\nv.sum().backward()",
        "y = T.ones(2, requires_grad=True) * 1\nwith T.no_grad(): v = y[:]\nv.backward(T.ones(2))",
        "x = T.zeros(2, requires_grad=True); T.nn.functional.hardswish(x - 4).backward(T.tensor([T.nan, 1])); x.grad",
        "y = T.ones(2, requires_grad=True) * 1; T.nn.functional.leaky_relu_(y)\nwith T.no_grad(): y.add_(1)\n"
        "y.sum().backward()",
    ],
    "detached in place": [
        "y = T.ones(2, requires_grad=True) * 2; y.retain_grad(); y.detach_(); (y.retains_grad, y.requires_grad)",
        "y = T.zeros(3, dtype=T.bool); y[0] = T.ones((), requires_grad=True); y.requires_grad_()",
    ],
    "out= that requires grad": [
        *[f"T.{name}(flags, flags, out=x)" for name in "bitwise_and bitwise_or bitwise_xor gcd lcm".split()],
        "T.bitwise_not(flags, out=x)",
        "T.floor_divide(x, 2, out=x)",
        "T.heaviside(x, x, out=x)",
        "T.mul(x, 2, out=x)",
        "T.bitwise_and(x, x, out=T.zeros(3, 2))",
    ],
    "empty tensors and dimensions": [
        *[f"T.zeros({shape}).cummax({dim}).values" for shape, dim in [((2, 0), 5), ((0,), 5), ((), 5), ((2, 3), 5)]],
        "x = T.zeros(2, 0, requires_grad=True); y = x.diff(1); (y is x, y._version)",
        "x = T.zeros(2, 1, requires_grad=True); x.diff(1).grad_fn.name()",
        *[
            f"T.linalg.matrix_norm(T.zeros({shape}), {order})"
            for shape in ((2, 0), (0, 2))
            for order in ("1", "T.inf", "-1")
        ],
        "T.nn.functional.cross_entropy(T.zeros(2, 0), T.zeros(2, dtype=T.int64), ignore_index=0)",
        "T.nn.functional.cross_entropy(T.tensor(1.), T.tensor(1.))",
        "T.bmm(T.zeros(0, 3, 2), T.zeros(0, 2, 3, dtype=T.float64))",
        "T.bmm(T.zeros(2, 3, 0), T.zeros(2, 0, 3, dtype=T.float64))",
    ],
    "which of two errors": [
        "T.zeros(3, 1, dtype=T.bool) @ T.zeros(2, 1, 3)",
        "T.bmm(T.zeros(2, 30, 20), T.zeros(2, 20, 30, dtype=T.float64))",
        "T.bmm(T.zeros(2, 30, 20, dtype=T.bool), T.zeros(2, 20, 30, dtype=T.float64))",
        "T.bmm(T.zeros(2, 3, 1), T.zeros(2, 1, 3, dtype=T.bool))",
        "T.addmm(T.ones(1), T.ones(2, 2, dtype=T.int8), T.ones(2, 2, 2))",
        "T.baddbmm(T.ones(2, 2), T.ones(2, 2), T.ones(2, 2))",
        "T.ones(()).mv(T.ones(3))",
        "T.addmv(T.ones(()), T.ones(2, 2), T.ones(3))",
        "T.nn.functional.linear(T.ones(()), T.ones(3))",
        "T.tensordot(T.ones(2), T.ones(3, dtype=T.int8), 1)",
        "T.linalg.matrix_norm(T.ones(2, dtype=T.int16), T.inf)",
        "T.ones(3, 2).masked_scatter(T.ones(2, 0) > 0, T.ones(3, 2))",
        "T.ones(3, 2).masked_scatter_(T.ones(2, 0) > 0, T.ones(3))",
        "T.ones(3, 2).masked_fill_(T.ones(2, 0) > 0, 1)",
        *[
            f"x = T.ones(3, requires_grad=True); x.{call}"
            for call in ("index_fill_(0, T.tensor([7]), 0)", "index_copy_(0, T.tensor([7]), T.ones(1))")
        ],
    ],
    "dtypes of operands": [
        *[f"T.tensor([1., 2.]).lerp(T.tensor([2., 3.]), T.tensor({weight}))" for weight in ("True", "1", "1j", "[1]")],
        "T.tensor([1.], dtype=T.bfloat16).lerp_(T.tensor(3., dtype=T.bfloat16), T.tensor(0.5))",
        "T.nn.functional.smooth_l1_loss(T.tensor(1., dtype=T.float64), T.ones(2, 3), reduction='sum')",
        "T.nn.functional.mse_loss(T.tensor(1., dtype=T.float64), T.ones(2, 3))",
    ],
    "grids": [
        *[
            f"T.meshgrid({axes}, indexing='{order}')"
            for axes in ("T.arange(2), T.arange(3)", "T.tensor(1), T.arange(3), T.arange(2)", "T.arange(2)", "[]")
            for order in ("xy", "ij", "other")
        ],
        "[grid.stride() for grid in T.meshgrid(T.arange(2), T.arange(3), indexing='xy')]",
        "T.meshgrid(T.ones(2), T.arange(3), indexing='xy')",
        "T.cartesian_prod(T.ones(2), T.arange(3))",
    ],
    "types of Python for dtypes": [
        *[
            f"T.{call}, dtype={type_})"
            for call in "zeros(3 ones(3 full((2,),1 eye(2 arange(3 linspace(0,1,3 empty(0 scalar_tensor(1".split()
            for type_ in ("bool", "int", "float", "complex")
        ],
        *[
            f"T.{call}, dtype=float)"
            for call in "logspace(0,1,3 rand(0 randn(0 randint(1,(3,) randperm(1 hann_window(3 eye(2".split()
        ],
        *[f"T.zeros(2, dtype={wrong})" for wrong in ("str", "'float'", "[]")],
        *[f"T.{call}, dtype=None).dtype" for call in "randperm(5 randint(5,(3,) randint(2,5,(3,)".split()],
    ],
    "closeness": [
        "T.isclose(T.tensor([2**62, -2**63]), T.tensor([-2**62, 2**63 - 1]))",
        "T.isclose(*T.tensor([[0, 200], [255, 201]], dtype=T.uint8), rtol=0, atol=1)",
        "T.allclose(T.tensor([-128], dtype=T.int8), T.tensor([127], dtype=T.int8))",
        "T.isclose(T.tensor([True, False]), T.tensor([True, True]))",
        "T.isclose(T.tensor([True]), T.tensor([False]), atol=1)",
        *[
            f"T.{name}(T.ones(2), T.ones(2), {tolerances})"
            for name in ("isclose", "allclose")
            for tolerances in ("rtol=-1", "atol=-1e-3", "rtol=-1, atol=-2")
        ],
    ],
    "numbers of NumPy and numbers first": [
        *[f"T.tensor([1]) {operator} N.bool_(True)" for operator in "+ - * ** ==".split()],
        "T.tensor([True]) + N.bool_(True)",
        "T.full((2,), N.bool_(True)), T.tensor([3]).clamp(N.bool_(True)), T.tensor([3]).fill_(N.bool_(True))",
        *[
            f"T.{name}(1e40, T.ones(2, dtype=T.{dtype}))"
            for name in ("add", "sub", "mul", "div")
            for dtype in ("float16", "bfloat16", "float32")
        ],
    ],
    "products of everything with everything": [
        *[
            f"x = T.ones(2, 3, requires_grad=True); "
            f"T.tensordot(x, T.ones({shape}), {dims}).grad_fn.next_functions[0][0].name()"
            for shape, dims in (("2, 3", "2"), ("3, 2", "([0, 1], [1, 0])"), ("3, 2", "1"), ("2, 3, 1", "2"))
        ],
        "T.tensordot(T.zeros(0, dtype=T.bool), T.zeros(0, dtype=T.bool), 1)",
        "T.tensordot(T.ones(2, 3, dtype=T.bool), T.ones(3, 2, dtype=T.bool), ([0, 1], [1, 0]))",
    ],
    "determinants": [
        *[
            f"x = T.tensor({matrix}, requires_grad=True); g = T.autograd.grad(T.linalg.det(x).sum(), x, "
            "create_graph=True)[0]; g.sum().backward(); x.grad"
            for matrix in ("[[1., 2], [2, 4]]", "[[1., 2], [3, 4]]")
        ],
        "x = T.tensor([[2.]], requires_grad=True); "
        "T.autograd.grad(T.linalg.det(x), x, create_graph=True)[0].requires_grad",
    ],
    "strides of gradients": [
        *[
            f"x = make((2, 3, 4), 'float64', 'transposed', 9, True); T.autograd.grad({result}.sum(), x)"
            for result in (
                "x.norm()",
                "x.norm(2, 0)",
                "x.norm(3)",
                "x.norm(0.5, 1)",
                "x.norm(T.inf, 2)",
                "x.cumprod(1)",
            )
        ],
        "x = T.zeros(1, 3, requires_grad=True); "
        "T.autograd.grad(x.prod(0).sum(), x, create_graph=True)[0].requires_grad",
    ],
    "transforms in inference mode": [
        f"with T.inference_mode(): r = {call}\nr"
        for call in (
            "T.func.grad(lambda a: a.sin().sum())(T.ones(2))",
            "T.func.jvp(lambda a: a.sin(), (T.ones(2),), (T.ones(2),))",
            "T.func.jacrev(lambda a: a.sin())(T.ones(2))",
            "T.func.hessian(lambda a: a.sin().sum())(T.ones(2))",
        )
    ],
    "numbers too large for 16 bits": [
        f"x = T.full((4, 4), 3000., dtype=T.{dtype}); {call}"
        for dtype in ("float16", "bfloat16")
        for call in (
            "x @ x",
            "x.mv(x[0])",
            "x[0].dot(x[0])",
            "T.addmm(x, x, x)",
            "T.bmm(x[None], x[None])",
            "x.rsqrt() ** 3",
        )
    ],
    "which text": [
        *[f"T.roll({shape}, 1, 5)" for shape in ("T.tensor(1.)", "T.ones(3)", "T.ones(2, 0)")],
        "T.fft.fft(T.tensor(1.), dim=5)",
        "T.ones(2, 2).clamp(T.ones(2, dtype=T.complex64), T.ones(3))",
        "T.ones(2, 2).clamp(T.ones(2, dtype=T.complex64), T.ones(2))",
        "T.nn.functional.cosine_similarity(T.ones(3) + 1j, T.ones(3))",
    ],
    "powers of nothing": [
        f"x = T.tensor([0., 0, 1], requires_grad=True); e = T.tensor([0., 1, 0], requires_grad=True); "
        f"(x ** e).backward(T.full((3,), {grad})); (x.grad, e.grad)"
        for grad in ("T.nan", "T.inf", "1.")
    ],
    "how often, how many": [
        *[
            f"T.repeat_interleave({arguments}, output_size={size})"
            for arguments in ("T.arange(3), T.tensor([1, 2, 1])", "T.arange(3), 2", "T.tensor([1, 2, 1])")
            for size in (3, 4, 6)
        ],
        *[f"T.topk(T.tensor(1.), {k})" for k in (0, 1, 2)],
        "reversed(T.arange(6).reshape(2, 3)), reversed(T.tensor(3))",
    ],
    "norms of small dtypes": [
        *[f"T.nn.functional.rms_norm(T.arange(8.).{dtype}() / 100, (8,))" for dtype in ("half", "bfloat16", "float")],
        "T.nn.functional.rms_norm(T.arange(8.).half(), (8,), T.arange(8.).half())",
        "T.nn.RMSNorm(4, dtype=T.bfloat16)(T.tensor([[1, 2, 3, 4.]]).bfloat16())",
        "x = T.arange(4.).half().requires_grad_(); T.nn.functional.rms_norm(x, (4,))[1].backward(); x.grad",
    ],
    "sums of small dtypes": [
        *[
            f"T.zeros(1{more}).{dtype}().{call}"
            for dtype in ("half", "bfloat16")
            for more, call in (
                ("", f"scatter_add(0, T.zeros(3000).long(), T.ones(3000).{dtype}())"),
                (", 2", f"index_add(0, T.zeros(300).long(), T.ones(300, 2).{dtype}())"),
                ("", f"index_add(0, T.zeros(300).long(), T.ones(300).{dtype}())"),
                ("", f"index_put((T.zeros(3000).long(),), T.ones(3000).{dtype}(), accumulate=True)"),
            )
        ],
    ],
    "matrices that are not finite": [
        "T.linalg.cholesky(T.tensor([[N.inf, 0], [0, 1]]))",
        *[
            f"T.linalg.{name}(T.tensor({matrix}))"
            for name in ("cholesky", "cholesky_ex")
            for matrix in ("[[N.nan, 0], [0, 1]]", "[[[1, 0], [0, 1]], [[1, N.nan], [N.nan, 1]]]")
        ],
    ],
    "versions of what is new": [
        f"T.{call}._version"
        for call in (
            "randn(3)",
            "rand(3)",
            "randint(3, (2,))",
            "normal(0.0, T.ones(2))",
            "normal(T.ones(2), 1.0)",
            "randperm(3)",
            "randn_like(T.ones(2))",
            "bernoulli(T.ones(2))",
            "empty(2).normal_()",
            "nn.Linear(2, 2).weight",
        )
    ],
    "attention without numbers": [
        "T.nn.functional.scaled_dot_product_attention(*[T.ones(2, 2, 5, 0)] * 3).shape",
        "T.nn.functional.scaled_dot_product_attention(*[T.ones(2, 4, 5, 8)] * 3, attn_mask=T.ones(5, 6))",
        "x = T.ones(3, 2, 5, 8); T.nn.functional.scaled_dot_product_attention(x[:1].expand(3, 2, 5, 8), x, x).stride()",
    ],
    "states that are written to": [
        "h, c = T.nn.LSTMCell(3, 4)(T.ones(2, 3)); c.mul_(2); h.sum().backward(); h.grad_fn.name()",
        "T.nn.GRUCell(3, 4)(T.ones(2, 3)).grad_fn.name()",
        "c = T.ones(3, requires_grad=True) * 1; o = c.take(T.tensor([1])); c.mul_(2); o.sum().backward()",
    ],
    "large losses": [
        f"T.nn.functional.{name}(T.tensor([0.1, 0.5, 3e38]), T.zeros(3), reduction='none', {width}={size})"
        for name, width in (("huber_loss", "delta"), ("smooth_l1_loss", "beta"))
        for size in (0.3, 1.0, 7.0)
    ],
    "parameters of another dtype": [
        f"T.nn.functional.group_norm(T.ones(1, 2, 3).{dtype}(), 2, T.ones(2).{other}())"
        for dtype in ("float", "half", "double")
        for other in ("float", "half", "double")
    ],
    "variances into given tensors": [
        *[f"T.{name}(T.arange(3.), out=T.empty(()))" for name in ("var", "std")],
        *[f"T.{name}(T.arange(6.).reshape(2, 3), {dim}, out=T.empty(0))" for name in ("var", "std") for dim in "01"],
    ],
    "memory": [
        "T.zeros(1, 1, 3, 4).expand(1, 2, 3, 4).triu_(1)",
        "T.zeros(1, 3, 4).expand(2, 3, 4).triu_(1)",
        "t = T.zeros_like(make((2, 1, 3), 'float32', 'reversed', 16, True)); t[True] = t",
        "x = make((2, 3, 4), 'float32', 'transposed', 1, True); T.autograd.grad(x.as_strided((2,), (12,), 0).sum(), x)",
        "make((2, 4), 'float32', 'reversed', 68, False).index_copy(1, T.tensor([1]), T.ones(2, 1))",
        "x = T.tensor([1+2j, 3], requires_grad=True); y = x * 1; r = y.real; y.mul_(2); r.grad_fn.name()",
        "r = T.view_as_real(T.ones(2) + 1j); r[0].mul_(T.ones((), requires_grad=True)); r.grad_fn.name()",
    ],
}

test_program = compared(KINDS, BEFORE)


def test_refused_axes():
    """The tensor is shown as Python shows it; torch has the form of C++."""
    with pytest.raises(
        RuntimeError, match="^torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: tens"
    ):
        mindtorch.meshgrid(mindtorch.ones(2), mindtorch.ones(2, 2), indexing="xy")


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
def test_what_is_noted_of_a_dtype_that_mindtorch_has_not():
    """A program that looks at such a result goes on, as one does that has made it."""
    half = noted([torch.ones(2, dtype=torch.complex32)], torch)
    assert noted([mindtorch.ones(2, dtype=mindtorch.complex64)], mindtorch) == half
    assert noted([mindtorch.ones(2, dtype=mindtorch.complex64)] * 2, mindtorch) != half


def test_one_refusal_is_not_any_other():
    """Only texts that are listed together stand for one another, with the same names in them."""
    views = "Output 0 of Split is a view and its base or another view of its base has been modified inplace. This"
    written = "Output {} of Split is a view and is being modified inplace. This"
    assert difference_of_errors(RuntimeError(views), RuntimeError(written.format(0))) is None
    assert difference_of_errors(RuntimeError(views), RuntimeError(written.format(1))) is not None
    assert difference_of_errors(RuntimeError(written.format(0)), RuntimeError(views)) is not None
    dtype = RuntimeError("\"sin_cpu\" not implemented for 'Long'")
    assert difference_of_errors(dtype, RuntimeError("index 3 is out of bounds for dimension 0 with size 2")) is not None
    assert all(each.reason for each in INSTEAD)
