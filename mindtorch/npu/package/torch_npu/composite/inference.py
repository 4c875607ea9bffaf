"""Attention for programs that only ask a model: sequences of several lengths, keys and values in pages."""

from collections.abc import Sequence
from typing import Any

from mindtorch._core.dtype import float32
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from torch_npu.composite.attention import Mask, attend
from torch_npu.composite.quantization import refuse_given

# How to come from a layout to (B, N, S, D), and from there to that of the result.
_TO_HEADS = {"BNSD": (0, 1, 2, 3), "BSND": (0, 2, 1, 3), "BSH": (0, 2, 1, 3)}
_FROM_HEADS = _TO_HEADS | {"NBSD": (1, 0, 2, 3)}
_LAYOUTS = ("BSH", "BSND", "BNSD", "BNSD_BSND", "BSH_NBSD", "BSND_NBSD", "BNSD_NBSD", "TND", "TND_NTD", "NTD_TND")


def npu_fused_infer_attention_score(
    query, key, value, pse_shift, atten_mask, actual_seq_lengths, actual_seq_lengths_kv, dequant_scale1, quant_scale1,
    dequant_scale2, quant_scale2, quant_offset2, antiquant_scale, antiquant_offset, key_antiquant_scale,
    key_antiquant_offset, value_antiquant_scale, value_antiquant_offset, block_table, query_padding_size,
    kv_padding_size, key_shared_prefix, value_shared_prefix, actual_shared_prefix_len, query_rope, key_rope,
    key_rope_antiquant_scale, num_heads, scale, pre_tokens, next_tokens, input_layout, num_key_value_heads, sparse_mode,
    inner_precise, block_size, antiquant_mode, key_antiquant_mode, value_antiquant_mode, softmax_lse_flag,
):  # fmt: skip
    """Attention, and the logarithm of each softmax's sum, if it is asked for."""
    op = "npu_fused_infer_attention_score"
    refuse_given(
        op, pse_shift=pse_shift, dequant_scale1=dequant_scale1, quant_scale1=quant_scale1,
        dequant_scale2=dequant_scale2, quant_scale2=quant_scale2, quant_offset2=quant_offset2,
        antiquant_scale=antiquant_scale, antiquant_offset=antiquant_offset, key_antiquant_scale=key_antiquant_scale,
        key_antiquant_offset=key_antiquant_offset, value_antiquant_scale=value_antiquant_scale,
        value_antiquant_offset=value_antiquant_offset, query_padding_size=query_padding_size,
        kv_padding_size=kv_padding_size, key_shared_prefix=key_shared_prefix, value_shared_prefix=value_shared_prefix,
        actual_shared_prefix_len=actual_shared_prefix_len, query_rope=query_rope, key_rope=key_rope,
        key_rope_antiquant_scale=key_rope_antiquant_scale, antiquant_mode=antiquant_mode,
        key_antiquant_mode=key_antiquant_mode, value_antiquant_mode=value_antiquant_mode,
    )  # fmt: skip
    call = _Call(op, input_layout, num_heads, num_key_value_heads, scale, pre_tokens, next_tokens, sparse_mode)
    lengths = actual_seq_lengths, actual_seq_lengths_kv
    return call.result(query, key, value, atten_mask, lengths, block_table, softmax_lse_flag)


def npu_fused_infer_attention_score_v2(
    query, key, value, query_rope, key_rope, pse_shift, atten_mask, actual_seq_qlen, actual_seq_kvlen, block_table,
    dequant_scale_query, dequant_scale_key, dequant_offset_key, dequant_scale_value, dequant_offset_value,
    dequant_scale_key_rope, quant_scale_out, quant_offset_out, quant_scale_p, learnable_sink, num_query_heads,
    num_key_value_heads, softmax_scale, pre_tokens, next_tokens, input_layout, sparse_mode, block_size,
    query_quant_mode, key_quant_mode, value_quant_mode, inner_precise, return_softmax_lse, query_dtype, key_dtype,
    value_dtype, query_rope_dtype, key_rope_dtype, key_shared_prefix_dtype, value_shared_prefix_dtype,
    dequant_scale_query_dtype, dequant_scale_key_dtype, dequant_scale_value_dtype, dequant_scale_key_rope_dtype,
    out_dtype,
):  # fmt: skip
    """The same; the arguments with `dtype` in their names are without a use in torch_npu, too, but for `out_dtype`."""
    op = "npu_fused_infer_attention_score_v2"
    refuse_given(
        op, query_rope=query_rope, key_rope=key_rope, pse_shift=pse_shift, dequant_scale_query=dequant_scale_query,
        dequant_scale_key=dequant_scale_key, dequant_offset_key=dequant_offset_key,
        dequant_scale_value=dequant_scale_value, dequant_offset_value=dequant_offset_value,
        dequant_scale_key_rope=dequant_scale_key_rope, quant_scale_out=quant_scale_out,
        quant_offset_out=quant_offset_out, quant_scale_p=quant_scale_p, learnable_sink=learnable_sink,
        query_quant_mode=query_quant_mode, key_quant_mode=key_quant_mode, value_quant_mode=value_quant_mode,
        out_dtype=out_dtype,
    )  # fmt: skip
    heads = num_query_heads, num_key_value_heads
    call = _Call(op, input_layout, *heads, softmax_scale, pre_tokens, next_tokens, sparse_mode)
    return call.result(
        query, key, value, atten_mask, (actual_seq_qlen, actual_seq_kvlen), block_table, return_softmax_lse
    )


class _Call:
    """What holds for all sequences of a call."""

    def __init__(
        self, op: str, layout: str, heads: int, key_heads: int, scale: float, before: int, after: int, mode: int
    ) -> None:
        if layout not in _LAYOUTS:
            raise RuntimeError(f"{op}: input_layout must be one of {', '.join(_LAYOUTS)}, but got {layout}")
        self.op, self.scale, self.band, self.mode = op, scale, (before, after), mode
        self.heads, self.key_heads = heads, key_heads or heads
        self.layout, _, into = layout.partition("_")
        self.into = into or self.layout

    def result(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Any, lengths: tuple[Any, Any], table: Any, with_lse: bool
    ) -> tuple[Tensor, Tensor]:
        self.is_one_query = self.layout in _TO_HEADS and query.shape[2 if self.layout == "BNSD" else 1] == 1
        queries = self._sequences(query, self.heads, lengths[0])
        if table is None:
            keys, values = (self._sequences(each, self.key_heads, lengths[1]) for each in (key, value))
        else:
            keys, values = (self._from_pages(each, table, lengths[1]) for each in (key, value))
        found = [
            self._one(q, k, v, self._mask_of(mask, number, q.shape[2], k.shape[2]))
            for number, (q, k, v) in enumerate(zip(queries, keys, values, strict=True))
        ]
        out, lse = (self._joined([each[place] for each in found], query) for place in (0, 1))
        order = _FROM_HEADS.get(self.into)
        if order is not None:
            out = out.permute(order).contiguous()
            out = out.flatten(2) if self.into == "BSH" else out
        elif self.into == "NTD":
            out = out.transpose(0, 1).contiguous()
        return out, lse if with_lse else ops.zeros((1,), dtype=float32, device=query.device)

    def _sequences(self, x: Tensor, heads: int, lengths: Sequence[int] | None) -> list[Tensor]:
        """Each sequence of a batch as (1, N, S, D), as long as it is."""
        if self.layout in ("TND", "NTD"):
            if lengths is None:
                raise RuntimeError(f"{self.op}: input_layout {self.layout} needs the ends of all sequences")
            by_head = (x.transpose(0, 1) if self.layout == "TND" else x)[None]
            return [by_head[:, :, start:end] for start, end in zip((0, *lengths), lengths)]
        if self.layout == "BSH":
            x = x.reshape(*x.shape[:2], heads, -1)
        x = x.permute(_TO_HEADS[self.layout])
        return [x[number : number + 1, :, :end] for number, end in enumerate(_per_sequence(lengths, *x.shape[0:3:2]))]

    def _from_pages(self, pages: Tensor, table: Tensor, lengths: Sequence[int] | None) -> list[Tensor]:
        """The same for keys or values in pages: (pages, size, N * D) or (pages, N, size, D)."""
        if lengths is None:
            raise RuntimeError(f"{self.op}: block_table needs the lengths of all sequences of keys")
        if pages.dim() == 3:
            pages = pages.reshape(*pages.shape[:2], self.key_heads, -1).transpose(1, 2)
        found = []
        for row, end in zip(table, _per_sequence(lengths, table.shape[0], table.shape[1] * pages.shape[2])):
            own = ops.index_select(pages, 0, row[: -(-end // pages.shape[2])])
            found.append(own.transpose(0, 1).flatten(1, 2)[None, :, :end])
        return found

    def _mask_of(self, given: Tensor | None, number: int, queries: int, keys: int) -> Mask:
        """That of a sequence. For one query, bands and triangles are not asked for."""
        if self.is_one_query and (given is None or self.mode < 2):
            return Mask(
                None if given is None else _part(given, number)[:, :keys], int(given is not None), 0, 0, self.op
            )
        if self.is_one_query:
            raise NotImplementedError(
                f"{self.op}: atten_mask with sparse_mode {self.mode} for one query is not supported"
            )
        if given is not None and self.mode < 2:
            given = (given if given.dim() == 2 else _part(given, number))[:queries, :keys]
        return Mask(given, self.mode, *self.band, self.op)

    def _one(self, query: Tensor, key: Tensor, value: Tensor, mask: Mask) -> tuple[Tensor, Tensor]:
        if not key.shape[2]:
            return query.new_zeros((*query.shape[:3], value.shape[3])), query.new_zeros((*query.shape[:3], 1)).to(
                float32
            )
        result, maxima, sums = attend(query, key, value, None, mask, self.scale, 1.0)
        return result, (maxima + sums.log()).to(float32)

    def _joined(self, parts: list[Tensor], query: Tensor) -> Tensor:
        """One tensor of the sequences; what is behind the end of one is zeros."""
        if self.layout in ("TND", "NTD"):
            return ops.cat([each[0].transpose(0, 1) for each in parts])
        size = query.shape[2 if self.layout == "BNSD" else 1]
        return ops.cat([ops.constant_pad_nd(each, (0, 0, 0, size - each.shape[2])) for each in parts])


def _part(mask: Tensor, number: int) -> Tensor:
    """The rows of a sequence's mask, which may be that of all of them."""
    own = mask[number if mask.shape[0] > 1 else 0]
    return own.reshape(-1, own.shape[-1])


def _per_sequence(lengths: Sequence[int] | None, count: int, whole: int) -> list[int]:
    """As many lengths as there are sequences: one number stands for all."""
    if lengths is None:
        return [whole] * count
    given = [int(each) for each in lengths]
    if len(given) != 1 and len(given) < count:
        raise RuntimeError(f"there are {count} sequences, and {len(given)} lengths of them")
    if max(given[:count]) > whole:
        raise RuntimeError(f"a length of {max(given[:count])} is more than there is, {whole}")
    return given * count if len(given) == 1 else given[:count]
