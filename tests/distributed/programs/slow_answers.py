"""Two processes meet in a store that the first serves; the second asks it rarely, and the first begins MPI before."""

import os
import socket
import time
from datetime import timedelta

import mindtorch as torch
import mindtorch.distributed as dist
from mindtorch.distributed import starting


def main():
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    child = os.fork()
    rank = 0 if child else 1
    if rank == 1:
        starting._PAUSE = 0.4
    else:
        begin = starting._Meeting._begun
        starting._Meeting._begun = lambda meeting: (time.sleep(1.2), begin(meeting))[1]
    place = f"tcp://localhost:{port}"
    dist.init_process_group("gloo", init_method=place, rank=rank, world_size=2, timeout=timedelta(seconds=20))
    dist.all_reduce(tensor := torch.ones(3))
    print(tensor.tolist(), flush=True)
    dist.destroy_process_group()
    if child:
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
