"""The keys of ops.yaml and derivatives.yaml: the one table that the loader, the JSON Schemas and the docs share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Form = Literal[
    "schema",
    "word",
    "words",
    "names",
    "flag",
    "backends",
    "renames",
    "text",
    "expression",
    "booleans",
    "release",
    "number",
    "entries",
    "rule",
    "day",
]

# Those of the layers of networks: inputs are batches of samples, and many results long sums of products.
LAYERS = tuple(
    "conv pooling normalization padding resampling recurrent embedding attention dropout quantization".split()
)
# Those of ops on single elements; the first one has the functions of one number.
POINTWISE = ("pointwise", "arithmetic", "comparison", "bitwise", "activation")
FAMILIES = (
    *POINTWISE, *"reduction view indexing linalg".split(), *LAYERS,
    *"optim loss random factory fft special sparse foreach".split(),
)  # fmt: skip
# Those that mindtorch's ops were in before: other packages, and earlier revisions, have them.
FORMER_FAMILIES = ("nn",)
ALL_FAMILIES = (*FAMILIES, *FORMER_FAMILIES)
BACKENDS = ("CPU", "NPU", "Meta", "SparseCPU", "SparseCsrCPU")
DTYPES = tuple(
    "all no_bool real number_real float float_complex wide_float wide_float_complex complex integral"
    " number_integral".split()
)
TAGS = tuple(
    "core pointwise reduction nondeterministic_seeded nondeterministic_bitwise dynamic_output_shape"
    " data_dependent_output inplace_view view_copy generated maybe_aliasing_or_mutating".split()
)
AUTOCAST = ("lower_precision_fp", "fp32", "promote")
AUTOCAST_NPU = (*AUTOCAST, "fp32_set_opt_dtype", "fp32_append_dtype", "refused")
_BINARY = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
INPLACE_OPERATORS = tuple(f"__i{name}__" for name in _BINARY if name != "matmul")  # which has no in-place variant
UNARY_OPERATORS = tuple(f"__{name}__" for name in "neg pos abs invert".split())
BINARY_OPERATORS = (
    *(f"__{name}__" for name in "eq ne lt le gt ge".split()),
    *(f"__{name}__" for name in _BINARY),
    *(f"__r{name}__" for name in _BINARY),
    *INPLACE_OPERATORS,
)
OPERATORS = UNARY_OPERATORS + BINARY_OPERATORS


@dataclass(frozen=True, slots=True)
class Key:
    """One key: its name, the form of its value, the words that the value may have, and what it is for.

    ``keys`` are those of the mappings in a list of entries.
    """

    name: str
    form: Form
    description: str
    values: tuple[str, ...] = ()
    required: bool = False
    keys: tuple[Key, ...] = ()


FORMS: dict[Form, str] = {
    "schema": "a schema string",
    "word": "one word",
    "words": "words separated by commas",
    "names": "argument names separated by commas",
    "flag": "true",
    "backends": "a mapping of backends to function names, {CPU: add}",
    "renames": "a mapping of arguments to names, {src: other}",
    "text": "a text",
    "expression": "a Python expression",
    "booleans": "a list of True and False",
    "release": "a version such as 0.2.0",
    "number": "a whole number from 1",
    "entries": "a list of mappings",
    "rule": "the code of a rule",
    "day": "a day, YYYY-MM-DD",
}

# What `since` says of a call that PyTorch itself has deprecated.
TORCH = "torch"

DEPRECATED_KEYS = (
    Key("func", "schema", "the schema of the old call", required=True),
    Key("since", "release", "the version that deprecated the call, or torch where PyTorch did", (TORCH,), True),
    Key("removal", "release", "the version that no longer takes the call"),
    Key("replacement", "expression", "the new call, an expression over the old arguments", required=True),
)
VERSION_KEYS = (
    Key("version", "number", "the number of the old version; the first one is 1", required=True),
    Key("func", "schema", "the op's schema in that version", required=True),
    Key("upgrade", "expression", "the call of the next version, an expression over the old arguments", required=True),
)

OP_KEYS = (
    Key("func", "schema", "PyTorch's schema string of the functional form, or of the only form", required=True),
    Key("family", "word", "the group of ops, which names the files that the op lives in", ALL_FAMILIES, required=True),
    Key("doc", "text", "what the op computes, in sentences that help() and the reference show"),
    Key("variants", "words", "function, method, or both (default: function)", ("function", "method")),
    Key(
        "python_module", "word", "the only module in which the op appears", ("nn", "linalg", "fft", "special", "sparse")
    ),
    Key(
        "python",
        "word",
        "hidden when the op has no Python signature of its own, absent when it has none in PyTorch either",
        ("hidden", "absent"),
    ),
    Key(
        "autogen",
        "words",
        "the variants whose schemas follow PyTorch's rule; copied_out: an out= variant that only torch.ops has",
        ("inplace", "out", "copied_out"),
    ),
    Key("inplace", "schema", "the in-place schema, where it does not follow the rule"),
    Key("out", "schema", "the out= schema, where it does not follow the rule"),
    Key("python_names", "renames", "the Python names of arguments that PyTorch does not call as its schema does"),
    Key("numbers", "names", "the tensor arguments that also take a Python number"),
    Key("writes", "names", "the tensor arguments that the kernel changes and the schema does not mark"),
    Key(
        "other_devices",
        "names",
        "the tensor arguments that may be on the CPU while others are not; all: anywhere",
    ),
    Key("operators", "words", "the Python operators that call this op", OPERATORS),
    Key("promotion", "word", "the rule that gives the result's dtype"),
    Key("shape", "word", "the rule that gives the result's shape, or none; with promotion it makes the meta kernel"),
    Key("batch", "word", "the rule for tensors inside vmap, where that of the shape is not right"),
    Key("view", "word", "what kind of view the op makes", ("single", "multi", "detach")),
    Key("shares_memory", "flag", "true for a result that may have its input's memory and is no view to autograd"),
    Key("factory", "flag", "true for an op that makes a tensor from nothing and takes requires_grad"),
    Key("short_cut", "flag", "true where Python gives a tensor that is as asked for before anything sees the call"),
    Key("copies", "flag", "true for a copy of its input, which is recorded for tensors of inference mode alone, too"),
    Key("dispatch", "backends", "the kernel of each backend", BACKENDS),
    Key("composite", "word", "the function, written in other ops, that is the op, instead of dispatch"),
    Key(
        "decomposition",
        "expression",
        "the op in other ops, an expression over its arguments, instead of a composite function",
    ),
    Key("scalar", "expression", "what the op computes for one element, for compiled loops of the CPU"),
    Key("aclnn", "text", "the ACLNN call that the NPU kernel is, or is made of"),
    Key("tags", "words", "PyTorch's tags", TAGS),
    Key("autocast", "word", "the dtype in which autocast gives the op its tensors", AUTOCAST),
    Key("autocast_npu", "word", "the same on an NPU", AUTOCAST_NPU),
    Key("dtypes", "word", "the dtypes that the op computes on (default: all)", DTYPES),
    Key("samples", "word", "the generator of test inputs in tests/samples.py, or none"),
    Key("divergence", "text", "why the schema is not PyTorch's"),
    Key("deprecated", "entries", "old calls that still work, with a warning", keys=DEPRECATED_KEYS),
    Key("versions", "entries", "what the op was before, so that saved programs keep working", keys=VERSION_KEYS),
)

# What says that an op belongs to Tensor, or where in mindtorch it is: the ops of another package are its functions. And
# what mindtorch compiles loops of, for kernels of its own.
LIBRARY_KEYS = ("python_module", "operators", "variants", "scalar")

DERIVATIVE_KEYS = (
    Key("name", "schema", "the schema string of the op in ops.yaml", required=True),
    Key("output_differentiability", "booleans", "which outputs have a gradient (default: all)"),
    Key("when", "expression", "the condition under which a graph is recorded"),
    Key("complex", "word", "refused when complex tensors have no gradient, as in PyTorch", ("refused",)),
    Key("node", "word", "the node's class name, where it is not <Op>Backward<n>"),
)
FORMULA_KEYS = "a tensor argument, several of them separated by commas, or an output"
