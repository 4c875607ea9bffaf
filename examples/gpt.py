"""Train a small transformer to write like a book, character by character, in about three minutes on one core.

    python examples/gpt.py --output examples/output

Reads `examples/data/moby_dick.txt`, draws the loss curve into the output folder, and writes some text of its own.
Nothing here is particular to mindtorch: with `import torch` in place of `import mindtorch as torch` the same program
runs on PyTorch, and from the same seed takes the same steps.
"""

from __future__ import annotations

import argparse
import math
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np

import mindtorch as torch

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402  (the backend has to be chosen first)

nn = torch.nn
F = torch.nn.functional

HERE = Path(__file__).parent
BLUE, ORANGE, GREY = "#2f6db5", "#e07b39", "#9aa5b1"


@dataclass(frozen=True)
class Sizes:
    """The sizes of a model: of its context in characters, its vectors, its attention heads and its blocks."""

    context: int = 64
    width: int = 96
    heads: int = 4
    blocks: int = 3
    dropout: float = 0.0


# -------------------- text --------------------


class Text:
    """A text as numbers, one per character, and back."""

    def __init__(self, text: str) -> None:
        self.characters = sorted(set(text))
        self.number_of = {character: number for number, character in enumerate(self.characters)}
        self.numbers = self.encode(text)

    def encode(self, text: str):
        return torch.tensor([self.number_of[character] for character in text], dtype=torch.int64)

    def decode(self, numbers) -> str:
        return "".join(self.characters[number] for number in numbers.tolist())


def batch_of(numbers, context: int, size: int):
    """Random pieces of a text, and for every character in them the one that follows it."""
    starts = torch.randint(len(numbers) - context, (size,))
    places = starts.unsqueeze(1) + torch.arange(context + 1)
    pieces = numbers[places]
    return pieces[:, :-1], pieces[:, 1:]


# -------------------- model --------------------


class Attention(nn.Module):
    """Lets every character look at those before it, with several heads."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.queries_keys_values = nn.Linear(sizes.width, 3 * sizes.width)
        self.output = nn.Linear(sizes.width, sizes.width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.queries_keys_values(x).view(batch, length, 3, self.heads, width // self.heads)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4).unbind(0)
        seen = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        return self.output(seen.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """Attention, then two layers for every character on its own."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.before_attention = nn.LayerNorm(sizes.width)
        self.attention = Attention(sizes)
        self.before_layers = nn.LayerNorm(sizes.width)
        self.layers = nn.Sequential(
            nn.Linear(sizes.width, 4 * sizes.width),
            nn.GELU(),
            nn.Linear(4 * sizes.width, sizes.width),
            nn.Dropout(sizes.dropout),
        )

    def forward(self, x):
        x = x + self.attention(self.before_attention(x))
        return x + self.layers(self.before_layers(x))


class CharacterModel(nn.Module):
    """Numbers of characters in, scores for the character that follows each of them out."""

    def __init__(self, characters: int, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.character_vectors = nn.Embedding(characters, sizes.width)
        self.place_vectors = nn.Embedding(sizes.context, sizes.width)
        self.blocks = nn.Sequential(*[Block(sizes) for _ in range(sizes.blocks)])
        self.last = nn.LayerNorm(sizes.width)
        self.scores = nn.Linear(sizes.width, characters, bias=False)
        self.apply(start_small)
        self.scores.weight = self.character_vectors.weight  # what a character means is also how it is recognised

    def forward(self, numbers):
        x = self.character_vectors(numbers) + self.place_vectors(torch.arange(numbers.shape[1]))
        return self.scores(self.last(self.blocks(x)))

    @torch.no_grad()
    def write(self, numbers, length: int, temperature: float = 0.8):
        """The numbers, continued by `length` characters that are drawn from what the model expects."""
        for _ in range(length):
            scores = self(numbers[-self.sizes.context :].unsqueeze(0))[0, -1]
            following = torch.multinomial(F.softmax(scores / temperature, dim=-1), 1)
            numbers = torch.cat([numbers, following])
        return numbers


def start_small(module) -> None:
    """Weights that are small at first, so that at the start all characters are about equally likely."""
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


# -------------------- training --------------------


def loss_of(model, inputs, targets):
    """How badly the model foretells the next characters, in nats per character."""
    scores = model(inputs)
    return F.cross_entropy(scores.flatten(0, 1), targets.flatten())


def train(model, numbers, steps: int, batch_size: int, learning_rate: float, quiet: bool = False) -> list[float]:
    """Train a model with AdamW; the learning rate rises for a tenth of the steps and then falls. Returns the losses."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=(0.9, 0.95), weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rise_and_fall(step, steps))
    losses: list[float] = []
    model.train()
    start = time.perf_counter()
    for step in range(1, steps + 1):
        loss = loss_of(model, *batch_of(numbers, model.sizes.context, batch_size))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if not quiet:
            show_progress(step, steps, losses, time.perf_counter() - start)
    return losses


def rise_and_fall(step: int, steps: int) -> float:
    """The share of the learning rate at a step."""
    rising = max(1, steps // 10)
    if step < rising:
        return (step + 1) / rising
    return 0.1 + 0.45 * (1 + math.cos(math.pi * (step - rising) / max(1, steps - rising)))


def show_progress(step: int, steps: int, losses: list[float], seconds: float, width: int = 32) -> None:
    """A bar that is drawn over and over on a terminal; elsewhere a line now and then."""
    recent = sum(losses[-20:]) / len(losses[-20:])
    rest = seconds / step * (steps - step)
    if sys.stdout.isatty():
        bar = ("█" * (width * step // steps)).ljust(width, "·")
        end = "\n" if step == steps else ""
        print(f"\r{bar} {step:5}/{steps}  loss {recent:.3f}  {rest:3.0f} s to go ", end=end, flush=True)
    elif step % max(1, steps // 10) == 0:
        print(f"step {step:5}/{steps}  loss {recent:.3f}  {rest:3.0f} s to go", flush=True)


@torch.no_grad()
def mean_loss(model, numbers, batches: int = 20, batch_size: int = 16) -> float:
    """The loss on a text, estimated from some of its pieces."""
    model.eval()
    losses = [loss_of(model, *batch_of(numbers, model.sizes.context, batch_size)).item() for _ in range(batches)]
    return sum(losses) / len(losses)


# -------------------- drawing --------------------


def draw(losses: list[float], test_loss: float, sample: str, path: Path, window: int = 25) -> None:
    """One picture: the loss of every step with its moving average, and the text that the model wrote."""
    figure, (axes, page) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained", width_ratios=[1, 1.1])
    steps = np.arange(1, len(losses) + 1)
    axes.plot(steps, losses, color=GREY, linewidth=0.7, alpha=0.7, label="training, each step")
    if len(losses) >= window:
        smooth = np.convolve(losses, np.ones(window) / window, mode="valid")
        axes.plot(steps[window - 1 :], smooth, color=BLUE, linewidth=1.8, label=f"training, mean of {window}")
    axes.axhline(test_loss, color=ORANGE, linestyle="--", linewidth=1.4, label=f"rest of the book: {test_loss:.2f}")
    axes.set(title="Loss (nats per character)", xlabel="step")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
    page.set_axis_off()
    page.set_title("What it writes", loc="left")
    page.text(0, 0.98, sample, va="top", family="monospace", fontsize=8, parse_math=False)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def as_page(text: str, width: int = 76, lines: int = 22) -> str:
    """A text with its lines broken again, cut to what fits onto a page."""
    broken = [line for paragraph in text.split("\n\n") for line in [*textwrap.wrap(paragraph, width), ""]]
    return "\n".join(broken[:lines]).rstrip()


# -------------------- command line --------------------


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--text", type=Path, default=HERE / "data" / "moby_dick.txt", help="what to learn from")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--learning-rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--length", type=int, default=600, help="how many characters to write")
    parser.add_argument("--prompt", default="The whale ")
    parser.add_argument("--output", type=Path, default=HERE / "output", help="folder for the results")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    arguments = parse_arguments(argv)
    arguments.output.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(arguments.seed)
    text = Text(arguments.text.read_text(encoding="utf-8"))
    split = len(text.numbers) * 9 // 10
    model = CharacterModel(len(text.characters), Sizes())
    parameters = sum(parameter.numel() for parameter in model.parameters())
    print(f"{len(text.numbers):,} characters, {len(text.characters)} different; {parameters:,} parameters")
    losses = train(model, text.numbers[:split], arguments.steps, arguments.batch_size, arguments.learning_rate)
    test_loss = mean_loss(model, text.numbers[split:])
    print(f"loss on the rest of the book: {test_loss:.3f}")

    sample = as_page(text.decode(model.write(text.encode(arguments.prompt), arguments.length)))
    print(f"\n{sample}\n")
    draw(losses, test_loss, sample, arguments.output / "gpt.png")
    print(f"drawn: {arguments.output / 'gpt.png'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
