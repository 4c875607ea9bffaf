"""What fresh programs have found (inputs of inference mode, zeros in tangents, windows): for each kind of fault, short
programs whose last line is compared."""

from tests.parity.random_programs.found import compared

BEFORE = {
    "out in the forward of a Function": """
class F(T.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(a): return run(a)
    @staticmethod
    def setup_context(ctx, inputs, output): pass
    @staticmethod
    def backward(ctx, grad): return grad
x, w = T.ones(3), T.ones(3, requires_grad=True)""",
    "inputs of inference mode beside what is recorded outside": """
class F(T.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(a): return a * 2
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, grad): return grad * ctx.saved_tensors[0]
inside, G = lambda f: T.inference_mode()(f)(), lambda f: T.func.grad(lambda a: f(a).sum())
i, x = inside(lambda: T.ones(2)), T.ones(2)""",
    "what nodes on the ways of zeros have kept": "x = T.ones(3, requires_grad=True); w = x.exp(); y = w * 1\n"
    "def jvp(f, x): return T.func.jvp(f, (x,), (T.ones_like(x),))[1]\n"
    "def passed(z):\n    try: return T.autograd.grad(z.sum(), x, allow_unused=True)\n"
    "    except RuntimeError as e: return str(e).split(': [')[0]",
    "strides of derivatives that are zero": "x = T.arange(24.).view(2, 3, 4).transpose(0, 1); w = x.flip(0)\n"
    "F, R = T.func.jacfwd, T.func.jacrev",
    "hooks of nodes of lists": "x = T.ones(2, 3, requires_grad=True); c = T.ones(2, 3); seen = []\n"
    "with T.no_grad(): n = x[:]",
    "what has no such dimension": "B = T.nn.functional.bilinear; o = T.ones\n"
    "def tried(f):\n    try: return f().shape\n    except (IndexError, ValueError) as e: return str(e)",
    "formats of rows that were normalized": "x = T.arange(72.).view(2, 4, 3, 3); w = T.arange(3.)",
    "complex numbers that do not depend on the inputs": "a = T.ones(2, dtype=T.complex64); real = T.view_as_real\n"
    "c = T.ones(2, dtype=T.complex64, requires_grad=True)",
    "tangents of windows": "x = T.arange(4.).unfold(0, 3, 1)",
    "samples that are refused for what the batch is": "o = T.ones; d = T.float64; V = T.vmap\n"
    "def tried(f):\n    try: return f().dtype\n    except (IndexError, RuntimeError) as e: return str(e)",
}
KINDS = {
    "out in the forward of a Function": [
        f"def run(a):\n    with {mode}: return T.cumsum(a, 0, out=T.empty(0))\n{call}"
        for mode in ("T.enable_grad()", "T.inference_mode(False)", "T.no_grad()")
        for call in (
            *("F.apply(w)", "T.func.vjp(F.apply, x)[0]", "T.func.vjp(F.apply, w)[0]"),
            "T.func.vjp(lambda a: F.apply(a * 2), x)[0]",
            "T.func.grad(lambda a: T.func.vjp(F.apply, a)[0].sum())(x)",
            "T.no_grad()(lambda: T.func.vjp(F.apply, w)[0])()",
        )
    ],
    "inputs of inference mode beside what is recorded outside": [
        f"c = T.ones(2, requires_grad={is_recorded}) * 1\nf = lambda a: {product}\n{call}"
        for is_recorded in (True, False)
        for product in (
            *("a / c", "a.view(2) * c", "a.data * c", "(a * a) * c.detach()", "[a / c, c * 1][1]", "a + c"),
            *("G(lambda b: b * c)(a)", "F.apply(a * c)", "T.where(a > 0, a, c)", "T.vmap(lambda b: b * c)(a[None])"),
        )
        for call in (
            *("G(f)(i)", "T.func.vjp(f, i)[0]", "G(lambda a: f(a) * G(f)(a).sum())(i)", "T.no_grad()(G(f))(i)"),
            *("T.vmap(G(f))(i.expand(2, 2))", "G(lambda b: G(lambda a: f(a) * b)(i))(x)", "G(lambda b: f(i) * b)(x)"),
            "G(lambda b: G(lambda a: f(a) * b)(inside(lambda: T.ones(2))))(x)",
        )
    ],
    "what nodes on the ways of zeros have kept": [
        f"z = {call}\n{write}\npassed(z)"
        for call in (
            *("jvp(T.func.grad(lambda a: a.abs().sum()), y)", "T.func.hessian(lambda a: a.abs().sum())(y)"),
            *("jvp(lambda a: a * 2, w)", "T.vmap(T.func.jacfwd(lambda a: a * 2))(w[None])", "jvp(T.sin, y)"),
            "jvp(lambda a: a.sgn() * 2, y)",
        )
        for write in ("y.mul_(2)", "w.mul_(2)", "w.detach().mul_(2)", "y[0] = 1", "None")
    ],
    "strides of derivatives that are zero": [
        call.format(f"lambda a: ({f}).sum()")
        for f in ("a * w", "a.masked_fill(w > 3, 0) * w", "a + w", "a", "w", "a.relu()", "a * a")
        for call in (
            *("R(F({}))(x)", "F(R({}))(x)", "R(R({}))(x)", "T.autograd.functional.hessian({}, x, vectorize=True)"),
            "T.autograd.functional.hessian({}, x, create_graph=True)",
        )
    ],
    "hooks of nodes of lists": [
        f"o = {call}; o.grad_fn.register_hook(lambda i, g: seen.append(i)); T.autograd.grad(o.sum(), x); seen"
        for call in (
            *("T.stack([c, x])", "T.stack([x, c], 1)", "T.cat([c, x, c])", "T.hstack([x, c])", "T.block_diag(c, x)"),
            *("T.stack([n, x])", "T.where(c > 0, c, x)", "c * x", "T.lerp(c, x, 0.5)"),
        )
    ],
    "what has no such dimension": [
        f"tried(lambda: {call})"
        for call in (
            *("B(o(2), o(2), o(1, 2))", "B(o(()), o(()), o(1, 2, 2))", "B(o(2, 2), o(2, 2), o(2))"),
            *("B(o(2, 2), o(2, 2), o(()))", "B(o(2, 2), o(2, 2), o(3, 2, 2))", "T.nn.Bilinear(0, 1, 1)"),
        )
    ],
    "formats of rows that were normalized": [
        f"T.nn.functional.rms_norm({x}, {how}).stride()"
        for x in (
            *("x", "x.to(memory_format=T.channels_last)", "x.to(memory_format=T.channels_last)[:, ::2].half()"),
            *("x.permute(0, 2, 1, 3)", "x.double().to(memory_format=T.channels_last)", "x[0].transpose(0, 1)"),
        )
        for how in ("(3,)", "(3,), w.to(x.dtype)", "x.shape[-2:]")
        if how != "x.shape[-2:]" or "permute" not in x and "transpose" not in x
    ],
    "complex numbers that do not depend on the inputs": [
        f"T.func.{name}(lambda x: {f})(a)"
        for name in ("grad", "grad_and_value", "vmap")
        for f in (
            *(
                "c.sum()",
                "(c * c).sum()",
                "(x * c).sum()",
                "x.detach().sum()",
                "real(c * x).sum()",
                "c.real.sum() * 1j",
            ),
            "T.func.grad(lambda y: real(y * c).sum())(x).sum()",
        )
    ],
    "tangents of windows": [
        call.format(f)
        for f in (
            "lambda a: a * 1",
            "lambda a: a.ravel()",
            "lambda a: a.sin()[0]",
            "lambda a: a.as_strided((2,), (1,))",
        )
        for call in (
            *("T.func.jvp({}, (x,), (T.ones_like(x),))", "T.func.jvp({}, (x,), (x,))", "T.func.jacrev({})(x)"),
            *("T.vmap(T.func.jacfwd({}))(x[:, None])", "T.func.jvp({}, (x,), (x * float('nan'),))"),
        )
    ],
    "samples that are refused for what the batch is": [
        f"tried(lambda: V({f})({x}))"
        for f in (
            *(f"lambda a: T.lerp({args})" for args in ("a, o((), dtype=d), .5", "a > 0, o((), dtype=d), .5")),
            *(f"lambda a: T.lerp({args})" for args in ("a.double(), o(()), .5", "o((), dtype=d), a, .5")),
            *(f"lambda a: T.lerp({args})" for args in ("a, a, a.double()", "a, a, o((), dtype=d)", "a, a, a > 0")),
            *(f"lambda a: T.lerp({args})" for args in ("o(2), o(2), a.double()", "a.long(), o((), dtype=d), .5")),
            *("lambda a: a.lerp_(o((), dtype=d), .5)", "lambda a: a.lerp_(o(()), o((), dtype=d))"),
            *(f"lambda a: a.diagonal({dims})" for dims in ("1, 0, 0", "0, 0, -1", "0", "0, 5, 5", "0, 0, 5")),
        )
        for x in ("o(2)", "o(2, 1)", "o(2, 3)")
    ],
}

test_program = compared(KINDS, BEFORE)
