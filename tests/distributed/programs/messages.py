"""Messages between processes, groups of some of them, and objects."""

import mindtorch as torch
import mindtorch.distributed as dist


def messages(rank, size):
    following, before = (rank + 1) % size, (rank - 1) % size
    sent, received = torch.full((5,), float(rank)), torch.zeros(5)
    works = [dist.isend(sent, following, tag=3), dist.irecv(received, before, tag=3)]
    assert all(work.wait() for work in works)
    assert received.tolist() == [before] * 5 and received._version == 1
    both = [dist.P2POp(dist.isend, sent, following), dist.P2POp(dist.irecv, received, before)]
    for work in dist.batch_isend_irecv(both):
        work.wait()
    if rank == 0:
        sources = {dist.recv(received) for _ in range(size - 1)}
        assert sources == set(range(1, size))
    else:
        dist.send(sent, 0)


def too_long(rank):
    if rank == 0:
        dist.send(torch.ones(2), 1)
    elif rank == 1:
        try:
            dist.recv(torch.zeros(5), 0)
        except RuntimeError as error:
            assert "8 bytes" in str(error) and "20" in str(error)
        else:
            raise AssertionError("a message that is too short was taken")


def groups(rank, size):
    pair = dist.new_group([size - 1, 0])
    assert (pair is dist.GroupMember.NON_GROUP_MEMBER) == (rank not in (0, size - 1))
    if rank in (0, size - 1):
        tensor = torch.tensor([1.0 + rank])
        dist.all_reduce(tensor, group=pair)
        assert tensor.item() == 1 + size
        dist.broadcast(tensor.fill_(float(rank)), src=size - 1, group=pair)
        assert tensor.item() == size - 1
        assert dist.get_process_group_ranks(pair) == [0, size - 1]
        assert dist.get_global_rank(pair, 1) == size - 1 and dist.get_group_rank(pair, size - 1) == 1
    part = dist.split_group(split_ranks=[list(range(0, size, 2)), list(range(1, size, 2))])
    values = [None] * part.size()
    dist.all_gather_object(values, rank, group=part)
    assert values == list(range(rank % 2, size, 2))


def objects(rank, size):
    found = [None] * size
    dist.all_gather_object(found, {"rank": rank, "text": "x" * rank})
    assert found == [{"rank": each, "text": "x" * each} for each in range(size)]
    dist.gather_object((rank,), found if rank == 1 else None, dst=1)
    assert rank != 1 or found == [(each,) for each in range(size)]
    values = [rank, "a" * rank]
    dist.broadcast_object_list(values, src=1)
    assert values == [1, "a"]
    dist.scatter_object_list(values, [10, 20, 30, 40][:size] if rank == 0 else None, src=0)
    assert values[0] == 10 * (rank + 1)
    if rank == 0:
        dist.send_object_list([1, "two"], 1)
    if rank == 1:
        received = [None, None]
        assert dist.recv_object_list(received, 0) == 0 and received == [1, "two"]


def barriers(rank):
    dist.barrier()
    dist.monitored_barrier()
    order = dist.group.WORLD._get_sequence_number_for_group()
    with dist._coalescing_manager():
        dist.all_reduce(torch.ones(2))
        dist.all_reduce(torch.ones(3))
    assert dist.group.WORLD._get_sequence_number_for_group() == order + 1


def main():
    dist.init_process_group("mpi")
    rank, size = dist.get_rank(), dist.get_world_size()
    messages(rank, size)
    too_long(rank)
    groups(rank, size)
    objects(rank, size)
    barriers(rank)
    dist.destroy_process_group()
    print("all well")


if __name__ == "__main__":
    main()
