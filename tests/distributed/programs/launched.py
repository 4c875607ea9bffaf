"""Programs for the launcher, and for the flight recorder: what they do is named by the first argument."""

import os
import signal
import sys
import time
from datetime import timedelta

import mindtorch as torch
import mindtorch.distributed as dist
from mindtorch.distributed.elastic.multiprocessing.errors import record


def start():
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
    dist.group.WORLD.set_timeout(timedelta(seconds=2))
    for size in range(3):
        dist.all_reduce(torch.ones(10 + size))
    return dist.get_rank()


def restart():
    """Fails the first time, in one process."""
    attempt = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
    if start() == 1 and attempt == 0:
        raise ValueError("the first attempt")
    dist.barrier()
    print(f"rank {dist.get_rank()} done in attempt {attempt}", flush=True)
    dist.destroy_process_group()


def fail():
    if start() == 1:
        raise ValueError("the data of this process is broken")
    dist.barrier()


def late():
    if start() == 1:
        time.sleep(3)
    end()


def kill():
    if start() == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    end()


def early():
    """Is killed before it calls `init_process_group`; the launcher has told the others who it is."""
    if os.environ["RANK"] == "1":
        os.kill(os.getpid(), signal.SIGKILL)
    before = time.monotonic()
    try:
        start()
    except dist.DistBackendError as error:
        print(f"after {time.monotonic() - before:.0f} s: {error}", flush=True)


def mismatch():
    size = 5 if start() == 1 else 4
    end(size)


def message():
    if start() == 0:
        dist.recv(torch.zeros(7), 1)
    else:
        time.sleep(3)


def end(size=4):
    try:
        dist.all_reduce(torch.ones(size))
    except RuntimeError:
        os.environ["TORCH_FR_DUMP_ON_TIMEOUT"] = "0"
        dist.flight_recorder.RECORDER.write()


def monitored():
    rank = start()
    if rank == 0 and sys.argv[2] == "first":
        time.sleep(2)
    if rank == 1 and sys.argv[2] != "first":
        time.sleep(2) if sys.argv[2] == "late" else os.kill(os.getpid(), signal.SIGKILL)
    try:
        dist.monitored_barrier(timeout=timedelta(seconds=1), wait_all_ranks=sys.argv[2] == "all")
    except RuntimeError as error:
        print(f"<{rank}>{error}".replace("\n", "|"), flush=True)
        time.sleep(1.5)


@record
def main():
    sys.stdout.reconfigure(write_through=False)  # lines in one piece, although the launcher starts `python -u`
    globals()[sys.argv[1]]()


if __name__ == "__main__":
    main()
