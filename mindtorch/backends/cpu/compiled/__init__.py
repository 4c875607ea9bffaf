"""Compiled loops of pointwise ops and rows, for `mindtorch[jit]`: their reference, and what serves without, is NumPy.

`generated/kernels/cpu` has the scalar expressions of ops.yaml as functions `silu(m, self)`. In a build they are called
with `m` = `vector_math` and values that write LLVM's code as they are computed with (`values`); `inner_loop` puts a
loop around that, `row_loop` those around the `row_kernels`, which look at whole rows, and `conversion_loop` one around
`conversions`, those of 16-bit numbers. `building` makes object code of it, and `cache` keeps it. A run loads what is
there with llvmlite, and `ufuncs` makes it a `np.ufunc`. `choice` decides when an op is first called which loops it has
from then on.
"""
