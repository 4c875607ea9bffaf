"""The places in a model where quantized numbers would begin and end. Nothing is quantized here."""

from typing import Any, NoReturn

from mindtorch.nn.modules.module import Module

__all__ = [
    "DeQuantStub", "QuantStub", "convert", "fuse_modules", "fuse_modules_qat", "get_default_qat_qconfig",
    "get_default_qconfig", "prepare", "prepare_qat", "quantize_dynamic",
]  # fmt: skip


class QuantStub(Module):
    """Gives what it is given."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        return x


class DeQuantStub(QuantStub):
    """Gives what it is given."""


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError("mindtorch has no quantized tensors: use the model as it is")


convert = fuse_modules = fuse_modules_qat = prepare = prepare_qat = quantize_dynamic = _refuse
get_default_qconfig = get_default_qat_qconfig = _refuse
