"""What programs that mix transforms with hooks, kept tensors and views by strides have found: for each kind of fault,
short programs whose last line is compared."""

from tests.parity.random_programs.found import compared

# What stands in front of the lines of a kind.
BEFORE = {
    "gradients of views by strides": "x = T.arange(36., dtype=T.float64).view(12, 3).requires_grad_()",
    "memory formats of gradients of chosen elements": "a = T.arange(24., dtype=T.float64)\n"
    "laid = [a.view(6, 4).t(), a.view(2, 3, 4).permute(2, 0, 1), a.view(4, 6)[:, ::2], a.view(1, 2, 3, 4).contiguous("
    "memory_format=T.channels_last), a[:4, None].expand(4, 3)]",
    "gradients without elements": "t, seen = T.ones(0, requires_grad=True), []\n"
    "def seeing(g):\n    try: seen.append(g.tolist())\n    except RuntimeError as e: seen.append(str(e))\n"
    "t.register_hook(seeing)",
    "texts about what was kept and written": "x, G = T.ones(4, 2, 3, dtype=T.float64), T.func.grad\n"
    "def output(a):\n    b = a.exp()\n    b.add_(1)\n    return b.sum()\n"
    "def operand(a):\n    b = a * 1\n    c = b * a\n    b.add_(1)\n    return c.sum()\n"
    "def view(a):\n    b = (a * 1)[..., 1:]\n    c = b.sin()\n    b.add_(a[..., :1])\n    return c.sum()",
    "what another transform takes apart before vmap refuses it": "x, i = T.ones(3, 3), T.tensor(1)\n"
    "left = []; T.vmap(lambda b: left.append(b) or b)(x)",
    "graphs of arguments that vmap writes": "l = T.ones(2, 2, 3, requires_grad=True); b = T.ones(2, 2, 3); x = l * 3; "
    "seen = []\n"
    "def nodes(t):\n    n = t.grad_fn\n    return [n.name(), *[e and e.name() for e, _ in n.next_functions]]\n"
    "def swept(t):\n    t.sum().backward(retain_graph=True)\n    return l.grad\n"
    "def twice(t):\n    for _ in (1, 2):\n        T.autograd.grad(t.sum(), x)\n",
}
KINDS = {
    "gradients of views by strides": [
        f"o = T.vmap(lambda a: {view}.sin(), in_dims={dim})({given}); g = T.autograd.grad((o * o).sum(), x, "
        "create_graph=True)[0]; o, g, T.autograd.grad((g * g).sum(), x)[0]"
        for view in (
            "(a * 1).as_strided((3, 2), (2, 1))",
            "a[1:].mul(2).as_strided((3, 2), (2, 1))",
            "T.as_strided_copy(a, (3, 2), (2, 1))",
            "T.as_strided_copy(a * 1, (3, 2), (2, 1), 1)",
            "(a * 1)[1:].as_strided((2,), (1,), 0)",
        )
        for dim, given in ((0, "x"), (1, "x"), (1, "x * 1"), (-1, "x[2:]"))
    ]
    + [
        f"T.vmap(T.func.grad(lambda a: ({view} ** 2).sum()), in_dims=1)(x)"
        for view in ("(a * 1).as_strided((3, 2), (2, 1))", "T.as_strided_copy(a, (3, 2), (2, 1))")
    ],
    "memory formats of gradients of chosen elements": [
        f"r = []\nfor each in laid:\n    x = each.detach().requires_grad_()\n    f = lambda x: {call}.sin().sum()\n"
        "    g = T.autograd.grad(f(x), x, create_graph=True)[0]\n"
        "    r.append((g, T.autograd.grad(g.sin().sum(), x), T.autograd.grad(f(x), x)))\nr"
        for call in (
            "x.masked_select(x > 3)",
            "x.masked_select((x > 3).flatten()[:x.shape[-1]])",
            "x.masked_select(T.ones(2, *x.shape, dtype=T.bool))",
            "x.take(T.tensor([1, 2, 1]))",
        )
    ],
    "transforms of nothing": [
        *(
            f"T.func.{name}(lambda p: T.ones(2).sum())({given})"
            for name in ("jacfwd", "hessian")
            for given in ("{}", "[]")
        ),
        *("T.func.jacfwd(lambda a: ())(T.ones(2))", "T.func.jacrev(lambda a: ())(T.ones(2))"),
        *(
            f"T.vmap(lambda a: a * 2, in_dims={dim}, chunk_size={size})(T.ones(2, 0, 3).movedim(1, {dim}))"
            for dim in (0, -1)
            for size in (None, 1, 2)
        ),
    ],
    "gradients without elements": [
        f"o = {call}; T.autograd.grad(o, t, T.stack([T.ones_like(o)] * 2), is_grads_batched=True)[0].stride(), seen"
        for call in (
            "T.cat([t, t], -1)",
            "T.cat([t, T.ones(2)])",
            "T.hstack([t, t])",
            "T.stack([t, t])",
            "t[:0]",
            "t * 2",
        )
    ],
    "texts about what was kept and written": [
        call.format(kept)
        for kept in ("output", "operand", "view")
        for call in (
            "G({})(x)",
            "T.vmap(G({}), in_dims=1)(x)",
            "T.vmap(T.vmap(G({})), in_dims=1)(x)",
            "T.vmap(G(lambda a: T.vmap({}, in_dims=1)(a).sum()))(x)",
            "G(lambda a: T.vmap({}, in_dims=1)(a).sum())(x)",
            "T.vmap({}, in_dims=-1)(x.requires_grad_()).sum().backward()",
        )
    ],
    "what another transform takes apart before vmap refuses it": [
        transform.format(call)
        for call in (
            *("a.narrow(0, i, 1) * a[0]", "T.where(a)[0] + a", "T.rrelu(a, 0.1, 0.1)", "T.rrelu_(a * 2, 0.1, 0.1)"),
            "T.ops.aten.narrow.Tensor(a * 2, -1, i - 1, 2).sin()",
        )
        for transform in (
            "T.func.grad(lambda a: ({}).sum())(x[0])",
            "T.vmap(lambda a: {})(x)",
            "T.vmap(T.func.grad(lambda a: ({}).sum()))(x)",
            "T.vmap(lambda a: T.func.jvp(lambda a: {}, (a,), (a,)), in_dims=1)(x)",
            "T.func.grad(lambda x: T.vmap(lambda a: {})(x).sum())(x)",
            "T.vmap(lambda a: T.func.vjp(lambda b: ({}) * b[:1], a)[0])(x)",
        )
    ],
    "graphs of arguments that vmap writes": [
        f"o = {mapped.format(write)}; {last}"
        for mapped in (
            "T.vmap(lambda a: a.{} * 1)(x)",
            "T.vmap(T.vmap(lambda a: a.{}))(x)",
            "T.vmap(lambda a: T.vmap(lambda c: c.{})(a))(x)",
            "x.retain_grad(); T.vmap(lambda a: a.{} + a)(x)",
        )
        for write in ("neg_()", "mul_(2)", "copy_(b[0, 0])", "zero_()", "sub_(a.detach()[..., :1])", "neg_().mul_(2)")
        if "lambda c" not in mapped or "sub" not in write
        for last in (
            "nodes(x)[:2]",
            "swept(x), x.grad_fn is None, x._version, x._base",
            "swept(o), x.is_leaf, x.retains_grad",
            "h = x.grad_fn.register_hook(lambda i, o: seen.append((i[0].shape, o[0].shape)) and None); swept(x); seen",
        )
    ]
    + [
        f"x = l * 3; y = x[:1] if {of_view} else x; T.vmap(lambda a: {write})(y); g = x.sum(); T.autograd.grad(g, "
        "l, retain_graph=True)\ntry: r = [T.autograd.grad(x.sum(), x) for _ in (1, 2)]\n"
        "except RuntimeError as e: r = str(e)\nr, T.autograd.grad(g, l)"
        for of_view in (False, True)
        for write in ("a.neg_()", "a.mul_(2)", "a.copy_(b[0])")
    ],
    "gradients for views that vmap writes": [
        f"l = T.ones(2, 3, requires_grad=True); t = (l * 2){view}; o = T.vmap(lambda a: [a.{write}, {returned}][1], "
        f"in_dims={dim})(t); r = [T.autograd.grad(o.sum(), x, allow_unused=True, retain_graph=True) for x in (t, l)]; "
        "t.sum().backward(); r, l.grad, t.grad_fn.name()"
        for view in (".flatten()", "[0]", ".t()", ".diagonal()")
        for dim in (0, -1)
        for write in ("zero_()", "mul_(3)", "add_(a.detach())", "neg_().mul_(2)")
        for returned in ("a.sum()", "a", "a.detach() * a")
    ],
    "hooks of nodes whose gradient gets nowhere": [
        f"l = T.ones(2, 3, requires_grad=True); w = T.ones(3, requires_grad=True); seen = []\nwith T.no_grad(): v = "
        f"l[:]\no = {call}; o.grad_fn.register_hook(lambda i, g: seen.append((i, g)) and None); o.sum().backward(); "
        "seen, l.grad, w.grad"
        for call in (
            *(
                "v.sin()",
                "v.t()",
                "v[0]",
                "v.sum(0)",
                "v.max(0)[0]",
                "v.clamp_min(0.5)",
                "v.unbind(0)[0]",
                "v.double()",
            ),
            *("T.cat([v, v])", "T.stack([v, v])", "v * w", "v.clone().mul_(v)", "T.where(v > 0, v, w)"),
        )
    ],
    "windows of numbers": [
        *(
            f"t = T.ones((), requires_grad=True); o = t.unfold(0, {size}, 1); T.autograd.grad(o, t, T.stack([o.detach()"
            "] * 2), is_grads_batched=True)"
            for size in (0, 1)
        ),
        "T.vmap(T.func.grad(lambda a: (a.unfold(0, 1, 1) * 3).sum()))(T.ones(4))",
    ],
    "kept results that took another shape": [
        f"t = T.arange(12., dtype=T.float64).view(3, 4).requires_grad_()\nwith T.autograd.graph.save_on_cpu(): o = "
        f"{call}; o.unsqueeze_(0)\nT.autograd.grad(o.sum(), t)"
        for call in ("t.std(-1)", "t.std(-2)", "t.norm(dim=-1)", "t.norm(3, dim=-1)", "t.logsumexp(-1)")
    ],
    "tangents of variances of too few numbers": [
        f"x = T.tensor({numbers}, dtype=T.float64); T.func.jvp(lambda a: a.{call}, (x,), (x * 2,))"
        for numbers in ("float('nan')", "1.", "[float('nan')]", "[1., 2.]", "[1., float('nan')]")
        for call in ("var()", "std()", "var(dim=-1)", "var(dim=None, correction=3, keepdim=True)")
    ],
}

test_program = compared(KINDS, BEFORE)
