"""Networks for pictures and sounds as people define them, and what their programs print of them."""

import collections
import math
from functools import partial

from tests.parity.support.printed import printing_programs

program, test_same_text = printing_programs()


@program
def residual_network(T, say):
    """BasicBlock, _make_layer, zero_init_residual, a summary by hooks, features by name, frozen layers."""
    nn = T.nn

    def conv3x3(i, o, stride=1):
        return nn.Conv2d(i, o, kernel_size=3, stride=stride, padding=1, bias=False)

    class BasicBlock(nn.Module):
        expansion: int = 1

        def __init__(self, inplanes, planes, stride=1, downsample=None, norm_layer=None):
            super().__init__()
            norm_layer = norm_layer or nn.BatchNorm2d
            self.conv1, self.bn1 = conv3x3(inplanes, planes, stride), norm_layer(planes)
            self.relu = nn.ReLU(inplace=True)
            self.conv2, self.bn2 = conv3x3(planes, planes), norm_layer(planes)
            self.downsample, self.stride = downsample, stride

        def forward(self, x: T.Tensor) -> T.Tensor:
            identity = x if self.downsample is None else self.downsample(x)
            out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
            out += identity
            return self.relu(out)

    class ResNet(nn.Module):
        def __init__(self, block, layers, num_classes=4, zero_init_residual=False, norm_layer=None):
            super().__init__()
            self.inplanes, self._norm_layer = 4, norm_layer or nn.BatchNorm2d
            self.conv1 = nn.Conv2d(3, 4, kernel_size=7, stride=2, padding=3, bias=False)
            self.bn1, self.relu = self._norm_layer(4), nn.ReLU(inplace=True)
            self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
            for number, count in enumerate(layers, 1):
                setattr(self, f"layer{number}", self._make_layer(block, 4 * number, count, stride=1 + (number > 1)))
            self.avgpool, self.fc = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(8 * block.expansion, num_classes)
            for m in self.modules():
                if isinstance(m, nn.Conv2d):
                    nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
                elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
                    nn.init.constant_(m.weight, 1)
                    nn.init.constant_(m.bias, 0)
                if zero_init_residual and isinstance(m, BasicBlock):
                    nn.init.constant_(m.bn2.weight, 0)

        def _make_layer(self, block, planes, blocks, stride=1):
            downsample = None
            if stride != 1 or self.inplanes != planes * block.expansion:
                conv = nn.Conv2d(self.inplanes, planes * block.expansion, 1, stride, bias=False)
                downsample = nn.Sequential(conv, self._norm_layer(planes * block.expansion))
            layers = [block(self.inplanes, planes, stride, downsample, self._norm_layer)]
            self.inplanes = planes * block.expansion
            layers += [block(self.inplanes, planes, norm_layer=self._norm_layer) for _ in range(1, blocks)]
            return nn.Sequential(*layers)

        def forward(self, x):
            x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
            return self.fc(T.flatten(self.avgpool(self.layer2(self.layer1(x))), 1))

    T.manual_seed(0)
    net = ResNet(BasicBlock, [2, 1], zero_init_residual=True)
    say(net)
    seen = collections.OrderedDict()
    hooks = [
        m.register_forward_hook(lambda m, i, o, n=n: seen.__setitem__(f"{n}-{type(m).__name__}", list(o.size())))
        for n, m in net.named_modules()
        if not list(m.children())
    ]
    x = T.randn(2, 3, 32, 32)
    net(x).sum().backward()
    for hook in hooks:
        hook.remove()
    say(seen, net.layer1[0].conv1.weight.grad.abs().sum(), net.bn1.running_var)
    for name, p in net.named_parameters():
        p.requires_grad = name.startswith(("layer2", "fc"))
    say([n for n, p in net.named_parameters() if p.requires_grad], sum(p.numel() for p in net.parameters()))
    net.fc = nn.Identity()
    body = nn.Sequential(*list(net.children())[:-2])
    say(net.eval()(x).shape, body(x).shape, net.get_submodule("layer2.0.downsample"), net.training)
    group = ResNet(BasicBlock, [1, 1], norm_layer=partial(nn.GroupNorm, 2)).to(memory_format=T.channels_last)
    y = group(x.contiguous(memory_format=T.channels_last))
    say(y, group.conv1.weight.is_contiguous(memory_format=T.channels_last), group.layer1[0].bn1)


@program
def u_net(T, say):
    """Doubled convolutions, skips that are padded, transposed convolutions or upsampling, dice and focal losses."""
    nn, F = T.nn, T.nn.functional

    class DoubleConv(nn.Module):
        """(convolution => [BN] => ReLU) * 2"""

        def __init__(self, i, o, mid=None):
            super().__init__()
            mid = mid or o
            self.double_conv = nn.Sequential(
                nn.Conv2d(i, mid, 3, padding="same", bias=False), nn.BatchNorm2d(mid), nn.ReLU(inplace=True),
                nn.Conv2d(mid, o, 3, padding=1, padding_mode="reflect", bias=False), nn.BatchNorm2d(o),
                nn.LeakyReLU(0.1, True),
            )  # fmt: skip

        def forward(self, x):
            return self.double_conv(x)

    class Up(nn.Module):
        def __init__(self, i, o, bilinear=True):
            super().__init__()
            if bilinear:
                self.up, self.conv = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), DoubleConv(
                    i, o, i // 2
                )
            else:
                self.up, self.conv = nn.ConvTranspose2d(i, i // 2, kernel_size=2, stride=2), DoubleConv(i, o)

        def forward(self, x1, x2):
            x1 = self.up(x1)
            dy, dx = x2.size()[2] - x1.size()[2], x2.size()[3] - x1.size()[3]
            x1 = F.pad(x1, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
            return self.conv(T.cat([x2, x1], dim=1))

    class UNet(nn.Module):
        def __init__(self, channels, classes, bilinear):
            super().__init__()
            factor = 2 if bilinear else 1
            self.inc = DoubleConv(channels, 4)
            self.down = nn.Sequential(nn.MaxPool2d(2), DoubleConv(4, 8 // factor))
            self.up, self.outc = Up(8, 4, bilinear), nn.Conv2d(4, classes, kernel_size=1)

        def forward(self, x):
            x1 = self.inc(x)
            return self.outc(self.up(self.down(x1), x1))

    def dice(pred, target, epsilon=1e-6):
        inter = 2 * (pred * target).sum(dim=(-1, -2))
        sets = pred.sum(dim=(-1, -2)) + target.sum(dim=(-1, -2))
        sets = T.where(sets == 0, inter, sets)
        return 1 - ((inter + epsilon) / (sets + epsilon)).mean()

    def focal(logits, target, alpha=0.25, gamma=2):
        ce = F.binary_cross_entropy_with_logits(logits, target, reduction="none", pos_weight=T.tensor(1.5))
        p_t = T.exp(-ce)
        return (alpha * (1 - p_t) ** gamma * ce).mean()

    T.manual_seed(0)
    images, masks = T.rand(2, 3, 11, 13), T.randint(0, 3, (2, 11, 13))
    masks[0, 0] = 255
    for bilinear in (True, False):
        net = UNet(3, 3, bilinear)
        say(net)
        optimizer = T.optim.RMSprop(net.parameters(), lr=1e-3, weight_decay=1e-8, momentum=0.9)
        for _ in range(2):
            out = net(images)
            onehot = F.one_hot(masks.clamp(max=2), 3).permute(0, 3, 1, 2).float()
            ce = F.cross_entropy(out, masks, ignore_index=255, weight=T.tensor([1.0, 2.0, 0.5]))
            loss = ce + dice(F.softmax(out, dim=1), onehot) + focal(out, onehot)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_value_(net.parameters(), 0.05)
            optimizer.step()
            say(
                loss.item(),
                ce,
                out.argmax(1).bincount() if out.dim() == 1 else out.argmax(1).flatten().bincount(minlength=3),
            )
    matrix = T.zeros(3, 3, dtype=T.int64)
    keep = masks < 3
    matrix += T.bincount(3 * masks[keep] + out.argmax(1)[keep], minlength=9).reshape(3, 3)
    say(matrix, T.diag(matrix) / (matrix.sum(0) + matrix.sum(1) - matrix.diag()))
    try:
        nn.Conv2d(3, 4, 3, stride=2, padding="same")
    except ValueError as error:
        say(error)


@program
def shifted_windows(T, say):
    """Windows of a picture, rolled, with a mask and a table of relative positions; patches merged."""
    nn, F = T.nn, T.nn.functional

    def window_partition(x, size):
        B, H, W, C = x.shape
        x = x.view(B, H // size, size, W // size, size, C)
        return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, size, size, C)

    def window_reverse(windows, size, H, W):
        B = int(windows.shape[0] / (H * W / size / size))
        x = windows.view(B, H // size, W // size, size, size, -1)
        return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(B, H, W, -1)

    class DropPath(nn.Module):
        def __init__(self, p=None):
            super().__init__()
            self.p = p

        def forward(self, x):
            if not self.p or not self.training:
                return x
            shape = (x.shape[0],) + (1,) * (x.ndim - 1)
            return x.div(1 - self.p) * (1 - self.p + T.rand(shape, dtype=x.dtype, device=x.device)).floor_()

        def extra_repr(self):
            return f"p={self.p}"

    class Block(nn.Module):
        def __init__(self, dim, heads, window, shift):
            super().__init__()
            self.heads, self.window, self.shift, self.norm = heads, window, shift, nn.LayerNorm(dim, eps=1e-6)
            self.relative_position_bias_table = nn.Parameter(T.zeros((2 * window - 1) ** 2, heads))
            coords = T.stack(T.meshgrid([T.arange(window), T.arange(window)], indexing="ij"))
            flat = T.flatten(coords, 1)
            relative = (flat[:, :, None] - flat[:, None, :]).permute(1, 2, 0).contiguous()
            relative += window - 1
            relative[:, :, 0] *= 2 * window - 1
            self.register_buffer("relative_position_index", relative.sum(-1))
            self.qkv, self.proj, self.drop = (
                nn.Linear(dim, dim * 3),
                nn.Linear(dim, dim),
                DropPath(0.2 if shift else 0.0),
            )
            nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)
            mask = T.zeros((1, 4, 4, 1))
            slices = (slice(0, -window), slice(-window, -shift if shift else None), slice(-shift, None))
            for number, (h, w) in enumerate((h, w) for h in slices for w in slices):
                mask[:, h, w, :] = number
            mask = window_partition(mask, window).view(-1, window * window)
            mask = mask.unsqueeze(1) - mask.unsqueeze(2)
            self.attn_mask = mask.masked_fill(mask != 0, -100.0).masked_fill(mask == 0, 0.0) if shift else None

        def forward(self, x):
            H = W = int(x.shape[1] ** 0.5)
            B, L, C = x.shape
            shifted = T.roll(self.norm(x).view(B, H, W, C), shifts=(-self.shift, -self.shift), dims=(1, 2))
            w = window_partition(shifted, self.window).view(-1, self.window**2, C)
            N = self.window**2
            q, k, v = self.qkv(w).reshape(-1, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
            attn = (q * (C // self.heads) ** -0.5) @ k.transpose(-2, -1)
            bias = self.relative_position_bias_table[self.relative_position_index.view(-1)].view(N, N, -1)
            attn = attn + bias.permute(2, 0, 1).contiguous().unsqueeze(0)
            if self.attn_mask is not None:
                n = self.attn_mask.shape[0]
                attn = attn.view(-1, n, self.heads, N, N) + self.attn_mask.unsqueeze(1).unsqueeze(0)
            out = (F.softmax(attn.view(-1, self.heads, N, N), dim=-1) @ v).transpose(1, 2).reshape(-1, N, C)
            out = window_reverse(self.proj(out).view(-1, self.window, self.window, C), self.window, H, W)
            return x + self.drop(T.roll(out, (self.shift, self.shift), (1, 2)).view(B, L, C))

    T.manual_seed(0)
    blocks = nn.ModuleList([Block(8, 2, 2, shift) for shift in (0, 1)])
    say(blocks)
    x = T.randn(3, 16, 8)
    for block in blocks:
        x = block(x)
    say(blocks[1].attn_mask, blocks[1].relative_position_index)
    x = x.view(3, 4, 4, 8)
    merged = T.cat([x[:, i::2, j::2] for j in range(2) for i in range(2)], -1)
    merged.square().mean().backward()
    say(merged.shape, merged[0, 0, 0, ::4], blocks[0].relative_position_bias_table.grad)
    say([(name, tuple(p.shape)) for name, p in blocks.named_parameters()])


@program
def dilated_and_causal(T, say):
    """WaveNet: dilated causal convolutions with gates, mu-law, and generation with queues."""
    nn, F = T.nn, T.nn.functional

    class CausalConv1d(nn.Conv1d):
        def __init__(self, i, o, kernel_size, dilation=1, **kwargs):
            super().__init__(i, o, kernel_size, dilation=dilation, padding=(kernel_size - 1) * dilation, **kwargs)

        def forward(self, x):
            out = super().forward(x)
            return out[:, :, : -self.padding[0]] if self.padding[0] else out

    class Residual(nn.Module):
        def __init__(self, channels, dilation):
            super().__init__()
            self.filter, self.gate = (CausalConv1d(channels, channels, 2, dilation) for _ in range(2))
            self.res, self.skip = nn.Conv1d(channels, channels, 1), nn.Conv1d(channels, channels, 1)

        def forward(self, x):
            out = T.tanh(self.filter(x)) * T.sigmoid(self.gate(x))
            return self.res(out) + x, self.skip(out)

    class WaveNet(nn.Module):
        def __init__(self, classes=16, channels=6):
            super().__init__()
            self.embed = nn.Embedding(classes, channels)
            self.stack = nn.ModuleList(Residual(channels, 2**i) for i in range(3))
            self.end = nn.Sequential(
                nn.ReLU(), nn.Conv1d(channels, channels, 1), nn.ReLU(), nn.Conv1d(channels, classes, 1)
            )

        def forward(self, x):
            x, skips = self.embed(x).transpose(1, 2), []
            for layer in self.stack:
                x, skip = layer(x)
                skips.append(skip)
            return self.end(sum(skips))

    def encode(x, mu=15):
        return ((x.sign() * T.log1p(mu * x.abs()) / math.log1p(mu) + 1) / 2 * mu + 0.5).to(T.int64)

    def decode(q, mu=15):
        y = q.float() / mu * 2 - 1
        return y.sign() * (T.exp(y.abs() * math.log1p(mu)) - 1) / mu

    T.manual_seed(0)
    net = WaveNet()
    say(net)
    wave = encode(T.sin(T.linspace(0, 20, 64)) * 0.9)[None]
    say(wave, decode(wave)[0, :5])
    optimizer = T.optim.Adamax(net.parameters(), 0.01)
    for _ in range(3):
        loss = F.cross_entropy(net(wave[:, :-1]), wave[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        say(f"{loss:.4f}", f"{loss.exp():>10.2f}")
    net.eval()
    x = wave[:, :20].clone().requires_grad_(False)
    jac = T.autograd.functional.jacobian(lambda e: net.stack[2](e)[0].sum((0, 1)), T.randn(1, 6, 8))
    say((jac.abs().sum((1, 2)) > 0).int())
    with T.no_grad():
        for _ in range(5):
            logits = net(x)[:, :, -1]
            x = T.cat([x, logits.argmax(-1, keepdim=True)], dim=-1)
    say(x[0, -6:], decode(x[0, -6:]).numpy().round(3).tolist())
    for m in net.modules():
        if isinstance(m, nn.Conv1d) and m.kernel_size == (2,):
            nn.utils.parametrizations.weight_norm(m)
    say(sorted(net.state_dict())[-3:], net.stack[0].filter)
