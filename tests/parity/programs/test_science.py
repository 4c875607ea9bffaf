"""Signals, physics and graphs."""

import collections
import itertools
import math

from tests.parity.support.printed import printing_programs

program, test_same_text = printing_programs()


@program
def signals_and_sounds(T, say):
    """Mel spectrograms, filters by transforms, resampling, pitch, Griffin-Lim, wavelets of Haar, windows."""
    F = T.nn.functional
    T.manual_seed(0)
    rate, n_fft, hop = 800, 64, 16
    time = T.arange(rate // 2) / rate
    wave = T.sin(2 * math.pi * 100 * time) + 0.5 * T.sin(2 * math.pi * 220 * time) + 0.01 * T.randn(len(time))
    window = T.hann_window(n_fft)
    spec = T.stft(wave, n_fft, hop, window=window, center=True, pad_mode="reflect", return_complex=True)
    power = spec.abs().pow(2)
    say(spec.shape, spec.dtype, power.mean(-1).topk(4), T.view_as_real(spec).shape, spec.angle()[:3, 0])
    hz = lambda mel: 700 * (10 ** (mel / 2595) - 1)  # noqa: E731
    points = hz(T.linspace(0, 2595 * math.log10(1 + rate / 2 / 700), 8 + 2))
    slopes = points.unsqueeze(0) - T.linspace(0, rate / 2, n_fft // 2 + 1).unsqueeze(1)
    diff = points[1:] - points[:-1]
    bank = T.max(T.zeros(1), T.min(-slopes[:, :-2] / diff[:-1], slopes[:, 2:] / diff[1:]))
    mel = bank.T @ power
    db = 10 * T.log10(mel.clamp(min=1e-10)) - 10 * T.log10(T.maximum(T.tensor(1e-10), mel.max()))
    dct = T.cos(math.pi / 8 * (T.arange(8.0) + 0.5) * T.arange(4.0).unsqueeze(1)) * math.sqrt(2 / 8)
    say(
        bank.sum(0),
        T.maximum(db, db.max() - 80)[:, 3],
        (dct @ db)[:, :2],
        T.istft(spec, n_fft, hop, window=window, length=len(wave)).sub(wave).abs().max() < 1e-5,
    )
    phase = T.polar(T.ones_like(power), 2 * math.pi * T.rand(power.shape))
    for _ in range(3):
        guess = T.istft(spec.abs() * phase, n_fft, hop, window=window)
        phase = T.exp(1j * T.stft(guess, n_fft, hop, window=window, return_complex=True).angle())
    say(guess.std(), phase.abs().sum(), T.linalg.vector_norm(guess))
    kernel = T.sinc(0.25 * T.arange(-8.0, 9)) * T.hamming_window(17, periodic=False)
    kernel /= kernel.sum()
    direct = F.conv1d(wave.view(1, 1, -1), kernel.flip(0).view(1, 1, -1), padding=16).flatten()
    n = len(wave) + 17 - 1
    say(T.allclose(T.fft.irfft(T.fft.rfft(wave, n) * T.fft.rfft(kernel, n), n), direct, atol=1e-4), direct[50:54])
    auto = T.fft.irfft(T.fft.rfft(wave - wave.mean(), 1024).abs() ** 2)[:100]
    say(
        rate / (auto[4:].argmax() + 4),
        T.fft.rfftfreq(8, 1 / rate),
        T.fft.fftshift(T.fft.fftfreq(5)),
        T.fft.fft2(T.eye(2)),
        T.fft.hfft(T.ones(3)),
        T.fft.ifft(T.arange(3.0)),
    )
    haar = T.tensor([[1.0, 1.0], [1.0, -1.0]]).div(math.sqrt(2)).unsqueeze(1)
    coarse, detail = F.conv1d(wave[:16].view(1, 1, -1), haar, stride=2)[0]
    back = F.conv_transpose1d(T.stack([coarse, detail])[None], haar, stride=2).flatten()
    say(
        coarse,
        T.allclose(back, wave[:16], atol=1e-6),
        F.interpolate(wave.view(1, 1, -1), scale_factor=0.02, mode="linear"),
        F.avg_pool1d(wave[None], 50, 25),
    )
    frames = F.pad(wave, (8, 8), mode="constant").unfold(0, 32, 16)
    say(
        frames.shape,
        (frames[:, 1:].sign() != frames[:, :-1].sign()).float().mean(1)[:4],
        frames.square().mean(-1).sqrt().max(),
        T.cumulative_trapezoid(wave[:5]),
        T.trapz(wave[:5]),
    )
    for name in ("hann", "hamming", "blackman", "bartlett", "kaiser"):
        say(name, getattr(T, f"{name}_window")(5), getattr(T, f"{name}_window")(5, periodic=False, dtype=T.float64))
    say(
        T.signal.windows.gaussian(5, std=1.5),
        T.signal.windows.general_cosine(4, a=[0.5, 0.3, 0.2]),
        T.view_as_complex(T.ones(2, 2)).conj(),
        T.gradient(wave[:5], spacing=0.5),
    )
    echo = wave.clone()
    for lag, gain in itertools.product((20, 41), (0.5, 0.25)):
        echo[lag:] += gain * wave[:-lag]
    say((echo / 0.1).round().clamp(-128, 127).to(T.int8)[:8], echo.clamp(-1, 1).mul(32767).short()[:8])
    for bad in (
        lambda: T.stft(wave, 64),
        lambda: T.stft(wave, 1024, return_complex=True),
        lambda: T.istft(power, 64),
        lambda: T.fft.rfft(spec),
        lambda: T.hann_window(-1),
        lambda: T.fft.fft(wave, 0),
        lambda: T.stft(wave, 64, window=T.ones(3), return_complex=True),
    ):
        try:
            say(bad())
        except (RuntimeError, ValueError, TypeError) as error:
            say(type(error).__name__, error)


@program
def physics(T, say):
    """Runge-Kutta and its adjoint, a pendulum, heat by implicit steps, waves, bodies."""
    nn, F = T.nn, T.nn.functional
    T.manual_seed(0)

    def rk4(f, y, t, h):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(t + h, y + h * k3))

    class Adjoint(T.autograd.Function):
        @staticmethod
        def forward(ctx, y0, flat, f, steps):
            ctx.f, ctx.steps = f, steps
            with T.no_grad():
                y = y0
                for i in range(steps):
                    y = rk4(f, y, i * 0.1, 0.1)
            ctx.save_for_backward(y, flat)
            return y

        @staticmethod
        def backward(ctx, grad):
            y, flat = ctx.saved_tensors
            a, gp, parameters = grad, T.zeros_like(flat), tuple(ctx.f.parameters())
            for i in reversed(range(ctx.steps)):
                with T.enable_grad():
                    y = rk4(ctx.f, y, (i + 1) * 0.1, -0.1).detach().requires_grad_()
                    after = rk4(ctx.f, y, i * 0.1, 0.1)
                    a, *g = T.autograd.grad(after, (y, *parameters), a, allow_unused=True)
                gp = gp + T.cat([p.new_zeros(p.numel()) if d is None else d.flatten() for p, d in zip(parameters, g)])
            return a, gp, None, None

    class Field(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(2, 6), nn.Softplus(beta=5), nn.Linear(6, 2, bias=False))
            self.unused = nn.Parameter(T.zeros(1))

        def forward(self, t, y):
            return self.net(y) * T.exp(T.as_tensor(-t))

    field, y0 = Field(), T.tensor([[1.0, 0.0]], requires_grad=True)
    flat = nn.utils.parameters_to_vector(field.parameters())
    y = y0
    for i in range(5):
        y = rk4(field, y, i * 0.1, 0.1)
    direct = T.autograd.grad(y.square().sum(), [y0, field.net[0].weight])
    z = Adjoint.apply(y0, flat, field, 5)
    z.square().sum().backward()
    say(
        z,
        T.allclose(direct[0], y0.grad, atol=1e-4),
        T.allclose(direct[1], field.net[0].weight.grad, atol=1e-4),
        field.unused.grad,
    )
    q, p, energies = T.tensor(1.0, dtype=T.float64), T.tensor(0.0, dtype=T.float64), []
    H = lambda q, p: p**2 / 2 + 1 - T.cos(q)  # noqa: E731
    for _ in range(50):
        p = p - 0.05 * T.func.grad(H, argnums=0)(q, p)
        q = q + 0.05 * T.func.grad(H, argnums=1)(q, p)
        energies.append(H(q, p))
    say(q, p, T.stack(energies).std(), T.stack(energies)[::10])
    n = 6
    lap = T.diag(T.full((n,), -2.0)) + T.diag(T.ones(n - 1), 1) + T.diag(T.ones(n - 1), -1)
    u = T.exp(-((T.arange(n) - 2.5) ** 2))
    LU, pivots, info = T.linalg.lu_factor_ex(T.eye(n) - 0.1 * lap)
    for _ in range(3):
        u = T.linalg.lu_solve(LU, pivots, u.unsqueeze(1)).squeeze(1)
    say(
        u,
        pivots,
        info,
        T.lu_unpack(LU, pivots)[0].shape,
        T.linalg.eigvalsh(lap),
        T.linalg.inv(lap).trace(),
        T.linalg.slogdet(lap),
        T.linalg.matrix_norm(lap, 2),
    )
    grid = T.zeros(1, 1, 8, 8)
    grid[..., 4, 4] = 1
    before, stencil = grid.clone(), T.tensor([[0.0, 1, 0], [1, -4, 1], [0, 1, 0]]).view(1, 1, 3, 3)
    for _ in range(4):
        before, grid = grid, 2 * grid - before + 0.2 * F.conv2d(F.pad(grid, (1, 1, 1, 1), mode="circular"), stencil)
    say(grid[0, 0, 4], grid.sum(), T.roll(grid, (1, 1), (2, 3)).argmax(), T.fft.fft2(grid).abs().amax())
    x = T.linspace(0, 1, 12, requires_grad=True).unsqueeze(1)
    net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = T.optim.LBFGS(net.parameters(), max_iter=8, tolerance_change=0, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        v = net(x)
        (dv,) = T.autograd.grad(v, x, T.ones_like(v), create_graph=True)
        loss = ((dv + v) ** 2).mean() + (net(T.zeros(1, 1)) - 1).square().sum()
        loss.backward()
        return loss

    say(
        [round(optimizer.step(closure).item(), 4) for _ in range(2)],
        nn.utils.get_total_norm([p.grad for p in net.parameters()]) < 1,
    )
    bodies = T.randn(4, 3, dtype=T.float64)
    delta = bodies.unsqueeze(0) - bodies.unsqueeze(1)
    force = (delta / (delta.norm(dim=-1, keepdim=True) ** 3 + 1e-9)).nan_to_num().sum(1)
    say(
        force.sum(0).abs() < 1e-9,
        T.cross(bodies[0], bodies[1], dim=0),
        T.linalg.cross(bodies[:2], bodies[2:]),
        T.cdist(bodies, bodies).triu(1).max(),
    )
    angle = T.deg2rad(T.tensor([30.0, 90.0]))
    R = T.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()], -1).unflatten(-1, (2, 2))
    say(
        R,
        T.linalg.det(R),
        R.inverse().sub(R.mT).abs().max() < 1e-6,
        T.atan2(R[:, 1, 0], R[:, 0, 0]).rad2deg(),
        T.hypot(T.tensor(3.0), T.tensor(4.0)),
    )


@program
def graphs_and_sets(T, say):
    """Messages by scatter and index_add, pooled graphs, functions of sets, walks, ranks of pages."""
    nn, F = T.nn, T.nn.functional
    T.manual_seed(0)
    edges = T.tensor([[0, 1, 1, 2, 3, 4, 4, 0], [1, 0, 2, 1, 4, 3, 0, 4]])
    x, batch = T.randn(5, 4), T.tensor([0, 0, 0, 1, 1])

    class EdgeConv(nn.Module):
        def __init__(self, i, o, aggr="max"):
            super().__init__()
            self.mlp, self.aggr = nn.Sequential(nn.Linear(2 * i, o), nn.ReLU(), nn.Linear(o, o)), aggr

        def forward(self, x, edges):
            source, target = edges
            messages = self.mlp(T.cat([x[target], x[source] - x[target]], dim=-1))
            index = target.unsqueeze(-1).expand_as(messages)
            if self.aggr == "max":
                out = T.full((len(x), messages.size(-1)), -T.inf).scatter_reduce(0, index, messages, reduce="amax")
                return out.masked_fill(out.isinf(), 0)
            return T.zeros(len(x), messages.size(-1)).scatter_reduce(0, index, messages, self.aggr, include_self=False)

        def extra_repr(self):
            return f"aggr={self.aggr!r}"

    for aggr in ("max", "mean", "sum"):
        conv = EdgeConv(4, 6, aggr)
        out = conv(x, edges)
        out.sum().backward()
        say(conv, out[0], conv.mlp[0].weight.grad.norm())
    pooled = T.zeros(2, 6).index_add(0, batch, out) / T.bincount(batch, minlength=2).unsqueeze(1)
    say(
        pooled,
        T.zeros(2, 6).index_reduce(0, batch, out.detach(), "amin", include_self=False),
        T.ones(5).scatter_add(0, edges[1], T.ones(8)),
    )
    A = T.zeros(5, 5).index_put(tuple(edges), T.tensor(1.0))
    degree = A.sum(1)
    P = (A / degree.unsqueeze(1)).T
    rank = T.full((5,), 0.2)
    for _ in range(20):
        rank = 0.85 * P @ rank + 0.03
    sparse = T.sparse_coo_tensor(edges, T.ones(8), (5, 5)).coalesce()
    say(
        rank,
        T.sparse.mm(sparse, x)[0],
        T.allclose(sparse @ x, A @ x),
        sparse,
        sparse.to_dense().equal(A),
        sparse.indices()[:, :2],
        sparse.t().coalesce().values(),
    )
    walk, path = T.tensor(0), [0]
    for _ in range(6):
        walk = T.multinomial(A[walk], 1).squeeze()
        path.append(walk.item())
    say(
        path,
        T.linalg.matrix_power(A, 3).diagonal(),
        (A @ A > 0).int(),
        T.unique(edges, dim=1, return_counts=True)[1],
        T.combinations(T.arange(4)),
        A.nonzero(as_tuple=True)[0],
    )

    class Set(nn.Module):
        def __init__(self):
            super().__init__()
            self.phi, self.rho = nn.Linear(4, 8), nn.Linear(8, 2)
            self.attention, self.seed = nn.MultiheadAttention(8, 2, batch_first=True), nn.Parameter(T.randn(1, 1, 8))

        def forward(self, x, mask):
            h = F.elu(self.phi(x))
            pooled = (h * mask.unsqueeze(-1)).sum(1)
            attended, weights = self.attention(self.seed.expand(len(x), -1, -1), h, h, key_padding_mask=~mask)
            return self.rho(pooled) + self.rho(attended.squeeze(1)), weights

    sets, mask = T.randn(2, 3, 4), T.tensor([[True, True, False], [True, True, True]])
    model = Set()
    result, weights = model(sets, mask)
    order = T.tensor([1, 0, 2])
    say(result, weights, T.allclose(model(sets[:, order], mask[:, order])[0], result, atol=1e-5), model)
    lengths = T.tensor([2, 3])
    say(
        T.arange(3)[None] < lengths[:, None],
        nn.utils.rnn.unpad_sequence(sets, lengths, batch_first=True)[0],
        T.repeat_interleave(T.arange(2), lengths),
        T.block_diag(T.ones(1, 2), T.eye(2)),
    )
    distance, previous = T.full((5,), T.inf).index_fill(0, T.tensor([0]), 0.0), T.full((5,), -1)
    for _ in range(4):
        for s, t in edges.T.tolist():
            if distance[s] + 1 < distance[t]:
                distance[t], previous[t] = distance[s] + 1, s
    say(
        distance,
        previous,
        T.isfinite(distance),
        T.triu_indices(3, 3, 1),
        T.tril(A).sum(),
        T.kron(T.eye(2), T.ones(1, 2)),
        T.bucketize(distance, T.tensor([0.5, 1.5])),
    )
    counter = collections.Counter(batch.tolist())
    say(
        counter,
        [part.sum(0) for part in x.split(list(counter.values()))],
        T.logcumsumexp(x[0], 0),
        T.cummax(x[:, 0], 0),
    )
