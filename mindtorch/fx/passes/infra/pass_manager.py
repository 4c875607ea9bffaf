"""`PassManager`: runs passes in an order that suits all."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.passes.infra.pass_base import PassResult
from mindtorch.nn.modules.module import Module

__all__ = ["PassManager", "pass_result_wrapper", "this_before_that_pass_constraint"]

Pass = Callable[..., Any]
Constraint = Callable[[Pass, Pass], bool]


@compatibility(is_backward_compatible=False)
def pass_result_wrapper(fn: Any) -> Any:
    """A function that changes a module, as a pass, whose result is always a `PassResult`."""
    if fn is None:
        return None

    @wraps(fn)
    def wrapped_fn(gm: Any) -> Any:
        result = fn(gm)
        if result is None:
            return PassResult(gm, True)
        return PassResult(result, True) if isinstance(result, Module) else result

    if not inspect.isfunction(fn):
        wrapped_fn.__name__ = type(fn).__name__
    return wrapped_fn


def _validate_pass_schedule_constraint(constraint: Constraint, passes: list[Pass]) -> None:
    for place, first in enumerate(passes):
        for distance, second in enumerate(passes[place + 1 :]):
            if not constraint(first, second):
                raise RuntimeError(
                    f"pass schedule constraint violated. Expected {first} before {second} but found {first} at index "
                    f"{place} and {second} at index {distance} in pass list."
                )


def _topological_sort_passes(passes: list[Pass], constraints: list[Constraint]) -> list[Pass]:
    if not constraints:
        return passes
    behind: dict[Pass, list[Pass]] = {each: [] for each in passes}
    waiting = dict.fromkeys(passes, 0)
    for first in passes:
        for second in passes:
            if first != second:
                count = sum(not constraint(first, second) for constraint in constraints)
                behind[second] += [first] * count
                waiting[first] += count
    ready = [each for each in passes if waiting[each] == 0]
    for each in ready:  # which grows
        for later in behind[each]:
            waiting[later] -= 1
            if waiting[later] == 0:
                ready.append(later)
    cycle = [each for each in passes if waiting[each] != 0]
    if cycle:
        raise RuntimeError(f"Circular dependency detected within the following passes: {cycle}")
    return ready


@compatibility(is_backward_compatible=False)
def this_before_that_pass_constraint(this: Pass, that: Pass) -> Constraint:
    """The constraint that one pass is run before another."""
    return lambda first, second: first != that or second != this


def _name_of(function: Pass) -> str:
    return function.__name__ if inspect.isfunction(function) else type(function).__name__


@compatibility(is_backward_compatible=False)
class PassManager:
    """Runs passes on a module, in an order that fits the constraints, up to `steps` times while they change it."""

    def __init__(
        self,
        passes: list[Pass] | None = None,
        constraints: list[Constraint] | None = None,
        steps: int | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
    ) -> None:
        self.passes = passes or []
        self.constraints = constraints or []
        self.steps = steps or 1
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures
        self._validated = False

    def add_pass(self, _pass: Pass) -> None:
        """One more pass."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Constraint) -> None:
        """One more constraint: whether the first pass may be run before the second."""
        self.constraints.append(constraint)
        self._validated = False

    def validate_constraints(self) -> None:
        """Raise an error if the order of the passes breaks a constraint."""
        if not self._validated:
            for constraint in self.constraints:
                _validate_pass_schedule_constraint(constraint, self.passes)
            self._validated = True

    def solve_constraints(self) -> None:
        """Put the passes in an order that breaks none."""
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check: Callable[[Module], Any]) -> None:
        """Check the module before the passes, and behind each with `run_checks_after_each_pass`."""
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        self.check = check  # type: ignore[method-assign, assignment]

    def check(self, module: Module) -> Any:
        """Nothing is checked."""

    def __call__(self, module: Any) -> PassResult:
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        changed = False
        for _ in range(self.steps):
            modified = False
            for place, function in enumerate(self.passes):
                module, has_changed = self._run(function, place, module)
                modified = modified or has_changed
            changed = changed or modified
            if not modified:
                break
        return PassResult(module, changed)

    def _run(self, function: Pass, place: int, module: Any) -> tuple[Any, bool]:
        name = _name_of(function)
        try:
            result = function(module)
            if not isinstance(result, PassResult) and not hasattr(result, "graph_module"):
                raise TypeError(
                    f"The result of the pass {name} should be type PassResult."
                    "Please wrap it with pass_result_wrapper()"
                )
            module = result.graph_module
            if isinstance(module, GraphModule):
                module.recompile()
            if self.run_checks_after_each_pass:
                self.check(module)
        except Exception as error:
            before = [_name_of(each) for each in self.passes[:place]]
            text = f"An error occurred when running the '{name}' pass after the following passes: {before}"
            raise Exception(text) from error
        return module, result.modified
