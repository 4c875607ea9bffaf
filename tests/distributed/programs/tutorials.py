"""What programs of PyTorch's tutorials do, by the library of the first argument; what comes out, in a file.

Run by each library in two processes: see `test_gloo`.
"""

import importlib
import json
import os
import sys
import warnings
from pathlib import Path

name, folder = sys.argv[1], Path(sys.argv[2])
torch = importlib.import_module(name)


def of(path):
    return importlib.import_module(f"{name}.{path}")


dist, nn = of("distributed"), torch.nn
DDP = of("nn.parallel").DistributedDataParallel
dcp, dcp_states = of("distributed.checkpoint"), of("distributed.checkpoint.state_dict")
hooks = of("distributed.algorithms.ddp_comm_hooks")
warnings.simplefilter("ignore")
found = {}


def model():
    made = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).double()
    with torch.no_grad():
        for place, each in enumerate(made.parameters()):
            each.copy_(torch.cos(torch.arange(each.numel()).double() + place).reshape(each.shape) * 0.3)
    return made


def sums(module):
    whole = [each.full_tensor() if hasattr(each, "full_tensor") else each for each in module.parameters()]
    return [each.abs().sum().item() for each in whole]


def train(module, optimizer, steps=4):
    for step in range(steps):
        optimizer.zero_grad()
        inputs = torch.linspace(-1, 1 + rank + step, 32, dtype=torch.float64).reshape(4, 8)
        module(inputs).pow(2).mean().backward()
        optimizer.step()


def refused(function):
    try:
        function()
    except (RuntimeError, ValueError, TypeError, KeyError, AssertionError) as error:
        return [type(error).__name__, *map(str, error.args)]
    return ["no error"]


def hooks_by_name():
    for kind in ("ALLREDUCE", "NOOP"):
        module = DDP(model())
        hooks.register_ddp_comm_hook(hooks.DDPCommHookType[kind], module)
        train(module, torch.optim.SGD(module.parameters(), 0.1))
        found[f"hook {kind}"] = sums(module)


def local_sgd():
    local = of("distributed.algorithms.ddp_comm_hooks.post_localSGD_hook")
    averagers = of("distributed.algorithms.model_averaging.averagers")
    for reduces in (True, False):
        module = DDP(model())
        group = dist.new_subgroups(1)[0]
        state = local.PostLocalSGDState(None, group, 2, post_local_gradient_allreduce=reduces)
        module.register_comm_hook(state, local.post_localSGD_hook)
        averager = averagers.PeriodicModelAverager(period=2, warmup_steps=2)
        inner = torch.optim.SGD(module.parameters(), 0.1, momentum=0.9)
        optimizer = of("distributed.optim").PostLocalSGDOptimizer(inner, averager)
        train(module, optimizer, 7)
        found[f"local {reduces}"] = sums(module)
        found[f"local state {reduces}"] = [sorted(optimizer.state_dict()), optimizer.state_dict()["step"]]
        optimizer.load_state_dict(inner.state_dict())
        found[f"local step {reduces}"] = averager.step
    found["averagers"] = [
        refused(lambda: averagers.PeriodicModelAverager(0)), refused(lambda: averagers.PeriodicModelAverager(2, -1))
    ]  # fmt: skip


def zero():
    make = of("distributed.optim").ZeroRedundancyOptimizer
    module = DDP(model())
    optimizer = make(module.module[0].parameters(), torch.optim.Adam, lr=0.01)
    train(module, optimizer)
    optimizer.add_param_group({"params": list(module.module[2].parameters()), "lr": 0.1})
    train(module, optimizer)
    found["zero"] = sums(module)
    optimizer.consolidate_state_dict(to=0)
    found["zero state"] = sorted(optimizer.state_dict()["state"]) if rank == 0 else refused(optimizer.state_dict)
    found["zero groups"] = [len(optimizer.param_groups), [each["lr"] for each in optimizer.param_groups]]
    found["zero refuses"] = [refused(lambda given=given: make(given, torch.optim.SGD, lr=0.1)) for given in ([], [1])]


class AppState(of("distributed.checkpoint.stateful").Stateful):
    def __init__(self, module, optimizer):
        self.module, self.optimizer = module, optimizer

    def state_dict(self):
        own, of_optimizer = dcp_states.get_state_dict(self.module, self.optimizer)
        return {"model": own, "optim": of_optimizer}

    def load_state_dict(self, state):
        dcp_states.set_state_dict(
            self.module, self.optimizer, model_state_dict=state["model"], optim_state_dict=state["optim"]
        )


def checkpoints():
    place = folder / f"checkpoint-{name}"
    module = of("distributed.fsdp").fully_shard(model())
    optimizer = torch.optim.Adam(module.parameters(), lr=0.1)
    train(module, optimizer)
    dcp.save({"app": AppState(module, optimizer), "step": 7}, checkpoint_id=place)
    again = of("distributed.fsdp").fully_shard(model())
    state = {"app": AppState(again, torch.optim.Adam(again.parameters(), lr=0.1)), "step": 0}
    dcp.load(state, checkpoint_id=place)
    found["checkpoint"] = [sums(again), state["step"]]
    if rank == 0:
        one_file(place)
    dist.barrier()


def one_file(place):
    """A checkpoint as a file of `torch.save`, and that as a checkpoint."""
    formats = of("distributed.checkpoint.format_utils")
    planners = of("distributed.checkpoint.default_planner")
    formats.dcp_to_torch_save(place, folder / f"{name}.pt")
    whole = torch.load(folder / f"{name}.pt", weights_only=False)
    state = whole["app"]["optim"]["state"]["0.weight"]
    found["one file"] = [
        whole["step"],
        sorted(whole["app"]),
        state["exp_avg"].sum().item(),
        list(state["exp_avg"].shape),
    ]
    formats.torch_save_to_dcp(folder / f"{name}.pt", folder / f"again-{name}")
    some = {"step": 0, "app": {"model": {"0.weight": torch.zeros(16, 8, dtype=torch.float64)}}, "new": torch.ones(1)}
    planner = planners.DefaultLoadPlanner(allow_partial_load=True)
    dcp.load(some, checkpoint_id=folder / f"again-{name}", planner=planner, no_dist=True)
    found["some of it"] = [some["step"], some["app"]["model"]["0.weight"].sum().item(), some["new"].item()]


def meshes():
    mesh = of("distributed.device_mesh").init_device_mesh("cpu", (1, 2), mesh_dim_names=("rows", "columns"))
    found["mesh"] = [list(mesh.get_coordinate()), str(type(mesh.get_coordinate())), repr(mesh["columns"])]
    found["mesh refuses"] = refused(lambda: mesh["x"])


def levels():
    found["levels"] = [
        dist.get_debug_level().name, dist.set_debug_level(dist.DebugLevel.INFO), dist.get_debug_level().name
    ]  # fmt: skip
    os.environ["TORCH_DISTRIBUTED_DEBUG"] = "loud"
    found["level"] = refused(dist.set_debug_level_from_env)
    output = torch.zeros(4)
    dist._all_gather_base(output, torch.ones(2) * rank)
    part = torch.zeros(2)
    dist._reduce_scatter_base(part, output)
    found["old names"] = [output.tolist(), part.tolist()]


dist.init_process_group("gloo")
rank = dist.get_rank()
for each in (hooks_by_name, local_sgd, zero, checkpoints, meshes, levels):
    each()
found["without gradients"] = refused(lambda: DDP(model().requires_grad_(False)))
(folder / f"{name}{rank}.json").write_text(json.dumps(found).replace("mindtorch", "torch"))
dist.destroy_process_group()
