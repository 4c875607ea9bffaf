"""How tensors are printed: `repr(tensor)` is PyTorch's to the character, and `set_printoptions` changes it."""

import contextlib
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import inf, isfinite
from typing import Any

import numpy as np

from mindtorch._core.autograd_meta import lefts_of
from mindtorch._core.batched_array import BatchedArray
from mindtorch._core.dtype import bool as bool_dtype
from mindtorch._core.dtype import complex64, complex128, dtype, float64, get_default_dtype, int64
from mindtorch._core.layout import strided
from mindtorch._core.tensor import Tensor, edge_to, wrap
from mindtorch._support.own_names import is_own
from mindtorch.autograd._engine.history import edge_of
from mindtorch.autograd._engine.hooks_in_levels import shown_node
from mindtorch.dispatch.modes.captures import depths_of
from mindtorch.dispatch.modes.tangents import tangent_of


@dataclass
class PrintOptions:
    """What `set_printoptions` sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": inf, "edgeitems": 3, "linewidth": 80},
}

options = PrintOptions()

_OVER = -2  # the level that is shown of a transform that is over


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors are printed; what is not given stays, except `sci_mode`, which goes back to automatic.

    `precision`: digits after the point. `threshold`: tensors with more elements are summarised. `edgeitems`: how many
    elements a summary shows at each end of a dimension. `linewidth`: characters per line. `profile`: "default", "short"
    or "full" set the first four. `sci_mode`: whether to write numbers as 1.0000e+00.
    """
    chosen = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    given = {name: value for name, value in chosen.items() if value is not None}
    for name, value in (PROFILES.get(profile or "", {}) | given).items():
        setattr(options, name, value)
    options.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The options as a dictionary that `set_printoptions` takes as keyword arguments."""
    return asdict(options)


@contextlib.contextmanager
def printoptions(**changes: Any) -> Iterator[None]:
    """`set_printoptions` for a `with` block."""
    before = get_printoptions()
    set_printoptions(**changes)
    try:
        yield
    finally:
        set_printoptions(**before)


# -------------------- numbers --------------------

Writer = Callable[[Any], str]


def number_writer(values: np.ndarray) -> tuple[Writer, int]:
    """How the numbers of one tensor are written so that they line up, and the width that takes.

    The finite numbers other than zero decide the style and the width, as in PyTorch.
    """
    if values.dtype.kind in "biu":
        width = max(map(len, map(str, values.ravel().tolist())), default=1)
        return (lambda value: str(value).rjust(width)), width
    deciding = values[np.isfinite(values) & (values != 0)].tolist()
    style, extra = _style(deciding) if deciding else (_whole, 0)
    width = max((len(f"{value:{style.spec}}") + extra for value in deciding), default=1)
    return (lambda value: style(value).rjust(width)), width


class _Style:
    """A format specification; `point` adds the point that tells a whole float from an integer."""

    def __init__(self, spec: str, point: bool = False) -> None:
        self.spec = spec
        self.point = point

    def __call__(self, value: float) -> str:
        text = f"{value:{self.spec}}"
        return text + "." if self.point and isfinite(value) else text


_whole = _Style(".0f", point=True)


def _style(deciding: list[float]) -> tuple[_Style, int]:
    """The style for these numbers, and how much wider than the bare number a cell has to be."""
    if _needs_exponents(deciding):
        return _Style(f".{options.precision}e"), 0
    if all(value.is_integer() for value in deciding):
        return _whole, 1
    return _Style(f".{options.precision}f"), 0


def _needs_exponents(deciding: list[float]) -> bool:
    if options.sci_mode is not None:
        return options.sci_mode
    largest, smallest = max(map(abs, deciding)), min(map(abs, deciding))
    return largest / smallest > 1000.0 or largest > 1.0e8 or smallest < 1.0e-4


def element_writer(values: np.ndarray) -> tuple[Writer, int]:
    """`number_writer`, with a complex number written as its two parts."""
    if values.dtype.kind != "c":
        return number_writer(values)
    write_real, real_width = number_writer(values.real)
    write_imag, imag_width = number_writer(values.imag)

    def write(value: complex) -> str:
        imag = (write_imag(value.imag) + "j").lstrip()
        return write_real(value.real) + ("" if imag[0] in "+-" else "+") + imag

    return write, real_width + imag_width + 1


# -------------------- nested brackets --------------------


def array_str(array: np.ndarray, indent: int) -> str:
    """The elements in brackets, the first bracket `indent` characters from the left margin."""
    if array.size == 0:
        return "[]"
    edge = options.edgeitems
    summarised = array.size > options.threshold
    gaps = [summarised and size > 2 * edge for size in array.shape]
    values = _comparable(_without_middle(array, gaps))
    write, width = element_writer(values)
    return _nested(values, gaps, indent, write, width)


def _without_middle(array: np.ndarray, gaps: list[bool]) -> np.ndarray:
    """Only the elements that a summary shows."""
    edge = options.edgeitems
    for axis, (gap, size) in enumerate(zip(gaps, array.shape)):
        if gap:
            array = array.take([*range(edge), *range(size - edge, size)], axis)
    return array


def _comparable(values: np.ndarray) -> np.ndarray:
    """Floats as float64, which holds every smaller one exactly and, unlike some of them, supports all of NumPy."""
    if values.dtype.kind == "c":
        return values.astype(np.complex128)
    return values if values.dtype.kind in "biu" else values.astype(np.float64)


def _nested(values: np.ndarray, gaps: list[bool], indent: int, write: Writer, width: int) -> str:
    if values.ndim == 0:
        return write(values.item())
    if values.ndim == 1:
        return _row(list(map(write, values.tolist())), gaps[0], indent, width)
    parts = [_nested(value, gaps[1:], indent + 1, write, width) for value in values]
    if gaps[0]:
        parts.insert(options.edgeitems, "...")
    return "[" + ("," + "\n" * (values.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _row(texts: list[str], gap: bool, indent: int, width: int) -> str:
    """One row, broken into lines."""
    if gap:
        texts.insert(options.edgeitems, " ..." if options.edgeitems else "...")
    per_line = max(1, (options.linewidth - indent) // (width + 2))
    lines = [", ".join(texts[start : start + per_line]) for start in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


# -------------------- the whole tensor --------------------


def tensor_str(tensor: Tensor, contents: str | None = None) -> str:
    """The text of `repr(tensor)`; `contents` replaces the elements."""
    depths, lefts = depths_of(tensor), lefts_of(tensor)
    if depths or lefts or type(tensor._mt_array) is BatchedArray:
        levels = [*[(left.graph.depth, _OVER) for left in lefts], *[(depth, depth) for depth in depths]]
        return _str_in_transforms(tensor._mt_array, sorted(levels, reverse=True), None if depths else _edge(tensor))
    return _plain_str(tensor, contents)


def _plain_str(tensor: Tensor, contents: str | None = None) -> str:
    cls = type(tensor)
    # The library's own classes, such as Parameter, are printed as "tensor(...)"; others under their own name.
    prefix = "tensor(" if is_own(cls.__module__) else f"{cls.__name__}("
    is_dense = tensor.layout is strided
    describe = _describe_meta if tensor.is_meta else _describe_dense if is_dense else _describe_sparse
    text, facts = describe(tensor, len(prefix))
    if tensor.device.type != "cpu":
        facts.insert(0, f"device='{tensor.device}'")
    facts += _history(tensor)
    text = with_facts(prefix + (text if contents is None else contents), facts, len(prefix), tensor.is_sparse)
    return f"Parameter({text})" if getattr(tensor, "_is_param", False) else text


def _edge(tensor: Tensor) -> Any:
    """The edge that a tensor has outside of transforms."""
    edge = tensor._mt_edge if type(tensor._mt_array) is BatchedArray else edge_of(tensor)
    return edge_to(*shown_node(edge)) if edge else None


def _str_in_transforms(array: Any, levels: Sequence[tuple[int, int]], edge: Any) -> str:
    """A tensor inside transforms as torch shows it: wrapped once for each, the innermost one first.

    `levels` are the depths of transforms that differentiate, and the numbers that are shown for them. What `vmap` wraps
    has all samples, and their history.
    """
    batched_at = array.level.depth if type(array) is BatchedArray else 0
    if levels and levels[0][0] > batched_at:
        start, value = f"GradTrackingTensor(lvl={levels[0][1]}, ", _str_in_transforms(array, levels[1:], edge)
    elif batched_at:
        start = f"BatchedTensor(lvl={batched_at}, bdim={array.bdim}, "
        value = _str_in_transforms(array.inner, levels, edge)
    else:
        whole = wrap(array)
        whole._mt_edge = edge
        return _plain_str(whole)
    return f"{start}value=\n{textwrap.indent(value, '    ')}\n)"


def _describe_dense(tensor: Tensor, indent: int) -> tuple[str, list[str]]:
    array = host_array(tensor)
    if array.size == 0:
        size = [] if array.ndim == 1 else [f"size={array.shape}"]
        return "[]", size + _dtype_fact(tensor.dtype, (get_default_dtype(),))
    size = [] if options.edgeitems else [f"size={array.shape}"]
    return array_str(array, indent), size + _dtype_fact(tensor.dtype, _usual_dtypes())


def _describe_meta(tensor: Tensor, indent: int) -> tuple[str, list[str]]:
    size = f"size={tuple(tensor.shape)}"
    return "...", [size] + _dtype_fact(tensor.dtype, (get_default_dtype(),))


def _describe_sparse(tensor: Tensor, indent: int) -> tuple[str, list[str]]:
    array = tensor._mt_array
    indices = _compressed_parts(array) if tensor.layout.is_compressed else [("indices", array.indices)]
    parts = [(f"{name}=tensor(", part) for name, part in [*indices, ("values", array.values)]]
    texts = [start + _part_str(part, indent + len(start)) + ")" for start, part in parts]
    facts = [f"size={tuple(tensor.shape)}", f"nnz={array.nnz}"] + _dtype_fact(tensor.dtype, _usual_dtypes())
    return (",\n" + " " * indent).join(texts), facts + [f"layout={tensor.layout}"]


def _compressed_parts(array: Any) -> list[tuple[str, np.ndarray]]:
    return list(zip(array.part_names(), (array.compressed, array.plain)))


def _part_str(part: np.ndarray, indent: int) -> str:
    return array_str(part, indent) + (f", size={part.shape}" if part.size == 0 else "")


def host_array(tensor: Tensor) -> np.ndarray:
    """The elements as a NumPy array, copied from the device if need be."""
    array = tensor._mt_array
    return array if isinstance(array, np.ndarray) else tensor.detach().cpu()._mt_array


def _usual_dtypes() -> tuple[dtype, ...]:
    """The dtypes that the elements themselves tell."""
    default = get_default_dtype()
    return default, (complex128 if default is float64 else complex64), int64, bool_dtype


def _dtype_fact(dtype: dtype, usual: tuple[dtype, ...]) -> list[str]:
    return [] if dtype in usual else [f"dtype={dtype}"]


def _history(tensor: Tensor) -> list[str]:
    """What autograd and forward AD know about the tensor."""
    name = _grad_fn_name(tensor)
    facts = [f"grad_fn=<{name}>"] if name else ["requires_grad=True"] if tensor.requires_grad else []
    tangent = tangent_of(tensor)
    return facts if tangent is None else [*facts, f"tangent={tangent}"]


def _grad_fn_name(tensor: Tensor) -> str | None:
    try:
        node = tensor.grad_fn
    except RuntimeError:  # a view whose history cannot be made, because it or its base was written in no_grad mode
        return "Invalid"
    return None if node is None else node.name().rsplit("::", 1)[-1]


def with_facts(text: str, facts: list[str], indent: int, new_line: bool) -> str:
    """Append the facts, on a new line where the line would get too long, and the closing bracket."""
    position = len(text) - text.rfind("\n") + 1
    for fact in facts:
        if new_line or position + len(fact) + 2 > options.linewidth:
            text += ",\n" + " " * indent + fact
            position = indent + len(fact)
            new_line = False
        else:
            text += ", " + fact
            position += len(fact) + 2
    return text + ")"
