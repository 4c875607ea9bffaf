"""The derivatives of torch's samples in which mindtorch is known to differ: checks of `opinfo_derivatives`.

"<check> strides" is the order of the results in memory, where all else agrees.
"""

from tests.parity.support.known import FREE, OURS, TORCH, Cause, Known, Table

# -------------------- torch is wrong --------------------

WRITTEN_OVER = Cause(
    TORCH,
    "torch gives `self` the gradient of the elements that were written over, and none of the others: the sum "
    "of a 4x4 matrix with 4 elements written over has ones in their 4 places, where central differences have "
    "ones in the other 12. mindtorch agrees with those.",
)
LEFT_OUT = Cause(
    TORCH,
    "torch leaves out the tangent of a product: central differences of sample 0 reach 1.47, mindtorch's "
    "tangents are within 1e-9 of them, and torch has none.",
)
CONSTANT_GRADIENT = Cause(
    TORCH,
    "the gradient of sample 0 does not change along the tangents: central differences stay below 2e-10, as "
    "mindtorch's do; torch's reach 97.6.",
)
TRIANGULAR = Cause(
    TORCH,
    "of sample 0, central differences reach 6280.04 and mindtorch is within 2e-5 of them; torch has 23040.4.",
)
ILL_CONDITIONED = Cause(
    TORCH,
    "an ill-conditioned factor: of sample 3, torch's tangent is 4e-6 off central differences, mindtorch's 2e-10.",
)
COMPLEX_NAN = Cause(
    TORCH,
    "torch's complex tangents are nan; central differences of sample 0 reach 2.04521, mindtorch is within 1e-6 "
    "of them.",
)
RENORM_NAN = Cause(
    TORCH,
    "torch has nan for p=inf in single precision; mindtorch is within 5e-8 of what torch computes of the same "
    "numbers in double precision.",
)
HALF_NAN = Cause(
    TORCH,
    "torch's gradient in 16 bits is nan; of what torch computes of the same numbers in double precision, up to "
    "88, mindtorch is off by 0.04 in float16 and 0.2 in bfloat16.",
)
CHUNKED = Cause(
    TORCH,
    "torch computes it in a Function without jvp whose gradient is cut off; central differences of sample 0 "
    "reach 1.58868 and mindtorch's tangent is within 4e-10 of them, where torch has none.",
)
BROADCAST_MEAN = Cause(
    TORCH,
    "torch gives the random numbers of a broadcast mean a tangent of the mean's own size, and refuses it with "
    "an error about sizes; mindtorch has none, as for inputs of one size.",
)
RESIZED = Cause(
    TORCH,
    "torch resizes a tensor of one element to the size of the result, in place; of baddbmm_ and all other ops "
    "it calls that a bad in-place call, which mindtorch does here, too.",
)
COALESCED = Cause(
    TORCH,
    "torch asks the compressed gradient whether it is coalesced, which only coordinate tensors are: an "
    "internal error. mindtorch computes the second gradient.",
)
SPARSE_VIEW = Cause(
    TORCH,
    "torch's vmap takes a view of the result, which a sparse tensor has not; mindtorch gives the samples back.",
)
CONTIGUOUS_BATCH = Cause(
    TORCH,
    "torch refuses a batch whose memory is not contiguous, which is how it has made it; mindtorch computes it.",
)
MEMORY_FORMAT = Cause(
    TORCH,
    "torch asks for four dimensions with the batch for a memory format of the sample; mindtorch takes the "
    "sample's four.",
)
LAST_ONLY = Cause(
    TORCH,
    "of two values, torch fills both samples with the last; mindtorch has what torch has for each on its own.",
)
WEIGHTS_VIEWED = Cause(
    TORCH,
    "torch takes a view of weights whose memory does not allow it; mindtorch computes them.",
)

# -------------------- either is right --------------------

TIES = Cause(
    FREE,
    "the order of equal elements, which torch leaves open unless the sort is stable: here it always is.",
)
TURNED_CONVOLUTION = Cause(
    FREE,
    "second gradients of weights and inputs: torch computes them as a turned convolution, of which it narrows "
    "a transposed view. They are new tensors in both libraries, with equal values.",
)
ORDER_OF_TERMS = Cause(
    FREE,
    "which of the terms of a second gradient comes first decides its order in memory. The values are equal.",
)
PADDED_SPECTRUM = Cause(
    FREE,
    "torch writes the half of the spectrum that it has into zeros, whose gradient is contiguous; here the "
    "zeros are padding, whose gradient lies in memory like the one that comes. The values are equal.",
)
VIEW_OR_NEW = Cause(
    FREE,
    "in one of the libraries it is a view, of a diagonal, a block, a part of complex numbers or an expanded "
    "tensor, and in the other a new tensor.",
)
WEIGHTS_COMPARED = Cause(
    FREE,
    "two refusals: torch has no rule for the comparison of its weights, mindtorch does not look at batched " "values.",
)

# -------------------- mindtorch is wrong, or lacks something --------------------

IN_PARTS = Cause(
    OURS,
    "in forward mode these are taken apart into their parts, whose gradients lie in memory otherwise.",
    takes="forward formulas for ops that are made of others",
)
PARTS_OF_COMPLEX32 = Cause(
    OURS,
    "of float16, torch has the real and imaginary parts of a complex32 gradient as views; without complex32 "
    "they are converted.",
    takes="complex32",
)
COMPLEX32_INPUT = Cause(
    OURS,
    "there is no complex32: a float16 tensor is refused.",
    takes="complex32",
)
COMPLEX32 = Cause(
    OURS,
    "there is no complex32.",
    takes="complex32",
)
EXPANDED_FACTORS = Cause(
    OURS,
    "torch takes the real part of a product with expanded factors as a view; here it is a new tensor.",
    takes="the view",
)
OVERLOAD = Cause(
    OURS,
    "torch._C._nn._upsample_bilinear2d_aa takes scale_factors, an overload that is not there. "
    "nn.functional.interpolate(antialias=True) is.",
    takes="the overload `vec`",
)

# -------------------- the table --------------------

TABLE = Table(
    Known("_upsample_bilinear2d_aa", "batched", OVERLOAD, samples="0-2"),
    Known("_upsample_bilinear2d_aa", "gradient", OVERLOAD, samples="0-2"),
    Known("_upsample_bilinear2d_aa", "second_gradient", OVERLOAD, samples="0-2"),
    Known("_upsample_bilinear2d_aa", "tangent", OVERLOAD, samples="0-2"),
    Known("_upsample_bilinear2d_aa", "tangent_of_gradient", OVERLOAD, samples="0-2"),
    Known("addbmm", "in_place", RESIZED, samples="1 3 4"),
    Known("addbmm", "second_gradient strides", ORDER_OF_TERMS),
    Known("angle", "second_gradient strides", VIEW_OR_NEW, dtypes="complex128"),
    Known("as_strided_scatter", "gradient", WRITTEN_OVER),
    Known("as_strided_scatter", "second_gradient", WRITTEN_OVER),
    Known("as_strided_scatter", "tangent_of_gradient", WRITTEN_OVER),
    Known("bfloat16", "batched", MEMORY_FORMAT, samples="4"),
    Known("block_diag", "tangent_of_gradient strides", IN_PARTS, samples="0 1 3"),
    Known("cdouble", "batched", MEMORY_FORMAT, samples="4"),
    Known("cfloat", "batched", MEMORY_FORMAT, samples="4"),
    Known("chalf", "batched", COMPLEX32),
    Known("chalf", "gradient", COMPLEX32),
    Known("chalf", "second_gradient", COMPLEX32),
    Known("chalf", "tangent", COMPLEX32),
    Known("chalf", "tangent_of_gradient", COMPLEX32),
    Known("cholesky_inverse", "tangent", ILL_CONDITIONED, samples="3 4"),
    Known("cholesky_inverse", "tangent_of_gradient", ILL_CONDITIONED, samples="3 4"),
    Known("complex", "gradient strides", PARTS_OF_COMPLEX32, dtypes="float16", samples="1-3"),
    Known("cov", "batched", WEIGHTS_COMPARED, samples="1-3"),
    Known("cumprod", "second_gradient strides", ORDER_OF_TERMS, samples="3 4"),
    Known("double", "batched", MEMORY_FORMAT, samples="4"),
    Known("fft_ihfft", "second_gradient strides", PADDED_SPECTRUM, samples="0 4"),
    Known("fft_ihfftn", "second_gradient strides", PADDED_SPECTRUM, samples="3"),
    Known("fft_rfft", "second_gradient strides", PADDED_SPECTRUM, samples="0 4"),
    Known("fft_rfft2", "second_gradient strides", PADDED_SPECTRUM, samples="3"),
    Known("fft_rfftn", "second_gradient strides", PADDED_SPECTRUM, samples="3 4"),
    Known("float", "batched", MEMORY_FORMAT, samples="4"),
    Known("half", "batched", MEMORY_FORMAT, samples="4"),
    Known("index_fill", "batched", LAST_ONLY, samples="1 3"),
    Known("linalg_eig", "second_gradient strides", VIEW_OR_NEW, samples="0 3 4"),
    Known("linalg_eigh", "second_gradient strides", VIEW_OR_NEW, samples="0 3 4"),
    Known("linalg_eigvals", "second_gradient strides", VIEW_OR_NEW, samples="0 3 4"),
    Known("linalg_eigvalsh", "second_gradient strides", VIEW_OR_NEW, dtypes="complex128", samples="0 3 4"),
    Known("linalg_lstsq", "tangent_of_gradient strides", IN_PARTS),
    Known("linalg_lstsq_grad_oriented", "tangent_of_gradient strides", IN_PARTS),
    Known("linalg_lu_solve", "second_gradient strides", ORDER_OF_TERMS, samples="0"),
    Known("linalg_pinv", "tangent_of_gradient strides", IN_PARTS, samples="0 3 4"),
    Known("linalg_pinv_hermitian", "tangent_of_gradient strides", IN_PARTS, samples="0 3 4"),
    Known("linalg_qr", "second_gradient strides", ORDER_OF_TERMS, samples="3"),
    Known("linalg_svdvals", "second_gradient strides", VIEW_OR_NEW, dtypes="complex128", samples="0 3 4"),
    Known("logcumsumexp", "tangent", COMPLEX_NAN, dtypes="complex128", samples="0 1 4"),
    Known("logcumsumexp", "tangent_of_gradient", COMPLEX_NAN, dtypes="complex128", samples="0 1 4"),
    Known("lu_solve", "second_gradient strides", ORDER_OF_TERMS, samples="0"),
    Known("matrix_exp", "gradient", HALF_NAN, dtypes="float16 bfloat16"),
    Known("matrix_exp", "second_gradient strides", VIEW_OR_NEW),
    Known("msort", "gradient", TIES, dtypes="float16 bfloat16", samples="0"),
    Known("native_group_norm", "batched", CONTIGUOUS_BATCH, samples="0 2"),
    Known("nn_functional_bilinear", "second_gradient strides", ORDER_OF_TERMS),
    Known("nn_functional_conv1d", "second_gradient strides", TURNED_CONVOLUTION, dtypes="float64", samples="0 1 4"),
    Known("nn_functional_conv2d", "second_gradient strides", TURNED_CONVOLUTION, dtypes="float64", samples="0"),
    Known("nn_functional_conv3d", "second_gradient strides", TURNED_CONVOLUTION, dtypes="float64", samples="4"),
    Known(
        "nn_functional_conv_transpose1d",
        "second_gradient strides",
        TURNED_CONVOLUTION,
        dtypes="float64",
        samples="0 1 3 4",
    ),
    Known(
        "nn_functional_conv_transpose2d",
        "second_gradient strides",
        TURNED_CONVOLUTION,
        dtypes="float64",
        samples="0 1 3",
    ),
    Known(
        "nn_functional_conv_transpose3d",
        "second_gradient strides",
        TURNED_CONVOLUTION,
        dtypes="float64",
        samples="0 1 3 4",
    ),
    Known("nn_functional_linear_cross_entropy_chunked", "second_gradient", CHUNKED, samples="0"),
    Known("nn_functional_linear_cross_entropy_chunked", "single_tangents", CHUNKED, samples="0"),
    Known("nn_functional_linear_cross_entropy_chunked", "tangent", CHUNKED, samples="0"),
    Known("nn_functional_linear_cross_entropy_chunked", "tangent_of_gradient", CHUNKED, samples="0"),
    Known("nn_functional_linear_cross_entropy_chunked_none", "second_gradient", CHUNKED, samples="0 1 3"),
    Known("nn_functional_linear_cross_entropy_chunked_none", "single_tangents", CHUNKED, samples="0 1 3"),
    Known("nn_functional_linear_cross_entropy_chunked_none", "tangent", CHUNKED, samples="0 1 3"),
    Known("nn_functional_linear_cross_entropy_chunked_none", "tangent_of_gradient", CHUNKED, samples="0 1 3"),
    Known("nn_functional_multi_head_attention_forward", "batched", WEIGHTS_VIEWED),
    Known("nn_functional_pairwise_distance", "second_gradient strides", VIEW_OR_NEW, dtypes="complex128", samples="1"),
    Known("normal", "single_tangents", BROADCAST_MEAN, samples="4"),
    Known("normal", "tangent", BROADCAST_MEAN, samples="4"),
    Known("normal", "tangent_of_gradient", BROADCAST_MEAN, samples="4"),
    Known("ormqr", "second_gradient strides", ORDER_OF_TERMS, samples="0 3 4"),
    Known("pinverse", "tangent_of_gradient strides", IN_PARTS, samples="0 3 4"),
    Known("polar", "tangent_of_gradient strides", EXPANDED_FACTORS, samples="1-3"),
    Known("prod", "second_gradient strides", ORDER_OF_TERMS, samples="2"),
    Known("qr", "second_gradient strides", ORDER_OF_TERMS, samples="3"),
    Known("renorm", "gradient", RENORM_NAN, dtypes="complex64", samples="3"),
    Known("repeat", "second_gradient strides", VIEW_OR_NEW, samples="3"),
    Known("rot90", "tangent strides", IN_PARTS, samples="0 2-4"),
    Known("scatter_reduce_prod", "single_tangents", LEFT_OUT),
    Known("scatter_reduce_prod", "tangent", LEFT_OUT),
    Known("scatter_reduce_prod", "tangent_of_gradient", CONSTANT_GRADIENT),
    Known("sort", "gradient", TIES, dtypes="float16 bfloat16", samples="0"),
    Known("sparse_sampled_addmm", "second_gradient", COALESCED),
    Known("tile", "second_gradient strides", VIEW_OR_NEW, samples="4"),
    Known("to", "batched", MEMORY_FORMAT, samples="2 4"),
    Known("to_sparse", "batched", SPARSE_VIEW),
    Known("triangular_solve", "tangent_of_gradient", TRIANGULAR, samples="0 2"),
    Known("view_as_complex", "gradient", COMPLEX32_INPUT, dtypes="float16"),
)
