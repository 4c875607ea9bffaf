"""The differences between the two libraries that random programs may meet, each with its reason.

Whatever is not listed here is a fault. `mends` makes what a statement leaves undefined in torch the same in both.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import mindtorch
from tests.harness import error_difference, to_numpy

# torch refuses, mindtorch may do it: a part of torch's message and the reason.
MAY_WORK = {
    "derivative for aten::": "mindtorch has a derivative that torch has not",
    "Negation, the `-` operator": "a formula of torch negates booleans",
    "is output 0 of torch::autograd": "torch saves a value that its formula has no use for",
    "a leaf Variable that requires grad is being used": "torch has not yet noticed that a view is no leaf any more",
    "Inference tensors cannot be saved": "torch saves a value that its formula has no use for",
    "has been detached in-place": "torch's saved tensors need their node, mindtorch's have their value",
    "ZeroTensors are immutable": "the gradient of sgn is a tensor without memory, which torch then wants to write",
    "isFloatingType(grad.scalar_type())": "a formula of torch (where) forgets the real part of a complex gradient",
    "automatic differentiation for outputs with complex": "of a complex tensor without elements, which no kernel sees",
    "match the broadcast shape": "a formula of torch (clamp by tensors) writes into a gradient that is too small",
    "div_floor_cpu": "a mean of no booleans (scatter_reduce)",
    "ComplexHalf": "mindtorch has no complex32",
    "MKL FFT error": "a transform along one dimension of a tensor without elements",
}
# torch's own faults: both may do what they like, and the program ends.
UNDEFINED = {
    "INTERNAL ASSERT FAILED": "an assertion of torch that failed",
    "setStorage: sizes": "index_fill_ of a dimension without elements, whose indices are not looked at",
    "grad_input must be contiguous": "nll_loss of images that are not, which torch takes, but for the backward pass",
    "but expected shape compatible with": "a leaf that has taken another shape in inference mode",
    "Expected a proper Tensor but got None": "a node that a checkpoint has stopped at, before it has kept anything",
    "Autograd not support dtype": "an integer tensor into which a tensor that requires grad was written",
}


@dataclass(frozen=True, slots=True)
class Instead:
    """Two refusals of one statement: patterns of mindtorch's text and of torch's, where {0} is the former's group."""

    ours: str
    theirs: str
    reason: str

    def allows(self, ours: str, theirs: str) -> bool:
        found = re.search(self.ours, ours)
        return bool(found and re.search(self.theirs.format(*map(re.escape, found.groups())), theirs))


_WRITTEN_VIEW = r"is being modified inplace"
_READ_VIEW = r"its base or another view of its base has been modified inplace"
_CHANGED = r"variables needed for gradient computation has been modified by an inplace operation"
_NO_HALF_PARTS = "a complex number beside float16 has the dtype complex32 in torch, which mindtorch has not"
INSTEAD = (
    Instead(
        r"derivative for aten::(\w+) is not implemented",
        r"derivative for aten::{0}_ is not implemented",
        "torch's in-place form is an op of its own, with a name of its own",
    ),
    Instead(
        r"result type ComplexFloat can't be cast to the desired output type (\w+)",
        r"result type ComplexHalf can't be cast to the desired output type {0}",
        _NO_HALF_PARTS,
    ),
    Instead(
        r"\"(\w+)\" not implemented for 'ComplexFloat'", r"\"{0}\" not implemented for 'ComplexHalf'", _NO_HALF_PARTS
    ),
    Instead(
        r"value cannot be converted to type \S+ without overflow",
        r"value cannot be converted to type double without overflow",
        "torch makes a complex number a real one before it makes it one of the dtype",
    ),
    Instead(
        r"square\(\): (functions with out=)", r"pow\(\): {0}", "the square is a power in torch, which names the latter"
    ),
    Instead(
        r"\"avg_pool2d\" not implemented for '(\w+)'",
        r"\"avg_pool2d_channels_last\" not implemented for '{0}'",
        "a kernel of its own for another order of memory",
    ),
    Instead(
        r"The data of a tensor cannot be written in place inside of a transform",
        r"is being (used in an in-place operation|modified inplace)",
        "mindtorch refuses every write that is recorded outside, torch those to leaves and to some views",
    ),
    Instead(
        r"matmul\(\): functions with out=",
        r"both arguments to matmul need to be at least 1D",
        "torch looks at the dimensions first",
    ),
    Instead(
        r"(Output \d of \w+ is a view|A view was created in \w+ mode) and " + _READ_VIEW,
        r"{0} and " + _WRITTEN_VIEW,
        "torch looks at what is written first, mindtorch at what is read, which here are views of one base",
    ),
    Instead(
        r"and " + _READ_VIEW,
        r"out of bounds for dimension",
        "torch looks at the index before it asks for the history of the view",
    ),
    Instead(
        r"\"bitwise_\w+\" not implemented for",
        r"and " + _READ_VIEW,
        "torch asks for the history of its operands before it looks at their dtypes, mindtorch records nothing here",
    ),
    Instead(
        r"result type \w+ can't be cast to the desired output type",
        r"A view was created in \w+ mode and " + _WRITTEN_VIEW,
        "torch asks whether the view may be written before it looks at dtypes; mindtorch records nothing here",
    ),
    Instead(
        r"result type \w+ can't be cast to the desired output type|must match the size of tensor b",
        r"Trying to use forward AD with aten::\w+ that does not support it",
        "torch asks for the rule of tangents before it looks at dtypes and shapes, mindtorch when it has computed",
    ),
    Instead(
        r"batching operators that can support dynamic shape",
        r"The shape of the mask \[\d+, 0\] at index 0 does not match",
        "torch's rule looks at the shape of a mask without elements first, with the samples as a dimension of it",
    ),
    Instead(
        _CHANGED,
        _CHANGED,
        "which of several changed tensors a backward pass meets first, and which node it is said to be of",
    ),
    Instead(
        f"{_CHANGED}|{_READ_VIEW}",
        r"isFloatingType\(grad\.scalar_type\(\)\)",
        "torch's own error in another branch of the backward pass, which it takes first",
    ),
    Instead(
        _CHANGED,
        r"saved tensor that has been detached in-place",
        "torch's saved tensors need their node, mindtorch's have their value and its version",
    ),
)
# Nodes that do the same under another name.
ALIKE = {
    "FillBackward": "CopyBackwards",  # a number is written into a single element: torch makes it a tensor first
    "UnsafeViewBackward": "SqueezeBackward",  # how a vector times a matrix is made of other ops
    "FloorDivideBackward": "NotImplemented",
    "RemainderBackward": "NotImplemented",
    "ComplexBackward": "AddBackward",  # how the parts of a complex convolution are put together
}
# Ops that mindtorch makes of others, where torch has a node.
COMPOSITE = frozenset(
    "CdistBackward CeluBackward DiagonalBackward0_copy HardsigmoidBackward HuberLossBackward IndexCopyBackward "
    "IndexFillBackward LogSigmoidBackward MaskedFillBackward NativeGroupNormBackward NormBackward PolarBackward "
    "RenormBackward Rot90Backward RreluWithNoiseBackward ScaledDotProductFlashAttentionForCpuBackward "
    "SoftshrinkBackward TakeBackward TraceBackward".split()
)


def is_differentiable(tensor: Any) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def is_leaf_variable(tensor: Any) -> bool:
    """Whether gradients are stored for a tensor; a view whose base may not be written anymore is none."""
    try:
        return tensor.requires_grad and tensor.is_leaf
    except RuntimeError:
        return False


INTEGERS = {torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}
# After these an operator stops halfway: what it has written by then is not defined.
_HALFWAY = ("ZeroDivisionError", "out of bounds", "Inplace update to inference tensor")


def difference_of_errors(ours: Exception | None, theirs: Exception | None) -> str | None:
    text = str(theirs)
    if any(part in text for part in UNDEFINED):
        return None
    if ours is None and any(part in text for part in MAY_WORK):
        return None
    if ours is not None and any(each.allows(str(ours), text) for each in INSTEAD):
        return None
    return error_difference(ours, theirs)


def may_be_refused(ours: Exception | None, lines: list[str], tensors: Iterable[Any]) -> bool:
    """Whether torch has reasons of its own not to raise an error of mindtorch."""
    text, tensors = str(ours), list(tensors)
    if "data of a tensor cannot be written in place inside of a transform" in text:
        return True  # of a tensor that is recorded outside: docs/internals.md says why
    if "more than one element of the written-to tensor" in text and any(map(_has_windows, tensors)):
        return True  # of a tangent: see `tangent_of_windows`
    # For a view from no_grad mode torch records the op, but keeps nothing, as there is nowhere to send a gradient.
    # Its rules for products of samples keep copies.
    is_copied = "modified by an inplace" in text and any(map(_PRODUCTS_OF_SAMPLES.search, lines))
    return is_copied or any(part in text for part in _SAVED) and any(map(_requires_grad_alone, tensors))


_PRODUCTS_OF_SAMPLES = re.compile(r"(?= @ |\w*m[mv]\(|matmul|dot\(|linear|einsum)(.|\n)*T\.vmap")


def _has_windows(tensor: Any) -> bool:
    """Whether some elements of a tensor share memory, which a stride of 0 does not tell."""
    steps = sorted((stride, size) for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if size > 1)
    return any(step[0] <= (size - 1) * stride for (stride, size), step in zip(steps, steps[1:], strict=False))


_SAVED = ("modified by an inplace operation", "Inference tensors cannot be saved")


def _requires_grad_alone(tensor: Any) -> bool:
    return is_leaf_variable(tensor) and tensor._is_view()


def may_go_unnoticed(theirs: Exception | None, lines: list[str]) -> bool:
    """Whether a program writes to what torch's node keeps, and none of the ops that mindtorch makes it of."""
    return "modified by an inplace" in str(theirs) and any(map(_KEEPS_LESS.search, lines))


def may_be_differentiated(theirs: Exception | None, lines: list[str]) -> bool:
    """Whether a formula of torch writes to what it has recorded: see `derivative_of_the_tangent_of_softmax`."""
    return "is output 0 of Exp, is at version 1" in str(theirs) and any(map(_WRITTEN_BY_FORMULA.search, lines))


def may_be_written(theirs: Exception | None, lines: list[str]) -> bool:
    """Whether torch refuses to write samples, or a tangent, to an index: see `samples_written_to_an_index`; or to write
    what it has computed along a dimension that samples have not: see `samples_without_dimensions_along_one`; or to
    compute what a transform asks for: see `number_written_to_a_part`, `tangent_of_a_batch_of_gradients`,
    `written_batch_of_gradients` and `view_of_samples_from_inference_mode`."""
    return any(text in str(theirs) and where.search(lines[-1]) for text, where in _NOT_WRITTEN.items())


def may_write_gradient(theirs: Exception | None, lines: list[str]) -> bool:
    """Whether torch refuses to write a gradient, as it has summed it by way of a view: see
    `gradient_that_was_summed`."""
    names = [name for line in lines[:-1] for name in _GRADIENT.findall(line)]
    is_refused = "was created in no_grad mode and is being modified inplace" in str(theirs)
    return is_refused and any(re.search(rf"\b{name}\b", lines[-1]) for name in names)


_MADE_OF_OUT = re.compile(
    r"\b(abs|absolute|angle|mean|var|std|isfinite|m?sort|cum(max|min|sum|prod)|logcumsumexp|topk|kthvalue|(nan)?median|"
    r"max|min|mode|flip|[hvd]?stack|logsumexp|renorm|triu|tril)\("
)
_GRADIENT = re.compile(r"\b(t\d+) = (?:T\.autograd\.grad\(|t\d+\.grad$)", re.MULTILINE)
_NOT_WRITTEN = {
    "cannot be broadcast to indexing result of shape": re.compile(r"vmap|jac|hess|is_grads_batched"),
    "was created in no_grad mode and is being modified inplace": re.compile(
        r"(cum\w+|sort|softmax|topk|gather|index_select)\((.|\n)*T\.vmap"
    ),
    "Index put requires the source and destination dtypes match": re.compile(r"jvp|jac|hess|fwAD"),
    "vmap: fill_(self, *extra_args) is not possible": re.compile(r"jac|hess"),
    "Batching rule not implemented for aten::alias;": re.compile(r"is_grads_batched"),
    "would mutate a captured Tensor": re.compile(r"is_grads_batched"),
    "Batching rule not implemented for aten::_unpack_dual;": re.compile(r"inference_mode"),
    # A view in a body, or a part of the samples, may be of what was written: see `view_whose_base_was_written`.
    "a leaf Variable that requires grad is being used": re.compile(r"chunk_size|\n    +t\d+ = t\d+[.\[]"),
}
_WRITTEN_BY_FORMULA = re.compile(r"softm(ax|in)|logsumexp|logcumsumexp|cross_entropy")
_KEEPS_LESS = re.compile(r"group_norm|\.take\(|hardsigmoid")


def is_undefined(error: Exception | None) -> bool:
    return any(part in str(error) for part in UNDEFINED)


def is_avoided(line: str, used: list[Any], others: list[Any]) -> bool:
    """Whether torch has a fault of its own in what a statement does with these tensors."""
    return any(fault(line, used, others) for fault in _FAULTS)


def _sgn_of_a_variable(line: str, used: list[Any], others: list[Any]) -> bool:
    """The gradient is a ZeroTensor, which also hides the nan and the infinity of the nodes behind it."""
    return "sgn" in line and any(tensor.requires_grad for tensor in used)


def _median_of_expanded(line: str, used: list[Any], others: list[Any]) -> bool:
    """torch reads memory that is not the tensor's."""
    return "median" in line and any(0 in tensor.stride() for tensor in used)


def _data_under_views(line: str, used: list[Any], others: list[Any]) -> bool:
    """The views of the old memory are taken again from the new one, within its bounds or not."""
    return ".data = " in line and any(tensor._base is used[0] for tensor in others)


def _data_of_another_mode(line: str, used: list[Any], others: list[Any]) -> bool:
    """A tensor of inference mode becomes one without a version, which cannot even be printed."""
    return ".data = " in line and len({tensor.is_inference() for tensor in used}) > 1


def _negated_bytes(line: str, used: list[Any], others: list[Any]) -> bool:
    """The formula of atan2 negates its first argument in its own dtype."""
    return "atan2" in line and any(tensor.dtype in (torch.uint8, torch.bool) for tensor in used)


def _view_of_nothing(line: str, used: list[Any], others: list[Any]) -> bool:
    """NumPy does not move the address of an empty slice, so that the offset of one in its storage is not known."""
    return "view(T.int" in line and not all(tensor.numel() for tensor in used)


def _abs_into_itself(line: str, used: list[Any], others: list[Any]) -> bool:
    """torch refuses `x.abs_()`, but not `torch.abs(x, out=x)`; for mindtorch they are one."""
    return "T.abs(" in line and "out=" in line and any(tensor.is_complex() for tensor in used)


def _extreme_of_zeros(line: str, used: list[Any], others: list[Any]) -> bool:
    """Which of two zeros is the larger one depends on their place in a block of numbers."""
    return bool(_EXTREMES.search(line)) and any(map(_has_negative_zero, used))


def _has_negative_zero(tensor: Any) -> bool:
    numbers = tensor.detach()
    return numbers.is_floating_point() and bool(((numbers == 0) & numbers.signbit()).any())


def _sign_of_nan(line: str, used: list[Any], others: list[Any]) -> bool:
    """Which sign a nan has that comes from a kernel is not defined, and no tolerance of `compare` is about it."""
    return bool(_SIGNS.search(line)) and _have_nan(used)


def _own_dtype_in_another_mode(line: str, used: list[Any], others: list[Any]) -> bool:
    """For mindtorch, view(dtype) with the dtype that a tensor has is detach, which does not ask for the mode."""
    return "view(T.int32)" in line and any(tensor.dtype is torch.int32 for tensor in used)


def _logits_of_two_dtypes(line: str, used: list[Any], others: list[Any]) -> bool:
    """torch computes a part in the precision of the first."""
    return "with_logits" in line and len({tensor.dtype for tensor in used}) > 1


def _integers_in_addcdiv(line: str, used: list[Any], others: list[Any]) -> bool:
    """A formula of torch writes floating-point numbers into a tensor of theirs; and it always keeps the divisor."""
    return "addcdiv" in line and not all(is_differentiable(tensor) and tensor.requires_grad for tensor in used)


def _no_elements(line: str, used: list[Any], others: list[Any]) -> bool:
    """torch asks for sizes that it has not set (losses by class), or gives the addend as it is (addmv)."""
    return bool(_LOSSES.search(line)) and not all(tensor.numel() for tensor in used)


def _attention_to_nan(line: str, used: list[Any], others: list[Any]) -> bool:
    """Where a nan gets to depends on the blocks in which torch computes."""
    return "dot_product" in line and _have_nan(used)


def _have_nan(tensors: list[Any]) -> bool:
    return any(bool(tensor.detach().isnan().any()) for tensor in tensors if is_differentiable(tensor))


def _out_of_another_shape(line: str, used: list[Any], others: list[Any]) -> bool:
    """torch resizes the memory of `out`, which its views see; mindtorch gives it new memory."""
    return "out=t" in line and len({tensor.shape for tensor in used}) > 1


def _triangle_of_expanded(line: str, used: list[Any], others: list[Any]) -> bool:
    """torch does not refuse to write to what stands for several elements."""
    return bool(_TRIANGLE.search(line)) and any(0 in tensor.stride() for tensor in used)


def _filled_nothing(line: str, used: list[Any], others: list[Any]) -> bool:
    """Without elements, torch looks at the indices of index_fill when there is one dimension, else not."""
    return "index_fill" in line and not all(tensor.numel() for tensor in used)


def _reshaped_leaf(line: str, used: list[Any], others: list[Any]) -> bool:
    """The gradient of a leaf that takes another shape still has the old one."""
    return bool(_RESHAPES.search(line)) and any(is_leaf_variable(tensor) for tensor in used)


def _group_norm_without_gradient(line: str, used: list[Any], others: list[Any]) -> bool:
    """The gradient of the weight alone, of an input in channels-last order, ends torch's process."""
    return "group_norm" in line and any(
        tensor.ndim == 4 and not tensor.is_contiguous() and not tensor.requires_grad for tensor in used
    )


def _stack_of_another_mode(line: str, used: list[Any], others: list[Any]) -> bool:
    """Of tensors of inference mode, torch's stack is a view of what cat has made."""
    return bool(_STACKS.search(line)) and any(tensor.is_inference() for tensor in used)


def _variable_of_another_mode(line: str, used: list[Any], others: list[Any]) -> bool:
    """What torch makes of an `out=` form refuses a tensor of inference mode that requires grad, or records the call."""
    return bool(_MADE_OF_OUT.search(line)) and any(each.is_inference() and each.requires_grad for each in used)


def _clipped_nan(line: str, used: list[Any], others: list[Any]) -> bool:
    """The gradient where a number is nan is 0 or not, depending on its place in a block of numbers."""
    return bool(_CLIPS.search(line)) and _have_nan(used)


def _gelu_of_infinity(line: str, used: list[Any], others: list[Any]) -> bool:
    """It is nan where torch lets oneDNN compute."""
    return "gelu" in line and any(bool(tensor.detach().isinf().any()) for tensor in used if is_differentiable(tensor))


def _infinite_norm_of_complex(line: str, used: list[Any], others: list[Any]) -> bool:
    """Its gradient depends on which sizes equal the norm to the last bit, and `compare` evens out the last bit."""
    return bool(_INFINITE_NORM.search(line)) and any(tensor.is_complex() for tensor in used)


def _transform_of_expanded(line: str, used: list[Any], others: list[Any]) -> bool:
    """torch's tangents have the strides of the tensor, so that it cannot write to them."""
    return "T.func" in line and any(0 in tensor.stride() for tensor in used)


def _transform_of_nothing(line: str, used: list[Any], others: list[Any]) -> bool:
    """Where torch has no rule for an op it takes the first sample, also of none."""
    return bool(_MAPPED.search(line)) and not all(tensor.numel() for tensor in used)


def _hardsigmoid_of_nan(line: str, used: list[Any], others: list[Any]) -> bool:
    """For mindtorch a clipped number is made of other ops, in which nan counts as within the bounds."""
    return "hardsigmoid" in line and _have_nan(used)


def _order_of_equals(line: str, used: list[Any], others: list[Any]) -> bool:
    """Which of equal numbers topk finds depends on how it searches; the sort of more than 16 numbers is not stable."""
    if "argsort" in line:
        return any(max(tensor.shape, default=0) > 16 and _has_equals(tensor) for tensor in used)
    return "topk" in line and any(map(_has_equals, used))


def _has_equals(tensor: Any) -> bool:
    return len(np.unique(to_numpy(tensor.detach().clone()))) < tensor.numel()


def _all_into_bytes(line: str, used: list[Any], others: list[Any]) -> bool:
    """torch makes the numbers integers before it asks whether they are 0."""
    return bool(_ALL_INTO.search(line)) and any(tensor.is_floating_point() or tensor.is_complex() for tensor in used)


def _layer_of_nothing(line: str, used: list[Any], others: list[Any]) -> bool:
    """Without elements, none of the ops that mindtorch makes these layers of refuses a dtype."""
    return bool(_MADE_OF_OTHERS.search(line)) and not all(tensor.numel() for tensor in used)


def _running_extreme_of_nothing(line: str, used: list[Any], others: list[Any]) -> bool:
    """The gradient is the input itself, to which others are then added."""
    return bool(_RUNNING_EXTREMES.search(line)) and not all(tensor.numel() for tensor in used)


def _write_from_itself(line: str, used: list[Any], others: list[Any]) -> bool:
    """The order in which elements are read and written is not defined."""
    return bool(_INTO_ITSELF.match(line))


_SIGNS = re.compile(r"signbit|copysign|view\(T\.int")
_MAPPED = re.compile(r"T\.vmap|T\.func\.(jac|hess)")
_EXTREMES = re.compile(r"\b(maximum|minimum|(a|f|cum)?(max|min))\(")
_ALL_INTO = re.compile(r"T\.all\(.*out=.*(int|uint)")
_MADE_OF_OTHERS = re.compile(r"hardsigmoid|softshrink")
_RUNNING_EXTREMES = re.compile(r"cummax|cummin")
_STACKS = re.compile(r"T\.[hvd]?stack")
_CLIPS = re.compile(r"hardtanh|relu6")
_INFINITE_NORM = re.compile(r"norm\(.*T\.inf")
_LOSSES = re.compile(r"cross_entropy|nll_loss|addmv|embedding")
_TRIANGLE = re.compile(r"tri[lu]_\(")
_RESHAPES = re.compile(r"(t|squeeze|unsqueeze|transpose|swapaxes)_\(")
_INTO_ITSELF = re.compile(r".*?(t\d+)\[.*\] [-+*]?= \1$")
_ARC_OF_EQUALS = re.compile(r"\b(t\d+)\.(?:arc|a)tan2_?\(\1\)|tan2\((t\d+), \2\)")


def _arc_of_equals(line: str, used: list[Any], others: list[Any]) -> bool:
    """An eighth of a turn, whatever the numbers; torch rounds it in two ways, which a remainder would make visible."""
    return bool(_ARC_OF_EQUALS.search(line))


def _negated_complex_zero(line: str, used: list[Any], others: list[Any]) -> bool:
    """Which sign a zero gets depends on its place in a block of numbers, and decides on which side of a cut it is."""
    return bool(_NEGATED.search(line)) and any(each.is_complex() and _has_zero_part(each) for each in used)


def _has_zero_part(tensor: Any) -> bool:
    return bool((torch.view_as_real(tensor.detach().resolve_conj()) == 0).any())


_NEGATED = re.compile(r"\bneg(ative)?_?\(|(?<![\w)\]]) ?-t\d")
_FAULTS = (
    _negated_complex_zero,
    _variable_of_another_mode,
    _arc_of_equals,
    _attention_to_nan,
    _integers_in_addcdiv,
    _no_elements,
    _out_of_another_shape,
    _triangle_of_expanded,
    _logits_of_two_dtypes,
    _filled_nothing,
    _reshaped_leaf,
    _write_from_itself,
    _group_norm_without_gradient,
    _stack_of_another_mode,
    _clipped_nan,
    _gelu_of_infinity,
    _transform_of_expanded,
    _transform_of_nothing,
    _hardsigmoid_of_nan,
    _order_of_equals,
    _all_into_bytes,
    _layer_of_nothing,
    _running_extreme_of_nothing,
    _infinite_norm_of_complex,
    _extreme_of_zeros,
    _sign_of_nan,
    _own_dtype_in_another_mode,
    _sgn_of_a_variable,
    _median_of_expanded,
    _data_under_views,
    _data_of_another_mode,
    _negated_bytes,
    _view_of_nothing,
    _abs_into_itself,
)


# -------------------- values that are not defined --------------------


def mend_halfway(error: Exception | None, line: str, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """After an error in the middle of writing, make the written tensors equal."""
    if error is not None and any(part in str(error) for part in _HALFWAY):
        for name in re.findall(r"\bt\d+\b", line):
            if name in theirs:
                _equalise(ours[name], theirs[name])


def mend_value(ours: Any, theirs: Any, tensors: dict[str, Any]) -> bool:
    """Make two tensors equal if what the difference comes from is not defined; whether it was so."""
    if theirs.dtype in INTEGERS:
        undefined = any(_has_large_numbers(tensor) for tensor in tensors.values())
    else:
        undefined = theirs.is_complex() and any(_has_infinite_complex(tensor) for tensor in tensors.values())
    if undefined:
        _equalise(ours, theirs)
    return undefined


def _equalise(ours: Any, theirs: Any) -> None:
    if isinstance(ours, mindtorch.Tensor) and ours.shape == theirs.shape and ours._mt_array.flags.writeable:
        ours._mt_array[...] = to_numpy(theirs.detach().clone())


def _has_large_numbers(tensor: Any) -> bool:
    """Whether a tensor has numbers that a conversion to a small integer does not keep."""
    numbers = tensor.detach()
    return numbers.is_floating_point() and bool(numbers.numel()) and not bool(((numbers > -1) & (numbers < 127)).all())


def _has_infinite_complex(tensor: Any) -> bool:
    """Whether a tensor has complex infinities or nans: C++ compilers and NumPy compute with them differently."""
    return tensor.is_complex() and not np.isfinite(to_numpy(tensor.detach().clone())).all()


# -------------------- whole programs, in which everything that can be seen is compared --------------------

# What texts of errors say about how a library is made of nodes and ops: (pattern, what stands for it).
_OWN_WORDS = (
    (re.compile(r"which is output \d+ of \w+"), "which is an output"),  # across levels of transforms
    (re.compile(r"GeneratedBackward"), "Backward"),  # torch makes a class of its own for a transform
    (re.compile(r"call in-place operation \(aten::[\w.]+\)"), "call an in-place operation"),
    (re.compile(r"a view of a leaf Variable"), "a leaf Variable"),  # a sample may be moved to the front first
    (re.compile(r"aten::floor_divide_? "), "aten::floor_divide "),
    (re.compile(r"(is being|its base or another view of its base has been) modified inplace"), "is modified inplace"),
)
# Refusals of torch with a proof that there is no reason for them; a backward pass may meet another error first.
_REFUSED_IN_ERROR = (
    "ZeroTensors are immutable",
    "sum(): functions with out=",
    "Cannot set version_counter for inference tensor",
    "Tensor must have a last dimension with stride 1",
    "saved tensor that has been detached in-place",
    "isFloatingType(grad.scalar_type())",
    "select(): index 0 out of range for tensor of size [0] at dimension 0",
)
# Reasons to refuse a call, and reasons to refuse a backward pass: if there are two of a kind at once, either may come
# first.
_REFUSED_CALLS = (
    "attempted to call an in-place operation",
    "vmap: inplace arithmetic",
    "vmap: index_put_",
    "leaf Variable",
    "refers to a single memory location",
    "is modified inplace",
    "output with shape",
    "not implemented",
    "does not support",
    "Dimension out of range",
    "Expected all outputs to be real",
    "marked as dirty",
    "Inference tensors cannot be saved",
    "Inplace update to inference tensor",
    "with out=... arguments",
    "cannot be multiplied",  # batches of matrices or all samples' rows as one
    "size mismatch, got input",  # or a matrix and a vector
    "Expected size for first two dimensions",
)
_REFUSED_PASSES = (
    "is modified inplace",  # a view is asked for its place in the graph by a formula
    "modified by an inplace operation",
    "not implemented",
    "does not require grad",
    "returned an invalid gradient",
    "through the graph a second time",
    "has changed the size",
)


def difference_of_refusals(ours: Exception | None, theirs: Exception | None, has_views: bool) -> str | None:
    """How two errors of a whole program differ."""
    if any(part in str(theirs) for part in (*UNDEFINED, *_REFUSED_IN_ERROR, "ComplexHalf")):
        return None
    if ours is None and has_views and "a leaf Variable that requires grad is being used" in str(theirs):
        return None  # of a view whose base was written
    if ours is not None and theirs is not None and any(each.allows(str(ours), str(theirs)) for each in INSTEAD):
        return None
    if ours is None or theirs is None:
        return error_difference(ours, theirs)
    left, right = (_in_common_words(str(error).split("\n")[0]) for error in (ours, theirs))
    is_one_type = type(ours).__name__ == type(theirs).__name__
    are_refusals = isinstance(ours, RuntimeError) and isinstance(theirs, RuntimeError)
    if is_one_type and left == right:
        return None
    reasons = (_REFUSED_CALLS, _REFUSED_PASSES) if is_one_type or are_refusals else ()
    if any(_has_both(each, left, right) for each in reasons):
        return None
    return error_difference(ours, theirs)


def _has_both(reasons: Iterable[str], left: str, right: str) -> bool:
    return any(part in left for part in reasons) and any(part in right for part in reasons)


def _in_common_words(text: str) -> str:
    for pattern, word in _OWN_WORDS:
        text = pattern.sub(word, text)
    return text
