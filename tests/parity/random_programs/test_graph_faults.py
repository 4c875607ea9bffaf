"""What random programs have found about graphs: for each kind of fault, short programs whose last line is compared."""

from tests.parity.random_programs.found import compared

UNREADABLE = (
    "b = T.ones(4, 4, requires_grad=True) * 1; v = b.split(2)[0]",
    "b = T.ones(4, 4, requires_grad=True) * 1; v = b.split(2)[0]; v.retain_grad(); v.register_hook(lambda g: g)",
    "b = T.ones(4, 4, requires_grad=True)\nwith T.no_grad(): v = b.split(2)[0]",
)
WITHOUT_FORMULAS = {
    "gcd": "i, i",
    "lcm": "i, i",
    "bitwise_and": "i, 1",
    "bitwise_or": "i, i",
    "bitwise_left_shift": "i, i",
    "heaviside": "x, x.detach()",
    "floor_divide": "x, 2",
    "detach_copy": "x",
    "geqrf": "x",
}
REVERSED = "T.arange(1., 25.).reshape(4, 3, 2)"
WITHOUT_ELEMENTS = (
    "t.index_put_((i,), {})",
    "t.index_copy_(0, i, {})",
    "t.index_add_(0, i, {})",
    "t.put_(i[:0], {})",
    "t.scatter_(0, n, {})",
    "t.scatter_add_(0, n, {})",
    "T.gather(t, 0, n, out={})",
    "T.index_select(t, 0, i, out={})",
    "T.cat([t], out={})",
)

# What stands in front of the lines of a kind.
BEFORE = {
    "hooks and detach_": "seen = []; x = T.ones(2, requires_grad=True)",
    "hooks of a single output": "seen = []; x, w = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)\n"
    "y = x * 2; y.register_hook(lambda g: seen.append(g.tolist())); y.retain_grad()\n"
    "y.grad_fn.register_prehook(lambda g: seen.append('pre')); x.register_hook(lambda g: seen.append('leaf'))",
    "leaves that a Function returns": "class F(T.autograd.Function):\n"
    "    forward = staticmethod(lambda ctx, a: eval(value))\n    backward = staticmethod(lambda ctx, g: g * 7)\n"
    "x = T.ones(3, requires_grad=True)",
    "out= of ops without formulas": "i = T.tensor([[3, 2], [4, 6]]); x = T.ones(2, 2, requires_grad=True)",
    "tensors of inference mode alone": "with T.inference_mode():\n    y = T.ones(2, 2); "
    "x = T.tensor([[1.0, 2.0], [4.0, 8.0]]).requires_grad_()\n"
    "n, w = T.full((2, 2), 2.0), T.full((2, 2), 2.0, requires_grad=True)\n"
    "class F(T.autograd.Function):\n    backward = staticmethod(lambda ctx, g: g * 7)\n    @staticmethod\n"
    "    def forward(ctx, a):\n        with T.inference_mode(): return a * 1",
    "arguments of a checkpoint that may not be read any more": "seen = []; x = T.ones(2, 3, requires_grad=True)\n"
    "v = x.unbind()[0]; x.data.mul_(2)\n"
    "def f(a):\n    seen.append(1)\n    return a.exp()",
    "refusals in a pass": "seen = []; x = T.full((2,), 2.5, requires_grad=True)\n"
    "def hook(name, t):\n    t.register_hook(lambda g: seen.append(name))\n    return t",
    "what isfinite keeps": "seen = []; x = T.tensor([1.0, T.inf, -T.inf, T.nan, 0.0], requires_grad=True)\n"
    "hooks = T.autograd.graph.saved_tensors_hooks(lambda t: seen.append(repr(t)) or t, lambda t: t)",
    "views to which no gradient gets": "seen = []; x = T.ones(2, 3, requires_grad=True)\nwith T.no_grad(): v = x[:1]\n"
    "hooks = T.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t.tolist()) or t, lambda t: t)",
}
KINDS = {
    "parts of gradients that are stored": [
        f"a, w = T.arange(3.), T.arange(3.).requires_grad_(); y = {call}; {after}(y * y.detach()).sum().backward(); "
        "(w.grad, w.grad.storage_offset(), w.grad.is_leaf, w.grad._is_view())"
        for call in ("T.stack([a, w])", "T.cat([a, w]).exp()", "T.stack([w * 1, w])", "w.split(2)[0]", "w[1:] * a[1:]")
        for after in ("", "w.grad = T.ones(3); ", "y.register_hook(lambda g: g * 2); ")
    ],
    "hooks and detach_": [
        "x.register_hook(lambda g: seen.append(g)); y = x + 1; x.detach_(); y.sum().backward(); seen, x.grad",
        "x.register_hook(lambda g: g[None]); y = x + 1; x.detach_(); y.sum().backward()",
        "x.register_hook(lambda g: seen.append(g)); x.detach_(); x.requires_grad_(); x.sum().backward(); seen, x.grad",
        "y = x + 1; x.detach_(); x.requires_grad_(); (x * 2 + y).sum().backward(); x.grad",
        "y = x * 2; y.register_hook(lambda g: seen.append(g)); z = y + 1; y.detach_(); z.sum().backward(); "
        "y.requires_grad_(); (y * 5).sum().backward(); (seen, y.grad, x.grad)",
    ],
    "hooks of a single output": [
        f"T.autograd.{call}; {{}}".format(found)
        for call in (
            "grad(y, w, T.ones(2), allow_unused=True)",
            "grad(x, w, T.ones(2), allow_unused=True)",
            "grad([y, x], w, [T.ones(2), T.ones(2)], allow_unused=True)",
            "grad(y.sum(), w, allow_unused=True)",
            "backward(y, T.ones(2), inputs=[w])",
            "backward(x, T.ones(2), inputs=[w])",
        )
        for found in ("seen, y.grad", "w.grad, x.grad")
    ],
    "leaves that a Function returns": [
        f"value = {value!r}; y = F.apply(x); y.{write}; y.sum().backward(); (y.is_leaf, y.requires_grad, x.grad)"
        for value in ("a.detach().requires_grad_()", "a[:2].detach().requires_grad_()", "a.clone().requires_grad_()")
        for write in ("mul_(2)", "detach()", "requires_grad_()")
    ],
    "out= of ops without formulas": [
        f"out = {out}; T.{op}({given}, out={'(out, T.ones(2))' if op == 'geqrf' else 'out'}); "
        "(out.requires_grad, out.grad_fn and out.grad_fn.name(), out.sum().backward() if out.requires_grad else None)"
        for op, given in WITHOUT_FORMULAS.items()
        for out in ("T.ones(2, 2)", "T.ones(2, 2, requires_grad=True)", "x * 1", "x[:]", "T.stack([x]).unbind()[0]")
    ],
    "ops that do not differentiate complex tensors": [
        f"x = T.ones(3, dtype=T.complex64, requires_grad=True); x.{call}"
        for call in ("cummin(0)", "cummax(0)", "nan_to_num()", "cummin(5)")
    ],
    "in place without a derivative": [
        f"x = T.ones(2, requires_grad=True)\nwith T.no_grad(): v = {view}\nv.{write}(x)"
        for view in ("T.ones(2)[:]", "x[:]", "T.ones(2)")
        for write in ("bitwise_or_", "bitwise_left_shift_", "gcd_")
    ],
    "second passes through ops that keep their result": [
        "x = T.ones(2, requires_grad=True); y = T.copysign(T.tensor([True, False]), x); T.autograd.grad(y.sum(), x); "
        "T.autograd.grad(y.sum(), x)",
        "x = T.ones(2, requires_grad=True); y = T.copysign(T.ones(2), x); y.mul_(2); T.autograd.grad(y.sum(), x)",
    ],
    "views that may not be read any more": [
        f"{made}; b.detach().mul_(2); {asked}"
        for made in UNREADABLE
        for asked in (
            "v.grad",
            "v.retain_grad()",
            "v.requires_grad_().requires_grad",
            "v.register_hook(lambda g: g) and None",
            "v.requires_grad_(False)",
            "v.is_leaf",
        )
    ]
    + [
        "x = T.zeros(4); v, u = x.chunk(2); x.requires_grad_(); x.detach().add_(1); v.retain_grad(); v.retains_grad",
        "x = T.zeros(4); v, u = x.chunk(2); x.add_(T.ones((), requires_grad=True)); v.retain_grad(); v.retains_grad",
    ],
    "views to which no gradient gets": [
        f"with hooks: y = {call}\n(seen, y.requires_grad, y.is_leaf)"
        for call in ("v * v", "v * 2", "v / v", "v * x", "v.sqrt()", "v.sin()", "T.cat([v, v])", "v @ v.mT", "v ** 2")
    ]
    + [
        "y = v * v; v.data.add_(1); x.data.add_(1); v.detach().add_(1); y.sum().backward(); x.grad",
        "T.autograd.grad(v.sum(), x, allow_unused=True)",
        "v.sum().backward(); v.grad, x.grad",
        "v.backward(T.ones(1, 3))",
        "T.autograd.grad(x.sum(), v, allow_unused=True)",
        "v.register_hook(lambda g: seen.append(1)); v.sum().backward(); seen",
        "v.requires_grad_(); (v * v).sum().backward(); v.grad, x.grad",
    ]
    + [
        f"y, g = {call}, []\n"
        "for _ in range(2):\n"
        "    try: g.append(y.backward(T.ones_like(y)))\n"
        "    except RuntimeError as e: g.append(str(e)[:20])\n"
        "g, x.grad"
        for one, two in (("v", "v"), ("v", "T.ones(1, 3)"), ("T.ones(1, 3)", "v"), ("x[:1]", "v"), ("v", "x[:1]"))
        for call in (
            *(f"{one} {op} {two}" for op in ("*", "/", "**", "%")),
            *(f"T.{op}({one}, {two})" for op in ("atan2", "hypot", "maximum", "linalg.cross", "fmod", "xlogy", "dist")),
            *(f"T.{op}({one}, {two}, {two})" for op in ("addcmul", "addcdiv", "lerp")),
            *(f"{one} @ {two}.mT", f"T.dot({one}[0], {two}[0])", f"T.mv({one}, {two}[0])"),
            *(f"T.cdist({one}, {two})", f"T.nn.functional.mse_loss({one}, {two})", f"T.outer({one}[0], {two}[0])"),
            *(f"{one}.index_put((T.tensor([0]),), {two}[0])", f"T.addmm({two}, {one}, T.ones(3, 3))"),
            *(f"T.nn.functional.prelu({one}, {two}[0])",),
        )
    ],
    "data in modes": [
        "x = T.ones(2, requires_grad=True)\nwith T.autograd.graph.allow_mutation_on_saved_tensors(): d = x.data\n"
        "d.mul_(2); (x._version, d._version, d.is_leaf, d._is_view())",
    ],
    "saved by a Function, of what may not be read any more": [
        "x = T.ones(2, 3, requires_grad=True)\nwith T.no_grad(): a, b = x.split(1)\n"
        "class F(T.autograd.Function):\n"
        "    forward = staticmethod(lambda ctx, a, b: (a.mul_(2), ctx.save_for_backward(a, b), a.sum())[2])\n"
        f"    backward = staticmethod(lambda ctx, g: {backward})\n"
        "with T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t): y = F.apply(a, b)\n"
        "y.sum().backward(); x.grad"
        for backward in ("(None, None)", "(ctx.saved_tensors[0], None)")
    ],
    "complex tensors that have no gradient": [
        f"x = T.zeros({shape}, dtype=T.complex64, requires_grad={grad}); T.{call}"
        for shape in ("0", "(0, 3)", "(2, 0)", "()", "2")
        for grad in (True, False)
        for call in (
            *(f"nn.functional.{op}(x, dim={dim})" for op in ("softmax", "log_softmax", "softmin") for dim in (-1, 5)),
            *(f"{op}(x, -1)" for op in ("amax", "amin", "mode", "median", "nanmedian")),
        )
    ],
    "tensors of inference mode alone": [
        f"z = {call}; (z, z.requires_grad, z.is_leaf, z.is_inference())"
        for call in (
            *(
                "x * 2",
                "x * x",
                "x + x",
                "x.add(1)",
                "x.neg()",
                "-x",
                "x / 3",
                "3 / x",
                "x // y",
                "x.sum()",
                "x.cumsum(0)",
            ),
            *(
                "x.pow(2.0)",
                "x ** x",
                "x.clamp(0)",
                "x.clamp(min=x)",
                "x.max(0)[0]",
                "x.norm()",
                "x.softmax(0)",
                "x.relu()",
            ),
            *(
                "x[0]",
                "x[:, 0] * x[0]",
                "x.t()",
                "x.detach()",
                "x.data",
                "x.clone()",
                "x.to(T.float64)",
                "x.contiguous()",
            ),
            *("T.cat([x, x])", "T.cat([x, n])", "x @ x", "x + n", "n + x", "x + w", "T.where(x > 0, x, x)"),
            *("T.where(n > 0, x, n)", "T.nn.functional.linear(x, x)", "T.nn.functional.linear(x, n)", "y.mul(x)"),
            *("T.add(input=x, other=2)", "T.neg(x, out=T.empty(2, 2))", "T.nn.Parameter(x)", "T.nn.Parameter(x) + x"),
            *("F.apply(w)", "F.apply(w) + F.apply(w)", "F.apply(w).sum()", "F.apply(w) * 2", "F.apply(w).clone()"),
        )
    ]
    + [
        f"z = None\ntry: {call}\nexcept RuntimeError as error: z = str(error)\n(z, x.detach().clone(), n)"
        for call in ("x.zero_()", "x.add_(x)", "x.add_(n)", "x.mul_(2)", "n.add_(x)", "T.neg(x, out=x)", "x.t_()")
    ]
    + [
        f"{call}.sum().backward(); x.grad, w.grad"
        for call in ("x", "(x * 2)", "(x + n)", "(x + x)", "F.apply(w)", "F.apply(w).clone()", "x.clone()")
    ]
    + ["with T.inference_mode(): x = T.ones(2, requires_grad=True)\n(x + x).requires_grad"],
    "writes of nothing to itself": [
        f"t, n = T.zeros(3, 0).clone(), T.zeros(3, 0, dtype=T.int64); i = T.tensor([1, 2, 0]); a = {alias}; "
        f"{call.format('a')}; (t, a)"
        for call in WITHOUT_ELEMENTS
        for alias in ("t", "t.data", "t.detach()", "T.nn.Parameter(t, requires_grad=False)", "t[:]")
    ],
    "arguments of a checkpoint that may not be read any more": [
        f"y = T.utils.checkpoint.checkpoint(f, {argument}, use_reentrant=False); {write}; y.sum().backward(); "
        "seen, x.grad"
        for argument in ("x[0]", "x.unbind()[0]", "x.detach().unbind()[0]", "T.ones(3, requires_grad=True).split(1)[0]")
        for write in ("None", "x.detach().mul_(2)")
    ]
    + [
        "y = T.utils.checkpoint.checkpoint(lambda a: f(x), v, use_reentrant=False); x.detach().mul_(2); "
        "y.sum().backward()"
    ],
    "tensors that no op has made, in inference mode": [
        f"import copy, pickle, io; b = io.BytesIO(); x = {made}; T.save(x.detach(), b); b.seek(0)\n"
        f"with {mode}: y = {call}\n(y, y.requires_grad, y.is_leaf, y.is_inference(), y._is_view())"
        for mode in ("T.inference_mode()", "T.no_grad()")
        for made in ("T.ones(2, requires_grad=True)", "T.ones(2)", "T.nn.Parameter(T.ones(2))")
        for call in (
            *(
                "copy.copy(x)",
                "copy.deepcopy(x)",
                "pickle.loads(pickle.dumps(x))",
                "T.load(b)",
                "T.from_numpy(N.ones(2))",
            ),
            *(
                "copy.deepcopy(T.nn.Linear(1, 1)).weight * 0",
                "T.Generator().get_state()[:0]",
                "T.frombuffer(bytearray(8), dtype=T.int8)",
            ),
            *(
                "T.asarray(x)",
                "T.asarray(x, copy=True)",
                "T.asarray(x, dtype=T.float64)",
                "T.asarray(x, dtype=T.float32)",
            ),
            *("T.asarray(x * 2, copy=True)", "T.asarray([1.0, 2.0])", "T.asarray(x, requires_grad=True, copy=True)"),
        )
    ],
    "which of two reasons comes first": [
        f"x = T.ones({shape}, requires_grad=True); v, w = x.unbind(); x.detach().mul_(2); {call}"
        for shape in ("(2, 2)", "2", "(2, 1)")
        for call in ("v.backward()", "v.backward(T.ones_like(v))", "T.autograd.grad(v, x)", "v.backward(T.ones(3))")
    ],
    "Functions without grad mode, of what may not be read any more": [
        "x = T.ones(2, 3, requires_grad=True); y = x * 1; v = y.unbind()[0]; seen = []\n"
        "class F(T.autograd.Function):\n    backward = staticmethod(lambda ctx, g: (g, None))\n    @staticmethod\n"
        "    def forward(ctx, a, b):\n        seen.append(ctx.needs_input_grad)\n        return a * 2\n"
        f"y.detach().mul_(2)\nwith {mode}: z = {call}\n(z, z.requires_grad, z.is_leaf, seen)"
        for mode in ("T.no_grad()", "T.inference_mode()", "T.enable_grad()")
        for call in (
            *("F.apply(v, 1)", "F.apply(x, v)", "F.apply(y, x)", "F.apply(y.detach(), 3)"),
            "T.utils.checkpoint.checkpoint(lambda a: a * 2, v, use_reentrant=True)",
        )
    ],
    "refusals in a pass": [
        f"a, b = hook('a', x * 2), hook('b', x * 3); r = {refused}; c = hook('c', b * b); {made}; error = None\n"
        "for _ in range(2):\n    try: y.sum().backward()\n    except RuntimeError as e: error = str(e)[:40]\n"
        "    seen.append(error)\n(seen, x.grad)"
        for refused in ("a.floor_divide_(b)", "T.gcd", "hook('r', a // 2)", "a.copysign(b) // 2")
        for made in ("y = T.stack([c, r])", "y = T.stack([r, c])", "y = hook('s', r + 1) + c", "y = r + c + r")
        if refused != "T.gcd"
    ]
    + [
        f"a, b, n = (T.ones(2, requires_grad=True) for _ in range(3)); r = n.ceil() // n{op}; y = {made}\n"
        f"try: {call}\nexcept RuntimeError as e: seen.append(str(e)[:40])\n(seen, a.grad, b.grad, n.grad)"
        for op in ("", " + n")
        for made in (
            *("a * r", "r * a", "T.addcmul(a, r, b)", "T.addcmul(r, a, b)", "r + r * a + b", "r // a + b"),
            *(f"T.stack([{order}])" for order in ("a, b, r", "a, r, b", "r, a, b", "r, a * 2, b", "a * 2, r, b")),
        )
        for call in ("y.sum().backward()", "y.sum().backward(inputs=[a, n])", "T.autograd.grad(y.sum(), [r, a])")
    ],
    "what isfinite keeps": [
        f"x = x.to(T.{dtype}).detach().requires_grad_({grad})\nwith hooks: y = x.isfinite()\n(y, y.dtype, seen)"
        for dtype in ("float16", "bfloat16", "float32", "float64", "complex64")
        for grad in (True, False)
    ]
    + ["T.arange(3).isfinite()", "T.tensor([True]).isfinite()", "T.complex(x.detach(), x.detach().flip(0)).isfinite()"],
    "strides of gradients": [
        f"x = {data}.permute(2, 1, 0).requires_grad_(); y = {call}; "
        f"[g.stride() for g in T.autograd.grad({loss}, x{mode})]"
        for data in (REVERSED, f"({REVERSED} - 2)", f"({REVERSED} % 3)", f"{REVERSED}.to(T.complex64)")
        for call in ("T.maximum(x, x)", "x.prod()", "x.sgn()", "x.abs()", "x[:1].expand(2, 3, 4)")
        for loss in ("y.abs().sum()", "(y * y).abs().sum()")
        for mode in ("", ", create_graph=True")
        if "complex" not in data or "maximum" not in call
    ]
    + [
        f"x = T.ones(2, 3, 4).requires_grad_(); y = {call}; T.autograd.grad(y.abs().sum(), x)[0].stride()"
        for call in (
            *("T.full((2, 2, 3, 4), 2j) ** x", "T.full((2, 2, 3, 4), 2j) * x", "T.full((2, 2, 3, 4), 2j) / x"),
            *("x + T.full((2, 2, 3, 4), 2j)", "x * T.full((2, 3, 4), 2j)", "x[:, :1] * T.full((2, 3, 4), 2j)"),
        )
    ]
    + [
        "x = T.ones(1, 1).expand(3, 1).requires_grad_(); y = x.as_strided((3,), (0,), 0); "
        "T.autograd.grad(y.sum(), x)[0].stride()"
    ],
    "gradients that are new, or those that were given": [
        f"x = T.ones({shape}, requires_grad=True); seen = []; x.register_hook(lambda g: seen.append(g.requires_grad)); "
        f"y = {call}; y.backward(y * 2); seen, x.grad.requires_grad"
        for shape in ("()", "1", "(1, 3)")
        for call in (
            *(
                "x.sort(0)[0]",
                "x.topk(1, 0)[0]",
                "x.max(0)[0]",
                "x.median(0)[0]",
                "x.mode(0)[0]",
                "x.kthvalue(1, 0)[0]",
            ),
            *("x.cummax(0)[0]", "x.cummin(0)[0]", "x.cumsum(0)", "x.cumprod(0)", "x.prod()", "x.prod(0)", "x.sum(0)"),
        )
    ],
    "outputs of a Function that are leaves by accident": [
        "x = T.ones(3)\nclass F(T.autograd.Function):\n"
        "    forward = staticmethod(lambda ctx, a: a.detach().requires_grad_().tensor_split([0])[1])\n"
        "    backward = staticmethod(lambda ctx, g: g)\n"
        f"y = F.apply(x)\n{call}\n(y.requires_grad, y.is_leaf, y.retains_grad, y.grad)"
        for call in ("y.retain_grad()", "y.register_hook(lambda g: g)", "y.requires_grad_()")
    ],
    "gradients that are parts of a buffer": [
        f"m = T.nn.Linear(2, 1); b = T.ones(3); m.weight.grad = b[:2].view(1, 2); m.bias.grad = b[2:]; {call}; "
        "(b, m.weight.grad, m.weight.grad._base is b)"
        for call in ("m.zero_grad(set_to_none=False)", "T.optim.SGD(m.parameters(), lr=1).zero_grad(set_to_none=False)")
    ],
    "signs of zeros": [
        f"x = T.tensor([[-0.0, -0.0], [-0.0, 1.0]], dtype=T.{dtype}); T.copysign(T.ones(2, 2), x.cumsum({dim}).real)"
        for dtype in ("float16", "float32", "float64", "complex64")
        for dim in (0, 1)
        if dtype != "complex64"
    ],
    "complex numbers as bools": [
        f"x = T.tensor([[1j, 0, 2, 1 + 1j]]); T.{call}"
        for call in ("sum(x, 0, dtype=T.bool)", "prod(x, 0, dtype=T.bool)", "sum(x, [0], out=T.empty(0, dtype=T.bool))")
    ],
    "nansum of complex numbers": [
        f"T.ones(2, 3, dtype=T.complex64).{op}({dim})"
        for op in ("nansum", "nanmean")
        for dim in ("", "1", "5", "[0, 0]")
    ],
}

test_program = compared(KINDS, BEFORE)
