"""Start a program as several processes: `python -m mindtorch.distributed.run --nproc-per-node 2 program.py args`.

Takes the options of `torchrun` that have a meaning under MPI, and hands the rest to the program. Each process finds
`RANK`, `WORLD_SIZE`, `LOCAL_RANK`, `LOCAL_WORLD_SIZE`, `MASTER_ADDR` and `MASTER_PORT` in its environment.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from mindtorch.distributed.engines import mpi

_WORKER = "mindtorch.distributed.worker"


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        prog="python -m mindtorch.distributed.run", description="Start a program as several processes."
    )
    made.add_argument(
        "--nproc-per-node", "--nproc_per_node", default="1", help="processes per machine; auto: one per core"
    )
    made.add_argument("--nnodes", default="1", help="number of machines, with --hostfile")
    made.add_argument("--hostfile", help="the machines, as mpiexec reads them")
    made.add_argument("--master-addr", "--master_addr", default="127.0.0.1", help="MASTER_ADDR of the processes")
    made.add_argument("--master-port", "--master_port", type=int, default=29500, help="MASTER_PORT of the processes")
    made.add_argument("--standalone", action="store_true", help="one machine, which is what is assumed")
    made.add_argument("--tag-output", action="store_true", help="print each line with the rank that it comes from")
    made.add_argument("-m", "--module", action="store_true", help="the program is a module, as after python -m")
    made.add_argument("--no-python", "--no_python", action="store_true", help="the program is not written in Python")
    made.add_argument("program")
    made.add_argument("arguments", nargs=argparse.REMAINDER)
    return made


def command(options: argparse.Namespace) -> list[str]:
    """What is run: `mpiexec` with the program."""
    made = [_mpiexec(), "--with-ft", "ulfm", "--oversubscribe", "-n", str(_count(options))]
    if os.geteuid() == 0:
        made.append("--allow-run-as-root")
    if options.hostfile:
        made += ["--hostfile", options.hostfile]
    if options.tag_output:
        made.append("--tag-output")
    program = [options.program, *options.arguments]
    if options.no_python:
        return [*made, *program]
    return [*made, sys.executable, "-m", _WORKER, "module" if options.module else "file", *program]


def _count(options: argparse.Namespace) -> int:
    each = options.nproc_per_node
    per_node = len(os.sched_getaffinity(0)) if each in ("auto", "cpu") else _number(each, "--nproc-per-node")
    return per_node * _number(options.nnodes, "--nnodes")


def _number(text: str, option: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise SystemExit(f"{option} takes a positive number, not {text!r}")
    return int(text)


def _mpiexec() -> str:
    beside = Path(sys.executable).parent / "mpiexec"
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None or not mpi.is_installed():
        raise SystemExit(mpi.NOT_INSTALLED)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Replace this process by `mpiexec`."""
    options = parser().parse_args(arguments)
    os.environ["MASTER_ADDR"] = options.master_addr
    os.environ["MASTER_PORT"] = str(options.master_port)
    if _count(options) > len(os.sched_getaffinity(0)):
        # Processes that wait keep a core busy; where there are fewer cores, they have to let others run.
        os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
    whole = command(options)
    sys.stdout.flush()
    os.execv(whole[0], whole)


if __name__ == "__main__":
    main()
