"""generated/ops/<family>.py: the functions that users call, with the resolvers behind their overloads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..model import Model
from ..read.scope import CONSTANTS
from ..render import python_module, render
from .decomposition import RENAMED_CONSTANTS
from .families import family_names
from .functions import Function, composite_imports, function_of, shares_code
from .names import root_of, visible_overloads
from .old_calls import OldName, old_names
from .resolvers import Resolver, called_by_operators, operator_name, resolver_of
from .signatures import Signature


def _constants() -> dict[str, str]:
    """The constants of decompositions by the names that modules of ops have for them, and where they come from."""
    own = RENAMED_CONSTANTS
    named = {own.get(name, name): (module, name) for name, module in CONSTANTS.items()}
    return {new: f"{module} import {name} as {new}" if name in own else module for new, (module, name) in named.items()}


# The names that generated functions use, and where they come from.
IMPORTS = {
    "builtins": "",
    "state": "mindtorch._core",
    "thread": "mindtorch._core.state",
    **dict.fromkeys(
        (
            "edge_of",
            "edges_of",
            "check_constant",
            "check_inplace",
            "check_writable",
            "mark_written",
            "written",
            "rebase",
            "set_array",
            "set_history",
            "refuse_complex",
        ),
        "mindtorch.autograd._engine.history",
    ),
    **dict.fromkeys(
        (
            "flagged",
            "record_refusal",
            "recorded",
            "recorded_outputs",
            "refuse_grad",
            "refuse_out",
            "refuse_unwritable",
            "write_back",
            "write_out",
        ),
        "mindtorch.autograd._engine.outputs",
    ),
    "adopt_result": "mindtorch.autograd._engine.tenants",
    "next_sequence_nr": "mindtorch.autograd._engine.node_base",
    "RefusingNode": "mindtorch.autograd._engine.node_base",
    **dict.fromkeys(("save", "save_copy", "save_output"), "mindtorch.autograd._engine.saved_tensor"),
    **dict.fromkeys(
        ("bool_of", "dtype_of", "float_of", "generator_of", "int_of", "ints_of", "scalar_of", "str_of"),
        "mindtorch.dispatch.arguments.conversions",
    ),
    **dict.fromkeys(
        ("index_of", "joined_ints", "separate_ints_of", "sized_ints_of"), "mindtorch.dispatch.arguments.conversions"
    ),
    **dict.fromkeys(("IS_METHOD", "out_form"), "mindtorch.dispatch.methods"),
    **dict.fromkeys(
        ("CALL_ERRORS", "failed", "failed_or_number_first", "overload_for"),
        "mindtorch.dispatch.arguments.conversions",
    ),
    **dict.fromkeys(
        ("raise_bad_argument", "raise_no_overload", "raise_unmatched"), "mindtorch.dispatch.arguments.conversions"
    ),
    **dict.fromkeys(("is_index", "is_int", "is_single_int"), "mindtorch.dispatch.arguments.types"),
    "old_call": "mindtorch.dispatch.arguments.deprecation",
    **dict.fromkeys(("call", "call_with", "intercepts", "looks_inside"), "mindtorch.dispatch.dispatcher"),
    **dict.fromkeys(
        ("check_options", "check_out_options", "factory_options", "mark_leaf", "refuse_pinned", "with_options"),
        "mindtorch.dispatch.factory",
    ),
    "complete": "mindtorch.dispatch.families",
    "kernel_table": "mindtorch.dispatch.registry",
    "ops": "mindtorch.dispatch",
    **_constants(),
    **dict.fromkeys(("FAST_PATH_FAILED", "common_kind", "kind_of"), "mindtorch._core.fast_path"),
    **dict.fromkeys(
        ("empty_tensor_list", "missing_kernel", "wrong_length", "wrong_out_count"), "mindtorch._support.errors"
    ),
    "strides_of": "mindtorch._core.geometry",
    **dict.fromkeys(
        (
            "NotATensor",
            "Tensor",
            "WrappedNumber",
            "as_operand",
            "new_object",
            "operand_of",
            "detached",
            "view_of",
            "view_outputs",
            "wrap",
            "wrap_output",
            "wrap_outputs",
        ),
        "mindtorch._core.tensor",
    ),
}


@dataclass(frozen=True, slots=True)
class Item:
    """A definition of the module: a function, a resolver behind the last overload of its name, or a former name.

    ``is_for_operators``: what comes before, as Python's operators call it. ``functional``: the function whose code an
    ``out=`` form shares.
    """

    function: Function | None = None
    resolver: Resolver | None = None
    old_name: OldName | None = None
    is_for_operators: bool = False
    functional: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """What it is called in the module."""
        if self.function is not None:
            return self.function.name, self.function.itself
        defined = self.resolver or self.old_name
        return (defined.name,) if defined is not None else ()


# What a reader of a module meets in each function.
_GUIDE = """\
Each asks for active modes, converts its arguments, makes a node if there is an edge, which saves in `_mt_saved` what
its formulas will need, and calls the kernel. Plain arrays of one kind take the fast path, `direct`, to NumPy itself.
The same lines stand in every function: calls of helpers would be a good part of what a small op costs.
"The life of a call" in docs/internals.md goes through one of them.
"""


def emit(model: Model) -> dict[str, str]:
    files, names = {}, {}
    for family in model.families:
        items = list(_items(model, family))
        names[family] = _names(model, family, items)
        files[f"generated/ops/{family}.py"] = _family(model, family, items)
        files[f"generated/parameters/{family}.py"] = _parameters(model, family, items)
    return files | {"generated/families.py": family_names(model, names)}


def _parameters(model: Model, family: str, items: list[Item]) -> str:
    """What looks at calls of the functions reads, in a module of its own, which few programs import."""
    called = [item for item in items if not item.is_for_operators]
    functions = [item.function for item in called if item.function]
    resolvers = [item.resolver for item in called if item.resolver and item.resolver.form != "matching"]
    body = render("parameters.py.jinja", functions=[*functions, *resolvers])
    imports = {name: IMPORTS[name] for name in ("contiguous_format", "int64")}
    purpose = f"What the functions of the {family} ops take: names, what collects the rest, and defaults."
    return python_module(model.project, "ops", "ops.yaml", purpose, body, imports)


def _names(model: Model, family: str, items: list[Item]) -> list[str]:
    """The functions of a family's module, and the names that its ops have and had."""
    names = [name for item in items for name in item.names]
    schemas = (schema for op in model.families[family] for schema in (op.schema, *(old.schema for old in op.versions)))
    return list(dict.fromkeys((*names, *(schema.name for schema in schemas))))


def _family(model: Model, family: str, items: list[Item]) -> str:
    out_forms = [item for item in items if item.functional]
    body = render("ops.py.jinja", items=[item for item in items if not item.functional], out_forms=out_forms)
    project = model.project
    imports = IMPORTS | {
        "Dtype": "mindtorch._core.dtype import dtype as Dtype",
        **composite_imports(model, family),
        "nodes": f"{project.generated_package}.nodes import {family} as nodes",
        "return_types": project.generated_package,
        "own_ops": project.generated_package,
        **{name: module for name, (module, _) in model.parts.items()},
    }
    purpose = f"The {family} ops: what a call does, layer by layer, in one function each.\n\n{_GUIDE}"
    return python_module(project, "ops", "ops.yaml and derivatives.yaml", purpose, body, imports)


def _items(model: Model, family: str) -> Iterator[Item]:
    operators = called_by_operators(model)
    for op in model.families[family]:
        if op.is_copied_out:
            continue
        function = function_of(model, op)
        if shares_code(model, op):
            yield _out_form(function, function_of(model, root_of(model, op)))
            continue
        yield Item(function=function)
        if function.name in operators and not function.definition.is_positional:
            yield Item(function=replace(function, **_for_operators(function)), is_for_operators=True)
        overloads = visible_overloads(model, op.schema.name)
        if op.kind != "out" and overloads and op is overloads[-1]:
            resolver = resolver_of(model, op.schema.name)
            if resolver is not None:
                yield Item(resolver=resolver)
                if resolver.name in operators and not resolver.definition.is_positional:
                    yield Item(resolver=replace(resolver, **_for_operators(resolver)), is_for_operators=True)
    for old_name in old_names(model, family):
        yield Item(old_name=old_name)


def _out_form(form: Function, functional: Function) -> Item:
    """The ``out=`` form that is the functional function: it has the same parameters, of which `out` has to be given."""
    own = functional.definition
    parameters = tuple(replace(each, default=None) if each.name == "out" else each for each in own.parameters)
    return Item(replace(form, signature=Signature(parameters, own.rest), old_calls=None), functional=functional.name)


def _for_operators(form: Function | Resolver) -> dict[str, Any]:
    """What differs where Python's operators call: all parameters are positional, as their defaults are quicker to find.

    Only the interpreter calls such a function, with its operands, so that it has no room for old calls."""
    parameters = tuple(replace(each, kwarg_only=False) for each in form.signature.parameters)
    return {"name": operator_name(form.name), "signature": Signature(parameters), "old_calls": None} | (
        {"out": None} if isinstance(form, Function) else {}
    )
