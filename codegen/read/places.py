"""Where users find an op: ``torch.exp``, ``torch.linalg.inv``, ``torch.nn.functional.gelu``, ``torch.ops.aten.im2col``.

An op with a ``python_module`` is in that module under the rest of its name: ``linalg_inv`` is ``linalg.inv``. The
functions of ``nn.functional`` are written by hand, because most take other arguments than the ops; an op is there if
one has its name. What no module shows is called through ``torch.ops.aten``. So is an op whose name a module or class
Tensor defines by hand (``by_hand``): what users call there has arguments and defaults of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..model import Model, Op

# The module whose functions are not the ops themselves.
BY_HAND = "nn"


def is_shown(op: Op, functional: frozenset[str] | None) -> bool:
    """Whether the module of an op has it. ``functional`` are the names in ``nn.functional``; None if that is absent."""
    name, module = op.schema.name, op.python_module
    if op.is_copied_out:
        return False
    if module == BY_HAND:
        return op.kind != "out" and (functional is None or name in functional)
    return module is None or name.startswith(f"{module}_")


def by_hand(op: Op, functions: Mapping[str | None, frozenset[str]], methods: Collection[str]) -> frozenset[str]:
    """Whether the function and the method of an op's name are something else than the op."""
    function = name_in_module(op.schema.name, op.python_module) in functions.get(op.python_module, ())
    found = {"function": function, "method": op.schema.name in methods}
    return frozenset(way for way, is_by_hand in found.items() if is_by_hand)


def own_place_of(op: Op, package: str, name: str = "") -> str:
    """The function that is the op, and no other that calls it."""
    if "function" in op.by_hand or not op.is_function:
        return f"{package}.ops.aten.{name or op.schema.name}"
    return place_of(op, package, name)


def place_of(op: Op, package: str, name: str = "") -> str:
    """The function that calls the op. ``name`` is another one that the op has, or had."""
    name = name or op.schema.name
    if not op.is_shown:
        return f"{package}.ops.aten.{name}"
    if op.python_module is None:
        return f"{package}.{name}"
    if op.python_module == BY_HAND:
        return f"{package}.nn.functional.{name}"
    return f"{package}.{op.python_module}.{name_in_module(name, op.python_module)}"


def name_in_module(name: str, module: str | None) -> str:
    """What the function of an op is called in its module: ``inv`` for ``linalg_inv``."""
    return name.removeprefix(f"{module}_")


def modules_of_ops(model: Model) -> list[str]:
    """The modules that consist of ops, in the order of ops.yaml."""
    shown = (op.python_module for op in model.ops.values() if op.is_function and op.is_shown)
    return [module for module in dict.fromkeys(shown) if module and module != BY_HAND]
