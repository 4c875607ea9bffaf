"""What whole random programs have found at the levels of `vmap` and of reverse mode: for each kind of fault, short
programs whose last line is compared."""

from tests.parity.random_programs.found import compared
from tests.parity.random_programs.test_whole_faults import function

FACTS = "facts = lambda t: (t.requires_grad, t.is_leaf, t.grad_fn is not None)"
TRANSFORMS = ("func.vjp(f, {})", "func.grad(lambda a: f(a).sum())({})", "vmap(T.func.grad(lambda a: f(a).sum()))({})")
NEEDS = "exec({!r}, globals())".format("""
seen = []
class F(T.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(a, b): return a * b
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, grad):
        seen.append(tuple(ctx.needs_input_grad))
        a, b = ctx.saved_tensors
        return grad * b, grad * a
""")
# What stands in front of the lines of a kind.
BEFORE = {
    "out= in vmap": "x = T.ones(2, 3)",
    "views of samples by strides": "x = T.arange(12.).reshape(3, 4)",
    "grad mode where a level is left": f"{FACTS}; x = T.ones(2, 3, requires_grad=True); y = x * 1",
    "views that may not be read where a level begins": "t = T.ones(2, 3, requires_grad=True) * 1\n"
    "with T.no_grad(): v = t[:1]; t.mul_(2)\ns = (T.ones(2, 3, requires_grad=True) * 1).split(1); s[0]._base.mul_(2)",
    "history shown inside": f"{FACTS}; seen = []; x, w = T.ones(3), T.ones(3, requires_grad=True)\n"
    "def f(a):\n"
    "    leaf = T.ones(3, requires_grad=True)\n"
    "    with T.no_grad(): views = a[:1], w[:1], a * 2\n"
    "    tensors = [a, w, a * 2, w * 2, a * w, w[:1], leaf, leaf * 2, *views, a.detach(), a * 1]\n"
    "    seen.append([facts(t) for t in (*tensors, (a * w).detach_())])\n"
    "    return a * w",
    "gradients asked for inside": "x, w, r = T.ones(2, 3, requires_grad=True), T.ones(3, requires_grad=True), []",
    "zeros for what was not used": f"{FACTS}; seen = []; w = T.ones(2, requires_grad=True)",
    "needs_input_grad": f"{NEEDS}; w = T.ones(3, requires_grad=True); x = T.ones(2, 3)",
    "data": f"{FACTS}; x, w = T.ones(3), T.ones(3, requires_grad=True); p = w * 2; c = T.ones(3); seen = []",
    "what pack hooks see": f"{FACTS}; seen = []\n"
    "x, w = T.ones(2, 3, requires_grad=True), T.ones(3, requires_grad=True)\n"
    "hooks = T.autograd.graph.saved_tensors_hooks("
    "lambda t: seen.append((facts(t), t.detach().round().tolist())) or t, lambda t: t)",
    "truth of a batch of gradients": "x = T.ones(2, requires_grad=True); y = x * 1; g = T.ones(2, 2)",
    "forward of a Function inside": f"{function('run(a)')}; x = T.ones(3); b = T.ones(3, requires_grad=True)",
    "gradients for what a Function has captured": "w = T.ones(1, 3, requires_grad=True)",
    "captured tensors written to in vmap": "x, c = T.ones(2, 3), T.ones(3)",
    "inference mode inside": f"{FACTS}; x = T.ones(3, requires_grad=True); c = x * 2\n"
    "with T.inference_mode(): i = T.ones(3)",
    "data below another transform": f"{FACTS}; x = T.tensor([1., 2.], requires_grad=True)",
    "data that is returned": FACTS,
    "captured tensors written to by indices": "x, c = T.ones(3), T.ones(2, 3)",
    "gradients of gradients that are zero": "x = T.tensor([0.5, 0.25], requires_grad=True)",
    "captured tensors and other errors": "x, c = T.ones(3), T.ones(3)",
    "forward of a Function that writes": "def f(a):\n    with T.enable_grad(): written(a)\n    return a * 1\n"
    f"{function('f(a)', gradient='grad * 5')}\nF.generate_vmap_rule = True; x = T.ones(2, 3)",
    "forward of a Function that returns what it writes": "def f(a):\n    with T.enable_grad(): return a.square_()\n"
    f"{function('f(a)', 'ctx.save_for_backward(*inputs)')}\nF.generate_vmap_rule = True",
    "gradients of a batch": "x = T.ones((), requires_grad=True); g = T.tensor([1., 2.])",
    "views that leave reverse mode": f"{FACTS}\n"
    + function("a[1:]", "ctx.mark_non_differentiable(output)")
    + "\nx = T.ones(3, requires_grad=True)\ndef f(a):\n    with T.no_grad(): return a[1:]",
}
KINDS = {
    "out= in vmap": [
        f"T.vmap(lambda a: {call})(x)"
        for call in (
            "T.ceil(a, out=a)",
            "T.mul(a, a, out=a)",
            "T.subtract(a, a, out=T.empty(3))",
            "T.bitwise_and(a, -2.5, out=a)",
            "T.ge(a, 1, out=T.empty(3, dtype=T.bool))",
            "T.sum(a, 0, out=T.empty(()))",
            "T.max(a, 0, out=(T.empty(()), T.empty((), dtype=T.int64)))",
            "T.matmul(a, a, out=T.empty(()))",
            "T.stack([a, a], out=T.empty(2, 3))",
            "T.mul(T.ones(3), 2, out=a)",
            "T.index_copy(a, 0, T.tensor([0]), a[:1], out=a)",
            "T.mul(T.ones(3), 2, out=T.empty(3))",
        )
    ],
    "samples without dimensions": [
        f"T.vmap(lambda a: {view})(T.ones(3))"
        for view in ("a[:1]", "a[:0]", "a[::2]", "a.flip([0])", "a.flip([])", "a.roll(1, [0])", "a.roll(1)")
    ],
    "views of samples by strides": [
        f"T.vmap(lambda a: {view}, in_dims={dim})(x[1:])"
        for dim in (0, 1)
        for view in (
            "a.as_strided((2, 2), (1, 1), 5)",
            "a.as_strided((2,), (1,), 4)",
            "a.as_strided((2,), (1,), 3)",
            "a.as_strided((2,), (4,), 4)",
            "a.as_strided((2,), (7,))",
            "a.as_strided((0,), (7,), 100)",
            "a[:0].as_strided((1,), (1,), 4)",
        )
    ],
    "values written where masks are true": [
        f"T.vmap(lambda a, v: a.index_put_((T.tensor([True, False, True]),), v), in_dims=(0, {dim}))"
        f"(T.zeros({size}, 3, dtype=T.float64), T.ones({shape}))"
        for size in (1, 2)
        for dim, shape in ((None, 1), (None, (1, 1)), (None, ()), (0, (size, 1)))
    ],
    "grad mode where a level is left": [
        *[
            f"with T.no_grad(): r = T.vmap(lambda a: {value}, in_dims={dim}, out_dims={out})({given})\nfacts(r)"
            for given in "xy"
            for value in ("a", "a[:1]", "a * 2")
            for dim, out in ((0, 0), (1, 0), (0, 1), (1, 1))
            if (dim, out) != (0, 0) or value != "a"
        ],
        *[
            f"def f(a):\n    with T.no_grad(): return a[:1], a * 2\n"
            f"[facts(r) for r in T.vmap(f, out_dims={out})({given})]"
            for given in "xy"
            for out in (0, 1)
        ],
    ],
    "views that may not be read where a level begins": [
        *[f"T.vmap(lambda a: T.ones(2))({view})" for view in ("v", "s[1]")],
        *[f"T.vmap(lambda a: a * 2)({view})" for view in ("v", "s[1]")],
        "with T.no_grad(): r = T.vmap(lambda a: a * 2)(v)\nr",
        *[f"T.{call}(v)" for call in ("vmap(T.func.jacrev(lambda a: T.ones(2)))", "func.grad(lambda a: T.tensor(1.))")],
        "T.func.grad(lambda a: (a * a).sum())(v)",
        "T.func.vjp(lambda a: a * a, v)",
    ],
    "history shown inside": [
        *[f"T.{call.format(given)}; seen" for call in TRANSFORMS for given in ("x[None]", "w[None]", "(w[None] * 2)")],
        "T.func.grad(lambda a: T.func.grad(lambda b: (f(b), (a * b).sum())[1])(a).sum())(w); seen",
        "T.func.grad(lambda a: T.vmap(lambda b: f(b).sum())(a).sum())(x[None]); seen",
        "T.func.grad(lambda a: (seen.append(facts((w * 2).contiguous())), a.sum())[1])(x); seen",
        "T.vmap(lambda a: (a * w).register_hook(lambda g: None))(x)",
    ],
    "gradients asked for inside": [
        f"T.vmap(lambda a: {call})({given})"
        for given in ("x", "x.detach()")
        for call in (
            "T.autograd.grad((a * a).sum(), a)[0]",
            "T.autograd.grad((a * w).sum(), w)[0]",
            "T.autograd.grad((w * w).sum(), w)[0] * a",
            "T.autograd.grad([(w * w).sum(), (a * w).sum()], w)[0]",
            "T.autograd.grad((w * w).sum(), [w, a], allow_unused=True)[0]",
            "T.func.grad(lambda b: T.autograd.grad((b * b).sum(), b, create_graph=True)[0].sum())(a)",
            "T.func.grad(lambda b: T.autograd.grad((b * w).sum(), w)[0].sum())(a)",
        )
    ],
    "zeros for what was not used": [
        f"T.func.vjp(lambda a: (seen.append(facts(T.autograd.grad((a * a).sum(), {source}, materialize_grads=True, "
        f"create_graph={graph})[0])), a)[1], T.ones(2)); seen"
        for source in ("w", "T.ones(2, requires_grad=True)")
        for graph in (False, True)
    ],
    "needs_input_grad": [
        f"r = {call}; (seen, r)"
        for call in (
            "T.func.grad(lambda a: F.apply(a, w).sum())(w * 1)",
            "T.vmap(T.func.grad(lambda a: F.apply(a, w).sum()))(x)",
            "T.func.grad(lambda a: T.vmap(lambda b: F.apply(b, w).sum())(a).sum())(x)",
            "T.func.grad(lambda a: T.func.grad(lambda b: (F.apply(b, a) ** 2).sum())(a).sum())(w)",
            "T.autograd.grad(T.func.grad(lambda a: (F.apply(a, w) ** 2).sum())(w * 1).sum(), w)[0]",
            "T.autograd.grad(T.vmap(lambda b: F.apply(b, w).sum())(x).sum(), w)[0]",
        )
    ],
    "data": [
        "facts(T.func.vjp(lambda a: (p + 0).data, x)[0])",
        "facts(T.func.vjp(lambda a: (p + 0)[1:].data, x)[0])",
        "facts(T.func.vjp(lambda a: p.data * a, x)[0])",
        "facts(T.func.vjp(lambda a: (a * p).data, x)[0])",
        "T.func.grad(lambda a: ((a * a).data * a).sum())(x)",
        "T.func.grad(lambda a: T.func.grad(lambda b: ((a * b).data * b).sum())(a).sum())(x)",
        "T.func.grad(lambda a: (c.data.mul_(2), a.sum())[1])(x)",
        "T.func.grad(lambda a: (seen.append(facts(a.detach_())), (a * a).sum())[1])(x), seen",
        "T.func.grad(lambda a: T.func.grad(lambda b: (b * T.ones(3, requires_grad=True)).sum())(a * a).sum())(x)",
        "T.func.grad(lambda a: (c.clone().data.mul_(2), a.sum())[1])(x)",
    ],
    "what pack hooks see": [
        f"def f(a):\n    with hooks: return {value}\nT.vmap(f)({given}); seen"
        for given in ("x", "x.detach()", "(x * 2)")
        for value in ("a.exp()", "a.exp() * a", "(a * w) * a", "w.exp() * a")
    ],
    "truth of a batch of gradients": [
        f"y.register_hook(lambda g: {hook}); T.autograd.grad(y, x, g, is_grads_batched=True)"
        for hook in ("bool(g)", "g.requires_grad_() and None", "g.requires_grad_() * 2")
    ]
    + ["T.vmap(lambda a: bool(a))(x)"],
    "forward of a Function inside": [
        f"run = lambda a: ({line}, a * 2)[1]\nT.func.{call}(x)"
        for line in ("(a * a).sum().backward()", "(b * b).sum().backward()", "b.sum().backward()")
        for call in ("jacrev(F.apply)", "grad(lambda a: T.vmap(F.apply)(a).sum())")
    ]
    + [
        "run = lambda a: a.detach().requires_grad_()\nT.func.grad(lambda a: F.apply(a).sum())(x)",
        "seen = []\n"
        "def run(a):\n    with T.enable_grad(): r = a * 2\n    seen.append(r.grad_fn is None)\n    return r\n"
        "T.func.grad(lambda a: F.apply(a).sum())(x); seen",
    ],
    "inference mode inside": [
        "def f(a):\n    with T.inference_mode(): return c[...]\n" + line
        for line in ("facts(T.func.jacrev(f)(x))", "facts(T.vmap(T.func.jacrev(f))(x))")
    ]
    + ["T.vmap(lambda a: T.minimum(i, x))(T.ones(2))", "T.vmap(lambda a: i * x + a)(T.ones(2, 3))"]
    + [
        f"T.func.jvp(lambda a: a{view}, ({primal},), (i * 2,))"
        for primal in ("i", "i.clone()", "i[1:].expand(3)")
        for view in (".expand(2, 3)", "[None].mT", ".unfold(0, 2, 1)", "[1:]", ".expand(2, 3) * 2")
    ],
    "gradients for what a Function has captured": [
        f"{function('a * b', gradient=f'({own}, {other})', arguments='a, b')}\n"
        "T.func.jacrev(lambda a: F.apply(a, w))(T.ones(1, 3))"
        for own, other in (("grad", "T.ones(1, 6)"), ("None", "grad * 2"))
    ],
    "elements of another dtype": [
        f"T.vmap(lambda a: a.view(T.{dtype}))(T.arange(4.){shape})"
        for dtype in ("int32", "int16", "float64", "float32")
        for shape in ("", ".reshape(2, 2)")
    ]
    + ["x = T.ones(3); T.vmap(lambda a: a.view(T.int32).copy_(a) * 2)(x), x"],
    "strides of gradients of samples": [
        f"x = T.ones(3, 2, requires_grad=True) * 1; y = T.vmap(lambda a: {written}.sum())(x); "
        "T.autograd.grad(y.sum(), x)[0].stride()"
        for written in ("a", "a.neg_()", "a.logical_not_()", "a.fill_(1)", "a.add_(a)", "a[:1].neg_()", "a[:].neg_()")
    ]
    + [
        f"T.vmap(lambda a: T.func.vjp(lambda x: {call}, a)[1](T.ones_like(a))[0])(T.ones(3, 2)).stride()"
        for call in (
            "(2 + x).gt_(x)",
            "(2 + x).eq_(1)",
            "T.ones(2).le_(x)",
            "(2 + x).fill_(1)",
            "x.sign()",
            "x.round()",
        )
    ]
    + [
        f"x = T.ones(3, 4, requires_grad=True); y = {call}; "
        "T.autograd.grad(y, x, T.ones(2, 3, 4), is_grads_batched=True)[0].stride()"
        for call in ("(x * 2).eq_(x)", "T.ones(3, 4).ne_(x)", "(x * 2).zero_()", "x.floor()")
    ]
    + [
        f"{call}(T.ones(2, 3)).stride()"
        for zeros in ("(2 * a).gt_(a)", "T.ones_like(a).eq_(a)", "a * (2 * a).zero_()", "T.ones(3).copysign(a)")
        for call in (
            f"T.func.grad(lambda x: T.vmap(lambda a: ({zeros}).sum())(x).sum())",
            f"T.vmap(T.func.grad(lambda x: T.vmap(lambda a: {zeros})(x).sum()))",
        )
    ]
    + [
        f"T.vmap(T.func.grad(lambda a: T.prod(a[None], 0, {keepdim}).sum()))(T.ones(3, 2){zero}).stride()"
        for keepdim in (True, False)
        for zero in ("", ".tril()")
    ],
    "what is the same for all samples, written": [
        f"c = T.ones(2); y = {same}(T.ones({size}, 2)); {write}; y, c"
        for same in (
            *("T.vmap(lambda a: c)", "T.func.grad(lambda x: T.vmap(lambda a: a.le_(a * 1))(x * 1).sum())"),
            "T.func.jacrev(T.vmap(lambda a: T.ones_like(a).copysign(a).sum()))",
        )
        for size in (1, 3)
        for write in ("y.add_(1)", "y[T.tensor([0])] = 2", "y.index_fill_(0, T.tensor([0]), 2)", "T.add(y, y, out=y)")
    ],
    "strides of Jacobians": [
        "T.func.jacfwd(T.angle)(T.ones(3, 4)).stride()",
        "T.vmap(T.func.jacfwd(T.angle))(T.ones(3, 4)).stride()",
        *(
            f"T.func.jac{mode}(lambda a: a.{call})(T.rand(4, 3).t()).stride()"
            for mode in ("rev", "fwd")
            for call in ("prod()", "prod(0)", "prod(1, True)")
        ),
        "T.func.jacrev(T.det)(T.eye(3).t() + 1).stride()",
        "x = T.rand(4, 3).t().requires_grad_(); T.autograd.grad(T.atan2(x.detach(), x * 2).sum(), x)[0].stride()",
    ]
    + [
        f"T.func.jacrev(lambda a: T.{op}(a, {other}))(T.rand(4, 3).t()).stride()"
        for op in ("maximum", "minimum", "fmax", "mul", "atan2", "add")
        for other in ("a * 2", "T.zeros(())")
    ],
    "captured tensors written to in vmap": [
        f"T.func.grad(lambda a: T.vmap(lambda b: ({write}, b.sum())[1])(a).sum())(x)"
        for write in ("c.mul_(b)", "c.le_(b)", "c[0].fill_(b[0])", "c.mul_(2)", "c.copy_(a[0])", "c[:1].copy_(b[:1])")
    ],
    "data below another transform": [
        f"f = lambda a: ({data}).data * a; (lambda r: (r, [facts(each) for each in r]))({call})"
        for data in ("a", "a * 2", "a[:1]")
        for call in (
            "T.func.jvp(T.func.grad(lambda a: (f(a) * a).sum()), (x,), (x * 1,))",
            "T.utils._pytree.tree_leaves(T.func.jvp(lambda b: T.func.jvp(f, (b,), (T.ones(2),)), (x,), (x * 1,)))",
            "T.func.jvp(T.func.grad(lambda a: (f(a).data * a).sum()), (x * 1,), (T.ones(2),))",
            "T.vmap(lambda c: T.func.jvp(T.func.grad(lambda a: f(a).sum()), (c,), (x * 1,)))(T.stack([x, x]))",
            "[T.func.grad(lambda c: T.func.jvp(f, (c,), (T.ones(2),))[1].sum())(x)]",
            "T.func.jvp(lambda a: f(a).data, (x,), (T.ones(2),))",
        )
    ],
    "data that is returned": [
        f"x = {given}; r = {call}; (r, facts(r), r._base is None, r._base is x)"
        for given in ("T.ones(3)", "T.ones(3, requires_grad=True)", "T.ones(3, requires_grad=True) * 1")
        for value in ("a.ravel().data", "a[:1].data", "a.data", "(a * 2).data", "a.data.data")
        for call in (
            f"T.func.jvp(lambda a: {value}, (x,), (T.ones(3),))[0]",
            f"T.func.jvp(lambda a: {value}, (x,), (T.ones(3),))[1]",
            f"T.func.vjp(lambda a: {value}, x)[0]",
        )
    ],
    "captured tensors written to by indices": [
        call.format(f"(T.Tensor.__setitem__(c, {index}, {value}), a.sum())[1]")
        for call in ("T.func.vjp(lambda a: {}, x)[0]", "T.vmap(T.func.grad(lambda a: {}))(x[None])")
        for index in (
            "(slice(0, 1), [0, 1])",
            "(..., [1, 0], 0)",
            "([1], None, [0])",
            "[0, 1]",
            "(slice(None), 0)",
            "...",
        )
        for value in ("0", "2.5", "T.zeros(2)", "T.zeros(7)", "T.ones((), dtype=T.complex64)", "'a'", "1j")
    ],
    "gradients of gradients that are zero": [
        f"h = {transform.format(f)}; g = T.autograd.grad({number}, x, create_graph=True)[0]\n"
        "g.requires_grad, T.autograd.grad(g.sum(), x), g + T.zeros(2)"
        for transform in (
            "T.func.jvp(T.func.grad(lambda a: ({})), (x,), (T.ones(2),))[1]",
            "T.func.hessian(lambda a: ({}))(x)",
            "T.func.jvp(T.func.jacrev(lambda a: ({})), (x,), (x * 1,))[1]",
        )
        for f in ("a @ a", "(a * a).sum()", "(a / (a + 1)).sum()", "T.addcmul(a, a, a).sum()", "a.exp().sum()")
        for number in ("(h * h).sum()", "h.exp().sum()")
    ],
    "captured tensors and other errors": [
        f"T.func.{transform}(lambda a: (c.{write}, a.sum())[1])(x)"
        for transform in ("grad", "jacfwd")
        for write in (
            "addcmul_(c, 0.5)",
            "atan2_(2.)",
            "fill_diagonal_(1)",
            "renorm_(2, 5, 1.)",
            "index_fill_(5, T.tensor([9.]), 1)",
            "index_copy_(5, T.tensor([9.]), c)",
            "mvlgamma_(0)",
            "copy_(0)",
            "add_('a')",
            "greater_(1)",
            "divide_(c)",
        )
    ],
    "forward of a Function that writes": [
        f"written = lambda a: {write}\n{call}(lambda a: (F.apply({given}) * a).sum()){close}, x"
        for write in ("a.mul_(2)", "a[:1].mul_(2)", "a.triu_(1)")
        for given in ("a", "a * 1")
        for call, close in (
            ("T.func.grad", "(x)"),
            ("T.vmap(T.func.grad", ")(x[None].clone())"),
            ("T.func.grad(lambda b: T.func.grad", "(b).sum())(x)"),
            ("T.func.grad", "(x.requires_grad_())"),
        )
    ],
    "forward of a Function that returns what it writes": [
        f"T.{call}(T.ones(2))" for call in ("func.grad(lambda a: F.apply(a).sum())", "vmap(T.func.grad(F.apply))")
    ],
    "gradients of a batch": [
        *[
            f"T.autograd.grad(x.{view}, x, g, is_grads_batched=True)"
            for view in ("flip([0])", "flip([-1])", "roll(1, 0)")
        ],
        f"{function('a * 2')}\nF.generate_vmap_rule = False\n"
        "y = T.utils.checkpoint.checkpoint(lambda a: F.apply(a).exp(), x, use_reentrant=False)\n"
        "T.autograd.grad(y, x, g, is_grads_batched=True)",
        "def f(a):\n    with T.no_grad(): return a.transpose(0, -1)\n"
        "y = T.vmap(f, in_dims=1, out_dims=1)(T.ones(2, 3, 4, requires_grad=True)); (y * x).sum().backward(); x.grad",
    ],
    "numbers and masks of samples": [
        f"T.vmap(lambda a: {value})(T.tensor({numbers}))"
        for numbers in ("[1., 2.]", "[[1., 2.]]", "[1, 2]", "[True, False]")
        for value in ("a - True", "a - (a > 1)", "a - T.tensor([True])", "a - 1", "a.sub_(True)", "True - a")
    ],
    "tangents of views of what was written, while a level of vmap is kept": [
        f"fw = T.autograd.forward_ad; s = []; T.vmap(lambda a: s.append(a) or a)(T.ones(2)); "
        f"b = T.arange(12., dtype=T.{dtype}) * 1\nwith fw.dual_level(), T.set_grad_enabled({mode}):\n"
        f"    p = b[2:10]\n    v = p{view}\n    p{write}\n"
        "    r = [fw.unpack_dual(t).tangent for t in (v, v[:1], p, b)]\nr"
        for mode in (False, True)
        for dtype, view in (
            *(("float32", view) for view in ("[1:3]", ".view(2, 4).mT[1:]", ".unbind()[1]", "[:2].expand(3, 2)")),
            *(("complex64", view) for view in ("[1:3]", ".real", ".imag[1:]")),
        )
        for write in (".copy_(fw.make_dual(T.ones(8), T.arange(8.)))", "[:1] = fw.make_dual(T.ones(1), T.ones(1))")
    ],
    "captured tensors written through other elements": [
        f"t = T.ones(2, 4, dtype=T.float64, requires_grad={requires_grad}); i = T.ones(2, 4, dtype=T.int64)\n"
        f"def f(a):\n    v = {view}\n    r = v.mul_(2)\n    return a.sum(), v\n"
        f"r = {transform}; r, t._version, i._version, t.detach(), i, t.requires_grad, t.is_leaf, t.grad_fn"
        for requires_grad in (False, True)
        for view in ("t.view(T.int32)", "t.view(T.int64)[:1]", "t.view(T.float32)", "i.view(T.float64)")
        for transform in (
            *(f"{outer}(T.func.grad(f, has_aux=True))(T.ones(2, 2))" for outer in ("", "T.vmap")),
            "T.func.jvp(lambda a: f(a)[0], (T.ones(2),), (T.ones(2),))",
        )
    ],
    "gradients of strides without elements": [
        f"s = []; x = T.ones({shape}, dtype=T.float64).mT.requires_grad_(); y = x.as_strided({view}).clone()\n"
        "_ = x.register_hook(lambda g: s.append((g.stride(), g.tolist())))\n"
        "r = T.autograd.grad(y, x, T.ones(3, *y.shape, dtype=T.float64), is_grads_batched=True)[0]; r, r.stride(), s"
        for shape in ((0, 2), (2, 0), (2, 3))
        for view in ("(0,), (1,)", "(2, 0), (1, 1)", "(0, 3), (3, 1)")
    ],
    "out= of captured tensors where grad mode is off outside": [
        f"r = []; w = T.ones(3, requires_grad=True); h = w * 2; x = T.ones(3)\n"
        f"def f(a):\n    v = {call}\n    r.append((v, v.requires_grad))\n    return a * 2\n"
        f"g = T.func.grad(lambda a: f(a).sum()); k = lambda b: g(b).sum() + (b * {factor}).sum()\n"
        f"with T.no_grad(): r.append({transform})\nr[1:], r[0][1]"
        for call in ("T.add(h, w, out=T.empty(3))", "T.cat([h * 1, w], out=T.empty(6))", "T.sin(w * a, out=a * 1)")
        for transform, factor in (
            *(("g(x)", 1), ("T.vmap(g)(T.ones(2, 3))", 1), ("T.func.grad(k)(x)", 1)),
            ("T.func.grad(lambda b: T.no_grad()(k)(b) + b.sum())(x)", "w"),
            ("T.enable_grad()(T.func.grad)(k)(x)", 1),
            ("T.enable_grad()(lambda: T.func.grad(lambda b: T.no_grad()(k)(b) + b.sum())(x))()", 1),
        )
        if "w * a" not in call or "vmap" not in transform  # which refuse it with another text
    ],
    "views that leave reverse mode": [
        f"facts(T.func.vjp({call}, {given})[0])" for call in ("f", "F.apply") for given in ("x", "(x * 1)", "T.ones(3)")
    ],
}

test_program = compared(KINDS, BEFORE)
