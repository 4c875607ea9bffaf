"""DeviceMesh: groups and places of 4 processes in two rows."""

import mindtorch as torch
import mindtorch.distributed as dist
from mindtorch.distributed.device_mesh import DeviceMesh, init_device_mesh


def total(group):
    value = torch.tensor(10 ** dist.get_rank())
    dist.all_reduce(value, group=group)
    return value.item()


def refuses(call, kind, text):
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)


def main():
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))  # starts the process group
    rank = dist.get_rank()
    assert mesh.get_coordinate() == (rank // 2, rank % 2) and mesh.shape == (2, 2) and mesh.size() == 4
    assert mesh.size(0) == mesh.size(1) == mesh.ndim == 2 and mesh.get_rank() == rank
    assert mesh.mesh.tolist() == [[0, 1], [2, 3]] and mesh.mesh.dtype is torch.int32
    assert repr(mesh) == "DeviceMesh((dp=2, tp=2), 'cpu', stride=(2, 1))"
    assert total(mesh.get_group("dp")) == (101 if rank % 2 == 0 else 1010)
    assert total(mesh.get_group(1)) == (11 if rank < 2 else 1100)
    assert [dist.get_process_group_ranks(each) for each in mesh.get_all_groups()] == [
        [rank % 2, rank % 2 + 2], [rank // 2 * 2, rank // 2 * 2 + 1]
    ]  # fmt: skip
    tp = mesh["tp"]
    assert tp.mesh_dim_names == ("tp",) and tp.mesh.tolist() == [rank // 2 * 2, rank // 2 * 2 + 1]
    assert tp.get_local_rank() == mesh.get_local_rank("tp") == rank % 2 and tp.get_group() is mesh.get_group("tp")
    assert mesh["dp", "tp"] is mesh and mesh["tp"] == tp and hash(mesh["tp"]) == hash(tp) and mesh["dp"] != tp
    flat = mesh["dp", "tp"]._flatten("all")
    assert total(flat.get_group()) == 1111 == total(mesh.get_group("all")) and mesh["all"] is flat
    some = DeviceMesh("cpu", [1, 3])
    assert some.get_coordinate() == {1: (0,), 3: (1,)}.get(rank)
    assert some.get_local_rank() == {1: 0, 3: 1}.get(rank, -1)
    if rank % 2:
        assert total(some.get_group()) == 1010
    whole = init_device_mesh("cpu", (4,))
    assert whole.get_group() is dist.group.WORLD and repr(whole) == "DeviceMesh((4,), 'cpu', stride=(1,))"
    both = DeviceMesh.from_group(mesh.get_all_groups(), "cpu", mesh=mesh.mesh, mesh_dim_names=("a", "b"))
    assert both["a"].get_group() is mesh.get_group("dp") and both != mesh
    assert DeviceMesh.from_group(mesh.get_group("tp"), "cpu").mesh.tolist() == tp.mesh.tolist()
    refuses(lambda: mesh["pp"], KeyError, "Valid mesh_dim_names are ['dp', 'tp', 'all']")
    refuses(lambda: mesh["tp", "dp"], KeyError, "ascending order")
    refuses(lambda: whole["dp"], RuntimeError, "Cannot slice a DeviceMesh without mesh_dim_names!")
    refuses(mesh.get_group, RuntimeError, "Optional kwarg `mesh_dim` needs to be specified")
    refuses(mesh.get_local_rank, RuntimeError, "Optional kwarg `mesh_dim` needs to be specified")
    refuses(lambda: init_device_mesh("cpu", (5,)), RuntimeError, "Mesh should not be bigger than default world size 4")
    refuses(lambda: init_device_mesh("cpu:0", (4,)), RuntimeError, "Device type with index is not supported")
    refuses(lambda: init_device_mesh("cpu", (2, 2), mesh_dim_names=("a",)), RuntimeError, "should have same length!")
    refuses(lambda: init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "a")), RuntimeError, "must be unique")
    dist.destroy_process_group()
    print("equal")


if __name__ == "__main__":
    main()
