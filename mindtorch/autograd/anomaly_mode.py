"""Anomaly mode: finds the op whose gradient fails or is not a number, and shows where its forward call was made."""

from collections.abc import Sequence
from typing import Any

from mindtorch._core import state
from mindtorch._support.warnings import warn
from mindtorch.dispatch.modes.anomaly import evaluating

_ENABLED = (
    "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging."
)


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode on or off, without a word about it."""
    state.set_anomaly(enabled, check_nan)


class detect_anomaly:
    """Context manager that switches anomaly mode on: forward calls remember where they were made, and a gradient that
    contains nan (unless `check_nan` is off) or fails reports the place."""

    def __init__(self, check_nan: bool = True) -> None:
        self.previous = state.anomaly_enabled, state.anomaly_check_nan
        self.check_nan = check_nan
        warn(_ENABLED, UserWarning)

    def __enter__(self) -> None:
        self.previous = state.anomaly_enabled, state.anomaly_check_nan
        state.set_anomaly(True, self.check_nan)

    def __exit__(self, *exception: Any) -> None:
        state.set_anomaly(*self.previous)


class set_detect_anomaly:
    """Switch anomaly mode on or off, as a function or for a `with` block."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.previous = state.anomaly_enabled, state.anomaly_check_nan
        state.set_anomaly(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: Any) -> None:
        state.set_anomaly(*self.previous)


def is_anomaly_enabled() -> bool:
    return state.anomaly_enabled


def is_anomaly_check_nan_enabled() -> bool:
    return state.anomaly_check_nan


def apply_checked(node: Any, edges: tuple, grads: Sequence[Any]) -> tuple:
    """Run a node; if that fails or gives nan, warn with the place of the forward call before the error goes on."""
    outer, evaluating.node = evaluating.node, node
    try:
        results = node.apply(edges, *grads)
        if state.anomaly_check_nan:
            _check_nan(node, results)
    except BaseException:
        _report(node)
        raise
    finally:
        evaluating.node = outer
    return results


def _check_nan(node: Any, results: tuple) -> None:
    for index, grad in enumerate(results):
        if grad is not None and (grad != grad).any().item():
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {index}th output.")


def _report(node: Any) -> None:
    """Show where the node was made, then where those nodes were whose backward steps made it.

    The stacks are kept in the nodes' metadata; see mindtorch.dispatch.modes.anomaly.
    """
    _warn(node, f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n")
    parent = node.metadata.get("parent_")
    while parent is not None:
        _warn(
            parent,
            f"\n\nPrevious calculation was induced by {parent.name()}. Traceback of forward call that induced the "
            "previous calculation:\n",
        )
        parent = parent.metadata.get("parent_")


def _warn(node: Any, heading: str) -> None:
    stack = node.metadata.get("traceback_")
    if stack is None:
        message = (
            f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during "
            "forward pass for more information."
        )
    else:
        message = heading + "".join(stack)
    warn(message, UserWarning)
