"""Autograd kernels made of a user's `backward` and `setup_context`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mindtorch._core import state
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.history import edges_of
from mindtorch.autograd.function import Function
from mindtorch.dispatch.call_form import tensors_among
from mindtorch.dispatch.modes.tangents import without_forward_ad
from mindtorch.library.operator import Operator
from mindtorch.library.results import may_record

_thread = state.thread


@dataclass(slots=True)
class Formula:
    """A user's two functions. They are looked up at every call: they may come later, and be replaced."""

    backward: Callable | None = None
    setup_context: Callable | None = None


def autograd_kernel(operator: Operator, formula: Formula) -> Callable:
    """The function that runs below autograd and records a node for the user's formula.

    As in torch the node's Function takes one argument more than the op, the keyword-only arguments, and texts about
    numbers of gradients count it.
    """
    namespace, _, name = operator.name.partition("::")
    base, _, overload = name.partition(".")
    has_lists = any("[" in str(each.type) and each.type.base == "Tensor" for each in _values(operator))
    kind = _ListFormula if has_lists else _PlainFormula
    steps = kind(operator, formula)
    function = type(
        f"GeneratedBackwardFor_{namespace}_{base}_{overload or 'default'}",
        (Function,),
        {"forward": staticmethod(steps.forward), "backward": staticmethod(steps.backward)},
    )

    def kernel(*args: Any, **kwargs: Any) -> Any:
        if _thread.grad_enabled and may_record(args) and edges_of(tensors_among(args)):
            return steps.apply(function, args, kwargs)
        if _thread.dual_level < 0:
            return operator.run_kernel(*args, **kwargs)
        with without_forward_ad():
            return operator.run_kernel(*args, **kwargs)

    kernel.only_records = True  # type: ignore[attr-defined]
    return kernel


def _values(operator: Operator) -> Sequence[Any]:
    return (*operator.declaration.arguments, *operator.declaration.returns)


class _PlainFormula:
    """For ops whose arguments and results are no lists of tensors."""

    def __init__(self, operator: Operator, formula: Formula) -> None:
        self._operator = operator
        self._formula = formula

    def apply(self, function: Any, args: tuple, kwargs: dict) -> Any:
        return function.apply(*args, kwargs)

    def forward(self, ctx: Any, *args: Any) -> Any:
        *args, keywords = args  # type: ignore[assignment]
        result = self._run(ctx, args, keywords)
        # What `backward` is to see, of the arguments of the op. To set it there is too late: it may run in two threads.
        ctx.needs_input_grad = ctx.needs_input_grad[:-1]
        return result

    def _run(self, ctx: Any, args: Sequence[Any], keywords: dict) -> Any:
        result = self._operator.run_kernel(*args, **keywords)
        setup_context = self._formula.setup_context
        if setup_context is not None:
            inputs, keywords = self._operator.bind.with_defaults(args, keywords)
            named = {"keyword_only_inputs": keywords} if keywords else {}
            setup_context(ctx=ctx, inputs=inputs, **named, output=result)
        return result

    def backward(self, ctx: Any, *grads: Any) -> tuple:
        return (*self._gradients(ctx, grads), None)

    def _gradients(self, ctx: Any, grads: Sequence[Any]) -> tuple:
        """What the user's `backward` returns."""
        backward = self._formula.backward
        if backward is None:
            op = self._operator.name.replace("::", ".")
            shown = op if "." in self._operator.name else f"{op}.default"
            raise RuntimeError(
                f"Trying to backward through {shown} but no autograd formula was registered. "
                "Please use register_autograd to add one."
            )
        result = backward(ctx, *grads)
        return result if isinstance(result, tuple) else (result,)


class _ListFormula(_PlainFormula):
    """For ops with lists of tensors: to the Function each tensor is an argument or a result of its own."""

    def apply(self, function: Any, args: tuple, kwargs: dict) -> Any:
        flat, structure = _flatten(args, _is_tensor_list)
        outputs: dict[str, Any] = {}
        result = function.apply(*flat, (structure, kwargs, outputs))
        values = _unflatten(result, outputs["structure"])
        return tuple(values) if outputs["is_tuple"] else values[0]

    def forward(self, ctx: Any, *flat: Any) -> tuple:
        structure, keywords, outputs = flat[-1]
        result = self._run(ctx, _unflatten(flat[:-1], structure), keywords)
        outputs["is_tuple"] = isinstance(result, tuple)
        results = result if isinstance(result, tuple) else (result,)
        flat_results, outputs["structure"] = _flatten(results, _is_tensor_list)
        ctx.structures = structure, outputs["structure"]
        ctx.needs_input_grad = tuple(_unflatten(ctx.needs_input_grad[:-1], structure))
        return tuple(flat_results)

    def backward(self, ctx: Any, *grads: Any) -> tuple:
        structure, output_structure = ctx.structures
        result = (*self._gradients(ctx, _unflatten(grads, output_structure)), None)
        flat, returned = _flatten(result, _is_optional_tensor_list)
        if returned != [*structure, None]:
            raise RuntimeError(
                "Expected the return from backward to be of the same structure as the inputs. Got: "
                f"{_structure_text(returned)} (return from backward), {_structure_text([*structure, None])} (inputs)"
            )
        return tuple(flat)


# -------------------- lists of tensors --------------------

# Of flat sequences and the nested ones that they stand for: for each value None, or the length of a list.
_Structure = list[int | None]


def _is_tensor_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, Tensor) for each in value)


def _is_optional_tensor_list(value: Any) -> bool:
    return isinstance(value, list) and all(each is None or isinstance(each, Tensor) for each in value)


def _flatten(values: Sequence[Any], is_opened: Callable[[Any], bool]) -> tuple[list[Any], _Structure]:
    """Flattens the lists selected by `is_opened`."""
    flat: list[Any] = []
    structure: _Structure = []
    for value in values:
        opened = is_opened(value)
        flat += value if opened else [value]
        structure.append(len(value) if opened else None)
    return flat, structure


def _unflatten(flat: Sequence[Any], structure: _Structure) -> list[Any]:
    """The nested values again."""
    rest = iter(flat)
    return [next(rest) if length is None else [next(rest) for _ in range(length)] for length in structure]


def _structure_text(structure: _Structure) -> str:
    """The structure as torch prints it: a tuple of leaves and lists."""
    return _tree("tuple", ["*" if length is None else _tree("list", ["*"] * length, 4) for length in structure], 2)


def _tree(kind: str, parts: list[str], indent: int) -> str:
    separator = ",\n" + " " * indent
    return f"TreeSpec({kind}, None, [{separator.join(parts)}])"
