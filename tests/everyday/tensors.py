"""Tensors: how they are made, what they tell, indexing and arithmetic."""

import math

import numpy as np

import mindtorch as torch

# -------------------- making tensors --------------------

x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
y = torch.tensor([[1, 2], [3, 4]], dtype=torch.float64, device="cpu", requires_grad=True)
made = [
    torch.zeros(2, 3),
    torch.zeros((2, 3)),
    torch.zeros([2, 3], dtype=torch.int64),
    torch.zeros(2, 3, dtype=torch.float32, device="cpu", requires_grad=True),
    torch.zeros(x.shape),
    torch.zeros(x.size(0), 4),
    torch.ones(3),
    torch.ones_like(x),
    torch.zeros_like(x, dtype=torch.int32),
    torch.empty(2, 2),
    torch.empty_like(x),
    torch.full((2, 3), 1.5),
    torch.full_like(x, 7),
    torch.arange(5),
    torch.arange(1, 5),
    torch.arange(0, 1, 0.1),
    torch.arange(0, 10, 2, dtype=torch.float32),
    torch.linspace(0, 1, 5),
    torch.logspace(0, 1, 5),
    torch.eye(3),
    torch.eye(2, 3),
    torch.rand(2, 3),
    torch.rand((2, 3)),
    torch.randn(2, 3),
    torch.randn(2, 3, requires_grad=True),
    torch.randn(2, 3, generator=torch.Generator().manual_seed(1)),
    torch.randn_like(x),
    torch.rand_like(x),
    torch.randint(10, (2, 3)),
    torch.randint(0, 10, (2, 3)),
    torch.randint(low=0, high=10, size=(2,)),
    torch.randperm(5),
    torch.normal(0.0, 1.0, (2, 3)),
    torch.bernoulli(torch.full((3,), 0.5)),
    torch.multinomial(torch.ones(4), 2),
    torch.multinomial(torch.ones(4), num_samples=2, replacement=True),
    torch.as_tensor([1, 2]),
    torch.as_tensor(np.ones(3)),
    torch.from_numpy(np.ones(3)),
    torch.complex(x, x),
    torch.tril(x),
    torch.triu(x, diagonal=1),
    torch.diag(torch.ones(3)),
    torch.empty(0),
    torch.empty(2, dtype=torch.long),
    torch.Tensor([1.0, 2.0]),
    torch.Tensor(2, 3),
    torch.scalar_tensor(1.0),
    torch.asarray([1, 2]),
    torch.clone(x),
    torch.heaviside(x, torch.tensor([0.5])),
]

# -------------------- what a tensor is --------------------

facts = (
    x.shape,
    x.shape[0],
    x.shape[-1],
    x.shape[:1],
    x.shape[1:],
    x.size(),
    x.size(0),
    x.size(dim=1),
    x.dim(),
    x.ndim,
    x.numel(),
    x.nelement(),
    x.dtype,
    x.device,
    x.device.type,
    x.device.index,
    x.layout,
    x.is_leaf,
    x.requires_grad,
    x.grad,
    x.grad_fn,
    x.is_cuda,
    x.is_contiguous(),
    x.is_floating_point(),
    x.is_complex(),
    x.stride(),
    x.stride(0),
    x.storage_offset(),
    x.element_size(),
    x.data_ptr(),
    x.itemsize,
    x.nbytes,
    x.data,
    x.T,
    x.mT,
    x.H,
    x.real,
    x.is_sparse,
    x.is_shared(),
    x.get_device(),
    x.untyped_storage(),
    x.untyped_storage().nbytes(),
    x._version,
    x.is_pinned(),
    x.is_same_size(x),
    len(x),
    len(x.shape),
    bool(x.sum() > 0),
    int(x[0, 0]),
    float(x[0, 0]),
    float(x.mean()),
    complex(x[0, 0]),
    str(x),
    repr(x),
    hash(x),
    x[0, 0].item(),
    x.tolist(),
    x.numpy(),
    x.detach().numpy(),
    x.detach().cpu().numpy(),
    x.shape.numel(),
    x.shape == (2, 3),
    tuple(x.shape),
    list(x.shape),
    x.new_zeros(2, 3),
    x.new_zeros((2, 3)),
    x.new_ones(2),
    x.new_empty((2,)),
    x.new_full((2,), 1.0),
    x.new_tensor([1.0]),
    math.sqrt(x.size(-1)),
    isinstance(x, torch.Tensor),
    torch.is_tensor(x),
    torch.numel(x),
    torch.is_floating_point(x),
    torch.Size([1, 2]),
    torch.Size((1, 2)) + torch.Size([3]),
    torch.broadcast_shapes((2, 1), (1, 3)),
)
a, b = x.shape
batch, *rest = x.shape
rows, columns = x.size()
first, second = x
for row in x:
    for element in row:
        total = element + 1
for i, row in enumerate(x):
    row.add_(i)
for left, right in zip(x, y):
    pair = (left, right)
if x.sum() > 0:
    pass
while x.sum() < 0:
    break
listed = [row.sum().item() for row in x]
ordered = sorted(x[0].tolist())
largest = max(x[0])
summed = sum(row for row in x)
reversed_rows = list(reversed(x))
is_in = 1.0 in x

# -------------------- indexing --------------------

index = torch.tensor([0, 1])
mask = x > 2
position = 1
indexed = [
    x[0],
    x[-1],
    x[0, 1],
    x[0][1],
    x[position],
    x[:],
    x[0:1],
    x[:, 0],
    x[:, 1:],
    x[:, -1:],
    x[::2],
    x[..., 0],
    x[..., :2],
    x[None],
    x[:, None],
    x[:, :, None],
    x[mask],
    x[~mask],
    x[x > 2],
    x[index],
    x[index, index],
    x[[0, 1]],
    x[[0, 1], [1, 2]],
    x[:, index],
    x[:, [0, 2]],
    x[torch.arange(2), torch.arange(2)],
    x[torch.tensor(0)],
    x[True],
    x[()],
    x[(0, 1)],
    x[np.array([0, 1])],
    x[0, ...],
    x[slice(0, 1)],
    x[mask & (x < 5)],
]
z = x.clone()
z[0] = 1
z[0, 1] = 2.5
z[:, 0] = torch.zeros(2)
z[mask] = 0
z[index] = x
z[..., -1] = x[..., 0]
z[0] += 1
z[:, 1] *= 2
z[[0, 1]] = x
z[None] = 3.0
z[True] = 1

# -------------------- arithmetic --------------------

number = 2
half = 0.5
arithmetic = [
    x + x,
    x + 1,
    x + half,
    1 + x,
    half + x,
    x - 1,
    1 - x,
    x * 2,
    2 * x,
    0.5 * x,
    x / 2,
    1 / x,
    x // 2,
    7 // x,
    x % 2,
    5 % x,
    x**2,
    2**x,
    x**half,
    -x,
    +x,
    abs(x),
    x @ x.T,
    ~mask,
    mask & mask,
    mask | mask,
    mask ^ mask,
    mask & True,
    index << 1,
    index >> 1,
    x == x,
    x == 1,
    x != 2,
    x < 1,
    x <= x,
    x > 0.5,
    x >= 2,
    1 < x,
    x + 2j,
    (x - x.mean()) / x.std(),
    (x > 0).float().mean(),
    ((x - x) ** 2).sum() / number,
    x + np.float64(1.0),
    x.sum() / len(x),
    divmod(7, 2)[0] * x,
    round(2.5) * x,
    x[0] @ x[1],
    x / x.norm(dim=1, keepdim=True),
]
w = x.clone()
w += 1
w -= x
w *= 2
w /= 3
w **= 2
w //= 2
w %= 5
m = mask.clone()
m &= mask
m |= mask
m ^= mask
