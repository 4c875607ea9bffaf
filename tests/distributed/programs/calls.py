"""Calls of torch.distributed in two processes, good and bad, by either library: what they give goes to a file.

Started with the name of the library and of the folder for the results. Calls that fail do so in each process by itself.
"""

import importlib
import json
import sys
import warnings
from datetime import timedelta
from pathlib import Path

torch = importlib.import_module(sys.argv[1])
dist = importlib.import_module(f"{sys.argv[1]}.distributed")

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
    "complex128",
]  # fmt: skip
CASES = {}


def case(name):
    def add(function):
        assert name not in CASES, name
        CASES[name] = function
        return function

    return add


def add(name, function):
    case(name)(function)


def numbers(count=4, dtype="float32", start=1):
    return (torch.arange(count) + start).to(getattr(torch, dtype))


def own(count=4, dtype="float32"):
    return numbers(count, dtype, 1 + 2 * RANK)


# -------------------- values --------------------


def all_reduce(tensor, **more):
    dist.all_reduce(tensor, **more)
    return tensor


def reduce(tensor, **more):
    dist.reduce(tensor, 1, **more)
    return tensor if RANK == 1 else None


def broadcast(tensor, **more):
    return dist.broadcast(tensor, 1, **more), tensor


def all_gather(tensor, **more):
    found = [torch.zeros_like(tensor) for _ in range(SIZE)]
    dist.all_gather(found, tensor, **more)
    return found


def all_gather_single(tensor, **more):
    found = torch.zeros((SIZE * tensor.shape[0],), dtype=tensor.dtype)
    dist.all_gather_single(found, tensor, **more)
    return found


def gather(tensor, **more):
    found = [torch.zeros_like(tensor) for _ in range(SIZE)] if RANK == 0 else None
    dist.gather(tensor, found, 0, **more)
    return found


def scatter(tensor, **more):
    found = torch.zeros_like(tensor)
    dist.scatter(found, [tensor, tensor + tensor] if RANK == 0 else None, 0, **more)
    return found


def reduce_scatter(tensor, **more):
    found = torch.zeros_like(tensor)
    dist.reduce_scatter(found, [tensor, tensor + tensor], **more)
    return found


def reduce_scatter_single(tensor, **more):
    found = torch.zeros_like(tensor[:2])
    dist.reduce_scatter_single(found, tensor, **more)
    return found


def all_to_all_single(tensor, **more):
    found = torch.zeros_like(tensor)
    dist.all_to_all_single(found, tensor, **more)
    return found


def ring(tensor):
    found = torch.zeros_like(tensor)
    if RANK == 0:
        dist.send(tensor, 1)
        return dist.recv(found, 1), found
    source = dist.recv(found, 0)
    dist.send(tensor, 0)
    return source, found


def swapped(tensor):
    work, found = dist.isend(tensor, 1 - RANK), torch.zeros(tensor.shape, dtype=tensor.dtype)
    dist.recv(found, 1 - RANK)
    work.wait()
    return found


MOVING = [broadcast, all_gather, all_gather_single, gather, scatter, all_to_all_single, ring]
REDUCING = [all_reduce, reduce, reduce_scatter, reduce_scatter_single]
OPS = ["SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"]


def values():
    for call in [*MOVING, *REDUCING]:
        for dtype in DTYPES:
            add(f"{call.__name__} of {dtype}", lambda call=call, dtype=dtype: call(own(4, dtype)))
    for op in OPS:
        for dtype in ("int64", "float32", "bool", "complex64", "uint8"):
            add(
                f"all_reduce {op} of {dtype}",
                lambda op=op, dtype=dtype: all_reduce(own(4, dtype), op=getattr(dist.ReduceOp, op)),
            )
    for op in ("MIN", "PRODUCT", "AVG", "BXOR"):
        for call in (reduce, reduce_scatter, reduce_scatter_single):
            kind = getattr(dist.ReduceOp, op)
            add(f"{call.__name__} {op}", lambda call=call, kind=kind: call(own(4, "int32"), op=kind))
    for call in REDUCING + MOVING[:3]:
        add(f"{call.__name__} of nothing", lambda call=call: call(own(0)))
    for call in (all_reduce, broadcast, all_gather, gather, scatter, ring):
        add(f"{call.__name__} of one number", lambda call=call: call(torch.tensor(3.0 + RANK)))


# -------------------- bad arguments, by kind --------------------


def bad_types():
    tensor = own()
    for wrong_name, wrong in {"None": None, "a number": 3, "a list": [tensor], "text": "x"}.items():
        tries = {
            "all_reduce": lambda wrong=wrong: dist.all_reduce(wrong),
            "reduce": lambda wrong=wrong: dist.reduce(wrong, 0),
            "broadcast": lambda wrong=wrong: dist.broadcast(wrong, 0),
            "all_gather": lambda wrong=wrong: dist.all_gather([tensor, tensor], wrong),
            "gather": lambda wrong=wrong: dist.gather(wrong, None, 0),
            "scatter": lambda wrong=wrong: dist.scatter(wrong, None, 0),
            "reduce_scatter": lambda wrong=wrong: dist.reduce_scatter(wrong, [tensor, tensor]),
            "reduce_scatter_single": lambda wrong=wrong: dist.reduce_scatter_single(wrong, tensor),
            "all_gather_single": lambda wrong=wrong: dist.all_gather_single(wrong, tensor),
            "all_to_all_single": lambda wrong=wrong: dist.all_to_all_single(wrong, tensor),
            "send": lambda wrong=wrong: dist.send(wrong, 1 - RANK),
            "recv": lambda wrong=wrong: dist.recv(wrong, 1 - RANK),
            "isend": lambda wrong=wrong: dist.isend(wrong, 1 - RANK),
            "irecv": lambda wrong=wrong: dist.irecv(wrong, 1 - RANK),
            "P2POp": lambda wrong=wrong: dist.P2POp(dist.isend, wrong, 1 - RANK),
        }
        for name, call in tries.items():
            add(f"{name} of {wrong_name}", call)
    for wrong_name, wrong in {"None": None, "a tensor": tensor, "numbers": [1, 2], "a tuple": (tensor, tensor)}.items():
        add(f"all_gather into {wrong_name}", lambda wrong=wrong: dist.all_gather(wrong, tensor))
        add(f"reduce_scatter of a list that is {wrong_name}", lambda wrong=wrong: dist.reduce_scatter(own(), wrong))
        add(f"all_to_all into {wrong_name}", lambda wrong=wrong: dist.all_to_all(wrong, [tensor, tensor]))
        add(f"all_to_all of {wrong_name}", lambda wrong=wrong: dist.all_to_all([own(), own()], wrong))


def bad_sizes():
    tensor = own()
    three, short = [own() for _ in range(3)], [own(), own(3)]
    longs = [own(dtype="int64") for _ in range(2)]
    tries = {
        "all_gather into three": lambda: dist.all_gather(three, tensor),
        "all_gather into none": lambda: dist.all_gather([], tensor),
        "all_gather into a short one": lambda: dist.all_gather(short, tensor),
        "all_gather into other dtypes": lambda: dist.all_gather(longs, tensor),
        "all_gather_single, too small": lambda: dist.all_gather_single(own(7), tensor),
        "all_gather_single, too large": lambda: dist.all_gather_single(own(9), tensor),
        "all_gather_single, other dtype": lambda: dist.all_gather_single(own(8, "int64"), tensor),
        "reduce_scatter of three": lambda: dist.reduce_scatter(own(), three),
        "reduce_scatter of other dtypes": lambda: dist.reduce_scatter(own(), longs),
        "reduce_scatter_single, too small": lambda: dist.reduce_scatter_single(own(), own(7)),
        "reduce_scatter_single, other dtype": lambda: dist.reduce_scatter_single(own(), own(8, "int64")),
        "all_to_all_single, other dtype": lambda: dist.all_to_all_single(own(4, "int64"), tensor),
        "all_to_all_single, three splits": lambda: dist.all_to_all_single(own(), tensor, [2, 1, 1], [2, 1, 1]),
        "all_to_all_single, wrong sum": lambda: dist.all_to_all_single(own(), tensor, [2, 1], [2, 1]),
        "all_to_all_single, other sizes": lambda: dist.all_to_all_single(own(5), tensor),
        "all_to_all, three": lambda: dist.all_to_all(three, three),
        "all_to_all, other dtypes": lambda: dist.all_to_all([own(), own()], longs),
        "broadcast_object_list of None": lambda: dist.broadcast_object_list(None, 0),
        "all_reduce_coalesced of two dtypes": lambda: dist.all_reduce_coalesced([own(), own(4, "int64")]),
        "all_reduce_coalesced of a number": lambda: dist.all_reduce_coalesced(3),
    }
    for name, call in tries.items():
        add(name, call)
    for name, call in bad_coalesced_lists().items():
        add(f"all_gather_coalesced {name}", call)
    add("gather into three", lambda: dist.gather(tensor, three, RANK))
    add("gather into a short one", lambda: dist.gather(tensor, short, RANK))
    add("gather into other dtypes", lambda: dist.gather(tensor, longs, RANK))
    add("gather without a list", lambda: dist.gather(tensor, None, RANK))
    add("gather into numbers", lambda: dist.gather(tensor, [1, 2], RANK))
    add("gather with a list elsewhere", lambda: dist.gather(tensor, [own(), own()], 1 - RANK))
    add("scatter of three", lambda: dist.scatter(tensor, three, RANK))
    add("scatter of a short one", lambda: dist.scatter(tensor, short, RANK))
    add("scatter of other dtypes", lambda: dist.scatter(tensor, longs, RANK))
    add("scatter without a list", lambda: dist.scatter(tensor, None, RANK))
    add("scatter with a list elsewhere", lambda: dist.scatter(tensor, [own(), own()], 1 - RANK))
    add("gather_object without a list", lambda: dist.gather_object(1, None, RANK))
    add("gather_object with a list elsewhere", lambda: dist.gather_object(1, [1, 2], 1 - RANK))
    add("scatter_object_list into nothing", lambda: dist.scatter_object_list([], [1, 2], RANK))
    add("scatter_object_list into a tuple", lambda: dist.scatter_object_list((1,), [1, 2], RANK))


def bad_coalesced_lists():
    one, two = [own()], [own(), own()]
    doubles = [own(dtype="float64")]
    return {
        "of a tensor": lambda: dist.all_gather_coalesced([one, one], own()),
        "of a tuple": lambda: dist.all_gather_coalesced([one, one], (own(),)),
        "of numbers": lambda: dist.all_gather_coalesced([one, one], [1]),
        "of two dtypes": lambda: dist.all_gather_coalesced([two, two], one + doubles),
        "into a tuple": lambda: dist.all_gather_coalesced((one, one), one),
        "into tensors": lambda: dist.all_gather_coalesced(two, one),
        "into tuples": lambda: dist.all_gather_coalesced([(own(),), (own(),)], one),
        "into numbers": lambda: dist.all_gather_coalesced([[1], [2]], one),
        "into two dtypes": lambda: dist.all_gather_coalesced([one + doubles, two], two),
        "into one": lambda: dist.all_gather_coalesced([one], one),
        "into none": lambda: dist.all_gather_coalesced([], one),
        "into short ones": lambda: dist.all_gather_coalesced([one, one], two),
        "into another size": lambda: dist.all_gather_coalesced([[own(3)], [own(3)]], one),
        "into another dtype": lambda: dist.all_gather_coalesced([doubles, doubles], one),
        "outside of the group": lambda: dist.all_gather_coalesced([], 3, group=dist.GroupMember.NON_GROUP_MEMBER),
    }


def written_with_history():
    """What collectives copy into is as after `copy_`: a leaf is refused, and another tensor loses its history."""
    calls = {
        "all_reduce_coalesced": lambda into: dist.all_reduce_coalesced([into]),
        "all_gather": lambda into: dist.all_gather([own(), into], own()),
        "all_gather_coalesced": lambda into: dist.all_gather_coalesced([[own()], [into]], [own()]),
        "gather": lambda into: dist.gather(own(), [own(), into] if RANK == 0 else None, 0),
        "reduce_scatter": lambda into: dist.reduce_scatter(into, [own(), own()]),
        "reduce_scatter_single": lambda into: dist.reduce_scatter_single(into, own(8)),
        "all_to_all": lambda into: dist.all_to_all([own(), into], [own(), own()]),
    }
    for name, call in calls.items():
        add(f"{name} into a product", lambda call=call: _gradient_after(call, own().requires_grad_()))
        if name != "gather":  # one process would be refused, and the other one wait
            add(f"{name} into a leaf", lambda call=call: call(own().requires_grad_()))


def _gradient_after(call, leaf):
    product = leaf * 2
    call(product)
    (product.sum() + leaf.sum()).backward()
    return product.detach(), leaf.grad


def bad_ranks():
    tensor = own()
    for rank in (-1, 2, 7, "0", 0.5):
        tries = {
            "broadcast": lambda rank=rank: dist.broadcast(tensor, rank),
            "reduce": lambda rank=rank: dist.reduce(tensor, rank),
            "gather": lambda rank=rank: dist.gather(tensor, [own(), own()], rank),
            "scatter": lambda rank=rank: dist.scatter(tensor, [own(), own()], rank),
            "send": lambda rank=rank: dist.send(tensor, rank),
            "recv": lambda rank=rank: dist.recv(tensor, rank),
            "isend": lambda rank=rank: dist.isend(tensor, rank),
            "irecv": lambda rank=rank: dist.irecv(tensor, rank),
            "broadcast from group_src": lambda rank=rank: dist.broadcast(tensor, group_src=rank),
            "send to group_dst": lambda rank=rank: dist.send(tensor, group_dst=rank),
            "get_global_rank": lambda rank=rank: dist.get_global_rank(dist.group.WORLD, rank),
            "get_group_rank": lambda rank=rank: dist.get_group_rank(dist.group.WORLD, rank),
        }
        for name, call in tries.items():
            # gloo looks for processes that don't exist until the time is up, or ends the program.
            if not (isinstance(rank, int) and ("send" in name or "recv" in name)):
                add(f"{name} {rank!r}", call)
    add("broadcast, no root", lambda: dist.broadcast(tensor))
    add("broadcast, two roots", lambda: dist.broadcast(tensor, 0, group_src=0))
    add("reduce, no root", lambda: dist.reduce(tensor))
    add("reduce, two roots", lambda: dist.reduce(tensor, 0, group_dst=0))
    add("send, no peer", lambda: dist.send(tensor))
    add("send, two peers", lambda: dist.send(tensor, 0, group_dst=0))
    add("send to itself", lambda: dist.send(tensor, RANK))
    add("recv from itself", lambda: dist.recv(tensor, RANK))
    add("send_object_list to itself", lambda: dist.send_object_list([1], RANK))
    add("recv_object_list from itself", lambda: dist.recv_object_list([1], RANK))
    add("send with tag text", lambda: dist.send(tensor, 1 - RANK, tag="a"))
    add("isend with tag None", lambda: dist.isend(tensor, 1 - RANK, tag=None))
    add("irecv with tag 1.5", lambda: dist.irecv(tensor, 1 - RANK, tag=1.5))


def bad_tensors():
    gaps = torch.arange(16.0).reshape(4, 4)[:, ::2]
    turned = torch.arange(6.0).reshape(2, 3).t()
    sparse = torch.eye(3).to_sparse()
    elsewhere = torch.empty(4, device="meta")
    conj = torch.ones(3, dtype=torch.complex64).conj()
    for kind, tensor in {"gaps": gaps, "turned": turned, "sparse": sparse, "meta": elsewhere, "conj": conj}.items():
        add(f"all_reduce of {kind}", lambda tensor=tensor: all_reduce(tensor))
        add(f"broadcast of {kind}", lambda tensor=tensor: broadcast(tensor))
        add(f"all_gather of {kind}", lambda tensor=tensor: all_gather(tensor))
        add(f"reduce of {kind}", lambda tensor=tensor: reduce(tensor))
        if kind != "meta":  # gloo's processes do different things
            add(f"send of {kind}", lambda tensor=tensor: swapped(tensor))
    for op in (3, "sum", None, dist.ReduceOp.PREMUL_SUM):
        for call in (all_reduce, reduce, reduce_scatter, reduce_scatter_single):
            add(f"{call.__name__} by {op!s}", lambda call=call, op=op: call(own(), op=op))
    for op in ("MIN", "MAX", "PRODUCT", "BAND", "BOR", "BXOR"):
        kind = getattr(dist.ReduceOp, op)
        for call in (all_reduce, reduce):
            add(f"{call.__name__} {op} of complex128", lambda c=call, k=kind: c(own(4, "complex128"), op=k))


def bad_groups():
    tensor = own()
    for name, group in {"a number": 5, "text": "world", "a list": [0, 1]}.items():
        tries = {
            "all_reduce": lambda group=group: dist.all_reduce(tensor, group=group),
            "broadcast": lambda group=group: dist.broadcast(tensor, 0, group=group),
            "all_gather": lambda group=group: dist.all_gather([own(), own()], tensor, group=group),
            "barrier": lambda group=group: dist.barrier(group=group),
            "get_rank": lambda group=group: dist.get_rank(group),
            "get_world_size": lambda group=group: dist.get_world_size(group),
            "get_backend": lambda group=group: dist.get_backend(group),
            "get_process_group_ranks": lambda group=group: dist.get_process_group_ranks(group),
            "send": lambda group=group: dist.send(tensor, 1 - RANK, group=group),
        }
        for call_name, call in tries.items():
            add(f"{call_name} in {name}", call)
    outside = dist.GroupMember.NON_GROUP_MEMBER
    tries = {
        "all_reduce": lambda: dist.all_reduce(tensor, group=outside),
        "broadcast": lambda: dist.broadcast(tensor, 0, group=outside),
        "reduce": lambda: dist.reduce(tensor, 0, group=outside),
        "all_gather": lambda: dist.all_gather([own(), own()], tensor, group=outside),
        "gather": lambda: dist.gather(tensor, None, 0, group=outside),
        "scatter": lambda: dist.scatter(tensor, None, 0, group=outside),
        "barrier": lambda: dist.barrier(group=outside),
        "send": lambda: dist.send(tensor, 1 - RANK, group=outside),
        "recv": lambda: dist.recv(tensor, 1 - RANK, group=outside),
        "isend": lambda: dist.isend(tensor, 1 - RANK, group=outside),
        "irecv": lambda: dist.irecv(tensor, 1 - RANK, group=outside),
        "all_gather_object": lambda: dist.all_gather_object([1, 2], 1, group=outside),
        "get_rank": lambda: dist.get_rank(outside),
        "get_world_size": lambda: dist.get_world_size(outside),
        "get_backend": lambda: dist.get_backend(outside),
        "destroy_process_group": lambda: dist.destroy_process_group(outside),
    }
    for call_name, call in tries.items():
        add(f"{call_name} outside of the group", call)
    for ranks in ([0, 0], [2], [-1], [0, 1, 2], "01", [0.5]):
        add(f"new_group {ranks}", lambda ranks=ranks: dist.new_group(ranks))
    add("new_group of a backend that is not built", lambda: dist.new_group([0, 1], backend="nccl"))
    add("new_group of an unknown backend", lambda: dist.new_group([0, 1], backend="smoke"))
    add("new_group with seconds", lambda: dist.new_group([0, 1], timeout=5))
    for size in (0, 3, None):
        add(f"new_subgroups of {size}", lambda size=size: dist.new_subgroups(size))
    add("new_subgroups_by_enumeration of nothing", lambda: dist.new_subgroups_by_enumeration([]))
    add("new_subgroups_by_enumeration twice", lambda: dist.new_subgroups_by_enumeration([[0, 1], [1]]))
    add("init twice", lambda: dist.init_process_group("gloo"))


# -------------------- objects, work, groups --------------------


def good_calls():
    add("all_gather_object", lambda: filled(lambda into: dist.all_gather_object(into, {"rank": RANK, "x": "y" * RANK})))
    add("gather_object", lambda: filled(lambda into: dist.gather_object((RANK, None), into if RANK == 0 else None, 0)))
    add("broadcast_object_list", lambda: broadcast_objects([RANK, "x" * 50, None, [1.5]] if RANK else [None] * 4))
    add("scatter_object_list", lambda: scattered([{"a": 1}, "x" * 100]))
    add("object messages", object_messages)
    add("batch of messages", batch)
    add("batch of nothing", lambda: dist.batch_isend_irecv([]))
    add("batch of numbers", lambda: dist.batch_isend_irecv([1]))
    add("P2POp of another function", lambda: dist.P2POp(dist.all_reduce, own(), 1 - RANK))
    add("messages with tags", tagged)
    add("message from anywhere", anywhere)
    add("work", work)
    add("work of a message", work_of_message)
    add("barrier", lambda: dist.barrier())
    add("barrier, async", lambda: dist.barrier(async_op=True).wait())
    add("barrier with a device", lambda: dist.barrier(device_ids=0))
    add("monitored_barrier", lambda: dist.monitored_barrier())
    add("all_reduce_coalesced", coalesced)
    add("all_reduce_coalesced as a future", lambda: dist.all_reduce_coalesced([own(2), own(3)], async_op=True).wait())
    add("all_gather_coalesced", gathered)
    add("all_gather_coalesced as a future", lambda: dist.all_gather_coalesced(*gathering(), async_op=True).wait())
    add("group of both, turned", lambda: in_group(dist.new_group([1, 0])))
    add("group of one", lambda: in_group([dist.new_group([0]), dist.new_group([1])][RANK]))
    add("subgroups of one", lambda: in_group(dist.new_subgroups(1)[0]))
    add("subgroups of two", lambda: [len(each) for each in [dist.new_subgroups(2)[1]]])
    add("about the world", about)
    add("reduce_op", lambda: [str(dist.reduce_op.SUM), sorted(dist.reduce_op.__members__)])
    add("distributed_c10d", c10d)
    add("ReduceOp", lambda: [str(dist.ReduceOp.SUM), dist.ReduceOp.SUM == dist.ReduceOp(dist.ReduceOp.SUM)])
    add("ReduceOp by name", lambda: str(dist.ReduceOp.RedOpType.MAX))
    add("supports_complex", lambda: [dist.distributed_c10d.supports_complex(getattr(dist.ReduceOp, op)) for op in OPS])
    add("channels last", lambda: all_reduce(numbers(16).reshape(1, 2, 2, 4).to(memory_format=torch.channels_last)))
    add("part of a tensor", lambda: all_reduce(numbers(12)[4:8]))
    add("all_to_all", lists)
    add("all_to_all of parts", uneven)
    add("Backend", lambda: [dist.Backend("GLOO"), dist.Backend.NCCL, dist.Backend("smoke")])
    add("Backend of a number", lambda: dist.Backend(3))


def filled(call):
    into = [None] * SIZE
    call(into)
    return into


def broadcast_objects(objects):
    dist.broadcast_object_list(objects, 1)
    return objects


def scattered(objects):
    into = [None]
    dist.scatter_object_list(into, objects if RANK == 1 else None, 1)
    return into


def object_messages():
    if RANK == 0:
        dist.send_object_list([1, "two", {3: 4}], 1)
        return None
    into = [None] * 3
    return dist.recv_object_list(into, 0), into


def batch():
    found = torch.zeros(4)
    ops = [dist.P2POp(dist.isend, own(), 1 - RANK), dist.P2POp(dist.irecv, found, 1 - RANK)]
    for each in dist.batch_isend_irecv(ops):
        each.wait()
    return found


def tagged():
    first, second = torch.zeros(2), torch.zeros(3)
    if RANK == 0:
        works = [dist.isend(own(2), 1, tag=7), dist.isend(own(3), 1, tag=8)]
    else:
        works = [dist.irecv(second, 0, tag=8), dist.irecv(first, 0, tag=7)]
    for each in works:
        each.wait()
    return first, second


def anywhere():
    found = torch.zeros(4)
    if RANK == 0:
        return dist.recv(found), found
    return dist.send(own(), 0)


def work():
    tensor = own()
    made = dist.all_reduce(tensor, async_op=True)
    waited = made.wait()
    return waited, made.is_completed(), made.is_success(), tensor, made.get_future().wait()


def work_of_message():
    found = torch.zeros(4)
    made = dist.isend(own(), 1) if RANK == 0 else dist.irecv(found, 0)
    return made.wait(), made.is_completed(), found


def coalesced():
    tensors = [own(2), own(3)]
    dist.all_reduce_coalesced(tensors)
    return tensors


def gathering():
    return [[torch.zeros(2), torch.zeros(3, 1)] for _ in range(SIZE)], [own(2), own(3).reshape(3, 1)]


def gathered():
    into, given = gathering()
    dist.all_gather_coalesced(into, given)
    return into


def in_group(group):
    tensor = own()
    dist.all_reduce(tensor, group=group)
    ranks = dist.get_process_group_ranks(group)
    return tensor, dist.get_rank(group), dist.get_world_size(group), ranks, dist.get_backend(group), group.size()


def about():
    world = dist.group.WORLD
    return (
        dist.get_rank(), dist.get_world_size(), dist.get_backend(), dist.is_initialized(), dist.is_available(),
        dist.get_process_group_ranks(world), dist.get_global_rank(world, 1), world.rank(), world.size(), world.name(),
        dist.get_backend_config(), dist.is_nccl_available(), dist.get_node_local_rank(),
    )  # fmt: skip


def c10d():
    module = dist.distributed_c10d
    return [
        module.all_reduce is dist.all_reduce, module._get_default_group() is dist.group.WORLD,
        module._rank_not_in_group(None), module.ProcessGroup is dist.ProcessGroup,
        module.ReduceOp is dist.ReduceOp, module._get_default_timeout("gloo").total_seconds(),
        module.is_initialized(), module._get_group_size(None), module._world.default_pg is dist.group.WORLD,
    ]  # fmt: skip


def lists():
    found = [torch.zeros(2), torch.zeros(2)]
    dist.all_to_all(found, [own(2), own(2) + 10])
    return found


def uneven():
    found = torch.zeros(2 * (RANK + 1), 2)
    source = numbers(6).reshape(3, 2) + 10 * RANK
    dist.all_to_all_single(found, source, [RANK + 1] * 2, [1, 2])
    return found


# -------------------- running --------------------


def plain(value):
    """A result as JSON has it."""
    if isinstance(value, torch.Tensor):
        whole = value.detach()
        listed = (whole.to(torch.float64) if whole.dtype in (torch.bfloat16, torch.float16) else whole).tolist()
        return [str(value.dtype).rpartition(".")[2], list(value.shape), json.loads(json.dumps(listed, default=str))]
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    return value if isinstance(value, (int, float, str, type(None))) else f"<{type(value).__name__}>"


def outcome(call):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            result = {"gives": plain(call())}
        except Exception as error:  # noqa: BLE001 (what it is, is the result)
            result = {"raises": type(error).__name__, "says": str(error)}
    result["warns"] = sorted({str(each.message) for each in seen})
    return result


def before_and_after():
    """Calls without any group."""
    tensor = torch.ones(2)
    tries = {
        "all_reduce": lambda: dist.all_reduce(tensor), "barrier": lambda: dist.barrier(),
        "get_rank": lambda: dist.get_rank(), "get_world_size": lambda: dist.get_world_size(),
        "get_backend": lambda: dist.get_backend(), "new_group": lambda: dist.new_group([0]),
        "send": lambda: dist.send(tensor, 0), "recv": lambda: dist.recv(tensor, 0),
        "broadcast": lambda: dist.broadcast(tensor, 0), "destroy": lambda: dist.destroy_process_group(),
        "all_gather_object": lambda: dist.all_gather_object([1], 1), "is_initialized": lambda: dist.is_initialized(),
        "all_reduce of a number": lambda: dist.all_reduce(1), "monitored_barrier": lambda: dist.monitored_barrier(),
        "P2POp": lambda: dist.P2POp(dist.isend, tensor, 0), "gather": lambda: dist.gather(tensor, None, 0),
    }  # fmt: skip
    return {name: outcome(call) for name, call in tries.items()}


def main():
    global RANK, SIZE
    results = {f"{name}, no group yet": each for name, each in before_and_after().items()}
    dist.init_process_group("gloo", timeout=timedelta(seconds=20))
    RANK, SIZE = dist.get_rank(), dist.get_world_size()
    for fill in (values, bad_types, bad_sizes, bad_ranks, bad_tensors, bad_groups, written_with_history, good_calls):
        fill()
    file = Path(sys.argv[2], f"{sys.argv[1]}{RANK}.json")
    for name, call in CASES.items():
        results[name] = outcome(call)
        if "-v" in sys.argv:
            print(RANK, name, results[name], flush=True)
    dist.barrier()
    dist.destroy_process_group()
    results |= {f"{name}, no group left": each for name, each in before_and_after().items()}
    file.write_text(json.dumps(results))


if __name__ == "__main__":
    main()
