"""How people train: optimizers, schedules, averages and precision, as their programs print them."""

import copy
import importlib
from contextlib import nullcontext

from tests.parity.support.printed import printing_programs

program, test_same_text = printing_programs()


@program
def sharpness_aware(T, say):
    """Two steps for one: SAM around SGD, with parameter groups and a scheduler that sees the base optimizer."""
    nn, F = T.nn, T.nn.functional

    class SAM(T.optim.Optimizer):
        def __init__(self, params, base_optimizer, rho=0.05, adaptive=False, **kwargs):
            assert rho >= 0.0, f"Invalid rho, should be non-negative: {rho}"
            super().__init__(params, dict(rho=rho, adaptive=adaptive, **kwargs))
            self.base_optimizer = base_optimizer(self.param_groups, **kwargs)
            self.param_groups = self.base_optimizer.param_groups
            self.defaults.update(self.base_optimizer.defaults)

        @T.no_grad()
        def first_step(self, zero_grad=False):
            grad_norm = self._grad_norm()
            for group in self.param_groups:
                scale = group["rho"] / (grad_norm + 1e-12)
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    self.state[p]["old_p"] = p.data.clone()
                    p.add_((T.pow(p, 2) if group["adaptive"] else 1.0) * p.grad * scale.to(p))
            if zero_grad:
                self.zero_grad()

        @T.no_grad()
        def step(self, closure=None):
            assert closure is not None
            closure = T.enable_grad()(closure)
            self.first_step(zero_grad=True)
            closure()
            for group in self.param_groups:
                for p in group["params"]:
                    p.data = self.state[p]["old_p"]
            self.base_optimizer.step()

        def _grad_norm(self):
            device = self.param_groups[0]["params"][0].device
            norms = [p.grad.norm(p=2).to(device) for g in self.param_groups for p in g["params"] if p.grad is not None]
            return T.norm(T.stack(norms), p=2)

    T.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    groups = [
        {"params": model[0].parameters(), "lr": 0.01},
        {"params": [*model[1].parameters(), *model[3].parameters()]},
    ]
    optimizer = SAM(groups, T.optim.SGD, lr=0.1, momentum=0.9)
    say(optimizer)
    scheduler = T.optim.lr_scheduler.CosineAnnealingLR(optimizer.base_optimizer, T_max=3)
    x, y = T.randn(10, 5), T.randint(3, (10,))
    for _ in range(3):

        def closure():
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            return loss

        loss = closure()
        optimizer.step(closure)
        optimizer.zero_grad()
        scheduler.step()
        say(loss.item(), scheduler.get_last_lr())
    say(sorted(optimizer.state_dict()), len(optimizer.state_dict()["state"]))
    try:
        SAM([{"params": model[0].parameters()}, {"params": model[0].parameters()}], T.optim.SGD, lr=0.1)
    except ValueError as error:
        say(error)


@program
def every_schedule(T, say):
    """Learning rates as they are plotted in blog posts, their state, and what goes wrong."""
    S = T.optim.lr_scheduler

    def fresh(**options):
        return T.optim.SGD([T.nn.Parameter(T.zeros(2))], lr=0.1, **options)

    makers = dict(
        lambdas=lambda o: S.LambdaLR(o, lr_lambda=[lambda e: 0.95**e]),
        multiplicative=lambda o: S.MultiplicativeLR(o, lambda e: 0.9),
        step=lambda o: S.StepLR(o, step_size=3, gamma=0.5),
        multi=lambda o: S.MultiStepLR(o, [2, 5, 5], gamma=0.1),
        constant=lambda o: S.ConstantLR(o, factor=0.5, total_iters=4),
        linear=lambda o: S.LinearLR(o, start_factor=0.25, total_iters=4),
        exponential=lambda o: S.ExponentialLR(o, 0.8),
        cosine=lambda o: S.CosineAnnealingLR(o, T_max=4, eta_min=0.01),
        polynomial=lambda o: S.PolynomialLR(o, total_iters=5, power=2.0),
        restarts=lambda o: S.CosineAnnealingWarmRestarts(o, T_0=2, T_mult=2, eta_min=1e-3),
        one_cycle=lambda o: S.OneCycleLR(o, max_lr=1.0, total_steps=8, pct_start=0.25, anneal_strategy="linear"),
        one_cycle_3=lambda o: S.OneCycleLR(o, max_lr=[1.0], epochs=4, steps_per_epoch=2, three_phase=True),
        cyclic=lambda o: S.CyclicLR(o, 0.01, 0.2, step_size_up=2, step_size_down=3, mode="triangular2"),
        cyclic_exp=lambda o: S.CyclicLR(o, 0.01, 0.2, step_size_up=3, mode="exp_range", gamma=0.9),
        sequence=lambda o: S.SequentialLR(o, [S.LinearLR(o, 0.1, total_iters=3), S.StepLR(o, 2, 0.3)], milestones=[3]),
        chained=lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.1, 2), S.ExponentialLR(o, 0.9)], optimizer=o),
    )
    for name, make in makers.items():
        optimizer = fresh(momentum=0.9)
        scheduler = make(optimizer)
        rates = []
        for _ in range(8):
            rates.append(round(optimizer.param_groups[0]["lr"], 6))
            optimizer.step()
            if len(rates) < 8:
                scheduler.step()
        state = {key: value for key, value in scheduler.state_dict().items() if not key.startswith("_sched")}
        say(name, rates, sorted(state), scheduler.last_epoch if hasattr(scheduler, "last_epoch") else None)
    plateau = S.ReduceLROnPlateau(fresh(), "min", factor=0.5, patience=1, threshold=1e-2, cooldown=1, min_lr=1e-3)
    for metric in (1.0, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, T.tensor(0.95)):
        plateau.step(metric)
    say(plateau.state_dict(), plateau.get_last_lr())
    say(fresh(weight_decay=0.1, nesterov=True, momentum=0.9))
    bad = (
        lambda: S.StepLR(fresh(), 3).step("x"),
        lambda: S.OneCycleLR(fresh(), 0.1),
        lambda: S.LambdaLR(fresh(), [lambda e: 1, lambda e: 2]),
        lambda: S.CosineAnnealingLR(fresh(), 4, last_epoch=3),
        lambda: S.CyclicLR(T.optim.Adam([T.nn.Parameter(T.zeros(1))]), 0.1, 0.2).step(),
        lambda: S.LinearLR(fresh(), start_factor=0),
        lambda: S.ReduceLROnPlateau(fresh(), mode="best"),
        lambda: S.CosineAnnealingWarmRestarts(fresh(), T_0=0),
        lambda: S.SequentialLR(fresh(), [S.StepLR(fresh(), 3)], milestones=[3]),
        lambda: S.ReduceLROnPlateau(fresh(), factor=1.5),
        lambda: S.StepLR(T.nn.Linear(2, 2), 3),
    )
    for make in bad:
        try:
            say(make())
        except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
            say(type(error).__name__, error)


@program
def averaged_weights(T, say):
    """SWA with its schedule and update_bn, an exponential average with buffers, and a model that averages itself."""
    nn, U = T.nn, T.optim.swa_utils
    T.manual_seed(3)
    model = nn.Sequential(nn.Conv1d(2, 4, 3, padding=1), nn.BatchNorm1d(4), nn.ReLU(), nn.Flatten(), nn.Linear(20, 2))
    data = [(T.randn(4, 2, 5), T.randint(2, (4,))) for _ in range(4)]
    optimizer = T.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    swa, ema = U.AveragedModel(model), U.AveragedModel(
        model, multi_avg_fn=U.get_ema_multi_avg_fn(0.9), use_buffers=True
    )
    own = U.AveragedModel(model, avg_fn=lambda mean, new, count: mean * 0.5 + new * 0.5)
    schedule = T.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
    swa_schedule = U.SWALR(optimizer, swa_lr=0.05, anneal_epochs=2, anneal_strategy="linear")
    for epoch in range(6):
        for x, y in data:
            optimizer.zero_grad()
            loss = nn.CrossEntropyLoss(label_smoothing=0.1)(model(x), y)
            loss.backward()
            optimizer.step()
            ema.update_parameters(model)
        if epoch > 2:
            swa.update_parameters(model)
            own.update_parameters(model)
            swa_schedule.step()
        else:
            schedule.step()
        say(epoch, f"{loss.item():.4f}", optimizer.param_groups[0]["lr"])
    say(swa.n_averaged, ema.n_averaged.item(), own.n_averaged.dtype)
    U.update_bn(data, swa)
    say(swa.module[1].running_mean, swa.module[1].num_batches_tracked)
    say(list(swa.state_dict()))
    for each in (model, swa, ema, own):
        each.eval()
        with T.inference_mode():
            say(each(data[0][0]))
    say(ema)
    say({key: (value.dtype, list(value.shape)) for key, value in ema.state_dict().items()})
    again = U.AveragedModel(copy.deepcopy(model))
    say(again.load_state_dict(swa.state_dict()), again.n_averaged)


@program
def precision_and_accumulation(T, say):
    """Autocast in bfloat16, a scaler that is off and one that is on, accumulated gradients, clipped norms."""
    nn, F = T.nn, T.nn.functional
    T.manual_seed(0)
    device = T.device("cuda" if T.cuda.is_available() else "cpu")
    say(device, T.get_default_dtype(), T.cuda.device_count(), T.backends.mps.is_available())
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4), nn.SiLU(), nn.Flatten(), nn.Linear(64, 3)).to(device)
    optimizer = T.optim.RAdam(model.parameters(), lr=0.01, weight_decay=0.01)
    scaler = T.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
    off = T.amp.GradScaler("cuda", enabled=False)
    say(off.get_scale(), off.is_enabled(), off.state_dict(), scaler.get_scale())
    x, y = T.randn(4, 1, 6, 6), T.randint(3, (4,))
    for step in range(4):
        context = T.autocast("cpu", dtype=T.bfloat16) if step % 2 == 0 else nullcontext()
        with context:
            logits = model(x)
            loss = F.cross_entropy(logits, y) / 2
        say(logits.dtype, loss.dtype, T.is_autocast_enabled("cpu"), round(loss.item(), 2))
        scaler.scale(loss).backward()
        if step % 2:
            scaler.unscale_(optimizer)
            norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.1)
            say(norm.dtype, norm.item() > 0.1, nn.utils.get_total_norm([p.grad for p in model.parameters()]))
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
            say(scaler.get_scale(), model[0].weight.grad)
    say(scaler.state_dict())
    loss = (model(x).sum() * float("inf")) * 0.0 + model(x).sum() * float("inf")
    scaler.scale(loss).backward()
    before = model[4].bias.detach().clone()
    scaler.step(optimizer)
    scaler.update()
    say(T.equal(before, model[4].bias), scaler.get_scale())
    for wrong in (lambda: scaler.unscale_(optimizer), lambda: scaler.update()):
        try:
            wrong()
        except (AssertionError, RuntimeError) as error:
            say(type(error).__name__, error)
    try:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
    except RuntimeError as error:
        say(error)
    half = copy.deepcopy(model).half()
    say({p.dtype for p in half.parameters()}, half.float()[0].weight.dtype, model.double()(x.double()).dtype)
    with T.autocast(device_type="cpu", dtype=T.float16):
        say((T.ones(2, 2) @ T.ones(2, 2)).dtype, T.ones(2).sum().dtype, T.ones(2).softmax(0).dtype)


@program
def many_optimizers(T, say):
    """Every optimizer on one problem, what they keep, how they print, and what they refuse."""
    nn, O = T.nn, T.optim
    x = T.linspace(-1, 1, 12).view(-1, 1)
    y = 0.5 * x**3 - x
    makers = dict(
        sgd=lambda p: O.SGD(p, 0.1, momentum=0.9, dampening=0.1, maximize=False),
        nesterov=lambda p: O.SGD(p, 0.1, momentum=0.9, nesterov=True, weight_decay=1e-3),
        adam=lambda p: O.Adam(p, 0.05, betas=(0.8, 0.9), eps=1e-6),
        adamw=lambda p: O.AdamW(p, 0.05, amsgrad=True, weight_decay=0.1),
        adamax=lambda p: O.Adamax(p, 0.05),
        nadam=lambda p: O.NAdam(p, 0.05, decoupled_weight_decay=True, weight_decay=0.1),
        radam=lambda p: O.RAdam(p, 0.05),
        rmsprop=lambda p: O.RMSprop(p, 0.01, centered=True, momentum=0.5),
        rprop=lambda p: O.Rprop(p, 0.01),
        adagrad=lambda p: O.Adagrad(p, 0.1, lr_decay=0.1, initial_accumulator_value=0.1),
        adadelta=lambda p: O.Adadelta(p, 1.0, rho=0.8),
        asgd=lambda p: O.ASGD(p, 0.1, t0=2),
        adafactor=lambda p: O.Adafactor(p, 0.05),
        lbfgs=lambda p: O.LBFGS(p, 0.5, max_iter=3, line_search_fn="strong_wolfe"),
        capturable=lambda p: O.Adam(p, T.tensor(0.05), foreach=False),
    )
    for name, make in makers.items():
        T.manual_seed(0)
        model = nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1))
        optimizer = make(model.parameters())

        def closure(model=model, optimizer=optimizer):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            return loss

        losses = [optimizer.step(closure).item() for _ in range(5)]
        state = optimizer.state[model[0].weight]
        say(name, losses, {key: getattr(value, "shape", type(value).__name__) for key, value in state.items()})
        say(optimizer)
        say(sorted(optimizer.state_dict()["param_groups"][0]))
    p = [T.zeros(2, requires_grad=True)]
    for wrong in (
        lambda: O.SGD(p, -1.0),
        lambda: O.SGD(p, 0.1, nesterov=True),
        lambda: O.Adam(p, betas=(1.0, 0.9)),
        lambda: O.Adam(p, eps=-1),
        lambda: O.Adam([]),
        lambda: O.Adam(T.zeros(2)),
        lambda: O.Adam([1.0]),
        lambda: O.SGD([p[0] * 2], 0.1),
        lambda: O.SGD([{"params": p}, {"params": p}], 0.1),
        lambda: O.SGD([{"weights": p}], 0.1),
        lambda: O.LBFGS([{"params": p}, {"params": [T.ones(1)]}]),
        lambda: O.SGD([{"params": {p[0]}}], 0.1),
        lambda: O.Adam(p, fused=True, foreach=True),
        lambda: O.SparseAdam([T.zeros(2).to_sparse()]),
        lambda: O.Adam([("w", p[0]), p[0]]),
        lambda: O.SGD(p, 0.1).add_param_group({"params": p}),
        lambda: O.SGD(p, 0.1).step(),
        lambda: O.LBFGS(p).step(),
    ):
        try:
            say(wrong())
        except (ValueError, TypeError, RuntimeError, KeyError) as error:
            say(type(error).__name__, error)
    named = O.Adam([("weight", p[0])])
    say(named.state_dict())
    handle = named.register_step_post_hook(lambda optimizer, args, kwargs: say("stepped", args, kwargs))
    p[0].grad = T.ones(2)
    named.step()
    handle.remove()
    say(named.param_groups)


@program
def learned_optimizer(T, say):
    """Steps that are differentiated, gradients of embeddings that are sparse, hooks around all optimizers."""
    nn, F, O = T.nn, T.nn.functional, T.optim
    M = importlib.import_module(f"{T.__name__}.optim.optimizer")
    T.manual_seed(0)
    x, target = T.randn(6, 3), T.randn(6)
    start = T.zeros(3, requires_grad=True)
    for make in (O.SGD, O.Adam, O.AdamW, O.NAdam, O.RMSprop, O.Adagrad, O.ASGD):
        weight = start.clone()
        weight.retain_grad()
        inner = make([weight], lr=0.1, differentiable=True)
        for _ in range(3):
            loss = (x @ weight - target).square().mean()
            (weight.grad,) = T.autograd.grad(loss, weight, create_graph=True)
            inner.step()
        (through,) = T.autograd.grad((x @ weight - target).square().mean(), start)
        say(make.__name__, weight, through)
    try:
        leaf = nn.Parameter(T.ones(2))
        leaf.grad = T.ones(2)
        O.Adam([leaf], differentiable=True).step()
    except RuntimeError as error:
        say(error)
    coordinates = nn.LSTMCell(2, 4)
    head = nn.Linear(4, 1)
    outer = O.Adam([*coordinates.parameters(), *head.parameters()], lr=1e-2)
    for _ in range(3):
        weight, state, total = start, None, 0.0
        for _ in range(3):
            loss = (x @ weight - target).square().mean()
            total = total + loss
            (grad,) = T.autograd.grad(loss, weight, retain_graph=True)
            state = coordinates(T.stack([grad.abs().log().clamp(min=-8) / 8, grad.sign()], 1), state)
            weight = weight + 0.1 * head(state[0]).squeeze(1)
        outer.zero_grad()
        total.backward()
        outer.step()
        say(total, coordinates.weight_hh.grad.norm())
    for make in (
        partial_sgd := lambda p: O.SGD(p, 0.1),
        lambda p: O.SGD(p, 0.1, momentum=0.9),
        lambda p: O.Adagrad(p, 0.1),
        lambda p: O.SparseAdam(p, 0.1),
    ):
        T.manual_seed(1)
        table = nn.Embedding(6, 2, sparse=True)
        optimizer = make(table.parameters())
        for _ in range(2):
            optimizer.zero_grad()
            table(T.tensor([1, 1, 4])).pow(2).sum().backward()
            optimizer.step()
        say(type(optimizer).__name__, table.weight, sorted(optimizer.state_dict()["state"].get(0, {})))
    calls = []
    handles = [
        M.register_optimizer_step_pre_hook(
            lambda o, args, kwargs: calls.append((type(o).__name__, len(args), sorted(kwargs)))
        ),
        M.register_optimizer_step_post_hook(lambda o, args, kwargs: calls.append("done")),
    ]
    p = nn.Parameter(T.ones(2))
    first, second = partial_sgd([p]), O.Adam([p])
    first.register_step_pre_hook(lambda o, args, kwargs: calls.append(args[0] is o))
    p.sum().backward()
    grad = p.grad
    first.step()
    second.step(closure=None)
    first.zero_grad(set_to_none=False)
    for handle in handles:
        handle.remove()
    first.step()
    say(calls, p, p.grad is grad, grad)
    for bad in (
        lambda: O.Adam([p], fused=True, foreach=True), lambda: O.SGD([p], 0.1, fused=True, differentiable=True),
        lambda: O.AdamW([p], lr=T.tensor(0.1), foreach=True), lambda: O.Adam([p], betas=(T.tensor(0.9), 0.9)),
        lambda: O.SGD([p], T.ones(2)), lambda: O.Adam(table.parameters()).step(),
        lambda: O.RMSprop(table.parameters()).step(), lambda: O.Adam([p], capturable=True).step(),
        lambda: O.Adafactor([nn.Parameter(T.ones(2) * 1j)]),
        lambda: O.Adagrad(table.parameters(), weight_decay=0.1).step(),
        lambda: O.NAdam([p], foreach=True, differentiable=True).step(), lambda: O.Muon([p]),
        lambda: F.embedding(T.tensor([1]), T.ones(2)),
        lambda: O.ASGD([nn.Parameter(T.ones(2))], capturable=True).step(),
    ):  # fmt: skip
        try:
            say(bad())
        except (RuntimeError, ValueError, AssertionError) as error:
            say(type(error).__name__, error)
