"""What `inspect.signature` says of public functions: torch's names and defaults, and nothing of how they are made."""

import inspect
import pickle
from collections.abc import Callable, Iterator

import pytest

import mindtorch
from mindtorch.dispatch.registry import overloads_of
from mindtorch.dispatch.shown_signature import ShownSignature

torch = pytest.importorskip("torch")
PLACES = ("", "Tensor", "nn.functional", "linalg", "fft", "special")


def _place(library, name: str):
    for part in name.split(".") if name else ():
        library = getattr(library, part)
    return library


def _public(place: str) -> Iterator[tuple[str, Callable]]:
    """The functions of a namespace that Python code defines, with their names."""
    found = _place(mindtorch, place)
    for name in sorted(dir(found)):
        function = getattr(found, name)
        if inspect.isfunction(inspect.unwrap(function)) and not name.startswith("__"):
            yield name, function


@pytest.mark.parametrize("place", PLACES)
def test_nothing_is_shown_of_how_functions_are_made(place):
    signatures = {name: inspect.signature(function).parameters.values() for name, function in _public(place)}
    made = {name: [each for each in found if _is_of_ours(each)] for name, found in signatures.items()}
    assert {name: found for name, found in made.items() if found} == {}


def _is_of_ours(parameter: inspect.Parameter) -> bool:
    default = parameter.default
    hidden = parameter.name in ("_reject", "_out") or parameter.name.startswith("more")
    return hidden or default is ... or (parameter.name in ("axis", "keepdims") and default is None)


def _overloads(name: str) -> list:
    """torch's schemas of those overloads that there are here."""
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{name}")
    known = {entry.schema.overload_name for entry in overloads_of(name) if not entry.schema.is_out}
    return [schema for schema in schemas if schema.overload_name in known]


# Defaults that torch's schemas write as numbers, or that its Python functions have and the schemas do not.
WRITTEN_OTHERWISE = ("pin_memory", "dtype", "reduction", "memory_format")

# Arguments that all forms need, behind one that a form lacks.
BEHIND_OTHERS = (("arange", "end"), ("randint", "high"), ("randint", "size"))


def _agrees(shown: object, known: list, forms: int) -> bool:
    """Whether a default is one of torch's: none where all forms need the argument, and where some lack it, no value."""
    if all(not each.has_default_value() for each in known):
        required = len(known) == forms
        return required if shown is inspect.Parameter.empty else not required and repr(shown) in ("<no value>", "None")
    listed = list(shown) if isinstance(shown, tuple) else [shown]
    defaults = [each.default_value for each in known if each.has_default_value()]
    return any(shown == each or listed == each or set(listed) == {each} for each in defaults)


def _differences(name: str, function: Callable) -> Iterator[str]:
    schemas = _overloads(name)
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        known = [each for schema in schemas for each in schema.arguments if each.name == parameter.name]
        is_meant = parameter.kind is not inspect.Parameter.VAR_POSITIONAL and parameter.name not in WRITTEN_OTHERWISE
        is_meant = is_meant and (name, parameter.name) not in BEHIND_OTHERS
        if is_meant and known and not _agrees(parameter.default, known, len(schemas)):
            yield f"{name}: {parameter} for {schemas}"


@pytest.mark.parametrize("place", ["", "Tensor"])
def test_defaults_are_those_of_the_schemas(place):
    """Of generated functions: those that are written by hand have one signature for all forms."""
    functions = [(name, each) for name, each in _public(place) if type(inspect.signature(each)) is ShownSignature]
    compared = [(name, function) for name, function in functions if _overloads(name)]
    assert len(compared) > 300
    assert [text for name, function in compared for text in _differences(name, function)] == []


CALLED = {
    "softmax": "(input, dim, dtype=None, *, out=None)",
    "add": "(input, other, *, alpha=1, out=None)",
    "sum": "(input, dim=None, keepdim=False, *, dtype=None, out=None)",
    "prod": "(input, dim=<no value>, keepdim=False, *, dtype=None, out=None)",
    "permute": "(input, dims)",
    "Tensor.permute": "(self, *dims)",
    "Tensor.view": "(self, *size, dtype=<no value>)",
    "Tensor.add_": "(self, other, *, alpha=1)",
    "Tensor.is_set_to": "(self: Any, tensor: Any) -> bool",
    "trapezoid": "(y, x=<no value>, *, dim=-1, dx=1)",
}


@pytest.mark.parametrize("name", CALLED)
def test_a_signature_says_how_to_call(name):
    shown = inspect.signature(_place(mindtorch, name))
    assert str(shown) == CALLED[name]
    assert pickle.loads(pickle.dumps(shown.replace(parameters=[]))).parameters == {}


def test_signatures_of_bound_methods():
    assert str(inspect.signature(mindtorch.ones(2).softmax)) == "(dim, dtype=None)"
    assert inspect.signature(mindtorch.ones(2).add).bind(3, alpha=2).arguments == {"other": 3, "alpha": 2}
