"""What layouts, memory formats and quantization schemes are: constants of the library with a name."""


class NamedConstant:
    """A constant that is shown, and pickled, as `torch.<name>`. Compare with `is`."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name
