"""The names of `torch.onnx` that models ask for while they run: nothing is exported."""

from typing import Any, NoReturn

__all__ = ["export", "is_in_onnx_export", "register_custom_op_symbolic"]


def is_in_onnx_export() -> bool:
    return False


def export(*args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError(
        "mindtorch writes no ONNX files: save the weights with torch.save(model.state_dict(), file), load them into "
        "the same model with PyTorch, and export that"
    )


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Any, opset_version: int) -> None:
    """How an op would be exported; never called."""
