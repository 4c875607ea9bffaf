"""Checks of `opinfo_derivatives` in which operators are known to differ from torch."""

# By the check; "strides" is for all of them, "narrow" for the dtypes that are not double.
_DIFFERENT = {
    # Same values, in another order in memory.
    "strides": """
        addbmm angle block_diag complex cumprod fft_fft fft_ifft fft_ihfft fft_rfft index_copy linalg_eig
        linalg_eigh linalg_eigvals linalg_eigvalsh linalg_lstsq linalg_lstsq_grad_oriented linalg_lu_solve
        linalg_pinv linalg_pinv_hermitian linalg_qr linalg_solve linalg_solve_ex linalg_svdvals lu_solve
        matrix_exp max_pool2d_with_indices_backward nn_functional_bilinear nn_functional_conv1d
        nn_functional_conv2d nn_functional_conv3d nn_functional_conv_transpose1d
        nn_functional_conv_transpose2d nn_functional_conv_transpose3d nn_functional_max_pool2d
        nn_functional_max_unpool2d nn_functional_max_unpool2d_grad nn_functional_pairwise_distance ormqr
        pinverse polar prod qr repeat rot90 tile
    """,
    # as_strided_scatter: torch gives `self` the gradient of what was written over. The rest is sparse, has no elements,
    # or has no dtype here (complex32).
    "gradient": """
        _upsample_bilinear2d_aa as_strided_scatter chalf cov ormqr sparse_mm_reduce sparse_sampled_addmm
        to_sparse
    """,
    # As above; torch's chunked cross entropy and cdist are ops of their own, whose second gradients it leaves out.
    "second_gradient": """
        _upsample_bilinear2d_aa as_strided_scatter chalf cov linalg_det linalg_lstsq
        linalg_lstsq_grad_oriented native_layer_norm nn_functional_embedding_bag
        nn_functional_linear_cross_entropy_chunked nn_functional_linear_cross_entropy_chunked_none ormqr
        sparse_mm_reduce sparse_sampled_addmm svd_lowrank to_sparse
    """,
    # Of results without elements, of random numbers, of singular and of ill-conditioned matrices, of sparse tensors.
    "tangent": """
        _upsample_bilinear2d_aa chalf cholesky_inverse linalg_pinv_singular logcumsumexp native_group_norm
        nn_functional_linear_cross_entropy_chunked nn_functional_linear_cross_entropy_chunked_none normal
        normal_number_mean scatter_reduce_prod sparse_mm_reduce sparse_sampled_addmm
    """,
    "single_tangents": """
        linalg_pinv_singular native_group_norm nn_functional_linear_cross_entropy_chunked
        nn_functional_linear_cross_entropy_chunked_none normal scatter_reduce_prod sparse_mm_reduce
        sparse_sampled_addmm
    """,
    "tangent_of_gradient": """
        _upsample_bilinear2d_aa as_strided_scatter chalf cholesky_inverse cov linalg_lstsq
        linalg_lstsq_grad_oriented linalg_pinv linalg_pinv_hermitian linalg_pinv_singular logcumsumexp
        native_group_norm nn_functional_group_norm nn_functional_hardsigmoid
        nn_functional_linear_cross_entropy_chunked nn_functional_linear_cross_entropy_chunked_none normal
        normal_number_mean pinverse scatter_reduce_prod sparse_mm_reduce sparse_sampled_addmm
        torch_ops_aten__safe_softmax_default triangular_solve
    """,
    # Texts of refusals, dtypes and memory formats that torch refuses inside vmap, samples without elements; of kron,
    # products whose memory cannot be viewed.
    "batched": """
        __rmatmul__ _batch_norm_with_update _native_batch_norm_legit _upsample_bilinear2d_aa
        as_strided_partial_views bfloat16 cdouble cfloat chalf cov double float gather half index_fill
        kron linalg_lu_solve linalg_pinv lu_solve masked_select matmul nanquantile native_batch_norm
        native_group_norm nn_functional_batch_norm nn_functional_bilinear nn_functional_instance_norm
        nn_functional_multi_head_attention_forward nn_functional_rrelu quantile repeat_interleave to to_sparse
        unfold unfold_copy
    """,
    # Which of two errors comes first; refusals of torch.
    "in_place": """
        addbmm addr conj_physical
    """,
    # Rounding in 16 bits, the order of equal elements, what cancels in float32.
    "narrow": """
        _batch_norm_with_update _upsample_bilinear2d_aa as_strided_scatter chalf cov grid_sampler_2d
        grid_sampler_3d linalg_eig linalg_eigvals linalg_householder_product logcumsumexp matrix_exp msort
        native_layer_norm nn_functional_grid_sample nn_functional_layer_norm nn_functional_normalize
        nn_functional_pad_reflect nn_functional_pad_replicate ormqr pca_lowrank renorm sort sparse_mm_reduce
        sparse_sampled_addmm svd_lowrank to_sparse view_as_complex
    """,
}


def _checks_of(operator: str) -> str:
    return " ".join(check for check, operators in _DIFFERENT.items() if operator in operators.split())


KNOWN = {
    operator: _checks_of(operator)
    for operator in sorted({name for each in _DIFFERENT.values() for name in each.split()})
}
