"""Where mindtorch and torch are known to differ on torch's samples, with the reasons."""

# Results that a library is free to choose: only dtype, shape and strides are compared.
_UNWRITTEN = "empty empty_like empty_permuted empty_strided new_empty new_empty_strided"
_BASES = "svd linalg_svd linalg_eig linalg_eigh linalg_eigvals svd_lowrank pca_lowrank"  # signs, order, planes
_TIES = "argsort kthvalue mode sort topk"  # which of equal elements
UNDETERMINED = frozenset(f"{_UNWRITTEN} {_BASES} {_TIES}".split())

_CALLS = ("function", "method", "noncontiguous")
_HALVES = "rounding of 16-bit floats between the steps of a computation"
_BYTES = "torch computes with weights of 16 bits"
_EAGER_CONJUGATE = "a conjugated tensor is a copy, without the steps of its input"
_NO_COMPLEX32 = "there is no complex32"
_OUT_OF_TORCH = "torch fills a strided out= in the order of memory, or refuses it"
_NO_OUT = "the function has no out="
_OUT_TEXT = "the check of the dtype of out= is another one"
_SPARSE = "operators on compressed sparse layouts only"
_REFLECTED = "a method that is called with a number in the place of its tensor"
_OVERLAP = "out= that is an input, too, is no error"
_ORDER = "of several mistakes in one call, torch names another one first"

# By reason: operators, and the ways of calling them that are not compared.
_REASONS: list[tuple[str, str, tuple[str, ...]]] = [
    (_HALVES, "matrix_exp nn_functional_binary_cross_entropy_with_logits nn_functional_nll_loss", _CALLS),
    (_HALVES, "nn_functional_grid_sample grid_sampler_2d grid_sampler_3d", _CALLS),
    (_BYTES, "nn_functional_interpolate_bicubic nn_functional_interpolate_bilinear", _CALLS),
    (_BYTES, "nn_functional_upsample_bilinear _upsample_bilinear2d_aa", _CALLS),
    ("other approximations, beyond the eighth digit", "special_bessel_j0 special_bessel_j1", (*_CALLS, "out")),
    ("other approximations, beyond the eighth digit", "special_bessel_y0 special_bessel_y1", (*_CALLS, "out")),
    ("other approximations, beyond the eighth digit", "special_airy_ai", (*_CALLS, "out")),
    ("an ill-conditioned system", "linalg_tensorsolve", (*_CALLS, "out")),
    ("strides of dimensions of size 1", "linalg_lu_solve linalg_matrix_power", (*_CALLS, "out")),
    (_EAGER_CONJUGATE, "H conj mH", ("noncontiguous",)),
    (_NO_COMPLEX32, "chalf view_as_complex", _CALLS),
    ("there is no uint64", "hash_tensor", (*_CALLS, "out")),
    (_OUT_OF_TORCH, "matmul nn_functional_linear nn_functional_gelu nn_functional_avg_pool3d", ("out turned",)),
    (_OUT_OF_TORCH, "narrow_copy tril triu linalg_qr qr", ("out turned",)),
    (_OUT_OF_TORCH, "fft_ifft fft_ihfft fft_ihfft2 fft_ihfftn normal normal_number_mean nonzero", ("out",)),
    (_NO_OUT, "_batch_norm_with_update _native_batch_norm_legit split_with_sizes_copy unbind_copy", ("out",)),
    (_NO_OUT, "nn_functional_logsigmoid nn_functional_softshrink", ("out",)),
    (_OUT_TEXT, "_chunk_cat linalg_cond mean nanmean nansum native_batch_norm", ("out integral",)),
    (_OUT_TEXT, "linalg_eigh mvlgamma_mvlgamma_p_1 mvlgamma_mvlgamma_p_3 mvlgamma_mvlgamma_p_5", ("out integral",)),
    (_OUT_TEXT, "multinomial", ("error",)),
    ("torch takes only contiguous memory", "native_group_norm", ("noncontiguous",)),
    (_SPARSE, "sparse_mm_reduce sparse_sampled_addmm", (*_CALLS, "out")),
    (_REFLECTED, "__radd__ __rand__ __rmod__ __rmul__ __ror__ __rpow__ __rsub__ __rxor__", ("error",)),
    (_OVERLAP, "cat gather kthvalue masked_select take", ("error",)),
    (_ORDER, "_chunk_cat gradient narrow_copy nn_functional_max_pool3d nn_functional_multi_margin_loss", ("error",)),
    (_ORDER, "nn_functional_conv1d nn_functional_conv2d nn_functional_conv3d", ("error",)),
    (_ORDER, "nn_functional_linear_cross_entropy nn_functional_linear_cross_entropy_chunked", ("error",)),
    (_ORDER, "nn_functional_linear_cross_entropy_chunked_none", ("error",)),
    ("NumPy has no arrays of 65 dimensions", "amax amin aminmax", ("error",)),
]
DIFFERENT: dict[str, set[str]] = {}
for _reason, _names, _ways in _REASONS:
    for _name in _names.split():
        DIFFERENT.setdefault(_name, set()).update(_ways)
