"""Filters, policies and assignments with distributions."""

import collections
import math

import numpy as np

from tests.parity.support.printed import printing_programs

program, test_same_text = printing_programs()


@program
def filters(T, say):
    """A Kalman filter and its smoother, particles, hidden Markov chains, a Gaussian process."""
    D = T.distributions
    T.manual_seed(0)
    F_ = T.tensor([[1.0, 1.0], [0.0, 1.0]])
    H, Q, R = T.tensor([[1.0, 0.0]]), 0.01 * T.eye(2), T.tensor([[0.25]])
    truth = T.cumsum(T.full((10,), 0.5), 0)
    z = truth + R.sqrt().item() * T.randn(10)
    m, P, means, covs, ll = T.zeros(2), T.eye(2), [], [], 0.0
    for obs in z:
        m, P = F_ @ m, F_ @ P @ F_.mT + Q
        S = H @ P @ H.mT + R
        K = T.linalg.solve(S, H @ P).mT
        innovation = obs.view(1) - H @ m
        ll += D.MultivariateNormal(H @ m, S).log_prob(obs.view(1))
        m, P = m + K @ innovation, (T.eye(2) - K @ H) @ P
        means.append(m)
        covs.append(P)
    say(T.stack(means)[-3:], P, ll)
    ms, Ps = means[-1], covs[-1]
    for m, P in zip(means[-2::-1], covs[-2::-1]):
        predicted = F_ @ P @ F_.T + Q
        G = T.linalg.lstsq(predicted, F_ @ P).solution.T
        ms, Ps = m + G @ (ms - F_ @ m), P + G @ (Ps - predicted) @ G.T
    say(ms, Ps, T.linalg.cholesky_ex(Ps), T.linalg.cond(Ps))
    particles, weights = T.randn(50), T.full((50,), 1 / 50)
    for obs in z[:4]:
        particles = particles + 0.5 + 0.1 * T.randn(50)
        weights = weights * D.Normal(particles, 0.5).log_prob(obs).exp()
        weights = weights / weights.sum()
        if 1 / weights.square().sum() < 25:
            u = (T.arange(50) + T.rand(1)) / 50
            particles = particles[T.searchsorted(weights.cumsum(0), u).clamp_max(49)]
            weights = T.full_like(weights, 1 / 50)
        say((particles * weights).sum(), (1 / weights.square().sum()).round())
    A, B, pi = (
        T.tensor([[0.7, 0.3], [0.4, 0.6]]),
        D.Categorical(T.tensor([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])),
        T.tensor([0.6, 0.4]),
    )
    seen = T.tensor([0, 1, 2, 2])
    alpha = pi.log() + B.log_prob(seen[0])
    for o in seen[1:]:
        alpha = T.logsumexp(alpha.unsqueeze(1) + A.log(), 0) + B.log_prob(o)
    say(
        B,
        alpha.logsumexp(0).exp(),
        B.entropy(),
        B.probs.argmax(-1),
        B.expand([3, 2]).batch_shape,
        B.enumerate_support(),
    )
    X, Xs = T.linspace(0, 5, 8).unsqueeze(1), T.linspace(0, 6, 4).unsqueeze(1)
    y = T.sin(X).squeeze() + 0.1 * T.randn(8)
    raw = T.tensor([0.0, 0.0, -2.0], requires_grad=True)

    def rbf(a, b, scale, var):
        return var * T.exp(-0.5 * T.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist").pow(2) / scale**2)

    optimizer = T.optim.Adam([raw], lr=0.1)
    for _ in range(5):
        scale, var, noise = raw.exp()
        L = T.linalg.cholesky(rbf(X, X, scale, var) + (noise + 1e-6) * T.eye(8))
        alpha = T.cholesky_solve(y.unsqueeze(1), L)
        nll = 0.5 * y @ alpha.squeeze(1) + L.diagonal().log().sum() + 4 * math.log(2 * math.pi)
        optimizer.zero_grad()
        nll.backward()
        optimizer.step()
    v = T.linalg.solve_triangular(L, rbf(X, Xs, scale, var), upper=False)
    say(nll, raw, (rbf(Xs, X, scale, var) @ alpha).squeeze(), (var - v.pow(2).sum(0)).clamp_min(0).sqrt())
    for bad in (-T.eye(3), T.tensor([[[1.0, 2.0], [2.0, 1.0]]]), T.ones(2, 3)):
        try:
            T.linalg.cholesky(bad)
        except RuntimeError as error:
            say(type(error).__name__, error)


@program
def policies(T, say):
    """REINFORCE, actor-critic and PPO's pieces, a squashed Gaussian, replay with priorities, exploration noise, C51."""
    nn, F, D = T.nn, T.nn.functional, T.distributions
    D.Distribution.set_default_validate_args(True)  # torch stops checking when it loads its compiler
    T.manual_seed(543)
    Saved = collections.namedtuple("SavedAction", ["log_prob", "value"])

    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.affine1, self.action_head, self.value_head = nn.Linear(4, 16), nn.Linear(16, 2), nn.Linear(16, 1)
            self.saved_actions, self.rewards = [], []

        def forward(self, x):
            x = F.relu(self.affine1(x))
            return F.softmax(self.action_head(x), dim=-1), self.value_head(x)

    model = Policy()
    optimizer = T.optim.Adam(model.parameters(), lr=3e-2)
    eps = np.finfo(np.float32).eps.item()
    for episode in range(3):
        state = np.ones(4, dtype=np.float32) * 0.1
        for _ in range(6):
            probs, value = model(T.from_numpy(state).float())
            m = D.Categorical(probs)
            action = m.sample()
            model.saved_actions.append(Saved(m.log_prob(action), value))
            state = (state * 0.9 + (action.item() - 0.5) * 0.2).astype(np.float32)
            model.rewards.append(float(1 - abs(state).sum()))
        R, returns = 0, collections.deque()
        for r in model.rewards[::-1]:
            R = r + 0.99 * R
            returns.appendleft(R)
        returns = T.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + eps)
        policy_losses, value_losses = [], []
        for (log_prob, value), R in zip(model.saved_actions, returns):
            policy_losses.append(-log_prob * (R - value.item()))
            value_losses.append(F.smooth_l1_loss(value, T.tensor([R])))
        optimizer.zero_grad()
        loss = T.stack(policy_losses).sum() + T.stack(value_losses).sum()
        loss.backward()
        optimizer.step()
        del model.rewards[:], model.saved_actions[:]
        say(f"Episode {episode}\tLast reward: {R:.2f}\tLoss: {loss:.3f}", m)
    mean, log_std = T.randn(3, 2, requires_grad=True), T.zeros(3, 2, requires_grad=True)
    normal = D.Normal(mean, log_std.clamp(-20, 2).exp())
    u = normal.rsample()
    log_prob = (normal.log_prob(u) - 2 * (math.log(2) - u - F.softplus(-2 * u))).sum(-1, keepdim=True)
    (0.2 * log_prob - u.tanh().sum(-1, keepdim=True)).mean().backward()
    say(log_prob, mean.grad, log_std.grad)
    old, new = D.Categorical(logits=T.randn(5, 3)), D.Categorical(logits=T.randn(5, 3))
    actions, advantage = old.sample(), T.randn(5)
    ratio = (new.log_prob(actions) - old.log_prob(actions)).exp()
    surrogate = T.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
    say(surrogate.mean(), ((ratio - 1).abs() > 0.2).float().mean(), D.kl_divergence(old, new), new.entropy().mean())
    rewards, values, done = T.rand(4, 2), T.rand(5, 2), T.tensor([[0, 0], [1, 0], [0, 0], [0, 1]]).bool()
    deltas = rewards + 0.99 * values[1:] * ~done - values[:-1]
    gae = T.zeros_like(deltas)
    for i in reversed(range(4)):
        gae[i] = deltas[i] + (0.99 * 0.95 * (~done[i]) * gae[i + 1] if i < 3 else 0)
    say(gae, (gae + values[:-1]).flatten()[T.randperm(8).view(2, 4)])
    priorities = T.tensor([0.5, 2.0, 1.0, 0.1]).pow(0.6)
    picked = T.multinomial(priorities / priorities.sum(), 8, replacement=True)
    weights = (4 * (priorities / priorities.sum())[picked]).pow(-0.4)
    say(picked, weights / weights.max(), T.tensor(np.random.RandomState(0).choice(4, 3)))
    masked = T.where(T.tensor([True, False, True]), T.randn(3), T.tensor(-1e8))
    say(
        D.Categorical(logits=masked).sample((5,)),
        D.Categorical(logits=masked).probs,
        D.OneHotCategorical(logits=masked).sample(),
    )
    ou = T.zeros(2)
    for _ in range(3):
        ou += 0.15 * (0 - ou) + 0.2 * T.randn(2)
    say(ou, T.bernoulli(T.tensor(0.3)).bool().item(), T.empty(3).uniform_().lt(0.5), D.Bernoulli(0.3).sample((4,)))
    for bad in (
        lambda: D.Categorical(T.tensor([-0.1, 1.1])), lambda: D.Normal(0.0, -1.0), lambda: D.Categorical(),
        lambda: D.Categorical(logits=T.tensor([float("nan"), 0.0])),
        lambda: D.Normal(0.0, 1.0).log_prob(T.tensor(T.nan)),
        lambda: D.Bernoulli(0.5).log_prob(T.tensor(0.5)), lambda: D.Normal(T.zeros(2), T.ones(3)),
        lambda: D.Uniform(1.0, 0.0),
        lambda: D.Independent(D.Normal(0.0, 1.0), 1), lambda: D.MultivariateNormal(T.zeros(2), -T.eye(2)),
        lambda: D.Beta(T.tensor([-1.0]), 1.0), lambda: D.Multinomial(total_count=T.tensor([1, 2]), probs=T.ones(2)),
        lambda: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(0.0, 1.0)),
        lambda: D.Normal(0.0, 1.0).enumerate_support(),
        lambda: D.kl_divergence(D.Normal(0.0, 1.0), D.Categorical(T.ones(2))), lambda: D.Binomial(3, probs=1.5),
    ):  # fmt: skip
        try:
            say(bad())
        except (ValueError, TypeError, NotImplementedError, RuntimeError) as error:
            say(type(error).__name__, error)


@program
def assignments(T, say):
    """Sinkhorn with gradients, k-means, mixtures by EM, t-SNE, spectra, quantiles."""
    nn, F, D = T.nn, T.nn.functional, T.distributions
    T.manual_seed(0)
    a, b = T.randn(5, 2, requires_grad=True), T.randn(6, 2)
    C = (a[:, None] - b[None]).pow(2).sum(-1)
    f, g = T.zeros(5), T.zeros(6)
    for _ in range(20):
        f = -0.1 * T.logsumexp((g[None] - C) / 0.1 - math.log(6), 1)
        g = -0.1 * T.logsumexp((f[:, None] - C) / 0.1 - math.log(5), 0)
    plan = T.exp((f[:, None] + g[None] - C) / 0.1 - math.log(30))
    cost = (plan * C).sum()
    cost.backward()
    say(cost, plan.sum(0), a.grad)
    slices = F.normalize(T.randn(2, 4), dim=0)
    say(((b[:5] @ slices).sort(0)[0] - (a.detach() @ slices).sort(0).values).square().mean().sqrt())
    x = T.cat([T.randn(8, 2) + T.tensor(c) for c in ((0.0, 0.0), (5.0, 5.0), (0.0, 5.0))])
    centers = x[T.randperm(24)[:3]]
    for _ in range(5):
        labels = T.cdist(x, centers).argmin(1)
        centers = T.zeros_like(centers).index_reduce_(0, labels, x, "mean", include_self=False)
    say(labels, centers, T.bincount(labels), T.cdist(x, centers).min(1).values.sum())
    pi, mu, sigma = T.ones(3) / 3, centers.clone(), T.eye(2).repeat(3, 1, 1)
    for _ in range(4):
        components = D.MultivariateNormal(mu, sigma)
        joint = components.log_prob(x.unsqueeze(1)) + pi.log()
        r = (joint - joint.logsumexp(1, keepdim=True)).exp()
        n = r.sum(0)
        pi, mu = n / 24, (r.T @ x) / n[:, None]
        d = x.unsqueeze(1) - mu
        sigma = T.einsum("nk,nki,nkj->kij", r, d, d) / n[:, None, None] + 1e-4 * T.eye(2)
    mixture = D.MixtureSameFamily(D.Categorical(pi), D.MultivariateNormal(mu, sigma))
    say(pi, mu, joint.logsumexp(1).mean(), mixture, mixture.mean, mixture.variance, mixture.sample((2,)).shape)
    P = T.exp(-T.cdist(x, x) ** 2 / 2).fill_diagonal_(0)
    P = (P / P.sum(1, keepdim=True)).add(P.T / P.sum(0)).div(48).clamp_min(1e-12)
    Y = nn.Parameter(1e-2 * T.randn(24, 2))
    optimizer = T.optim.SGD([Y], lr=10.0, momentum=0.5)
    for _ in range(4):
        num = (1 + F.pdist(Y) ** 2).reciprocal()
        i, j = T.triu_indices(24, 24, 1)
        loss = (P[i, j] * (P[i, j] / (num / (2 * num.sum())).clamp_min(1e-12)).log()).sum() * 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        say(loss)
    lap = T.diag(P.sum(1)) - P
    values, vectors = T.linalg.eigh(lap)
    say(values[:3].abs() < 1e-3, T.linalg.matrix_rank(lap), T.linalg.norm(lap, "nuc"), T.trace(lap))
    u, s, vh = T.linalg.svd(x - x.mean(0), full_matrices=False)
    say(
        s,
        (s**2 / (s**2).sum()).cumsum(0),
        T.pca_lowrank(x, q=2)[1].shape,
        T.linalg.qr(x[:3].T).R.abs(),
        u.shape,
        vh.abs(),
    )
    quantiles = T.tensor([0.1, 0.5, 0.9])
    net = nn.Linear(1, 3)
    t = T.linspace(0, 1, 30).unsqueeze(1)
    target = t + T.randn(30, 1) * t
    optimizer = T.optim.Rprop(net.parameters(), 0.05)
    for _ in range(6):
        error = target - net(t)
        loss = T.max((quantiles - 1) * error, quantiles * error).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    say(loss, (target < net(t)).float().mean(0), T.quantile(target, quantiles), target.nanquantile(0.3, dim=0))
    say(
        T.quantile(target, 0.5, interpolation="nearest"),
        target.kthvalue(3, 0),
        target.median(0),
        T.histogram(target, 4),
    )
