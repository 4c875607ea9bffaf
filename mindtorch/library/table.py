"""The ops that are defined while the program runs: made known to the registry and to `mindtorch.ops`, and forgotten."""

from collections.abc import Sequence

from mindtorch._support.op_names import ATEN, base_of, namespace_of
from mindtorch.dispatch.overloads import OpOverload, operators
from mindtorch.dispatch.registry import OpEntry, find_op, register_op, unregister_op
from mindtorch.dispatch.schema.syntax import Declaration
from mindtorch.dispatch.schema.tags import Tag
from mindtorch.library.operator import Operator

_operators: dict[str, Operator] = {}


def operator_named(qualname: str) -> Operator:
    """The op of a name such as `mylib::foo.out`. It may be undefined as yet: kernels may come first."""
    operator = _operators.get(qualname)
    if operator is None:
        _operators[qualname] = operator = Operator(qualname)
    return operator


def entry_of(qualname: str) -> OpEntry | None:
    """The registry's entry of a defined op, one of `mindtorch.library` or a generated one."""
    namespace, _, name = qualname.partition("::")
    return find_op(name if namespace == ATEN else qualname) or find_op(qualname)


def generated_op(qualname: str) -> OpEntry | None:
    """The entry of an op that was not made by `mindtorch.library`."""
    entry = entry_of(qualname)
    return None if entry is None or entry.boxed else entry


def overload_named(qualname: str) -> OpOverload:
    """The overload of `mindtorch.ops`; an AttributeError if there is no such op."""
    return operators._overload(*split_qualname(qualname))


def add_op(declaration: Declaration, tags: Sequence[Tag]) -> Operator:
    """Define an op, whose declaration has its full name."""
    operator = operator_named(declaration.full_name)
    operator.define(declaration)
    names = tuple(tag.name for tag in tags)
    register_op(str(declaration), operator, composite=True, boxed=True, tags=names)
    _tell(declaration.full_name)
    return operator


def remove_op(qualname: str) -> None:
    """Undo the definition of an op. Its kernels go with the libraries that registered them."""
    unregister_op(qualname)
    _tell(qualname)


def _tell(qualname: str) -> None:
    """Let `mindtorch.ops` follow the registry."""
    getattr(operators, namespace_of(qualname))._changed(base_of(qualname))


def split_qualname(qualname: str) -> tuple[str, str]:
    """Namespace and name; torch's error for anything else."""
    parts = qualname.split("::")
    if len(parts) != 2:
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. The qualname passed to the '
            "torch.library APIs must consist of a namespace and a name, e.g. aten::sin"
        )
    return parts[0], parts[1]
