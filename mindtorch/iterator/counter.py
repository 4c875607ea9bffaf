"""Which elements are next: a range of the elements of a shape, taken in two-dimensional steps as large as possible.

Sizes are in iteration order, innermost dimension first. Elements are numbered in that order, too.
"""

Step = tuple[int, int]


class DimCounter:
    """Goes through the elements `begin` to `end` of `shape`; `values` says where it is in each dimension."""

    __slots__ = ("shape", "end", "values", "offset")

    def __init__(self, shape: tuple[int, ...], begin: int, end: int) -> None:
        self.shape = shape
        self.end = end
        self.offset = begin
        self.values = _place(shape, begin)

    def is_done(self) -> bool:
        return self.offset >= self.end

    def max_2d_step(self) -> Step:
        """How many elements of the innermost dimension can be taken, and how many such rows."""
        shape, left = self.shape, self.end - self.offset
        row = min(shape[0] - self.values[0], left)
        if row < shape[0] or len(shape) == 1:
            return row, 1
        return row, min(shape[1] - self.values[1], left // row)

    def increment(self, step: Step) -> None:
        """Moves on by a step that `max_2d_step` has given."""
        row, rows = step
        self.offset += row * rows
        carry, first = (row, 0) if rows == 1 else (rows, 1)
        for dim in range(first, len(self.shape)):
            value = self.values[dim] + carry
            carry = value >= self.shape[dim]
            self.values[dim] = value - self.shape[dim] if carry else value
            if not carry:
                break


def _place(shape: tuple[int, ...], number: int) -> list[int]:
    """Where the element of this number is in each dimension."""
    values = []
    for size in shape:
        number, value = divmod(number, size) if size else (number, 0)
        values.append(value)
    return values
