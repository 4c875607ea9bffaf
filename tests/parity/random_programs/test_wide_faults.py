"""What wide random programs have found: for each kind of fault, short programs whose last line is compared."""

from tests.parity.random_programs.found import compared

# What stands in front of the lines of a kind.
BEFORE = {
    "tensors of inference mode": "with T.inference_mode(): a = T.ones(2, 3)",
    "transforms of tensors of inference mode": "with T.inference_mode(): a = T.ones(2)",
    "tensors of inference mode that transforms keep": """
def inside(f):
    with T.inference_mode(): return f()
class F(T.autograd.Function):
    @staticmethod
    def forward(x, y): return x * 2
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, grad): return grad * ctx.saved_tensors[1], None
def grad(f, x): return T.func.grad(lambda c: (f(c), c.sum())[1])(x)
x, y = T.ones(2, requires_grad=True), T.ones(2)
a = inside(lambda: T.ones(2))""",
    "enable_grad in inference mode": """
class F(T.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, grad): return grad
def facts(t): return isinstance(t, T.Tensor) and (t, t.requires_grad, t.is_leaf, t.is_inference(), t._is_view())
def inside(f):
    with T.inference_mode(), T.enable_grad(): r = f()
    return facts(r), facts(x), facts(h), h._version, x._version
w, x = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
h = x * 1
no = lambda f: T.no_grad()(f)()
v = no(lambda: h[0])""",
    "results written beside their tangents": """
def written(f):
    def g(a):
        y = f(a)
        y[[-1, 0]] += a
        return y
    return g
x = T.arange(12., dtype=T.float64).reshape(2, 2, 3).requires_grad_()
t = lambda r: T.autograd.grad(r.sin().sum(), x)[0]""",
    "inputs that the forward of a Function writes": """
class F(T.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(a):
        with T.enable_grad(): write(a)
        return a * 2
    @staticmethod
    def setup_context(ctx, inputs, output): pass
    @staticmethod
    def backward(ctx, grad): return grad * 3
x, w = T.ones(2, 3), T.ones(2, 3, requires_grad=True)
f = lambda a: F.apply(a).sum()""",
    "apply_": "w = T.ones(2, requires_grad=True); h = w * 1",
    "parts of a vmap that has ended": "x = T.ones(2, 3, requires_grad=True); y = T.vmap(lambda a: a.sin())(x)",
    "gradients around zeros": "x = T.tensor([[2., T.nan, 0, 3], [1, 0, 3, 0], [0, 1, 2, 3], [1, 2, 3, 4]])",
    "where slopes have no limit": "x = T.tensor([0., 1e-30, T.nan, T.inf, -T.inf, 2, -30], requires_grad=True)",
    "nodes of copies": "x = T.arange(6.).reshape(2, 3).requires_grad_()",
    "nodes of solvers": "a = T.tensor([[2., 1], [0.5, 3]], requires_grad=True); b = T.ones(2, 2, requires_grad=True)\n"
    "p = T.tensor([2, 2], dtype=T.int32)",
    "strides": "t = T.ones(2, 3, 4).mT > 0; e = (T.ones(1, 4) > 0).expand(2, -1, -1)",
}
SOLVED = (
    "T.linalg.lu_solve(a, p, b)",
    "T.linalg.lu_solve(a, p, b, adjoint=True)",
    "T.linalg.lu_solve(a, p, b, left=False)",
    "T.lu_unpack(a, p)[1]",
    "T.lu_unpack(a, p)[2]",
    "T.cholesky_solve(b, a)",
    "T.cholesky_solve(b, a, upper=True)",
    "T.cholesky_inverse(a.tril())",
    "T.linalg.pinv(a)",
    "T.linalg.pinv(a[:1], rtol=0.1)",
    "T.linalg.pinv(a[:, :1], 0.1)",
    "T.renorm(a, 2, 0, 1.5)",
    "T.renorm(a, 1, 1, 1.5)",
)
KINDS = {
    "tensors of inference mode": [
        "b = a.detach(); (b.add_(2)._version, b.is_inference())",
        "b = a.detach(); c = b.detach(); c.add_(1); (b._version, c._version)",
        "a.detach()[0].add_(1)",
        "a.view(6).add_(1)",
    ],
    "transforms of tensors of inference mode": [
        "T.func.grad(lambda c: (c.sin() * a).sum())(T.ones(2))",
        "with T.inference_mode(): r = T.func.jvp(T.func.grad(lambda c: (c.sin() * c).sum()), (a,), (a * 2,))[1]\nr",
        "with T.inference_mode(): r = T.func.vjp(lambda c: c.sin(), a)[1](a)[0]\n(r, r.is_inference())",
        "T.func.grad(lambda c: T.func.vjp(lambda d: d.sin(), c)[1](a)[0].sum())(a)",
        "T.ones(2, requires_grad=True) * a",
    ],
    "tensors of inference mode that transforms keep": [
        f"given = {given}; {call}"
        for given in "xya"
        for call in (
            *(
                f"grad(lambda c: {body}, given)"
                for body in ("x * a", "c * a", "(c * 1).mul_(a)", "x * a[:]", "x * (a * 1)", "(c * x).atan2(a)")
            ),
            *(f"grad(lambda c: F.apply({first}, a), given)" for first in "cx"),
            *(
                f"grad(lambda c: c * inside(lambda: {made}){again}, given)"
                for made in ("c * 2", "y * 2", "T.ones(2)", "a[:]")
                for again in ("", "[:]", ".detach()", " * 1")
            ),
            "grad(lambda c: x * inside(lambda: c * 2), given)",
            "T.vmap(T.func.grad(lambda c: (c * a[0]).sum()))(given)",
            "grad(lambda c: T.vmap(lambda d: d * a[0])(c), given)",
            "T.func.jvp(T.func.grad(lambda c: (c * a).sum()), (given,), (y,))",
            "T.no_grad()(lambda: grad(lambda c: x * a, given))()",
            "grad(lambda c: T.no_grad()(lambda: grad(lambda d: x * a, c))(), given)",
            *(
                f"grad(lambda c: {outer}grad(lambda d: {body}, c), given)"
                for outer in ("", "(lambda b: grad(lambda e: e * b, c))(inside(lambda: c * 2)) + ")
                for body in ("d * a", *(f"{left} * inside(lambda: {right} * 2)" for left, right in ("cd", "dc", "dd")))
            ),
        )
    ],
    "enable_grad in inference mode": [
        f"inside(lambda: {call})"
        for call in (
            *("F.apply(x)", "x.index_copy(0, T.tensor([0]), w[:1])", "T.nn.functional.rrelu(x, 0.5, 0.5, True)"),
            *(f"{name}.__setitem__({index}, {value})" for name in "xh" for index in ("...", 0, [0]) for value in "2w"),
            *("h.__setitem__(0, w[0])", "v.__setitem__(..., 2)", "v.mul_(2)", "x.unbind()[0].mul_(2)", "x.resize_(1)"),
            *("h.set_(w)", "x.apply_(lambda a: a)", "x.to(T.float64)", "T.autograd.grad((x * 2).sum(), x)[0]"),
            *(f"T.func.{f}(lambda a: (a * x * w).square().sum())(x)" for f in ("grad", "hessian")),
            "T.func.vjp(lambda a: a * x, x)[0]",
            *(f"T.func.jvp(lambda a: a * x, (x,), (w,))[{part}]" for part in (0, 1)),
            "T.func.grad(lambda a: T.func.grad(lambda b: (a * x * b).sum())(a).sum())(x)",
            "T.vmap(T.func.grad(lambda a: (a * x).sum()))(x)",
            "T.autograd.functional.hvp(lambda a: (a * x).square().sum(), x, x)[1]",
        )
    ],
    "results written beside their tangents": [
        f"f = written(lambda a: a.{op}); t({call})"
        for op in ("log_softmax(-1)", "logsumexp(-1, True)", "sin()", "exp()")
        for call in (
            "T.func.jvp(f, (x[0],), (x[1],))[1]",
            "T.vmap(lambda a: T.func.jvp(f, (a,), (a,))[1])(x)",
            "T.vmap(T.func.jacfwd(f))(x)",
        )
    ],
    "inputs that the forward of a Function writes": [
        f"write = lambda a: {write}; r = {call}; (r, x, w)"
        for write in (*(f"a.__setitem__({index}, 5)" for index in ("-1", "...", "[0]")), "a.mul_(5)", "a[:1].fill_(5)")
        for call in (
            *("T.func.grad(f)(x)", "T.func.vjp(f, x)[0]", "T.vmap(T.func.grad(f))(x)", "T.func.jacrev(f)(x)"),
            *("T.func.grad(lambda a: T.vmap(f)(a).sum())(x)", "T.vmap(f)(x)", "f(x)", "f(w)"),
        )
    ],
    "gradients of the eigenvectors of samples": [
        f"x = T.arange(18.).reshape(2, 3, 3) + T.eye(3) * 5{more}; p, v = T.func.vjp(lambda a: T.vmap(lambda b: "
        f"T.linalg.eig(b)[1].abs().square(){how})(a), x); g = v(T.ones_like(p))[0]; g.shape"
        for more in ("", " * 1j")
        for how in ("", ".sum(0)")
    ]
    + [
        f"x = (T.arange(8.).reshape(2, 2, 2) + T.eye(2) * {many}).requires_grad_(); v = T.vmap(lambda a: "
        f"T.linalg.eig(a)[1])(x); g = T.autograd.grad({loss}, x)[0]; g.shape"
        for many in ("5", "5j")
        for loss in ("v.abs().sum()", "v.imag.sum()", "v.real.sum()")
    ],
    "apply_": [
        f"with T.{mode}(): r = {tensor}.apply_(lambda a: a + 1)\nr"
        for mode in ("enable_grad", "no_grad", "inference_mode")
        for tensor in ("w", "h", "(w * 1)", "w.detach()", "w.data")
    ],
    "parts of a vmap that has ended": [
        "T.nn.functional.huber_loss(x, T.zeros(2, 3)).grad_fn.name()",
        "T.linalg.cross(x, x).grad_fn.name()",
        "T.vmap(lambda a: T.linalg.cross(a, a + 1))(x).detach()",
    ],
    "vmap of index_select": [
        *[f"T.vmap(lambda a: a.index_select(0, T.tensor({index})))(T.zeros(2, 2))" for index in ("[1, 5]", "[-3]")],
        "T.vmap(lambda a: a.index_select(0, T.tensor([0])))(T.zeros(2, 0))",
        "T.vmap(lambda a: a.index_select(0, T.tensor([5])))(T.zeros(0, 2))",
        "T.vmap(lambda a: a.index_select(0, T.tensor([1.])))(T.zeros(2, 2))",
    ],
    "gradients around zeros": [
        *[
            f"x.requires_grad_(); (x.cumprod({dim}) * T.arange(1., 5)).sum().backward(); x.grad"
            for dim in ("0", "1", "-1")
        ],
        "T.vmap(T.func.grad(lambda a: a.cumprod(0).sum()))(x)",
        *[f"T.func.hessian(lambda a: a.{call})(T.tensor([0., 0, 3]))" for call in ("prod()", "cumprod(0).sum()")],
    ],
    "tangents without a sample": [
        *[
            f"T.func.jvp(lambda a: a.var(-1, correction={correction}), ({numbers},), ({numbers},))"
            for numbers in ("T.zeros(0)", "T.zeros(2, 0)", "T.ones(1)", "T.tensor([1., 2, 4])")
            for correction in (0, 1, 3, 5)
        ],
        "T.func.jvp(lambda a: a.logsumexp(-1), (T.ones(2, 0),), (T.ones(2, 0),))",
    ],
    "where slopes have no limit": [
        f"g = T.autograd.grad({call}.sum(), x, create_graph=True)[0]; (g, T.autograd.grad(g.sum(), x))"
        for call in ("x.i0()", "T.special.i1(x)", "T.special.i1e(x)", "x[[0, 2, 3, 4, 5]].sinc()")
    ],
    "special functions": [
        "T.special.zeta(T.tensor([3., 1.5, 1, 0.5]), T.tensor(T.inf)), T.special.polygamma(2, T.tensor(T.inf))",
        "x = T.tensor([-3., 0, 20, 88], requires_grad=True); g = T.autograd.grad(T.special.log_ndtr(x).sum(), x, "
        "create_graph=True)[0]; g.sum().backward(); x.grad",
        "T.ldexp(T.tensor([1.5], dtype=T.float64), T.tensor([1.7], dtype=T.bfloat16))",
        "T.ldexp(T.tensor([1.5 + 1j], dtype=T.complex128), T.tensor([1.7]))",
    ],
    "which of two errors": [
        *[f"T.searchsorted(T.tensor(1.), {value})" for value in ("1.", "T.tensor(1.)", "T.tensor([1.])")],
        "T.index_select(T.ones(3), 5, T.tensor([0]), out=T.empty(0, dtype=T.bool))",
        "(T.zeros(2, 2) > 0).masked_scatter(T.ones(1, 3) > 0, T.ones(2))",
        "(T.zeros(2, 2) > 0).masked_scatter_(T.ones(1, 3) > 0, T.ones(2))",
    ],
    "dtypes of operands": [
        "x = T.ones(2, requires_grad=True); T.nn.functional.huber_loss(x, T.zeros(2, dtype=T.float64)).backward()",
        "T.nn.functional.cosine_similarity(T.ones(2, 3, dtype=T.uint8), T.tensor(1, dtype=T.int8))",
        "T.nn.functional.cosine_similarity(T.ones(2, 3, dtype=T.uint8), T.tensor(1.))",
        "T.nn.functional.cosine_similarity(T.ones(2, 3, dtype=T.float16), T.tensor(1.))",
    ],
    "strides": [
        *[f"T.stack([t, t], {dim}, out=T.empty(0)).stride()" for dim in (0, 1, 2, 3)],
        *[f"T.rot90(e, {times}).stride()" for times in (0, 1, 2, 3)],
        "T.nn.functional.max_pool1d(T.ones(4, 4).unfold(0, 1, 1).contiguous(), 2, 2, 1).stride()",
        "T.nn.functional.max_pool1d(T.ones(4, 3, 4).mT, 2, 2, 1).stride()",
        "T.nn.functional.layer_norm(T.ones(3, 1, 2).permute(2, 1, 0), [3]).stride()",
    ],
    "zero times infinity": [
        f"x, z = T.tensor([[N.inf], [1], [N.nan]]), T.zeros(1, 1); {product}"
        for product in ("x @ z", "z @ x.mT", "x @ z[0]", "x[0] @ z[0]", "T.addmm(z, x, z)", "T.bmm(x[None], z[None])")
    ],
    "nodes of copies": [
        *[
            f"y = T.{call}; y.sum().backward(); (y.grad_fn.name(), x.grad)"
            for call in (
                "unfold_copy(x, 1, 2, 1)",
                "view_copy(x, (3, 2))",
                "select_copy(x, 0, -1)",
                "slice_copy(x, 1, 1)",
                "narrow_copy(x, -1, -2, 1)",
                "diagonal_copy(x, 1)",
                "squeeze_copy(x, 0)",
                "as_strided_copy(x, (2,), (3,))",
                "diag(x)",
            )
        ],
        *[
            f"y = T.{call}; y[1].mul_(2); y[1].sum().backward(); ([part.grad_fn.name() for part in y], x.grad)"
            for call in ("unbind_copy(x)", "split_copy(x, 2, 1)", "unsafe_split(x, 2, 1)", "unsafe_chunk(x, 3, 1)")
        ],
        "T.select_copy(x + 1j, 0, 0)",
        "T.detach_copy(x).sum().backward()",
    ],
    "nodes of solvers": [
        f"y = {call}; y.square().sum().backward(); (y.grad_fn.name(), a.grad, b.grad)" for call in SOLVED
    ],
}

test_program = compared(KINDS, BEFORE)
