"""The functions that a person has to write for a new op, as text that raises until they are written.

Kernels are not among them: the generator writes a stub for every one that is missing.
"""

from __future__ import annotations

from ..model import FunctionSchema
from ..project import Project
from ..sources.hand_written import expected_parameters

_NEW_COMPOSITES = '"""The {family} ops that are written in other ops."""\n'


def composite_function(name: str, schema: FunctionSchema, file: str) -> str:
    """What goes to the end of the file of composite functions."""
    parameters = ", ".join(expected_parameters(schema, False))
    text = f"write {name} in {file}: {schema.full_name} in terms of other ops"
    return f'\n\ndef {name}({parameters}):\n    """{schema}"""\n    raise NotImplementedError("{text}")\n'


def new_composite_file(family: str) -> str:
    return _NEW_COMPOSITES.format(family=family)


def sample_generator(name: str, schema: FunctionSchema, project: Project) -> str:
    """What goes to the end of the file of sample generators. mindtorch's is also a table, which a decorator fills."""
    decorator = "@samples\n" if project.is_library else ""
    example = ", ".join(_example(str(argument.type)) for argument in schema.positional)
    text = f"yield calls of {schema.full_name} in {project.samples}, such as call({example})"
    return f'\n\n{decorator}def {name}(make):\n    """{schema}"""\n    raise NotImplementedError("{text}")\n'


def _example(type_: str) -> str:
    """A value of a type, the way sample generators write it."""
    plain = type_.removesuffix("?")
    if plain.startswith("Tensor"):
        return "make(2, 3)" if plain == "Tensor" else "[make(2, 3), make(2, 3)]"
    base, bracket, _ = plain.partition("[")
    example = {"bool": "True", "float": "0.5", "Scalar": "2", "str": "'...'"}.get(base, "1")
    return f"[{example}]" if bracket else example
