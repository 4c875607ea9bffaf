"""What ops were before: a call in an old form, and the call of today that means the same."""

from collections.abc import Callable
from functools import partial
from keyword import iskeyword
from typing import Any

from mindtorch.dispatch.schema.function_schema import Schema, parse_schema


class OldForm:
    """An old schema of an op. `meaning` takes the function of today and the old arguments, and makes the new call."""

    __slots__ = ("schema_text", "meaning")

    def __init__(self, schema_text: str, meaning: Callable) -> None:
        self.schema_text = schema_text
        self.meaning = meaning

    @property
    def schema(self) -> Schema:
        return parse_schema(self.schema_text)

    def call(self, function: Callable, given: dict[str, Any]) -> Any:
        """Call `function` in place of the old form, with arguments by Python name.

        What no schema has, `out` and `requires_grad`, goes to `function` as it is.
        """
        names = python_names(self.schema)
        further = {name: value for name, value in given.items() if name not in names}
        own = {name: value for name, value in given.items() if name in names}
        return self.meaning(partial(function, **further) if further else function, **own)


def python_names(schema: Schema) -> list[str]:
    """What the arguments of a schema are called in Python, in their order."""
    return [f"{a.name}_" if iskeyword(a.name) else a.name for a in schema.arguments]
