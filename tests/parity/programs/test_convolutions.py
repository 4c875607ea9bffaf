"""Convolutional networks as model collections define them, and a diffusion model."""

import collections
import copy
import math

from tests.parity.support.figures import figures

program, test_same_figures = figures()


@program
def torchvision_families(T):
    """DenseNet with checkpoints, MobileNet, squeeze and excitation, UNet, built and initialized as usual."""
    nn, F = T.nn, T.nn.functional

    cp = T.utils.checkpoint

    class DenseLayer(nn.Module):
        def __init__(self, inner, growth, efficient):
            super().__init__()
            self.add_module("norm1", nn.BatchNorm2d(inner))
            self.add_module("relu1", nn.ReLU(inplace=True))
            self.add_module("conv1", nn.Conv2d(inner, 2 * growth, kernel_size=1, stride=1, bias=False))
            self.norm2, self.relu2 = nn.BatchNorm2d(2 * growth), nn.ReLU(inplace=True)
            self.conv2 = nn.Conv2d(2 * growth, growth, kernel_size=3, padding=1, bias=False)
            self.efficient = efficient

        def bottleneck(self, *inputs):
            return self.conv1(self.relu1(self.norm1(T.cat(inputs, 1))))

        def forward(self, features):
            if self.efficient and any(f.requires_grad for f in features):
                b = cp.checkpoint(self.bottleneck, *features, use_reentrant=False)
            else:
                b = self.bottleneck(*features)
            return F.dropout(self.conv2(self.relu2(self.norm2(b))), p=0.1, training=self.training)

    class DenseBlock(nn.ModuleDict):
        def __init__(self, layers, inner, growth, efficient):
            super().__init__()
            for i in range(layers):
                self.add_module(f"denselayer{i + 1}", DenseLayer(inner + i * growth, growth, efficient))

        def forward(self, x):
            features = [x]
            for layer in self.values():
                features.append(layer(features))
            return T.cat(features, 1)

    class Dense(nn.Module):
        def __init__(self, efficient):
            super().__init__()
            self.features = nn.Sequential(
                collections.OrderedDict(
                    [
                        ("conv0", nn.Conv2d(3, 4, 3, 1, 1, bias=False)),
                        ("norm0", nn.BatchNorm2d(4)),
                        ("relu0", nn.ReLU(True)),
                        ("pool0", nn.MaxPool2d(kernel_size=3, stride=2, padding=1)),
                    ]
                )
            )
            self.features.add_module("denseblock1", DenseBlock(2, 4, 3, efficient))
            self.features.add_module("norm5", nn.BatchNorm2d(10))
            self.classifier = nn.Linear(10, 3)
            for m in self.modules():
                if isinstance(m, nn.Conv2d):
                    nn.init.kaiming_normal_(m.weight)
                elif isinstance(m, nn.BatchNorm2d):
                    nn.init.constant_(m.weight, 1)
                    nn.init.constant_(m.bias, 0)
                elif isinstance(m, nn.Linear):
                    nn.init.constant_(m.bias, 0)

        def forward(self, x):
            out = F.relu(self.features(x), inplace=True)
            return self.classifier(T.flatten(F.adaptive_avg_pool2d(out, (1, 1)), 1))

    def _make_divisible(v, divisor, min_value=None):
        new_v = max(min_value or divisor, int(v + divisor / 2) // divisor * divisor)
        return new_v + divisor if new_v < 0.9 * v else new_v

    class ConvNormActivation(nn.Sequential):
        def __init__(self, i, o, kernel=3, stride=1, groups=1, norm=nn.BatchNorm2d, act=nn.ReLU6):
            super().__init__(
                nn.Conv2d(i, o, kernel, stride, (kernel - 1) // 2, groups=groups, bias=False),
                norm(o),
                act(inplace=True),
            )
            self.out_channels = o

    class Inverted(nn.Module):
        def __init__(self, inp, oup, stride, expand, act=nn.ReLU6, squeeze=False):
            super().__init__()
            hidden = int(round(inp * expand))
            self.use_res = stride == 1 and inp == oup
            layers = []
            if expand != 1:
                layers.append(ConvNormActivation(inp, hidden, kernel=1, act=act))
            layers.append(ConvNormActivation(hidden, hidden, stride=stride, groups=hidden, act=act))
            if squeeze:
                layers.append(SE(hidden))
            layers.extend([nn.Conv2d(hidden, oup, 1, 1, 0, bias=False), nn.BatchNorm2d(oup)])
            self.conv = nn.Sequential(*layers)

        def forward(self, x):
            return x + self.conv(x) if self.use_res else self.conv(x)

    class SE(nn.Module):
        def __init__(self, c):
            super().__init__()
            self.avgpool = nn.AdaptiveAvgPool2d(1)
            self.fc1, self.fc2 = nn.Conv2d(c, _make_divisible(c // 4, 2), 1), nn.Conv2d(
                _make_divisible(c // 4, 2), c, 1
            )
            self.activation, self.scale_activation = nn.SiLU(inplace=True), nn.Hardsigmoid()

        def forward(self, x):
            return self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(x))))) * x

    def mobile(act, squeeze):
        layers = [
            ConvNormActivation(3, 4, stride=2, act=act),
            Inverted(4, 4, 1, 1, act, squeeze),
            Inverted(4, 6, 2, 3, act, squeeze),
            Inverted(6, 6, 1, 2, act, squeeze),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Dropout(0.2),
            nn.Linear(6, 3),
        ]
        model = nn.Sequential(*layers)
        for m in model.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out")
                if m.bias is not None:
                    nn.init.zeros_(m.bias)
            elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.ones_(m.weight)
                nn.init.zeros_(m.bias)
            elif isinstance(m, nn.Linear):
                bound = 1.0 / math.sqrt(m.out_features)
                nn.init.uniform_(m.weight, -bound, bound)
                nn.init.zeros_(m.bias)
        return model

    class UNet(nn.Module):
        def __init__(self, bilinear):
            super().__init__()
            self.inc, self.down = self.double(3, 4), nn.Sequential(nn.MaxPool2d(2), self.double(4, 8))
            if bilinear:
                self.up = nn.Sequential(
                    nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), nn.Conv2d(8, 4, 1)
                )
            else:
                self.up = nn.ConvTranspose2d(8, 4, kernel_size=2, stride=2)
            self.conv, self.outc = self.double(8, 4), nn.Conv2d(4, 2, 1)

        @staticmethod
        def double(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(True))

        def forward(self, x):
            x1 = self.inc(x)
            x2 = self.up(self.down(x1))
            dy, dx = x1.size()[2] - x2.size()[2], x1.size()[3] - x2.size()[3]
            x2 = F.pad(x2, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
            return self.outc(self.conv(T.cat([x1, x2], dim=1)))

    def dice(logits, target, eps=1e-6):
        prob = F.softmax(logits, 1).float()
        onehot = F.one_hot(target, 2).permute(0, 3, 1, 2).float()
        inter = 2 * (prob * onehot).sum(dim=(-1, -2))
        sets = prob.sum(dim=(-1, -2)) + onehot.sum(dim=(-1, -2))
        return 1 - ((T.where(sets == 0, inter, inter + eps)) / (sets + eps)).mean()

    def focal(logits, target, alpha=0.25, gamma=2.0):
        ce = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
        p = T.sigmoid(logits)
        pt = p * target + (1 - p) * (1 - target)
        return ((alpha * target + (1 - alpha) * (1 - target)) * ce * (1 - pt) ** gamma).mean()

    T.manual_seed(7)
    out = []
    x, y = T.randn(4, 3, 13, 13).to(memory_format=T.channels_last), T.tensor([0, 1, 2, 1])
    for model in (Dense(False), Dense(True), mobile(nn.ReLU6, False), mobile(nn.Hardswish, True)):
        model = model.to(memory_format=T.channels_last)
        opt = T.optim.RMSprop(model.parameters(), 1e-2, alpha=0.9, momentum=0.9, eps=0.0316)
        for _ in range(2):
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            out.append(loss.item())
        model.eval()
        out += [model(x).sum().item(), sum(p.numel() for p in model.parameters())]
    for bilinear in (True, False):
        model = UNet(bilinear)
        opt = T.optim.SGD(model.parameters(), 1e-1, momentum=0.99, foreach=True)
        plateau = T.optim.lr_scheduler.ReduceLROnPlateau(opt, "max", patience=0)
        mask = (T.rand(4, 13, 13) > 0.5).long()
        for _ in range(3):
            logits = model(x)
            loss = nn.CrossEntropyLoss()(logits, mask) + dice(logits, mask) + focal(logits[:, 0], mask.float())
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            plateau.step(1 - loss.item())
            out += [loss.item(), opt.param_groups[0]["lr"]]
        pred = logits.argmax(1)
        inter = T.logical_and(pred == 1, mask == 1).sum()
        out += [(inter / T.logical_or(pred == 1, mask == 1).sum()).item()]
    return out


@program
def diffusion(T):
    """DDPM with sinusoidal times, cosine schedule, EMA of weights, DDIM and ancestral sampling."""
    nn, F = T.nn, T.nn.functional

    def exists(x):
        return x is not None

    def extract(a, t, x_shape):
        b, *_ = t.shape
        return a.gather(-1, t).reshape(b, *((1,) * (len(x_shape) - 1)))

    def cosine_beta_schedule(steps, s=0.008):
        x = T.linspace(0, steps, steps + 1, dtype=T.float64)
        ac = T.cos(((x / steps) + s) / (1 + s) * math.pi * 0.5) ** 2
        ac = ac / ac[0]
        return T.clip(1 - (ac[1:] / ac[:-1]), 0, 0.999)

    class SinusoidalPosEmb(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.dim = dim

        def forward(self, x):
            half = self.dim // 2
            emb = math.log(10000) / (half - 1)
            emb = T.exp(T.arange(half, device=x.device) * -emb)
            emb = x[:, None] * emb[None, :]
            return T.cat((emb.sin(), emb.cos()), dim=-1)

    class RMSNorm(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.g = nn.Parameter(T.ones(1, dim, 1, 1))

        def forward(self, x):
            return F.normalize(x, dim=1) * self.g * (x.shape[1] ** 0.5)

    class WeightStandardizedConv2d(nn.Conv2d):
        def forward(self, x):
            eps = 1e-5 if x.dtype == T.float32 else 1e-3
            weight = self.weight
            mean = weight.mean(dim=(1, 2, 3), keepdim=True)
            var = weight.var(dim=(1, 2, 3), keepdim=True, unbiased=False)
            normalized = (weight - mean) * (var + eps).rsqrt()
            return F.conv2d(x, normalized, self.bias, self.stride, self.padding, self.dilation, self.groups)

    class ResBlock(nn.Module):
        def __init__(self, dim, out, time):
            super().__init__()
            self.mlp = nn.Sequential(nn.SiLU(), nn.Linear(time, out * 2))
            self.proj, self.norm, self.act = (
                WeightStandardizedConv2d(dim, out, 3, padding=1),
                nn.GroupNorm(2, out),
                nn.SiLU(),
            )
            self.res = nn.Conv2d(dim, out, 1) if dim != out else nn.Identity()

        def forward(self, x, t):
            scale, shift = self.mlp(t)[:, :, None, None].chunk(2, dim=1)
            h = self.norm(self.proj(x)) * (scale + 1) + shift
            return self.act(h) + self.res(x)

    class LinearAttention(nn.Module):
        def __init__(self, dim, heads=2, dim_head=4):
            super().__init__()
            self.heads, self.scale = heads, dim_head**-0.5
            self.norm, self.to_qkv = RMSNorm(dim), nn.Conv2d(dim, heads * dim_head * 3, 1, bias=False)
            self.to_out = nn.Conv2d(heads * dim_head, dim, 1)

        def forward(self, x):
            b, c, h, w = x.shape
            q, k, v = (t.reshape(b, self.heads, -1, h * w) for t in self.to_qkv(self.norm(x)).chunk(3, dim=1))
            q, k = q.softmax(dim=-2) * self.scale, k.softmax(dim=-1)
            context = T.einsum("b h d n, b h e n -> b h d e", k, v)
            out = T.einsum("b h d e, b h d n -> b h e n", context, q)
            return self.to_out(out.reshape(b, -1, h, w))

    class Unet(nn.Module):
        def __init__(self):
            super().__init__()
            self.time = nn.Sequential(SinusoidalPosEmb(8), nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 16))
            self.down, self.mid, self.up = ResBlock(1, 8, 16), ResBlock(8, 8, 16), ResBlock(16, 8, 16)
            self.attn, self.final = LinearAttention(8), nn.Conv2d(8, 1, 1)

        def forward(self, x, t):
            t = self.time(t)
            h = self.down(x, t)
            m = F.interpolate(self.mid(F.avg_pool2d(h, 2), t), scale_factor=2, mode="nearest")
            m = m + self.attn(m)
            return self.final(self.up(T.cat((m, h), dim=1), t))

    class EMA:
        def __init__(self, model, decay):
            self.decay = decay
            self.shadow = copy.deepcopy(model).eval().requires_grad_(False)

        @T.no_grad()
        def update(self, model):
            for s, p in zip(self.shadow.parameters(), model.parameters()):
                s.copy_(s * self.decay + p.data * (1 - self.decay))

    T.manual_seed(10)
    steps = 12
    betas = cosine_beta_schedule(steps)
    alphas = 1.0 - betas
    ac = T.cumprod(alphas, dim=0)
    prev = F.pad(ac[:-1], (1, 0), value=1.0)
    sq, som = T.sqrt(ac).float(), T.sqrt(1.0 - ac).float()
    posterior_variance = (betas * (1.0 - prev) / (1.0 - ac)).float()
    plog = T.log(posterior_variance.clamp(min=1e-20))
    c1, c2 = (betas * T.sqrt(prev) / (1.0 - ac)).float(), ((1.0 - prev) * T.sqrt(alphas) / (1.0 - ac)).float()
    snr = ac / (1 - ac)
    weight = (T.minimum(snr, T.full_like(snr, 5)) / snr).float()
    model = Unet()
    ema = EMA(model, 0.9)
    opt = T.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.99))
    out = []
    for _ in range(4):
        x0 = T.rand(4, 1, 8, 8) * 2 - 1
        t = T.randint(0, steps, (4,)).long()
        noise = T.randn_like(x0)
        x = extract(sq, t, x0.shape) * x0 + extract(som, t, x0.shape) * noise
        loss = F.mse_loss(model(x, t), noise, reduction="none").flatten(1).mean(-1)
        loss = (loss * extract(weight, t, loss.shape)).mean()
        loss.backward()
        T.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
        ema.update(model)
        out.append(loss.item())

    @T.inference_mode()
    def sample(model):
        img = T.randn((2, 1, 8, 8))
        for t in reversed(range(0, steps)):
            times = T.full((2,), t, device=img.device, dtype=T.long)
            eps = model(img, times)
            start = (img - extract(som, times, img.shape) * eps) / extract(sq, times, img.shape)
            start.clamp_(-1.0, 1.0)
            mean = extract(c1, times, img.shape) * start + extract(c2, times, img.shape) * img
            noise = T.randn_like(img) if t > 0 else 0.0
            img = mean + (0.5 * extract(plog, times, img.shape)).exp() * noise
        return (img + 1) * 0.5

    @T.no_grad()
    def ddim(model, eta=0.5):
        times = list(reversed(T.linspace(-1, steps - 1, steps=5).int().tolist()))
        img = T.randn(2, 1, 8, 8)
        for time, nxt in zip(times[:-1], times[1:]):
            eps = model(img, T.full((2,), time, dtype=T.long))
            start = ((img - som[time] * eps) / sq[time]).clamp(-1, 1)
            if nxt < 0:
                img = start
                continue
            a, an = ac[time], ac[nxt]
            sigma = eta * ((1 - a / an) * (1 - an) / (1 - a)).sqrt()
            c = (1 - an - sigma**2).sqrt()
            img = start * an.sqrt() + c * eps + sigma * T.randn_like(img)
        return img

    s, d = sample(ema.shadow), ddim(model)
    return out + [s.mean().item(), s.std().item(), d.mean().item(), str(d.dtype), s.is_inference(), d.is_inference()]
