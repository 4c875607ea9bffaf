"""Linear algebra, as `torch.linalg` names it."""

from mindtorch._generated.ops.linalg import linalg_cholesky as cholesky
from mindtorch._generated.ops.linalg import linalg_cholesky_ex as cholesky_ex
from mindtorch._generated.ops.linalg import linalg_cond as cond
from mindtorch._generated.ops.linalg import linalg_cross as cross
from mindtorch._generated.ops.linalg import linalg_det as det
from mindtorch._generated.ops.linalg import linalg_diagonal as diagonal
from mindtorch._generated.ops.linalg import linalg_eig as eig
from mindtorch._generated.ops.linalg import linalg_eigh as eigh
from mindtorch._generated.ops.linalg import linalg_eigvals as eigvals
from mindtorch._generated.ops.linalg import linalg_eigvalsh as eigvalsh
from mindtorch._generated.ops.linalg import linalg_inv as inv
from mindtorch._generated.ops.linalg import linalg_inv_ex as inv_ex
from mindtorch._generated.ops.linalg import linalg_lstsq as lstsq
from mindtorch._generated.ops.linalg import linalg_lu as lu
from mindtorch._generated.ops.linalg import linalg_lu_factor as lu_factor
from mindtorch._generated.ops.linalg import linalg_lu_factor_ex as lu_factor_ex
from mindtorch._generated.ops.linalg import linalg_matmul as matmul
from mindtorch._generated.ops.linalg import linalg_matrix_exp as matrix_exp
from mindtorch._generated.ops.linalg import linalg_matrix_norm as matrix_norm
from mindtorch._generated.ops.linalg import linalg_matrix_power as matrix_power
from mindtorch._generated.ops.linalg import linalg_matrix_rank as matrix_rank
from mindtorch._generated.ops.linalg import linalg_multi_dot as multi_dot
from mindtorch._generated.ops.linalg import linalg_norm as norm
from mindtorch._generated.ops.linalg import linalg_pinv as pinv
from mindtorch._generated.ops.linalg import linalg_qr as qr
from mindtorch._generated.ops.linalg import linalg_slogdet as slogdet
from mindtorch._generated.ops.linalg import linalg_solve as solve
from mindtorch._generated.ops.linalg import linalg_solve_ex as solve_ex
from mindtorch._generated.ops.linalg import linalg_solve_triangular as solve_triangular
from mindtorch._generated.ops.linalg import linalg_svd as svd
from mindtorch._generated.ops.linalg import linalg_svdvals as svdvals
from mindtorch._generated.ops.linalg import linalg_tensorinv as tensorinv
from mindtorch._generated.ops.linalg import linalg_tensorsolve as tensorsolve
from mindtorch._generated.ops.linalg import linalg_vander as vander
from mindtorch._generated.ops.linalg import linalg_vecdot as vecdot
from mindtorch._generated.ops.reduction import linalg_vector_norm as vector_norm
from mindtorch.errors import LinAlgError

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "inv_ex",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]
