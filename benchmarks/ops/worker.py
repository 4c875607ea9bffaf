"""A process with one thread that has a library or two, and answers what it is asked: make this ready, time that."""

import gc
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from benchmarks.ops.recipes import Recipe
from benchmarks.ops.side import REFUSED, NothingToTime, Shapes, Side

ROOT = Path(__file__).resolve().parents[2]
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
SAME_HASHES = {"PYTHONHASHSEED": "0"}  # dictionaries of two processes collide alike
# The checkout's mindtorch, whatever this one's benchmarks are.
START = """
import sys
checkout, root, *libraries = sys.argv[1:]
sys.path.insert(0, checkout)
import mindtorch
assert mindtorch.__file__.startswith(checkout), mindtorch.__file__
sys.path[0] = root
from benchmarks.ops.worker import serve
serve(libraries)
"""


class Refused(Exception):
    """A library does not take a case, or there is no such case."""


class Worker:
    """The process, from the outside. One that dies is started again when it is asked next."""

    def __init__(self, checkout: Path, libraries: Sequence[str], pinned: bool = False):
        self.pinned = pinned
        self.command = [sys.executable, "-W", "ignore", "-c", START, str(checkout), str(ROOT), *libraries]
        self.process: subprocess.Popen[bytes] | None = None

    def ask(self, *question: Any) -> Any:
        process = self._running()
        assert process.stdin and process.stdout
        try:
            _send(process.stdin, question)
            refused, answer = pickle.load(process.stdout)
        except (EOFError, BrokenPipeError):
            self.close()
            raise Refused("the process died") from None
        if refused:
            raise Refused(answer)
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self.process is None:
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(
                self.command, cwd=ROOT, env=os.environ | ONE_THREAD | SAME_HASHES, stdin=pipe, stdout=pipe
            )
            if self.pinned and sys.platform == "linux":
                os.sched_setaffinity(self.process.pid, {max(os.sched_getaffinity(0))})
        return self.process

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


class Asked:
    """A library in a worker: what `Side` does, from afar."""

    def __init__(self, worker: Worker, library: str):
        self.worker, self.library = worker, library

    def prepare(self, recipe: Recipe, direction: str) -> Shapes:
        shapes: Shapes = self.worker.ask(self.library, "prepare", recipe, direction)
        return shapes

    def calibrate(self) -> float:
        return float(self.worker.ask(self.library, "calibrate"))

    def seconds(self) -> float:
        return float(self.worker.ask(self.library, "seconds"))


def _send(stream: IO[bytes], message: Any) -> None:
    pickle.dump(message, stream)
    stream.flush()


def serve(libraries: Sequence[str]) -> None:
    """Answer until there are no more requests. What a library prints goes where errors go."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sides = {name: Side(import_module(name)) for name in libraries}
    if "torch" in libraries:
        import_module("torch").set_num_threads(1)
    while True:
        try:
            library, method, *args = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        _send(answers, _answer(getattr(sides[library], method), args))
        if method == "prepare":
            gc.collect()
            gc.freeze()  # what the libraries keep is not looked at again while something is timed


def _answer(method: Any, args: list[Any]) -> tuple[bool, Any]:
    """Whether it was refused, and the answer or the reason."""
    try:
        return False, method(*args)
    except (NothingToTime, *REFUSED) as error:
        return True, f"{type(error).__name__}: {str(error)[:200]}"
