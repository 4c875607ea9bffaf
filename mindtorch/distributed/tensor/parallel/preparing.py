"""Styles that spread what goes into a module and what comes out of it, and leave its parameters alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.distributed.device_mesh import DeviceMesh
from mindtorch.distributed.tensor.dtensor import DTensor
from mindtorch.distributed.tensor.parallel.styles import ParallelStyle
from mindtorch.distributed.tensor.placement_types import Placement
from mindtorch.nn.modules.module import Module

Layouts = Placement | Sequence[Placement | None] | None


def _listed(layouts: Layouts) -> tuple[Placement | None, ...] | None:
    return (layouts,) if isinstance(layouts, Placement) else None if layouts is None else tuple(layouts)


def _moved(value: Any, mesh: DeviceMesh, found: Placement | None, wanted: Placement | None, as_local: bool) -> Any:
    """A tensor spread in another way; what has no layout is left as it is."""
    if found is None or not isinstance(value, Tensor):
        return value
    spread = value if isinstance(value, DTensor) else DTensor.from_local(value, mesh, (found,), run_check=False)
    if wanted is not None and spread.placements != (wanted,):
        spread = spread.redistribute(placements=(wanted,))
    return spread.to_local() if as_local else spread


class PrepareModuleInput(ParallelStyle):
    """Spread the inputs of a module: plain ones are as `input_layouts` say, and become as the desired layouts say.

    There is a layout for each positional argument, and by name for keyword arguments; None leaves an argument alone.
    With `use_local_output` the module gets the parts of its process, else DTensors.
    """

    def __init__(
        self,
        *,
        input_layouts: Layouts = None,
        desired_input_layouts: Layouts = None,
        input_kwarg_layouts: Mapping[str, Placement] | None = None,
        desired_input_kwarg_layouts: Mapping[str, Placement] | None = None,
        use_local_output: bool = False,
    ) -> None:
        self.input_layouts = _listed(input_layouts)
        self.desired_input_layouts = _listed(desired_input_layouts)
        self.use_local_output = use_local_output
        if self.input_layouts is not None:
            assert self.desired_input_layouts is not None, "desired module inputs should not be None!"
            assert len(self.input_layouts) == len(
                self.desired_input_layouts
            ), "input_layouts and desired_input_layouts should have same length!"
        self.input_kwarg_layouts = dict(input_kwarg_layouts or {})
        self.desired_input_kwarg_layouts = dict(desired_input_kwarg_layouts or {})
        self.with_kwargs = input_kwarg_layouts is not None
        if self.with_kwargs:
            assert len(self.input_kwarg_layouts) == len(
                self.desired_input_kwarg_layouts
            ), "input_kwarg_layouts and desired_input_kwarg_layouts should have same length!"

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(input_layouts={self.input_layouts}, "
            f"desired_input_layouts={self.desired_input_layouts}, input_kwarg_layouts={self.input_kwarg_layouts}, "
            f"desired_input_kwarg_layouts={self.desired_input_kwarg_layouts}, "
            f"use_local_output={self.use_local_output})"
        )

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        def prepare(module: Module, inputs: Any, keywords: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
            return self._inputs(inputs, device_mesh), self._keywords(keywords, device_mesh)

        module.register_forward_pre_hook(prepare, with_kwargs=True)
        return module

    def _inputs(self, inputs: Any, mesh: DeviceMesh) -> Any:
        if self.input_layouts is None:
            return inputs
        given = inputs if isinstance(inputs, tuple) else (inputs,)
        if len(given) != len(self.input_layouts):
            raise ValueError("module inputs and input_layouts should have same length!")
        layouts = zip(given, self.input_layouts, self.desired_input_layouts or (), strict=True)
        return tuple(_moved(value, mesh, found, wanted, self.use_local_output) for value, found, wanted in layouts)

    def _keywords(self, keywords: dict[str, Any], mesh: DeviceMesh) -> dict[str, Any]:
        found, wanted = self.input_kwarg_layouts, self.desired_input_kwarg_layouts
        return {
            name: _moved(value, mesh, found.get(name), wanted.get(name), self.use_local_output)
            for name, value in keywords.items()
        }


class PrepareModuleOutput(ParallelStyle):
    """Spread the outputs of a module: plain ones are as `output_layouts` say, and become as the desired layouts say."""

    def __init__(
        self, *, output_layouts: Layouts, desired_output_layouts: Layouts, use_local_output: bool = True
    ) -> None:
        self.output_layouts = _listed(output_layouts) or ()
        self.desired_output_layouts = _listed(desired_output_layouts) or ()
        self.use_local_output = use_local_output
        assert len(self.output_layouts) == len(
            self.desired_output_layouts
        ), "output_layouts and desired_output_layouts should have same length!"

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(output_layouts={self.output_layouts}, "
            f"desired_output_layouts={self.desired_output_layouts}, use_local_output={self.use_local_output})"
        )

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        module.register_forward_hook(lambda module, inputs, outputs: self._outputs(outputs, device_mesh))
        return module

    def _outputs(self, outputs: Any, mesh: DeviceMesh) -> Any:
        given = outputs if isinstance(outputs, tuple) else (outputs,)
        if len(given) != len(self.output_layouts):
            raise ValueError("module outputs and output_layouts should have same length!")
        layouts = zip(given, self.output_layouts, self.desired_output_layouts, strict=True)
        moved = [_moved(value, mesh, found, wanted, self.use_local_output) for value, found, wanted in layouts]
        return moved[0] if len(moved) == 1 else tuple(moved)


class PrepareModuleInputOutput(ParallelStyle):
    """Spread the inputs and the outputs of a module, as `PrepareModuleInput` and `PrepareModuleOutput` do."""

    def __init__(
        self,
        *,
        input_layouts: Layouts = None,
        desired_input_layouts: Layouts = None,
        input_kwarg_layouts: Mapping[str, Placement] | None = None,
        desired_input_kwarg_layouts: Mapping[str, Placement] | None = None,
        use_local_input: bool = False,
        output_layouts: Layouts,
        desired_output_layouts: Layouts,
        use_local_output: bool = True,
    ) -> None:
        self.prepare_module_input = PrepareModuleInput(
            input_layouts=input_layouts,
            desired_input_layouts=desired_input_layouts,
            input_kwarg_layouts=input_kwarg_layouts,
            desired_input_kwarg_layouts=desired_input_kwarg_layouts,
            use_local_output=use_local_input,
        )
        self.prepare_module_output = PrepareModuleOutput(
            output_layouts=output_layouts,
            desired_output_layouts=desired_output_layouts,
            use_local_output=use_local_output,
        )

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        self.prepare_module_input._apply(module, device_mesh)
        self.prepare_module_output._apply(module, device_mesh)
        return module
