"""Time every case in mindtorch and in torch in turn, and write the ratios to benchmarks/results.md.

The libraries alternate, each round in a process of its own, so that a machine that slows down slows both. Below 1 means
that mindtorch is faster. Absolute times say little on a shared machine; ratios of one run do.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results.md"
LIBRARIES = ("mindtorch", "torch")
GROUPS = {
    "op": "one small op",
    "tape": "long graphs of small ops, forward and backward",
    "kernel": "large arrays",
    "train": "a training step",
}


def measure(library: str, options: argparse.Namespace) -> dict[str, float]:
    """Seconds per call of each case, from a new process."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(options.threads))
    command = [sys.executable, "-m", "benchmarks.measure", library, "--only", options.only]
    command += ["--budget", str(options.budget)]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | threads, stdout=subprocess.PIPE, text=True, check=True)
    seconds: dict[str, float] = json.loads(done.stdout)
    return seconds


def medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    """The median over the rounds, case by case."""
    return {name: statistics.median(times[name] for times in rounds) for name in rounds[0]}


def table(ours: dict[str, float], theirs: dict[str, float]) -> list[str]:
    """A line per case and one per group, in Markdown."""
    lines = ["| case | mindtorch, µs | torch, µs | ratio |", "|---|---:|---:|---:|"]
    for name in ours:
        ratio = ours[name] / theirs[name]
        lines.append(f"| {name} | {ours[name] * 1e6:,.1f} | {theirs[name] * 1e6:,.1f} | {ratio:.2f} |")
    lines += ["", "| group | cases | ratio (geometric mean) |", "|---|---:|---:|"]
    for group, meaning in GROUPS.items():
        ratios = [ours[name] / theirs[name] for name in ours if name.startswith(group + "/")]
        if ratios:
            lines.append(f"| {group}: {meaning} | {len(ratios)} | {statistics.geometric_mean(ratios):.2f} |")
    return lines


def versions() -> str:
    """What the figures were taken with."""
    libraries = ", ".join(f"{name} {version(name)}" for name in (*LIBRARIES, "numpy"))
    return f"{libraries}; Python {platform.python_version()} on {platform.system()} {platform.machine()}"


def heading(options: argparse.Namespace) -> list[str]:
    """What was compared, and how."""
    return [
        "# mindtorch and torch, side by side",
        "",
        f"{versions()}, "
        f"{options.threads} thread(s), median of {options.rounds} rounds. Written by `make bench`. "
        "Below 1 means that mindtorch is faster.",
        "",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only cases whose name matches; the results file is left alone")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget", type=float, default=0.3, help="seconds per case and round")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    rounds: dict[str, list[dict[str, float]]] = {library: [] for library in LIBRARIES}
    for number in range(options.rounds):
        for library in LIBRARIES:
            print(f"round {number + 1} of {options.rounds}: {library}", file=sys.stderr, flush=True)
            rounds[library].append(measure(library, options))
    report = "\n".join(heading(options) + table(medians(rounds["mindtorch"]), medians(rounds["torch"]))) + "\n"
    print(report)
    if not options.only:
        RESULTS.write_text(report, encoding="utf-8")


if __name__ == "__main__":
    main()
