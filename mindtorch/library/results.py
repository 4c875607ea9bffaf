"""What a kernel returns, checked against the schema."""

from collections.abc import Callable
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch.schema.syntax import Declaration
from mindtorch.library.casting import Cast, CastError, cast_for


def result_check(name: str, declaration: Declaration) -> Callable[[Any], Any]:
    """The function that makes of a kernel's result what the op returns."""
    casts = [cast_for(each.type) for each in declaration.returns]
    if len(casts) == 1 and not declaration.returns_tuple:
        return _single_check(casts[0])
    if not casts:
        return _nothing_check(name)
    return _single_check(_several_cast(casts))


def _single_check(cast: Cast) -> Cast:
    def check(result: Any) -> Any:
        try:
            return cast(result)
        except CastError as error:
            raise error.kind(str(error)) from None

    return check


def _nothing_check(name: str) -> Callable[[Any], None]:
    def check(result: Any) -> None:
        if result is not None:
            raise RuntimeError(
                f"Expected PythonKernelHolder for {name} to return None but it returned something else instead."
            )

    return check


def _several_cast(casts: list[Cast]) -> Cast:
    def cast_all(result: Any) -> tuple:
        if not isinstance(result, (tuple, list)):
            raise TypeError(f"Object of type '{type(result).__name__}' is not an instance of 'sequence'")
        if len(result) != len(casts):
            raise RuntimeError(f"expected {len(casts)} results from the kernel, but got {len(result)}")
        return tuple([cast(value) for cast, value in zip(casts, result)])

    return cast_all


def may_record(values: Any) -> bool:
    """Whether one of the tensors among values may take part in autograd."""
    for value in values:
        if isinstance(value, Tensor):
            if value._mt_edge is not None:
                return True
        elif type(value) is list and may_record(value):
            return True
    return False
