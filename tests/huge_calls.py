"""Calls with sizes that no memory has room for, or that no number of 64 bits counts.

They are expressions over `torch`, so that both libraries can evaluate them, with `n` for the size. 2**50 is far
beyond what any system gives to a process; nothing here ever touches memory. `X` is a tensor of 2**50 elements that
takes four bytes, `I` the same of indices.
"""

from itertools import product
from typing import Any

SIZES = (1 << 50, 1 << 62, 1 << 63, 1 << 64)

FACTORIES = (
    "torch.zeros(n)",
    "torch.ones(n, dtype=torch.uint8)",
    "torch.empty((n, n))",
    "torch.empty(2, n, dtype=torch.complex128)",
    "torch.empty(n, n, 0, dtype=torch.bfloat16)",
    "torch.full((n,), 1.5)",
    "torch.zeros(2, n, out=torch.empty(0))",
    "torch.empty_strided((n,), (1,))",
    "torch.empty(n, n, device='meta')",
    "torch.nn.Embedding(n, n)",
    "torch.nn.Conv2d(n, n, 3)",
    "torch.sparse_coo_tensor((n, n))",
)
SHAPES = (
    "x.expand(n, n)",
    "x.view(n, n)",
    "torch.ones(0).view(n, n, 0)",
    "x.as_strided((n,), (1,))",
    "x.as_strided((2,), (n,))",
    "x.resize_(n, n)",
    "x.resize_(n)",
    "x.narrow(0, n, 1)",
    "x.transpose(0, n)",
    "x.unsqueeze(n)",
    "x.sum((n,))",
    "x.squeeze(n)",
)
GROWING = (
    "x.repeat(n)",
    "torch.diag_embed(z, n)",
    "torch.nn.functional.one_hot(i, n)",
    "torch.bincount(i, minlength=n)",
    "torch.ones(1).untyped_storage().resize_(n)",
    "torch.UntypedStorage(n)",
)
COUNTS = (
    "w.roll((n,))",
    "w.roll((1, n), (0, 1))",
    "w.split(n)",
    "w.chunk(n)",
    "w.diagonal(n)",
    "w.diagonal(-n - 1)",
    "w.narrow(0, 0, n)",
    "w.tril(n)",
    "w.triu(-n - 1)",
    "w.rot90(n)",
    "w.diff(n)",
    "w.round(decimals=n)",
    "w.tensor_split(n)",
    "w.tensor_split((1, n))",
    "w.hsplit((1, n))",
    "w.unfold(0, n, 1)",
    "w.unsqueeze_(n)",
    "w.transpose_(0, n)",
    "w.slice_scatter(w, 0, 0, n)",
    "torch.slice_copy(w, 0, 0, n)",
    "torch.polygamma(n, w)",
    "torch.nn.functional.nll_loss(w, i.expand(2), ignore_index=n)",
    "torch.nn.functional.avg_pool2d(w[None], 1, divisor_override=n)",
)
# What stands for the end of the tensor, as everywhere in Python.
SLICES = ("w[:n]", "w[n:]", "w[0, n:]", "w[0:1, 1:n]")
# Steps between elements of a dimension that has one: NumPy counts them in bytes, and has no room for these.
STEPS = ("w[::n]", "w[:, 1:2:n]", "w.unfold(0, 2, n)", "w.as_strided((1,), (n,))")
# More parts than there is memory for, mostly empty ones.
PARTS = ("w.tensor_split(n)", "torch.ones(0, 2).chunk(n)", "X.split(1)", "X.unbind()", "list(X)")
# NumPy has room for 64 dimensions.
DIMENSIONS = (
    "torch.ones((1,) * n)",
    "torch.empty_strided((1,) * n, (1,) * n)",
    "torch.tensor(eval('[' * n + '1' + ']' * n))",
    "x.reshape((1,) * n)",
    "x.view((1,) * n)",
    "x.expand((1,) * n)",
    "x.as_strided((1,) * n, (1,) * n)",
    "x.resize_((1,) * n)",
    "x.unflatten(0, (1,) * n)",
    "x.to('meta').expand((1,) * n)",
    "x.to('meta').view((1,) * n)",
    "D.unsqueeze(0)",
    "D.unsqueeze_(0)",
    "D[None]",
    "D[..., None]",
    "D.to('meta')[None]",
    "D.unfold(0, 1, 1)",
    "D.diag_embed()",
    "torch.stack([D, D])",
    "torch.view_as_real(D.cfloat())",
    "torch.kron(D, D)",
    "torch.tensordot(D, D, 0)",
    "torch.ones(2, 2)[D.long()]",
    "torch.nn.functional.one_hot(D.long())",
    "torch.func.vmap(lambda each: each[None])(D)",
    "torch.meshgrid(*[x] * n, indexing='ij')",
)
NUMBERS = (
    "i.clamp(max=n)",
    "i.masked_fill(i > 0, n)",
    "torch.full((2,), n, dtype=torch.int32)",
    "torch.add(i, i, alpha=n)",
)

# What makes a result of the size of an expanded tensor, or walks over its elements before it does.
EXPANDED = (
    *("X + 1", "X + X", "X * x", "-X", "X.exp()", "X > 0", "X.double()", "X.bool()", "X.bfloat16()", "X.clone()"),
    *("X.contiguous()", "torch.empty_like(X)", "torch.zeros_like(X)", "torch.full_like(X, 2)", "torch.rand_like(X)"),
    *("X.softmax(0)", "torch.cat([X, X])", "torch.where(X > 0, X, X)", "X.flip(0)", "X.clamp(0, 1)"),
    *("X.masked_select(b)", "X.index_select(0, I)", "x.gather(0, I)", "torch.nn.functional.embedding(I, m)"),
    *(
        "torch.nn.functional.one_hot(I)",
        "I.bincount()",
        "torch.nn.functional.gelu(X)",
        "torch.add(X, 1, out=torch.empty(0))",
    ),
    *("torch.outer(X, X)", "R.exp()", "R * R", "X.add_(1)", "X.exp_()", "torch.normal(X, x)", "torch.complex(X, X)"),
    *("torch.ones(1 << 25, 1) + torch.ones(1 << 25)", "torch.ones(1 << 25, 1) @ torch.ones(1, 1 << 25)"),
    "torch.einsum('i,j->ij', torch.ones(1 << 25), torch.ones(1 << 25))",
    "torch.nn.functional.adaptive_max_pool2d(torch.ones(1, 1, 4, 4), (1 << 50, 1))",
    *("x.take(I)", "x.index_add(0, I, X)", "torch.repeat_interleave(I)"),
    *("X.max()", "I.min()", "X.aminmax()", "X.histc()", "torch.nn.functional.binary_cross_entropy(X, X)"),
    "torch.nn.functional.nll_loss(torch.ones(1, 2).expand(1 << 50, 2), I)",
    "torch.nn.functional.batch_norm(X[:, None], x, x, training=True)",
    "torch.nn.functional.adaptive_max_pool1d(X[None, None], 3)",
)

# Calls whose results torch can count, but NumPy can't.
OWN_LIMITS = (
    *[(call, n) for call, n in product(STEPS, (1 << 61, 1 << 62))],
    *[(call, n) for call, n in product(DIMENSIONS, (65, 100))],
)
CALLS = (
    *[(call, n) for call, n in product((*FACTORIES, *SHAPES, *GROWING), SIZES)],
    *[(call, 1 << 64) for call in NUMBERS],
    *[(call, n) for call, n in product(COUNTS, (1 << 63, 1 << 64))],
    *[(call, n) for call, n in product(SLICES, SIZES)],
    *[(call, 1 << 50) for call in PARTS],
    *[(call, 1 << 50) for call in EXPANDED],
)


def outcome(torch: Any, call: str, n: int) -> tuple[str, str]:
    """The type and the text of the error that a call ends with."""
    one, index = torch.ones(1), torch.zeros(1, dtype=torch.int64)
    values = {
        "torch": torch,
        "n": n,
        "x": one,
        "z": torch.ones(3),
        "w": torch.ones(2, 3),
        "D": torch.ones((1,) * 64),
        "i": index,
        "b": torch.ones(1, dtype=torch.bool),
        "m": torch.ones(2, 3),
        "X": one.expand(1 << 50),
        "I": index.expand(1 << 50),
        "R": torch.ones(1, requires_grad=True).expand(1 << 50),
    }
    try:
        result = eval(call, values)
    except (RuntimeError, ValueError, TypeError, IndexError, OverflowError, MemoryError, AttributeError) as error:
        return type(error).__name__, str(error).partition("\nException raised from")[0].rstrip('"')
    return "none", f"{tuple(result.shape)}"
