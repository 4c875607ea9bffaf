"""Optimizers, data, and what else a program has."""

import io
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import mindtorch as torch
import mindtorch.nn as nn
import mindtorch.nn.functional as F
import mindtorch.optim as optim
from mindtorch import Tensor
from mindtorch.optim import lr_scheduler
from mindtorch.utils.checkpoint import checkpoint
from mindtorch.utils.data import (
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)

x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
y = torch.ones(2, 2)
device = torch.device("cpu")
model = nn.Sequential(nn.Linear(3, 2), nn.ReLU())


def quadratic(v: Tensor) -> Tensor:
    return (v**2).sum()


# -------------------- optimizers --------------------

optimizer: torch.optim.Optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
adam = torch.optim.AdamW([{"params": model.parameters(), "lr": 1e-3}], lr=1e-3, weight_decay=0.01, betas=(0.9, 0.99))
scheduler = lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.5)
optimizers = (
    optim.Adam(model.parameters()),
    optim.Adam(list(model.parameters()), lr=1e-3),
    optim.RMSprop(model.parameters(), lr=0.01),
    optim.LBFGS(model.parameters()),
    optimizer.step(),
    optimizer.step(lambda: 1.0),
    optimizer.state_dict(),
    optimizer.param_groups,
    optimizer.param_groups[0]["lr"],
    optimizer.state,
    scheduler.get_last_lr(),
    scheduler.state_dict(),
    lr_scheduler.LambdaLR(optimizer, lambda step: 0.95**step),
    lr_scheduler.CosineAnnealingLR(optimizer, T_max=10),
    lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=10),
    lr_scheduler.SequentialLR(optimizer, [scheduler], milestones=[]),
    torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9),
    torch.optim.swa_utils.AveragedModel(model),
)
optimizer.zero_grad()
optimizer.zero_grad(set_to_none=True)
optimizer.load_state_dict(optimizer.state_dict())
optimizer.add_param_group({"params": [torch.zeros(1, requires_grad=True)]})
scheduler.step()
lr_scheduler.ReduceLROnPlateau(optimizer, patience=2).step(0.5)
for group in optimizer.param_groups:
    group["lr"] *= 0.5

# -------------------- data --------------------


class Numbers(Dataset[tuple[Tensor, int]]):
    def __init__(self, count: int, transform: Callable[[Tensor], Tensor] | None = None) -> None:
        self.count = count
        self.transform = transform

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        value = torch.tensor(float(index))
        return (self.transform(value) if self.transform else value), index


class Unparametrized(Dataset):
    def __len__(self) -> int:
        return 3

    def __getitem__(self, index):
        return torch.tensor(index)


class Stream(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        yield from range(3)


def collate(samples: list[tuple[Tensor, int]]) -> Tensor:
    return torch.stack([sample for sample, _ in samples])


numbers = Numbers(4)
pairs = TensorDataset(x, x)
loader = DataLoader(pairs, batch_size=2, shuffle=True, num_workers=0, drop_last=False)
data = (
    numbers[0],
    len(numbers),
    pairs[0],
    pairs.tensors,
    len(pairs),
    loader,
    len(loader),
    next(iter(loader)),
    loader.dataset,
    loader.batch_size,
    DataLoader(numbers, batch_size=2, collate_fn=collate),
    DataLoader(Stream()),
    random_split(pairs, [1, 1]),
    random_split(pairs, [0.5, 0.5], generator=torch.Generator()),
    Subset(pairs, [0]),
    Subset(pairs, [0])[0],
    ConcatDataset([pairs, pairs]),
    torch.utils.data.RandomSampler(pairs),
    torch.utils.data.default_collate([x, x]),
)
for inputs, targets in loader:
    optimizer.zero_grad()
    loss = F.mse_loss(inputs, targets)
    running = loss.item() * inputs.size(0)
for step, (inputs, targets) in enumerate(loader):
    inputs, targets = inputs.to(device) * step, targets.to(device, non_blocking=True)
for chunk in DataLoader(numbers, batch_size=2, collate_fn=collate):
    averaged = chunk.mean()
plain_loader: DataLoader = DataLoader(Unparametrized())
for sample in plain_loader:
    stacked = torch.stack([sample, sample])
train_part, test_part = random_split(pairs, [1, 1])

# -------------------- saving, and the rest --------------------

buffer = io.BytesIO()
torch.save(model.state_dict(), io.BytesIO())
torch.save({"model": model.state_dict(), "step": 3}, buffer)
buffer.seek(0)
restored = torch.load(buffer, map_location="cpu", weights_only=True)
double_it = partial(torch.mul, other=2)
with warnings.catch_warnings():
    torch.set_grad_enabled(True)
with torch.autocast("cpu", dtype=torch.bfloat16):
    mixed = x @ x.T
with torch.random.fork_rng():
    torch.manual_seed(1)
with torch.profiler.profile() as profile:
    pass
compiled = torch.compile(model)
assert torch.equal(x, x)
torch.testing.assert_close(x, x)
distribution = torch.distributions.Normal(torch.zeros(2), torch.ones(2))
rest_of_it = (
    restored,
    distribution.sample(),
    distribution.sample((3,)),
    distribution.rsample(),
    distribution.log_prob(torch.zeros(2)),
    distribution.mean,
    torch.distributions.Categorical(logits=x).entropy(),
    torch.distributions.kl_divergence(distribution, distribution),
    checkpoint(quadratic, x, use_reentrant=False),
    torch.nn.functional.relu(x),
    torch.nn.Linear(1, 1),
    torch.sparse_coo_tensor(torch.tensor([[0], [1]]), torch.ones(1), (2, 2)),
    x.to_sparse(),
    x.to_sparse().to_dense(),
    torch.Tensor.add(x, x),
    torch.vmap(torch.dot)(x, x),
    list(map(torch.relu, [x, x])),
    sorted([x.sum(), x.mean()], key=float),
    {name: p.detach().clone() for name, p in model.named_parameters()},
    [t.shape for t in (x, y)],
)
