"""Runs programs as several processes that are forks of one which has imported the library: that takes most of the time.

Reads a line of JSON for each program and answers with two: the number of the process that stands for the launcher, and
its exit code. What the launcher itself does is tested by starting it; see `test_launching.py`.
"""

import faulthandler
import json
import os
import runpy
import signal
import sys
from pathlib import Path

import mindtorch.distributed  # noqa: F401 (imported once, for all)
from mindtorch.distributed.tcp_store import TCPStore


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        launcher = os.fork()
        if launcher == 0:
            launch(**request)
            return
        say(launcher)
        say(os.waitstatus_to_exitcode(os.waitpid(launcher, 0)[1]))


def say(value: int) -> None:
    sys.stdout.write(f"{value}\n")
    sys.stdout.flush()


def launch(program: str, ranks: int, arguments: list[str], output: str) -> None:
    """As `mindtorch.distributed.run --keep-going`: the others are left alone when one is killed."""
    os.setsid()
    redirect(output)
    reading, writing = os.pipe()
    processes = []
    for rank in range(ranks):
        processes.append(os.fork())
        if processes[-1] == 0:
            os.close(writing)
            port = os.read(reading, 10).decode()
            os.close(reading)
            become(rank, ranks, port, program, arguments)
            return
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)  # after the forks, as it has threads
    os.write(writing, f"{store.port:10}".encode() * ranks)
    codes = [os.waitstatus_to_exitcode(os.waitpid(each, 0)[1]) for each in processes]
    killed = [each for each in codes if each < 0]
    os._exit(int(any(each > 0 for each in codes) or len(killed) == ranks))


def redirect(output: str) -> None:
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    sys.stdin.close()
    for descriptor in (1, 2):
        os.dup2(file, descriptor)
    os.close(file)


def become(rank: int, ranks: int, port: str, program: str, arguments: list[str]) -> None:
    """Run the program in this process, which then ends as all do."""
    faulthandler.register(signal.SIGUSR1)
    sys.stdout.reconfigure(write_through=False)  # lines in one piece, also with PYTHONUNBUFFERED
    os.environ |= {
        "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks),
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port.strip(), "TORCHELASTIC_USE_AGENT_STORE": "True",
        "TORCHELASTIC_RUN_ID": "none", "TORCHELASTIC_RESTART_COUNT": "0", "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    sys.argv = [program, *arguments]
    sys.path[0] = str(Path(program).resolve().parent)
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
