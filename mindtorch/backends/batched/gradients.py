"""The ops that PyTorch runs for all gradients of a batch at once (`is_grads_batched=True`).

A pass with a batch of gradients has fewer rules there than `vmap`: other ops run for one gradient after the other, and
their results are stacked, so they are rows.
"""

_POINTWISE = (
    "add.Tensor add.Scalar sub.Tensor sub.Scalar rsub.Tensor rsub.Scalar mul.Tensor mul.Scalar div.Tensor div.Scalar "
    "div.Tensor_mode pow.Tensor_Tensor pow.Tensor_Scalar pow.Scalar neg abs sign exp expm1 log log2 log10 log1p sqrt "
    "rsqrt reciprocal sin cos tan asin acos atan sinh cosh tanh sigmoid sigmoid_backward floor ceil round trunc frac "
    "relu threshold_backward clamp clamp_min clamp_max lgamma digamma eq.Tensor eq.Scalar ne.Tensor ne.Scalar "
    "lt.Tensor lt.Scalar le.Tensor le.Scalar gt.Tensor gt.Scalar ge.Tensor ge.Scalar deg2rad rad2deg"
).split()
_OTHERS = (
    "sum.dim_IntList cat stack select_backward slice_backward diagonal_backward mm bmm clone zero_ copy_ _to_copy"
).split()
_VIEWS = (
    "view view.dtype _reshape_alias transpose.int t permute expand squeeze squeeze.dim squeeze.dims unsqueeze "
    "select.int slice.Tensor split.Tensor split_with_sizes unbind.int diagonal unfold as_strided view_as_real "
    "view_as_complex alias detach _add_batch_dim _remove_batch_dim _spread_over_level"
).split()
AT_ONCE = frozenset((*_POINTWISE, *_OTHERS, *_VIEWS))
