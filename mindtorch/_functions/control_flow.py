"""`cond` and `while_loop`: branches and loops as functions, which do what `if` and `while` do: nothing is compiled."""

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._core.tensor import Tensor


def cond(pred: Any, true_fn: Callable, false_fn: Callable, operands: Sequence[Any] = ()) -> Any:
    """`true_fn(*operands)` if `pred` is true, else `false_fn(*operands)`."""
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    return (true_fn if pred else false_fn)(*operands)


def while_loop(cond_fn: Callable, body_fn: Callable, carried_inputs: Sequence[Any]) -> Any:
    """Calls `body_fn` with the inputs, and then with what it returned, as long as `cond_fn` is true of that."""
    carried = tuple(carried_inputs)
    while cond_fn(*carried):
        result = body_fn(*carried)
        carried = tuple(result) if isinstance(result, tuple | list) else (result,)
    return carried
