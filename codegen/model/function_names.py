"""The names of the functions that are generated for ops: one for each overload."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from . import Op


def visible(overloads: Iterable[Op]) -> tuple[Op, ...]:
    """The overloads of a Python name that a caller can mean."""
    return tuple(op for op in overloads if not op.hidden)


def overload_function(op: Op, groups: Mapping[str, Collection[Op]]) -> str:
    """``mul``, ``sum_dim_IntList``, ``mul_``; ``groups`` has the overloads of each Python name.

    ``scatter.reduce`` leaves the name ``scatter_reduce`` to the op that is called so.
    """
    name = op.schema.name
    if visible(groups.get(name, ())) == (op,):
        return name
    full = f"{name}_{op.schema.overload or 'default'}"
    return f"{full}_overload" if full in groups else full
