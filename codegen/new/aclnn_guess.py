"""The call of ACLNN that a new op may be: of the function that has its name, if it takes the op's arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..model import FunctionSchema
from ..npu.aclnn import plain, result_names, takes
from ..npu.aclnn_signature import Signature


def guessed_call(schema: FunctionSchema, signatures: Mapping[str, Signature]) -> str | None:
    """None if there is no such function, or if it takes something else."""
    name = f"aclnn{'Inplace' if schema.inplace else ''}{schema.base}".replace("_", "").lower()
    found = (signature for signature in signatures.values() if signature.name.lower() == name)
    calls = (f"{signature.name}({', '.join(_values(schema, signature))})" for signature in found)
    return next((call for call in calls if takes(schema, call, signatures)), None)


def _values(schema: FunctionSchema, signature: Signature) -> Iterator[str]:
    """For each parameter what is called like it, or what is next of all that is not."""
    names = [*(argument.name for argument in schema.inputs), *result_names(schema)]
    by_name = {plain(name): name for name in names}
    others = [name for name in names if plain(name) not in map(plain, signature.parameters)]
    for parameter in signature.parameters:
        name = by_name.get(plain(parameter)) or (others.pop(0) if others else parameter)
        argument = schema.argument(name)
        is_dim = argument is not None and argument.type.base == "int" and name == "dim"
        yield f"dims({name})" if is_dim and signature.kinds[signature.parameters.index(parameter)] == "I" else name
