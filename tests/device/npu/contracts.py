"""Tests of the rules of autograd that hold on every device: those of the CPU, run again with another default device.

Not all of them can: what looks at NumPy arrays, texts without a device, and kernels of the CPU stay there (`CPU_ONLY`).
"""

from importlib import import_module
from typing import Any

MODULES = (
    "accumulate",
    "checkpoint",
    "engine",
    "function",
    "functional",
    "hooks",
    "modes",
    "mutation",
    "saved",
    "views",
)


def collected(name: str) -> dict[str, Any]:
    """The tests and fixtures of a module, under names of their own."""
    module = import_module(f"tests.unit.autograd.test_{name}")
    found = {}
    for key, value in vars(module).items():
        if key.startswith("Test") and getattr(value, "__module__", "") == module.__name__:
            found[f"Test{name.title()}{key.removeprefix('Test')}"] = value
        elif key.startswith("test_"):
            found[f"test_{name}_{key.removeprefix('test_')}"] = value
        elif _is_fixture(value):
            found[key] = value
    return found


def _is_fixture(value: Any) -> bool:
    return type(value).__name__ == "FixtureFunctionDefinition" or hasattr(value, "_pytestfixturefunction")
