"""The samples of torch's on which mindtorch is known to differ: ways to call, of `test_opinfo_values`."""

from tests.parity.known import FREE, OURS, TORCH, Cause, Known, Table

# Results that a library is free to choose: only dtype, shape and strides are compared.
_UNWRITTEN = "empty empty_like empty_permuted empty_strided new_empty new_empty_strided"
_BASES = "svd linalg_svd linalg_eig linalg_eigh linalg_eigvals svd_lowrank pca_lowrank"  # signs, order, planes
_TIES = "argsort kthvalue mode sort topk"  # which of equal elements
UNDETERMINED = frozenset(f"{_UNWRITTEN} {_BASES} {_TIES}".split())


TABLE = Table()
