"""The memory formats: in which order the dimensions of a dense tensor lie in memory."""


class memory_format:
    """An order of dimensions in memory. The objects are constants; compare with `is`."""

    torch_name = "torch.memory_format"
    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
