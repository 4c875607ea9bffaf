"""Programs such as people write with the library, as functions of the library. Each returns its key figures.

Random numbers come from the library after `manual_seed`: the figures are the same in torch and here.
"""

import copy
import io
import math
from collections.abc import Callable
from typing import Any

PROGRAMS: dict[str, Callable[[Any], list]] = {}


def program(function):
    """Register a program under its name."""
    PROGRAMS[function.__name__] = function
    return function


@program
def polynomial_fit(torch):
    """A sine by a cubic, with an optimizer."""
    torch.manual_seed(1)
    x = torch.linspace(-math.pi, math.pi, 200)
    powers = x.unsqueeze(-1).pow(torch.tensor([1, 2, 3]))
    model = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Flatten(0, 1))
    loss_of = torch.nn.MSELoss(reduction="sum")
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    for _ in range(60):
        loss = loss_of(model(powers), x.sin())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [loss.item(), *model[0].weight.flatten().tolist()]


@program
def custom_function(torch):
    """The same by hand, with a Legendre polynomial as a custom function."""

    class Legendre(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return 0.5 * (5 * input**3 - 3 * input)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            return grad_output * 1.5 * (5 * input**2 - 1)

    x = torch.linspace(-math.pi, math.pi, 200)
    a, b, c, d = (torch.full((), value, requires_grad=True) for value in (0.0, -1.0, 0.0, 0.3))
    for _ in range(40):
        loss = (a + b * Legendre.apply(c + d * x) - x.sin()).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            for parameter in (a, b, c, d):
                parameter -= 5e-5 * parameter.grad
                parameter.grad = None
    return [loss.item(), a.item(), b.item(), c.item(), d.item()]


@program
def residual_classifier(torch):
    """A small residual network with batch normalization, trained and evaluated."""
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self, channels, grown, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(channels, grown, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(grown)
            self.conv2 = nn.Conv2d(grown, grown, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(grown)
            self.shortcut = nn.Sequential(nn.Conv2d(channels, grown, 1, stride, bias=False), nn.BatchNorm2d(grown))

        def forward(self, x):
            out = F.relu(self.bn1(self.conv1(x)), inplace=True)
            return F.relu(self.bn2(self.conv2(out)) + self.shortcut(x))

    torch.manual_seed(0)
    model = nn.Sequential(Block(3, 4, 1), Block(4, 8, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3))
    images, labels = torch.randn(8, 3, 8, 8), torch.randint(3, (8,))
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, nesterov=True, weight_decay=1e-4)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        best = model(images).softmax(1).max(1).values
    return [*losses, best.mean().item(), model[0].bn1.running_mean.sum().item()]


@program
def character_network(torch):
    """A recurrent network by hand learns a line of text."""
    nn, text = torch.nn, "hello tensors"
    places = {letter: place for place, letter in enumerate(sorted(set(text)))}
    letters = torch.eye(len(places))[torch.tensor([places[letter] for letter in text])]
    torch.manual_seed(0)
    to_hidden, to_letter = nn.Linear(len(places) + 16, 16), nn.Linear(16, len(places))
    parameters = [*to_hidden.parameters(), *to_letter.parameters()]
    optimizer = torch.optim.Adagrad(parameters, lr=0.1)
    losses = []
    for _ in range(5):
        hidden, loss = torch.zeros(16), 0
        for letter, following in zip(letters[:-1], letters[1:]):
            hidden = torch.tanh(to_hidden(torch.cat((letter, hidden))))
            loss = loss - to_letter(hidden).log_softmax(-1) @ following
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(parameters, 5.0)
        optimizer.step()
        losses.append(loss.item())
    return [*losses, norm.item()]


@program
def small_transformer(torch):
    """A causal transformer learns a sequence, then continues it with drawn tokens."""
    nn, F = torch.nn, torch.nn.functional
    length, width, vocabulary = 8, 16, 11

    class Attention(nn.Module):
        def __init__(self, heads):
            super().__init__()
            self.heads = heads
            self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width)
            self.register_buffer("seen", torch.tril(torch.ones(length, length)))

        def forward(self, x):
            batch, time, _ = x.shape
            q, k, v = (part.view(batch, time, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
            scores = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
            scores = scores.masked_fill(self.seen[:time, :time] == 0, float("-inf"))
            return self.out((F.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(batch, time, width))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = Attention(4)
            grow, shrink = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.mix = nn.Sequential(grow, nn.GELU(), shrink, nn.Dropout(0.1))
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

        def forward(self, x):
            x = x + self.attention(self.norm1(x))
            return x + self.mix(self.norm2(x))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
            self.blocks = nn.Sequential(Block(), Block(), nn.LayerNorm(width))
            self.head = nn.Linear(width, vocabulary, bias=False)
            self.head.weight = self.token.weight

        def forward(self, tokens):
            return self.head(self.blocks(self.token(tokens) + self.position(torch.arange(tokens.shape[1]))))

    torch.manual_seed(0)
    model, data = Model(), torch.arange(100) * 7 % vocabulary
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(5):
        starts = torch.randint(len(data) - length, (4,))
        batch = torch.stack([data[start : start + length + 1] for start in starts])
        loss = F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    tokens = torch.zeros((1, 1), dtype=torch.long)
    with torch.no_grad():
        for _ in range(6):
            chances = model(tokens[:, -length:])[:, -1].softmax(-1)
            tokens = torch.cat((tokens, torch.multinomial(chances, 1)), dim=1)
    return [*losses, *tokens[0].tolist()]


@program
def variational_autoencoder(torch):
    """An encoder and a decoder with a random code between them."""
    nn, F = torch.nn, torch.nn.functional
    torch.manual_seed(0)
    encode, decode = nn.Linear(20, 6), nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 20), nn.Sigmoid())
    optimizer = torch.optim.Adam([*encode.parameters(), *decode.parameters()], lr=1e-2)
    x = torch.rand(16, 20).bernoulli()
    losses = []
    for _ in range(5):
        mean, logvar = encode(x).chunk(2, 1)
        code = mean + torch.randn_like(mean) * torch.exp(0.5 * logvar)
        divergence = -0.5 * torch.sum(1 + logvar - mean.pow(2) - logvar.exp())
        loss = F.binary_cross_entropy(decode(code), x, reduction="sum") + divergence
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item() / len(x))
    return losses


@program
def gradient_penalty(torch):
    """A critic whose gradient is part of its loss."""
    nn = torch.nn
    torch.manual_seed(0)
    critic = nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.2), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
    real, fake, share = torch.randn(5, 3), torch.randn(5, 3) + 1, torch.rand(5, 1)
    between = (share * real + (1 - share) * fake).requires_grad_()
    (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    penalty = ((slope.norm(2, dim=1) - 1) ** 2).mean()
    (critic(fake).mean() - critic(real).mean() + 10 * penalty).backward()
    return [penalty.item(), *(parameter.grad.norm().item() for parameter in critic.parameters())]


@program
def meta_learning(torch):
    """A start from which one step fits a sine; the step is differentiated through."""
    F = torch.nn.functional
    torch.manual_seed(0)
    start = [torch.randn(8, 1), torch.zeros(8), torch.randn(1, 8), torch.zeros(1)]
    start = [tensor.mul(0.5).requires_grad_() for tensor in start]
    optimizer = torch.optim.Adam(start, 1e-2)

    def loss_of(weights, x, y):
        return F.mse_loss(F.linear(torch.tanh(F.linear(x, weights[0], weights[1])), weights[2], weights[3]), y)

    losses = []
    for _ in range(3):
        total = 0.0
        for _ in range(2):
            height, phase = torch.rand(1) * 4, torch.rand(1) * math.pi
            x = torch.rand(10, 1) * 10 - 5
            y = height * torch.sin(x + phase)
            slopes = torch.autograd.grad(loss_of(start, x[:5], y[:5]), start, create_graph=True)
            stepped = [weight - 0.01 * slope for weight, slope in zip(start, slopes)]
            total = total + loss_of(stepped, x[5:], y[5:])
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        losses.append(total.item())
    return losses


@program
def newton_steps(torch):
    """Rosenbrock's valley by Newton's method, the second derivatives row by row."""
    x = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)

    def valley(point):
        return (1 - point[0]) ** 2 + 100 * (point[1] - point[0] ** 2) ** 2

    heights = []
    for _ in range(5):
        (slope,) = torch.autograd.grad(valley(x), x, create_graph=True)
        (a, b), (c, d) = (torch.autograd.grad(part, x, retain_graph=True)[0].tolist() for part in slope)
        inverse = torch.tensor([[d, -b], [-c, a]], dtype=torch.float64) / (a * d - b * c)
        with torch.no_grad():
            x -= inverse @ slope
        heights.append(valley(x).item())
    full = torch.autograd.functional.hessian(valley, x.detach())
    return [*heights, *full.flatten().tolist()]


@program
def clusters_and_components(torch):
    """k-means by scattering sums, then the main direction by power iteration."""
    torch.manual_seed(0)
    points = torch.cat([torch.randn(20, 2) + centre for centre in torch.tensor([[0.0, 0.0], [5.0, 5.0], [0.0, 5.0]])])
    centres = points[torch.randperm(60)[:3]]
    for _ in range(5):
        label = ((points[:, None] - centres[None]) ** 2).sum(-1).argmin(1)
        counts = torch.bincount(label, minlength=3).clamp_min(1)
        centres = torch.zeros_like(centres).index_add_(0, label, points) / counts[:, None]
    centred = points - points.mean(dim=0, keepdim=True)
    spread = centred.T @ centred / (len(points) - 1)
    direction = torch.ones(2)
    for _ in range(30):
        direction = torch.nn.functional.normalize(spread @ direction, dim=0)
    return [*centres.flatten().tolist(), *counts.tolist(), (direction @ spread @ direction).item()]


@program
def game_of_life(torch):
    """A glider on a board without edges."""
    board = torch.zeros(8, 8, dtype=torch.int64)
    board[torch.tensor([1, 2, 3, 3, 3]), torch.tensor([2, 3, 1, 2, 3])] = 1
    shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    for _ in range(6):
        around = sum(torch.roll(board, shift, dims=(0, 1)) for shift in shifts)
        board = ((around == 3) | ((board == 1) & (around == 2))).to(torch.int64)
    return board.nonzero().flatten().tolist()


@program
def bandit(torch):
    """Policy gradients on three arms."""
    torch.manual_seed(0)
    chances, logits = torch.tensor([0.1, 0.5, 0.9]), torch.zeros(3, requires_grad=True)
    optimizer, baseline = torch.optim.SGD([logits], lr=0.5), 0.0
    for _ in range(40):
        policy = torch.softmax(logits, -1)
        arm = torch.multinomial(policy, 1).item()
        reward = torch.bernoulli(chances[arm]).item()
        loss = -torch.log(policy[arm]) * (reward - baseline)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        baseline = 0.9 * baseline + 0.1 * reward
    return [*policy.tolist(), baseline]


@program
def checkpoint(torch):
    """Training that is saved, loaded into a fresh model, and goes on as if nothing had happened."""
    nn, data = torch.nn, torch.utils.data
    torch.manual_seed(0)
    inputs = torch.randn(20, 4)
    loader = data.DataLoader(data.TensorDataset(inputs, inputs.sum(1, keepdim=True)), batch_size=8, shuffle=True)

    def fresh():
        model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 1))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        return model, optimizer, torch.optim.lr_scheduler.LinearLR(optimizer, 0.5, total_iters=3)

    def train(model, optimizer, schedule):
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.smooth_l1_loss(model(x), y)
            loss.backward()
            optimizer.step()
        schedule.step()
        return loss.item()

    parts = fresh()
    losses = [train(*parts)]
    file = io.BytesIO()
    torch.save([part.state_dict() for part in parts], file)
    file.seek(0)
    resumed = fresh()
    for part, state in zip(resumed, torch.load(file, weights_only=True)):
        part.load_state_dict(state)
    averaged = copy.deepcopy(resumed[0])
    losses += [train(*resumed), train(*resumed)]
    with torch.no_grad():
        for mean, value in zip(averaged.parameters(), resumed[0].parameters()):
            mean.mul_(0.9).add_(value, alpha=0.1)
    return [*losses, *resumed[2].get_last_lr(), averaged[0].weight.sum().item()]


@program
def forward_mode(torch):
    """A directional derivative carried along, and the same from the Jacobian."""
    dual = torch.autograd.forward_ad
    x, direction = torch.tensor([1.0, 2.0]), torch.tensor([1.0, -0.5])

    def function(point):
        return torch.stack([(point.sin() * point).sum(), point.prod()])

    with dual.dual_level():
        carried = dual.unpack_dual(function(dual.make_dual(x, direction))).tangent
    jacobian = torch.autograd.functional.jacobian(function, x)
    return [*carried.tolist(), *(jacobian @ direction).tolist()]
