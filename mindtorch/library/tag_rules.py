"""What a schema must look like to carry `Tag.inplace` or `Tag.out`."""

from collections.abc import Sequence

from mindtorch.dispatch.schema.syntax import Declaration, Parameter
from mindtorch.dispatch.schema.tags import Tag

_INPLACE = "Schema tagged with torch.Tag.inplace must "
_OUT = "Schema tagged with torch.Tag.out "


def check_tags(declaration: Declaration, tags: Sequence[Tag]) -> None:
    """A ValueError with torch's text for a schema that breaks the rules of a tag."""
    problem = None
    if Tag.out in tags:
        problem = _out_problem(declaration)
    if Tag.inplace in tags and problem is None:
        problem = _inplace_problem(declaration)
    if problem is not None:
        raise ValueError(f"{problem} Got: {declaration}")


def _is_tensor(parameter: Parameter) -> bool:
    return parameter.type.base == "Tensor" and not parameter.type.marks


def _inplace_problem(declaration: Declaration) -> str | None:
    arguments = declaration.arguments
    if not arguments or arguments[0].keyword_only:
        return _INPLACE + "have at least one positional argument."
    first = arguments[0]
    if not first.written:
        return (
            "Schema tagged with torch.Tag.inplace requires the first positional argument to be mutable "
            "(e.g., Tensor(a!))."
        )
    if not _is_tensor(first):
        return (
            "Schema tagged with torch.Tag.inplace requires the first positional argument to be a Tensor. "
            f"Got type '{first.type.python_name}' for arg '{first.name}'."
        )
    if len(declaration.returns) != 1:
        return f"{_INPLACE}return exactly one value (the first argument). Got {len(declaration.returns)} returns."
    return _inplace_return_problem(declaration.returns[0]) or _other_writes(arguments)


def _inplace_return_problem(result: Parameter) -> str | None:
    start = _INPLACE + "return the first mutable argument "
    if not _is_tensor(result):
        return f"{start}(return must be a Tensor, got type '{result.type.python_name}')."
    if not result.alias:
        return f"{start}(return must alias the first argument)."
    return None if result.written else f"{start}(return must be a mutable alias, e.g., Tensor(a!))."


def _other_writes(arguments: Sequence[Parameter]) -> str | None:
    others = [each.name for each in arguments[1:] if each.written]
    if not others:
        return None
    return f"{_INPLACE}only mutate the first positional argument. Found additional mutable args: {others}."


def _out_problem(declaration: Declaration) -> str | None:
    written = [each for each in declaration.arguments if each.written]
    if not written:
        return _OUT + "must have at least one mutable argument."
    positional = [each.name for each in written if not each.keyword_only]
    if positional:
        return (
            f"{_OUT}requires all mutable arguments to be keyword-only (after the *). "
            f"Found mutable positional args: {positional}."
        )
    unsupported = [each.name for each in written if not _is_tensor(each)]
    if unsupported:
        return f"{_OUT}only supports Tensor mutable arguments. Found unsupported mutable args: {unsupported}."
    if len(declaration.returns) != len(written):
        return (
            f"{_OUT}must return all mutable arguments (got {len(written)} mutable args but "
            f"{len(declaration.returns)} returns)."
        )
    return next(
        (problem for place in range(len(written)) if (problem := _out_return(declaration, written, place))), None
    )


def _out_return(declaration: Declaration, written: Sequence[Parameter], place: int) -> str | None:
    result, argument = declaration.returns[place], written[place]
    start = f"Return {place} of schema tagged with torch.Tag.out must "
    if not result.alias:
        return f"{start}alias mutable arg '{argument.name}'."
    if not result.written:
        return f"{start}be a mutable alias (e.g., Tensor(a!), not Tensor(a)) of arg '{argument.name}'."
    if result.alias == argument.alias:
        return None
    ours, theirs = ({each.alias.rstrip("!")} for each in (result, argument))
    return f"{start}alias mutable arg '{argument.name}' (return aliases {ours} but arg aliases {theirs})."
