"""Start a program as several processes: `python -m mindtorch.distributed.run --nproc-per-node 2 program.py args`.

Takes the options of `torchrun`. The processes of one machine are started here, watched, and started again after a
failure if that is asked for; they find each other when they call `init_process_group`. Those of several machines are
started by `mpiexec`, with the machines of `--hostfile`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import uuid
from collections.abc import Sequence
from pathlib import Path

from mindtorch.distributed.elastic.multiprocessing.agent import Plan, SignalException, run
from mindtorch.distributed.elastic.multiprocessing.errors import ChildFailedError
from mindtorch.distributed.engines.joining import mpiexec_command, yield_when_crowded
from mindtorch.distributed.errors import DistNetworkError
from mindtorch.distributed.tcp_store import TCPStore

_WORKER = "mindtorch.distributed.worker"
_DEFAULT_PORT = 29500


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        prog="python -m mindtorch.distributed.run", description="Start a program as several processes."
    )
    add = made.add_argument
    add("--nproc-per-node", "--nproc_per_node", default="1", help="processes per machine; auto, cpu: one per core")
    add("--nnodes", default="1", help="number of machines, with --hostfile")
    add("--node-rank", "--node_rank", type=int, default=0, help="0: mpiexec starts the processes of other machines")
    add("--hostfile", help="the machines, as mpiexec reads them")
    add("--master-addr", "--master_addr", default="127.0.0.1", help="MASTER_ADDR of the processes")
    add("--master-port", "--master_port", type=int, help="MASTER_PORT; a free port otherwise")
    add("--standalone", action="store_true", help="one machine, and a run id of its own")
    add("--rdzv-backend", "--rdzv_backend", default="static", help="static or c10d: for one machine they are one")
    add("--rdzv-endpoint", "--rdzv_endpoint", default="", help="HOST:PORT, as --master-addr and --master-port")
    add("--rdzv-id", "--rdzv_id", default="none", help="TORCHELASTIC_RUN_ID of the processes")
    add("--rdzv-conf", "--rdzv_conf", default="", help="refused: there is nothing to configure")
    add("--max-restarts", "--max_restarts", type=int, default=0, help="how often all are started again after a failure")
    add("--keep-going", action="store_true", help="let the others go on after one was killed: see shrink_group")
    add("--monitor-interval", "--monitor_interval", type=float, default=0.1, help="taken; failures are seen at once")
    add("--start-method", "--start_method", default="spawn", choices=["spawn", "fork", "forkserver"], help="taken")
    add("--role", default="default", help="ROLE_NAME, and what begins the lines of --tee")
    add("--log-dir", "--log_dir", help="where output and errors are written; a temporary folder otherwise")
    add("-r", "--redirects", default="0", help="output that goes to files: 1 stdout, 2 stderr, 3 both; or RANK:N,...")
    add("-t", "--tee", default="0", help="output that goes to files and to the console, as --redirects")
    add("--local-ranks-filter", "--local_ranks_filter", default="", help="ranks whose output the console shows: 0,1")
    add("--tag-output", action="store_true", help="print each line with the rank that it comes from")
    add("-m", "--module", action="store_true", help="the program is a module, as after python -m")
    add("--no-python", "--no_python", action="store_true", help="the program is not written in Python")
    add("program")
    add("arguments", nargs=argparse.REMAINDER)
    return made


# -------------------- one machine --------------------


def plan(options: argparse.Namespace, log_dir: Path, store: TCPStore) -> Plan:
    """What is run on this machine. The processes meet in the launcher's store."""
    count = per_node(options)
    environment = {
        "MASTER_ADDR": _meeting_place(options)[0], "MASTER_PORT": str(store.port),
        "TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RUN_ID": _run_id(options),
    }  # fmt: skip
    if count > 1:
        environment.update({} if "OMP_NUM_THREADS" in os.environ else {"OMP_NUM_THREADS": "1"})
    return Plan(
        name=options.program,
        command=_program(options),
        count=count,
        store=store,
        environment=environment,
        role=options.role,
        max_restarts=options.max_restarts,
        keep_going=options.keep_going,
        log_dir=log_dir,
        redirects=_streams(options.redirects, count, "--redirects"),
        tee=_streams(options.tee, count, "--tee"),
        is_tagged=options.tag_output,
        shown=_ranks(options.local_ranks_filter),
    )


def _program(options: argparse.Namespace) -> list[str]:
    if options.no_python:
        return [options.program, *options.arguments]
    start = [sys.executable, "-u", *(["-m"] if options.module else [])]
    return [*start, options.program, *options.arguments]


def _meeting_place(options: argparse.Namespace) -> tuple[str, int]:
    """Host and port; 0: any port that is free."""
    host, _, port = options.rdzv_endpoint.partition(":")
    if options.standalone:
        return "127.0.0.1", 0
    if host:
        return host, _number(port, "the port of --rdzv-endpoint") if port else _DEFAULT_PORT
    return options.master_addr, options.master_port or 0


def serve(options: argparse.Namespace) -> TCPStore:
    """The store in which the processes meet. It has its port before they start, and keeps it: where the first of them
    served it, processes of two programs that start at the same moment could meet in one store."""
    host, port = _meeting_place(options)
    try:
        return TCPStore(host, port, is_master=True, wait_for_workers=False)
    except DistNetworkError as error:
        raise SystemExit(f"the processes can't meet at port {port}: {error}") from None


def _run_id(options: argparse.Namespace) -> str:
    return str(uuid.uuid4()) if options.standalone else options.rdzv_id


def _streams(text: str, count: int, option: str) -> dict[int, int]:
    """Which output of each rank is meant: one number for all, or `RANK:NUMBER,...`."""
    if text.isdigit():
        return dict.fromkeys(range(count), _stream(text, option))
    parts = [each.partition(":") for each in text.split(",")]
    return {_stream_rank(rank, count, option): _stream(number, option) for rank, _, number in parts}


def _stream(text: str, option: str) -> int:
    if text not in ("0", "1", "2", "3"):
        raise SystemExit(f"{option} takes 0, 1, 2 or 3, or RANK:NUMBER,..., not {text!r}")
    return int(text)


def _stream_rank(text: str, count: int, option: str) -> int:
    if not text.isdigit() or int(text) >= count:
        raise SystemExit(f"{option} names the rank {text!r}, but there are {count} processes")
    return int(text)


def _ranks(text: str) -> frozenset[int] | None:
    return frozenset(int(each) for each in text.split(",")) if text else None


# -------------------- several machines --------------------


def command(options: argparse.Namespace) -> list[str]:
    """What is run for several machines: `mpiexec` with the program."""
    made = mpiexec_command(per_node(options) * _number(options.nnodes, "--nnodes"))
    made += ["--hostfile", options.hostfile]
    if options.tag_output:
        made.append("--tag-output")
    program = [options.program, *options.arguments]
    if options.no_python:
        return [*made, *program]
    return [*made, sys.executable, "-m", _WORKER, "module" if options.module else "file", *program]


def _replace_by_mpiexec(options: argparse.Namespace) -> None:
    for name in ("max_restarts", "keep_going"):
        if getattr(options, name):
            raise SystemExit(f"--{name.replace('_', '-')} is for one machine, not for those of --hostfile")
    host, port = _meeting_place(options)
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = host, str(port or _DEFAULT_PORT)
    yield_when_crowded(per_node(options))
    whole = command(options)
    sys.stdout.flush()
    os.execv(whole[0], whole)


# -------------------- options --------------------


def per_node(options: argparse.Namespace) -> int:
    """The number of processes on each machine."""
    each = options.nproc_per_node
    return len(os.sched_getaffinity(0)) if each in ("auto", "cpu") else _number(each, "--nproc-per-node")


def _number(text: str, option: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise SystemExit(f"{option} takes a positive number, not {text!r}")
    return int(text)


def check(options: argparse.Namespace) -> None:
    """Refuse what can't be done, with the reason."""
    for option, reason in _refusals(options):
        raise SystemExit(f"{option}: {reason}")


def _refusals(options: argparse.Namespace) -> list[tuple[str, str]]:
    least, _, most = options.nnodes.partition(":")
    found = []
    if most and most != least:
        found.append((f"--nnodes {options.nnodes}", "the number of machines is fixed: MPI can't take in more of them"))
    options.nnodes = least
    if options.node_rank:
        found.append(("--node-rank", "run this on one machine, with --hostfile: mpiexec starts those of the others"))
    if _number(least, "--nnodes") > 1 and not options.hostfile:
        found.append(("--nnodes", "several machines need --hostfile, or `srun --mpi=pmix python program.py` in Slurm"))
    if options.rdzv_backend not in ("static", "c10d"):
        found.append((f"--rdzv-backend {options.rdzv_backend}", "there are static and c10d"))
    if options.rdzv_conf:
        found.append(("--rdzv-conf", "there is nothing to configure"))
    if options.max_restarts < 0:
        found.append(("--max-restarts", "takes 0 or more"))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program; exit code 1 after a failure, as `torchrun`, and 128 and the signal's number after a signal."""
    options = parser().parse_args(arguments)
    check(options)
    if options.hostfile:
        _replace_by_mpiexec(options)
    parent = Path(options.log_dir) if options.log_dir else Path(tempfile.mkdtemp(prefix="mindtorch-logs-"))
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{_run_id(options)}_", dir=parent))
    is_kept = bool(options.log_dir) or options.tee != "0" or options.redirects != "0"
    try:
        store = serve(options)  # for as long as they run
        run(plan(options, folder, store))
    except ChildFailedError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(1) from None
    except SignalException as error:
        raise SystemExit(128 + error.sigval) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    finally:
        if not is_kept:
            shutil.rmtree(parent, ignore_errors=True)


if __name__ == "__main__":
    main()
