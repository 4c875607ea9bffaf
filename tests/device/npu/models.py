"""Small models and their training, to be run on the CPU and on a device."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import mindtorch as torch

nn = torch.nn
F = torch.nn.functional


class Pictures(nn.Module):
    """The digits example, smaller, and without dropout, whose masks are another device's own."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.GELU(),
            nn.Conv2d(4, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.GELU(), nn.MaxPool2d(2),
        )  # fmt: skip
        self.scores = nn.Sequential(nn.Flatten(), nn.Linear(8 * 4 * 4, 16), nn.GELU(), nn.Linear(16, 10))

    def forward(self, images):
        return self.scores(self.features(images))


class Block(nn.Module):
    """Attention, then two layers for every place."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.parts, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.layers = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.parts(self.before(x)).view(batch, length, 3, self.heads, width // self.heads)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4).unbind(0)
        seen = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        x = x + self.output(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.layers(self.after(x))


class Text(nn.Module):
    """A GPT of one block and a dozen characters."""

    def __init__(self, characters: int = 12, context: int = 8, width: int = 16) -> None:
        super().__init__()
        self.characters, self.places = nn.Embedding(characters, width), nn.Embedding(context, width)
        self.block, self.last = Block(width, 2), nn.LayerNorm(width)
        self.scores = nn.Linear(width, characters, bias=False)

    def forward(self, numbers):
        places = torch.arange(numbers.shape[1], device=numbers.device)
        return self.scores(self.last(self.block(self.characters(numbers) + self.places(places)))).flatten(0, 1)


def pictures(step: int) -> tuple[np.ndarray, np.ndarray]:
    """Bright spots, to be told by their places."""
    source = np.random.default_rng(step)
    labels = source.integers(0, 10, 16)
    images = source.normal(0, 0.3, (16, 1, 8, 8)).astype("f4")
    images[np.arange(16), 0, labels // 2, labels % 8] += 2
    return images, labels


def texts(step: int) -> tuple[np.ndarray, np.ndarray]:
    """Counting up or down, from anywhere."""
    source = np.random.default_rng(step)
    start, pace = source.integers(0, 12, (8, 1)), source.choice([1, 11, 5], (8, 1))
    numbers = (start + pace * np.arange(9)) % 12
    return numbers[:, :-1].copy(), numbers[:, 1:].reshape(-1).copy()


def momentum(parameters):
    return torch.optim.SGD(parameters, lr=0.05, momentum=0.9, weight_decay=1e-4)


def adam(parameters):
    return torch.optim.AdamW(parameters, lr=3e-3, weight_decay=0.05)


MODELS: dict[str, tuple[Callable, Callable, Callable]] = {
    "pictures": (Pictures, pictures, momentum),
    "text": (Text, texts, adam),
}


class Training:
    """Steps of a model, from the same values on all devices."""

    def __init__(self, name: str, device: str) -> None:
        made, self.batch, optimizer = MODELS[name]
        self.device = device
        torch.manual_seed(1)
        with torch.device("cpu"):
            self.model = made()
        self.model.to(device)
        self.optimizer = optimizer(self.model.parameters())

    def step(self, number: int) -> float:
        inputs, labels = (torch.from_numpy(each).to(self.device) for each in self.batch(number))
        loss = F.cross_entropy(self.model(inputs), labels)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()
