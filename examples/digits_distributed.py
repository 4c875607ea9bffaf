"""Train the network of digits.py in several processes, each with its part of every batch.

    python -m mindtorch.distributed.run --nproc-per-node 2 examples/digits_distributed.py

The process of rank 0 first trains for an epoch alone, for comparison, and shows how training goes on. Nothing here is
particular to mindtorch: with `import torch` in place of `import mindtorch as torch` the same program runs on PyTorch.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator

from digits import DigitNet, accuracy, load_data

import mindtorch as torch
import mindtorch.distributed as dist
from mindtorch.nn.parallel import DistributedDataParallel
from mindtorch.utils.data import DataLoader, DistributedSampler


def train_epoch(model, loader, optimizer, title: str, shows_bar: bool) -> float:
    """Go through the data once; the seconds that it took."""
    model.train()
    start = time.perf_counter()
    for images, labels in progress(loader, title) if shows_bar else loader:
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return time.perf_counter() - start


def progress(loader, title: str, width: int = 24) -> Iterator:
    """The batches, with a bar that shows how many have passed."""
    for number, batch in enumerate(loader, 1):
        yield batch
        bar = ("█" * (width * number // len(loader))).ljust(width, "·")
        print(f"\r{title}  {bar}", end="", flush=True)
    print("\r\033[K", end="", flush=True)


def optimizer_of(model, learning_rate: float):
    return torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9, weight_decay=1e-4)


def seconds_alone(train_set, arguments) -> float:
    """How long an epoch takes the process of rank 0 alone, with whole batches."""
    model = DigitNet()
    loader = DataLoader(train_set, batch_size=arguments.batch_size, shuffle=True)
    return train_epoch(model, loader, optimizer_of(model, arguments.learning_rate), "one process", arguments.bar)


def train_together(train_set, test_loader, arguments) -> float:
    """Train in all processes; the shortest time of an epoch."""
    rank, size = dist.get_rank(), dist.get_world_size()
    model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(DigitNet())
    parallel = DistributedDataParallel(model)
    optimizer = optimizer_of(parallel, arguments.learning_rate)
    sampler = DistributedSampler(train_set, shuffle=True, seed=arguments.seed)
    loader = DataLoader(train_set, batch_size=arguments.batch_size // size, sampler=sampler)
    times = []
    for epoch in range(arguments.epochs):
        sampler.set_epoch(epoch)
        title = f"epoch {epoch + 1:2}/{arguments.epochs}"
        times.append(train_epoch(parallel, loader, optimizer, title, arguments.bar and rank == 0))
        if rank == 0:
            print(f"{title}  {times[-1]:.2f} s  test accuracy {accuracy(model, test_loader):.4f}", flush=True)
        dist.barrier()
    return min(times)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=128, help="of all processes together")
    parser.add_argument("--learning-rate", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bar", action="store_true", help="show a progress bar")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    dist.init_process_group("gloo")
    torch.manual_seed(arguments.seed)  # the same data, and the same model, in all processes
    train_set, test_set = load_data()
    test_loader = DataLoader(test_set, batch_size=256)
    alone = seconds_alone(train_set, arguments) if dist.get_rank() == 0 else 0.0
    dist.barrier()
    together = train_together(train_set, test_loader, arguments)
    if dist.get_rank() == 0:
        size = dist.get_world_size()
        print(f"an epoch took one process {alone:.2f} s, {size} processes {together:.2f} s: ", end="")
        print(f"{alone / together:.2f} times as fast, on {os.cpu_count()} cores", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
