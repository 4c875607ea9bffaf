"""Parts of networks: experts, scans, transformers of space, memories."""

import collections
import math

import numpy as np

from tests.parity.support.printed import printing_programs

program, test_same_text = printing_programs()


@program
def mixture_of_experts(T, say):
    """Routing to the top experts, with capacity and a load-balancing loss, written in two ways that agree."""
    nn, F = T.nn, T.nn.functional
    T.manual_seed(0)

    class Expert(nn.Module):
        def __init__(self, dim, hidden):
            super().__init__()
            self.w1, self.w2, self.w3 = (
                nn.Linear(*s, bias=False) for s in ((dim, hidden), (hidden, dim), (dim, hidden))
            )

        def forward(self, x):
            return self.w2(F.silu(self.w1(x)) * self.w3(x))

    class SparseMoE(nn.Module):
        def __init__(self, dim, hidden, experts, k):
            super().__init__()
            self.gate, self.k = nn.Linear(dim, experts, bias=False), k
            self.experts = nn.ModuleList([Expert(dim, hidden) for _ in range(experts)])

        def forward(self, states):
            batch, length, dim = states.shape
            states = states.view(-1, dim)
            logits = self.gate(states)
            weights = F.softmax(logits, dim=1, dtype=T.float)
            weights, chosen = T.topk(weights, self.k, dim=-1)
            weights /= weights.sum(dim=-1, keepdim=True)
            weights = weights.to(states.dtype)
            final = T.zeros((batch * length, dim), dtype=states.dtype, device=states.device)
            mask = F.one_hot(chosen, num_classes=len(self.experts)).permute(2, 1, 0)
            for index in mask.sum(dim=(-1, -2)).gt(0).nonzero():
                idx, top_x = T.where(mask[index].squeeze(0))
                current = states[None, top_x].reshape(-1, dim)
                out = self.experts[index](current) * weights[top_x, idx, None]
                final.index_add_(0, top_x, out.to(states.dtype))
            return final.reshape(batch, length, dim), logits

    def load_balancing(logits, k):
        weights = F.softmax(logits, dim=-1)
        _, chosen = T.topk(weights, k, dim=-1)
        tokens = T.mean(F.one_hot(chosen, logits.shape[-1]).float(), dim=0)
        return T.sum(tokens * weights.mean(dim=0).unsqueeze(0)) * logits.shape[-1]

    class Noisy(nn.Module):
        def __init__(self, dim, experts):
            super().__init__()
            self.w_gate, self.w_noise = (nn.Parameter(T.zeros(dim, experts), requires_grad=True) for _ in range(2))
            self.register_buffer("mean", T.tensor([0.0]))
            self.register_buffer("std", T.tensor([1.0]))

        def forward(self, x):
            clean = x @ self.w_gate
            std = F.softplus(x @ self.w_noise) + 1e-2
            noisy = clean + T.randn_like(clean) * std
            top, indices = noisy.topk(3, dim=1)
            gates = T.zeros_like(noisy, requires_grad=True).scatter(1, indices[:, :2], top[:, :2].softmax(1))
            threshold = T.unsqueeze(T.gather(top.flatten(), 0, T.arange(len(x)) * 3 + 2), 1)
            normal = T.distributions.Normal(self.mean, self.std)
            load = T.where(T.gt(noisy, threshold), normal.cdf((clean - threshold) / std), 0.5).sum(0)
            return gates, load

    moe = SparseMoE(6, 8, 4, 2)
    y, logits = moe(T.randn(2, 5, 6))
    loss = y.pow(2).mean() + 0.01 * load_balancing(logits, 2)
    loss.backward()
    say(
        y[0, 0],
        loss,
        [None if e.w1.weight.grad is None else round(e.w1.weight.grad.norm().item(), 5) for e in moe.experts],
    )
    gates, load = Noisy(6, 4)(T.randn(5, 6))
    gates.var().div(gates.mean() ** 2 + 1e-10).backward()
    say(gates, load, (gates > 0).sum(0))
    capacity = math.ceil(10 * 2 / 4 * 1.25)
    chosen = logits.topk(2, -1).indices.T.flatten()
    position = (F.one_hot(chosen, 4).cumsum(0) - 1).gather(1, chosen[:, None]).squeeze(1)
    say(capacity, position, (position < capacity).sum(), T.histc(chosen.float(), bins=4, min=0, max=3))
    order = T.argsort(chosen, stable=True)
    say(order, T.unique_consecutive(chosen[order], return_counts=True), T.searchsorted(chosen[order], T.arange(4)))


@program
def selective_state_space(T, say):
    """A Mamba-like block: a scan by a loop, by cumulated sums, by steps, and they agree."""
    nn, F = T.nn, T.nn.functional

    class Mamba(nn.Module):
        def __init__(self, dim, state=4, conv=3, expand=2):
            super().__init__()
            self.inner, self.state, self.rank = dim * expand, state, math.ceil(dim / 4)
            self.in_proj = nn.Linear(dim, self.inner * 2, bias=False)
            self.conv1d = nn.Conv1d(self.inner, self.inner, conv, groups=self.inner, padding=conv - 1)
            self.x_proj, self.dt_proj = nn.Linear(self.inner, self.rank + state * 2, bias=False), nn.Linear(
                self.rank, self.inner
            )
            A = T.arange(1, state + 1, dtype=T.float32).repeat(self.inner, 1)
            self.A_log, self.D = nn.Parameter(T.log(A)), nn.Parameter(T.ones(self.inner))
            self.A_log._no_weight_decay = True
            self.out_proj = nn.Linear(self.inner, dim, bias=False)
            dt = T.exp(T.rand(self.inner) * (math.log(0.1) - math.log(1e-3)) + math.log(1e-3)).clamp(min=1e-4)
            with T.no_grad():
                self.dt_proj.bias.copy_(dt + T.log(-T.expm1(-dt)))

        def parts(self, x):
            delta, B, C = self.x_proj(x).split([self.rank, self.state, self.state], dim=-1)
            delta = F.softplus(self.dt_proj(delta))
            A = -T.exp(self.A_log.float())
            return T.exp(T.einsum("bld,dn->bldn", delta, A)), T.einsum("bld,bln,bld->bldn", delta, B, x), C

        def forward(self, x, slow=True):
            length = x.shape[1]
            x, gate = self.in_proj(x).chunk(2, dim=-1)
            x = F.silu(self.conv1d(x.mT)[..., :length].mT)
            dA, dBx, C = self.parts(x)
            if slow:
                h, ys = T.zeros_like(dA[:, 0]), []
                for i in range(length):
                    h = dA[:, i] * h + dBx[:, i]
                    ys.append(T.einsum("bdn,bn->bd", h, C[:, i, :]))
                y = T.stack(ys, dim=1)
            else:
                log = dA.log().cumsum(1)
                y = ((log.exp() * (dBx / log.exp().clamp_min(1e-12)).cumsum(1)) @ C.unsqueeze(-1)).squeeze(-1)
            return self.out_proj((y + x * self.D) * F.silu(gate))

    T.manual_seed(0)
    block = Mamba(6)
    say(block, hasattr(block.A_log, "_no_weight_decay"))
    x = T.randn(2, 7, 6, requires_grad=True)
    slow, fast = block(x), block(x, slow=False)
    say(T.allclose(slow, fast, atol=1e-5), slow[0, -1])
    slow.sum().backward()
    say(block.A_log.grad.sum(0), block.dt_proj.bias.grad.norm(), x.grad[0, 0])
    groups = collections.defaultdict(list)
    for name, p in block.named_parameters():
        groups[p.ndim >= 2 and not getattr(p, "_no_weight_decay", False)].append(name)
    say(dict(groups))
    kernel = T.stack([T.linalg.matrix_power(T.tensor([[0.5, 0.1], [0.0, 0.3]]), i) @ T.ones(2) for i in range(5)])
    u = T.randn(5)
    n = 10
    by_fft = T.fft.irfft(T.fft.rfft(kernel[:, 0], n=n) * T.fft.rfft(u, n=n), n=n)[:5]
    direct = F.conv1d(u.view(1, 1, -1), kernel[:, 0].flip(0).view(1, 1, -1), padding=4)[0, 0, :5]
    say(kernel, by_fft, T.testing.assert_close(by_fft, direct))
    hippo = T.tril(T.sqrt(2 * T.arange(4.0)[:, None] + 1) * T.sqrt(2 * T.arange(4.0) + 1), -1) + T.diag(
        T.arange(1.0, 5)
    )
    step = 0.1
    bilinear = T.linalg.solve(T.eye(4) + step / 2 * hippo, T.eye(4) - step / 2 * hippo)
    say(bilinear, T.linalg.eigvals(bilinear).abs().sort(descending=True), T.matrix_exp(-step * hippo))


@program
def spatial_transformer(T, say):
    """A localization network, affine_grid and grid_sample, a CoordConv, blocks by unfold and fold, pixel shuffles."""
    nn, F = T.nn, T.nn.functional
    T.manual_seed(0)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.localization = nn.Sequential(
                nn.Conv2d(1, 4, kernel_size=3),
                nn.MaxPool2d(2, stride=2),
                nn.ReLU(True),
                nn.AvgPool2d(2, ceil_mode=True),
            )
            self.fc_loc = nn.Sequential(nn.Linear(4 * 2 * 2, 8), nn.Hardtanh(), nn.Linear(8, 3 * 2))
            self.fc_loc[2].weight.data.zero_()
            self.fc_loc[2].bias.data.copy_(T.tensor([1, 0, 0, 0, 1, 0], dtype=T.float))
            self.conv2_drop, self.fc = nn.Dropout2d(), nn.Linear(100, 3)

        def stn(self, x):
            xs = self.localization(x)
            xs = xs.view(-1, T.Size(xs.shape[1:]).numel())
            theta = self.fc_loc(xs).view(-1, 2, 3)
            return F.grid_sample(x, F.affine_grid(theta, x.size()))

        def forward(self, x):
            x = self.conv2_drop(self.stn(x))
            return F.log_softmax(self.fc(x.flatten(1)), dim=1)

    net = Net()
    say(net)
    x, target = T.rand(4, 1, 10, 10), T.tensor([0, 1, 2, 0])
    optimizer = T.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(2):
        optimizer.zero_grad()
        loss = F.nll_loss(net(x), target)
        loss.backward()
        optimizer.step()
        say(f"Train Epoch: 1 [{len(x)}/8 ({100.0 * len(x) / 8:.0f}%)]\tLoss: {loss.item():.6f}")
    angle = T.tensor(math.pi / 6)
    theta = T.stack(
        [T.stack([angle.cos(), -angle.sin(), T.tensor(0.1)]), T.stack([angle.sin(), angle.cos(), T.tensor(0.0)])]
    )
    grid = F.affine_grid(theta[None], [1, 1, 4, 4], align_corners=False)
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            say(
                mode,
                padding,
                F.grid_sample(x[:1, :, :4, :4], grid, mode=mode, padding_mode=padding, align_corners=True).sum(),
            )
    patches = F.unfold(x, kernel_size=4, stride=3, padding=1, dilation=1)
    back = F.fold(patches, output_size=(10, 10), kernel_size=4, stride=3, padding=1)
    ones = F.fold(F.unfold(T.ones_like(x), 4, stride=3, padding=1), (10, 10), 4, stride=3, padding=1)
    say(patches.shape, T.allclose(back / ones.clamp_min(1), x * (ones > 0)), x.unfold(2, 4, 3).unfold(3, 4, 3).shape)
    weight = T.randn(2, 1, 3, 3)
    by_unfold = (weight.view(2, -1) @ F.unfold(x, 3)).view(4, 2, 8, 8)
    say((by_unfold - F.conv2d(x, weight)).abs().max() < 1e-5, F.pixel_shuffle(T.arange(8.0).view(1, 4, 1, 2), 2))
    say(
        F.pixel_unshuffle(T.arange(16.0).view(1, 1, 4, 4), 2)[0, :, 0, 0],
        nn.PixelShuffle(2),
        nn.Unfold(3),
        nn.Fold(4, 2),
    )
    say(
        F.channel_shuffle(T.arange(4.0).view(1, 4, 1, 1), 2).flatten(), nn.ChannelShuffle(2), nn.ZeroPad2d((1, 0, 2, 1))
    )
    coords = T.cartesian_prod(T.linspace(-1, 1, 2), T.linspace(-1, 1, 2))
    say(coords, T.cat([x, T.linspace(-1, 1, 10).view(1, 1, 1, -1).expand(4, -1, 10, -1)], 1).shape)
    for wrong in (
        lambda: F.grid_sample(x, grid),
        lambda: F.grid_sample(x[:1], grid, mode="cubic"),
        lambda: F.affine_grid(theta, [1, 1, 4, 4]),
        lambda: F.fold(patches, (9, 9), 4),
        lambda: F.interpolate(x, size=(4, 4), scale_factor=2),
        lambda: F.interpolate(x, 4, mode="trilinear"),
        lambda: F.pixel_shuffle(x, 2),
        lambda: F.max_pool2d(x, 2, padding=2),
        lambda: F.conv2d(x, T.ones(2, 3, 3, 3)),
        lambda: F.pad(x, (1, 1, 1), mode="reflect"),
        lambda: F.pad(x, (11, 0), mode="reflect"),
    ):
        try:
            say(wrong())
        except (RuntimeError, ValueError, NotImplementedError) as error:
            say(type(error).__name__, error)


@program
def hopfield_and_memory(T, say):
    """Patterns stored in weights, modern continuous Hopfield networks, reading and writing of a memory by content."""
    F = T.nn.functional
    T.manual_seed(0)
    patterns = T.where(T.rand(3, 16) > 0.5, 1.0, -1.0)
    W = (patterns.T @ patterns).fill_diagonal_(0) / patterns.shape[1]
    state = patterns[0].clone()
    state[:4].neg_()
    energies = []
    for _ in range(3):
        for i in T.randperm(16):
            state[i] = T.sign(W[i] @ state) or 1.0
        energies.append((-0.5 * state @ W @ state).item())
    say(energies, (state == patterns[0]).all(), T.dot(state, patterns[0]) / 16)
    beta, xi = 8.0, patterns[1] + 0.3 * T.randn(16)
    for _ in range(2):
        xi = patterns.T @ F.softmax(beta * patterns @ xi / 16**0.5, 0)
    say(T.cosine_similarity(xi, patterns[1], dim=0), T.logsumexp(beta * patterns @ xi, 0) / beta)
    memory, key = T.randn(2, 5, 4, requires_grad=True), T.randn(2, 4)
    strength, gate, shift, gamma = T.tensor([[5.0], [1.0]]), T.tensor([[0.9], [0.2]]), T.tensor([0.1, 0.8, 0.1]), 2.0
    content = F.softmax(strength * F.cosine_similarity(memory + 1e-16, key.unsqueeze(1) + 1e-16, dim=-1), dim=1)
    weights = gate * content + (1 - gate) * T.full((2, 5), 0.2)
    padded = T.cat([weights[:, -1:], weights, weights[:, :1]], 1)
    shifted = F.conv1d(padded.unsqueeze(1), shift.view(1, 1, -1)).squeeze(1)
    sharp = shifted**gamma
    sharp = T.div(sharp, T.sum(sharp, dim=1).view(-1, 1) + 1e-16)
    read = T.matmul(sharp.unsqueeze(1), memory).squeeze(1)
    erase, add = T.sigmoid(T.randn(2, 4)), T.randn(2, 4)
    written = memory * (1 - T.matmul(sharp.unsqueeze(-1), erase.unsqueeze(1))) + sharp.unsqueeze(-1) @ add.unsqueeze(1)
    read.sum().backward(retain_graph=True)
    say(sharp, read, written[0, 0], memory.grad.norm())
    usage, order = T.sort(T.rand(2, 5), dim=-1)
    product = T.cumprod(T.cat([T.ones(2, 1), usage], 1), 1)[:, :-1]
    allocation = T.zeros(2, 5).scatter_(1, order, (1 - usage) * product)
    say(order, allocation)
    queue = T.zeros(3, 4)
    for i in range(5):
        queue = T.roll(queue, -1, 0)
        queue[-1] = T.full((4,), float(i))
    say(queue, np.asarray(queue).sum(), queue.tolist()[0])
    som, grid = T.rand(9, 2), T.stack(T.meshgrid(T.arange(3.0), T.arange(3.0), indexing="xy"), -1).view(-1, 2)
    for step, sample in enumerate(T.rand(20, 2)):
        best = T.norm(som - sample, dim=1).argmin()
        influence = T.exp(-((grid - grid[best]) ** 2).sum(1) / (2 * (1.5 * 0.9**step) ** 2))
        som += 0.3 * influence.unsqueeze(1) * (sample - som)
    say(som, T.cdist(som, som).topk(2, largest=False))
