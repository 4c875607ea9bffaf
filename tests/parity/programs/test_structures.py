"""Programs about pairs, graphs, points and explanations in the style of well-known repositories."""

import collections
import copy
import math

import numpy as np

from tests.parity.support.figures import figures

program, test_same_figures = figures()


@program
def contrastive(T):
    """Many losses of pairs, a queue of keys, and an optimizer of its own."""
    nn, F = T.nn, T.nn.functional
    T.manual_seed(0)
    out = []
    enc = nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 8))
    key = copy.deepcopy(enc)
    for p in key.parameters():
        p.requires_grad_(False)
    queue = F.normalize(T.randn(8, 12), dim=0)
    ptr = T.zeros(1, dtype=T.long)

    class LARS(T.optim.Optimizer):
        def __init__(self, params, lr, weight_decay=0, momentum=0.9, eta=0.001):
            super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, eta=eta))

        @T.no_grad()
        def step(self, closure=None):
            for g in self.param_groups:
                for p in g["params"]:
                    dp = p.grad
                    if dp is None:
                        continue
                    if p.ndim > 1:
                        dp = dp.add(p, alpha=g["weight_decay"])
                        pn, un = T.norm(p), T.norm(dp)
                        one = T.ones_like(pn)
                        q = T.where(pn > 0.0, T.where(un > 0, (g["eta"] * pn / un), one), one)
                        dp = dp.mul(q)
                    st = self.state[p]
                    if "mu" not in st:
                        st["mu"] = T.zeros_like(p)
                    st["mu"].mul_(g["momentum"]).add_(dp)
                    p.add_(st["mu"], alpha=-g["lr"])

    opt = LARS(enc.parameters(), 5.0, weight_decay=1e-4)

    def info_nce(features, n_views=2, temperature=0.07):
        labels = T.cat([T.arange(len(features) // n_views) for i in range(n_views)], dim=0)
        labels = (labels.unsqueeze(0) == labels.unsqueeze(1)).float()
        features = F.normalize(features, dim=1)
        sim = T.matmul(features, features.T)
        mask = T.eye(labels.shape[0], dtype=T.bool)
        labels = labels[~mask].view(labels.shape[0], -1)
        sim = sim[~mask].view(sim.shape[0], -1)
        pos = sim[labels.bool()].view(labels.shape[0], -1)
        neg = sim[~labels.bool()].view(sim.shape[0], -1)
        return T.cat([pos, neg], 1) / temperature, T.zeros(len(features), dtype=T.long)

    def barlow(a, b):
        c = ((a - a.mean(0)) / a.std(0)).T @ ((b - b.mean(0)) / b.std(0)) / a.size(0)
        off = c.flatten()[:-1].view(7, 9)[:, 1:].flatten()
        return T.diagonal(c).add_(-1).pow_(2).sum() + 0.005 * off.pow_(2).sum()

    def supcon(f, y):
        m = T.eq(y.view(-1, 1), y.view(1, -1)).float()
        l = T.div(f @ f.T, 0.1)
        l = l - T.max(l, dim=1, keepdim=True)[0].detach()
        lm = T.scatter(T.ones_like(m), 1, T.arange(len(f)).view(-1, 1), 0)
        m = m * lm
        lp = l - T.log((T.exp(l) * lm).sum(1, keepdim=True))
        return -((m * lp).sum(1) / m.sum(1).clamp(min=1)).mean()

    for _ in range(3):
        x = T.randn(6, 10)
        a, b = x + 0.1 * T.randn_like(x), x + 0.1 * T.randn_like(x)
        q = F.normalize(enc(a), dim=1)
        with T.no_grad():
            for pk, pq in zip(key.parameters(), enc.parameters()):
                pk.data = pk.data * 0.99 + pq.data * 0.01
            idx = T.randperm(6)
            k = F.normalize(key(b[idx]), dim=1)[T.argsort(idx)]
        lpos = T.einsum("nc,nc->n", [q, k]).unsqueeze(-1)
        lneg = T.einsum("nc,ck->nk", [q, queue.clone().detach()])
        moco = F.cross_entropy(T.cat([lpos, lneg], dim=1) / 0.07, T.zeros(6, dtype=T.long))
        p = int(ptr)
        queue[:, p : p + 6] = k.T
        ptr[0] = (p + 6) % 12
        lo, la = info_nce(enc(T.cat([a, b])))
        simclr = F.cross_entropy(lo, la)
        sup = supcon(F.normalize(enc(x), dim=1), T.tensor([0, 1, 2, 0, 1, 2]))
        tri = nn.TripletMarginLoss(margin=1.0, p=2, swap=True)(enc(a), enc(b), enc(x.flip(0)))
        td = nn.TripletMarginWithDistanceLoss(distance_function=lambda u, v: 1.0 - F.cosine_similarity(u, v))(
            enc(a), enc(b), enc(x.roll(1, 0))
        )
        dist = F.pairwise_distance(enc(a), enc(b), keepdim=True)
        lab = T.tensor([0.0, 1, 0, 1, 1, 0]).view(-1, 1)
        con = T.mean((1 - lab) * T.pow(dist, 2) + lab * T.pow(T.clamp(2.0 - dist, min=0.0), 2))
        cos = F.cosine_embedding_loss(enc(a), enc(b), T.tensor([1.0, -1, 1, -1, 1, 1]), margin=0.2)
        byol = 2 - 2 * (F.normalize(enc(a), dim=-1, p=2) * k).sum(dim=-1)
        bt = barlow(enc(a), enc(b))
        loss = moco + simclr + sup + tri + td + con + cos + byol.mean() + 0.01 * bt
        opt.zero_grad()
        loss.backward()
        opt.step()
        out += [
            moco.item(),
            simclr.item(),
            sup.item(),
            tri.item(),
            td.item(),
            con.item(),
            cos.item(),
            bt.item(),
            loss.item(),
        ]
    d = T.cdist(q, k)
    out.append(d.diag().tolist())
    yt = T.zeros(6).scatter_(0, T.tensor([0, 3]), 1.0)
    out.append(yt.tolist())
    return out


@program
def graphs(T):
    """Convolution and attention on a graph, by sparse products and by scattering."""
    nn, F = T.nn, T.nn.functional
    T.manual_seed(0)
    out = []
    N, E = 10, 24
    edge_index = T.randint(0, N, (2, E))
    x, y = T.randn(N, 6), T.randint(0, 3, (N,))

    def add_self_loops(e):
        return T.cat([e, T.arange(N).unsqueeze(0).repeat(2, 1)], dim=1)

    def degree(i):
        return T.zeros(N).scatter_add_(0, i, T.ones(i.size(0)))

    class GCN(nn.Module):
        def __init__(self, i, o):
            super().__init__()
            self.weight = nn.Parameter(T.FloatTensor(i, o))
            self.bias = nn.Parameter(T.FloatTensor(o))
            self.reset_parameters()

        def reset_parameters(self):
            stdv = 1.0 / math.sqrt(self.weight.size(1))
            self.weight.data.uniform_(-stdv, stdv)
            self.bias.data.uniform_(-stdv, stdv)

        def forward(self, input, adj):
            return T.spmm(adj, T.mm(input, self.weight)) + self.bias

        def __repr__(self):
            return f"{self.__class__.__name__} ({self.weight.shape[0]} -> {self.weight.shape[1]})"

    ei = add_self_loops(edge_index)
    deg = degree(ei[1]).pow(-0.5)
    deg[T.isinf(deg)] = 0
    norm = deg[ei[0]] * deg[ei[1]]
    adj = T.sparse_coo_tensor(ei, norm, (N, N)).coalesce()
    adj2 = T.sparse.FloatTensor(ei, norm, T.Size([N, N]))
    out += [adj.is_sparse, adj.to_dense().sum().item(), adj2.to_dense().sum().item(), adj._nnz()]

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.gc1, self.gc2 = GCN(6, 8), GCN(8, 3)

        def forward(self, x):
            x = F.dropout(F.relu(self.gc1(x, adj)), 0.5, training=self.training)
            return F.log_softmax(self.gc2(x, adj), dim=1)

    model = Net()
    out.append(str(model))
    opt = T.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    mask = T.zeros(N, dtype=T.bool)
    mask[:6] = True
    for _ in range(3):
        opt.zero_grad()
        o = model(x)
        loss = F.nll_loss(o[mask], y[mask])
        acc = o[mask].max(1)[1].type_as(y).eq(y[mask]).double().sum() / mask.sum()
        loss.backward()
        opt.step()
        out += [loss.item(), acc.item()]

    class GAT(nn.Module):
        def __init__(self, i, o, heads):
            super().__init__()
            self.lin = nn.Linear(i, heads * o, bias=False)
            self.att = nn.Parameter(T.empty(1, heads, 2 * o))
            self.heads, self.o = heads, o
            nn.init.xavier_uniform_(self.att, gain=nn.init.calculate_gain("leaky_relu", 0.2))

        def forward(self, x, ei):
            s, d = ei
            h = self.lin(x).view(-1, self.heads, self.o)
            e = F.leaky_relu((T.cat([h[s], h[d]], -1) * self.att).sum(-1), 0.2)
            m = T.full((N, self.heads), -1e9).scatter_reduce(0, d[:, None].expand(-1, self.heads), e, "amax")
            a = (e - m[d]).exp()
            z = T.zeros(N, self.heads).index_add(0, d, a)
            a = a / (z[d] + 1e-16)
            return T.zeros(N, self.heads, self.o).index_add_(0, d, h[s] * a.unsqueeze(-1)).mean(1)

    gat = GAT(6, 3, 2)
    opt = T.optim.Adagrad(gat.parameters(), 0.1)
    for _ in range(3):
        loss = F.cross_entropy(gat(x, ei), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        out.append(loss.item())
    sage_l, sage_r = nn.Linear(6, 3), nn.Linear(6, 3)
    for red in ("mean", "sum", "amax", "amin", "prod"):
        agg = T.zeros(N, 6).scatter_reduce(0, ei[1].view(-1, 1).expand(-1, 6), x[ei[0]], reduce=red, include_self=False)
        o = F.normalize(sage_l(agg) + sage_r(x), p=2.0, dim=-1)
        out.append(o.pow(2)[:, 0].sum().item())
        g = T.autograd.grad(o.sum(), sage_l.weight)[0]
        out.append(g.norm().item())
    A = adj.to_dense()
    L = T.diag(A.sum(1)) - (A + A.T) / 2
    w, v = T.linalg.eigh(L)
    out.append(w.tolist())
    wl = F.one_hot(
        T.unique(T.stack([degree(edge_index[0]), degree(edge_index[1])], 1), dim=0, return_inverse=True)[1]
    ).sum(0)
    out.append(wl.tolist())
    batch = T.tensor([0] * 4 + [1] * 6)
    pool = T.zeros(2, 6).index_add_(0, batch, x) / T.bincount(batch).clamp(min=1).view(-1, 1)
    perm = T.topk(x[:, 0], 5)[1]
    return out + [pool.sum().item(), x[perm].sum().item()]


@program
def point_net(T):
    """Points and their neighbours: a learned alignment, samples far apart, balls."""
    nn, F = T.nn, T.nn.functional
    T.manual_seed(0)

    class STN(nn.Module):
        def __init__(self, k):
            super().__init__()
            self.conv1, self.bn1, self.fc, self.k = nn.Conv1d(k, 8, 1), nn.BatchNorm1d(8), nn.Linear(8, k * k), k

        def forward(self, x):
            b = x.size()[0]
            x = F.relu(self.bn1(self.conv1(x)))
            x = T.max(x, 2, keepdim=True)[0].view(-1, 8)
            x = self.fc(x)
            iden = T.from_numpy(np.eye(self.k).flatten().astype(np.float32)).view(1, self.k * self.k).repeat(b, 1)
            return (x + iden).view(-1, self.k, self.k)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stn, self.conv, self.bn, self.fc = STN(3), nn.Conv1d(3, 8, 1), nn.BatchNorm1d(8), nn.Linear(8, 4)

        def forward(self, x):
            trans = self.stn(x)
            x = T.bmm(x.transpose(2, 1), trans).transpose(2, 1)
            x = self.bn(self.conv(x))
            return F.log_softmax(self.fc(T.max(x, 2)[0]), dim=1), trans

    def reg(trans):
        I = T.eye(trans.size()[1])[None, :, :]
        return T.mean(T.norm(T.bmm(trans, trans.transpose(2, 1)) - I, dim=(1, 2)))

    def fps(xyz, n):
        B, N, C = xyz.shape
        c = T.zeros(B, n, dtype=T.long)
        dist = T.ones(B, N) * 1e10
        far = T.randint(0, N, (B,), dtype=T.long)
        bi = T.arange(B, dtype=T.long)
        for i in range(n):
            c[:, i] = far
            cen = xyz[bi, far, :].view(B, 1, 3)
            d = T.sum((xyz - cen) ** 2, -1)
            m = d < dist
            dist[m] = d[m]
            far = T.max(dist, -1)[1]
        return c

    def knn(x, k):
        inner = -2 * T.matmul(x.transpose(2, 1), x)
        xx = T.sum(x**2, dim=1, keepdim=True)
        return (-xx - inner - xx.transpose(2, 1)).topk(k=k, dim=-1)[1]

    def square_distance(s, d):
        dist = -2 * T.matmul(s, d.permute(0, 2, 1))
        dist += T.sum(s**2, -1).view(s.shape[0], -1, 1)
        dist += T.sum(d**2, -1).view(s.shape[0], 1, -1)
        return dist

    def ball(radius, n, xyz, new):
        B, N, C = xyz.shape
        S = new.shape[1]
        gi = T.arange(N, dtype=T.long).view(1, 1, N).repeat([B, S, 1])
        sq = square_distance(new, xyz)
        gi[sq > radius**2] = N
        gi = gi.sort(dim=-1)[0][:, :, :n]
        first = gi[:, :, 0].view(B, S, 1).repeat([1, 1, n])
        m = gi == N
        gi[m] = first[m]
        return gi

    net = Net()
    pts, lab = T.randn(4, 3, 12), T.randint(4, (4,))
    opt = T.optim.Adam(net.parameters(), 1e-2)
    out = []
    for _ in range(3):
        p, tr = net(pts)
        loss = F.nll_loss(p, lab) + 0.001 * reg(tr)
        opt.zero_grad()
        loss.backward()
        opt.step()
        out += [loss.item(), p.data.max(1)[1].eq(lab.data).cpu().sum().item()]
    xyz = pts.transpose(1, 2).contiguous()
    f = fps(xyz, 4)
    new = T.gather(xyz, 1, f.unsqueeze(-1).expand(-1, -1, 3))
    chamfer = T.cdist(xyz, new).min(2)[0].mean() + T.cdist(new, xyz).min(2)[0].mean()
    return out + [f.tolist(), knn(pts, 3).tolist(), ball(2.5, 3, xyz, new).tolist(), chamfer.item()]


@program
def explain_attack(T):
    """Where a network looks, and how to fool it."""
    nn, F = T.nn, T.nn.functional
    T.manual_seed(0)
    out = []
    m = nn.Sequential(
        collections.OrderedDict(
            [
                ("conv", nn.Conv2d(1, 4, 3, padding=1)),
                ("relu", nn.ReLU()),
                ("pool", nn.AdaptiveAvgPool2d(2)),
                ("flat", nn.Flatten()),
                ("fc", nn.Linear(16, 3)),
            ]
        )
    ).eval()
    x, y = T.rand(2, 1, 6, 6), T.tensor([0, 2])
    acts, grads = {}, {}
    h1 = m.relu.register_forward_hook(lambda mod, i, o: acts.update(a=o))
    h2 = m.relu.register_full_backward_hook(lambda mod, gi, go: grads.update(g=go[0]))
    s = m(x)
    s.gather(1, y[:, None]).sum().backward()
    w = grads["g"].mean(dim=[2, 3], keepdim=True)
    cam = F.relu((w * acts["a"]).sum(1, keepdim=True))
    cam = F.interpolate(cam, size=(12, 12), mode="bilinear", align_corners=False)
    cam = (cam - cam.amin((1, 2, 3), keepdim=True)) / (cam.amax((1, 2, 3), keepdim=True) + 1e-8)
    out += [cam.sum().item()]
    h1.remove()
    h2.remove()
    xa = x.clone().detach().requires_grad_(True)
    F.cross_entropy(m(xa), y).backward()
    out.append(T.clamp(x + 0.1 * xa.grad.sign(), 0, 1).sum().item())
    adv = (x + T.empty_like(x).uniform_(-0.1, 0.1)).clamp(0, 1)
    for _ in range(3):
        adv.requires_grad = True
        l = F.cross_entropy(m(adv), y)
        g = T.autograd.grad(l, adv, retain_graph=False, create_graph=False)[0]
        adv = adv.detach() + 0.03 * g.sign()
        d = T.clamp(adv - x, min=-0.1, max=0.1)
        adv = T.clamp(x + d, min=0, max=1).detach()
        out.append(l.item())
    base = T.zeros_like(x)
    tot = 0
    for a in T.linspace(0, 1, 5):
        xi = (base + a * (x - base)).requires_grad_()
        tot = tot + T.autograd.grad(m(xi)[:, 1].sum(), xi)[0]
    out.append(((x - base) * tot / 5).sum().item())
    # deep dream with octaves, tv
    im = x[:1].clone().requires_grad_()
    f = {}
    m.conv.register_forward_hook(lambda mo, i, o: f.__setitem__("o", o))
    for _ in range(2):
        m.zero_grad()
        m(im)
        l = f["o"].norm() - 0.1 * ((im[..., 1:] - im[..., :-1]) ** 2).sum()
        l.backward()
        im.data = im.data + 0.1 * im.grad.data / im.grad.data.abs().mean()
        im.grad.data.zero_()
        im.data = (
            F.interpolate(im.data, scale_factor=1.5, mode="bicubic", align_corners=True, recompute_scale_factor=True)
            if _ == 0
            else im.data
        )
        im = im.detach().requires_grad_()
        out.append(l.item())
    sm = [m(x + T.randn_like(x) * 0.1).softmax(-1) for _ in range(3)]
    out.append(T.stack(sm).var(0).sum().item())

    class GuidedReLU(T.autograd.Function):
        @staticmethod
        def forward(ctx, inp):
            pm = (inp > 0).type_as(inp)
            o = T.addcmul(T.zeros(inp.size()).type_as(inp), inp, pm)
            ctx.save_for_backward(inp, o)
            return o

        @staticmethod
        def backward(ctx, go):
            inp, o = ctx.saved_tensors
            p1, p2 = (inp > 0).type_as(go), (go > 0).type_as(go)
            return T.addcmul(T.zeros(inp.size()).type_as(inp), T.addcmul(T.zeros(inp.size()).type_as(inp), go, p1), p2)

    z = x.clone().requires_grad_()
    GuidedReLU.apply(m.conv(z)).sum().backward()
    out.append(z.grad.sum().item())
    return out
