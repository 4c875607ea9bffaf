"""How long a piece of work takes, in a measure that a slow or busy machine changes as much as the work."""

import ast
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def processor_time(work: Callable[[], object]) -> float:
    """The least of three runs, in seconds: a busy machine counts what its other processes do to the caches."""
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def unit() -> float:
    """The processor time of some work that is like the generator's: a tenth of a second on a machine of 2025."""
    text = (ROOT / "codegen" / "sources" / "hand_written.py").read_text(encoding="utf-8")
    return processor_time(lambda: [ast.dump(ast.parse(text)) for _ in range(10)])
