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
)

CALLS = (
    *[(call, n) for call, n in product((*FACTORIES, *SHAPES, *GROWING), SIZES)],
    *[(call, 1 << 64) for call in NUMBERS],
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
