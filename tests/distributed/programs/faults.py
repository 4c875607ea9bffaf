"""One process goes wrong in the middle of its collectives; the others say what they get, and how long it took."""

import os
import signal
import sys
import time
from datetime import timedelta

import mindtorch as torch
import mindtorch.distributed as dist

LIMIT = 3.0


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def sleep():
    time.sleep(4 * LIMIT)


def leave():
    sys.exit(0)


def raise_an_error():
    raise ValueError("the data of this process is broken")


FAULTS = {each.__name__: each for each in (kill, sleep, leave, raise_an_error)}


def work(steps, at, fault):
    """Steps of a training that needs all processes; the last one goes wrong at one of them."""
    state = torch.zeros(1000)
    for step in range(steps):
        if step == at and dist.get_rank() == dist.get_world_size() - 1:
            fault()
        state += 1
        dist.all_reduce(state, op=dist.ReduceOp.AVG)
        assert torch.equal(state, torch.full((1000,), step + 1.0)), "wrong numbers"
    return state


def main(name, at):
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
    dist.group.WORLD.set_timeout(timedelta(seconds=LIMIT))
    started = time.monotonic()
    try:
        work(50, at, FAULTS[name])
    except dist.DistBackendError as error:
        after = time.monotonic() - started
        print(f"rank {dist.get_rank()} after {after:.1f} s: {error}", flush=True)
        if name == "kill":
            go_on()
    else:
        print("nothing happened", flush=True)


def go_on():
    """The living make a group of their own and finish."""
    lost = dist.get_world_size() - 1
    dist.shrink_group([lost])
    state = work(5, -1, kill)
    print(f"went on with {dist.get_world_size()} processes to {state[0].item()}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
