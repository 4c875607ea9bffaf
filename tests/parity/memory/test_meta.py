"""Tensors on the meta device beside scalars and tensors on the CPU: shapes, strides, dtypes and errors as torch's."""

import warnings

import pytest
import torch

import mindtorch

# `m` is a meta tensor of shape (2, 3), `row` (3,), `one` without dimensions, `n` of integers, `mask` of truth values,
# all on meta; `c` is a scalar on the CPU, `v` a tensor (3,) there.
ROWS = """
m + c; c + m; c + one; one + c; one * v; c - m; c * n; n * c; m / c; c / m; c < m; m.eq(c); c.maximum(m); c.pow(m)
m.pow(c); T.floor_divide(m, c); m.floor_divide(2); m.floor_divide(row); m.floor_divide_(2); n // 2; n // 2.0; 2 // m
m.remainder(c); T.remainder(3, m); m.lerp(row, 0.5); m.lerp(m, c); m.addcmul(row, c); m.clamp(min=c); m.clamp(row, m)
T.where(mask, c, c); T.where(T.tensor(True), m, row); T.where(T.tensor([True]), m, row); T.where(mask, 1.0, 0)
m.add_(c); m.fill_(c); m.fill_(one); m + v; v + m; m.masked_fill(mask, 1); m.masked_fill(row.bool(), c)
m.masked_fill_(mask, 1); m.masked_fill(m, 1); m.masked_fill(mask.new_empty(4, 2, 3), 1); m.masked_fill_(mask, c)
m.masked_fill(v.bool(), 1); v.masked_fill(mask, 1); m.t().masked_fill(mask.t(), one); m.copy_(row); m.copy_(m.t())
m.copy_(v); m.copy_(T.zeros(4)); m.copy_(c); row.copy_(m); m.copy_(n); v.copy_(row); m.expand(4, 2, 3).add_(1)
T.add(m, 1, out=T.empty(2, 3)); T.add(m, 1, out=m); T.add(m, 1, out=T.empty(0, device="meta")); T.add(row, 1, out=v)
row.addmm_(m, m.new_empty(3, 3)); m.addmm_(m, m.new_empty(3, 3)); one.addmv_(m, row); row.addmv_(m.new_empty(3, 3), row)
m.baddbmm_(m[None], m.t()[None]); m.addbmm_(m[None], m.t()[None]); row.addbmm_(m[None], m.new_empty(1, 3, 3))
row.addmm(m, m.new_empty(3, 3)); T.addmv(one, m, row)
"""


def run(library, row):
    meta = library.empty(2, 3, device="meta")
    names = {
        "T": library,
        "m": meta,
        "row": meta[0],
        "one": meta.new_empty(()),
        "n": meta.long(),
        "mask": meta.bool(),
        "c": library.tensor(2.0),
        "v": library.ones(3),
    }
    try:
        result = eval(row, names)
    except (RuntimeError, NotImplementedError) as error:
        return type(error).__name__, str(error).partition("\n")[0]
    return tuple(result.shape), result.stride(), str(result.dtype), str(result.device)


@pytest.mark.parametrize("row", [each.strip() for each in ROWS.strip().replace("\n", ";").split(";")])
def test_meta(row):
    assert run(mindtorch, row) == run(torch, row)


# Written to `o`, which is on meta although the others are not: refused, in whatever words.
OUTS = """
T.cos(v, out=o); T.arctan(v, out=o); T.add(v, v, out=o); T.lt(v, v, out=o); T.cat([v, v], out=o); T.stack([v], out=o)
T.softmax(v, 0, out=o); T.log_softmax(v, 0, out=o); T.where(v < 0, v, v, out=o); T.cumsum(v, 0, out=o)
T.gather(v, 0, v.long(), out=o); T.square(v, out=o); T.outer(v, v, out=o); T.tril(v.diag(), out=o)
T.index_select(v, 0, v.long(), out=o); T.matmul(v.diag(), v, out=o); T.var(v, 0, out=o)
"""


@pytest.mark.parametrize("row", [each.strip() for each in OUTS.strip().replace("\n", ";").split(";")])
def test_out_on_meta(row):
    for library in (mindtorch, torch):
        v, o = library.ones(3), library.empty(3, device="meta")
        with warnings.catch_warnings(), pytest.raises((RuntimeError, NotImplementedError)):
            warnings.simplefilter("ignore")
            eval(row, {"T": library, "v": v, "o": o})
