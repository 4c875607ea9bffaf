"""A language model in parallel along sequence, heads and classes, also with fully_shard, is that of one process."""

import sys

import mindtorch as torch
import mindtorch.distributed as dist
import mindtorch.distributed.checkpoint as dcp
from mindtorch import nn
from mindtorch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from mindtorch.distributed.device_mesh import init_device_mesh
from mindtorch.distributed.fsdp import fully_shard
from mindtorch.distributed.tensor import DTensor, Replicate, Shard
from mindtorch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    PrepareModuleInputOutput,
    PrepareModuleOutput,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)
from mindtorch.nn import functional as F

WORDS, WIDTH, HEADS, LENGTH = 18, 8, 2, 8

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (size // 2, 2), mesh_dim_names=("data", "model"))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))

    def forward(self, x):
        heads = [each(x).unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2) for each in (self.wq, self.wk, self.wv)]
        return self.wo(F.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.attention = Attention()
        self.up, self.down = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(3 * WIDTH, WIDTH)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.silu(self.up(self.norm2(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm, self.output = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, words):
        x = self.words(words) + self.places(torch.arange(LENGTH))
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x))


def made():
    torch.manual_seed(0)
    return Model().double()


def spread(model, by_classes):
    along = {"input_layouts": Shard(1)}
    parallelize_module(model, mesh["model"], {
        "words": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "places": ColwiseParallel(output_layouts=Shard(0)),
        "blocks.*.norm*": SequenceParallel(),
        "blocks.*.attention": PrepareModuleInput(input_layouts=Shard(1), desired_input_layouts=Replicate()),
        "blocks.*.attention.w[qkv]": ColwiseParallel(use_local_output=False),
        "blocks.*.attention.wo": RowwiseParallel(output_layouts=Shard(1)),
        "blocks.*.up": ColwiseParallel(**along),
        "blocks.*.down": RowwiseParallel(output_layouts=Shard(1)),
        "norm": SequenceParallel(),
        "output": ColwiseParallel(
            **along, output_layouts=Shard(-1) if by_classes else Replicate(), use_local_output=not by_classes
        ),
    })  # fmt: skip
    return model


def words_of(place, step):
    return (torch.arange(2 * LENGTH).reshape(2, LENGTH) * (5 + 2 * place) + step) % WORDS


def loss_of(model, place, step):
    words = words_of(place, step)
    return F.cross_entropy(model(words).flatten(0, 1), (words.flatten() + 1) % WORDS, ignore_index=3)


def close(one, other, what):
    torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-11, msg=lambda text: f"{what}: {text}")


def train(by_classes, is_sharded, folder):
    model, whole = spread(made(), by_classes), made()
    if is_sharded:
        for block in model.blocks:
            fully_shard(block, mesh=mesh["data"])
        fully_shard(model, mesh=mesh["data"])
    optimizer, of_whole = torch.optim.AdamW(model.parameters(), 0.01), torch.optim.AdamW(whole.parameters(), 0.01)
    places = range(size // 2) if is_sharded else [0]
    own = mesh.get_local_rank("data") if is_sharded else 0
    for step in range(3):
        if by_classes:
            with loss_parallel():
                loss = loss_of(model, own, step)
                loss.backward()
        else:
            loss = loss_of(model, own, step)
            loss.backward()
        loss = loss.full_tensor() if isinstance(loss, DTensor) else loss
        for place in places:
            wanted = loss_of(whole, place, step)
            (wanted / len(places)).backward()
            if place == own:
                close(loss.detach(), wanted.detach(), f"loss {step}")
        for (name, each), other in zip(model.named_parameters(), whole.parameters(), strict=True):
            close(each.grad.full_tensor(), other.grad, f"gradient of {name} in step {step}")
        if is_sharded:
            norm = nn.utils.clip_grad_norm_(model.parameters(), 0.3).full_tensor()
            close(norm, nn.utils.clip_grad_norm_(whole.parameters(), 0.3), "norm")
        optimizer.step(), of_whole.step()
        optimizer.zero_grad(), of_whole.zero_grad()
    for (name, each), other in zip(model.named_parameters(), whole.parameters(), strict=True):
        close(each.full_tensor().detach(), other.detach(), name)
    if is_sharded:
        save_and_load(model, optimizer, whole, by_classes, folder)


def save_and_load(model, optimizer, whole, by_classes, folder):
    """The parts of both make a checkpoint, which a model of whole parameters can load."""
    names = ("model", "optimizer")
    dcp.save(dict(zip(names, get_state_dict(model, optimizer), strict=True)), checkpoint_id=folder)
    other = made()
    state = dict(zip(names, get_state_dict(other, torch.optim.AdamW(other.parameters(), 0.01)), strict=True))
    dcp.load(state, checkpoint_id=folder)
    set_state_dict(
        other,
        torch.optim.AdamW(other.parameters(), 0.01),
        model_state_dict=state["model"],
        optim_state_dict=state["optimizer"],
    )
    for one, another in zip(other.parameters(), whole.parameters(), strict=True):
        close(one.detach(), another.detach(), "checkpoint")


class Scaled(nn.Module):
    def forward(self, x, *, factor):
        assert x.placements == (Shard(0),) and factor.shape == (1,)
        return x * 2, factor


def prepared():
    """Layouts of keywords and of several outputs."""
    style = PrepareModuleInputOutput(
        input_layouts=Replicate(), desired_input_layouts=Shard(0), output_layouts=(Shard(0), None),
        desired_output_layouts=(Replicate(), None),
    )  # fmt: skip
    found, factor = parallelize_module(Scaled(), mesh["model"], style)(torch.ones(4, 3), factor=torch.ones(1))
    assert found.shape == (4, 3) and type(found) is torch.Tensor and factor.shape == (1,)
    output = PrepareModuleOutput(output_layouts=Shard(0), desired_output_layouts=Shard(1), use_local_output=False)
    found = parallelize_module(nn.Identity(), mesh["model"], output)(torch.ones(4, 6))
    assert found.shape == (8, 6) and found.placements == (Shard(1),)


for number, (by_classes, is_sharded) in enumerate([(False, False), (True, False), (False, True), (True, True)]):
    train(by_classes, is_sharded, f"{sys.argv[1]}/{number}")
prepared()
print("equal")
dist.destroy_process_group()
