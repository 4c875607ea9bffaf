"""What is done with every module, by the inputs of torch's test suite; the same code runs with both libraries."""

import copy
import io
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

import mindtorch
from tests.parity.support import opinfo
from tests.parity.support.inputs import normal
from tests.parity.support.opinfo_choice import torch_tests
from tests.parity.support.opinfo_derivatives import random_like, replaced
from tests.parity.support.opinfo_shown import tensors

modules = torch_tests("common_modules")
INFOS = tuple(
    info for info in modules.module_db if info.module_cls.__module__.startswith("torch.nn.modules.")
)  # without those of quantized networks


@dataclass(frozen=True, slots=True)
class Setup:
    """A module in one library, with what it is made of and what it is called with."""

    T: Any
    name: str
    made_of: Any
    called_with: Any
    dtype: str
    training: bool

    def made(self, **more: Any) -> Any:
        """The module, with the same parameters in both libraries: what they draw for them differs in the last bit."""
        self.T.manual_seed(0)
        module = getattr(self.T.nn, self.name)(*self.made_of.args, **self.made_of.kwargs, **more)
        for parameter in module.parameters():
            if _is_drawn(parameter, self.T):
                parameter.data = normal(self.T, *parameter.shape, dtype=parameter.dtype) * 0.25
        return module.to(getattr(self.T, self.dtype)).train(self.training)

    def call(self, module: Any, change: Callable = lambda tensor: tensor) -> tuple:
        """The result of a call, and the tensors that it was called with, which are leaves."""
        given = (tuple(self.called_with.args), dict(self.called_with.kwargs))
        new = {id(each): _leaf(change(each.detach()), each.requires_grad) for each in tensors(given, self.T)}
        args, kwargs = replaced(given, new)
        self.T.manual_seed(1)
        return module(*args, **kwargs), list(new.values())


def _is_drawn(parameter: Any, T: Any) -> bool:
    """Whether a parameter has random numbers; those of normalizations begin with ones."""
    if isinstance(parameter, T.nn.UninitializedParameter) or parameter.device.type != "cpu" or not parameter.numel():
        return False
    return bool((parameter != parameter.flatten()[0]).any())


def _leaf(tensor: Any, requires_grad: bool) -> Any:
    return tensor.clone().requires_grad_(requires_grad)


def setups(info: Any, dtype: str, training: bool) -> Iterator[tuple[Setup, Setup]]:
    """Every set of inputs that the test suite has, in mindtorch and in torch."""
    opinfo.seed()
    kind = getattr(torch, dtype)
    for each in info.module_inputs_func(info, "cpu", kind, requires_grad=True, training=training):
        yield pair(info, each, dtype, training)


def pair(info: Any, given: Any, dtype: str, training: bool) -> tuple[Setup, Setup]:
    convert, name = opinfo.Conversion(), info.module_cls.__name__
    own = (_converted(each, convert) for each in (given.constructor_input, given.forward_input))
    return (
        Setup(mindtorch, name, *own, dtype, training),
        Setup(torch, name, given.constructor_input, given.forward_input, dtype, training),
    )


def _converted(given: Any, convert: Callable) -> Any:
    return given and modules.FunctionInput(*convert(tuple(given.args)), **convert(given.kwargs))


# -------------------- programs --------------------


def gradients(setup: Setup) -> Any:
    """The result, the buffers afterwards, and the gradients of inputs and parameters."""
    module = setup.made()
    result, inputs = setup.call(module)
    return result, list(module.buffers()), _gradients(setup, module, result, inputs)


def _gradients(setup: Setup, module: Any, result: Any, inputs: list, change: Callable = lambda tensor: tensor) -> Any:
    outputs = [each for each in tensors(result, setup.T) if each.requires_grad]
    leaves = [each for each in [*inputs, *module.parameters()] if each.requires_grad]
    begin = [change(random_like(setup.T, each)) for each in outputs]
    return outputs and leaves and setup.T.autograd.grad(outputs, leaves, begin, allow_unused=True)


def second_gradients(setup: Setup) -> Any:
    """The gradients of a number that is made of the gradients."""
    T, module = setup.T, setup.made()
    result, inputs = setup.call(module)
    outputs = [each for each in tensors(result, T) if each.requires_grad]
    leaves = [each for each in [*inputs, *module.parameters()] if each.requires_grad]
    if not outputs or not leaves:
        return None
    first = T.autograd.grad(sum(each.pow(2).sum() for each in outputs), leaves, allow_unused=True, create_graph=True)
    total = sum(each.pow(2).sum() for each in first if each is not None)
    return T.autograd.grad(total, leaves, allow_unused=True)


def contents(setup: Setup) -> Any:
    """The text of a module, the names of all that is in it, and its state."""
    module = setup.made()
    names = [
        [name for name, _ in module.named_parameters()],
        [name for name, _ in module.named_buffers()],
        [(name, type(each).__name__) for name, each in module.named_modules()],
    ]
    return repr(module), module.extra_repr(), names, dict(module.state_dict())


def _copy_of(again: Callable) -> Callable:
    """What a module does that is made of another one."""

    def program(setup: Setup) -> Any:
        original = setup.made()
        setup.call(original)  # lazy modules have parameters after it, others have changed their buffers
        module = again(setup, original)
        result, inputs = setup.call(module)
        return repr(module), module.training, result, _gradients(setup, module, result, inputs)

    return program


def _reloaded(setup: Setup, module: Any) -> Any:
    file, other = io.BytesIO(), setup.made()
    setup.T.save(module.state_dict(), file)
    file.seek(0)
    assert str(other.load_state_dict(setup.T.load(file))) == "<All keys matched successfully>"
    return other


def _pickled(setup: Setup, module: Any) -> Any:
    return pickle.loads(pickle.dumps(module))


def _copied(setup: Setup, module: Any) -> Any:
    return copy.deepcopy(module)


def _made_in(setup: Setup, dtype: Any) -> Any:
    setup.T.manual_seed(0)
    return getattr(setup.T.nn, setup.name)(*setup.made_of.args, **setup.made_of.kwargs, dtype=dtype)


def _changed_to(setup: Setup, dtype: Any) -> Any:
    return setup.made().to(dtype)


def _in_dtype(make: Callable, name: str) -> Callable:
    """The module in another dtype, made so or converted."""

    def program(setup: Setup) -> Any:
        dtype = getattr(setup.T, name)
        module = make(setup, dtype)
        result, inputs = setup.call(module, lambda tensor: _floats_to(tensor, dtype))
        facts = [each.dtype for each in [*module.parameters(), *module.buffers()]]
        return facts, result, _gradients(setup, module, result, inputs)

    return program


def _in_double(make: Callable, name: str) -> Callable:
    """What the program above computes in double precision, with numbers that the dtype has."""

    def program(setup: Setup) -> Any:
        T, dtype = setup.T, getattr(setup.T, name)
        module = make(setup, dtype).double()

        def rounded(tensor: Any) -> Any:
            return _floats_to(_floats_to(tensor, dtype), T.float64)

        result, inputs = setup.call(module, rounded)
        facts = [each.dtype for each in [*module.parameters(), *module.buffers()]]
        return facts, result, _gradients(setup, module, result, inputs, rounded)

    return program


def _floats_to(tensor: Any, dtype: Any) -> Any:
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def _channels_last(T: Any, tensor: Any) -> Any:
    formats = {4: T.channels_last, 5: T.channels_last_3d}
    return tensor.contiguous(memory_format=formats.get(tensor.ndim, T.contiguous_format))


def _with_gaps(T: Any, tensor: Any) -> Any:
    return T.stack([tensor, tensor], -1)[..., 0]


def _with_layout(change: Callable, in_module: bool) -> Callable:
    """Inputs, and modules, whose elements lie in another order in memory."""

    def program(setup: Setup) -> Any:
        T, module = setup.T, setup.made()
        for each in module.parameters() if in_module else ():
            each.data = change(T, each.data)
        result, inputs = setup.call(module, lambda tensor: change(T, tensor))
        return result, _gradients(setup, module, result, inputs)

    return program


def elsewhere(setup: Setup) -> Any:
    """A module without numbers, given them later, and one that is on the meta device."""
    module = setup.made(device="meta")
    before = _places(module)
    return before, _places(module.to_empty(device="cpu"))


def _places(module: Any) -> list:
    return [(name, tuple(each.shape), str(each.device)) for name, each in module.state_dict().items()]


_CONVERTED = ("float16", "bfloat16", "float64", "complex64")
_MAKERS = {"made in": _made_in, "changed to": _changed_to}
PROGRAMS = {
    "gradients": gradients,
    "second gradients": second_gradients,
    "contents": contents,
    "elsewhere": elsewhere,
    "reloaded": _copy_of(_reloaded),
    "pickled": _copy_of(_pickled),
    "copied": _copy_of(_copied),
    **{f"{how} {name}": _in_dtype(make, name) for how, make in _MAKERS.items() for name in _CONVERTED},
    "channels last": _with_layout(_channels_last, False),
    "channels last in both": _with_layout(_channels_last, True),
    "with gaps": _with_layout(_with_gaps, False),
    "with gaps in both": _with_layout(_with_gaps, True),
}
# What programs in 16 bits are rounded from.
EXACT = {f"{how} {name}": _in_double(make, name) for how, make in _MAKERS.items() for name in ("float16", "bfloat16")}


# -------------------- what is refused --------------------


def refusals(info: Any, dtype: str, training: bool) -> Iterator[tuple[Setup, Setup]]:
    """Calls that the test suite says must fail."""
    if info.module_error_inputs_func is None:
        return
    opinfo.seed()
    kind = getattr(torch, dtype)
    for error in info.module_error_inputs_func(info, "cpu", kind, requires_grad=False, training=training):
        yield pair(info, error.module_error_input, dtype, training)


def refused(setup: Setup) -> Any:
    module = setup.made()
    return setup.called_with and setup.call(module)[0]
