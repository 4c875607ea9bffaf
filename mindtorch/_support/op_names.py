"""Names of ops: `add.Tensor` is one of the library's own, whose namespace is `aten`; `wavelets::haar` a package's."""

ATEN = "aten"


def qualified(name: str) -> str:
    """The name with its namespace: `aten::add.Tensor`."""
    return name if "::" in name else f"{ATEN}::{name}"


def namespace_of(name: str) -> str:
    return qualified(name).partition("::")[0]


def base_of(name: str) -> str:
    """The name without namespace and overload: `add`."""
    return name.rpartition("::")[2].partition(".")[0]
