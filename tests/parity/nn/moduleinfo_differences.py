"""The programs of `moduleinfo` in which a module is known to differ: samples are a module's inputs, those for training
before those for evaluation.

"<program> strides" is the order of the results in memory, where all else agrees.
"""

from tests.parity.nn.moduleinfo import PROGRAMS
from tests.parity.support.known import FREE, OURS, TORCH, Cause, Known, Table

# -------------------- torch is wrong --------------------

CHUNKED = Cause(
    TORCH,
    "torch computes it in a Function whose gradient is cut off. Of the same loss as `cross_entropy(linear(...))`, "
    "up to 2588 in sample 168, torch's second gradients are off by 2288, mindtorch's by 5e-13.",
)
GRADIENT_REFUSED = Cause(
    TORCH,
    "torch takes images in channels-last order but for the backward pass, which wants contiguous memory; mindtorch has "
    "the gradient.",
)

# -------------------- either is right --------------------

TURNED_CONVOLUTION = Cause(
    FREE,
    "second gradients: torch computes them as a turned convolution, of which it narrows a transposed view.",
)
ORDER_OF_TERMS = Cause(
    FREE,
    "which of the terms of a second gradient comes first decides its order in memory.",
)
PART_OF_JOINED = Cause(
    FREE,
    "the gradients of bias_k and bias_v are parts of the gradient of what they were joined to: views in torch, new "
    "tensors here.",
)
ORDER_OF_CHECKS = Cause(
    FREE,
    "two refusals: torch looks at the dtype that it would sum in before its kernels refuse complex numbers.",
)

# -------------------- mindtorch is wrong, or lacks something --------------------

NAME_OF_FUNCTION = Cause(
    OURS,
    "the text about parameters without numbers names the function as Python shows it, where torch has a method "
    "in C++: `<method 'detach' of 'torch._C.TensorBase' objects>`.",
    takes="methods that show themselves as torch's",
)
CHANNELS_LAST = Cause(
    OURS,
    "the gradient of an input in channels-last order is contiguous; torch's is in the order of the input.",
    takes="a kernel of group_norm's gradient that keeps the order",
)
LINEAR_FIRST = Cause(
    OURS,
    "the gradient of a weight with gaps lies in memory as that of a linear layer, by columns; torch's is contiguous.",
    takes="the loss as a node of its own",
)

# -------------------- the table --------------------

# Those whose options have torch compute the loss in parts.
_IN_PARTS = (
    "168 170 176 178 184-185 188-189 200-201 204-205 216-217 220-221 232 234 240-242 246-248 264-266 270-272 "
    "288-290 294-296 312 314 320 322 328-329 332-333 344-345 348-349 360-361 364-365 376 378 384-386 390-392 "
    "408-410 414-416 432-434 438-440 456 458 464 466 472-473 476-477 488-489 492-493 504-505 508-509 520 522 "
    "528-530 534-536 552-554 558-560 576-578 582-584 600 602 608 610 616-617 620-621 632-633 636-637 648-649 "
    "652-653 664 666 672-674 678-680 696-698 702-704 720-722 726-728 804-805 808-809 812-813 816-817 820-821 "
    "824-825 828-831 836-839 844-847 853 856"
)
_JOINED = "0-15 32-47 64-79 96-111"  # those with add_bias_kv
_CONVOLUTIONS = [
    Known(f"{lazy}Conv{kind}{dims}d", "second gradients strides", TURNED_CONVOLUTION)
    for lazy in ("", "Lazy")
    for kind in ("", "Transpose")
    for dims in (1, 2, 3)
]
_LAZY = [
    Known(f"LazyConv{kind}{dims}d", "contents", NAME_OF_FUNCTION) for kind in ("", "Transpose") for dims in (1, 2, 3)
]
TABLE = Table(
    *_CONVOLUTIONS,
    *_LAZY,
    Known("Bilinear", "second gradients strides", ORDER_OF_TERMS),
    Known("GroupNorm", "channels last strides, channels last in both strides", CHANNELS_LAST, samples="6-9"),
    Known("LinearCrossEntropyLoss", "second gradients", CHUNKED, samples=_IN_PARTS),
    Known("LinearCrossEntropyLoss", "changed to complex64", ORDER_OF_CHECKS, samples=_IN_PARTS),
    Known("LinearCrossEntropyLoss", "with gaps in both strides", LINEAR_FIRST, samples=_IN_PARTS),
    *[
        Known("MultiheadAttention", f"{program} strides", PART_OF_JOINED, samples=_JOINED)
        for program in PROGRAMS
        if program not in ("contents", "elsewhere", "made in complex64", "changed to complex64")
    ],
    Known("NLLLoss", "channels last", GRADIENT_REFUSED, samples="1 5 9 13 17 21 25"),
    Known("NLLLoss", "channels last in both", GRADIENT_REFUSED, samples="1 5 9 13 17 21 25"),
)
