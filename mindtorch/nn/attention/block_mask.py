"""`BlockMask`: which blocks of a matrix of attention scores hold something, and which of them everything."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import int32
from mindtorch._core.tensor import Tensor
from mindtorch._functorch.vmap import vmap
from mindtorch.dispatch import ops

DEFAULT_BLOCK_SIZE = 128
MaskMod = Callable[..., Any]

_TENSORS = (
    "kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices",
    "q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices",
)  # fmt: skip


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """The mask that leaves nothing out."""
    return batch.new_ones((), dtype=boolean)


def over_scores(function: Callable, *sizes: int, scores: Tensor | None = None, device: Any = None) -> Tensor:
    """What a function of the position in batch, head, query and key gives everywhere, called with scores or not."""
    for place in ((None, None, None, 0), (None, None, 0, None), (None, 0, None, None), (0, None, None, None)):
        function = vmap(function, in_dims=place if scores is None else (0, *place))
    positions = [ops.arange(size, device=device) for size in sizes]
    return function(*positions) if scores is None else function(scores, *positions)


class BlockMask:
    """For each block of queries the blocks of keys that it looks at, and the reverse.

    A block that is needed whole is among the `full` ones; in the others, `mask_mod` tells which elements are.
    """

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int] = (DEFAULT_BLOCK_SIZE, DEFAULT_BLOCK_SIZE),
        mask_mod: MaskMod = noop_mask,
    ) -> None:
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        self.seq_lengths = seq_lengths
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices
        self.BLOCK_SIZE = BLOCK_SIZE
        self.mask_mod = mask_mod

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = DEFAULT_BLOCK_SIZE,
        mask_mod: MaskMod | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """The mask of which it is known what each block of queries looks at."""
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        if seq_lengths is None:
            seq_lengths = kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1]
        pairs = ((kv_num_blocks, kv_indices), (full_kv_num_blocks, full_kv_indices))
        reverse = [_transposed(*pair) if compute_q_blocks else (None, None) for pair in pairs]
        parts = [part for pair in (*pairs, *reverse) for part in pair]
        return cls(seq_lengths, **_named(parts), BLOCK_SIZE=size, mask_mod=mask_mod or noop_mask)

    def as_tuple(self, flatten: bool = True) -> tuple:
        blocks = (*self.BLOCK_SIZE,) if flatten else (self.BLOCK_SIZE,)
        lengths = (*self.seq_lengths,) if flatten else (self.seq_lengths,)
        return (*lengths, *self._tensors(), *blocks, self.mask_mod)

    def _tensors(self) -> list[Tensor | None]:
        return [getattr(self, name) for name in _TENSORS]

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """How many scores there are, with those left out."""
        count = 1
        for size in self.shape:
            count *= size
        return count

    def sparsity(self) -> float:
        """The share of blocks that are skipped, in percent."""
        computed = self.kv_num_blocks.sum().item() * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1]
        if self.full_kv_num_blocks is not None:
            computed += self.full_kv_num_blocks.sum().item() * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1]
        return 100 * (1 - computed / self.numel())

    def to_dense(self) -> Tensor:
        """A matrix of blocks, with 1 for those that are looked at."""
        partial = _dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is None or self.full_kv_indices is None:
            return partial
        return partial | _dense(self.full_kv_num_blocks, self.full_kv_indices)

    def to(self, device: Any) -> BlockMask:
        moved = [part if part is None else part.to(device) for part in self._tensors()]
        return BlockMask(self.seq_lengths, **_named(moved), BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=self.mask_mod)

    def __getitem__(self, index: Any) -> BlockMask:
        """The mask of some members of the batch, heads or blocks of queries."""
        parts = [part if part is None else part[index] for part in self._tensors()[:4]]
        return BlockMask.from_kv_blocks(**_named(parts), BLOCK_SIZE=self.BLOCK_SIZE, seq_lengths=self.seq_lengths)

    def __repr__(self) -> str:
        shapes = [
            f"    {name}={part if part is None else part.shape!r},\n" for name, part in zip(_TENSORS, self._tensors())
        ]
        return (
            f"BlockMask(\n{''.join(shapes)}    BLOCK_SIZE={self.BLOCK_SIZE},\n    shape={self.shape},\n"
            f"    sparsity={self.sparsity():.2f}%,\n    mask_mod={self.mask_mod.__name__}\n)"
        )


# -------------------- from blocks to tables, and back --------------------


def _ordered(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """How many blocks of each row are wanted, and the numbers of all blocks, those that are wanted first."""
    wanted = blocks.to(int32)
    order = wanted.argsort(dim=-1, descending=True, stable=True)
    return wanted.sum(dim=-1).to(int32), order.to(int32).contiguous()


def _named(tables: Iterable[Tensor | None]) -> dict[str, Any]:
    """The tables as keywords: the first of them, if there are not all."""
    return dict(zip(_TENSORS, tables))


def _dense(counts: Tensor, indices: Tensor) -> Tensor:
    valid = ops.arange(indices.shape[-1], device=counts.device) < counts.unsqueeze(-1)
    dense = ops.zeros(indices.shape, dtype=int32, device=indices.device)
    return dense.scatter_(-1, indices.long(), valid.to(int32))


def _transposed(counts: Tensor | None, indices: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
    if counts is None or indices is None:
        return None, None
    return _ordered(_dense(counts, indices).transpose(-2, -1))


def create_mask(mod_fn: MaskMod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None) -> Tensor:
    """The mask as a tensor with an element for each score, true where it counts."""
    return over_scores(mod_fn, B or 1, H or 1, Q_LEN, KV_LEN, device=device)


def create_block_mask(
    mask_mod: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = DEFAULT_BLOCK_SIZE,
    _compile: bool = False,
    separate_full_blocks: bool = True,
) -> BlockMask:
    """The mask of what `mask_mod(batch, head, query, key)` says of each element."""
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    counts = _elements_by_block(create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device), size)
    full = (counts == size[0] * size[1]) & separate_full_blocks
    tables = [*_ordered((counts > 0) & ~full), *(_ordered(full) if separate_full_blocks else (None, None))]
    return BlockMask.from_kv_blocks(**_named(tables), BLOCK_SIZE=size, mask_mod=mask_mod, seq_lengths=(Q_LEN, KV_LEN))


def _elements_by_block(mask: Tensor, size: tuple[int, int]) -> Tensor:
    """How many elements of each block are true; what is beyond the edge counts as false."""
    rows, columns = (-(-length // block) for length, block in zip(mask.shape[-2:], size))
    missing = [0, columns * size[1] - mask.shape[-1], 0, rows * size[0] - mask.shape[-2]]
    padded = ops.constant_pad_nd(mask.to(int32), missing)
    return padded.reshape(*mask.shape[:-2], rows, size[0], columns, size[1]).sum(dim=(-3, -1))


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """The mask of what all of them let through."""
    _check_callable(mask_mods)

    def and_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_ones((), dtype=boolean)
        for mask in mask_mods:
            result = result & mask(b, h, q_idx, kv_idx)
        return result

    return and_mask


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """The mask of what any of them lets through."""
    _check_callable(mask_mods)

    def or_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_zeros((), dtype=boolean)
        for mask in mask_mods:
            result = result | mask(b, h, q_idx, kv_idx)
        return result

    return or_mask


def _check_callable(mask_mods: tuple[MaskMod, ...]) -> None:
    if not all(callable(each) for each in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")
