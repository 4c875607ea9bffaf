"""Ops on spread tensors give what they give on whole ones, gradients included; and random numbers are in step."""

import mindtorch as torch
import mindtorch.distributed as dist
from mindtorch.distributed.device_mesh import init_device_mesh
from mindtorch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor, full, rand, randn
from mindtorch.nn import functional as F

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (dist.get_world_size(),))

x = torch.linspace(-1, 1, 36, dtype=torch.float64).reshape(6, 6).sin()
y = torch.linspace(2, -1, 36, dtype=torch.float64).reshape(6, 6).cos()
odd = torch.linspace(-1, 1, 28, dtype=torch.float64).reshape(7, 4)
cube = torch.linspace(-1, 1, 48, dtype=torch.float64).reshape(2, 6, 4).sin()
image = torch.linspace(-1, 1, 6 * 2 * 4 * 4, dtype=torch.float64).reshape(6, 2, 4, 4).sin()
heads = torch.linspace(-1, 1, 96, dtype=torch.float64).reshape(2, 6, 2, 4).sin()
kernel = torch.linspace(-1, 1, 3 * 2 * 3 * 3, dtype=torch.float64).reshape(3, 2, 3, 3)
rows = torch.tensor([5, 0, 2, 2, 1, 3])
places = torch.tensor([[1, 2], [0, 3], [1, 1], [2, 0], [5, 4], [3, 3]])

CASES = {
    "std": (lambda a: a.std(), x),
    "var of rows": (lambda a: a.var(1), x),
    "var and mean": (lambda a: torch.var_mean(a, 0, keepdim=True)[0], x),
    "largest of rows": (lambda a: a.max(1).values, x),
    "smallest of columns": (lambda a: a.min(0, keepdim=True).values, odd),
    "argmax": (lambda a: a.argmax(1), x),
    "argmin of all": (lambda a: a.argmin(), odd),
    "median": (lambda a: a.median(), odd),
    "prod": (lambda a: (a + 2).prod(), x),
    "prod of rows": (lambda a: (a + 2).prod(1), odd),
    "all": (lambda a: (a > -2).all(), odd),
    "any": (lambda a: (a > 0.99).any(), odd),
    "any of rows": (lambda a: (a > 0.5).any(1), odd),
    "count of trues": (lambda a: (a > 0.5).any(0).sum(), odd),
    "logsumexp": (lambda a: a.logsumexp(1), x),
    "cumsum": (lambda a: a.cumsum(0), odd),
    "cumprod": (lambda a: (a + 2).cumprod(1), x),
    "sorted": (lambda a: a.sort(1).values, x),
    "argsort": (lambda a: a.argsort(0, descending=True), odd),
    "topk": (lambda a: a.topk(2, 1).values, x),
    "flip": (lambda a: a.flip(0, 1), odd),
    "roll": (lambda a: a.roll(2, 1), x),
    "tril": (lambda a: a.tril(), x),
    "squeeze": (lambda a: a[:, None].squeeze(), x),
    "repeat": (lambda a: a.repeat(2, 1, 3), odd),
    "diagonal": (lambda a: a.diagonal(), x),
    "pad": (lambda a: F.pad(a, (1, 2)), odd),
    "index_select": (lambda a, i: a.index_select(0, i), x, rows),
    "index": (lambda a, i: a[i], x, rows),
    "gather": (lambda a, i: a.gather(1, i), x, places),
    "scatter": (lambda a, i: a.scatter(1, i, 3.0), x, places),
    "scatter_add": (lambda a, i: a.scatter_add(1, i, a[:, :2] * 2), x, places),
    "index_add": (lambda a, i: a.index_add(0, i, a * 3), x, rows),
    "one_hot": (lambda i: F.one_hot(i, 6), rows),
    "masked_fill": (lambda a: a.masked_fill(a > 0, 0.5), odd),
    "masked_select": (lambda a: a.detach().masked_select(a.detach() > 0), odd),
    "floor_divide": (lambda a: a.detach() // 0.3, odd),
    "softplus": (lambda a: F.softplus(a), odd),
    "leaky_relu": (lambda a: F.leaky_relu(a, 0.1), odd),
    "hardtanh": (lambda a: F.hardtanh(a, -0.3, 0.4), odd),
    "embedding": (lambda w, i: F.embedding(i, w), odd, places),
    "embedding with padding": (lambda w, i: F.embedding(i, w, padding_idx=1), odd, places),
    "cross entropy": (lambda a, i: F.cross_entropy(a, i), x, rows),
    "cross entropy, summed": (lambda a, i: F.cross_entropy(a, i, reduction="sum", ignore_index=2), x, rows),
    "cross entropy, each": (lambda a, i: F.cross_entropy(a, i, reduction="none"), x, rows),
    "mse": (lambda a, b: F.mse_loss(a, b), x, y),
    "mse, each": (lambda a, b: F.mse_loss(a, b, reduction="none"), x, y),
    "smooth l1": (lambda a, b: F.smooth_l1_loss(a, b), x, y),
    "bce": (lambda a, b: F.binary_cross_entropy_with_logits(a, b.detach().sigmoid()), x, y),
    "conv": (lambda a, k: F.conv2d(a, k, padding=1), image, kernel),
    "max pool": (lambda a: F.max_pool2d(a, 2), image),
    "mean pool": (lambda a: F.avg_pool2d(a, 2), image),
    "batch norm": (lambda a: F.batch_norm(a, None, None, training=True), image),
    "group norm": (lambda a: F.group_norm(a, 2), image),
    "attention": (lambda a: F.scaled_dot_product_attention(a, a * 2, a + 1), heads),
    "causal attention": (lambda a: F.scaled_dot_product_attention(a, a * 2, a + 1, is_causal=True), heads),
    "fft": (lambda a: torch.fft.fft(a, dim=1).abs(), x),
    "inverse": (lambda a: torch.linalg.inv(a + 3 * torch.linalg.norm(a)), x + torch.eye(6, dtype=torch.float64)),
    "cosine": (lambda a, b: F.cosine_similarity(a, b), x, y),
    "softmax": (lambda a: a.softmax(1), cube),
    "nansum": (lambda a: a.nansum(1), cube),
}


def whole(value):
    return value.full_tensor() if isinstance(value, DTensor) else value


def check(name, placement, function, *tensors):
    leaves = [each.clone().requires_grad_(each.is_floating_point()) for each in tensors]
    spread = [distribute_tensor(each.detach(), mesh, [placement]) for each in leaves]
    spread = [each.requires_grad_(each.is_floating_point()) for each in spread]
    wanted, found = function(*leaves), function(*spread)
    assert isinstance(found, DTensor) and found.shape == wanted.shape, (name, placement, found.shape, wanted.shape)
    torch.testing.assert_close(whole(found.detach()), wanted.detach(), msg=lambda text: f"{name} {placement}: {text}")
    if wanted.requires_grad:
        weights = torch.linspace(1, 2, wanted.numel(), dtype=wanted.dtype).reshape(wanted.shape)
        (wanted * weights).sum().backward()
        (found * distribute_tensor(weights, mesh, [Replicate()])).sum().backward()
        for one, other in zip(leaves, spread, strict=True):
            if one.grad is not None:
                text = f"gradient of {name} {placement}: "
                torch.testing.assert_close(whole(other.grad), one.grad, msg=lambda said, text=text: text + said)


for name, (function, *tensors) in CASES.items():
    for placement in (Shard(0), Shard(1), Replicate()):
        if not (placement == Shard(1) and min(each.ndim for each in tensors) < 2):
            check(name, placement, function, *tensors)

# Random numbers: parts that several processes have are the same, others are not, and the program's own go on in step.
torch.manual_seed(dist.get_rank() + 1)
drawn = randn(40, 3, device_mesh=mesh, placements=[Shard(0)]).full_tensor()
assert len(set(drawn.flatten().tolist())) == 120
everywhere = [torch.zeros(4, 4) for _ in range(dist.get_world_size())]
dist.all_gather(everywhere, rand(4, 4, device_mesh=mesh, placements=[Replicate()]).to_local())
assert all(torch.equal(each, everywhere[0]) for each in everywhere)
dropped = F.dropout(distribute_tensor(torch.ones(60, 50), mesh, [Shard(0)]), 0.5).full_tensor()
assert 0.45 < (dropped == 0).float().mean() < 0.55 and set(dropped.flatten().tolist()) == {0.0, 2.0}
torch.manual_seed(3)
first = torch.nn.init.trunc_normal_(full((9, 4), 0.0, device_mesh=mesh, placements=[Shard(0)])).full_tensor()
torch.manual_seed(3)
again = torch.nn.init.trunc_normal_(full((9, 4), 0.0, device_mesh=mesh, placements=[Shard(0)])).full_tensor()
assert torch.equal(first, again) and first.std() > 0.3

print("equal")
dist.destroy_process_group()
