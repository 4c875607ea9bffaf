"""Processes that were started one by one, as by `multiprocessing.spawn`, become those of an MPI program.

MPI has no call for that. The process of rank 0 starts `mpiexec` with an attendant for each rank; each process takes
over the environment of its attendant before it initializes MPI, and is the process of that rank from then on.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from mindtorch.distributed.engines import attendant, mpi
from mindtorch.distributed.engines.cores import is_crowded
from mindtorch.distributed.errors import DistBackendError
from mindtorch.distributed.stores import Store

_ATTENDANTS = "attendants"
_WITH_REMOVAL = ("sh", "-c", '"$@"; rm -rf "$0"')  # runs a command and then removes a folder, whatever has happened


def mpiexec() -> str:
    """The program that starts processes under MPI: the one of this Python, or of the path."""
    beside = Path(sys.executable).parent / "mpiexec"
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None or not mpi.is_installed():
        raise RuntimeError(mpi.NOT_INSTALLED)
    return found


def mpiexec_command(count: int) -> list[str]:
    """The beginning of a command that starts so many processes on this machine."""
    made = [mpiexec(), "--with-ft", "ulfm", "--oversubscribe", "-n", str(count)]
    return [*made, "--allow-run-as-root"] if os.geteuid() == 0 else made


def yield_when_crowded(count: int) -> None:
    """Have processes that wait let others run where there are more of them than cores; else they keep a core busy."""
    if is_crowded(count):
        os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")


def join(store: Store, rank: int, size: int, comes: Callable[[Callable[[], bool]], bool]) -> None:
    """Make this process one of an MPI program; all call this, and meet in the store. `comes` waits for a condition as
    long as there is time."""
    yield_when_crowded(size)
    if rank == 0:
        _start(store, size)
    if not comes(lambda: store.check([_ATTENDANTS])):
        raise DistBackendError("rank 0 has not come to begin MPI in time")
    folder = _folder(store, rank)
    try:
        environment = _of_attendant(folder, rank, comes)
        _take_place(folder, rank)
    except FileNotFoundError:  # mpiexec removes it at its end
        raise DistBackendError("mpiexec has ended before all processes had begun") from None
    added = {name: value for name, value in environment.items() if name not in os.environ}
    os.environ.update(added)
    atexit.register(_finish, folder, rank)


def is_joined() -> bool:
    """Whether this process has an attendant."""
    return "MINDTORCH_ATTENDANTS" in os.environ


def note_ready(rank: int) -> None:
    """This process has begun."""
    folder = Path(os.environ.get("MINDTORCH_ATTENDANTS", ""))
    if is_joined() and folder.exists():
        (folder / f"ready{rank}").touch()


def _start(store: Store, size: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="mindtorch-attendants-"))
    with (folder / "mpiexec").open("wb") as log:
        started = subprocess.Popen(
            [
                *_WITH_REMOVAL,
                str(folder),
                *mpiexec_command(size),
                sys.executable,
                "-I",
                "-S",
                attendant.__file__,
                str(folder),
                str(os.getpid()),
            ],
            env={**os.environ, "MINDTORCH_ATTENDANTS": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    (folder / "number").write_text(str(started.pid))
    store.set(_ATTENDANTS, json.dumps([socket.gethostname(), str(folder)]))


def _folder(store: Store, rank: int) -> Path:
    host, folder = json.loads(store.get(_ATTENDANTS))
    if host != socket.gethostname() or not Path(folder).exists():
        raise RuntimeError(
            f"rank {rank} runs on {socket.gethostname()} and rank 0 on {host}, or has ended: processes on several "
            "machines have to be started together, by `python -m mindtorch.distributed.run --hostfile`, `mpiexec "
            "--with-ft ulfm` or `srun --mpi=pmix`."
        )
    return Path(folder)


def _of_attendant(folder: Path, rank: int, comes: Callable[[Callable[[], bool]], bool]) -> dict[str, str]:
    path = folder / f"environment{rank}"
    process = int((folder / "number").read_text())
    is_in_time = comes(lambda: path.exists() or not _runs(process))
    if not path.exists():
        why = (folder / "mpiexec").read_text() or ("it has ended" if is_in_time else "not in time")
        raise DistBackendError(f"mpiexec has started no processes: {why}")
    return json.loads(path.read_text())


def _take_place(folder: Path, rank: int) -> None:
    """Be the process of a rank, and the only one: two would read each other's messages, and wait for them for ever."""
    place = folder / f"process{rank}"
    draft = folder / f"process{rank}.{os.getpid()}"
    draft.write_text(str(os.getpid()))
    try:
        os.link(draft, place)
    except FileExistsError:
        raise DistBackendError(
            f"process {place.read_text()} is the one of rank {rank} already: two processes have the same rank, or "
            "those of two programs have met in the same store"
        ) from None
    finally:
        draft.unlink()


def _runs(process: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    status = Path(f"/proc/{process}/stat")
    if not Path("/proc").exists():
        return True
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def _finish(folder: Path, rank: int) -> None:
    """At the very end, after MPI: this process ends by itself."""
    if folder.exists():
        (folder / f"finished{rank}").touch()
