"""Short names of dtypes, `f32` for float32, which printed programs use."""

import re

from mindtorch._core import dtype as dtypes
from mindtorch._core.dtype import dtype

_LETTERS = {"bfloat": "bf", "float": "f", "complex": "c", "int": "i", "uint": "u"}


def _abbreviation(value: dtype) -> str:
    name = str(value).removeprefix("torch.")
    if name == "bool":
        return "b8"
    found = re.fullmatch(r"([a-z]+)(\d+)(?:_(\w+))?", name)
    assert found is not None, name
    return _LETTERS[found[1]] + found[2] + (found[3] or "")


dtype_abbrs = {value: _abbreviation(value) for value in vars(dtypes).values() if isinstance(value, dtype)}
