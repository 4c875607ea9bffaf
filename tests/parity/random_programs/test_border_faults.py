"""What whole random programs have found at the borders of transforms: versions of what is written through `data`, which
results of `vmap` are views and of what, and custom Functions: what they see and make in inference mode.

For each kind of fault there are short programs whose last line is compared.
"""

from tests.parity.random_programs.found import compared

# What stands in front of the lines of a kind.
BEFORE = {
    "writes to parameters of inference mode": "inside = lambda f: T.inference_mode()(f)()\n"
    "i = inside(lambda: T.ones(2))",
    "gradients to be retained inside of transforms": "x, w = T.ones(2, 3), T.ones(2, 3, requires_grad=True)\n"
    "h = w * 1; no = lambda f: T.no_grad()(f)(); v = no(lambda: h[:1])",
    "reasons to refuse to join": "x = T.ones(3, 1)",
    "views that a Function has made and that were written": """
class F(T.autograd.Function):
    @staticmethod
    def forward(a): return forward(a)
    @staticmethod
    def setup_context(ctx, inputs, output): pass
    @staticmethod
    def backward(ctx, grad): return grad[:, None].expand(2, 3, 4)
x = T.arange(24.).view(2, 3, 4).requires_grad_()""",
    "numbers of samples inside of a transform": "x, c = T.tensor([1., 2., 1.]), T.ones(3, 2)",
    "tangents that an op leaves as they are": "x = T.arange(24.).view(2, 3, 4); t = x * 2",
    "samples without elements that are joined": "z = T.ones(1)",
    "views by strides of views that a Function returns": """
class F(T.autograd.Function):
    @staticmethod
    def forward(ctx, a): return a.t()
    @staticmethod
    def backward(ctx, grad): return grad.t()
x = T.arange(24.).view(3, 4, 2)[..., 0].requires_grad_()""",
    "versions of what is written through data": """
seen = []
def note(*tensors): seen.append([t._version for t in tensors])
def inference(f): return T.inference_mode()(f)()
x, w = T.ones(3), T.ones(3, requires_grad=True)
def twice(t): return t.data.mul_(2)""",
    "versions while saved tensors may be written": """
seen = []
def note(*tensors): seen.append([t._version for t in tensors])
def mutating(f):
    with T.autograd.graph.allow_mutation_on_saved_tensors(): return f()
x, w = T.ones(2), T.ones(2, requires_grad=True)""",
    "passes outside over what data has written": """
def twice(t): return t.data.mul_(2)
def last(result): return result[1] if isinstance(result, tuple) else result
x, w = T.arange(1., 4), T.full((3,), 3., requires_grad=True)""",
    "results that the function has kept": """
x, w, kept = T.arange(1., 4), T.full((3,), 3., requires_grad=True), []
def keep(t): return (kept.append(t), t)[1]
def facts(): return (k.requires_grad, r.requires_grad, k.is_leaf, k._base is None, r.grad_fn and r.grad_fn.name())
def name(t): return [n[0].name() for n in t.grad_fn.next_functions if n[0]] if t.grad_fn else None""",
    "views by memory of views that vmap is given": "x = T.arange(1., 7).view(3, 2).requires_grad_(); h = x * 1",
    "inputs in the forward of a Function": """
seen = []
class F(T.autograd.Function):
    @staticmethod
    def forward(a): return (note(a), a * 2)[1]
    @staticmethod
    def setup_context(ctx, inputs, output): pass
    @staticmethod
    def backward(ctx, grad): return grad
F = F.apply
def note(a):
    for t in (a, a[0], a.mT, a * 1, a.detach(), a.data):
        seen.append((t.requires_grad, t.is_leaf, t.grad_fn and t.grad_fn.name()))
no = lambda f: T.no_grad()(f)
x, w = T.ones(2, 3), T.ones(2, 3, requires_grad=True)
h = w * 1; v = no(lambda: h[:])(); u = no(lambda: w[:])()""",
    "samples that a view leaves where they are": "p = T.ones(1, 2, 1, 4, requires_grad=True)\n"
    "facts = lambda t: (t._is_view(), t.shape, t.stride(), t.is_leaf, t.grad_fn and t.grad_fn.name())",
    "results of a Function in inference mode that vmap returns": """
def inference(f): return T.inference_mode()(f)()
class F(T.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(a): return inference(lambda: run(a))
    @staticmethod
    def setup_context(ctx, inputs, output): pass
    @staticmethod
    def backward(ctx, grad): return grad * 3
F = F.apply
facts = lambda t: (t.requires_grad, t.is_leaf, t.is_inference(), t._is_view())
x, w = T.ones(2, 3), T.ones(2, 3, requires_grad=True)""",
    "captured tensors of inference mode": "x = T.ones(4)\nwith T.inference_mode(): i, e = T.ones(4), T.ones(0)",
    "results of vmap that are views": "x, m = T.ones(2, 3), T.ones(4, 3)\n"
    "facts = lambda t: (t._is_view(), t[:]._base is t, t.shape, t.stride())",
}
KINDS = {
    "gradients to be retained inside of transforms": [
        f"f = lambda a: (({tensor}).retain_grad(), a.sum())[1]; {call}"
        for tensor in ("no(lambda: a[:1])", "no(lambda: (a * 1)[:1])", "no(lambda: a * 1)", "a * 1", "a", "v", "h", "w")
        for call in ("T.func.grad(f)(x)", "T.func.jvp(f, (x,), (x,))", "T.vmap(T.func.jacrev(f))(x)", "T.vmap(f)(x)")
    ],
    "writes to parameters of inference mode": [
        f"p = {made}; r = (p.is_inference(), p.requires_grad); {write}; r, p.detach() * 1, i.tolist()"
        for made in (
            *("T.nn.Parameter(i, requires_grad=False)", "inside(lambda: T.nn.Parameter(i, requires_grad=False))"),
            *("i.detach()", "i.data", "i[:1]", "T.nn.Buffer(i)", "T.Tensor._make_subclass(T.nn.Parameter, i)", "i"),
            "inside(lambda: T.Tensor._make_subclass(T.nn.Parameter, i))",
        )
        for write in ("p.mul_(2)", "p.zero_()", "p.copy_(p * 3)", "inside(lambda: p.add_(1))", "p.data.mul_(2)")
    ]
    + ["T.nn.Parameter(i).mul_(2)", "T.nn.Parameter(i).sum().backward()", "(T.nn.Parameter(i) * 2).requires_grad"],
    "reasons to refuse to join": [
        f"T.cat([{given}], {dim}, out=T.empty({size}, dtype=T.{dtype}))"
        for given in ("x, x", "x, T.ones(2, 3)", "T.ones(0), x", "T.ones(0)", "x, T.ones(())", "T.ones(2), x")
        for dim in (0, 5, -3)
        for size, dtype in ((0, "int64"), (0, "float64"), ("(6, 1)", "bool"))
    ],
    "views that a Function has made and that were written": [
        f"forward = lambda a: {view}; t = F.apply(x * 1); {write}; r = {read}; "
        "(r.requires_grad, r.requires_grad and r.sum().backward(), x.grad)"
        for view in ("a.cumsum(0).unbind(1)[0]", "a.cumsum(0)[:, 0]", "a[:, 0]", "a[:, 0] * 1")
        for write in ("None", "T.no_grad()(t.mul_)(2)")
        for read in (
            *("t * 2", "T.vmap(lambda b: b * 2)(t)", "T.vmap(lambda b: b)(t)", "T.vmap(T.vmap(lambda b: b * 2))(t)"),
            *("T.vmap(lambda b: b.mT * 2, in_dims=1)(t[:, None])", "T.no_grad()(T.vmap(lambda b: b * 2))(t)"),
            *("T.func.vjp(lambda b: b * 2, t)[0]", "T.vmap(lambda b: b[:1].mul_(2))(t)", "T.vmap(lambda b: t * b)(x)"),
        )
    ],
    "numbers of samples inside of a transform": [
        call.replace("use", use)
        for use in (
            *("c[a > 0]", "c[:, a > 0]", "c[a.mul(1) > 0, None]", "(a > 0).item()", "float(a * 1)", "bool(a > 0)"),
            *("c.__setitem__(a > 0, 0.)", "(c * a).__setitem__(a > 0, 0.)", "(c * a).__setitem__((a > 0, 0), a)"),
            *("a.item()", "c[a[None] > 0]", "int(a.sin())", "(a * 1).tolist()"),
        )
        for call in (
            "T.vmap(lambda a: use)(x)",
            "T.vmap(lambda a: T.func.vjp(lambda a: (use, a)[1], a)[0])(x)",
            "T.vmap(lambda a: T.func.jvp(lambda a: (use, a)[1], (a,), (a,))[0])(x)",
            "T.vmap(lambda a: T.func.vjp(lambda b: (use, b)[1], a)[0])(x)",
            "T.func.grad(lambda b: T.vmap(lambda a: (use, a)[1])(b).sum())(x)",
            "T.vmap(T.func.grad(lambda b: T.vmap(lambda a: (use, a)[1])(b[None]).sum()))(x)",
        )
    ],
    "tangents that an op leaves as they are": [
        f"r = {call}; (r._is_view(), r._base is x, r._base is t, r is t, r.stride(), r.mul_(3), t)"
        for f in ("a[..., :]", "a[...]", "a", "a.view_as(a)", "a.mT", "a[0]")
        for call in (
            *(f"T.func.jvp(T.vmap(lambda a: {f}), (x,), (t,))[{part}]" for part in (0, 1)),
            f"T.func.jvp(T.vmap(lambda a: {f}, in_dims=1, out_dims=1), (x,), (t,))[1]",
            f"T.func.jvp(T.vmap(lambda a: {f}, in_dims=1), (x,), (t,))[1]",
            f"T.func.jvp(lambda a: {f}, (x,), (t,))[1]",
            f"T.vmap(lambda a: T.func.jvp(lambda a: {f}, (a,), (a * 2,))[1])(x)",
        )
    ],
    "samples without elements that are joined": [
        f"r = T.vmap(lambda a: {joined})({given}); (r, r.stride(), r.dtype)"
        for joined in (
            *("T.cat([z, a[:0]])", "T.cat([a[:0], z])", "T.cat([a[:0], z, a[:0], z])", "T.cat([a[:0], a[:0]])"),
            *("T.cat([z.double(), a[:0]])", "T.cat([z, a[:0].double()])", "T.hstack([z, a[:0]])", "T.cat([z, a])"),
            *("T.cat([z[:0], a[:0]], -1)", "T.stack([z[:0], a[:0]])"),
        )
        for given in ("T.ones(3, 2)", "T.ones(2, 3).t()")
    ]
    + [
        f"f = lambda a: {view}; r = T.vmap(lambda a: T.func.vjp(f, a)[1](T.ones_like(f(a)))[0])(T.ones(3, 2)); "
        "(r, r.stride())"
        for view in ("a.split([2, 0])[1]", "a.split([0, 2])[0]", "a.split([1, 1])[0]", "a.chunk(2)[1]", "a.unbind()[0]")
    ],
    "views by strides of views that a Function returns": [
        f"f = lambda a: a.as_strided({place}); t = {given}; r = {call}; (r, r.stride())"
        for place in ("(3,), (8,), 0", "(2,), (8,), 8", "(1,), (8,), 0")
        for given in ("F.apply(x)", "F.apply(x * 1)", "x.t()", "F.apply(x).detach()")
        for call in (
            "T.vmap(lambda a: T.func.vjp(f, a)[1](T.ones_like(f(a)))[0])(t)",
            "T.vmap(T.func.jacrev(f))(t)",
            "T.vmap(lambda a: T.func.grad(lambda b: f(b).sum())(a))(t)",
        )
    ],
    "versions of what is written through data": [
        f"def f(a):\n    {write}\n    return {value}\n"
        f"r = {call}; note(*r); (seen, x._version, [t.tolist() for t in r])"
        for write in (
            *(
                "twice(a), note(a, a[1:])",
                "d = a.data\n    d[1:] = a[1:]\n    note(a, d)",
                "d = a.data\n    inference(lambda: d.mul_(2)), note(a, d)",
            ),
            *("d = a.data\n    e = d.data\n    e.square_(), d[0].mul_(2), note(a, d, e)", "twice(a.detach()), note(a)"),
            *("c = a * 1\n    d = c.data\n    d.mul_(2), note(a, c, d)", "twice(a[0])", "b = a * a\n    twice(a)"),
        )
        for value in ("a * 1, a * 1", "a, a.detach()", "a.data, a[1:]", "(lambda k: (k, twice(k)))(a * 1)")
        for call in ("T.func.vjp(f, x)[0]", "T.func.jvp(f, (x,), (x * 1,))[0]", "T.func.vjp(f, x.view(3)[:])[0]")
    ]
    + [
        "T.func.grad(lambda a: (twice(a), a.sum())[1])(x.view(3)); x._version",
        "y = x * w; T.func.grad(lambda a: (twice(a), a.sum())[1])(x); y.sum().backward()",
        "y = x[:2] * w[:2]; T.func.jvp(lambda a: (twice(a), a)[1], (x,), (x * 1,)); y.sum().backward()",
        "y = T.func.grad(lambda a: (a.square(), twice(a))[0].sum())(x); (y, x._version)",
        "z = T.ones(2, 3); y = T.vmap(T.func.grad(lambda a: (twice(a), a.sum())[1]))(z); (y, z._version)",
        "y = T.func.vjp(lambda a: (a * 1, twice(a))[0], x)[0]; y.mul_(2); (y._version, x._version)",
        "y = T.func.vjp(lambda a: (lambda k: (twice(k), k)[1])(a * 1), x)[0]; y.mul_(2); (y._version, x._version)",
    ],
    "versions while saved tensors may be written": [
        f"f = lambda a: {body}; r = mutating(lambda: T.func.jvp(f, (x,), (x * 1,))[0]); mutating(lambda: r.mul_(2))\n"
        "(r._version, x._version, seen)"
        for body in ("w - w", "w.to(a) - w", "(a.mul_(2), a * 1)[1]", "note(k := a * 1, k[0], k.mul_(2)) or k", "a * w")
    ],
    "passes outside over what data has written": [
        f"def f(a):\n    {body}\n    return {value}\nr = {call}; {then}; w.grad"
        for body, value in (
            *(
                ("y = a * w\n    twice(a)", "y"),
                ("twice(a)\n    y = a * w", "y"),
                ("twice(a)\n    y = a * w\n    twice(a)", "y"),
            ),
            *(
                ("k = a.exp()\n    y = k * w\n    twice(k)", "y"),
                ("k = a * 2\n    k[0]\n    y = k * w\n    twice(k)", "y"),
            ),
            *(
                ("k = a * 2\n    v = k[1:]\n    y = v * w[1:]\n    twice(v)", "y"),
                ("y = a.detach() * w\n    twice(a.detach())", "y"),
            ),
            *(
                ("k = a * 2\n    k.data.data.mul_(2)\n    y = k * w", "(k, y)"),
                ("k = a.tanh()\n    y = k @ w\n    twice(k[:1])", "y"),
            ),
            ("k = a * w\n    y = k * k\n    twice(k.detach())", "y"),
        )
        for call, then in (
            ("last(T.func.vjp(f, x)[0])", "r.sum().backward()"),
            ("T.func.vjp(lambda a: last(f(a)), x)", "w.grad = r[1](T.ones_like(r[0]))[0].detach()"),
            ("T.func.grad(lambda a: last(f(a)).sum())(x)", "r.sum().backward()"),
            ("last(T.func.jvp(f, (x,), (x * 1,))[0])", "r.sum().backward()"),
            ("T.vmap(lambda a: T.func.jvp(f, (a,), (a * 1,))[0])(T.stack([x, x]))", "last(r).sum().backward()"),
            ("T.func.grad(lambda b: (T.func.vjp(f, x)[0], b.sum())[1])(x)", "w.grad = r"),
            ("T.func.jvp(lambda b: (T.func.vjp(f, x)[0], b)[1], (x,), (w * 1,))[1]", "w.grad = r"),
        )
    ],
    "results that the function has kept": [
        f"f = lambda a: keep({body}); r = {call}; k = kept[0]; {write}\n"
        f"y = {use} * 1; n = name(y); y.requires_grad and y.sum().backward(); (y, n, facts(), w.grad)"
        for call in (
            *("T.func.vjp(f, x)[0]", "T.func.grad_and_value(lambda a: f(a).sum())(x)[1]", "T.func.vjp(f, w * 1)[0]"),
            *("T.func.jvp(f, (x,), (x * 1,))[0]", "T.func.vjp(lambda b: T.func.vjp(f, b)[0], x)[0]"),
        )
        for body in ("a * w", "(a * w)[1:]", "a * 2")
        for write in (
            *("r.mul_(2)", "r[0].mul_(2)" if "value" not in call else "r.mul_(r)", "r.mul_(w[1])", "r.detach_()"),
            *(
                "k.mul_(2)",
                "k[:1].mul_(2)",
                "k.mul_(w[1])",
                "T.no_grad()(k.mul_)(2)",
                "r.requires_grad_()",
                "k.detach_()",
                "pass",
            ),
        )
        if (write, call[7:10]) != ("r.detach_()", "jvp")
        for use in ("k", "r")
    ],
    "too few sizes for a sample": [
        f"T.vmap({call})(T.ones(2, 3, 4))"
        for call in (
            *("lambda a: a.expand(4)", "lambda a: a.expand(())", "lambda a: a.expand_as(T.ones(4))"),
            *("lambda a: T.broadcast_to(a, (4,))", "lambda a: T.expand_copy(a, (4,))", "lambda a: a[0].expand(())"),
            *(
                "T.vmap(lambda a: a.expand(()))",
                "lambda a: T.ones(2, 3, 4).expand_as(a)",
                "lambda a: a.expand(5, -1, 4)",
            ),
        )
    ],
    "views by memory of views that vmap is given": [
        f"g = {given}; y = T.vmap(lambda a: {view}.sum())(g).sum()\n"
        "(T.autograd.grad(y, g, retain_graph=True), y.backward(), x.grad)"
        for given in ("x.t()", "h.t()", "h[:, :1]", "x[1:]", "x.view(3, 2)")
        for view in (
            "a.as_strided((1,), (1,))",
            "a[:1].as_strided((1, 1), (1, 1))",
            "a[None].as_strided((1, 1), (1, 1))",
        )
    ],
    "inputs in the forward of a Function": [
        f"{call.replace('given', given)}; seen"
        for given in ("w", "h", "x", "h.mT", "v", "u")
        for call in (
            *(
                "T.func.vjp(F, given)",
                "no(T.func.vjp)(F, given)",
                "T.func.vjp(no(F), given)",
                "T.func.jacrev(F)(given)",
            ),
            *("T.func.vjp(lambda a: F(a * 1), given)", "T.func.vjp(lambda a: F(given), x)", "F(given)"),
            *("T.func.vjp(lambda b: T.func.vjp(F, b)[1](b)[0], given)", "T.func.vjp(lambda a: F(a[:1]), given)"),
        )
    ],
    "samples that a view leaves where they are": [
        f"facts(T.vmap(T.no_grad()(lambda a: {view}), in_dims={of}, out_dims={to})(p))"
        for view in (
            *("a.squeeze()", "a.squeeze(0)", "a.squeeze(-1)", "a.squeeze((0, 1))", "a.squeeze(())", "a[...]"),
            *("a.detach()", "a.squeeze(0).squeeze(0)", "a[0].squeeze_(0)", "a.squeeze((0, 0))", "a.squeeze(3)"),
        )
        for of, to in ((0, 0), (1, 0), (1, 1), (2, 0), (3, 0), (3, 1), (3, -1))
    ]
    + [f"T.vmap(lambda a: a.squeeze({dim}))(T.ones({size}))" for dim in ("", "0") for size in (1, 3)],
    "results of a Function in inference mode that vmap returns": [
        f"run = lambda a: {value}; y = {call}; r = facts(y); r[0] and y.backward(T.ones(y.shape)); (r, y, w.grad)"
        for value in ("a * 2", "a.cumsum(-1)")
        for call in (
            *("T.vmap(F)(w)", "T.vmap(F, out_dims=-1)(w)", "T.vmap(F, in_dims=1)(w)", "T.vmap(T.vmap(F))(w)"),
            *("T.vmap(lambda a: F(a) * 3)(w)", "T.vmap(F)(x)", "T.no_grad()(T.vmap(F))(w)", "F(w)"),
            *("T.vmap(lambda a: F(a).sum())(w)", "T.vmap(lambda a: inference(lambda: F(a)))(w)"),
        )
    ],
    "captured tensors of inference mode": [
        f"v = {view}; T.vmap(lambda a: ({op}, a)[1])(x); {then}"
        for view in ("i", "i[:2]", "i.view(4, 1)", "e.view(0, 1)")
        for op in ("T.eq(v, a)", "v * a", "a * v", "T.maximum(v, a)", "T.where(v > 0, a, v)")
        for then in ("v.mul_(2)", "v._version", "(v.requires_grad, v.is_inference(), v * 2)")
    ],
    "results of vmap that are views": [
        f"facts(T.vmap(lambda a: {product}, in_dims={of}, out_dims={to})({given}))"
        for product in ("m @ a", "m.mv(a)", "T.addmv(m[:, 0], m, a)", "m[0] @ a", "m[None] @ a", "m.mv(a).sin()")
        for of, given in ((0, "x"), (1, "x.mT"), (1, "T.ones(3, 2)"))
        for to in ((0, 1) if product[:4] != "m[0]" else (0,))
    ],
}

test_program = compared(KINDS, BEFORE)
