"""What differs between the results of two states: a finding for each kind of difference of an op."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

# How close values must be, relative and absolute, by dtype: as near as two ways to compute the same come.
_TOLERANCES = {
    "float16": (4e-3, 4e-4),
    "float32": (2e-5, 4e-6),
    "float64": (1e-9, 1e-11),
    "complex64": (4e-5, 1e-5),
    "complex128": (1e-9, 1e-11),
}
_BFLOAT16 = (1.6e-2, 1e-3)
_RIGHT, _WRONG = 1e-4, 1e-3  # of gradients: how far from differences of values right ones are, and wrong ones

Difference = tuple[str, str, str, str]  # rule, message, base, head


def differences(
    base: Sequence[Mapping[str, Any]], head: Sequence[Mapping[str, Any]], files: Any
) -> Iterator[Difference]:
    """The first difference of each kind, over all calls; ``files`` are the arrays of both, by key."""
    seen: set[str] = set()
    others = {call["key"]: call for call in head}
    for call in base:
        other = others.get(call["key"])
        for each in _of_call(call, other, files) if other is not None else ():
            if each[0] not in seen:
                seen.add(each[0])
                yield each


def _of_call(old: Mapping[str, Any], new: Mapping[str, Any], files: Any) -> Iterator[Difference]:
    call = old["call"]
    if "error" in old or "error" in new:
        yield from _errors(call, old, new)
        return
    yield from _results(call, "result", old["results"], new["results"], f"{old['key']}.result", files)
    if "inputs" in old and "inputs" in new:
        yield from _results(call, "argument", old["inputs"], new["inputs"], f"{old['key']}.input", files)
    yield from _gradients(call, old, new, files)
    yield from _kept(call, old, new)


def _errors(call: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    before, after = old.get("error"), new.get("error")
    if before is None:
        yield "R001", f"`({call})` raises an error", "a result", str(after)
    elif after is None:
        yield "R002", f"`({call})` no longer raises an error", str(before), "a result"
    elif before != after:
        yield "R003", f"`({call})` raises another error", str(before), str(after)


def _results(
    call: str, what: str, old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]], key: str, files: Any
) -> Iterator[Difference]:
    if len(old) != len(new):
        yield "R010", f"`({call})` has another number of results", str(len(old)), str(len(new))
        return
    for number, (before, after) in enumerate(zip(old, new)):
        for rule, part in (("R011", "dtype"), ("R012", "shape"), ("R013", "strides"), ("R014", "shares")):
            if before.get(part) != after.get(part):
                yield rule, f"{_part(what, part)} of `({call})` differ", _said(part, before), _said(part, after)
        if before.get("value") != after.get("value"):
            yield "R010", f"the value of `({call})` differs", str(before.get("value")), str(after.get("value"))
        yield from _values(call, what, f"{key}.{number}", str(before.get("dtype", "")), files)


_PARTS = {
    "dtype": "the dtypes of {}s",
    "shape": "the shapes of {}s",
    "strides": "the strides of {}s",
    "shares": "what {}s share memory with,",
}


def _part(what: str, part: str) -> str:
    return _PARTS[part].format(what)


def _said(part: str, facts: Mapping[str, Any]) -> str:
    value = facts.get(part)
    if part != "shares":
        return str(value)
    return f"a view of argument {', '.join(map(str, value))}" if value else "memory of its own"


def _values(call: str, what: str, key: str, dtype: str, files: Any) -> Iterator[Difference]:
    old, new = files[0].get(key), files[1].get(key)
    if old is None or new is None or old.shape != new.shape or old.dtype != new.dtype:
        return
    place = _first_other(old, new, dtype)
    if place is not None:
        at = f" at {list(place)}" if place else ""
        yield "R010", f"values of the {what} of `({call})` differ{at}", str(old[place]), str(new[place])


def _first_other(old: np.ndarray, new: np.ndarray, dtype: str) -> tuple[int, ...] | None:
    if old.dtype.kind not in "fc":
        wrong = old != new
    else:
        relative, absolute = _BFLOAT16 if dtype.endswith("bfloat16") else _TOLERANCES.get(str(old.dtype), (0, 0))
        wide = np.complex128 if old.dtype.kind == "c" else np.float64
        before, after = old.astype(wide), new.astype(wide)
        largest = float(np.abs(before[np.isfinite(before)]).max(initial=0.0))
        wrong = ~np.isclose(after, before, rtol=relative, atol=absolute + 0.1 * relative * largest, equal_nan=True)
    if not wrong.any():
        return None
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))


# -------------------- gradients --------------------


def _gradients(call: str, old: Mapping[str, Any], new: Mapping[str, Any], files: Any) -> Iterator[Difference]:
    before, after = old.get("gradient_error"), new.get("gradient_error")
    if before != after and (after is not None or before is not None):
        rule = "R021" if after is not None else "R002"
        yield rule, f"the gradient of `({call})`: errors differ", before or "a gradient", after or "a gradient"
        return
    if old.get("no_graph") != new.get("no_graph"):
        said = ["no graph" if each.get("no_graph") else "a graph" for each in (old, new)]
        yield "R021", f"`({call})` records another graph", said[0], said[1]
        return
    right, wrong = old.get("differences") or [], new.get("differences") or []
    for number, (was, now) in enumerate(zip(old.get("gradients", ()), new.get("gradients", ()))):
        verdict = _judged(_at(right, number), _at(wrong, number))
        if (was is None) != (now is None):
            said = ["no gradient" if each is None else "a gradient" for each in (was, now)]
            yield "R021", f"input {number} of `({call})`", said[0], said[1]
            continue
        key = f"{old['key']}.gradient.{number}"
        found = [*_values(call, f"gradient of input {number}", key, "", files)]
        for _, message, *values in found:
            yield "R020", message + verdict, values[0], values[1]
        if was != now and not found:
            yield "R022", f"the gradient of input {number} of `({call})` lies otherwise", str(was), str(now)


def _at(distances: Sequence[float | None], number: int) -> float | None:
    return distances[number] if number < len(distances) else None


def _judged(base: float | None, head: float | None) -> str:
    """Which of two gradients agrees with differences of values."""
    if base is None or head is None:
        return ""
    if head > _WRONG and base < _RIGHT:
        return "; differences of values agree with the old one: the new one is wrong"
    if base > _WRONG and head < _RIGHT:
        return "; differences of values agree with the new one: the old one was wrong"
    return ""


# -------------------- what is kept --------------------


def _kept(call: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    before, after = old.get("kept"), new.get("kept")
    if not before or not after or before == after:
        return
    more = sum(after.values()) - sum(before.values())
    rule = "R030" if more > 0 or after["others"] > before["others"] else "R031"
    message = f"`({call})` keeps {abs(more)} bytes {'more' if more >= 0 else 'less'} until backward"
    yield rule, message, _kept_words(before), _kept_words(after)


def _kept_words(kept: Mapping[str, int]) -> str:
    parts = [f"{size} bytes of {what}" for what, size in kept.items() if size]
    return ", ".join(parts).replace("of others", "of copies and others") or "no bytes"
