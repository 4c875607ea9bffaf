"""One survivor comes to `shrink_group` when the other has given it up: both get an error, neither waits for ever."""

import time
from datetime import timedelta

import mindtorch.distributed as dist

LIMIT = 0.5


def main():
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
    dist.group.WORLD.set_timeout(timedelta(seconds=LIMIT))
    rank = dist.get_rank()
    if rank == 1:  # is left out, and alive
        time.sleep(10 * LIMIT)
        return
    if rank == 2:
        time.sleep(5 * LIMIT)
    started = time.monotonic()
    try:
        dist.shrink_group([1])
    except dist.DistBackendError as error:
        print(f"rank {rank} after {time.monotonic() - started:.1f} s: {error}", flush=True)
        time.sleep(8 * LIMIT)  # it lives: who comes now must not take it for dead
    else:
        print("nothing happened", flush=True)


if __name__ == "__main__":
    main()
