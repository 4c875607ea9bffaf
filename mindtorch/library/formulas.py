"""Autograd kernels made of a user's `backward` and `setup_context`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mindtorch import state
from mindtorch.autograd.function import Function
from mindtorch.autograd.history import edges_of
from mindtorch.dispatch.forward_ad import without_forward_ad
from mindtorch.library.operator import Operator
from mindtorch.library.results import may_record, tensors_in
from mindtorch.library.structure import flatten, is_optional_tensor_list, is_tensor_list, structure_text, unflatten

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
        if _thread.grad_enabled and may_record(args) and any(edges_of(tensors_in(args))):
            return steps.apply(function, args, kwargs)
        if _thread.dual_level < 0:
            return operator.run_kernel(*args, **kwargs)
        with without_forward_ad():
            return operator.run_kernel(*args, **kwargs)

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
        return self._run(ctx, args, keywords)

    def _run(self, ctx: Any, args: Sequence[Any], keywords: dict) -> Any:
        result = self._operator.run_kernel(*args, **keywords)
        setup_context = self._formula.setup_context
        if setup_context is not None:
            inputs, keywords = self._operator.bind.with_defaults(args, keywords)
            named = {"keyword_only_inputs": keywords} if keywords else {}
            setup_context(ctx=ctx, inputs=inputs, output=result, **named)
        return result

    def backward(self, ctx: Any, *grads: Any) -> tuple:
        grads = self._gradients(ctx, grads, ctx.needs_input_grad[:-1])
        return (*grads, None)

    def _gradients(self, ctx: Any, grads: Sequence[Any], needs: Any) -> tuple:
        """What the user's `backward` returns; meanwhile `ctx.needs_input_grad` speaks of the op's arguments."""
        backward = self._formula.backward
        if backward is None:
            op = self._operator.name.replace("::", ".")
            shown = op if "." in self._operator.name else f"{op}.default"
            raise RuntimeError(
                f"Trying to backward through {shown} but no autograd formula was registered. "
                "Please use register_autograd to add one."
            )
        before, ctx.needs_input_grad = ctx.needs_input_grad, needs
        try:
            result = backward(ctx, *grads)
        finally:
            ctx.needs_input_grad = before
        return result if isinstance(result, tuple) else (result,)


class _ListFormula(_PlainFormula):
    """For ops with lists of tensors: to the Function each tensor is an argument or a result of its own."""

    def apply(self, function: Any, args: tuple, kwargs: dict) -> Any:
        flat, structure = flatten(args, is_tensor_list)
        outputs: dict[str, Any] = {}
        result = function.apply(*flat, (structure, kwargs, outputs))
        values = unflatten(result, outputs["structure"])
        return tuple(values) if outputs["is_tuple"] else values[0]

    def forward(self, ctx: Any, *flat: Any) -> tuple:
        structure, keywords, outputs = flat[-1]
        result = self._run(ctx, unflatten(flat[:-1], structure), keywords)
        outputs["is_tuple"] = isinstance(result, tuple)
        results = result if isinstance(result, tuple) else (result,)
        flat_results, outputs["structure"] = flatten(results, is_tensor_list)
        ctx.structures = structure, outputs["structure"]
        return tuple(flat_results)

    def backward(self, ctx: Any, *grads: Any) -> tuple:
        structure, output_structure = ctx.structures
        needs = tuple(unflatten(ctx.needs_input_grad[:-1], structure))
        result = (*self._gradients(ctx, unflatten(grads, output_structure), needs), None)
        flat, returned = flatten(result, is_optional_tensor_list)
        if returned != [*structure, None]:
            raise RuntimeError(
                "Expected the return from backward to be of the same structure as the inputs. Got: "
                f"{structure_text(returned)} (return from backward), {structure_text([*structure, None])} (inputs)"
            )
        return tuple(flat)
