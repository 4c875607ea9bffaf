"""`opcheck`: whether an op does what its schema, its fake implementation and its derivative say."""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from mindtorch.dispatch.overloads import OpOverload, OpOverloadPacket
from mindtorch.library.checks import (
    Case,
    check_autograd_registration,
    check_compiled,
    check_fake,
    check_schema,
)
from mindtorch.library.custom_ops import CustomOpDef

_CHECKS: dict[str, Callable[[Case], None]] = {
    "test_schema": check_schema,
    "test_autograd_registration": check_autograd_registration,
    "test_faketensor": check_fake,
    "test_aot_dispatch_static": check_compiled,
    "test_aot_dispatch_dynamic": check_compiled,
}
_DEFAULT = tuple(name for name in _CHECKS if name != "test_aot_dispatch_static")


class OpCheckError(Exception):
    """A check of `opcheck` has failed."""


class _Outcome:
    """A block whose error, whatever it is, is its result: an op under test may raise anything."""

    error: BaseException | None = None

    def __enter__(self) -> "_Outcome":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> bool:
        self.error = error
        return isinstance(error, Exception)


def opcheck(
    op: Any,
    args: tuple,
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = _DEFAULT,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Try an op with these arguments in several ways; returns "SUCCESS" or the error for each of the tests.

    There is no compiler here: the tests with `aot_dispatch` in their names run the op and its derivative with data,
    twice, and without data.
    """
    if (rtol is None) != (atol is None):
        raise ValueError("opcheck(op, ...): if you specify one of rtol/atol, you must specify both")
    names = _test_names(test_utils)
    case = Case(_overload(op), args, kwargs or {}, rtol, atol)
    results: dict[str, Any] = {}
    for name in names:
        with _Outcome() as outcome:
            _CHECKS[name](case)
        error = outcome.error
        if error is not None and raise_exception:
            raise OpCheckError(f"opcheck(op, ...): {name} failed with {error} (scroll up for stack trace)") from error
        results[name] = "SUCCESS" if error is None else error
    return results


def _test_names(given: str | Sequence[str]) -> tuple[str, ...]:
    if given == "ALL":
        return tuple(_CHECKS)
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, (tuple, list)) or not _CHECKS.keys() >= set(names):
        raise ValueError(
            f"opcheck(op, ..., test_utils={names}), expected test_utils to be subset of {tuple(_CHECKS)} but it was not"
        )
    return tuple(names)


def _overload(op: Any) -> OpOverload:
    if isinstance(op, CustomOpDef):
        return op._opoverload
    if isinstance(op, OpOverloadPacket) and len(op.overloads()) == 1:
        return getattr(op, op.overloads()[0])
    if isinstance(op, OpOverloadPacket):
        raise RuntimeError(
            "can't know which overload of the packet to test; please pass an OpOverload, for example "
            f"{op}.{op.overloads()[0]}"
        )
    if not isinstance(op, OpOverload):
        raise ValueError(
            "opcheck(op, ...): op must be instance of torch._ops.OpOverload, e.g. torch.ops.aten.sin.default, "
            f"got {type(op)}"
        )
    return op
