"""What whole random programs have found: for each kind of fault, short programs whose last line is compared."""

from tests.parity.random_programs.found import compared

FUNCTION = """
class F(T.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward({arguments}): return {value}
    @staticmethod
    def setup_context(ctx, inputs, output): {settings}
    @staticmethod
    def backward(ctx, grad): return {gradient}
    @staticmethod
    def jvp(ctx, *tangents): return tangents[0]
"""


def function(value="a * 2", settings="pass", gradient="grad", arguments="a"):
    """The lines of a custom Function, as one line of a program."""
    text = FUNCTION.format(value=value, settings=settings, gradient=gradient, arguments=arguments)
    return f"exec({text!r}, globals())"


# What stands in front of the lines of a kind.
BEFORE = {
    "inputs of transforms": "x = T.ones(2, 3); written = lambda a, view: (eval(f'({view}).mul_(2)'), a.sum())[1]",
    "captured tensors": "x, c = T.ones(2, 3), T.ones(2, 3); run = lambda call, given: (eval(call), given)",
    "views that leave a transform": "x = T.ones(2, 4); w = T.tensor(3., requires_grad=True)",
    "in place with a result of another dtype": "i, c = T.ones(2, 3, dtype=T.uint8), T.ones(2, 3)",
    "samples without dimensions": "x = T.ones(3)",
    "order of saved tensors": "x = T.ones(3, requires_grad=True) * 1; y = T.ones(3, 3, requires_grad=True) * 2\n"
    "seen = []\n"
    "hooks = T.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t.detach().flatten()[0].item()) or t, "
    "lambda t: t)",
    "tangents": "h = T.ones(3, 1, dtype=T.float16); s = T.tensor(1.5); fw = T.autograd.forward_ad",
    "parts of dual tensors": "fw = T.autograd.forward_ad",
    "samples in chunks": "x = T.arange(12.).reshape(3, 2, 2)",
    "forward of custom functions in transforms": "x, b, c = T.ones(2, 3), T.ones(2, 3), T.ones(2, 3)\n"
    f"{function('run(a)')}\nrun = lambda a: (eval(write), a * 2)[1]",
    "tangents of expanded tensors": "x = T.ones(3)",
    "tangents of custom views": "x = T.ones(3); fw = T.autograd.forward_ad",
    "vmap in inference mode": "x = T.ones(2, 3)\nwith T.inference_mode(): i = T.ones(2, 3)\nr = lambda t: (t, "
    "t.is_inference(), t._is_view())",
    "results that are the same for all samples": "x = T.ones(2); w = T.ones(2, 3, requires_grad=True); seen = []",
    "samples that cannot be written": "i, c = T.ones(3, dtype=T.int64), T.ones(3)",
    "no gradient for a view from no_grad mode": "b = T.ones(2, 3, requires_grad=True) * 2; seen = []\n"
    "with T.no_grad(): v = b[-1:]",
    "one of several outputs, seen as other elements": "x = T.arange(12.).reshape(2, 3, 2).mul(1 + 2j); "
    "w = x.clone().requires_grad_(); name = lambda t: t.grad_fn and t.grad_fn.name()\n"
    f"{function('f(a)')}",
    "no gradient for the samples of a Function": "x = T.arange(6.).reshape(2, 3).requires_grad_(); seen = []\n"
    "z = T.arange(8.).reshape(2, 2, 2).requires_grad_()\n"
    "def shown(t):\n    try: return t.tolist()\n    except RuntimeError: return 'samples'\n"
    "note = lambda *given: seen.append([(g.shape, shown(g)) for g in given]) or given[0]\n"
    f"{function('(a * 2, a.sum())', gradient='note(*grad)', arguments='a').replace('ctx, grad', 'ctx, *grad')}",
    "views among the gradients of a transform": "w = T.ones(2, 2, requires_grad=True); x = T.arange(4.).reshape(2, 2)\n"
    "written = lambda r: (r.mul_(w[:1, :1]), r.grad_fn.name())[1]",
    "tangents that a Function gives in another dtype": "fw = T.autograd.forward_ad; x = T.ones(1)\n"
    "lay = {'rows': T.ones(2, 3), 'columns': T.ones(3, 2).t()}\n"
    "def F(primal, tangent):\n"
    "    class F(T.autograd.Function):\n"
    "        def forward(a): return primal.clone()\n"
    "        def setup_context(ctx, inputs, output): pass\n"
    "        def jvp(ctx, given): return tangent.clone()\n"
    "    return F.apply",
    "reshape without a copy": "w = T.arange(12.).reshape(2, 3, 2).requires_grad_(); x = T.ones(2, 3, 2)\n"
    "name = lambda t: t.grad_fn and t.grad_fn.name()",
}
KINDS = {
    "inputs of transforms": [
        *[
            f"T.func.{transform}(lambda a: written(a, {view!r}))(x)"
            for transform in ("grad", "jacrev", "hessian", "grad_and_value")
            for view in ("a", "a[0]", "a[:0]", "a.mT", "a.detach()", "a.view_as(a)", "a * 1")
        ],
        "T.func.grad(lambda a: T.func.grad(lambda b: written(b, 'a[0]'))(a).sum())(x)",
        "T.func.grad(lambda a: T.vmap(lambda b: written(b, 'a'))(a).sum())(x)",
        "T.func.grad(lambda a: T.vmap(lambda b: written(b, 'a[0]'))(a).sum())(x)",
        "T.func.vjp(lambda a: written(a, 'a[0]'), x * T.ones((), requires_grad=True))",
        "T.func.grad(lambda a: written(a, 'T.vmap(lambda b: b)(a)'))(x)",
    ],
    "captured tensors": [
        *[
            f"T.func.{call}"
            for call in (
                "jacfwd(lambda a: run('x.remainder_(-2.5)', a)[1])(x)",
                "jvp(lambda a: run('x.mul_(2)', a)[1], (x,), (x * 1,))",
                "jvp(lambda a: run('x[0].mul_(2)', a)[1], (x,), (c,))",
                "jvp(lambda a: a.mul_(2), (x,), (c,))[0]",
                "jvp(lambda a: a[0].mul_(2), (x,), (c,))",
                "jvp(lambda a: a.mul_(a), (x[0],), (c[0],)); x",
            )
        ],
        "v = T.func.grad(lambda a: (a * 1).add_(a).sum())(x); v",
    ],
    "views that leave a transform": [
        "r = T.func.vjp(lambda a: a[:, :2], x)[0]; (r._base is x, r)",
        "r = T.func.vjp(lambda a: a[:, :2], x)[0]; r.mul_(w); (x.requires_grad, x.sum().backward(), w.grad)",
        "p, q = T.func.vjp(lambda a: (lambda b: (b, b.mT))(a.sin()), x)[0]; q.mul_(w); (q._base is p, p.requires_grad, "
        "p.sum().backward(), w.grad)",
        "r = T.func.vjp(lambda a: a.sin().mT, x)[0]; r._is_view()",
        "r = T.func.vjp(lambda a: a[0].view_as(a[0]), x * w)[0]; g = T.autograd.grad(r.sum(), w); (r._is_view(), g)",
        "r = T.func.vjp(lambda a: T.view_as_complex(a.view(2, 2, 2)), x)[0]; (r._base is x, r)",
        "T.func.grad_and_value(lambda a: a[0, 0])(x)[1]._base is x",
        "T.vmap(lambda a: T.func.vjp(lambda b: b[:2], a)[0])(x)",
        "T.func.grad(lambda a: a.mul(2).add_(a).sum(), has_aux=False)(x); x._version",
    ],
    "in place with a result of another dtype": [
        f"T.vmap(lambda a, b: ({call}, a, b)[1:])(i.clone(), c.clone())"
        for call in (
            *("a.div_(a)", "a.mul_(1.5)", "a.add_(b)", "a.sin_()", "a.atan2_(b)"),
            *("a.copy_(b)", "a.masked_fill_(b > 0, 2.5)", "a.sigmoid_()"),
            *("b.mul_(a)", "b.copy_(a)", "b.logical_not_()", "b.sub_(a)"),
        )
    ],
    "samples without dimensions": [
        f"T.vmap(lambda a: a.{call})(x)"
        for call in (
            *("select(0, 0)", "split(1, 0)", "split(1, -1)", "split([1], 0)", "split_with_sizes([1], 0)", "unbind(0)"),
            *("chunk(1, 0)", "narrow(0, 0, 1)", "transpose(0, 0)", "squeeze(0)", "unfold(0, 1, 1)", "movedim(0, 0)"),
        )
    ],
    "order of saved tensors": [
        f"with hooks: r = {call}\nseen"
        for call in (
            *("y @ x", "y.mm(y * 3)", "T.addmm(y, y * 3, y * 5)", "T.dot(x * 3, x * 5)", "(x * 3) ** (x * 5)"),
            *("T.lerp(x * 3, x * 5, x * 7)", "T.addcmul(x, x * 3, x * 5)", "T.nn.functional.linear(y * 3, y * 5, x)"),
            *("(x * 3) / (x * 5)", "T.atan2(x * 3, x * 5)", "T.addmv(x, y * 3, x * 5)", "T.where(x > 0, x * 3, x)"),
            *("T.nn.functional.layer_norm(y * 3, (3,), x * 5)", "T.baddbmm(y[None], y[None] * 3, y[None] * 5)"),
            *("T.nn.functional.conv1d(y[None] * 3, y[:, :, None] * 5)", "T.addcdiv(x, x * 3, x * 5)"),
        )
    ],
    "tangents": [
        *[
            f"[r.dtype for r in T.func.jvp(lambda a: {call}, (s,), (s,))]"
            for call in ("T.add(a, h, alpha=2)", "h - a", "a * h", "h / a", "T.where(h > 0, a, h)", "T.maximum(a, h)")
        ],
        "T.vmap(T.func.jacfwd(lambda a: T.add(a[0], h)))(T.ones(2, 2))",
        *[
            f"T.func.jvp(T.{name}, (T.tensor([1., 1, 2, N.nan, 1]), T.tensor([1., 2, 1, 1, N.nan])), "
            "(T.ones(5), T.ones(5) * 5))"
            for name in ("fmax", "fmin", "maximum", "minimum")
        ],
        *[
            f"T.func.jvp(lambda a: T.{call}, (T.tensor([0, -0.0, {more}]),), (T.ones(4, dtype=T.{dtype}),))"
            for more, dtype in (("1j, -2 + 1j", "complex64"), ("1.0, -2.0", "float32"))
            for call in (
                *("angle(a)", "abs(a)", "sgn(a)", "nn.functional.prelu(a.real, T.tensor(0.25))"),
                *("nn.functional.prelu(a.real, a.real.sum())", "nn.functional.leaky_relu(a.real)"),
            )
        ],
        *[
            f"with fw.dual_level(): d = fw.make_dual(T.ones(3), T.ones(3)); z = T.zeros(3); {call}; "
            "t = fw.unpack_dual(z).tangent; u = fw.unpack_dual(d).tangent\n(t, u.clone())"
            for call in ("z.eq_(d)", "d.eq_(z)", "z.lt_(d)", "z.copy_(d)", "z.add_(d)", "z.logical_and_(d)")
        ],
    ],
    "tangents of what is written": [
        f"f = lambda a: ({call}, a)[1]; x = T.tensor([[1., 2, 3], [4, 5, 6]]); {transform}"
        for call in (
            *("a[1].mul_(3)", "a[T.tensor(1)].mul_(3)", "a[:2].mul_(a[2])", "a[1].add_(a[0])", "a[1:].sqrt_()"),
            *("a[1].copy_(a[2] * 5)", "a.view(3)[1].mul_(3)", "a[[0, 1]].mul_(3)", "a.mul_(3)", "a[1].zero_()"),
            *(
                "a.__setitem__(1, a[0] * 3)",
                "a[2].fill_(a[0])",
                "a[2].copy_(a[0])",
                "a[1:].fill_(a[0])",
                "a[:2].copy_(a[1:].clone())",
                "a.T.t_().squeeze_()",
            ),
        )
        for transform in (
            "T.func.jvp(f, (x[0].clone(),), (x[0] * 2,))",
            "T.vmap(lambda a: T.func.jvp(f, (a,), (a * 2,)))(x)",
            "T.func.jvp(T.vmap(f), (x,), (x * 2,))",
            "T.vmap(T.func.jacfwd(lambda a: f(a * 1)))(x)",
        )
    ],
    "parts of dual tensors": [
        *[
            f"x = T.ones({shape}, requires_grad=True); g = x * 3\n"
            f"with fw.dual_level(): p = fw.unpack_dual({given})[0]\n"
            "r = T.autograd.grad(p, x, g)[0]; (r is g, r.requires_grad, p._is_view(), p.stride())"
            for shape in ("()", "3", "2, 3")
            for given in ("x", "x.squeeze(())", "fw.make_dual(x, T.ones(x.shape))")
        ],
        *[
            f"x = T.arange(6.).reshape(2, 3){base}.detach()\nwith fw.dual_level():\n"
            f"    {write} = fw.make_dual(T.ones(1), T.ones(1))\n    t = fw.unpack_dual(x)[1]\n(x, t, t.stride())"
            for base in ("", "[:1].expand(2, 3)", "[:, :1].expand(2, 3)", ".T", "[:, 1:]")
            for write in ("x[-1]", "x[:1, :]", "x[0, 0]", "x[:, T.tensor(1)]")
        ],
        *[
            f"w, x = T.full((3,), 2., requires_grad=True), T.arange(1., 4)\n"
            f"r = T.func.jvp(lambda a: {call}, (x,), (T.ones(3),))[1]; x.mul_(2); r.sum().backward(); w.grad"
            for call in ("T.hypot(w, a)", "T.hypot(a, w)", "w / a", "T.atan2(w, a)", "w * a")
        ],
        *[
            f"x = {tensor}\nwith fw.dual_level(): p, t = fw.unpack_dual(x); r = "
            "(p is x, p._base is x, p.is_leaf, t)\nr"
            for tensor in ("T.ones(3)", "T.ones(3, requires_grad=True)", "T.ones(1, 3)[:, 1:]")
        ],
    ],
    "samples in chunks": [
        *[
            f"r = T.vmap(lambda a: a, in_dims={dim}, out_dims={out}, chunk_size={size})(x); (r._is_view(), r)"
            for dim in (0, 1)
            for out in (0, -1)
            for size in (1, 2, 3, 9)
        ],
        "T.vmap(lambda a: x[0], chunk_size=9)(x)",
    ],
    "custom functions": [
        *[
            f"{function('a', settings)}; F.apply({tensor})"
            for settings in ("ctx.save_for_backward(*inputs)", "ctx.save_for_forward(*inputs)", "pass")
            for tensor in ("T.ones(2)", "T.ones(2, requires_grad=True)", "T.ones(2, dtype=T.int64)")
        ],
        f"{function('a * 2', 'ctx.mark_dirty(*inputs)')}; x = T.ones(2)\ntry: F.apply(x)\nexcept RuntimeError as e: "
        "r = str(e)\n(r, x._version)",
        f"{function('a[0] * 2', 'ctx.save_for_backward(*inputs)', 'ctx.saved_tensors[0].mean(0, keepdim=True)[:1]')}; "
        "x = T.ones(2, 3, requires_grad=True)\nF.apply(x).sum().backward(); x.grad",
        *[
            f"{function('a[0] * 2', 'ctx.save_for_backward(*inputs)', gradient)}; x = T.ones(2, 3, requires_grad=True)"
            "; y = F.apply(x)\ntry: y.sum().backward()\nexcept RuntimeError: pass\ny.sum().backward()"
            for gradient in ("(ctx.saved_tensors, grad.sum())[1]", "(ctx.saved_tensors, T.ones(5))[1]")
        ],
        *[
            f"{function('a * 2', settings, '(ctx.saved_tensors, grad)[1]')}; y = F.apply(T.ones(2, requires_grad=True))"
            "; r = y.grad_fn.saved_tensors\ny.sum().backward()\nr if len(r) == 0 else y.sum().backward()"
            for settings in (
                "ctx.save_for_forward(*inputs)",
                "(ctx.save_for_backward(*inputs), ctx.save_for_forward(*inputs))",
            )
        ],
        f"{function('b * 2', 'pass', '(grad.sum(), grad)', 'a, b')}; x = T.ones(2, 4, requires_grad=True)\n"
        "with T.no_grad(): v = x.mT\n"
        "y = F.apply(v, x); y.sum().backward(); (y.grad_fn.next_functions[0], x.grad)",
        f"{function('a.exp_() * 2', 'ctx.save_for_backward(*inputs)', '(ctx.saved_tensors, grad)[1]')}\n"
        "F.apply((T.ones(2, 4, requires_grad=True) * 2).unbind()[0]).sum().backward()",
        f"{function('(a.unbind(1)[0], a.exp_())[0]', 'ctx.mark_non_differentiable(output)')}; "
        "F.apply(T.ones(3, 2, requires_grad=True)).requires_grad",
    ],
    "tangents of expanded tensors": [
        f"T.func.{transform}"
        for given in ("x.expand(2, 3)", "x.expand(2, 3)[0]")
        for transform in (
            *(f"jacfwd(T.sin)({given})", f"hessian(lambda a: a.sin().sum())({given})", f"jacrev(T.sin)({given})"),
            f"jvp(T.sin, ({given},), (T.ones_like({given}),))",
        )
    ],
    "forward of custom functions in transforms": [
        f"write = {write!r}; f = F.apply; r = T.func.{transform}; (x, b, c)"
        for transform in ("grad(lambda a: f(a).sum())(x)", "jvp(f, (x,), (x * 1,))", "jacrev(f)(x)", "jacfwd(f)(x)")
        for write in ("c.add_(1)", "c[0].mul_(a.detach()[0] * 3)", "a.add_(1)")
    ]
    + ["T.func.grad(lambda a: (c.add_(1), a.sum())[1])(x)"],
    "tangents of custom views": [
        f"{function(value)}; F.jvp = staticmethod(lambda ctx, g: {tangent}); r = {transform}; r"
        for value in ("a[1:]", "a.view_as(a)")
        for tangent in ("g.sum() * T.ones(2)", "g", "g * 1")
        for transform in (
            "T.func.jvp(F.apply, (x,), (x * 3,))",
            "T.func.grad(lambda a: T.func.jvp(F.apply, (a,), (a,))[1].sum())(x)",
        )
    ],
    "vmap in inference mode": [
        f"with T.inference_mode({mode}): s = r({call})\ns"
        for mode in (True, False)
        for given in "xi"
        for call in (
            *(f"T.vmap(lambda a: {body})({given})" for body in ("a * 2", "a[0]", "a", "i", "T.ones(2)", "a.mul_(2)")),
            *(f"T.vmap(lambda a: a, chunk_size={size}, out_dims=1)({given})" for size in (1, 2)),
            f"T.vmap(T.func.grad(lambda a: a.square().sum()))({given})",
            f"T.func.grad(lambda a: T.vmap(lambda b: b.square())(a).sum())({given})",
        )
    ],
    "samples that cannot be written": [
        *[
            f"T.vmap(lambda a: c.{call})(T.ones(2, 3))"
            for call in ("eq_(a)", "addcmul_(a, a)", "lerp_(a, 0.5)", "pow_(a)", "fmod_(a)", "hypot_(a)", "xlogy_(a)")
        ],
        *[
            f"T.vmap(lambda a: c.{call})(T.ones(2, 3))"
            for call in ("mul_(a)", "masked_fill_(a > 0, 2)", "clamp_min_(a)")
        ],
        "T.vmap(lambda a: i.logical_or_(a))(T.ones(2, 3))",
    ],
    "numbers of samples": [
        f"T.vmap(lambda a: a.{call})(T.ones(2, 3).to({dtype}))"
        for dtype in ("T.bfloat16", "T.float32")
        for call in ("tolist()", "item()")
    ],
    "results that are the same for all samples": [
        "T.vmap(lambda a: w[0])(x).grad_fn.next_functions[0][0].name()",
        "r = T.vmap(lambda a: w)(x); r.grad_fn.register_prehook(lambda g: seen.append(g)); r.sum().backward(); seen",
    ],
    "no gradient for a view from no_grad mode": [
        "v.register_hook(lambda g: seen.append(g)); v.exp().sum().backward(); (seen, v.grad)",
        "v.register_hook(lambda g: T.ones(7)); v.exp().sum().backward(); v.grad",
        "v.exp().sum().backward(); (v.requires_grad, v.is_leaf, v.grad)",
    ],
    "views from no_grad mode whose base is written": [
        f"x = T.ones(2, 4, requires_grad=True) * 1\nwith T.{mode}(): v = x[0]; {written}.mul_(2)\n"
        "v.retain_grad(); v.retains_grad"
        for mode, written in (("no_grad", "x"), ("no_grad", "v"), ("inference_mode", "v"))
    ],
    "strides of gradients of zeros": [
        f"a = T.ones(2, 3, 4, requires_grad=True); x = 3 - a.mT; y = x * 1; y.{call}; "
        "[g.stride() for g in T.autograd.grad((y * y).sum(), [x, y])]"
        for call in ("le_(-1)", "ne_(x)", "gt_(0)", "copy_(T.ones(2, 4, 3))", "fill_(2)", "round_()", "logical_not_()")
    ],
    "tensors of inference mode and allow_mutation_on_saved_tensors": [
        f"with T.inference_mode(): x = T.ones(2)\nwith T.autograd.graph.allow_mutation_on_saved_tensors(): {call}\nx"
        for call in ("x.mul_(2)", "x.floor_divide_(x)", "T.add(x, x, out=x)", "r = x * 2")
    ],
    "ends of graphs that are written": [
        "T.func.grad(lambda a: (a.mul_(2), a.sum())[1])(T.ones(3) * T.ones(3, requires_grad=True))",
        "x = T.ones(2, 3, requires_grad=True); T.vmap(lambda a: a[None, :1].mul_(2))(x)",
        "x = T.ones(2, 3, requires_grad=True); T.vmap(lambda a: a.mul_(2))(x)",
    ],
    "one of several outputs, seen as other elements": [
        f"f = lambda a: a.{first}.{second}; r = {call}\n(r, r.storage_offset(), r._is_view(), name(r))"
        for first in ("unbind(0)[1]", "split(1, 1)[2]", "chunk(2)[1]", "tensor_split(2, 1)[1]", "select(0, 1)")
        for second in ("imag", "real[..., 1:]", "split(1)[-1].imag", "mT.unbind()[-1].real[1:]")
        for call in (
            "T.func.vjp(F.apply, x[:])[0]",
            "T.func.vjp(f, w * 1)[0]",
            "(lambda h: (f(h), h.mul_(2))[0])(w * 1)",
        )
    ],
    "no gradient for the samples of a Function": [
        f"r = {call}; (r, seen, x.grad, z.grad)"
        for call in (
            "T.vmap(F.apply)(x)[0].sum().backward()",
            "T.vmap(F.apply)(x)[1].sum().backward()",
            "T.vmap(T.vmap(F.apply))(z)[1].sum().backward()",
            "T.vmap(T.func.grad(lambda a: F.apply(a)[1]))(x).detach()",
            "T.func.grad(lambda a: T.vmap(F.apply)(a)[0].sum())(x).detach()",
            "T.vmap(lambda a: T.func.vjp(lambda a: T.vmap(F.apply)(a)[0], a)[1](a)[0])(z).detach()",
        )
    ],
    "views among the gradients of a transform": [
        f"f = lambda a: {body}; r = {call}\nwritten(r)"
        for body in ("a.t()", "a.view(4)", "a[None]", "a.mT.mT", "a.unbind()[0]", "a.sum(0)", "a.squeeze()")
        for call in (
            "T.func.vjp(f, x)[1](T.ones_like(f(x)))[0]",
            "T.func.grad(lambda a: f(a).sum())(x)",
            "T.no_grad()(lambda: T.func.vjp(f, x)[1](T.ones_like(f(x)))[0])()",
            "T.vmap(T.func.grad(lambda a: f(a).sum()))(x[None].clone())[0]",
            "T.func.jvp(T.func.grad(lambda a: f(a).sum()), (x,), (x,))[0]",
        )
    ],
    "tangents that a Function gives in another dtype": [
        f"T.func.jvp(lambda a: {taken.format(called)}, (x,), (x,))[1]"
        for primal in ("rows", "columns")
        for dtypes in (("float32", "complex64"), ("complex64", "float32"), ("float64", "float16"))
        for tangent in ("rows", "columns")
        for called in [f"F(lay['{primal}'].to(T.{dtypes[0]}), lay['{tangent}'].to(T.{dtypes[1]}))(a)"]
        for taken in ("{}", "{}[0]", "{}.mT", "{} * 2")
    ],
    "reshape without a copy": [
        f"f = lambda a: a{part}; {call}"
        for part in ("[..., 0].reshape(-1)", "[..., 0].flatten()", ".mT[..., 1].reshape(4, -1)", ".reshape(-1)")
        for call in (
            *("name(f(w))", "name(T.func.vjp(f, w)[0])", "T.func.vjp(lambda a: (s := f(a)) * len(name(s)), x)[0]"),
            *(
                "name(T.func.vjp(lambda a: f(w), x)[0])",
                "name(T.vmap(f)(w[None]))",
                "name(T.func.jvp(f, (w,), (x,))[1])",
            ),
        )
    ],
}

test_program = compared(KINDS, BEFORE)
