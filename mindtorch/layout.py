"""The layouts of a tensor's memory: `strided` and the sparse ones."""


class layout:
    """How a tensor keeps its elements. The objects are constants; compare with `is`."""

    torch_name = "torch.layout"
    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csr = layout("sparse_csr")
