"""Each call of HCCL fails once, in all processes: an error is raised that names it, and the next call works."""

import sys

from tests.npu import simulator

DEVICE = simulator.start()

import mindtorch as torch  # noqa: E402
import mindtorch.distributed as dist  # noqa: E402


def ones(count=4):
    return torch.ones(count, device="npu")


def message():
    rank = dist.get_rank()
    if rank < 2:
        dist.send(ones(), 1) if rank == 0 else dist.recv(ones(), 0)


CALLS = {
    "HcclAllReduce": lambda: dist.all_reduce(ones()),
    "HcclReduce": lambda: dist.reduce(ones(), 0),
    "HcclBroadcast": lambda: dist.broadcast(ones(), 0),
    "HcclAllGather": lambda: dist.all_gather_single(ones(4 * dist.get_world_size()), ones()),
    "HcclReduceScatter": lambda: dist.reduce_scatter_single(ones(), ones(4 * dist.get_world_size())),
    "HcclScatter": lambda: dist.scatter(ones(), [ones()] * dist.get_world_size() if dist.get_rank() == 0 else None),
    "HcclAlltoAllV": lambda: dist.all_to_all_single(ones(dist.get_world_size()), ones(dist.get_world_size())),
    "HcclBatchSendRecv": message,
}


def refused(name, call, code):
    """The error of a call when a function fails, or None."""
    with DEVICE.injected(name, code):
        try:
            call()
        except dist.DistBackendError as error:
            return str(error)
    return None


def main():
    dist.init_process_group("hccl")
    rank = dist.get_rank()
    torch.npu.set_device(rank % 2)
    for name in ("HcclGetRootInfo", "HcclCommInitRootInfoConfig"):
        said = refused(name, lambda: dist.all_reduce(ones()), 4)
        assert f"HCCL function error: {name}, error code is 4" in said, said
        assert "ERR02200 DIST call hccl api failed." in said, said
    for name, call in CALLS.items():
        for code in (1, 4, 7):
            said = refused(name, call, code)
            assert said is not None and f"HCCL function error: {name}, error code is {code}" in said, (name, said)
            x = ones()
            dist.all_reduce(x)
            assert x.cpu().tolist() == [float(dist.get_world_size())] * 4
    dist.destroy_process_group()
    torch.npu.synchronize()
    assert not DEVICE.stats()["communicators"]
    violations = DEVICE.violations()
    assert not violations, violations
    print("swept")


if __name__ == "__main__":
    sys.exit(main())
