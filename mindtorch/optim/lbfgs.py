"""L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import enable_grad, no_grad
from mindtorch.dispatch import ops
from mindtorch.optim.checks import Group, ParamsT, check_learning_rate
from mindtorch.optim.line_search import strong_wolfe
from mindtorch.optim.optimizer import Optimizer, as_parts, as_scalar

State = dict[str, Any]
_REMEMBERED = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")


class LBFGS(Optimizer):
    """A quasi-Newton method: it guesses the curvature from the last steps. All parameters are one long vector to it."""

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_learning_rate(lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    @no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]  # needs a closure, as in torch
        """Several iterations; the closure, which computes the loss and its gradients, is called for each of them."""
        if len(self.param_groups) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {len(self.param_groups)}")
        evaluate = enable_grad()(closure)
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = evaluate()
        state["func_evals"] += 1
        grad = self._flat_grad()
        if grad.abs().max() > group["tolerance_grad"]:
            self._iterate(evaluate, group, state, _number(first_loss), grad)
        return first_loss

    def _iterate(self, evaluate: Callable[[], Any], group: Group, state: State, loss: float, grad: Tensor) -> None:
        work: State = {name: state.get(name) for name in _REMEMBERED}
        evaluations, lr = 1, as_scalar(group["lr"])
        for number in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            is_first = state["n_iter"] == 1
            _choose_direction(work, state, grad, group["history_size"], is_first)
            work["prev_flat_grad"], work["prev_loss"] = grad.clone(), loss
            work["t"] = min(1.0, 1.0 / grad.abs().sum()) * lr if is_first else lr
            slope = grad.dot(work["d"])
            if slope > -group["tolerance_change"]:
                break
            is_last = number == group["max_iter"]
            loss, grad, count = self._move(evaluate, group, work, (loss, grad, slope), evaluations, is_last)
            evaluations += count
            state["func_evals"] += count
            if is_last or evaluations >= group["max_eval"] or _has_converged(group, work, loss, grad):
                break
        state.update(work)

    def _move(
        self, evaluate: Callable[[], Any], group: Group, work: State, here: tuple, evaluations: int, is_last: bool
    ) -> tuple[float, Tensor, int]:
        """Make the step; the loss and gradient there, and how often the closure was called."""
        loss, grad, slope = here
        if group["line_search_fn"] is not None:
            if group["line_search_fn"] != "strong_wolfe":
                raise RuntimeError("only 'strong_wolfe' is supported")
            start = [parameter.clone() for parameter in self._params]
            loss, grad, work["t"], count = strong_wolfe(
                lambda size: self._probe(evaluate, start, size, work["d"]),
                work["t"],
                work["d"],
                (loss, grad, slope),
                max_steps=group["max_eval"] - evaluations,
            )
            self._add(work["d"], work["t"])
            return loss, grad, count
        self._add(work["d"], work["t"])
        if is_last:
            return loss, grad, 0
        return _number(evaluate()), self._flat_grad(), 1

    def _probe(self, evaluate: Callable[[], Any], start: list[Tensor], size: Any, direction: Tensor) -> tuple:
        """The loss and the gradient after a step, which is taken back."""
        self._add(direction, size)
        loss, grad = _number(evaluate()), self._flat_grad()
        for parameter, value in zip(self._params, start):
            parameter.copy_(value)
        return loss, grad

    def _flat_grad(self) -> Tensor:
        parts = []
        for parameter in self._params:
            grad = parameter.grad
            if grad is None:
                grad = ops.zeros_like(parameter)
            elif grad.is_sparse:
                grad = grad.to_dense()
            parts.append(as_parts(grad).view(-1))
        return ops.cat(parts, 0)

    def _add(self, direction: Tensor, size: Any) -> None:
        offset = 0
        for parameter in map(as_parts, self._params):
            part = direction[offset : offset + parameter.numel()]
            parameter.add_(part.view_as(parameter), alpha=float(size))
            offset += parameter.numel()


def _number(loss: Any) -> float:
    return loss.item() if isinstance(loss, Tensor) else float(loss)


def _choose_direction(work: State, state: State, grad: Tensor, history_size: int, is_first: bool) -> None:
    """Against the gradient, corrected by the curvature that the remembered steps show."""
    if is_first:
        work.update(d=grad.neg(), old_dirs=[], old_stps=[], ro=[], H_diag=1)
        return
    _remember(work, grad, history_size)
    products = state.setdefault("al", [None] * history_size)
    changes, steps, inverses = work["old_dirs"], work["old_stps"], work["ro"]
    rest = grad.neg()
    for number in reversed(range(len(changes))):
        products[number] = steps[number].dot(rest) * inverses[number]
        rest.add_(changes[number], alpha=-products[number].item())
    direction = rest * work["H_diag"]
    for number, (change, step, inverse) in enumerate(zip(changes, steps, inverses)):
        direction.add_(step, alpha=(products[number] - change.dot(direction) * inverse).item())
    work["d"] = direction


def _remember(work: State, grad: Tensor, history_size: int) -> None:
    """Add the last step and how it changed the gradient, if the curvature along it is positive."""
    change, step = grad.sub(work["prev_flat_grad"]), work["d"].mul(work["t"])
    curvature = change.dot(step)
    if curvature <= 1e-10:
        return
    for name, value in (("old_dirs", change), ("old_stps", step), ("ro", 1.0 / curvature)):
        if len(work[name]) == history_size:
            work[name].pop(0)
        work[name].append(value)
    work["H_diag"] = curvature / change.dot(change)


def _has_converged(group: Group, work: State, loss: float, grad: Tensor) -> bool:
    tolerance = group["tolerance_change"]
    return bool(
        grad.abs().max() <= group["tolerance_grad"]
        or work["d"].mul(work["t"]).abs().max() <= tolerance
        or abs(loss - work["prev_loss"]) < tolerance
    )
