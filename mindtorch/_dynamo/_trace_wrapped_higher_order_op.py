"""A mode that programs use when they call functions of positions inside `vmap`."""


class TransformGetItemToIndex:
    """A block in which tensors may be indexed by batched numbers, as they may everywhere here."""

    def __enter__(self) -> None:
        """Nothing to change."""

    def __exit__(self, *exc_info: object) -> None:
        """Nothing was changed."""
