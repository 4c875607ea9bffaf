"""The samples of torch's on which mindtorch is known to differ: ways to call, of `test_opinfo_values`."""

from tests.parity.support.known import FREE, OURS, TORCH, Cause, Known, Table

# Results that a library is free to choose: only dtype, shape and strides are compared.
_UNWRITTEN = "empty empty_like empty_permuted empty_strided new_empty new_empty_strided"
_BASES = "svd linalg_svd linalg_eig linalg_eigh linalg_eigvals svd_lowrank pca_lowrank"  # signs, order, planes
_TIES = "argsort kthvalue mode sort topk"  # which of equal elements
UNDETERMINED = frozenset(f"{_UNWRITTEN} {_BASES} {_TIES}".split())


# -------------------- torch is wrong --------------------

ORDER_OF_MEMORY = Cause(
    TORCH,
    "into an `out` whose elements lie in memory in another order, torch writes in the order of memory: its `out` is "
    "not what the same call without `out=` gives, in torch itself. mindtorch's is.",
)
UNWRITTEN = Cause(
    TORCH,
    "torch leaves `out` as it was, an empty one empty, if the input is real and the transform has one dimension; "
    "mindtorch writes what the call without `out=` gives.",
)
VIEW_OF_OUT = Cause(
    TORCH,
    "torch multiplies into a view of `out` in which dimensions are put together, and refuses memory in another order "
    "with a text about sizes; mindtorch writes the product.",
)
NOT_RESIZED = Cause(
    TORCH,
    "torch refuses an empty `out` for a number and a tensor, which it resizes for two tensors; mindtorch resizes it.",
)
BESSEL = Cause(
    TORCH,
    "double precision from approximations of single precision: against mpmath, torch is off by 1.1e-7 (airy_ai), "
    "3.1e-7 (j0), 2.8e-7 (j1), 1.2e-7 (y0) and 7.1e-7 (y1), mindtorch by at most 6e-16.",
)
HALF_NAN = Cause(
    TORCH,
    "torch's result in 16 bits is nan or without a correct digit; mindtorch's is what torch computes of the same "
    "numbers in double precision, rounded, infinities included.",
)
CONTIGUOUS_ONLY = Cause(
    TORCH,
    "torch refuses an input that is not contiguous with an assertion of its own; mindtorch computes it.",
)
WEIGHTS_OF_16_BITS = Cause(
    TORCH,
    "torch computes bytes with weights of 16 bits. Of 204,852 bytes of the samples, 33,791 (bilinear) and 45,441 "
    "(bicubic, by up to 27) are not the rounded result in double precision; of mindtorch's, 34 and 109, all by 1.",
)

# -------------------- either is right --------------------

WEIGHTS_IN_SINGLE = Cause(
    FREE,
    "weights in single precision for doubles: relative to weights in double precision, torch is off by 5.4e-8 and "
    "3e-7, mindtorch by 8.9e-9 and 4.9e-8.",
)
INFINITE_PARTS = Cause(
    FREE,
    "a complex number divided by zero: which of its parts are infinite and which nan is not defined.",
)
ORDER_OF_PASSES = Cause(
    FREE,
    "strides of an `out` that was empty: torch leaves those of its last pass over the data, mindtorch's is contiguous.",
)
REFUSED_OUT = Cause(
    FREE,
    "two refusals of an integral `out`: torch's comes from a step of its computation, and names that step's dtypes.",
)
ORDER_OF_CHECKS = Cause(
    FREE,
    "two mistakes in one call: torch looks at the size of the weight before it looks at the dtype of the target.",
)

# -------------------- mindtorch is wrong, or lacks something --------------------

EAGER_CONJUGATE = Cause(
    OURS,
    "a conjugated tensor is a new one, and contiguous, where torch has a view with the steps of its input.",
    takes="tensors with a bit for conjugation",
)
REFLECTED = Cause(
    OURS,
    "Tensor.__radd__ and the like take a number in the place of the tensor, which torch's slots refuse.",
    takes="methods that look at their own first argument",
)
COMPLEX32 = Cause(
    OURS,
    "there is no complex32.",
    takes="complex32",
)
MANY_DIMENSIONS = Cause(
    OURS,
    "a tensor of 65 dimensions cannot be made: NumPy's arrays have at most 64.",
    takes="shapes and strides beside the array",
)
OVERLOAD = Cause(
    OURS,
    "torch.ops.aten._upsample_bilinear2d_aa.vec takes scale_factors, an overload that is not there. "
    "nn.functional.interpolate(antialias=True) is.",
    takes="overloads `vec`, and a resolver that tells a list of factors, or None, from a factor that is left out",
)
NO_OUT_OF_NORMS = Cause(
    OURS,
    "the functions of torch.ops take no out= when they are called without naming an overload.",
    takes="packets that look for an overload with `out` among those that only torch.ops has",
)
NO_OUT_OF_LISTS = Cause(
    OURS,
    "out= as a list of tensors is in torch.ops only, not in the function.",
    takes="a Python signature for `out` of ops with a list as result",
)
RESIZED_OVER_INPUT = Cause(
    OURS,
    "an `out` that is too small, on the storage of the index: torch resizes it first, and then finds that the two "
    "share memory.",
    takes="a kernel that resizes `out` before it asks",
)

# -------------------- the table --------------------

TABLE = Table(
    Known("H", "noncontiguous", EAGER_CONJUGATE, dtypes="complex64 complex128"),
    Known("__radd__", "error", REFLECTED, samples="0 1"),
    Known("__rand__", "error", REFLECTED, samples="0 1"),
    Known("__rmod__", "error", REFLECTED, samples="0"),
    Known("__rmul__", "error", REFLECTED, samples="0 1"),
    Known("__ror__", "error", REFLECTED, samples="0 1"),
    Known("__rpow__", "error", REFLECTED, samples="0"),
    Known("__rsub__", "error", REFLECTED, samples="0"),
    Known("__rxor__", "error", REFLECTED, samples="0 1"),
    Known("_batch_norm_with_update", "out alike, out empty, out turned, out integral", NO_OUT_OF_NORMS),
    Known("_chunk_cat", "out integral", REFUSED_OUT, dtypes="float16 bfloat16 float32 float64 complex64 complex128"),
    Known("_native_batch_norm_legit", "out alike, out empty, out turned, out integral", NO_OUT_OF_NORMS),
    Known("_upsample_bilinear2d_aa", "function, noncontiguous", OVERLOAD, samples="0-3"),
    Known("_upsample_bilinear2d_aa", "function, noncontiguous", WEIGHTS_OF_16_BITS, dtypes="uint8", samples="4-6"),
    Known("amax", "error", MANY_DIMENSIONS, samples="1 2"),
    Known("amin", "error", MANY_DIMENSIONS, samples="1 2"),
    Known("aminmax", "error", MANY_DIMENSIONS, samples="1 2"),
    Known("chalf", "function, method, noncontiguous", COMPLEX32),
    Known("conj", "noncontiguous", EAGER_CONJUGATE, dtypes="complex64 complex128", samples="0"),
    Known("cov", "function, method, noncontiguous", INFINITE_PARTS, dtypes="complex128", samples="37"),
    Known("cov", "function, method, noncontiguous", WEIGHTS_IN_SINGLE, dtypes="float64", samples="33 37"),
    Known(
        "fft_ifft",
        "out empty",
        ORDER_OF_PASSES,
        dtypes="bool uint8 int8 int16 int32 int64 float32 float64",
        samples="0 5",
    ),
    Known("fft_ihfft", "out empty", ORDER_OF_PASSES, samples="0 5"),
    Known("fft_ihfft2", "out alike, out empty, out turned", UNWRITTEN, samples="3"),
    Known("fft_ihfftn", "out alike, out empty, out turned", UNWRITTEN, samples="2-5"),
    Known("gather", "error", RESIZED_OVER_INPUT, samples="7"),
    Known("linalg_eigh", "out integral", REFUSED_OUT, dtypes="complex64 complex128"),
    Known("mH", "noncontiguous", EAGER_CONJUGATE, dtypes="complex64 complex128"),
    Known("matmul", "out turned", VIEW_OF_OUT, samples="5"),
    Known("matrix_exp", "function, method, noncontiguous", HALF_NAN, dtypes="float16 bfloat16"),
    Known("mean", "out integral", REFUSED_OUT, dtypes="float16 bfloat16 float64 complex128", samples="1-3 5"),
    Known("nanmean", "out integral", REFUSED_OUT),
    Known("narrow_copy", "out turned", ORDER_OF_MEMORY, samples="0 1 4"),
    Known("native_batch_norm", "out integral", REFUSED_OUT),
    Known("native_group_norm", "noncontiguous", CONTIGUOUS_ONLY, samples="0-11 16-20"),
    Known("nn_functional_avg_pool3d", "out turned", ORDER_OF_MEMORY),
    Known(
        "nn_functional_binary_cross_entropy_with_logits",
        "function, noncontiguous",
        HALF_NAN,
        dtypes="bfloat16",
        samples="14",
    ),
    Known("nn_functional_nll_loss", "function, noncontiguous", HALF_NAN, dtypes="bfloat16", samples="24"),
    Known("nn_functional_gelu", "out turned", ORDER_OF_MEMORY, dtypes="bfloat16 float32", samples="0 2 4"),
    Known(
        "nn_functional_interpolate_bicubic",
        "function, noncontiguous",
        WEIGHTS_OF_16_BITS,
        dtypes="uint8",
        samples="0-4 6 8-10 12-16 18 19",
    ),
    Known(
        "nn_functional_interpolate_bilinear",
        "function, noncontiguous",
        WEIGHTS_OF_16_BITS,
        dtypes="uint8",
        samples="0-4 6 8-16 18 19",
    ),
    Known("nn_functional_linear", "out turned", VIEW_OF_OUT, samples="3"),
    Known("nn_functional_multi_margin_loss", "error", ORDER_OF_CHECKS, samples="7"),
    Known(
        "nn_functional_upsample_bilinear", "function, noncontiguous", WEIGHTS_OF_16_BITS, dtypes="uint8", samples="0-2"
    ),
    Known(
        "special_airy_ai",
        "function, noncontiguous, out alike, out empty, out turned",
        BESSEL,
        dtypes="float64",
        samples="0",
    ),
    Known(
        "special_bessel_j0",
        "function, noncontiguous, out alike, out empty, out turned",
        BESSEL,
        dtypes="float64",
        samples="0 2",
    ),
    Known(
        "special_bessel_j1",
        "function, noncontiguous, out alike, out empty, out turned",
        BESSEL,
        dtypes="float64",
        samples="0 2",
    ),
    Known(
        "special_bessel_y0",
        "function, noncontiguous, out alike, out empty, out turned",
        BESSEL,
        dtypes="float64",
        samples="0",
    ),
    Known(
        "special_bessel_y1",
        "function, noncontiguous, out alike, out empty, out turned",
        BESSEL,
        dtypes="float64",
        samples="0",
    ),
    Known("split_with_sizes_copy", "out alike, out empty, out turned, out integral", NO_OUT_OF_LISTS),
    Known("unbind_copy", "out alike, out empty, out turned, out integral", NO_OUT_OF_LISTS),
    Known("view_as_complex", "function, noncontiguous", COMPLEX32, dtypes="float16"),
)
