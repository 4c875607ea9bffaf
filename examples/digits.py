"""Train a small convolutional network on scikit-learn's handwritten digits, in about half a minute on one core.

    python examples/digits.py --output examples/output
    python examples/digits.py --device npu

Draws the training curves and some predictions into the output folder, saves the trained model, loads it again and
checks that the loaded model is as good. Nothing here is particular to mindtorch: with `import torch` in place of
`import mindtorch as torch` the same program runs on PyTorch, and from the same seed takes the same steps.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from sklearn.datasets import load_digits

import mindtorch as torch

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402  (the backend has to be chosen first)

BLUE, ORANGE, GREY = "#2f6db5", "#e07b39", "#9aa5b1"


class DigitNet(torch.nn.Module):
    """Two convolutions and two linear layers: 8x8 pixels in, ten scores out.

    GELU is smooth: at the kink of ReLU, runs that round the last digit differently go different ways.
    """

    def __init__(self, channels: int = 32, hidden: int = 128, dropout: float = 0.3) -> None:
        super().__init__()
        nn = torch.nn
        self.features = nn.Sequential(
            nn.Conv2d(1, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.GELU(),
            nn.Conv2d(channels, 2 * channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(2 * channels),
            nn.GELU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(
            nn.Flatten(),
            nn.Linear(2 * channels * 4 * 4, hidden),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, 10),
        )

    def forward(self, images):
        return self.classifier(self.features(images))


@dataclass
class History:
    """What happened in training: the loss of every step, the accuracies after every epoch."""

    losses: list[float] = field(default_factory=list)
    train_accuracies: list[float] = field(default_factory=list)
    test_accuracies: list[float] = field(default_factory=list)

    def recent_loss(self, steps: int = 10) -> float:
        return sum(self.losses[-steps:]) / len(self.losses[-steps:])


# -------------------- data --------------------


def load_data(test_share: float = 0.2):
    """The digits as two datasets, for training and for testing, shuffled by the global generator."""
    digits: Any = load_digits()
    images = torch.from_numpy((digits.images / 16.0).astype(np.float32)).unsqueeze(1)
    labels = torch.from_numpy(digits.target.astype(np.int64))
    everything = torch.utils.data.TensorDataset(images, labels)
    return torch.utils.data.random_split(everything, [1 - test_share, test_share])


def loaders_of(train_set, test_set, batch_size: int):
    """The batches for training, in a new order each epoch, and those for testing."""
    train = torch.utils.data.DataLoader(train_set, batch_size=batch_size, shuffle=True)
    test = torch.utils.data.DataLoader(test_set, batch_size=256)
    return train, test


# -------------------- training --------------------


def train(model, train_loader, test_loader, epochs: int, learning_rate: float, quiet: bool = False) -> History:
    """Train a model with SGD, momentum and a learning rate that rises once and falls once."""
    history = History()
    loss_function = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=learning_rate, epochs=epochs, steps_per_epoch=len(train_loader)
    )
    for epoch in range(epochs):
        title = f"epoch {epoch + 1:2}/{epochs}"
        batches = train_loader if quiet else progress(train_loader, title, history)
        history.train_accuracies.append(train_epoch(model, batches, loss_function, optimizer, scheduler, history))
        history.test_accuracies.append(accuracy(model, test_loader))
        if not quiet:
            print(f"{title}  loss {history.recent_loss():.4f}  test accuracy {history.test_accuracies[-1]:.4f}")
    return history


def train_epoch(model, batches: Iterable, loss_function, optimizer, scheduler, history: History) -> float:
    """Go through the training data once; returns the share of right answers on the way."""
    model.train()
    right = total = 0
    for images, labels in on_device_of(model, batches):
        scores = model(images)
        loss = loss_function(scores, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        history.losses.append(loss.item())
        right += (scores.argmax(1) == labels).sum().item()
        total += len(labels)
    return right / total


def on_device_of(model, batches: Iterable) -> Iterator:
    """Batches where the model is."""
    device = next(model.parameters()).device
    for images, labels in batches:
        yield images.to(device), labels.to(device)


def accuracy(model, loader) -> float:
    """The share of right answers of a model in evaluation mode."""
    model.eval()
    right = total = 0
    with torch.no_grad():
        for images, labels in on_device_of(model, loader):
            right += (model(images).argmax(1) == labels).sum().item()
            total += len(labels)
    return right / total


def progress(loader, title: str, history: History, width: int = 24) -> Iterator:
    """The batches of a loader, with a bar on the terminal that shows how many have passed and the latest loss."""
    if not sys.stdout.isatty():
        yield from loader
        return
    for number, batch in enumerate(loader, 1):
        yield batch
        bar = ("█" * (width * number // len(loader))).ljust(width, "·")
        print(f"\r{title}  {bar}  loss {history.recent_loss():.4f}", end="", flush=True)
    print("\r\033[K", end="")  # the summary of the epoch takes the line


# -------------------- saving --------------------


def save_and_reload(model, path: Path):
    """Save the parameters and buffers of a model; returns a new model that was given them from the file."""
    torch.save(model.state_dict(), path)
    loaded = DigitNet().to(next(model.parameters()).device)
    loaded.load_state_dict(torch.load(path))
    return loaded


# -------------------- drawing --------------------


def draw(history: History, model, test_set, path: Path) -> None:
    """One picture: the curves of training, and test images with what the model says about them."""
    figure = plt.figure(figsize=(12, 4.2), layout="constrained")
    parts: Any = figure.subfigures(1, 2, width_ratios=[1.35, 1])
    curves, pictures = parts
    loss_axes, accuracy_axes = curves.subplots(1, 2)
    draw_losses(loss_axes, history.losses)
    draw_accuracies(accuracy_axes, history)
    draw_predictions(pictures, model, test_set)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def draw_losses(axes, losses: list[float], window: int = 15) -> None:
    """The loss of every step and its moving average."""
    steps = np.arange(1, len(losses) + 1)
    axes.plot(steps, losses, color=GREY, linewidth=0.7, alpha=0.7)
    if len(losses) >= window:
        smooth = np.convolve(losses, np.ones(window) / window, mode="valid")
        axes.plot(steps[window - 1 :], smooth, color=BLUE, linewidth=1.8)
    axes.set(title="Training loss", xlabel="step", yscale="log")
    tidy(axes)


def draw_accuracies(axes, history: History) -> None:
    """The accuracies after every epoch."""
    epochs = np.arange(1, len(history.test_accuracies) + 1)
    axes.plot(epochs, history.train_accuracies, color=GREY, marker="o", markersize=3, label="training")
    axes.plot(epochs, history.test_accuracies, color=ORANGE, marker="o", markersize=3, label="test")
    axes.set(title=f"Accuracy (test: {history.test_accuracies[-1]:.1%})", xlabel="epoch")
    axes.set_ylim(min(0.9, *history.test_accuracies) - 0.02, 1.005)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(frameon=False, loc="lower right")
    tidy(axes)


def draw_predictions(figure, model, test_set, rows: int = 4, columns: int = 6) -> None:
    """Test images with the model's answers: first the wrong ones, with the right answer, then right ones."""
    images, labels = test_set[list(range(len(test_set)))]
    with torch.no_grad():
        answers = model(images.to(next(model.parameters()).device)).argmax(1).cpu()
    right = (answers == labels).tolist()
    order = sorted(range(len(right)), key=right.__getitem__)
    wrong = right.count(False)
    figure.suptitle(f"Test images: {wrong} of {len(test_set)} wrong", fontsize=12)
    for axes, index in zip(figure.subplots(rows, columns).flat, order):
        answer, label = answers[index].item(), labels[index].item()
        axes.imshow(images[index, 0].numpy(), cmap="gray_r")
        axes.set_axis_off()
        title = f"{answer}" if answer == label else f"{answer}, not {label}"
        axes.set_title(title, fontsize=8, color=BLUE if answer == label else ORANGE, pad=2)


def tidy(axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)


# -------------------- command line --------------------


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu", help="where to train: cpu, npu")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output", help="folder for the results")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    arguments = parse_arguments(argv)
    arguments.output.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(arguments.seed)
    train_set, test_set = load_data()
    train_loader, test_loader = loaders_of(train_set, test_set, arguments.batch_size)
    model = DigitNet().to(arguments.device)
    print(model)
    start = time.perf_counter()
    history = train(model, train_loader, test_loader, arguments.epochs, arguments.learning_rate)
    print(f"trained in {time.perf_counter() - start:.1f} s")

    loaded = save_and_reload(model, arguments.output / "digits.pt")
    loaded_accuracy = accuracy(loaded, test_loader)
    print(f"test accuracy {history.test_accuracies[-1]:.4f}, of the reloaded model {loaded_accuracy:.4f}")
    draw(history, loaded, test_set, arguments.output / "digits.png")
    print(f"drawn: {arguments.output / 'digits.png'}")
    return 0 if loaded_accuracy == history.test_accuracies[-1] else 1


if __name__ == "__main__":
    sys.exit(main())
