"""The `out=` variants that PyTorch generates for `torch.ops` alone: the op, and its result copied to `out`."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from mindtorch._core import state
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.outputs import refuse_grad, write_out
from mindtorch.backends.cpu.common.casting import check_same
from mindtorch.dispatch.dispatcher import call, intercepts
from mindtorch.dispatch.overloads import OpOverload, operators
from mindtorch.dispatch.registry import OpEntry


class CopiedOut:
    """The variant with `out=` of an op whose kernels write to no memory but their own."""

    op: OpEntry

    def __init__(self, function: Callable) -> None:
        self._function = function
        self.__name__ = function.__name__

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if state.active_modes and intercepts(self, *args, *kwargs.values()):
            return call(self, *args, **kwargs)
        outs = self._outs(kwargs)
        inputs = {name: value for name, value in kwargs.items() if name not in outs}
        refuse_grad(self.op.schema.name, *outs.values())
        result = self._functional(*args, **inputs, **self._options(outs))
        results = (result,) if isinstance(result, Tensor) else result
        refuse_grad(self.op.schema.name, *results)
        for out, each in zip(outs.values(), results, strict=True):
            if each is not None:
                _copy(out, each)
        return next(iter(outs.values())) if len(outs) == 1 else tuple(outs.values())

    @cached_property
    def _functional(self) -> OpOverload:
        entry = self._function.op  # type: ignore[attr-defined]
        return operators._overload(entry.namespace, entry.name.rpartition("::")[2])

    def _options(self, outs: dict[str, Any]) -> dict[str, Any]:
        """What a factory has to be told, and `out` decides."""
        out = next(iter(outs.values()))
        missing = self._functional._schema.argument_names - self.op.schema.argument_names
        return {name: getattr(out, name) for name in ("dtype", "device") if name in missing}

    def _outs(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """What the call gives to write to."""
        schema = self.op.schema
        for name in schema.out_names:
            if name not in kwargs:
                raise RuntimeError(f"{schema.name}() is missing value for argument '{name}'. Declaration: {schema}")
        return {name: kwargs[name] for name in schema.out_names}


def _copy(out: Any, result: Any) -> None:
    check_same(result._mt_array, out._mt_array)
    if out.shape != result.shape:
        result = result.clone(memory_format=contiguous_format)
    write_out(out, result)
