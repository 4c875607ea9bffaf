"""Differential equations, adapters and physics in the style of well-known repositories."""

import collections
import math

import numpy as np

from tests.parity.support.figures import figures

program, test_same_figures = figures()


@program
def neural_ode_adjoint(T):
    """Gradients of an integration by integrating backwards, and of a fixed point."""
    nn = T.nn
    T.manual_seed(0)

    def step(f, t, h, y):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h * k1 / 2)
        k3 = f(t + h / 2, y + h * k2 / 2)
        k4 = f(t + h, y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def solve(f, t0, t1, y, n=4):
        h = (t1 - t0) / n
        t = t0
        for _ in range(n):
            y = step(f, t, h, y)
            t = t + h
        return y

    class Field(nn.Module):
        def __init__(self):
            super().__init__()
            self.l1, self.l2 = nn.Linear(3, 8), nn.Linear(8, 2)

        def forward(self, t, y):
            return self.l2(T.tanh(self.l1(T.cat([y, t.expand(y.size(0), 1)], 1))))

    class Adjoint(T.autograd.Function):
        @staticmethod
        def forward(ctx, y0, t, flat, func):
            ctx.func = func
            with T.no_grad():
                ys = [y0]
                for a, b in zip(t[:-1], t[1:]):
                    ys.append(solve(func, a, b, ys[-1]))
                y = T.stack(ys)
            ctx.save_for_backward(t, y.clone(), flat)
            return y

        @staticmethod
        def backward(ctx, dy):
            func = ctx.func
            t, ys, flat = ctx.saved_tensors
            bs, n = ys.shape[1:]
            params = tuple(func.parameters())

            def aug(ti, a):
                z, adj = a[:, :n], a[:, n : 2 * n]
                with T.enable_grad():
                    z = z.detach().requires_grad_(True)
                    ti = ti.detach().requires_grad_(True)
                    f = func(ti, z)
                    gz, gt, *gp = T.autograd.grad(
                        (f,), (z, ti) + params, grad_outputs=(adj,), allow_unused=True, retain_graph=True
                    )
                gp = T.cat([p.flatten() for p in gp]).unsqueeze(0).expand(bs, -1) / bs
                return T.cat((f, -gz, -gp), dim=1)

            with T.no_grad():
                adj, gp = T.zeros(bs, n), T.zeros(bs, flat.numel())
                for i in range(len(t) - 1, 0, -1):
                    adj = adj + dy[i]
                    r = solve(aug, t[i], t[i - 1], T.cat((ys[i], adj, gp), 1))
                    adj, gp = r[:, n : 2 * n], r[:, 2 * n :]
                adj = adj + dy[0]
            return adj, None, gp.sum(0), None

    f = Field()
    t, y0 = T.linspace(0, 1, 4), T.tensor([[2.0, 0.0], [0.5, 1.0]], requires_grad=True)
    flat = lambda: T.cat([p.flatten() for p in f.parameters()])
    y = Adjoint.apply(y0, t, flat(), f)
    y.pow(2).sum().backward()
    out = [y.sum().item(), y0.grad.tolist(), [p.grad.norm().item() for p in f.parameters()]]
    direct = [y0]
    for a, b in zip(t[:-1], t[1:]):
        direct.append(solve(f, a, b, direct[-1]))
    gs = T.autograd.grad(T.stack(direct).pow(2).sum(), list(f.parameters()))
    out += [max((g - p.grad).abs().max().item() for g, p in zip(gs, f.parameters())) < 1e-2]

    class DEQ(nn.Module):
        def __init__(self):
            super().__init__()
            self.f = nn.Linear(2, 2)
            self.hook = None

        def forward(self, x):
            with T.no_grad():
                z = T.zeros_like(x)
                for _ in range(30):
                    z = T.tanh(self.f(z) + x)
            z = T.tanh(self.f(z) + x)
            z0 = z.clone().detach().requires_grad_()
            f0 = T.tanh(self.f(z0) + x)

            def backward_hook(g):
                if self.hook is not None:
                    self.hook.remove()
                y = g
                for _ in range(30):
                    y = T.autograd.grad(f0, z0, y, retain_graph=True)[0] + g
                return y

            if self.training:
                self.hook = z.register_hook(backward_hook)
            return z

    d = DEQ()
    d(y0.detach()).sum().backward()
    return out + [d.f.weight.grad.norm().item()]


@program
def hyper_lora_distill(T):
    """Adapters of low rank, a teacher and a pupil, weights made by a network."""
    nn, F = T.nn, T.nn.functional
    P = T.nn.utils.parametrize
    T.manual_seed(0)
    out = []

    class LoRA(nn.Module):
        def __init__(self, i, o, rank=2, alpha=1.0):
            super().__init__()
            self.A, self.B = nn.Parameter(T.zeros((rank, o))), nn.Parameter(T.zeros((i, rank)))
            nn.init.normal_(self.A, mean=0, std=1)
            self.scale, self.enabled = alpha / rank, True

        def forward(self, W):
            return W + T.matmul(self.B, self.A).view(W.shape) * self.scale if self.enabled else W

    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    before = {n: p.clone().detach() for n, p in net.named_parameters()}
    for m in (net[0], net[2]):
        i, o = m.weight.shape
        P.register_parametrization(m, "weight", LoRA(i, o))
    for n, p in net.named_parameters():
        if "parametrizations.weight.0" not in n:
            p.requires_grad = False
    opt = T.optim.AdamW([p for p in net.parameters() if p.requires_grad], 0.05)
    x, y = T.randn(12, 6), T.randint(3, (12,))
    for _ in range(3):
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        out.append(loss.item())
    out += [
        sum(p.numel() for p in net.parameters() if p.requires_grad),
        T.equal(net[0].parametrizations.weight.original, before["0.weight"]),
    ]
    net[0].parametrizations["weight"][0].enabled = False
    out.append(T.equal(net[0].weight, before["0.weight"]))
    P.remove_parametrizations(net[2], "weight")
    out += [type(net[2]).__name__, type(net[0]).__name__, net[2].weight.sum().item()]

    class LoRALinear(nn.Module):
        def __init__(self, base, r):
            super().__init__()
            self.base, self.a, self.b = (
                base,
                nn.Linear(base.in_features, r, bias=False),
                nn.Linear(r, base.out_features, bias=False),
            )
            nn.init.kaiming_uniform_(self.a.weight, a=math.sqrt(5))
            nn.init.zeros_(self.b.weight)

        def forward(self, x):
            return self.base(x) + self.b(self.a(x))

    base = nn.Sequential(collections.OrderedDict(q=nn.Linear(6, 6), act=nn.Tanh(), v=nn.Linear(6, 2)))
    for name, child in list(base.named_children()):
        if isinstance(child, nn.Linear):
            setattr(base, name, LoRALinear(child, 2))
    out += [str(base), base.get_submodule("q.base").weight.shape, base.get_parameter("v.a.weight").sum().item()]
    inc = base.load_state_dict({"q.base.weight": T.zeros(6, 6)}, strict=False)
    out += [len(inc.missing_keys), inc.unexpected_keys, str(inc)[:40]]
    try:
        base.load_state_dict({"q.base.weight": T.zeros(6, 5), "zz": T.zeros(1)})
    except RuntimeError as e:
        out.append(str(e))
    teacher, student = nn.Linear(6, 3), nn.Linear(6, 3)
    so = T.optim.SGD(student.parameters(), 0.1)
    kl = nn.KLDivLoss(reduction="batchmean")
    for _ in range(3):
        with T.no_grad():
            tl = teacher(x)
        sl = student(x)
        loss = kl(F.log_softmax(sl / 4, dim=1), F.softmax(tl / 4, dim=1)) * 16 + 0.3 * F.cross_entropy(sl, y)
        soft = F.kl_div(F.log_softmax(sl, -1), F.log_softmax(tl, -1), log_target=True, reduction="sum")
        so.zero_grad()
        loss.backward()
        so.step()
        out += [loss.item(), soft.item()]
    hyper = nn.Linear(4, 6 * 3 + 3)
    z = T.randn(12, 4)
    w = hyper(z)
    pred = T.baddbmm(w[:, 18:].unsqueeze(1), x.unsqueeze(1), w[:, :18].view(12, 6, 3)).squeeze(1)
    F.mse_loss(pred, T.ones(12, 3)).backward()
    out.append(hyper.weight.grad.norm().item())
    vec = T.nn.utils.parameters_to_vector(student.parameters())
    T.nn.utils.vector_to_parameters(vec * 0.5, student.parameters())
    out.append(student.weight.sum().item())
    ort = T.nn.utils.parametrizations.orthogonal(nn.Linear(4, 4))
    out.append(T.dist(ort.weight @ ort.weight.T, T.eye(4)).item() < 1e-5)
    wn = T.nn.utils.parametrizations.weight_norm(nn.Linear(3, 2), dim=None)
    out.append(sorted(wn.state_dict()))
    return out


@program
def pinn_fno_siren(T):
    """A differential equation as a loss, learned filters of frequencies, waves as activations."""
    nn = T.nn
    T.manual_seed(0)
    out = []
    net = nn.Sequential(
        *[m for i in range(2) for m in (nn.Linear(2 if i == 0 else 10, 10), nn.Tanh())], nn.Linear(10, 1)
    )

    def init(m):
        if isinstance(m, nn.Linear):
            T.nn.init.xavier_normal_(m.weight, gain=nn.init.calculate_gain("tanh"))
            m.bias.data.fill_(0.01)

    net.apply(init)
    opt = T.optim.Adam(net.parameters(), 1e-2)
    lb = T.optim.LBFGS(
        net.parameters(),
        lr=1.0,
        max_iter=5,
        max_eval=10,
        history_size=50,
        tolerance_grad=1e-5,
        tolerance_change=1.0 * np.finfo(float).eps,
        line_search_fn="strong_wolfe",
    )
    x, t = T.rand(20, 1, requires_grad=True), T.rand(20, 1, requires_grad=True)

    def loss_fn():
        u = net(T.cat([x, t], dim=1))
        ut = T.autograd.grad(u, t, grad_outputs=T.ones_like(u), retain_graph=True, create_graph=True)[0]
        ux = T.autograd.grad(u.sum(), x, create_graph=True)[0]
        uxx = T.autograd.grad(ux, x, T.ones_like(ux), retain_graph=True, create_graph=True)[0]
        f = ut + u * ux - (0.01 / np.pi) * uxx
        u0 = net(T.cat([x, T.zeros_like(t)], 1))
        return T.mean(f**2) + T.mean((u0 + T.sin(np.pi * x)) ** 2)

    for _ in range(3):
        opt.zero_grad()
        l = loss_fn()
        l.backward()
        opt.step()
        out.append(l.item())

    def cl():
        lb.zero_grad()
        l = loss_fn()
        l.backward()
        return l

    out.append(float(lb.step(cl)))
    out.append(loss_fn().item())

    class Spectral(nn.Module):
        def __init__(self, i, o, m):
            super().__init__()
            self.m, s = m, 1 / (i * o)
            self.w1 = nn.Parameter(s * T.rand(i, o, m, m, dtype=T.cfloat))
            self.w2 = nn.Parameter(s * T.rand(i, o, m, m, dtype=T.cfloat))
            self.o = o

        def forward(self, x):
            b = x.shape[0]
            ft = T.fft.rfft2(x)
            of = T.zeros(b, self.o, x.size(-2), x.size(-1) // 2 + 1, dtype=T.cfloat, device=x.device)
            m = self.m
            of[:, :, :m, :m] = T.einsum("bixy,ioxy->boxy", ft[:, :, :m, :m], self.w1)
            of[:, :, -m:, :m] = T.einsum("bixy,ioxy->boxy", ft[:, :, -m:, :m], self.w2)
            return T.fft.irfft2(of, s=(x.size(-2), x.size(-1)))

    f = nn.ModuleList([Spectral(2, 3, 2), nn.Conv2d(2, 3, 1)])
    o = T.optim.Adam(f.parameters(), lr=1e-2, weight_decay=1e-4)
    a = T.randn(2, 2, 8, 8)
    for _ in range(3):
        y = nn.functional.gelu(f[0](a) + f[1](a))
        l = T.norm(y.reshape(2, -1) - 1, 2, 1).mean()
        o.zero_grad()
        l.backward()
        o.step()
        out.append(l.item())

    class Sine(nn.Module):
        def __init__(self, i, o, w0=30.0, first=False):
            super().__init__()
            self.w0, self.linear = w0, nn.Linear(i, o)
            with T.no_grad():
                b = 1 / i if first else np.sqrt(6 / i) / w0
                self.linear.weight.uniform_(-b, b)

        def forward(self, x):
            return T.sin(self.w0 * self.linear(x))

    s = nn.Sequential(Sine(2, 8, first=True), Sine(8, 8), nn.Linear(8, 1))
    c = (
        T.stack(T.meshgrid(*2 * (T.linspace(-1, 1, steps=4),), indexing="ij"), dim=-1)
        .reshape(-1, 2)
        .requires_grad_(True)
    )
    y = s(c)
    g = T.autograd.grad(y, [c], grad_outputs=T.ones_like(y), create_graph=True)[0]
    lap = sum(
        T.autograd.grad(g[..., i], c, T.ones_like(g[..., i]), create_graph=True)[0][..., i : i + 1] for i in range(2)
    )
    lap.pow(2).mean().backward()
    out += [y.sum().item(), s[0].linear.weight.grad.norm().item()]
    return out
