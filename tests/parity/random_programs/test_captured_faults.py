"""What whole random programs have found about tensors that the function of a transform has captured: ops that have
nothing to change of them, and detaching; and about the transforms that they come from, which are over.

For each kind of fault there are short programs whose last line is compared.
"""

from tests.parity.random_programs.found import compared

# What stands in front of the lines of a kind.
BEFORE = {
    "checkpoints behind transforms that are over": "x, s = T.tensor([1., 2.]), T.tensor(0.5, requires_grad=True)",
    "views of captured tensors of inference mode": """
x = T.ones(3)
with T.inference_mode(): c = T.ones(3)
def tried(f, call):
    try: call(f)
    except RuntimeError as error: return str(error), c
    return c""",
    "captured tensors that an op leaves as they are": """
w = T.ones(2, requires_grad=True) * 2; c = w * 1j; i = T.ones(2, dtype=T.int64)
x, seen = T.ones(2), []
w.register_hook(lambda g: seen.append(g.tolist()))
def f(a):
    r = run(a)
    seen.append((r.requires_grad, r.is_leaf, r._is_view(), [r is t for t in (w, c, i)]))
    return r
def facts(r): return r.requires_grad, r._is_view(), [r is t for t in (w, c, i)], seen""",
    "writes to what an op has left as it was": """
w, c, x = T.ones(2, requires_grad=True) * 2, T.ones(2), T.ones(2)
def tried(f, call):
    try: call(f)
    except RuntimeError as error: return str(error), c
    return c""",
    "hooks of what an op has left as it was": "x, w, seen = T.ones(2), T.ones(2, requires_grad=True), []\n"
    "w.register_hook(lambda g: seen.append(g))",
    "captured tensors that are detached": """
w, x = T.full((2,), 3., requires_grad=True), T.ones(2)
def tried(given, f):
    try: return f(lambda b: (given.detach_(), b * 1)[1]), given.requires_grad
    except RuntimeError as error: return str(error), given.requires_grad""",
    "captured gradients of transforms that are over": """
w, x, seen = T.full((2,), 3., requires_grad=True), T.ones(2), []
g = T.func.grad(lambda a: (a**3).sum())(w)
def noted(r): return (seen.append((r.requires_grad, r.is_leaf, r.grad_fn is None)), r)[1]
def sent(r): return (r.requires_grad and r.sum().backward(), r.requires_grad, w.grad, seen)[1:]
def refused(f):
    try: return (f(), None)[1]
    except RuntimeError as error: seen.append(str(error))""",
}
KINDS = {
    "checkpoints behind transforms that are over": [
        f"v = {value}; r = T.utils.checkpoint.checkpoint(lambda a: a.exp(), v, use_reentrant={reentrant}); "
        f"{send}; s.grad"
        for value in (
            "T.func.grad_and_value(lambda a: (a * s).sum())(x)[1]",
            "T.func.vjp(lambda a: a * s, x)[0]",
            "T.func.jvp(lambda a: a * s, (x,), (x,))[1]",
            "T.vmap(T.func.grad(lambda a: (a * a * s).sum()))(x)",
        )
        for reentrant in (True, False)
        for send in ("r.sum().backward()", "r.sum().backward(inputs=[s])", "T.autograd.grad(r.sum(), s)")
    ],
    "views of captured tensors of inference mode": [
        f"tried(lambda a: ({write}, a * 1)[1], lambda f: {call})"
        for write in (
            *("c[0].mul_(a[0])", "c[:2].mul_(2)", "c.view(3, 1).add_(1)", "c.detach().mul_(2)", "c.mul_(2)"),
            *("c[:2].detach().mul_(2)", "c.__setitem__(0, a[0])", "c.__setitem__(slice(2), 5)"),
            *("c.unbind()[0].add_(1)", "c[-1:].fill_(a.sum())", "(c * 1)[:2].mul_(2)", "c[None].copy_(a)"),
        )
        for call in (
            *("T.func.jvp(f, (x,), (x,))", "T.func.vjp(T.vmap(f), x[None])", "T.vmap(f)(x[None])"),
            "T.func.grad(lambda a: f(a).sum())(x)",
            "T.func.grad(lambda b: T.func.grad(lambda a: f(a).sum())(b).sum())(x)",
            "T.vmap(lambda a: T.func.jvp(f, (a,), (a,)))(x[None])",
            "T.vmap(lambda a: T.func.vjp(T.vmap(lambda b: f(a)), a[None])[0])(x[None])",
        )
    ],
    "captured tensors that an op leaves as they are": [
        f"run = lambda a: {op}; facts({call})"
        for op in (
            *("w.positive()", "+w", "w.real", "T.real(w)", "w.to(T.float32)", "w.to(x)", "w.to('cpu')", "w.float()"),
            *("w.type_as(x)", "w.cpu()", "w.resolve_conj()", "T.resolve_neg(w)", "w.conj_physical()", "w.flatten()"),
            *("w.sum_to_size(2)", "T.atleast_1d(w)", "T.atleast_1d(w, x)[0]", "T.broadcast_tensors(w, x)[0]"),
            *("T.cartesian_prod(w)", "T.as_tensor(w)", "c.positive()"),
            *("c.to(T.complex64)", "i.positive().double()", "w.contiguous()", "w.conj()", "T.dropout(w, 0.5, False)"),
            *("T.nn.functional.alpha_dropout(w, 0.5, False)", "w", "w.view_as(w)", "w.positive().positive()"),
        )
        for call in (
            *("T.func.vjp(f, x)[0]", "T.func.jvp(f, (x,), (x,))[0]", "T.vmap(f)(x)", "f(x)"),
            "T.func.vjp(lambda b: T.vmap(f)(b), x)[0]",
            "T.vmap(lambda b: T.func.vjp(f, b)[0])(x)",
            "T.func.vjp(lambda b: T.func.vjp(f, b)[0], x)[0]",
        )
    ],
    "writes to what an op has left as it was": [
        f"tried(lambda a: ({write}, a * 1)[1], lambda f: T.func.{call})"
        for write in (
            *("c.positive().mul_(2)", "c.real.mul_(a)", "c.positive()[:1].mul_(2)", "T.atleast_1d(c).copy_(a)"),
            *("a.positive().mul_(2)", "(a * 1).real.mul_(2)", "a.data.real.mul_(2)", "c.positive().data.mul_(2)"),
        )
        for call in ("vjp(f, x)", "jvp(f, (x,), (x,))", "vjp(lambda b: T.func.vjp(f, b)[0], x)")
        if "data" not in write or call == "vjp(f, x)"
    ],
    "hooks of what an op has left as it was": [
        f"r = T.func.{call}; (r, seen)"
        for f in ("w.positive()", "w.real", "w", "w.conj()", "w.view_as(w)", "w * 1")
        for call in (
            f"jacrev(lambda a: {f})(x)",
            f"vjp(lambda a: {f}, x)[1](x)",
            f"jacrev(lambda a: (a * {f}))(x)",
            f"grad(lambda a: (a * {f}).sum())(x).sum().backward()",
        )
    ],
    "captured tensors that are detached": [
        f"tried({given}, lambda f: {call})"
        for given in ("w", "w * 1", "T.ones(2)", "w[:1]", "(w * 1).detach()")
        for call in (
            *("T.func.vjp(f, x)[0]", "T.func.jvp(f, (x,), (x,))[0]", "T.vmap(f)(x)"),
            *("T.func.grad(lambda y: T.vmap(f)(y).sum())(x)", "T.vmap(lambda y: T.func.vjp(f, y)[0])(x)"),
        )
    ],
    "captured gradients of transforms that are over": [
        f"sent(T.func.vjp(lambda b: noted({result}), x)[0])"
        for result in (
            *("(b * g).detach_()", "(g * 1).detach_()", "(b * g).data", "(g * 1).data", "g * 1", "g.view_as(g)"),
            *("b * g", "g.trunc()", "g.unbind()[0]", "(b * g).detach()"),
        )
    ]
    + [
        f"T.func.grad(lambda b: (refused(lambda: T.autograd.grad({output}.sum(), {output})), b.sum())[1])(x); seen"
        for output in ("g.trunc()", "g.chunk(2)[0]", "(g * 2)", "g[0]")
    ],
}

test_program = compared(KINDS, BEFORE)
