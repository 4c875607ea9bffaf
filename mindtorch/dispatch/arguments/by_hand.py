"""The arguments of functions that are written by hand, and have torch's parser there: refused by a schema."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from mindtorch._support import errors
from mindtorch._support.lazy import lazy
from mindtorch.dispatch.arguments.types import test_of

if TYPE_CHECKING:
    from mindtorch.dispatch.schema.function_schema import Argument

_schemas: Any = lazy("mindtorch.dispatch.schema.function_schema")


def check_arguments(schema: str, *values: Any) -> None:
    """Refuse the first value that does not fit its argument of a schema, `isclose(Tensor self, float rtol) -> Tensor`.

    There are as many values as arguments, or fewer.
    """
    function, arguments = _arguments(schema)
    for (place, argument, fits), value in zip(arguments, values):
        if not fits(value):
            position = None if argument.keyword_only else place
            raise errors.argument_type(function, argument.name, position, argument.shown_type, value)


@cache
def _arguments(schema: str) -> tuple[str, list[tuple[int, Argument, Callable[[Any], bool]]]]:
    parsed = _schemas.parse_schema(schema)
    return parsed.base, [(place, each, test_of(each)) for place, each in enumerate(parsed.arguments, 1)]
