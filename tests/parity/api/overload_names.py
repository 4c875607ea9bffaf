"""The ops that everyday programs use, by family: of each, every overload that torch has is there.

The names are those of `torch.ops.aten`; with an underscore at the end, they are in place.
"""

FAMILIES = {
    "factory": """
        empty empty_strided empty_like zeros zeros_like ones ones_like full full_like new_empty new_empty_strided
        new_zeros new_ones new_full arange range linspace logspace eye scalar_tensor tensor as_tensor from_numpy rand
        rand_like randn randn_like randint randint_like randperm normal uniform bernoulli dropout
    """,
    "pointwise": """
        abs neg exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal square sin cos tan asin acos atan sinh cosh
        tanh sigmoid relu gelu silu softplus leaky_relu elu hardtanh threshold erf erfc floor ceil round trunc frac sign
        sgn clamp clamp_min clamp_max isnan isinf isfinite logical_and logical_or logical_xor logical_not bitwise_and
        bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift add sub rsub mul div floor_divide
        true_divide pow remainder fmod maximum minimum fmax fmin atan2 hypot eq ne lt le gt ge where lerp addcmul
        addcdiv
        masked_fill nan_to_num absolute negative multiply divide subtract clip arctan2 fix
    """,
    "reduction": """
        sum mean prod amax amin max min argmax argmin aminmax var std var_mean std_mean linalg_vector_norm norm all any
        count_nonzero cumsum cumprod logsumexp softmax log_softmax median bincount histogram diff msort renorm nanmean
    """,
    "view": """
        alias detach view reshape view_as transpose t permute movedim expand expand_as broadcast_to squeeze unsqueeze
        select slice narrow split split_with_sizes chunk tensor_split unbind diagonal unfold flatten unflatten
        as_strided
        swapaxes adjoint
    """,
    "indexing": """
        index index_put index_select index_add index_copy index_fill gather scatter scatter_add masked_select
        masked_scatter nonzero take take_along_dim cat concat concatenate stack hstack vstack dstack column_stack
        row_stack flip roll tril triu diag sort argsort topk repeat repeat_interleave tile embedding one_hot
        searchsorted
    """,
    "linalg": """
        mm bmm matmul mv dot addmm addmv baddbmm addbmm outer ger inner kron cross linear einsum tensordot matrix_power
        linalg_norm linalg_matrix_norm linalg_matrix_power linalg_pinv linalg_vecdot linalg_cross linalg_lu_solve
        lu_solve lu_unpack cholesky
    """,
    "nn": """
        convolution conv1d conv2d conv3d max_pool2d avg_pool2d adaptive_avg_pool2d batch_norm layer_norm group_norm
        nll_loss cross_entropy_loss mse_loss l1_loss smooth_l1_loss binary_cross_entropy
        binary_cross_entropy_with_logits kl_div scaled_dot_product_attention pad
    """,
    "copy": "copy clone contiguous to _to_copy fill zero random exponential tolist numpy",
}
NAMES = [name for names in FAMILIES.values() for name in names.split()]
