"""Variational models, chains and flows with distributions."""

import math

from tests.parity.support.printed import printing_programs

program, test_same_text = printing_programs()


@program
def variational(T, say):
    """A VAE with distributions, a categorical one, importance weights, and divergences by name and by samples."""
    nn, F, D = T.nn, T.nn.functional, T.distributions
    T.manual_seed(0)

    class VAE(nn.Module):
        def __init__(self, data=12, hidden=10, latent=3):
            super().__init__()
            self.enc = nn.Sequential(nn.Linear(data, hidden), nn.ELU(), nn.Linear(hidden, 2 * latent))
            self.dec = nn.Sequential(nn.Linear(latent, hidden), nn.ELU(), nn.Linear(hidden, data))
            self.register_buffer("zero", T.zeros(latent))

        def posterior(self, x):
            mu, raw = self.enc(x).chunk(2, -1)
            return D.Independent(D.Normal(mu, F.softplus(raw) + 1e-4), 1)

        def forward(self, x, samples=1):
            q, p = self.posterior(x), D.Independent(D.Normal(self.zero, 1.0), 1)
            z = q.rsample((samples,))
            likelihood = D.Independent(D.Bernoulli(logits=self.dec(z)), 1)
            elbo = likelihood.log_prob(x) - D.kl_divergence(q, p)
            weights = likelihood.log_prob(x) + p.log_prob(z) - q.log_prob(z)
            return -elbo.mean(), T.logsumexp(weights, 0).sub(math.log(samples)).mean()

    model = VAE()
    x = (T.rand(8, 12) > 0.5).float()
    optimizer = T.optim.Adam(model.parameters(), 1e-2)
    for _ in range(3):
        loss, bound = model(x, 5)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        say(loss, bound)
    q = model.posterior(x[:2])
    say(q, q.batch_shape, q.event_shape, q.mean, q.entropy(), q.base_dist.icdf(T.tensor(0.5)), q.has_rsample)
    concrete = D.RelaxedOneHotCategorical(T.tensor(0.5), logits=T.zeros(2, 3))
    say(
        concrete, concrete.rsample(), concrete.log_prob(T.full((2, 3), 1 / 3)), D.RelaxedBernoulli(0.3, T.tensor([0.2]))
    )
    pairs = [
        (D.Normal(0.0, 1.0), D.Laplace(T.tensor(0.5), 2.0)), (D.Gamma(2.0, 3.0), D.Gamma(T.tensor(1.0), 1.0)),
        (D.Beta(2.0, 3.0), D.Beta(T.tensor(1.0), 1.0)), (D.Dirichlet(T.ones(3)), D.Dirichlet(T.tensor([1.0, 2, 3]))),
        (D.Categorical(logits=T.zeros(4)), D.Categorical(probs=T.tensor([0.1, 0.2, 0.3, 0.4]))),
        (D.Exponential(2.0), D.Gamma(T.tensor(1.0), 3.0)), (D.Poisson(T.tensor(3.0)), D.Poisson(2.0)),
        (D.MultivariateNormal(T.zeros(2), T.eye(2)), D.MultivariateNormal(T.ones(2), scale_tril=T.eye(2) * 2)),
        (D.LowRankMultivariateNormal(T.zeros(2), T.ones(2, 1), T.ones(2)), D.MultivariateNormal(T.ones(2), T.eye(2))),
        (D.Uniform(0.0, 1.0), D.Normal(T.tensor(0.0), 1.0)), (D.Pareto(1.0, 2.0), D.Exponential(T.tensor(1.0))),
        (D.Geometric(T.tensor(0.3)), D.Geometric(0.5)), (D.HalfNormal(1.0), D.HalfNormal(T.tensor(2.0))),
        (D.Cauchy(0.0, 1.0), D.Cauchy(T.tensor(1.0), 2.0)), (D.Gumbel(0.0, 1.0), D.Normal(T.tensor(0.0), 1.0)),
        (D.StudentT(3.0), D.Normal(0.0, 1.0)), (D.VonMises(0.0, 1.0), D.VonMises(0.0, T.tensor(1.0))),
    ]  # fmt: skip
    for p, q in pairs:
        try:
            say(p, D.kl_divergence(p, q))
        except NotImplementedError as error:
            say(type(error).__name__, str(error))


@program
def posterior_by_chains(T, say):
    """Metropolis, Langevin and Hamiltonian steps, a Laplace approximation, black-box inference by reparametrizing."""
    D, F = T.distributions, T.nn.functional
    T.manual_seed(0)
    X = T.cat([T.ones(20, 1), T.randn(20, 2)], 1)
    beta = T.tensor([0.5, -1.0, 2.0])
    y = D.Bernoulli(logits=X @ beta).sample()

    def log_joint(w):
        prior = D.MultivariateNormal(T.zeros(3), covariance_matrix=T.diag(T.full((3,), 4.0)))
        return D.Bernoulli(logits=w @ X.T).log_prob(y).sum(-1) + prior.log_prob(w)

    w, accepted = T.zeros(3), 0
    for _ in range(20):
        proposal = w + 0.4 * T.randn(3)
        if T.log(T.rand(())) < log_joint(proposal) - log_joint(w):
            w, accepted = proposal, accepted + 1
    say(w, accepted)
    w = T.zeros(3, requires_grad=True)
    for _ in range(10):
        (grad,) = T.autograd.grad(log_joint(w), w)
        w = (w + 0.02 * grad + math.sqrt(0.04) * T.randn(3) * 0.1).detach().requires_grad_()
    say(w)

    def leapfrog(q, p, step, count):
        gradient = T.func.grad(log_joint)
        p = p + 0.5 * step * gradient(q)
        for i in range(count):
            q = q + step * p
            p = p + (0.5 if i == count - 1 else 1.0) * step * gradient(q)
        return q, -p

    q, samples = T.zeros(3), []
    for _ in range(8):
        p = T.randn(3)
        new_q, new_p = leapfrog(q, p, 0.1, 5)
        energy = [-log_joint(a) + 0.5 * b.dot(b) for a, b in ((q, p), (new_q, new_p))]
        q = new_q if T.rand(1).log() < energy[0] - energy[1] else q
        samples.append(q)
    chain = T.stack(samples)
    say(chain.mean(0), chain.var(0, unbiased=False), T.cov(chain.T), T.corrcoef(chain.T).triu(1))
    mode = T.zeros(3, requires_grad=True)
    optimizer = T.optim.LBFGS([mode], max_iter=20, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = -log_joint(mode)
        loss.backward()
        return loss

    say(optimizer.step(closure), mode)
    H = T.autograd.functional.hessian(lambda v: -log_joint(v), mode.detach())
    laplace = D.MultivariateNormal(mode.detach(), precision_matrix=H)
    say(laplace.covariance_matrix, laplace.scale_tril, laplace.entropy(), laplace.sample((2,)))
    loc, scale = T.zeros(3, requires_grad=True), T.full((3,), -1.0, requires_grad=True)
    adam = T.optim.Adam([{"params": [loc]}, {"params": scale, "lr": 0.02}], lr=0.1)
    for _ in range(5):
        guide = D.Independent(D.Normal(loc, F.softplus(scale)), 1)
        z = guide.rsample((16,))
        loss = (guide.log_prob(z) - log_joint(z)).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    say(loss, loc, scale, guide)
    particles = T.randn(6, 3)
    for _ in range(3):
        x = particles.detach().requires_grad_()
        score = T.autograd.grad(log_joint(x).sum(), x)[0]
        d2 = T.cdist(x.detach(), x.detach()) ** 2
        K = T.exp(-d2 / (d2.median() / math.log(7)))
        repulse = (x.detach().unsqueeze(1) - x.detach().unsqueeze(0)).mul(K.unsqueeze(-1)).sum(1) * 2
        particles = particles + 0.05 * (K @ score + repulse) / 6
    say(particles)


@program
def flows(T, say):
    """RealNVP, a rational-quadratic spline, and the transforms of the library."""
    nn, F, D = T.nn, T.nn.functional, T.distributions
    T.manual_seed(0)

    class Coupling(nn.Module):
        def __init__(self, mask):
            super().__init__()
            self.register_buffer("mask", mask)
            self.s, self.t = (nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 2)) for _ in range(2))

        def forward(self, z):
            kept = z * self.mask
            s, t = T.tanh(self.s(kept)) * (1 - self.mask), self.t(kept) * (1 - self.mask)
            return kept + (1 - self.mask) * (z * s.exp() + t), s.sum(-1)

        def inverse(self, x):
            kept = x * self.mask
            s, t = T.tanh(self.s(kept)) * (1 - self.mask), self.t(kept) * (1 - self.mask)
            return (x - t) * T.exp(-s) * (1 - self.mask) + kept

    masks = T.tensor([[0, 1], [1, 0]] * 2).float()
    flow = nn.ModuleList(map(Coupling, masks))
    base = D.MultivariateNormal(T.zeros(2), T.eye(2))
    x = T.randn(32, 2) * T.tensor([1.0, 0.3]) + T.tensor([0.0, 1.0])
    optimizer = T.optim.Adam([p for p in flow.parameters() if p.requires_grad], lr=1e-2)
    for _ in range(3):
        z, total = x, 0
        for layer in flow:
            z, log_det = layer(z)
            total = total + log_det
        loss = -(base.log_prob(z) + total).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        say(loss)
    with T.no_grad():
        back, forth = x, x
        for layer in flow:
            forth = layer(forth)[0]
        back = forth
        for layer in reversed(flow):
            back = layer.inverse(back)
        say((back - x).abs().max() < 1e-4, T.logdet(T.func.jacrev(lambda v: flow[0](v)[0])(x[0])), flow[0](x[:1])[1])
    raw = T.randn(3, 5)
    widths, heights = (F.pad(F.softmax(T.randn(3, 4), -1).cumsum(-1), (1, 0)) for _ in range(2))
    slopes = F.softplus(raw) + 1e-3
    v = T.tensor([0.1, 0.5, 0.9])
    k = (T.searchsorted(widths, v[:, None]) - 1).clamp(0, 3)
    x0, x1, y0, y1 = (
        t.gather(1, i).squeeze(1) for t, i in ((widths, k), (widths, k + 1), (heights, k), (heights, k + 1))
    )
    d0, d1 = slopes.gather(1, k).squeeze(1), slopes.gather(1, k + 1).squeeze(1)
    s, xi = (y1 - y0) / (x1 - x0), (v - x0) / (x1 - x0)
    say(y0 + (y1 - y0) * (s * xi**2 + d0 * xi * (1 - xi)) / (s + (d1 + d0 - 2 * s) * xi * (1 - xi)))
    t = D.transforms
    chain = t.ComposeTransform(
        [t.AffineTransform(1.0, T.tensor([2.0, 3.0])), t.ExpTransform(), t.PowerTransform(T.tensor(0.5))]
    )
    say(
        chain,
        chain(T.zeros(2)),
        chain.inv(T.ones(2)),
        chain.log_abs_det_jacobian(T.zeros(2), chain(T.zeros(2))),
        chain.inv,
    )
    for each in (
        t.SigmoidTransform(), t.TanhTransform(cache_size=1), t.SoftplusTransform(), t.StickBreakingTransform(),
        t.SoftmaxTransform(), t.LowerCholeskyTransform(), t.CorrCholeskyTransform(), t.AbsTransform(),
        t.IndependentTransform(t.ExpTransform(), 1), t.ReshapeTransform((4,), (2, 2)),
        t.CatTransform([t.ExpTransform()], -1),
        t.StackTransform([t.ExpTransform(), t.AbsTransform()]), t.CumulativeDistributionTransform(D.Normal(0.0, 1.0)),
    ):  # fmt: skip
        say(each, each.domain, each.codomain, each.bijective)
    squashed = D.TransformedDistribution(D.Normal(T.zeros(2), 1.0), [t.TanhTransform(), t.AffineTransform(0.5, 2.0)])
    sample = squashed.rsample()
    say(
        squashed,
        sample,
        squashed.log_prob(sample),
        squashed.cdf(sample),
        squashed.support,
        D.biject_to(squashed.support),
    )
    say(
        D.transform_to(D.constraints.positive),
        D.biject_to(D.constraints.simplex)(T.zeros(2)),
        D.LogNormal(0.0, T.ones(2)),
    )
