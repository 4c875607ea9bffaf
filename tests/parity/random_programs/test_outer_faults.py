"""What whole random programs have found where transforms meet what is outside of them: ways to inputs that are over,
custom Functions whose results leave, captured tensors, and derivatives beside infinities.

For each kind of fault there are short programs whose last line is compared.
"""

from tests.parity.random_programs.found import compared

NOTED = """
seen = []
def note(*values):
    seen.append([v if v is None or isinstance(v, bool) else (v.shape, v.requires_grad) for v in values])
def function(body):
    class F(T.autograd.Function):
        @staticmethod
        def forward(*a): return body(*a)
        @staticmethod
        def setup_context(ctx, inputs, output): ctx.count = len(inputs)
        @staticmethod
        def backward(ctx, *grads):
            note(*ctx.needs_input_grad, *grads)
            return (T.ones(2, 3) * 7,) * ctx.count
    return F.apply
def last(result): return result[1] if isinstance(result, tuple) else result
x, w = T.ones(2, 3), T.ones(2, 3, requires_grad=True)
"""
# What stands in front of the lines of a kind.
BEFORE = {
    "samples that vmap moves": "x = T.arange(12.).view(3, 4).requires_grad_(); h = x * 1; seen = []",
    "views of no_grad mode given to Functions": NOTED + "no = lambda f: T.no_grad()(f)(); u = no(lambda: w[:])",
    "hooks behind zero tangents": "fw = T.autograd.forward_ad; seen = []; x = T.ones(3, requires_grad=True)",
    "captured views that may not be read": "h = T.ones(4, requires_grad=True) * 1; v = h.split(2)[0]; h.mul_(2); "
    "y = T.ones(2); f = lambda a: (v.log() * a).sum()",
    "versions and saving of tensors of inference mode": "x = T.ones(3, requires_grad=True)\n"
    "def inside(f):\n    with T.inference_mode(): return f()\ni = inside(lambda: T.ones(3))",
    "gradients that cross vmap": "x = T.ones(2, 3, 4, requires_grad=True)",
    "names of the parts of dual tensors": "fw = T.autograd.forward_ad\n"
    "x = T.ones(4, 1, requires_grad=True); h = x * 1; level = fw.enter_dual_level(); d = fw.make_dual(x, T.ones(4, 1))",
    "views of no_grad mode that a transform returns": "x = T.ones(2, 3); w = T.ones(3, requires_grad=True); "
    "no = lambda f: T.no_grad()(f)(); u = no(lambda: w[:])",
    "products of one factor": "tried = lambda x, f: [t.requires_grad for t in (T.func.grad(lambda a: f(a).sum())(x), "
    "*T.func.jvp(f, (x,), (T.ones_like(x),)))]",
    "variances of samples": "x = T.arange(6.).view(2, 3).requires_grad_()\n"
    "def tried(f, x=x): return (lambda g: (g, g.requires_grad))(T.autograd.grad(f(x).sum(), x, create_graph=True)[0])",
    "integers filled by sample": "x, y = T.ones(4, 3, dtype=T.int16), T.ones(4, requires_grad=True)",
    "views that a Function returns": NOTED,
    "ways to inputs that are over": NOTED,
    "history of views that leave": """
def tree(n): return n and (type(n).__name__, [tree(m) for m, _ in n.next_functions])
def aux(f, x): return T.func.grad_and_value(lambda a: (a.sum(), f(a)), has_aux=True)(x)[1][1]
def write(a): T.no_grad()(a.mul_)(2)
w = T.ones(3, 3, requires_grad=True)""",
    "views that the function makes unreadable": "x = T.ones(4, requires_grad=True); h = x * 1\n"
    "no = lambda f: T.no_grad()(f)()",
    "captured tensors outside of grad mode": "facts = lambda t: (t.requires_grad, t.is_leaf, t._is_view(), t._version)"
    "\nw = T.ones(2, 3, requires_grad=True); h = w * 1; x = T.ones(2); c = T.ones(2, 3)",
    "inputs of inference mode": "no = lambda f: T.no_grad()(f)(); inference = lambda f: T.inference_mode()(f)()\n"
    "with T.inference_mode(): x = T.ones(2, 2)",
    "what only gradients of captured tensors need": "x = T.arange(1., 5).view(2, 2)\n"
    "w = T.arange(2., 6).view(2, 2).requires_grad_(); h = w * 1",
    "gradients that cannot be summed to a sample": """
class F(T.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(a): return a * 2
    @staticmethod
    def setup_context(ctx, inputs, output): pass
    @staticmethod
    def backward(ctx, grad): return wrong(grad)
x = T.ones(2, 3, requires_grad=True)""",
    "passes to the result of vmap": "x, k = T.arange(6.).view(2, 3).requires_grad_(), T.ones(2, requires_grad=True)\n"
    "seen = []; x.register_hook(lambda g: seen.append(g))",
    "views of data that leave": "x, w = T.arange(4.).view(2, 2), T.ones(2, 2, requires_grad=True)",
    "parts without elements that are joined": "x, e = T.arange(4.).view(2, 2), T.zeros(0, dtype=T.float64)",
    "tensors of inference mode that were detached": "x = T.arange(4.).view(2, 2)\n"
    "with T.inference_mode(): i = T.ones(2, 2)",
    "data in the forward of a Function": """
class F(T.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(a, b): return (run(a, b), a * 1)[1]
    @staticmethod
    def setup_context(ctx, inputs, output): pass
    @staticmethod
    def backward(ctx, grad): return grad * 3, None
x, c = T.ones(2, 3), T.ones(3)""",
    "tangents beside infinities": "fw = T.autograd.forward_ad\n"
    "def dual(f, x):\n"
    "    x.requires_grad_()\n"
    "    with fw.dual_level(): t = fw.unpack_dual(f(fw.make_dual(x, T.ones_like(x)))).tangent.clone()\n"
    "    t.sum().backward()\n"
    "    return t, x.grad\n"
    "x, z = T.tensor([0., 1., -1., 2.]), T.zeros(4)",
    "tangents of views where no formula runs": "fw = T.autograd.forward_ad; off = fw._set_fwd_grad_enabled\n"
    "def dual(f, mode, x):\n"
    "    with fw.dual_level():\n"
    "        d = fw.make_dual(x, T.arange(1., 7).view(3, 2))\n"
    "        with mode: y = f(d)\n"
    "        parts = *fw.unpack_dual(y), *fw.unpack_dual(y * 2), *fw.unpack_dual(d)\n"
    "    return [e if e is None else (e.tolist(), e.stride(), e.requires_grad) for e in parts]\n"
    "x = T.ones(3, 2)",
    "captured views from no_grad mode": "facts = lambda t: (t.requires_grad, t.is_leaf, t.grad_fn is not None)\n"
    "w, z, x = T.ones(2, 3, requires_grad=True), T.ones(2, 3, requires_grad=True), T.ones(2, 3); h, s = w * 2, []\n"
    "with T.no_grad(): v, u = h[:1], w[:1]\n"
    "def sent(*results):\n"
    "    for each in results:\n"
    "        if each.requires_grad: each.sum().backward()\n"
    "    return [each.tolist() for each in results], [facts(each) for each in results], w.grad, z.grad, s",
}
KINDS = {
    "samples that vmap moves": [
        f"y = T.vmap(lambda a: {f}, out_dims={to})({given}); {asked}"
        for f in ("a * 2", "a", "a.view(2, 2)", "T.no_grad()(a.view)(2, 2)")
        for given, to in (("h", 1), ("x", 1), ("h", 0))
        for asked in (
            "(y._is_view(), y._base is h, y.grad_fn and y.grad_fn.name())",
            "h.mul_(2); y.sum().backward(); x.grad",
        )
    ]
    + [
        "y = T.vmap(lambda a: a * 2, out_dims=-1)(x); y.copy_(T.ones(1)); "
        "y.grad_fn.register_hook(lambda *grads: seen.append(grads)); y.sum().backward(); seen",
        "y = T.vmap(lambda a: a.split(2), out_dims=1)(h)[0]; y.mul_(2)",
        "[(y._is_view(), y.stride()) for y in T.func.jvp(T.vmap(lambda a: a * 2, out_dims=1), (x,), (x,))]",
    ],
    "views of no_grad mode given to Functions": [
        f"F = function(lambda a, b: a + b); y = last({call}); (y.requires_grad, y.grad_fn and type(y.grad_fn).__name__)"
        for call in (
            "T.func.vjp(lambda a: F(a, u), x)[0]",
            "T.func.vjp(lambda a: F(a, w.detach()), x)[0]",
            "F(x, u)",
            "T.func.grad_and_value(lambda a: F(a, u).sum())(x)",
        )
    ]
    + [
        f"F = function(lambda a: (a.{write}(a * 1), a * 1)[1]); T.func.{call}"
        for write in ("copy_", "mul_")
        for call in ("jacrev(F)(u)", "vjp(F, u)[1](x)")
    ],
    "hooks behind zero tangents": [
        f"level = fw.enter_dual_level(); d = fw.make_dual(x * x, T.ones(3)); e = d + d; {watch}; "
        f"q = fw.unpack_dual({product})[1].clone(); fw.exit_dual_level(); q.sum().backward(); (seen, x.grad)"
        for watch in (
            "e.register_hook(lambda g: seen.append(g))",
            "e.grad_fn.register_hook(lambda *g: seen.append(g))",
            "pass",
        )
        for product in ("e @ T.ones(3)", "e * T.ones(3)")
    ]
    + [
        f"h = {several}; {watch}; level = fw.enter_dual_level(); d = fw.make_dual(h, T.ones(3)); "
        "q = fw.unpack_dual(d @ T.ones(3))[1].clone(); fw.exit_dual_level(); q.sum().backward(); (seen, x.grad)"
        for several in ("(x * x).split(3)[0]", "(x * x).cummax(0)[0]", "(x * x)[None].unbind(0)[0]")
        for watch in ("h.register_hook(lambda g: seen.append(g))", "h.retain_grad()")
    ],
    "captured views that may not be read": [
        f"T.set_grad_enabled({mode}); found = {call}; T.set_grad_enabled(True); found"
        for mode in (False, True)
        for call in (
            "T.func.grad(f)(y)",
            "T.func.jvp(f, (y,), (y,))",
            "T.func.jvp(T.func.grad(f), (y,), (y,))",
            "T.func.grad(lambda a: T.func.grad(f)(a).sum())(y)",
            "T.vmap(f)(T.ones(2, 2))",
        )
    ],
    "versions and saving of tensors of inference mode": [
        f"a = i.{copy}; inside(lambda: a.add_(1)); a.mul_(2); (a._version, a.is_inference(), a)"
        for copy in ("detach()", "data")
    ]
    + [
        f"T.func.jvp(lambda a: {product}, ({given},), (T.ones(3),))"
        for product in ("x * a", "x / a", "(x * 1)[:2].mul_(a[:2])", "a * 2", "x * i", "x + i")
        for given in ("i", "T.ones(3)")
    ],
    "gradients that cross vmap": [
        f"y = T.vmap({f}, in_dims={at}, out_dims={to})(x); g = y * 1; h = T.autograd.grad(y, x, g{more})[0]; "
        "(h._is_view(), h._base is g, h.requires_grad, h.is_leaf, h is g)"
        for f in ("lambda a: a", "lambda a: a.mT", "lambda a: a[None]", "lambda a: a.sin()", "T.vmap(lambda a: a)")
        for at, to in ((0, 0), (1, 0), (0, 1))
        for more in ("", ", create_graph=True")
    ]
    + [
        "z = x * 1; w = T.vmap(lambda a: a, in_dims=1)(z); h, k = T.autograd.grad((w * w).sum(), (z, w)); h._base is k",
        "y = T.stack([T.ones(2, 3, 4), x]); T.autograd.grad(y, x, y * 1, create_graph=True)[0].mul_(2).grad_fn.name()",
    ],
    "names of the parts of dual tensors": [
        f"p = {part}; fw.exit_dual_level(); {asked}"
        for part in (
            "d",
            "fw.unpack_dual(d)[0]",
            "fw.unpack_dual(d * 2)[0]",
            "fw.unpack_dual(h)[0]",
            "fw.unpack_dual(x)[0]",
        )
        for asked in ("(p.grad_fn.name(), p.stride())", "T.autograd.grad(p, x, p * 1)[0]._is_view()")
    ]
    + [
        "p = fw.unpack_dual(d.split(2)[0])[0]; fw.exit_dual_level(); p.mul_(2)",
        "p = fw.unpack_dual(fw.make_dual(h, h).split(2)[0])[0]; fw.exit_dual_level(); h.mul_(2); p.is_leaf",
        "fw.exit_dual_level(); T.func.jvp(lambda a: a, (x,), (x,))[0].grad_fn.name()",
    ],
    "views of no_grad mode that a transform returns": [
        f"f = lambda a: {value}; {call}"
        for value in (
            "no(lambda: a[:])",
            "no(lambda: a[0][...])",
            "no(lambda: a[:] * 2)",
            "no(lambda: a[:]) * 2",
            "no(lambda: (a * 2)[0])",
            "(a * 2, no(lambda: a[:]))[1]",
            "no(lambda: a[:].detach())",
            "u",
            "u * 2",
        )
        for call in (
            "y, v = T.func.vjp(f, x); (y.requires_grad, v(y))",
            "T.func.grad(lambda a: f(a).sum())(x)",
            "T.func.jacrev(f)(x)",
            "T.vmap(lambda a: T.func.vjp(f, a)[1](f(a)))(x)",
            "T.func.grad(lambda b: T.func.vjp(lambda a: f(b), b)[1](f(b))[0].sum())(x)",
            "y, v = T.func.vjp(lambda a: (a * 2, f(a)), w); v(y)",
        )
    ],
    "products of one factor": [
        f"tried(T.ones({shape}, requires_grad=True), lambda a: a.prod({dim}))"
        for shape, dim in (("1", ""), ("1, 1", ""), ("2", ""), ("2, 1", "1"), ("2, 1", "0"), ("()", ""), ("1", "0"))
    ],
    "variances of samples": [
        f"tried(T.vmap(lambda a: a{part}.{op}(correction={correction})))"
        for part in ("", "[:1]", "[:0]")
        for op in ("var", "std")
        for correction in (1, 3, 5)
    ]
    + ["T.vmap(T.func.grad(lambda a: a.var(correction=3)))(x.detach())"],
    "integers filled by sample": [
        f"x = x.to(T.{dtype}); T.vmap(lambda a, b: ({write}, a)[1])(y, x); x.requires_grad"
        for write in ("b.fill_(a)", "b.__setitem__(slice(None, None, 2), a)", "b.copy_(a)")
        for dtype in ("int16", "float32")
    ],
    "views that a Function returns": [
        f"F = function(lambda a: {body}); s = {source}; r = last(T.func.vjp(F, s)[0])\n{what}"
        for body in ("a", "a[..., :]", "a.view(2, 3)", "a * 2", "(a * 2, a[:1])", "(a[0], a[1])")
        for source in ("w", "w * 1", "x")
        for what in (
            "s.requires_grad and r.sum().backward(); (seen, w.grad, r.requires_grad, r._base is None)",
            "r.mul_(2); (r._version, s._version, type(r.grad_fn).__name__)",
            "T.no_grad()(s.mul_)(2); (r.requires_grad, r.sum())",
            "v = r[..., :1]; s.requires_grad and v.sum().backward(); (seen, w.grad)",
        )
    ]
    + [
        f"s = {source}; f = lambda a: {body}; r = T.func.vjp(f, s)[0]\n{what}"
        for body in ("a.unbind(0)[0]", "a.split(1)[0][0]", "a.unbind(0)[0][:1]", "T.no_grad()(lambda: a[0])()")
        for source in ("w", "w * 1")
        for what in (
            "r.sum().backward(); w.grad",
            "r.mul_(2); r._version",
            "T.no_grad()(s.mul_)(2); (r.requires_grad, r.sum())",
        )
    ],
    "history of views that leave": [
        f"x = {source}; y = {call}(lambda a: {body}, x){part}; "
        "(tree(y.grad_fn), y._base is x, y._version, T.autograd.grad(y, x, y.clone())[0].requires_grad)"
        for body in (
            *("a[0]", "a.squeeze(())", "a.t()[0]", "a.expand(2, 3, 3)", "a.view(9)", "a.split(1)[0]", "(a * 2)[0]"),
            *("(a[0], write(a))[0]", "T.func.vjp(lambda b: b[0], a)[0]", "T.func.vjp(lambda b: a[0], a[1])[0]"),
            *("T.vmap(lambda b: b[0])(a)", "w[0] * a", "(a.unbind()[0], write(a))[0] * 1"),
        )
        for source in ("w", "w * 1", "(w * 1)[:]")
        for call, part in (("T.func.vjp", "[0]"), ("aux", ""))
        if "write" not in body or call != "aux"
    ],
    "ways to inputs that are over": [
        f"F = function(lambda a, b: {body}); r = {call}; r.sum().backward(); (seen, w.grad)"
        for body in ("a * b", "b * 1")
        for call in (
            "T.func.vjp(lambda a: F(a, w), x)[0]",
            "T.func.vjp(lambda a: F(w, a * 2), x * 1)[0]",
            "T.func.jvp(lambda a: T.func.vjp(lambda b: b * w, a)[0], (x,), (x,))[0]",
        )
    ]
    + [
        f"r = {call}; n = r.grad_fn; n = n.next_functions[0][0] if 'Sum' in n.name() else n\n"
        "n.register_hook(lambda i, o: note(*i, *o)); r.sum().backward(); (seen, w.grad)"
        for body in (
            *("a @ w.t()", "a * w", "(a * 2) * w", "T.stack([a, w])", "T.cat([w, a * 1])", "T.where(a > 0, a, w)"),
            *("T.addcmul(a, a * 2, w)", "w.index_put((T.tensor([0]),), a[0])"),
        )
        for call in (
            f"T.func.vjp(lambda a: {body}, x)[0]",
            f"T.func.grad_and_value(lambda a: T.func.grad_and_value(lambda a: ({body}).sum())(a)[1])(x)[1]",
        )
    ]
    + [
        "[(type(n).__name__, i) for n, i in T.func.vjp(lambda a: a * 2, w)[0].grad_fn.next_functions]",
        "[(type(n).__name__, i) for n, i in T.func.vjp(lambda a: a * w, x)[0].grad_fn.next_functions]",
    ],
    "views that the function makes unreadable": [
        f"v = {view}\ndef f(a):\n    {write}\n    return (a * 2).sum()\n{call}"
        for view in (
            *("no(lambda: h[:])", "no(lambda: h[:]).split(2)[1]", "h.split(2)[1]", "no(lambda: x[:])"),
            *("no(lambda: x[:]).split(2)[1]", "no(lambda: x.expand(4)).split(2)[1]", "h[:]"),
        )
        for write in ("a.logical_not_()", "a.fill_(1)", "T.no_grad()(a.mul_)(2)", "pass")
        for call in (
            "T.func.grad(f)(v)",
            "T.vmap(T.func.grad(f))(v)",
            "T.func.grad(lambda b: T.vmap(f)(b).sum())(v)",
            "T.func.jvp(f, (v,), (T.ones_like(v),))",
        )
    ],
    "captured tensors outside of grad mode": [
        f"with {mode}: r = {call}\n{what}"
        for mode in ("T.no_grad()", "T.enable_grad()", "T.inference_mode()")
        for value in ("h", "w", "h.mT", "w[0]", "h * 2", "h.unbind(0)[0]", "T.func.vjp(lambda b: h.mT, a)[0]", "a[:1]")
        for call in (f"T.func.vjp(lambda a: {value}, x)[0]", f"T.func.vjp(lambda a: {value}, h[0][:2])[0]")
        for what in ("(facts(r), r is h, r is w, r._base is h, r._base is w)", "r.detach().zero_(); (h, w)")
    ],
    "inputs of inference mode": [
        f"def f(a):\n    {write}\n    return a * 1\n"
        f"try: r = {call}\nexcept RuntimeError as e: r = str(e)\n(r, x.tolist())"
        for write in (
            *("no(lambda: a.mul_(2))", "no(lambda: a[0].mul_(2))", "a.detach()[0].mul_(2)", "a.logical_not_()"),
            *("a.data.mul_(2)", "a.data[0].mul_(2)"),
            *("inference(lambda: a.mul_(2))", "no(lambda: a.view(4)[:1].fill_(3))", "a.mul_(2)"),
        )
        for call in (
            *("T.func.vjp(f, x)[0]", "T.func.jvp(f, (x,), (T.ones_like(x),))[0]", "T.vmap(f)(x)"),
            *("T.vmap(lambda a: T.func.vjp(f, a)[0])(x)", "T.func.grad(lambda a: T.vmap(f)(a).sum())(x)"),
        )
    ],
    "data in the forward of a Function": [
        f"def run(a, b): return ({value}).data\n{call}"
        for value in ("a", "b", "a * b", "b * 1", "a.detach()")
        for call in (
            "T.vmap(T.func.grad(lambda a: F.apply(a, c).sum()))(x)",
            "T.func.grad(lambda a: F.apply(a, c).sum())(x)",
            "T.func.grad(lambda a: T.vmap(lambda b: F.apply(b, c))(a).sum())(x)",
            "T.vmap(T.func.grad(lambda a: (run(a, c) * a).sum()))(x)",
        )
    ],
    "tangents beside infinities": [
        call
        for op in (
            *("a / 0", "T.div(a, z)", "a.div(z, rounding_mode=None)", "x / (a / z)", "(a / z).mean()", "a / x * a"),
            *("a.log1p().mul(-1)", "a.log1p().mul_(-1)", "a.log() * x", "T.where(a > 0, a, z) / z", "1 / a"),
            *("T.addcdiv(x, a, z)", "T.addcmul(x, a, 1 / z)", "a.pow(-1) * z", "(a / z) * (x / z)", "a.sqrt() / z"),
        )
        for call in (
            f"dual(lambda a: {op}, x)",
            f"dual(lambda a: {op}, T.tensor([3., 1., 0.5, 0.25]))",
            f"T.func.jvp(lambda a: {op}, (x,), (x * 0 + 1,))[1]",
            f"T.func.grad(lambda b: T.func.jvp(lambda a: {op}, (b,), (b * 0 + 1,))[1].sum())(x)",
        )
    ],
    "tangents of views where no formula runs": [
        f"x = {source}\n{call}"
        for body in (
            *(
                "d[1]",
                "d.t()[0]",
                "d.view(6)[2:]",
                "d.expand(2, 3, 2)",
                "d.unbind(1)[1]",
                "d.split(2)[1]",
                "d.view_as(d)",
            ),
            *("d.reshape(6)", "d.diagonal()", "d.as_strided((2,), (1,), 1)", "d.detach()", "d.data[0]", "(d * 2)[0]"),
            *("d[1:].mul_(2)", "d.mul_(2)[0]", "T.view_as_complex(d)", "T.view_as_complex(d).real[:1]", "d"),
        )
        for source in ("x", "x * T.ones(2, requires_grad=True)")
        for call in (
            f"dual(lambda d: {body}, T.inference_mode(), x)",
            f"dual(lambda d: {body}, off(False), x)",
            f"def f(d):\n    with off(False): return {body}\nT.func.jvp(f, (x,), (T.arange(1., 7).view(3, 2),))",
        )
    ],
    "captured views from no_grad mode": [
        f"sent(*({call},))" if "(*" not in call else f"sent({call})"
        for view, source in ("vx", "uz")
        for body in (
            *(f"{view}.sum()", f"({view} * a).sum()", f"({view} @ a.t()).mT", f"(a.detach() * {view}).sum()"),
            *(f"{view}[0] * 1", f"T.func.grad(lambda b: ({view} * b).sum())(a)"),
            *(f"s.append(facts({view} * a)) or a * 1", f"s.append(facts({view}[0])) or a * 1"),
        )
        for call in (
            f"T.func.vjp(lambda a: {body}, {source})[0]",
            f"T.func.vjp(lambda a: ({body}).sum(), {source})[1](T.ones(()))[0]",
            f"*T.func.grad_and_value(lambda a: ({body}).sum())({source})",
            f"*T.func.jvp(lambda a: {body}, ({source},), (x,))",
            f"T.vmap(lambda a: T.func.grad_and_value(lambda a: ({body}).sum())(a)[1])({source}[:, None])",
            f"T.func.hessian(lambda a: ({body}).sum())({source})",
            f"T.autograd.functional.hessian(lambda a: ({body}).sum(), {source})",
        )
    ]
    + [
        f"p = v * v; {before}; f = lambda a: {body}; y = {source}\nsent({call})"
        for before, source in (("pass", "p"), ("p = p * 2", "p"), ("q = p + h[:1]", "q"), ("pass", "x[:1]"))
        for body in ("a * a", "a * p", "p * 2", "s.append((facts(p * 1), facts(a * p))) or a * a.detach()")
        for call in (
            "T.func.vjp(f, y)[0]",
            "T.func.vjp(f, y)[1](y)[0]",
            "*T.func.grad_and_value(lambda a: f(a).sum())(y)",
            "*T.func.jvp(f, (y,), (y,))",
            "T.func.grad(lambda a: T.func.grad(lambda b: (f(b) * f(a)).sum())(a).sum())(y)",
        )
    ],
    "views of data that leave": [
        f"r = {call}\nr._base is x, r._base is w, r._is_view(), r.requires_grad, r"
        for source in ("x", "w")
        for body in ("a.data[0]", "a.data.unsqueeze(0)", "a[0].data", "a.data[0].T", "w.data[0]", "(a * 1).data[0]")
        for call in (
            f"T.func.jvp(lambda a: {body}, ({source},), (x * 2,))[0]",
            f"T.func.vjp(lambda a: {body}, {source})[0]",
            f"T.func.jvp(lambda b: T.func.jvp(lambda a: {body}, (b,), (b,))[0], ({source},), (x * 2,))[0]",
            f"T.vmap(lambda b: T.func.jvp(lambda a: {body}, (b,), (b,))[0])({source}[None])",
        )
    ],
    "gradients that cannot be summed to a sample": [
        f"{wrong}\n{call}"
        for wrong in ("wrong = lambda g: g.sum()", "wrong = lambda g: g[..., :1].expand(*g.shape[:-1], 4)")
        for call in (
            "T.vmap(F.apply)(x).sum().backward()",
            "T.vmap(T.vmap(F.apply))(x[None]).sum().backward()",
            "T.vmap(F.apply, in_dims=1, out_dims=-1)(x.T).sum().backward()",
            "T.func.grad(lambda a: T.vmap(F.apply)(a).sum())(x.detach())",
            "F.apply(x).sum().backward()",
            "F.apply(T.vmap(lambda a: a * 2)(x)).sum().backward()",
        )
    ],
    "passes to the result of vmap": [
        f"y = T.vmap(lambda a: {body}, in_dims={dim}, out_dims={out})(x)\n"
        f"y.sum().backward(inputs={inputs}{keep})\n{{again}}\ny.grad, x.grad, k.grad, seen".replace("{again}", again)
        for body in ("a.exp()", "a.cummin(-1)[0]", "a * 2", "(a * k[0]).relu()", "a[0].square()", "a")
        for dim, out in ((0, 0), (1, 0), (0, 1))
        if body != "a[0].square()" or out == 0
        for inputs in ("[y]", "[k, y]", "[x, y]")
        for keep in ("", ", retain_graph=True")
        for again in ("pass", "y.sum().backward()", "T.autograd.grad(y.sum(), x)")
    ],
    "parts without elements that are joined": [
        f"r = T.vmap(lambda a: T.{op}([{tensors}]))({samples})\nr.dtype, r"
        for op in ("cat", "hstack", "concat")
        for tensors in ("e, a", "a, e", "a, e, e.half()", "a, a.half(), e")
        for samples in ("x > 1", "x", "x[:, :, None]", "x[0, 0].expand(2, 2)")
    ],
    "tensors of inference mode that were detached": [
        f"{value}{write}"
        for value in ("i.detach()", "i.T.detach()", "i.detach().requires_grad_(False)")
        for write in (
            *(f".index_fill_({dim}, T.tensor([0]), {number})" for dim in (0, 1) for number in ("2", "T.tensor(2.)")),
            *(".index_copy_(1, T.tensor([0]), x[:, :1])", ".masked_fill_(x > 2, 7)", ".fill_(2)", ".fill_diagonal_(2)"),
        )
    ],
    "what only gradients of captured tensors need": [
        f"def f(a):\n    b = {made}\n    y = {body}\n    {write}\n    return y.sum()\n{call}"
        for made in ("a * 2", "a[:1] + 1")
        for body in ("b * w", "b / w", "b @ h", "T.addmm(a, b, h) if len(b) > 1 else b @ h", "w ** b", "b.lerp(w, b)")
        for write in ("b.zero_()", "b[-1:] = 1")
        for call in (
            "T.func.grad(f)(x)",
            "T.func.grad(lambda a: T.func.grad(f)(a).sum())(x)",
            "T.func.grad(lambda w: f(x * w))(w)",
            *(
                [] if "(" in body or "**" in body else ["T.func.vjp(f, x)[1](T.ones(()))[0]"]
            ),  # those need it themselves
            "T.autograd.grad(T.func.grad(f)(x).sum(), w)",
        )
    ],
}

test_program = compared(KINDS, BEFORE)
