"""What whole random programs have found in transforms: hooks, inputs that may not be used, writes and tangents.

For each kind of fault there are short programs whose last line is compared.
"""

from tests.parity.random_programs.found import compared
from tests.parity.random_programs.test_level_faults import FACTS

HOOKED = """
seen = []
note = lambda where, *gradients: seen.append((where, [g if g is None else noted(g) for g in gradients]))
def noted(g):
    try: return (g.shape, g.requires_grad, [round(number, 3) + 0.0 for number in g.detach().flatten().tolist()])
    except RuntimeError: return (g.shape, g.requires_grad)
def f(a):
    a.register_hook(lambda g: note('a', g))
    b = a.sin() * a
    b.register_hook(lambda g: note('b', g))
    b.grad_fn.register_hook(lambda i, o: note('n', *i, *o))
    b.grad_fn.register_prehook(lambda o: note('p', *o))
    return b.sum()
def scaled(a):
    b = a * a
    b.register_hook(lambda g: g * 3)
    b.grad_fn.register_hook(lambda i, o: tuple(g * 5 for g in i))
    return (b * b).sum()
def mapped(a, op, dim=0):
    b = T.vmap(op, out_dims=dim)(a)
    b.register_hook(lambda g: note('b', g))
    b.grad_fn.register_hook(lambda i, o: note('n', *[g for g in i if g is not None], *o))
    b.grad_fn.register_prehook(lambda o: note('p', *o))
    return b.sum()
x, y = T.arange(3.0), T.arange(6.0).view(2, 3)
w, z = T.arange(3.0, requires_grad=True), T.arange(6.0).view(2, 3).requires_grad_()
"""


def marking(save, body):
    """A Function that marks its input as dirty, returns it, and may keep it."""
    return f"""
class F(T.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(a): return {body}
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(inputs[0])
        {save}
    @staticmethod
    def backward(ctx, grad): return grad * 3"""


UNREADABLE = "t = T.ones(2, 3, requires_grad=True) * 1\n" + (
    "with T.{}(): v = t.diagonal()\nt.mul_(2)\nw = T.ones(2, requires_grad=True)"
)
RETURNING = """
def returning(body, mark):
    class F(T.autograd.Function):
        generate_vmap_rule = True
        @staticmethod
        def forward(a): return body(a)
        @staticmethod
        def setup_context(ctx, inputs, output):
            if mark: ctx.mark_non_differentiable(output)
        @staticmethod
        def backward(ctx, grad): return grad * 3
    def f(a):
        b = F.apply(a)
        seen.append((b.requires_grad, b.is_leaf, b.is_inference()))
        return b
    return f
def written(a):
    b = a[:1]
    b.mul_(2)
    return b
seen, x, w = [], T.arange(1., 3.), T.arange(1., 3.).requires_grad_()
"""
STARTED = """
seen, w = [], T.ones(2, dtype=T.float64, requires_grad=True)
y = w * 2
y.register_hook(lambda g: seen.append((g.dtype, g.requires_grad, type(g.grad_fn).__name__)))
g = T.ones(2, requires_grad=True)
"""
# What stands in front of the lines of a kind.
BEFORE = {
    "hooks inside of transforms": HOOKED,
    "hooks of what vmap gives": HOOKED,
    "views that may not be used": UNREADABLE.format("no_grad"),
    "views of inference mode that may not be used": UNREADABLE.format("inference_mode"),
    "writes to what is captured, detached": "x, c = T.ones(3), T.ones(3)",
    "inputs to which no gradient gets": "w = T.ones(2, 3, requires_grad=True)\nwith T.no_grad(): v = w[0]",
    "tangents of what is written inside": "x, v = T.arange(1., 7).reshape(2, 3), T.ones(2, 3)",
    "data outside": f"{FACTS}; what = lambda t: (t is x, t._base is x, t._is_view(), *facts(t))",
    "expanded arguments and tangents": "x = T.ones(2).expand(3, 2)",
    "what Functions return": RETURNING,
    "gradients to start with of another dtype": STARTED,
}
KINDS = {
    "hooks inside of transforms": [
        f"r = {call}; (seen, r)"
        for call in (
            "T.func.grad(f)(x)",
            "T.func.grad_and_value(f)(x)",
            "T.func.vjp(f, x)[1](T.ones(()))",
            "T.func.jacrev(f)(x)",
            "T.func.hessian(f)(x)",
            "T.func.grad(lambda a: T.func.grad(f)(a).sum())(x)",
            "T.vmap(T.func.grad(f))(y)",
            "T.func.jvp(T.func.grad(f), (x,), (T.ones(3),))",
            "T.func.jvp(f, (x,), (T.ones(3),))",
            "T.func.grad(f)(w).sum().backward(); r = w.grad",
            "T.vmap(T.func.grad(f))(z).sum().backward(); r = z.grad",
            "T.func.grad(scaled)(x)",
            "T.func.grad(lambda a: T.func.grad(scaled)(a).sum())(x)",
            "T.func.grad(lambda a: T.func.grad(lambda b: (scaled(a) * b).sum())(a).sum())(x)",
            "T.func.hessian(scaled)(x)",
            "T.func.grad(scaled)(w).sum().backward(); r = w.grad",
            "T.func.vjp(scaled, w)[0].backward(); r = w.grad",
            "T.vmap(T.func.grad(lambda a: T.func.grad(scaled)(a).sum()))(y)",
        )
    ],
    "hooks of what vmap gives": [
        *[
            f"{run}; (seen, r)"
            for op in ("a.exp() * 2", "a.chunk(3)[0]", "a.sin() * a", "a * w", "a[1:]", "a.softmax(0)")
            for run in (
                f"mapped(z, lambda a: {op}).backward(); r = z.grad",
                f"mapped(z, lambda a: {op}, 1).backward(); r = z.grad",
                f"r = T.func.grad(lambda a: mapped(a, lambda a: {op}))(y)",
            )
        ],
        *[
            f"r = T.vmap(lambda a: a.exp() * 2)(z)\nr.grad_fn.register_{hook}\nr.sum().backward(); z.grad"
            for hook in ("hook(lambda i, o: (i[0] * 10, None))", "prehook(lambda o: (o[0] * 3,))")
        ],
        "r = T.vmap(lambda a: a.exp().sin())(z)\nn = r.grad_fn, r.grad_fn.next_functions[0][0]\n"
        "[each.name() for each in (*n, n[1].next_functions[0][0])]",
        "T.vmap(lambda a: a.exp(), out_dims=1)(z).grad_fn.next_functions[0][0].name()",
    ],
    **{
        kind: [
            f"T.func.{call}"
            for call in (
                "grad(lambda a: a.sum())(v)",
                "grad(lambda a: (a * 2, T.zeros(()))[1])(v)",
                "grad(lambda a: (a[0], T.zeros(()))[1])(v)",
                "grad(lambda a: (T.zeros_like(a), a.detach(), T.zeros(()))[2])(v)",
                "grad(lambda a: (w * a).sum())(v)",
                "grad(lambda a: T.func.grad(lambda b: b.sum())(a).sum())(v)",
                "grad(lambda a: T.func.grad(lambda b: (b * b).sum())(a).sum())(v)",
                "grad(lambda a: T.func.grad(lambda b: T.zeros(()))(a).sum())(v)",
                "vjp(lambda a: a, v)[1](T.ones(2))",
                "vjp(lambda a: a, v)[0] is v",
                "jacrev(lambda a: T.zeros(2))(v)",
                "hessian(lambda a: T.zeros(()))(v)",
                "grad(lambda a: T.tensor(float(a.is_leaf and a.requires_grad and a.grad_fn is None)))(v)",
            )
        ]
        for kind in ("views that may not be used", "views of inference mode that may not be used")
    },
    "tangents of what is written inside": [
        f"def f(a):\n    with T.{mode}(): a.{write}\n    return {value}\n{call}"
        for mode in ("no_grad", "inference_mode")
        for write in ("mul_(a)", "eq_(T.zeros_like(a))", "zero_()")
        for value in ("a.sum()", "T.ones(2).sum()")
        for call in (
            "(T.func.jvp(T.func.grad(f), (x,), (v,)), x, v)",
            "T.vmap(lambda b, t: T.func.jvp(T.func.grad(f), (b,), (t,)))(x, v)",
        )
    ],
    "data outside": [
        f"x = T.ones(2, 3, requires_grad={flag}); what(T.func.vjp(lambda a: {value}, x)[0])"
        for flag in (False, True)
        for value in (
            *("a.data", "a.data[0]", "a.detach()[0]", "a.data.data", "a.data.view(3, 2)[0]", "a.data.detach()[0]"),
            *("a.detach().data[0]", "(a * 1).data[0]", "a[0].data"),
        )
    ]
    + [
        f"x = T.ones(3, requires_grad=True); T.func.grad(lambda a: ({value} * a).sum())(x).sum().backward(); x.grad"
        for value in ("a.data", "(a * 2).data")
    ],
    "samples that are numbers": [
        f"x = T.ones(2); r = T.vmap(lambda a: a.{view}, out_dims={out})(x); (r is x, r._base is x)"
        for out in (0, -1)
        for view in ("t()", "transpose(0, -1)", "swapaxes(0, 0)", "swapdims(-1, 0)", "squeeze()")
    ],
    "wrong arguments beside out=": [
        f"T.vmap(lambda a: T.{call})(T.ones(2, 3))"
        for call in (
            "logical_or(a, -2.5, out=a)",
            "maximum(a, 2., out=a)",
            "add(a, 2, out=a)",
            "stack([a, 2.], out=a)",
            "clamp(a, max=a, out=a)",
        )
    ],
    "masks of samples that may not be written": [
        f"T.vmap(lambda a: {write})(T.ones(2, 1, 3, requires_grad=True))"
        for write in (
            "a.__setitem__(a.bool(), True)",
            "a.index_put_((a.bool(),), T.ones(()))",
            "a.masked_fill_(a > 0, 1)",
        )
    ],
    "writes to what is captured, detached": [
        f"T.func.{call.format(write)}"
        for call in ("grad(lambda a: ({}, a.sum())[1])(x)", "jvp(lambda a: ({}, a * 1)[1], (x,), (x,))")
        for write in (
            *("c.detach().mul_(2)", "c.detach()[0].mul_(2)", "c[0].detach().mul_(2)", "c.detach().detach().mul_(2)"),
            *("a.detach().mul_(2)", "a[0].detach().mul_(2)", "(a * 1).detach().mul_(2)", "c.clone().detach().mul_(2)"),
        )
    ]
    + ["T.func.grad(lambda a: T.func.grad(lambda b: (a.detach().mul_(2), b.sum())[1])(a).sum())(x)"],
    "inputs to which no gradient gets": [
        f"r = {call}; [each.requires_grad for each in (r if isinstance(r, tuple) else (r,))]"
        for value in ("a.sum()", "(a * a).sum()", "(a ** 3).sum()")
        for call in (
            f"T.func.grad_and_value(lambda a: {value})(v)",
            f"T.func.vjp(lambda a: {value}, v)[0]",
            f"T.func.jacrev(lambda a: {value})(v)",
            f"T.func.grad(lambda b: T.func.grad(lambda a: {value})(b).sum())(v)",
        )
    ]
    + ["T.func.grad_and_value(lambda a: a.sum())(v)[1].backward(); w.grad"],
    "inference mode inside of forward mode": [
        f"x, v = T.ones(2), T.ones(2)\ndef f(a):\n    with T.inference_mode(): {line}\n    return {value}\n{call}"
        for line, value in (("b = a * 2", "b"), ("b = a * 2", "b.sum()"), ("a.mul_(2)", "a * a"))
        for call in (
            "(T.func.jvp(f, (x,), (v,)), x, v)",
            "T.func.grad(lambda c: T.func.jvp(f, (c,), (v,))[1].sum())(x)",
        )
    ],
    "samples that are marked as dirty": [
        f"{marking(save, body)}\nT.{call}"
        for save in ("ctx.save_for_backward(*inputs)", "pass")
        for body in ("a", "a.mul_(2)")
        for call in (
            "vmap(F.apply)(T.ones(2, 2))",
            "vmap(F.apply)(T.ones(2, 2, requires_grad=True) * 1)",
            "vmap(T.func.grad(lambda a: F.apply(a * 1).sum()))(T.ones(2, 2))",
            "func.grad(lambda a: T.vmap(F.apply)(a * 1).sum())(T.ones(2, 2))",
            "func.grad(lambda a: F.apply(a * 1).sum())(T.ones(2))",
            "vmap(lambda a, b: F.apply(b) * a, in_dims=(0, None))(T.ones(2, 2), T.ones(2))",
        )
    ],
    "strides of gradients of products in vmap": [
        f"x = T.arange(6.).view(2, 3).t(){order}; {call}.stride()"
        for order in ("", ".contiguous()")
        for op in ("a @ a", "T.dot(a, a * 2)", "T.vdot(a, a)", "a * a", "a @ T.ones(2)")
        for call in (
            f"T.func.grad(lambda a: T.vmap(lambda a: ({op}).sum())(a).sum())(x)",
            f"T.vmap(T.func.grad(lambda a: ({op}).sum()))(x)",
        )
    ],
    "what Functions return": [
        *[
            f"f = returning({body}, True); r = {run}; (seen, r, r.requires_grad)"
            for body in ("lambda a: a[:]", "lambda a: a * 1", "written")
            for run in (
                "T.func.jacrev(f)(x)",
                "T.func.vjp(f, x)[0]",
                "T.func.grad(lambda a: f(a * 1).sum())(w)",
                "T.func.grad(lambda a: T.func.grad(lambda b: f(b).sum())(a * 1).sum())(x)",
            )
        ],
        *[
            f"f = returning(T.inference_mode()(lambda a: {body}), False); r = {run}; (seen, r, r.requires_grad)"
            for body in ("a * 1", "a[:]", "a.clone().mul_(2)")
            for run in (
                "T.func.grad(lambda a: f(a).sum())(x)",
                "T.func.jacrev(f)(w)",
                "T.vmap(T.func.grad(lambda a: f(a).sum()))(T.ones(2, 2))",
                "T.func.grad(lambda a: T.vmap(f)(a).sum())(x)",
            )
        ],
        *[
            f"f = returning(T.enable_grad()(lambda a: {body}), {mark}); r = T.no_grad()(T.vmap(f))(w); "
            "(seen, r, r.requires_grad)"
            for body in ("a * 1", "a.sin()")
            for mark in (False, True)
        ],
    ],
    "gradients to start with of another dtype": [
        f"{run}; (seen, r, r.requires_grad)"
        for mode in ("enable_grad", "no_grad")
        for keep in (False, True)
        for run in (
            f"T.{mode}()(y.backward)(g, create_graph={keep}); r = w.grad",
            f"r = T.{mode}()(T.autograd.grad)(w, w, g, create_graph={keep})[0]",
            f"r = T.{mode}()(T.autograd.grad)(y, w, T.stack([g, g]), create_graph={keep}, is_grads_batched=True)[0]",
        )
    ],
    "extremes beside booleans": [
        f"T.func.jvp(lambda a: T.{op}(a, T.tensor([True, False])), (T.ones(2),), (T.ones(2),))[1]"
        for op in ("maximum", "minimum", "fmax", "fmin")
    ],
    "expanded arguments and tangents": [
        f"T.vmap(lambda a, t: T.func.jvp(lambda b: {value}, (a,), (t,))[1], in_dims=({dim}, 0))(x, T.ones({shape}))"
        for dim, shape in ((0, (3, 2)), (1, (2, 3)), (None, (4, 3, 2)))
        for value in ("b[:1]", "b * 2")
    ],
    "tangents of extremes beside infinite ones": [
        f"T.func.jvp(lambda a: T.{op}, (T.tensor([1., 2., 3., 3.]),), (T.tensor({tangent}),))[1]"
        for tangent in ("[T.inf, 1., 2., 1.]", "[1., T.inf, T.nan, 1.]", "[1., 1., 2., T.inf]")
        for op in (
            *("amin(a)", "amax(a, 0)", "max(a)", "min(a)", "aminmax(a)[0]", "aminmax(a, dim=0)[1]", "median(a)"),
            *(f"{op}(a, T.tensor(2.))" for op in ("maximum", "minimum", "fmax", "fmin")),
            *(f"{op}(T.tensor(2.), a)" for op in ("maximum", "minimum", "fmax", "fmin")),
        )
    ],
}

test_program = compared(KINDS, BEFORE)
