"""How ops act on tensors that are spread over processes, as data.

A rule names the dimensions of the inputs and of the result by letters: `mk,kn->mn` for a matrix product. Whatever is
spread along one letter can be computed in parts: inputs without the letter are whole, a result without it is a sum of
what the processes have. `...` stands for any number of dimensions. The functions are for ops whose letters depend on
their arguments. Ops with the tag `pointwise` need no entry, unless they are linear.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any

from mindtorch.distributed.tensor.placement_types import NormPartial, Partial


@dataclass(frozen=True)
class Letters:
    """The letters of each input and of the result; a dot is a dimension that can't be spread."""

    inputs: tuple[str, ...]
    output: str
    reduction: Partial = field(default_factory=Partial)  # of letters that the result does not have
    even: frozenset[str] = frozenset()  # letters along which all processes need parts of the same size
    filled: frozenset[str] = frozenset()  # letters along which no process may be without a part
    size: tuple[int, ...] | None = None  # of the result, where it is the second argument
    strides: int = 0  # how many arguments after the size are about the memory of the whole: parts have their own
    others: tuple[str, ...] = ()  # of the results after the first; without them they are as the first is

    def result(self, place: int) -> str:
        """The letters of one of several results."""
        return self.others[place - 1] if place and self.others else self.output


Shapes = list[tuple[int, ...]]
Rule = Callable[[Shapes, Sequence[Any], dict[str, Any]], Letters]


def contraction(equation: str) -> Rule:
    """The rule of an equation. Inputs may lack leading dimensions, or have a size of 1, where they are broadcast."""
    given, output = equation.split("->")

    def rule(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
        written = given.split(",")[: len(shapes)]
        first = written[0]
        more = ascii_lowercase[: len(shapes[0]) - len(first.replace("...", ""))] if "..." in first else ""
        full = [each.replace("...", more.upper()) for each in written]
        return _broadcast(full, output.replace("...", more.upper()), shapes)

    return rule


def _broadcast(full: Sequence[str], output: str, shapes: Shapes) -> Letters:
    sizes: dict[str, int] = {}
    cut = [letters[len(letters) - len(shape) :] for letters, shape in zip(full, shapes, strict=True)]
    for letters, shape in zip(cut, shapes, strict=True):
        for letter, size in zip(letters, shape, strict=True):
            sizes[letter] = max(size, sizes.get(letter, 1))
    inputs = tuple(
        "".join("." if size == 1 != sizes[letter] else letter for letter, size in zip(letters, shape, strict=True))
        for letters, shape in zip(cut, shapes, strict=True)
    )
    return Letters(inputs, output)


def pointwise(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
    """Each element of the result comes from one of each input."""
    ndim = max((len(shape) for shape in shapes), default=0)
    letters = ascii_lowercase[:ndim]
    return _broadcast([letters] * len(shapes), letters, shapes)


def _dims(given: Any, ndim: int) -> list[int]:
    if given is None or given == []:
        return list(range(ndim))
    return [each % ndim if ndim else 0 for each in (given if isinstance(given, (list, tuple)) else [given])]


def _argument(args: Sequence[Any], kwargs: dict[str, Any], place: int, name: str, default: Any) -> Any:
    return kwargs.get(name, args[place] if len(args) > place else default)


def reduction(kind: str, dim_at: int | None = 1) -> Rule:
    """Some dimensions are reduced. The mean of means is the mean only of parts of one size."""

    def rule(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
        letters = ascii_lowercase[: len(shapes[0])]
        dims = _dims(None if dim_at is None else _argument(args, kwargs, dim_at, "dim", None), len(letters))
        keeps = dim_at is not None and _argument(args, kwargs, dim_at + 1, "keepdim", False)
        left = "".join(each if place not in dims else "." * keeps for place, each in enumerate(letters))
        order = float(_argument(args, kwargs, 1, "ord", 2)) if kind == "norm" else math.nan
        partial = NormPartial(order) if kind == "norm" else Partial(kind)
        reduced = frozenset(letters[dim] for dim in dims)
        even, filled = reduced if kind == "avg" else frozenset(), frozenset() if kind == "sum" else reduced
        return Letters((letters,), left, partial, even, filled)

    return rule


def rearranged(order: Callable[..., str]) -> Rule:
    """The dimensions change their places: `order(letters, *arguments)` says where they go."""

    def rule(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
        letters = ascii_lowercase[: len(shapes[0])]
        return Letters((letters,), order(letters, *args[1:], **kwargs))

    return rule


def _swapped(letters: str, dim0: int, dim1: int) -> str:
    result = list(letters)
    result[dim0], result[dim1] = result[dim1], result[dim0]
    return "".join(result)


def _permuted(letters: str, dims: Sequence[int]) -> str:
    return "".join(letters[dim] for dim in dims)


def _unsqueezed(letters: str, dim: int) -> str:
    dim %= len(letters) + 1
    return f"{letters[:dim]}.{letters[dim:]}"


def squeezed(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
    """Dimensions of size 1 are left out."""
    dims = _dims(args[1], len(shapes[0]))
    letters = "".join("." if place in dims else each for place, each in enumerate(ascii_lowercase[: len(shapes[0])]))
    left = "".join(each for place, each in enumerate(letters) if place not in dims or shapes[0][place] != 1)
    return Letters((letters,), left)


def taken_apart(dim_at: int, is_kept: bool) -> Rule:
    """One place, a range or all places along a dimension, which is kept or not."""

    def rule(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
        ndim = len(shapes[0])
        (dim,) = _dims(_argument(args, kwargs, dim_at, "dim", 0), ndim)
        letters = ascii_lowercase[:ndim]
        before, after = letters[:dim], letters[dim + 1 :]
        return Letters((f"{before}.{after}",), before + "." * is_kept + after)

    return rule


def put_back(is_kept: bool) -> Rule:
    """The gradient of a place or a range: zeros in the others."""

    def rule(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
        size = tuple(args[1])
        (dim,) = _dims(args[2], len(size))
        letters = ascii_lowercase[: len(size)]
        before, after = letters[:dim], letters[dim + 1 :]
        return Letters((before + "." * is_kept + after,), f"{before}.{after}", size=size)

    return rule


def whole_along(dim_at: int) -> Rule:
    """Computed along one dimension, such as softmax."""

    def rule(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
        ndim = len(shapes[0])
        letters = list(ascii_lowercase[:ndim])
        for dim in _dims(args[dim_at], ndim):
            letters[dim : dim + 1] = "." if ndim else ""
        return Letters(("".join(letters),) * len(shapes), "".join(letters))

    return rule


def expanded(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
    """Dimensions of size 1 are repeated."""
    letters = ascii_lowercase[: len(shapes[0])]
    added = len(args[1]) - len(letters)
    size = (*args[1][:added], *(old if new == -1 else new for old, new in zip(shapes[0], args[1][added:], strict=True)))
    grown = size[added:]
    kept = "".join(
        "." if old == 1 != new else letter for letter, old, new in zip(letters, shapes[0], grown, strict=True)
    )
    return Letters((kept,), "." * added + kept, size=size)


def viewed(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
    """Dimensions are joined and split. Of those that become others, the first can be spread, if it is evenly so."""
    old, new = shapes[0], _without_minus_one(list(args[1]), math.prod(shapes[0]))
    before, after, even = ["."] * len(old), ["."] * len(new), set()
    for own, others in _groups(old, new):
        if own and others:
            letter = ascii_lowercase[own[0]]
            before[own[0]] = after[others[0]] = letter
            if len(own) > 1 or len(others) > 1:
                even.add(letter)
                if old[own[0]] % new[others[0]] and new[others[0]] % old[own[0]]:
                    before[own[0]] = after[others[0]] = "."
    return Letters(("".join(before),), "".join(after), even=frozenset(even), size=tuple(new))


def _without_minus_one(size: list[int], count: int) -> list[int]:
    known = math.prod(each for each in size if each != -1)
    return [count // known if each == -1 else each for each in size] if known else size


def _groups(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Which dimensions become which, those of size 1 apart."""
    groups = []
    first, second = [i for i, n in enumerate(old) if n != 1], [i for i, n in enumerate(new) if n != 1]
    while first and second:
        own, others = [first.pop(0)], [second.pop(0)]
        one, two = old[own[0]], new[others[0]]
        while one != two and (first if one < two else second):
            if one < two:
                own.append(first.pop(0))
                one *= old[own[-1]]
            else:
                others.append(second.pop(0))
                two *= new[others[-1]]
        groups.append((own, others))
    return groups


def stacked(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
    """Tensors of one shape along a new dimension."""
    letters = ascii_lowercase[: len(shapes[0])]
    return Letters((letters,) * len(shapes), _unsqueezed(letters, _argument(args, kwargs, 1, "dim", 0)))


def joined(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
    """Tensors one after the other along a dimension, which can't be spread."""
    dim = _argument(args, kwargs, 1, "dim", 0) % len(shapes[0])
    letters = "".join("." if place == dim else each for place, each in enumerate(ascii_lowercase[: len(shapes[0])]))
    return Letters((letters,) * len(shapes), letters)


def normalized(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
    """Computed along the last dimensions."""
    whole = len(args[1])
    letters = ascii_lowercase[: len(shapes[0]) - whole] + "." * whole
    return Letters((letters, *("." * len(shape) for shape in shapes[1:])), letters)


def normalized_backward(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
    """The gradients of the input, and of weight and bias: sums over all that is not normalized."""
    letters = normalized(shapes, args[1:], kwargs).output
    own = "." * letters.count(".")
    return Letters(
        tuple(letters if len(shape) == len(letters) else own for shape in shapes), letters, others=(own, own)
    )


def made_anew(strides: int) -> Rule:
    """A tensor of a given size, spread as the input is if it has its shape."""

    def rule(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
        size = tuple(args[1])
        letters = ascii_lowercase[: len(shapes[0])]
        return Letters((letters,), letters if size == shapes[0] else "." * len(size), size=size, strides=strides)

    return rule


def whole(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
    """Computed from whole tensors, in all processes."""
    return Letters(tuple("." * len(shape) for shape in shapes), "")


def reduced_whole(dim_at: int | None = 1, keepdim_at: int = 2) -> Rule:
    """Some dimensions are reduced, along which the tensor is whole."""

    def rule(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
        ndim = len(shapes[0])
        dims = _dims(None if dim_at is None else _argument(args, kwargs, dim_at, "dim", None), ndim)
        keeps = bool(_argument(args, kwargs, keepdim_at, "keepdim", False))
        letters = ["." if place in dims else each for place, each in enumerate(ascii_lowercase[:ndim])]
        left = "".join(each for place, each in enumerate(letters) if keeps or place not in dims)
        return Letters(("".join(letters),), left)

    return rule


def along(dim_at: int, default: Any = -1) -> Rule:
    """Computed along some dimensions, which the result has as well; as many elements as there are left over."""

    def rule(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
        ndim = len(shapes[0])
        dims = _dims(_argument(args, kwargs, dim_at, "dims" if isinstance(default, list) else "dim", default), ndim)
        letters = "".join("." if place in dims else each for place, each in enumerate(ascii_lowercase[:ndim]))
        return Letters((letters,) * len(shapes), letters)

    return rule


def last_whole(count: int) -> Rule:
    """The last dimensions are whole, in all inputs and results."""

    def rule(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
        full = ascii_lowercase[: max(len(shapes[0]) - count, 0)] + "." * min(count, len(shapes[0]))
        inputs = tuple(full if len(shape) == len(full) else "." * len(shape) for shape in shapes)
        return Letters(inputs, full, filled=frozenset(full))

    return rule


def squeezed_all(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
    """All dimensions of size 1 are left out."""
    letters = "".join("." if size == 1 else each for each, size in zip(ascii_lowercase, shapes[0], strict=False))
    return Letters((letters,), letters.replace(".", ""))


def padded(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
    """The last dimensions grow or shrink at their ends."""
    ndim, pairs = len(shapes[0]), args[1]
    changed = [any(pairs[2 * (ndim - 1 - dim) : 2 * (ndim - dim)]) for dim in range(ndim)]
    letters = "".join("." if each else letter for letter, each in zip(ascii_lowercase, changed, strict=False))
    return Letters((letters,), letters)


def repeated(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
    """Dimensions are repeated as often as the second argument says."""
    added = len(args[1]) - len(shapes[0])
    letters = "".join("." if n != 1 else each for each, n in zip(ascii_lowercase, args[1][added:], strict=False))
    return Letters((letters,), "." * added + letters)


def looked_up(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
    """Vectors of a matrix at indices; a process with some of the vectors has a summand."""
    indices = ascii_lowercase[: len(shapes[1])]
    return Letters(("yz", indices), f"{indices}z")


def looked_up_backward(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
    """The gradient of the matrix: a sum over the indices, unless it depends on how often they come."""
    indices = "." * len(shapes[1]) if args[4] else ascii_lowercase[: len(shapes[1])]
    return Letters((f"{indices}z", indices), ".z")


def chosen(is_selected: bool) -> Rule:
    """What is at places along one dimension: one list of places for all, or one for each line of the tensor."""

    def rule(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
        ndim = len(shapes[0])
        if not ndim:
            return whole(shapes, args, kwargs)
        dim = args[1] % ndim
        letters = ascii_lowercase[:ndim]
        if is_selected:
            return Letters((f"{letters[:dim]}.{letters[dim + 1 :]}", "z"), f"{letters[:dim]}z{letters[dim + 1 :]}")
        same = [
            letter if place != dim and size == own else "."
            for place, (letter, size, own) in enumerate(zip(letters, shapes[0], shapes[1], strict=True))
        ]
        kept = "".join(same)
        return Letters((kept, f"{kept[:dim]}z{kept[dim + 1 :]}"), f"{kept[:dim]}z{kept[dim + 1 :]}")

    return rule


def scattered(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
    """Values are put at places along one dimension, which is whole."""
    ndim = len(shapes[0])
    dim = args[1] % ndim if ndim else 0
    sizes = zip(*shapes, strict=True)
    letters = "".join(
        "." if place == dim or len(set(each)) > 1 else ascii_lowercase[place] for place, each in enumerate(sizes)
    )
    return Letters((letters,) * len(shapes), letters)


def loss(reduction_at: int) -> Rule:
    """Pointwise, and then reduced: that is computed from whole tensors, as means divide by the number of elements."""

    def rule(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
        none = _argument(args, kwargs, reduction_at, "reduction", 1) == 0
        return pointwise(shapes, args, kwargs) if none else whole(shapes, args, kwargs)

    return rule


def classified(reduction_at: int, gradient: bool = False) -> Rule:
    """Losses of classes, which are whole. Their mean takes whole tensors; its gradient takes the sum of weights."""

    def rule(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
        scores = shapes[1] if gradient else shapes[0]
        batch = "n" * (len(scores) > 1)
        more = ascii_lowercase[: max(len(scores) - 2, 0)]
        full, target = f"{batch}.{more}", f"{batch}{more}"
        if args[reduction_at] != 0 and not gradient:
            return whole(shapes, args, kwargs)
        first = target if len(shapes[0]) else ""
        given = (first, full, target) if gradient else (full, target)
        others = tuple("." * len(shape) for shape in shapes[len(given) :])
        return Letters((*given, *others), full if gradient else target, others=("",))

    return rule


def convolved(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
    """Images, one by one."""
    image = "n" + "." * (len(shapes[0]) - 1)
    return Letters((image, *("." * len(shape) for shape in shapes[1:])), image, filled=frozenset("n"))


def convolved_backward(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
    """The gradients of the images, and sums over all images."""
    image = "n" + "." * (len(shapes[0]) - 1)
    others = ("." * len(shapes[2]), ".")
    return Letters((image, image, "." * len(shapes[2])), image, filled=frozenset("n"), others=others)


def attention(shapes: Shapes, args: Sequence[Any], kwargs: dict[str, Any]) -> Letters:
    """Heads of attention, one by one; without dropout."""
    if _argument(args, kwargs, len(shapes) if len(shapes) > 4 else 3, "dropout_p", 0.0):
        raise NotImplementedError("dropout in scaled_dot_product_attention of DTensors")
    if len({shape[:2] for shape in shapes}) > 1:
        return whole(shapes, args, kwargs)
    full = tuple("bh" + "." * (len(shape) - 2) for shape in shapes)
    others = ("bh.", "") if len(shapes) < 5 else ("bh..", "bh..")
    return Letters(full, "bh..", filled=frozenset("bh"), others=others)


# -------------------- the table --------------------

RULES: dict[str, Rule] = {
    "mm": contraction("mk,kn->mn"),
    "addmm": contraction("mn,mk,kn->mn"),
    "bmm": contraction("bmk,bkn->bmn"),
    "baddbmm": contraction("bmn,bmk,bkn->bmn"),
    "mv": contraction("mk,k->m"),
    "dot": contraction("k,k->"),
    "linear": contraction("...k,nk,n->...n"),
    "sum": reduction("sum", None),
    "sum.dim_IntList": reduction("sum"),
    "mean": reduction("avg", None),
    "mean.dim": reduction("avg"),
    "amax": reduction("max"),
    "amin": reduction("min"),
    "max": reduction("max", None),
    "min": reduction("min", None),
    "prod": reduction("product", None),
    "all": reduction("product", None),
    "any": reduction("max", None),
    "linalg_vector_norm": reduction("norm", 2),
    **dict.fromkeys(
        ("std.correction", "var.correction", "var_mean.correction", "std_mean.correction"), reduced_whole()
    ),
    **dict.fromkeys(("prod.dim_int", "all.dim", "any.dim", "logsumexp", "max.dim", "min.dim"), reduced_whole()),
    **dict.fromkeys(("argmax", "argmin", "median.dim", "nanmedian.dim", "nansum"), reduced_whole()),
    **dict.fromkeys(("all.dims", "any.dims", "count_nonzero.dim_IntList"), reduced_whole()),
    **dict.fromkeys(("median", "nanmedian", "count_nonzero"), reduced_whole(None)),
    "kthvalue": reduced_whole(2, 3),
    "mode": reduced_whole(),
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"), along(1)),
    **dict.fromkeys(("sort", "argsort"), along(1)),
    "sort.stable": along(3),
    "topk": along(2),
    "flip": along(1, []),
    "roll": along(2, []),
    "unfold": whole,
    **dict.fromkeys(("tril", "triu", "linalg_inv_ex", "inverse", "_linalg_svd", "linalg_qr", "_linalg_det"), whole),
    **dict.fromkeys(("linalg_cholesky_ex", "_linalg_eigh", "_linalg_solve_ex", "_linalg_slogdet"), whole),
    **dict.fromkeys(("histc", "bucketize.Tensor", "searchsorted.Tensor", "masked_select", "nonzero"), whole),
    **dict.fromkeys(("diagonal", "diagonal_backward", "unfold_backward", "diag_embed", "_fft_r2c", "_fft_c2c"), whole),
    **dict.fromkeys(
        ("_fft_c2r", "aminmax", "index.Tensor", "index_put", "index_add", "index_copy", "index_fill"), whole
    ),
    **dict.fromkeys(("native_batch_norm", "native_batch_norm_backward", "_cdist_forward"), whole),
    "constant_pad_nd": padded,
    "repeat": repeated,
    "squeeze": squeezed_all,
    "embedding": looked_up,
    "embedding_dense_backward": looked_up_backward,
    "index_select": chosen(True),
    "gather": chosen(False),
    **dict.fromkeys(("scatter.src", "scatter.value", "scatter_add", "scatter_reduce.two", "scatter_add_"), scattered),
    **dict.fromkeys(("scatter_.src", "scatter_.value"), scattered),
    **dict.fromkeys(("index_put_", "index_add_", "masked_scatter", "masked_scatter_"), whole),
    **dict.fromkeys(("mse_loss", "smooth_l1_loss", "huber_loss"), loss(2)),
    **dict.fromkeys(("mse_loss_backward", "smooth_l1_loss_backward", "huber_loss_backward"), loss(3)),
    "binary_cross_entropy": loss(3),
    "binary_cross_entropy_backward": loss(4),
    "binary_cross_entropy_with_logits": loss(4),
    "nll_loss_forward": classified(3),
    "nll_loss2d_forward": classified(3),
    "nll_loss_backward": classified(4, gradient=True),
    "nll_loss2d_backward": classified(4, gradient=True),
    "convolution": convolved,
    "convolution_backward": convolved_backward,
    **dict.fromkeys(("max_pool2d_with_indices", "max_pool2d_with_indices_backward"), last_whole(2)),
    **dict.fromkeys(("avg_pool2d", "avg_pool2d_backward", "_adaptive_avg_pool2d"), last_whole(2)),
    **dict.fromkeys(("_adaptive_avg_pool2d_backward", "upsample_nearest2d", "upsample_bilinear2d"), last_whole(2)),
    **dict.fromkeys(("upsample_nearest2d_backward", "upsample_bilinear2d_backward"), whole),
    "_scaled_dot_product_flash_attention_for_cpu": attention,
    "_scaled_dot_product_flash_attention_for_cpu_backward": attention,
    "multinomial": last_whole(1),
    **dict.fromkeys(("view_as_complex", "view_as_real"), whole),
    "t": rearranged(lambda letters: letters[::-1]),
    "transpose.int": rearranged(_swapped),
    "permute": rearranged(_permuted),
    "unsqueeze": rearranged(_unsqueezed),
    "squeeze.dim": squeezed,
    "squeeze.dims": squeezed,
    "view": viewed,
    "_unsafe_view": viewed,
    "reshape": viewed,
    "expand": expanded,
    "new_empty": made_anew(0),
    "new_zeros": made_anew(0),
    "new_ones": made_anew(0),
    "new_full": made_anew(0),
    "new_empty_strided": made_anew(1),
    "stack": stacked,
    "cat": joined,
    "unbind.int": taken_apart(1, False),
    "select.int": taken_apart(1, False),
    "slice.Tensor": taken_apart(1, True),
    "select_backward": put_back(False),
    "slice_backward": put_back(True),
    "narrow": taken_apart(1, True),
    "split.Tensor": taken_apart(2, True),
    "split_with_sizes": taken_apart(2, True),
    "native_layer_norm": normalized,
    "native_layer_norm_backward": normalized_backward,
    "_softmax": whole_along(1),
    "_log_softmax": whole_along(1),
    "softmax.int": whole_along(1),
    "log_softmax.int": whole_along(1),
    "_softmax_backward_data": whole_along(2),
    "_log_softmax_backward_data": whole_along(2),
    **dict.fromkeys(
        ("detach", "alias", "clone", "contiguous", "zeros_like", "ones_like", "empty_like", "full_like", "copy_"),
        pointwise,
    ),
    **dict.fromkeys(("_to_copy", "zero_", "fill_.Scalar", "threshold_backward", "softplus_backward"), pointwise),
    **dict.fromkeys(("leaky_relu_backward", "hardtanh", "hardtanh_backward", "floor_divide", "complex"), pointwise),
    **dict.fromkeys(("masked_fill.Tensor", "masked_fill_.Tensor"), pointwise),
    **dict.fromkeys(("floor_divide.Scalar", "hardswish_backward", "hardsigmoid_backward", "bernoulli"), pointwise),
    **dict.fromkeys(("rand_like", "randn_like", "randint_like", "randint_like.low_dtype", "native_dropout"), pointwise),
    **dict.fromkeys(("bernoulli_.float", "bernoulli_.Tensor", "normal_", "uniform_", "exponential_"), pointwise),
    **dict.fromkeys(("log_normal_", "cauchy_", "geometric_", "random_", "random_.from", "random_.to"), pointwise),
}

# Ops that act on each summand of a partial sum: on the first input alone, or on all of them together.
LINEAR_IN_FIRST = {
    "t", "transpose.int", "permute", "unsqueeze", "squeeze.dim", "view", "_unsafe_view", "reshape", "expand", "detach",
    "alias", "clone", "contiguous", "neg", "mul.Scalar", "div.Scalar", "mul.Tensor", "div.Tensor", "sum",
    "sum.dim_IntList", "mean", "mean.dim", "mm", "bmm", "mul_.Scalar", "div_.Scalar", "mul_.Tensor", "div_.Tensor",
}  # fmt: skip
LINEAR_IN_ALL = {"add.Tensor", "sub.Tensor", "add_.Tensor", "sub_.Tensor", "stack", "cat", "zeros_like"}
