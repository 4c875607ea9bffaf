"""A well-known course's steps from counted letters to networks whose gradients are checked by hand."""

from tests.parity.support.figures import figures

program, test_same_figures = figures()


@program
def make_more(T):
    """Bigram counts, an MLP with batch normalization by hand and its gradients checked, hierarchical WaveNet."""
    F = T.nn.functional
    words = ["emma", "olivia", "ava", "isabella", "sophia", "mia", "liam", "noah"]
    chars = sorted(set("".join(words)))
    stoi = {s: i + 1 for i, s in enumerate(chars)}
    stoi["."] = 0
    itos = {i: s for s, i in stoi.items()}
    V = len(stoi)
    N = T.zeros((V, V), dtype=T.int32)
    for w in words:
        chs = ["."] + list(w) + ["."]
        for a, b in zip(chs, chs[1:]):
            N[stoi[a], stoi[b]] += 1
    P = (N + 1).float()
    P /= P.sum(1, keepdim=True)
    g = T.Generator().manual_seed(2147483647)
    out = []
    for _ in range(3):
        ix, name = 0, []
        while True:
            ix = T.multinomial(P[ix], num_samples=1, replacement=True, generator=g).item()
            name.append(itos[ix])
            if ix == 0 or len(name) > 12:
                break
        out.append("".join(name))
    nll = sum(-T.log(P[stoi[a], stoi[b]]) for w in words for a, b in zip(["."] + list(w), list(w) + ["."]))
    out.append(nll.item())
    X, Y = [], []
    for w in words:
        context = [0] * 3
        for ch in w + ".":
            X.append(context)
            Y.append(stoi[ch])
            context = context[1:] + [stoi[ch]]
    X, Y = T.tensor(X), T.tensor(Y)
    g = T.Generator().manual_seed(42)
    xenc = F.one_hot(X[:, -1], num_classes=V).float()
    W = T.randn((V, V), generator=g, requires_grad=True)
    for _ in range(3):
        logits = xenc @ W
        counts = logits.exp()
        probs = counts / counts.sum(1, keepdims=True)
        loss = -probs[T.arange(len(Y)), Y].log().mean() + 0.01 * (W**2).mean()
        W.grad = None
        loss.backward()
        W.data += -50 * W.grad
        out.append(loss.item())
    C = T.randn((V, 4), generator=g)
    W1 = T.randn((12, 10), generator=g) * (5 / 3) / (12**0.5)
    b1 = T.randn(10, generator=g) * 0.1
    W2 = T.randn((10, V), generator=g) * 0.1
    b2 = T.randn(V, generator=g) * 0.1
    bngain = T.randn((1, 10), generator=g) * 0.1 + 1.0
    bnbias = T.randn((1, 10), generator=g) * 0.1
    parameters = [C, W1, W2, b2, bngain, bnbias]
    for p in parameters:
        p.requires_grad = True
    ix = T.randint(0, X.shape[0], (16,), generator=g)
    Xb, Yb = X[ix], Y[ix]
    n = 16
    emb = C[Xb]
    embcat = emb.view(emb.shape[0], -1)
    hprebn = embcat @ W1 + b1
    bnmeani = 1 / n * hprebn.sum(0, keepdim=True)
    bndiff = hprebn - bnmeani
    bndiff2 = bndiff**2
    bnvar = 1 / (n - 1) * (bndiff2).sum(0, keepdim=True)
    bnvar_inv = (bnvar + 1e-5) ** -0.5
    bnraw = bndiff * bnvar_inv
    hpreact = bngain * bnraw + bnbias
    h = T.tanh(hpreact)
    logits = h @ W2 + b2
    logit_maxes = logits.max(1, keepdim=True).values
    norm_logits = logits - logit_maxes
    counts = norm_logits.exp()
    counts_sum = counts.sum(1, keepdims=True)
    counts_sum_inv = counts_sum**-1
    probs = counts * counts_sum_inv
    logprobs = probs.log()
    loss = -logprobs[range(n), Yb].mean()
    for t in [
        logprobs,
        probs,
        counts,
        counts_sum,
        counts_sum_inv,
        norm_logits,
        logit_maxes,
        logits,
        h,
        hpreact,
        bnraw,
        bnvar_inv,
        bnvar,
        bndiff2,
        bndiff,
        hprebn,
        bnmeani,
        embcat,
        emb,
    ]:
        t.retain_grad()
    loss.backward()

    def cmp(dt, t):
        return [T.allclose(dt, t.grad), (dt - t.grad).abs().max().item() < 1e-6]

    dlogprobs = T.zeros_like(logprobs)
    dlogprobs[range(n), Yb] = -1.0 / n
    dprobs = (1.0 / probs) * dlogprobs
    dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True)
    dcounts = counts_sum_inv * dprobs
    dcounts_sum = (-(counts_sum**-2)) * dcounts_sum_inv
    dcounts += T.ones_like(counts) * dcounts_sum
    dlogits = F.softmax(logits, 1)
    dlogits[range(n), Yb] -= 1
    dlogits /= n
    dC = T.zeros_like(C)
    demb = (1 - h**2) * (dlogits @ W2.T)
    dhprebn = bngain * bnvar_inv / n * (n * demb - demb.sum(0) - n / (n - 1) * bnraw * (demb * bnraw).sum(0))
    demb = (dhprebn @ W1.T).view(emb.shape)
    for k in range(Xb.shape[0]):
        for j in range(Xb.shape[1]):
            dC[Xb[k, j]] += demb[k, j]
    out += [cmp(dcounts, counts), cmp(dlogits, logits), cmp(dC, C), loss.item(), C.grad.norm().item()]

    class FlattenConsecutive:
        def __init__(self, n):
            self.n = n

        def __call__(self, x):
            B, L, C = x.shape
            x = x.view(B, L // self.n, C * self.n)
            self.out = x.squeeze(1) if x.shape[1] == 1 else x
            return self.out

        def parameters(self):
            return []

    class BatchNorm1d:
        def __init__(self, dim, eps=1e-5, momentum=0.1):
            self.eps, self.momentum, self.training = eps, momentum, True
            self.gamma, self.beta = T.ones(dim), T.zeros(dim)
            self.running_mean, self.running_var = T.zeros(dim), T.ones(dim)

        def __call__(self, x):
            if self.training:
                dim = 0 if x.ndim == 2 else (0, 1)
                xmean, xvar = x.mean(dim, keepdim=True), x.var(dim, keepdim=True)
                with T.no_grad():
                    self.running_mean = (1 - self.momentum) * self.running_mean + self.momentum * xmean
                    self.running_var = (1 - self.momentum) * self.running_var + self.momentum * xvar
            else:
                xmean, xvar = self.running_mean, self.running_var
            self.out = self.gamma * (x - xmean) / T.sqrt(xvar + self.eps) + self.beta
            return self.out

        def parameters(self):
            return [self.gamma, self.beta]

    T.manual_seed(42)
    layers = [FlattenConsecutive(2), BatchNorm1d(8), T.nn.Linear(8, 6, bias=False), T.tanh]
    emb4 = T.randn(V, 4)
    Xw = T.cat([X, X[:, :1]], 1)
    x = emb4[Xw]
    for layer in layers:
        x = layer(x)
    out += [tuple(x.shape), x.sum().item(), layers[1].running_mean.shape, x.histc(10, -1, 1).tolist()]
    return out
