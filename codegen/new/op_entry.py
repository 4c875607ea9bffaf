"""The entry of a new op in ops.yaml: its keys, each with the reason for its value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from ..keys import DTYPES, OP_KEYS, TAGS
from ..model import FunctionSchema, Op
from ..read.variants import inplace_schema, out_schema
from .aclnn_guess import guessed_call
from .draft import Draft
from .torch_dtypes import dtype_word

_TENSOR_OPTIONS = ("dtype", "layout", "device", "pin_memory")
_MODULES = next(key.values for key in OP_KEYS if key.name == "python_module")
_PYTORCH = "as in PyTorch"


def like(op: Op) -> str:
    """The reason for what is taken from another op, which may be another kind of op after all."""
    return f"as {op.name}: check it"


@dataclass(frozen=True, slots=True)
class Line:
    """A key of an entry, its value as YAML, and why it has it."""

    key: str
    value: str
    reason: str = ""


def op_lines(draft: Draft, samples: Line | None) -> list[Line]:
    """The lines of the entry, in the order of the key table."""
    found = {line.key: line for lines in (_general(draft), _rules(draft), _implementation(draft)) for line in lines}
    if samples is not None:
        found["samples"] = samples
    return [found[key.name] for key in OP_KEYS if key.name in found]


def entry_text(lines: list[Line]) -> str:
    """An entry of a YAML file."""
    return "\n".join(f"{'  ' if index else '- '}{line.key}: {line.value}" for index, line in enumerate(lines))


def scalar(text: str) -> str:
    """A text as YAML: in quotes where it would mean something else without."""
    try:
        node = yaml.compose(f"key: {text}", Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        node = None
    value = node.value[0][1] if isinstance(node, yaml.MappingNode) else None
    is_plain = isinstance(value, yaml.ScalarNode) and value.style is None and value.value == text
    return text if is_plain else _quoted(text)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if "'" in text else f"'{text}'"


# -------------------- what users see --------------------


def _general(draft: Draft) -> Iterator[Line]:
    yield Line("func", scalar(str(draft.schema)))
    yield Line("family", draft.family, draft.reason_for_family)
    yield from _variants(draft)
    yield from _derived(draft)
    yield from _tags(draft)
    if draft.wanted.names and not draft.wanted.is_of_pytorch:
        yield Line("divergence", "PyTorch has no such op", "say why mindtorch has it")


def _variants(draft: Draft) -> Iterator[Line]:
    """Where users find it. The ops of another package are functions of that package."""
    if not draft.project.is_library:
        return
    module, reason = _python_module(draft)
    if module is not None:
        yield Line("python_module", module, reason)
    variants, reason = _python_forms(draft)
    if variants != ("function",):
        yield Line("variants", ", ".join(variants), reason)
    counterpart = draft.counterpart
    if counterpart is not None and counterpart.hidden and counterpart.schema.overload == draft.schema.overload:
        yield Line(
            "python", "hidden", f"{like(counterpart)}; another overload of {draft.schema.base} takes these arguments"
        )


def _python_module(draft: Draft) -> tuple[str | None, str]:
    function, counterpart = draft.wanted.function, draft.counterpart or draft.asked_relative
    if function is not None:
        return function.python_module if function.python_module in _MODULES else None, _PYTORCH
    return (counterpart.python_module, like(counterpart)) if counterpart else (None, "")


def _python_forms(draft: Draft) -> tuple[tuple[str, ...], str]:
    """Whether it is a function, a method or both, and why."""
    function, counterpart, target = draft.wanted.function, draft.counterpart, draft.schema.self_argument
    if function is not None:
        return tuple(word for word in ("function", "method") if word in function.variants), _PYTORCH
    if target is None or not target.type.holds_tensors:
        return ("function",), ""
    if counterpart is not None:
        return tuple(word for word in ("function", "method") if word in counterpart.variants), like(counterpart)
    return (("function", "method"), "it has a tensor 'self'") if target.type.is_tensor else (("function",), "")


def _derived(draft: Draft) -> Iterator[Line]:
    """The in-place and out= variants: derived where their schemas follow the rule, otherwise written out."""
    wanted = draft.wanted
    if draft.schema.kind != "functional":
        return
    if wanted.function is None:
        words, reason = _derived_names(draft)
        if words:
            yield Line("autogen", ", ".join(words), reason)
        return
    by_rule = _by_rule(draft.schema)
    given = {"inplace": wanted.inplace, "out": wanted.out}
    autogen = [key for key, variant in given.items() if variant and str(variant) == str(by_rule[key])]
    if autogen:
        yield Line("autogen", ", ".join(autogen), _PYTORCH)
    for key, variant in given.items():
        if variant is not None and key not in autogen:
            yield Line(key, scalar(str(variant)), "PyTorch's schema, which does not follow the rule")


def _by_rule(schema: FunctionSchema) -> dict[str, FunctionSchema | None]:
    return {"inplace": inplace_schema(schema, schema.location), "out": out_schema(schema, schema.location)}


def _derived_names(draft: Draft) -> tuple[list[str], str]:
    """What to derive when only names are known: what PyTorch's list has, or for an op that is new, the relative."""
    wanted, relative = draft.wanted, draft.relative_of_rules
    possible = {key: variant.full_name for key, variant in _by_rule(draft.schema).items() if variant is not None}
    if not all(result.type.holds_tensors for result in draft.schema.returns):
        return [], ""
    target = draft.schema.self_argument
    if not draft.is_composite and target is not None and target.type.is_list:
        possible.pop("inplace", None)  # kernels write one tensor
    if wanted.is_of_pytorch:
        return [key for key, name in possible.items() if name in wanted.names], _PYTORCH
    if relative is None:
        return [], ""
    taken = [key for key in possible if key in relative.autogen or getattr(relative, key)]
    return taken, like(relative)


def _tags(draft: Draft) -> Iterator[Line]:
    function, relative = draft.wanted.function, draft.pointwise_relative
    if function is not None:
        tags, reason = [tag for tag in TAGS if tag in function.tags], _PYTORCH
    elif relative is not None and "pointwise" in relative.tags:
        tags, reason = ["pointwise"], like(relative)
    else:
        tags, reason = [], ""
    if tags:
        yield Line("tags", ", ".join(tags), reason)


# -------------------- rules --------------------


def _rules(draft: Draft) -> Iterator[Line]:
    schema, rules = draft.schema, draft.relative_of_rules
    if all(schema.argument(name) for name in _TENSOR_OPTIONS) and not schema.tensor_arguments:
        yield Line("factory", "true", "it makes a tensor from nothing")
    if rules is not None:
        numbers = [name for name in rules.numbers if (found := schema.argument(name)) and found.type.is_tensor]
        if numbers:
            yield Line("numbers", ", ".join(numbers), like(rules))
    yield from _dtypes(draft)
    if draft.is_composite:
        return
    yield from _view(schema)
    yield from _no_shape(draft)
    if rules is None:
        return
    for key, value in (("promotion", rules.promotion), ("shape", rules.shape)):
        if value is not None and key not in draft.misfits:
            yield Line(key, value, like(rules))


def _no_shape(draft: Draft) -> Iterator[Line]:
    """What stands in the place of a shape rule until there is one; a rule that is found replaces it. Other packages
    need none."""
    if not draft.project.is_library:
        return
    if "CPU" in _backends(draft) and any(result.type.holds_tensors for result in draft.schema.returns):
        yield Line("shape", "none", "no op is like it: name a rule, or a meta kernel, if its result can be foreseen")


def _dtypes(draft: Draft) -> Iterator[Line]:
    """Those that PyTorch takes, if it could be asked; otherwise those of the relative."""
    taken, rules = draft.wanted.dtypes, draft.relative_of_rules
    word, reason = dtype_word(taken) if taken else (rules.dtypes, like(rules)) if rules else (DTYPES[0], "")
    if word != DTYPES[0]:
        yield Line("dtypes", word, reason)


def _view(schema: FunctionSchema) -> Iterator[Line]:
    aliases = [result for result in schema.returns if result.alias and not result.alias.write]
    if aliases:
        kind = "multi" if aliases[0].type.is_list else "single"
        yield Line("view", kind, f"it returns {schema.returns[0].type.spelled(aliases[0].alias)}")


# -------------------- implementation --------------------


def _implementation(draft: Draft) -> Iterator[Line]:
    if draft.decomposition is not None:
        yield Line("decomposition", scalar(draft.decomposition))
        return
    if draft.is_composite:
        yield Line("composite", draft.function_name, _why_composite(draft))
        return
    call = guessed_call(draft.schema, draft.signatures)
    backends = [name for name in _backends(draft) if name != "NPU" or call is not None]
    yield Line("dispatch", f"{{{', '.join(f'{name}: {draft.function_name}' for name in backends)}}}")
    if call is not None and "NPU" in backends:
        yield Line(
            "aclnn", call, "the function of that name takes such arguments: check in CANN's reference that it is the op"
        )


def _why_composite(draft: Draft) -> str:
    if draft.wanted.function is not None and draft.wanted.function.is_composite:
        return "PyTorch writes it in other ops, too"
    return like(draft.counterpart) if draft.counterpart and draft.counterpart.is_composite else "as asked for"


def _backends(draft: Draft) -> list[str]:
    """Those of the relative, but meta kernels follow from the rules."""
    relative = draft.relative_op
    listed = relative.dispatch if relative and relative.dispatch else {"CPU": "", "NPU": ""}
    return [name for name in listed if name != "Meta" and name in draft.project.backends]
