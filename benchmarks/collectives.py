"""Times the collectives of several processes against those of torch with gloo, in the same processes and in turn.

`python -m benchmarks.collectives` starts itself as two processes and writes benchmarks/collectives.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import mindtorch
import mindtorch.distributed as dist
from mindtorch._support.lazy import lazy
from mindtorch.distributed.world import default_group

torch: Any = lazy("torch")
peer_dist: Any = lazy("torch.distributed")

REPORT = Path(__file__).with_name("collectives.md")
SIZES = {"4 B": 4, "64 KiB": 1 << 16, "1 MiB": 1 << 20, "16 MiB": 1 << 24}
DTYPES = {"float32": 4, "bfloat16": 2, "int64": 8, "bool": 1}
ROUNDS = 25
_SECONDS = 0.004  # of a round of one library, about
_MOST_CALLS = 100


# -------------------- in each process --------------------


def cases(library: Any, dist: Any, dtype: str, count: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """The collectives of tensors with so many elements each."""
    rank, size = dist.get_rank(), dist.get_world_size()

    def made(times: int = 1) -> Any:
        return library.zeros(times * count, dtype=getattr(library, dtype))

    one, out, whole = made(), made(), made(size)
    parts = [made() for _ in range(size)]
    at_root = parts if rank == 0 else None
    yield "all_reduce", lambda: dist.all_reduce(one)
    yield "broadcast", lambda: dist.broadcast(one, 0)
    yield "reduce", lambda: dist.reduce(one, 0)
    yield "all_gather", lambda: dist.all_gather(parts, one)
    yield "all_gather_single", lambda: dist.all_gather_single(whole, one)
    yield "gather", lambda: dist.gather(one, at_root, 0)
    yield "scatter", lambda: dist.scatter(one, at_root, 0)
    yield "reduce_scatter", lambda: dist.reduce_scatter(one, parts)
    yield "reduce_scatter_single", lambda: dist.reduce_scatter_single(one, whole)
    wide = (made(size), made(size)) if count == 1 else (out, one)
    yield "all_to_all_single", lambda: dist.all_to_all_single(*wide)


MODELS = {"3 layers, 784-1024-10, batch 64": (784, 1024, 1024, 10), "6 layers of 256, batch 64": (256,) * 7}


def training_step(library: Any, spread: Any, sizes: tuple[int, ...]) -> Callable[[], object]:
    """A step of a model whose gradients are averaged over the processes while they are computed."""
    nn = library.nn
    layers = [each for pair in pairwise(sizes) for each in (nn.Linear(*pair), nn.ReLU())][:-1]
    model = spread(nn.Sequential(*layers))
    optimizer = library.optim.SGD(model.parameters(), lr=0.01)
    images, labels = library.rand(64, sizes[0]), library.randint(0, sizes[-1], (64,))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()

    return step


def batch(call: Callable[[], object], calls: int, barrier: Callable[[], object]) -> float:
    """Seconds of one call, of several."""
    barrier()
    start = perf_counter()
    for _ in range(calls):
        call()
    return (perf_counter() - start) / calls


def calls_for(call: Callable[[], object], barrier: Callable[[], object], agree: Callable[[int], int]) -> int:
    """How many calls make a round, the same in all processes."""
    call()
    taken = batch(call, 2, barrier)
    return agree(max(1, min(_MOST_CALLS, int(_SECONDS / taken))))


def in_turn(ours: Callable[[], object], theirs: Callable[[], object], agree: Callable[[int], int]) -> Any:
    """Seconds per call of both: the fastest of short rounds that take turns, as other processes disturb most."""
    counts = [calls_for(each, dist.barrier, agree) for each in (ours, theirs)]
    times: list[list[float]] = [[], []]
    for _ in range(ROUNDS):
        for place, each in enumerate((ours, theirs)):
            times[place].append(batch(each, counts[place], dist.barrier))
    return [min(each) for each in times]


def measure(only: str) -> list[tuple[str, str, str, float, float]]:
    """Rows of collective, dtype, size, our seconds and gloo's."""
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    # A store of its own: told an address, torch looks for the one that torchrun would have opened there.
    store = peer_dist.TCPStore("127.0.0.1", int(os.environ["GLOO_PORT"]), size, is_master=rank == 0)
    peer_dist.init_process_group("gloo", store=store, rank=rank, world_size=size)

    def agree(calls: int) -> int:
        given = [calls]
        dist.broadcast_object_list(given, 0)
        return given[0]

    rows = []
    for dtype, itemsize in DTYPES.items():
        for label, nbytes in SIZES.items():
            count = max(1, nbytes // itemsize)
            pairs = zip(cases(mindtorch, dist, dtype, count), cases(torch, peer_dist, dtype, count), strict=True)
            for (name, ours), (_, theirs) in pairs:
                if only in name:
                    rows.append((name, dtype, label, *in_turn(ours, theirs, agree)))
    for label, sizes in MODELS.items():
        if only in "step":
            ours = training_step(mindtorch, mindtorch.nn.parallel.DistributedDataParallel, sizes)
            theirs = training_step(torch, torch.nn.parallel.DistributedDataParallel, sizes)
            rows.append(("step", "", label, *in_turn(ours, theirs, agree)))
    rows.append(("gate", "", "", gate(), 0.0))
    peer_dist.destroy_process_group()
    dist.destroy_process_group()
    return rows if rank == 0 else []


def gate() -> float:
    """Seconds for comparing what the processes do."""
    communicator = default_group().communicator
    words = (12345, 4097, 16, 0)
    return min(batch(lambda: communicator.differences(words), 500, dist.barrier) for _ in range(ROUNDS))


# -------------------- the report --------------------


def text_of(rows: list[Any], ranks: int) -> str:
    """The tables."""
    table = {(name, dtype, label): (ours, theirs) for name, dtype, label, ours, theirs in rows}
    whole = [
        f"# Collectives of {ranks} processes against gloo",
        "",
        f"`make bench-distributed`, {ranks} processes on one machine with {os.cpu_count()} cores; the fastest "
        f"of {ROUNDS} short rounds that take turns. Microseconds here, microseconds of torch with gloo, and the second "
        "divided by the first. Only the quotients mean anything elsewhere.",
        "",
    ]
    for dtype in DTYPES:
        whole += [f"## {dtype}", "", "| | " + " | ".join(SIZES) + " |", "|---|" + "---|" * len(SIZES)]
        names = dict.fromkeys(name for name, kind, _ in table if kind == dtype)
        whole += [
            f"| {name} | " + " | ".join(_cell(*table[name, dtype, each]) for each in SIZES) + " |" for name in names
        ]
        whole.append("")
    whole += ["## Training steps with DistributedDataParallel", "", "| model | |", "|---|---|"]
    whole += [f"| {label} | {_cell(*table['step', '', label])} |" for label in MODELS]
    whole += [
        "",
        f"The comparison of what the processes do, before each collective: {1e6 * table['gate', '', ''][0]:.1f} µs.",
        "",
    ]
    whole += extrapolation(table, ranks)
    return "\n".join(whole) + "\n"


def _cell(ours: float, theirs: float) -> str:
    return f"{_micro(ours)} / {_micro(theirs)} = **{theirs / ours:.1f}**"


def _micro(seconds: float) -> str:
    return f"{1e6 * seconds:.1f}" if seconds < 1e-4 else f"{1e6 * seconds:,.0f}".replace(",", " ")


def extrapolation(table: Any, ranks: int) -> list[str]:
    """`all_reduce` of more processes by a model of two numbers that were measured."""
    smallest, largest = (table["all_reduce", "float32", each][0] for each in ("4 B", "16 MiB"))
    latency = smallest / (2 * math.log2(ranks))
    bandwidth = 2 * (ranks - 1) / ranks * SIZES["16 MiB"] / (largest - smallest)
    lines = [
        "## An extrapolation",
        "",
        "Not measured: what `all_reduce` of float32 would take if more processes were connected as these are, each "
        f"with a core of its own. A step takes {1e6 * latency:.2f} µs, and {bandwidth / 1e9:.1f} GB/s go through "
        "(from 4 B and 16 MiB above); P processes take 2 log₂ P steps, and each moves 2 (P - 1) / P of the data. A "
        "network has other numbers, which take the place of these in the same formula; contention is left out.",
        "",
        "| processes | " + " | ".join(SIZES) + " |",
        "|---|" + "---|" * len(SIZES),
    ]
    for count in (2, 4, 8, 16, 32, 64):
        steps, share = 2 * math.log2(count) * latency, 2 * (count - 1) / count / bandwidth
        lines.append(
            f"| {count} | " + " | ".join(f"{_micro(steps + share * each)} µs" for each in SIZES.values()) + " |"
        )
    return lines


def main() -> None:
    """Start the processes, or be one of them."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--ranks", type=int, default=2)
    options.add_argument("--only", default="", help="collectives whose names have this in them")
    options.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.worker:
        rows = measure(chosen.only)
        if rows:
            print(json.dumps(rows))
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mindtorch.distributed.run", "--nproc-per-node", str(chosen.ranks), "-m"]
    command += ["benchmarks.collectives", "--worker", "--only", chosen.only]
    environment = {**os.environ, "GLOO_PORT": str(port), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    printed = subprocess.run(
        command, env=environment, check=True, stdout=subprocess.PIPE, text=True, timeout=1800
    ).stdout
    rows = json.loads(printed.splitlines()[-1])
    text = (
        text_of(rows, chosen.ranks)
        if not chosen.only
        else "\n".join(
            f"{name} {dtype} {label}: {_cell(ours, theirs or ours)}" for name, dtype, label, ours, theirs in rows
        )
    )
    print(text)
    if not chosen.only and chosen.ranks == 2:
        REPORT.write_text(text)


if __name__ == "__main__":
    main()
