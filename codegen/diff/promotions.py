"""What the words of the key ``promotion`` mean for the dtype of a result, by an example of each kind of dtype.

Nothing of the library is run to know it: a test holds the table against the library's own rules.
"""

from __future__ import annotations

from collections.abc import Mapping

EXAMPLES = ("bool", "int64", "float32", "complex64")
_SAME = {name: name for name in EXAMPLES}
_INT_TO_FLOAT = {**_SAME, "bool": "float32", "int64": "float32"}
_TO_COMPLEX = {"float32": "complex64", "complex64": "complex64"}

# By word, the dtype of the result for a tensor of each dtype that the rule takes.
RESULTS: Mapping[str, Mapping[str, str]] = {
    "default": _SAME,
    "int_to_float": _INT_TO_FLOAT,
    "bool": dict.fromkeys(EXAMPLES, "bool"),
    "complex_to_real": {**_SAME, "complex64": "float32"},
    "complex_to_real_int_to_float": {**_INT_TO_FLOAT, "complex64": "float32"},
    "complex": _TO_COMPLEX,
    "real_to_complex": _TO_COMPLEX,
    "div_mode": _INT_TO_FLOAT,
    "where": _SAME,
    "same": _SAME,
    "first": _SAME,
    "first_index": _SAME,
    "first_mask": _SAME,
    "first_exponent": _SAME,
    "mean": _SAME,
    "sum": {**_SAME, "bool": "int64"},
    "index": dict.fromkeys(EXAMPLES, "int64"),
    "hash": dict.fromkeys(EXAMPLES, "uint64"),
    "bool_or_uint8": dict.fromkeys(EXAMPLES, "bool"),
}


def other_results(old: str, new: str) -> str:
    """ "results of int64 tensors are float32, they were int64"; "" if no results are known to be other."""
    before, after = RESULTS.get(old, {}), RESULTS.get(new, {})
    found: dict[str, list[str]] = {}
    for name in EXAMPLES:
        if name in before and name in after and before[name] != after[name]:
            found.setdefault(after[name], []).append(name)
    return "; ".join(_said(names, now, [before[name] for name in names]) for now, names in found.items())


def _said(names: list[str], now: str, were: list[str]) -> str:
    was = " and ".join(dict.fromkeys(were))
    return f"results of {' and '.join(names)} tensors are {now}, they were {was}"
