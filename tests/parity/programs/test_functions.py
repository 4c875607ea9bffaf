"""Functions of models, and functions with gradients of their own."""

import copy
import importlib
import inspect
from functools import partial

from tests.parity.support.printed import printing_programs

program, test_same_text = printing_programs()


@program
def functional_models(T, say):
    """Models as functions: ensembles, gradients per sample, MAML, a tangent kernel, curvature."""
    nn, F, func = T.nn, T.nn.functional, T.func
    T.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
    params = {name: p.detach() for name, p in model.named_parameters()}
    x, y = T.randn(5, 3), T.randint(2, (5,))

    def loss_of(params, x, y):
        return F.cross_entropy(func.functional_call(model, params, (x.unsqueeze(0),)), y.unsqueeze(0))

    per_sample = func.vmap(func.grad(loss_of), in_dims=(None, 0, 0))(params, x, y)
    say({name: g.shape for name, g in per_sample.items()}, per_sample["2.bias"])
    norms = T.stack([g.flatten(1).norm(dim=1) for g in per_sample.values()], 1).norm(dim=1)
    clipped = {n: (g * (0.5 / norms).clamp(max=1).view(-1, *[1] * (g.ndim - 1))).mean(0) for n, g in per_sample.items()}
    say(norms, clipped["2.bias"])
    models = [nn.Linear(3, 2) for _ in range(3)]
    stacked, buffers = func.stack_module_state(models)
    base = copy.deepcopy(models[0]).to("meta")
    say(
        func.vmap(lambda p, b, x: func.functional_call(base, (p, b), (x,)), in_dims=(0, 0, None))(
            stacked, buffers, x
        ).shape,
        base,
    )

    def net(params, x):
        return func.functional_call(model, params, (x.unsqueeze(0),)).squeeze(0)

    jac1, jac2 = (func.vmap(func.jacrev(net), (None, 0))(params, part) for part in (x[:3], x[3:]))
    jac1, jac2 = ([j.flatten(2) for j in jac.values()] for jac in (jac1, jac2))
    say(T.stack([T.einsum("Naf,Mbf->NMab", a, b) for a, b in zip(jac1, jac2)]).sum(0)[0])
    say(func.hessian(lambda b: loss_of({**params, "2.bias": b}, x[0], y[0]))(params["2.bias"]))
    vector = {name: T.ones_like(p) for name, p in params.items()}
    out, tangent = func.jvp(lambda p: loss_of(p, x[0], y[0]), (params,), (vector,))
    value, pull = func.vjp(lambda p: loss_of(p, x[0], y[0]), params)
    hvp = func.jvp(func.grad(lambda p: loss_of(p, x[0], y[0])), (params,), (vector,))[1]
    say(out, tangent, value, pull(T.tensor(2.0))[0]["0.bias"], hvp["2.bias"])
    meta = {name: p.clone().requires_grad_() for name, p in params.items()}
    optimizer = T.optim.SGD(meta.values(), 0.1)
    for _ in range(2):
        outer = 0.0
        for task in range(2):
            fast, xs = meta, T.randn(4, 3)
            target = (xs.sum(1) > task).long()
            for _ in range(2):
                inner = F.cross_entropy(func.functional_call(model, fast, xs), target)
                grads = T.autograd.grad(inner, fast.values(), create_graph=True)
                fast = {name: p - 0.4 * g for (name, p), g in zip(fast.items(), grads)}
            outer = outer + F.cross_entropy(func.functional_call(model, fast, (xs,)), target)
        optimizer.zero_grad()
        outer.backward()
        optimizer.step()
        say(outer)
    f = lambda x: (x**3).sum()  # noqa: E731
    v, hv = T.autograd.functional.hvp(f, x[0], T.ones(3))
    say(
        v,
        hv,
        T.autograd.functional.jacobian(lambda a, b: a * b, (x[0], x[1]))[0].diag(),
        func.jacfwd(T.sin)(x[0]).diag(),
    )
    say(
        func.vmap(lambda row: row.sort().values, chunk_size=2)(x),
        func.vmap(T.dot, in_dims=(0, 0))(x, x),
        func.linearize(T.sin, x[0])[1](T.ones(3)),
    )
    say(
        func.vmap(lambda s: T.rand(2) + s, randomness="same")(T.zeros(2)),
        func.grad_and_value(lambda a: a.sin().sum())(x[0]),
    )
    ensemble = func.vmap(lambda p: F.linear(x, p))(T.stack([m.weight for m in models]))
    say(
        ensemble.mean((1, 2)),
        nn.utils.parameters_to_vector(models[0].parameters()).shape,
        inspect.signature(func.vmap).parameters.keys(),
    )
    for wrong in (
        lambda: func.vmap(T.sin, in_dims=(0, 0))(x), lambda: func.grad(lambda a: a * 2)(x),
        lambda: func.vmap(lambda a: a.item())(x),
        lambda: func.vmap(T.add)(x, x[:2]), lambda: func.vmap(lambda a: T.rand(2))(x),
        lambda: func.grad(lambda a: a.sum())(y),
        lambda: func.functional_call(model, {"0.w": x}, x), lambda: func.vmap(T.sin, 3)(x),
        lambda: func.jvp(T.sin, (x,), (x[0],)),
        lambda: func.vmap(lambda a: 3)(x), lambda: func.vmap(lambda a: a if a.sum() > 0 else -a)(x),
        lambda: func.vmap(T.sin)(3.0),
    ):  # fmt: skip
        try:
            say(wrong())
        except (ValueError, RuntimeError, TypeError) as error:
            say(type(error).__name__, str(error).split("\n")[0])


@program
def scripted_and_checkpointed(T, say):
    """script, trace and compile as decorators, checkpoints of activations, anomalies, profiles, and benchmarks."""
    nn = T.nn
    C = importlib.import_module(f"{T.__name__}.utils.checkpoint")
    T.manual_seed(0)

    @T.jit.script
    def fused_gelu(x):
        return x * 0.5 * (1.0 + T.erf(x / 1.41421))

    @T.compile
    def doubled(x):
        return x + x

    class Block(nn.Module):
        def __init__(self, use_checkpoint: bool = False):
            super().__init__()
            self.net, self.use_checkpoint = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.3), nn.Tanh()), use_checkpoint

        def forward(self, x: T.Tensor, scale: float | None = None, parts: list[int] = ()) -> tuple[T.Tensor, float]:
            run = partial(C.checkpoint, self.net, use_reentrant=False) if self.use_checkpoint else self.net
            return run(x) * (1.0 if scale is None else scale), float(len(parts))

    x = T.randn(2, 4, requires_grad=True)
    say(fused_gelu(x), callable(doubled))
    results = []
    for flag in (False, True):
        T.manual_seed(1)
        block = Block(flag)
        y, n = block(x, parts=[1, 2])
        y.sum().backward()
        results.append((y, n, block.net[0].weight.grad))
    say(results[0], T.equal(results[0][0], results[1][0]), T.equal(results[0][2], results[1][2]))
    layers = nn.Sequential(*[nn.Linear(4, 4) for _ in range(4)])
    out = C.checkpoint_sequential(layers, 2, x, use_reentrant=False)
    say(T.allclose(out, layers(x)), C.checkpoint(lambda a: a.sin(), x, use_reentrant=True).grad_fn.name())
    state = {"calls": 0}

    def counted(a):
        state["calls"] += 1
        return a.exp() if state["calls"] == 1 else a.exp()[:1]

    try:
        C.checkpoint(counted, x, use_reentrant=False).sum().backward()
    except (RuntimeError, C.CheckpointError) as error:
        say(type(error).__name__, str(error).split("\n")[0])
    traced = T.jit.trace(nn.Linear(4, 1), (x,))
    say(traced(x).shape, T.jit.is_scripting(), T.jit.is_tracing(), T.compiler.is_compiling())
    with T.autograd.set_detect_anomaly(True, check_nan=True):
        try:
            T.sqrt(-x.abs()).sum().backward()
        except RuntimeError as error:
            say(error)
    say(T.is_anomaly_enabled(), T.is_grad_enabled(), T.is_inference_mode_enabled())
    with T.inference_mode():
        z = x * 2
    for wrong in (lambda: (z * x).sum().backward(), lambda: z.add_(1), lambda: z.requires_grad_()):
        try:
            say(wrong())
        except RuntimeError as error:
            say(str(error).split("\n")[0])

    @T.no_grad()
    def evaluate(model):
        return model(x).requires_grad

    @T.jit.ignore
    def untouched(a):
        return a

    say(evaluate(layers), untouched(3), T.jit.export(untouched) is untouched, T.jit.annotate(int, 3), evaluate.__name__)
    inner = T.compile(nn.Sequential(nn.Linear(4, 2)), mode="reduce-overhead", fullgraph=True)
    say(list(inner.state_dict()), type(inner).__name__, T._dynamo.reset() if hasattr(T, "_dynamo") else None)
    with T.profiler.record_function("mine"):
        T.ones(2) + 1
    timer = importlib.import_module(f"{T.__name__}.utils.benchmark").Timer("x + 1", globals={"x": x.detach()})
    say(type(timer.timeit(3)).__name__, timer.timeit(2).number_per_run)


@program
def gradients_by_hand(T, say):
    """Graphs, functions of one's own with contexts, what is freed and what is refused."""
    x = T.tensor([2.0, 3.0], requires_grad=True)
    b = T.tensor([6.0, 4.0], requires_grad=True)
    Q = 3 * x**3 - b**2
    say(
        Q.grad_fn,
        Q.grad_fn.name(),
        Q.grad_fn.next_functions,
        Q.is_leaf,
        x.grad_fn,
        Q.grad_fn.next_functions[0][0].next_functions,
    )
    Q.backward(gradient=T.ones_like(Q))
    say(9 * x**2 == x.grad, -2 * b == b.grad, x.grad.grad_fn, Q.requires_grad, x.detach().requires_grad, x.data.is_leaf)

    class MyReLU(T.autograd.Function):
        @staticmethod
        def forward(ctx, input, slope=0.1):
            ctx.save_for_backward(input)
            ctx.slope = slope
            return T.where(input > 0, input, input * slope)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            return grad_output * T.where(input > 0, 1.0, ctx.slope), None

    class Exp(T.autograd.Function):
        @staticmethod
        def forward(i):
            result = i.exp()
            return result, result.sign()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_non_differentiable(output[1])
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(output[0])

        @staticmethod
        def backward(ctx, grad, _):
            return grad * ctx.saved_tensors[0]

    class Straight(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        @T.autograd.function.once_differentiable
        def backward(ctx, g):
            return g

    y = T.tensor([-1.0, 2.0], requires_grad=True)
    out = MyReLU.apply(y)
    say(
        out,
        out.grad_fn,
        type(out.grad_fn).__name__,
        T.autograd.grad(out.sum(), y)[0],
        Exp.apply(y),
        T.autograd.grad(Exp.apply(y)[0].sum(), y),
    )
    say(
        T.autograd.grad(Straight.apply(y * 1.6).sum(), y, create_graph=True)[0],
        T.autograd.gradcheck(MyReLU.apply, (y.detach().double().requires_grad_(),)),
    )
    g1 = T.autograd.grad((y**3).sum(), y, create_graph=True)[0]
    g2 = T.autograd.grad(g1.sum(), y, retain_graph=True)[0]
    say(
        g1,
        g2,
        T.autograd.grad(g1[0], y, allow_unused=True),
        T.autograd.grad(y.sum(), x, allow_unused=True),
        T.autograd.grad(y.sum(), x, materialize_grads=True),
    )
    with T.no_grad():
        z = y * 2
    with T.enable_grad():
        w = (y * 2).detach_()
    T.set_grad_enabled(False)
    v = y * 2
    T.set_grad_enabled(True)
    say(z.requires_grad, w.requires_grad, v.requires_grad, T.is_grad_enabled(), (y * 2).requires_grad)
    y.grad = None
    for _ in range(2):
        (y * 3).sum().backward()
    say(y.grad, y.grad.zero_(), y._version, (y * 1).add_(1)._version)
    a = T.rand(5, 3, requires_grad=True)
    unique, inverse = T.unique(T.tensor([2, 0, 2]), return_inverse=True)
    say(
        a.max(dim=1),
        a.sort()[1].grad_fn,
        a[0].grad_fn,
        a.view(-1).grad_fn,
        a.sum().grad_fn,
        unique,
        inverse,
        a.topk(2)[0].grad_fn,
        T.stack([a, a]).grad_fn,
        a.T.grad_fn,
    )
    say(
        a.softmax(1).grad_fn,
        (a @ a.T).grad_fn,
        a.mean().grad_fn,
        a.norm().grad_fn,
        a.std().grad_fn,
        a.cumsum(0).grad_fn,
        T.nn.functional.linear(a, a).grad_fn,
        a.clamp(0, 1).grad_fn,
    )
    loss = (y**2).sum()
    loss.backward()
    for bad in (
        lambda: loss.backward(), lambda: (y * 2).backward(), lambda: T.ones(2).sum().backward(),
        lambda: T.autograd.grad(T.ones(1), y), lambda: T.autograd.grad(y.sum(), x), lambda: y.add_(1),
        lambda: (y * 1).sum().backward(T.ones(2)),
        lambda: T.autograd.grad(y * 2, y, T.ones(3)), lambda: MyReLU()(y), lambda: MyReLU.apply(),
        lambda: T.ones(2, dtype=T.long).requires_grad_(), lambda: (y * 2).requires_grad_(False), lambda: y.numpy(),
        lambda: setattr(y, "grad", T.ones(3)),
        lambda: setattr(y, "grad", T.ones(2).double()), lambda: setattr(y, "data", 3),
        lambda: T.autograd.backward([y * 1], [None]), lambda: y.sum().backward(inputs=[]), lambda: y[0].fill_(1),
        lambda: T.autograd.grad(Straight.apply(y).pow(2).sum(), y, create_graph=True)[0].sum().backward(),
    ):  # fmt: skip
        try:
            say(bad())
        except (RuntimeError, TypeError, ValueError) as error:
            say(type(error).__name__, error)
    e = y.exp()
    e += 1
    try:
        e.sum().backward()
    except RuntimeError as error:
        say(error)
