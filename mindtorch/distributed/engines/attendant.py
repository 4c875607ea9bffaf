"""What `mpiexec` runs for processes that it has not started: one of these for each of them.

It hands on the environment that `mpiexec` gives to a process of its own, so that the other one can take its place under
MPI, and ends when that one ends: `mpiexec` takes the end of an attendant for that of the process. While processes
begin, MPI can't take that: they crash, or wait for ever. So it gets to know of it when all others have begun or have
ended.

Started as `python -I -S attendant.py FOLDER STARTER`; uses only the standard library, as it has to start quickly.
"""

import json
import os
import select
import signal
import sys
import time
from pathlib import Path

_PAUSE = 0.002


def written(path: Path, content: str) -> None:
    """Write a file so that others see all of it or nothing."""
    draft = path.with_suffix(".draft")
    draft.write_text(content)
    draft.replace(path)


def _process_of(path: Path, starter: int) -> int:
    while not path.exists():
        if not _lives(starter):
            sys.exit(1)
        time.sleep(_PAUSE)
    return int(path.read_text())


def _has_ended(process: int) -> bool:
    """Whether a process has ended, also if its parent has not asked for its exit code."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    watched = select.poll()
    watched.register(descriptor, select.POLLIN)
    found = bool(watched.poll(0))
    os.close(descriptor)
    return found


def _is_past_the_beginning(folder: Path, rank: int, starter: int) -> bool:
    place = folder / f"process{rank}"
    if (folder / f"ready{rank}").exists() or not folder.exists():
        return True
    return _has_ended(int(place.read_text()) if place.exists() else starter)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def _wait_for(process: int) -> None:
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return
    watched = select.poll()
    watched.register(descriptor, select.POLLIN)
    watched.poll()


def main() -> None:
    """Attend to the process of this rank."""
    folder, starter = Path(sys.argv[1]), int(sys.argv[2])
    rank = os.environ["OMPI_COMM_WORLD_RANK"]
    written(folder / f"environment{rank}", json.dumps(dict(os.environ)))
    _wait_for(_process_of(folder / f"process{rank}", starter))
    is_finished = (folder / f"finished{rank}").exists()
    size = int(os.environ["OMPI_COMM_WORLD_SIZE"])
    while not all(_is_past_the_beginning(folder, each, starter) for each in range(size)):
        time.sleep(_PAUSE)
    if not is_finished:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
