"""There is no CUDA here. Its settings can be set, and change nothing."""


class _Matmul:
    """How matrices would be multiplied."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = _Matmul()


def is_built() -> bool:
    return False
