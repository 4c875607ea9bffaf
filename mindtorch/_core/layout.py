"""The layouts of a tensor's memory: `strided` and the sparse ones."""

from mindtorch._core.named_constant import NamedConstant


class layout(NamedConstant):
    """How a tensor keeps its elements. The objects are constants; compare with `is`.

    `shown` is what messages call it. A compressed layout packs the rows or the columns of a matrix: where each begins
    is noted once. In a blocked one every value is a small matrix.
    """

    __module__ = "mindtorch"

    torch_name = "torch.layout"
    __slots__ = ("shown", "is_compressed", "by_rows", "is_blocked")

    def __init__(self, name: str, shown: str, by_rows: bool | None = None, is_blocked: bool = False) -> None:
        super().__init__(name)
        self.shown = shown
        self.is_compressed = by_rows is not None
        self.by_rows = bool(by_rows)
        self.is_blocked = is_blocked


strided = layout("strided", "Strided")
sparse_coo = layout("sparse_coo", "Sparse")
sparse_csr = layout("sparse_csr", "SparseCsr", by_rows=True)
sparse_csc = layout("sparse_csc", "SparseCsc", by_rows=False)
sparse_bsr = layout("sparse_bsr", "SparseBsr", by_rows=True, is_blocked=True)
sparse_bsc = layout("sparse_bsc", "SparseBsc", by_rows=False, is_blocked=True)

COMPRESSED = (sparse_csr, sparse_csc, sparse_bsr, sparse_bsc)


def compressed_like(by_rows: bool, is_blocked: bool) -> layout:
    """The compressed layout of rows or columns, with blocks or without."""
    return next(each for each in COMPRESSED if (each.by_rows, each.is_blocked) == (by_rows, is_blocked))
