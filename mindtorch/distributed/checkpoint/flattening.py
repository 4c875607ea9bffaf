"""Nested dictionaries and lists as one dictionary, with the path of each value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mindtorch._core.tensor import Tensor

Path = tuple[str | int, ...]


def flatten_state_dict(state_dict: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Path]]:
    """The values by their paths, joined by dots, and the paths. Lists without tensors and dictionaries are values."""
    flat: dict[str, Any] = {}
    paths: dict[str, Path] = {}
    for path, value in _values((), state_dict):
        name = ".".join(str(each) for each in path)
        if name in flat:
            raise ValueError(f"duplicated flatten key {name}")
        flat[name], paths[name] = value, path
    return flat, paths


def _values(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _values((*path, str(key)), each)
    elif isinstance(value, list) and not _is_value(value):
        for place, each in enumerate(value):
            yield from _values((*path, place), each)
    else:
        yield path, value


def _is_value(value: Any) -> bool:
    if isinstance(value, Mapping):
        return False
    return not isinstance(value, list) or not any(isinstance(each, Tensor) or not _is_value(each) for each in value)


def replace(state_dict: Any, path: Path, value: Any) -> None:
    """Put a value where another is."""
    for key in path[:-1]:
        state_dict = state_dict[_own_key(state_dict, key)]
    state_dict[_own_key(state_dict, path[-1])] = value


def _own_key(container: Any, key: str | int) -> Any:
    """The key that has become this text: state dicts of optimizers have numbers for keys."""
    if isinstance(container, list) or key in container:
        return key
    return next(each for each in container if str(each) == key)


def unflatten_state_dict(flat: Mapping[str, Any], paths: Mapping[str, Path]) -> dict[str, Any]:
    """The nested dictionaries and lists again."""
    result: dict[str, Any] = {}
    for name, value in flat.items():
        _set(result, paths[name], value)
    return result


def _set(container: Any, path: Path, value: Any) -> None:
    for key, following in zip(path[:-1], path[1:], strict=True):
        fresh: Any = {} if isinstance(following, str) else []
        if isinstance(container, list):
            container.extend([None] * (int(key) + 1 - len(container)))
            if container[key] is None:  # type: ignore[index]
                container[key] = fresh  # type: ignore[index]
            container = container[key]  # type: ignore[index]
        else:
            container = container.setdefault(key, fresh)
    if isinstance(container, list):
        container.extend([None] * (int(path[-1]) + 1 - len(container)))
    container[path[-1]] = value
