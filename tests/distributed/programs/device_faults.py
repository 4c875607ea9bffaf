"""What the device of rank 0 reports when that of rank 1 does not come: `killed` or `late`."""

import os
import signal
import sys
import time
from datetime import timedelta

from tests.npu import simulator

DEVICE = simulator.start()

import mindtorch as torch  # noqa: E402
import mindtorch.distributed as dist  # noqa: E402


def main(how):
    dist.init_process_group("hccl", timeout=timedelta(seconds=60))
    dist.group.WORLD.set_timeout(timedelta(seconds=30 if how == "killed" else 1))
    rank = dist.get_rank()
    torch.npu.set_device(rank)
    x = torch.ones(4, device="npu")
    dist.all_reduce(x)
    assert x.cpu().tolist() == [2.0] * 4
    if rank == 1:  # the host has agreed, and its device does not do what it was given
        with DEVICE.all_paused():
            dist.all_reduce(x)
            time.sleep(0.2)
            if how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(4)
        os._exit(0)
    dist.all_reduce(x)
    began = time.monotonic()
    try:
        values = x.cpu()
    except RuntimeError as error:
        seconds = time.monotonic() - began
        assert ("has died" if how == "killed" else "Watchdog caught collective operation timeout") in str(error), error
        assert seconds < 3, seconds
    else:
        raise AssertionError(f"wrong numbers: {values}")
    for call in (lambda: dist.all_reduce(torch.ones(1)), lambda: torch.ones(1, device="npu")):
        try:
            call()
        except RuntimeError as error:
            print(type(error).__name__, str(error).splitlines()[0])
        else:
            raise AssertionError("a lost device is used")
    print("refused")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
