"""Programs about pictures in the style of well-known repositories."""

import itertools
import random

import numpy as np

from tests.parity.support.figures import figures

program, test_same_figures = figures()


@program
def vision_transformer(T):
    """Patches by rearranged dimensions, class token, trunc normal, stochastic depth, mixup and soft targets."""
    nn, F = T.nn, T.nn.functional

    def pair(t):
        return t if isinstance(t, tuple) else (t, t)

    class DropPath(nn.Module):
        def __init__(self, p=0.0):
            super().__init__()
            self.p = p

        def forward(self, x):
            if self.p == 0.0 or not self.training:
                return x
            keep = 1 - self.p
            shape = (x.shape[0],) + (1,) * (x.ndim - 1)
            mask = x.new_empty(shape).bernoulli_(keep)
            if keep > 0.0:
                mask.div_(keep)
            return x * mask

        def extra_repr(self):
            return f"p={self.p}"

    class Attention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads, self.scale = heads, (dim // heads) ** -0.5
            self.norm, self.attend = nn.LayerNorm(dim), nn.Softmax(dim=-1)
            self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
            self.to_out = nn.Sequential(nn.Linear(dim, dim), nn.Dropout(0.0))

        def forward(self, x):
            b, n, d = x.shape
            qkv = self.to_qkv(self.norm(x)).reshape(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
            q, k, v = qkv.unbind(0)
            dots = T.einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
            out = T.einsum("bhij,bhjd->bhid", self.attend(dots), v)
            return self.to_out(out.transpose(1, 2).flatten(2))

    class Block(nn.Module):
        def __init__(self, dim, heads, p):
            super().__init__()
            self.attn, self.drop = Attention(dim, heads), DropPath(p)
            self.mlp = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
            self.gamma = nn.Parameter(1e-1 * T.ones(dim))

        def forward(self, x):
            x = x + self.drop(self.gamma * self.attn(x))
            return x + self.drop(self.mlp(x))

    class ViT(nn.Module):
        def __init__(self, image=8, patch=4, dim=16, depth=2, heads=2, classes=5):
            super().__init__()
            (h, w), (p, _) = pair(image), pair(patch)
            self.patch = nn.Conv2d(3, dim, kernel_size=p, stride=p)
            self.cls_token = nn.Parameter(T.zeros(1, 1, dim))
            self.pos = nn.Parameter(T.randn(1, (h // p) * (w // p) + 1, dim) * 0.02)
            rates = [x.item() for x in T.linspace(0, 0.3, depth)]
            self.blocks = nn.ModuleList(Block(dim, heads, rate) for rate in rates)
            self.norm, self.head = nn.LayerNorm(dim, eps=1e-6), nn.Linear(dim, classes)
            nn.init.trunc_normal_(self.cls_token, std=0.02)
            self.apply(self.init)

        @staticmethod
        def init(m):
            if isinstance(m, (nn.Linear, nn.Conv2d)):
                nn.init.trunc_normal_(m.weight, std=0.02)
                if m.bias is not None:
                    nn.init.constant_(m.bias, 0)

        def forward(self, x):
            x = self.patch(x).flatten(2).transpose(1, 2)
            x = T.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1) + self.pos
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x)[:, 0])

    T.manual_seed(3)
    np.random.seed(0)
    model = ViT()
    images, labels = T.randn(6, 3, 8, 8), T.randint(0, 5, (6,))
    decay, no_decay = [], []
    for name, p in model.named_parameters():
        (no_decay if p.ndim <= 1 or name.endswith((".bias", "cls_token")) else decay).append(p)
    opt = T.optim.AdamW([{"params": decay, "weight_decay": 0.05}, {"params": no_decay, "weight_decay": 0.0}], lr=1e-2)
    sched = T.optim.lr_scheduler.OneCycleLR(opt, max_lr=2e-2, total_steps=6, pct_start=0.3, anneal_strategy="cos")
    out = [repr(model.blocks[1].drop), str(model.patch)]
    for _ in range(4):
        lam = np.random.beta(0.8, 0.8)
        order = T.randperm(len(images))
        mixed = lam * images + (1 - lam) * images[order]
        soft = F.one_hot(labels, 5) * lam + F.one_hot(labels[order], 5) * (1 - lam)
        soft = soft * 0.9 + 0.1 / 5
        loss = T.sum(-soft * F.log_softmax(model(mixed), dim=-1), dim=-1).mean()
        also = F.cross_entropy(model(mixed), soft)
        opt.zero_grad()
        (loss + also).backward()
        opt.step()
        sched.step()
        out += [loss.item(), also.item(), sched.get_last_lr()[0], opt.param_groups[0]["betas"][0]]
    y1, x1 = 2, 3
    cut = images.clone()
    cut[:, :, y1 : y1 + 3, x1 : x1 + 4] = images[T.randperm(6), :, y1 : y1 + 3, x1 : x1 + 4]
    model.eval()
    prob = model(cut).softmax(-1)
    top = prob.topk(3, 1, True, True)
    correct = top.indices.t().eq(labels.view(1, -1).expand_as(top.indices.t()))
    out += [prob.max().item(), correct[:1].reshape(-1).float().sum(0, keepdim=True).mul_(100.0 / 6).item()]
    return out


@program
def vq_vae(T):
    """Straight-through codes with an exponential moving average of the codebook, perplexity, gated PixelCNN prior."""
    nn, F = T.nn, T.nn.functional

    class Quantizer(nn.Module):
        def __init__(self, count, dim, cost, decay, epsilon=1e-5):
            super().__init__()
            self._embedding = nn.Embedding(count, dim)
            self._embedding.weight.data.normal_()
            self.register_buffer("_ema_cluster_size", T.zeros(count))
            self._ema_w = nn.Parameter(T.Tensor(count, dim))
            self._ema_w.data.normal_()
            self.count, self.dim, self.cost, self.decay, self.epsilon = count, dim, cost, decay, epsilon

        def forward(self, inputs):
            inputs = inputs.permute(0, 2, 3, 1).contiguous()
            flat = inputs.view(-1, self.dim)
            distances = (
                T.sum(flat**2, dim=1, keepdim=True)
                + T.sum(self._embedding.weight**2, dim=1)
                - 2 * T.matmul(flat, self._embedding.weight.t())
            )
            indices = T.argmin(distances, dim=1).unsqueeze(1)
            encodings = T.zeros(indices.shape[0], self.count, device=inputs.device)
            encodings.scatter_(1, indices, 1)
            quantized = T.matmul(encodings, self._embedding.weight).view(inputs.shape)
            if self.training:
                self._ema_cluster_size = self._ema_cluster_size * self.decay + (1 - self.decay) * T.sum(encodings, 0)
                n = T.sum(self._ema_cluster_size.data)
                self._ema_cluster_size = (self._ema_cluster_size + self.epsilon) / (n + self.count * self.epsilon) * n
                dw = T.matmul(encodings.t(), flat)
                self._ema_w = nn.Parameter(self._ema_w * self.decay + (1 - self.decay) * dw)
                self._embedding.weight = nn.Parameter(self._ema_w / self._ema_cluster_size.unsqueeze(1))
            loss = self.cost * F.mse_loss(quantized.detach(), inputs)
            quantized = inputs + (quantized - inputs).detach()
            avg = T.mean(encodings, dim=0)
            perplexity = T.exp(-T.sum(avg * T.log(avg + 1e-10)))
            return loss, quantized.permute(0, 3, 1, 2).contiguous(), perplexity, indices.view(inputs.shape[:-1])

    class MaskedConv2d(nn.Conv2d):
        def __init__(self, mask_type, *args, **kwargs):
            super().__init__(*args, **kwargs)
            assert mask_type in {"A", "B"}
            self.register_buffer("mask", self.weight.data.clone())
            _, _, kH, kW = self.weight.size()
            self.mask.fill_(1)
            self.mask[:, :, kH // 2, kW // 2 + (mask_type == "B") :] = 0
            self.mask[:, :, kH // 2 + 1 :] = 0

        def forward(self, x):
            self.weight.data *= self.mask
            return super().forward(x)

    T.manual_seed(0)
    encoder = nn.Sequential(nn.Conv2d(3, 8, 4, 2, 1), nn.ReLU(True), nn.Conv2d(8, 4, 3, 1, 1))
    decoder = nn.Sequential(nn.Conv2d(4, 8, 3, padding=1), nn.ReLU(), nn.ConvTranspose2d(8, 3, 4, 2, 1))
    quantizer = Quantizer(12, 4, 0.25, 0.9)
    x = T.rand(4, 3, 8, 8)
    var = T.var(x).item()
    opt = T.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2, amsgrad=False)
    out = []
    for _ in range(4):
        opt.zero_grad()
        vq_loss, q, perplexity, codes = quantizer(encoder(x))
        recon = F.mse_loss(decoder(q), x) / var
        (recon + vq_loss).backward()
        opt.step()
        out += [recon.item(), vq_loss.item(), perplexity.item()]
    prior = nn.Sequential(MaskedConv2d("A", 1, 8, 5, 1, 2), nn.ReLU(), MaskedConv2d("B", 8, 12, 3, padding=1))
    popt = T.optim.Adam(prior.parameters(), 1e-2)
    quantizer.eval()
    for _ in range(3):
        logits = prior(codes.unsqueeze(1).float() / 12)
        loss = F.cross_entropy(logits, codes)
        popt.zero_grad()
        loss.backward()
        popt.step()
        out.append(loss.item())
    canvas = T.zeros(1, 4, 4, dtype=T.long)
    with T.no_grad():
        for i in range(2):
            for j in range(4):
                probs = F.softmax(prior(canvas.unsqueeze(1).float() / 12)[:, :, i, j], dim=1)
                canvas[:, i, j] = T.multinomial(probs, 1).squeeze(1)
    return (
        out + canvas.flatten().tolist() + [sorted(dict(quantizer.named_parameters())), sorted(quantizer.state_dict())]
    )


@program
def nerf(T):
    """Rays through a field of colours, sampled coarsely, then where there is something."""
    nn, F = T.nn, T.nn.functional
    T.manual_seed(0)
    np.random.seed(0)

    def posenc(x, L=3):
        rets = [x]
        for i in range(L):
            for fn in [T.sin, T.cos]:
                rets.append(fn(2.0**i * x))
        return T.cat(rets, -1)

    def get_rays(H, W, focal, c2w):
        i, j = T.meshgrid(T.linspace(0, W - 1, W), T.linspace(0, H - 1, H), indexing="ij")
        i, j = i.t(), j.t()
        dirs = T.stack([(i - W * 0.5) / focal, -(j - H * 0.5) / focal, -T.ones_like(i)], -1)
        rays_d = T.sum(dirs[..., np.newaxis, :] * c2w[:3, :3], -1)
        return c2w[:3, -1].expand(rays_d.shape), rays_d

    class NeRF(nn.Module):
        def __init__(self, D=3, W=16, input_ch=21, skips=(1,)):
            super().__init__()
            self.skips = skips
            self.pts_linears = nn.ModuleList(
                [nn.Linear(input_ch, W)]
                + [nn.Linear(W, W) if i not in self.skips else nn.Linear(W + input_ch, W) for i in range(D - 1)]
            )
            self.output_linear = nn.Linear(W, 4)

        def forward(self, x):
            h = x
            for i, layer in enumerate(self.pts_linears):
                h = F.relu(layer(h))
                if i in self.skips:
                    h = T.cat([x, h], -1)
            return self.output_linear(h)

    def sample_pdf(bins, weights, N):
        weights = weights + 1e-5
        pdf = weights / T.sum(weights, -1, keepdim=True)
        cdf = T.cumsum(pdf, -1)
        cdf = T.cat([T.zeros_like(cdf[..., :1]), cdf], -1)
        u = T.rand(list(cdf.shape[:-1]) + [N]).contiguous()
        inds = T.searchsorted(cdf, u, right=True)
        below = T.max(T.zeros_like(inds - 1), inds - 1)
        above = T.min((cdf.shape[-1] - 1) * T.ones_like(inds), inds)
        inds_g = T.stack([below, above], -1)
        matched = [inds_g.shape[0], inds_g.shape[1], cdf.shape[-1]]
        cdf_g = T.gather(cdf.unsqueeze(1).expand(matched), 2, inds_g)
        bins_g = T.gather(bins.unsqueeze(1).expand(matched), 2, inds_g)
        denom = cdf_g[..., 1] - cdf_g[..., 0]
        denom = T.where(denom < 1e-5, T.ones_like(denom), denom)
        t = (u - cdf_g[..., 0]) / denom
        return bins_g[..., 0] + t * (bins_g[..., 1] - bins_g[..., 0])

    def render(net, o, d, n=6, train=True):
        z = T.linspace(2.0, 6.0, steps=n).expand(o.shape[0], n)
        mids = 0.5 * (z[..., 1:] + z[..., :-1])
        upper, lower = T.cat([mids, z[..., -1:]], -1), T.cat([z[..., :1], mids], -1)
        z = lower + (upper - lower) * T.rand(z.shape)

        def comp(z):
            pts = o[..., None, :] + d[..., None, :] * z[..., :, None]
            raw = net(posenc(pts.reshape(-1, 3))).reshape(*pts.shape[:-1], 4)
            dists = z[..., 1:] - z[..., :-1]
            dists = T.cat([dists, T.Tensor([1e10]).expand(dists[..., :1].shape)], -1)
            dists = dists * T.norm(d[..., None, :], dim=-1)
            rgb = T.sigmoid(raw[..., :3])
            alpha = 1.0 - T.exp(-F.relu(raw[..., 3]) * dists)
            weights = alpha * T.cumprod(T.cat([T.ones((alpha.shape[0], 1)), 1.0 - alpha + 1e-10], -1), -1)[:, :-1]
            rgb_map = T.sum(weights[..., None] * rgb, -2)
            depth = T.sum(weights * z, -1)
            disp = 1.0 / T.max(1e-10 * T.ones_like(depth), depth / T.sum(weights, -1))
            return rgb_map, weights, disp

        rgb, w, disp = comp(z)
        zs = sample_pdf(0.5 * (z[..., 1:] + z[..., :-1]), w[..., 1:-1], 4).detach()
        z2, _ = T.sort(T.cat([z, zs], -1), -1)
        rgb2, _, disp2 = comp(z2)
        return rgb, rgb2, disp2

    net = NeRF()
    target = T.rand(5, 6, 3)
    o, d = get_rays(5, 6, 4.0, T.eye(4)[:3, :4])
    opt = T.optim.Adam(params=list(net.parameters()), lr=5e-3, betas=(0.9, 0.999))
    out = []
    for step in range(4):
        coords = T.stack(T.meshgrid(T.linspace(0, 4, 5), T.linspace(0, 5, 6), indexing="ij"), -1).reshape([-1, 2])
        sel = coords[np.random.choice(coords.shape[0], size=[8], replace=False)].long()
        rgb, rgb2, disp = render(net, o[sel[:, 0], sel[:, 1]], d[sel[:, 0], sel[:, 1]])
        t = target[sel[:, 0], sel[:, 1]]
        loss = T.mean((rgb - t) ** 2) + T.mean((rgb2 - t) ** 2)
        psnr = -10.0 * T.log(loss) / T.log(T.Tensor([10.0]))
        opt.zero_grad()
        loss.backward()
        opt.step()
        for g in opt.param_groups:
            g["lr"] = 5e-3 * 0.1 ** (step / 10)
        out += [loss.item(), psnr.item(), disp.mean().item()]
    return out


@program
def cyclegan_losses(T):
    """Two generators and two judges with adversarial, cycle and identity losses."""
    nn = T.nn
    T.manual_seed(0)
    random.seed(0)

    def gen():
        return nn.Sequential(
            nn.ReflectionPad2d(1),
            nn.Conv2d(2, 4, 3),
            nn.InstanceNorm2d(4),
            nn.ReLU(True),
            nn.Conv2d(4, 8, 3, stride=2, padding=1),
            nn.InstanceNorm2d(8, affine=False, track_running_stats=False),
            nn.ReLU(True),
            nn.ConvTranspose2d(8, 4, 3, stride=2, padding=1, output_padding=1, bias=True),
            nn.Tanh(),
            nn.ReplicationPad2d(1),
            nn.Conv2d(4, 2, 3),
            nn.Tanh(),
        )

    def disc():
        return nn.Sequential(
            nn.utils.spectral_norm(nn.Conv2d(2, 4, 4, 2, 1)),
            nn.LeakyReLU(0.2, True),
            nn.ZeroPad2d((1, 0, 1, 0)),
            T.nn.utils.parametrizations.spectral_norm(nn.Conv2d(4, 1, 4, padding=1)),
        )

    class ReplayBuffer:
        def __init__(self, n=5):
            self.n, self.data = n, []

        def push_and_pop(self, data):
            ret = []
            for e in data.data:
                e = T.unsqueeze(e, 0)
                if len(self.data) < self.n:
                    self.data.append(e)
                    ret.append(e)
                elif random.uniform(0, 1) > 0.5:
                    i = random.randint(0, self.n - 1)
                    ret.append(self.data[i].clone())
                    self.data[i] = e
                else:
                    ret.append(e)
            return T.cat(ret)

    ab, ba, da, db = gen(), gen(), disc(), disc()
    gan, cyc, idt = nn.MSELoss(), nn.L1Loss(), nn.L1Loss()
    og = T.optim.Adam(itertools.chain(ab.parameters(), ba.parameters()), lr=2e-3, betas=(0.5, 0.999))
    od = T.optim.Adam(itertools.chain(da.parameters(), db.parameters()), lr=2e-3, betas=(0.5, 0.999))
    sg = T.optim.lr_scheduler.LambdaLR(og, lr_lambda=lambda e: 1.0 - max(0, e - 1) / 4)
    fa, fb = ReplayBuffer(), ReplayBuffer()
    out = []
    for _ in range(3):
        a, b = T.rand(2, 2, 8, 8) * 2 - 1, T.rand(2, 2, 8, 8) * 2 - 1
        for p in itertools.chain(da.parameters(), db.parameters()):
            p.requires_grad = False
        og.zero_grad()
        fake_b, fake_a = ab(a), ba(b)
        pred = db(fake_b)
        valid = T.ones_like(pred, requires_grad=False)
        lg = (
            gan(pred, valid)
            + gan(da(fake_a), valid)
            + 10 * (cyc(ba(fake_b), a) + cyc(ab(fake_a), b))
            + 5 * (idt(ab(b), b) + idt(ba(a), a))
        )
        lg.backward()
        og.step()
        for p in itertools.chain(da.parameters(), db.parameters()):
            p.requires_grad = True
        od.zero_grad()
        ld = 0.5 * (gan(da(a), valid) + gan(da(fa.push_and_pop(fake_a).detach()), T.zeros_like(pred)))
        ld = ld + 0.5 * (gan(db(b), valid) + gan(db(fb.push_and_pop(fake_b).detach()), T.zeros_like(pred)))
        ld.backward()
        od.step()
        sg.step()
        out += [lg.item(), ld.item(), sg.get_last_lr()[0]]
    return out + [sorted(db.state_dict())]
