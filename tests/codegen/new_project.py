"""The small project that ops are added to, and what is planned for it; for the tests of ``python -m codegen new``."""

from codegen.new.draft import Request
from codegen.new.plan import make_plan
from codegen.new.torch_facts import TorchFacts, TorchFunction
from tests.codegen.project import write_project

OPS = """
# The ops.

# -------------------- pointwise --------------------

- func: atan2(Tensor self, Tensor other) -> Tensor   # of two tensors
  family: pointwise
  variants: function, method
  autogen: inplace, out
  promotion: int_to_float
  shape: broadcast
  dispatch: {CPU: atan2, NPU: atan2}
  tags: pointwise
  dtypes: real
  samples: binary

- func: exp(Tensor self) -> Tensor
  family: pointwise
  variants: function, method
  autogen: inplace, out
  promotion: int_to_float
  shape: broadcast
  dispatch: {CPU: exp}
  samples: unary

# -------------------- reduction --------------------

- func: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
  family: reduction
  variants: function, method
  promotion: first_index
  shape: reduce
  dispatch: {CPU: max_dim}
  tags: reduction
  samples: reduce_dim

# -------------------- view --------------------

- func: select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)
  family: view
  variants: function, method
  shape: view
  view: single
  dispatch: {CPU: select}
  samples: select
# the end
"""
DERIVATIVES = """
# -------------------- pointwise --------------------

- name: atan2(Tensor self, Tensor other) -> Tensor
  self: grad * other
  other: grad * self

# -------------------- reduction --------------------

- name: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
  self: multiply(grad, indices)
  output_differentiability: [True, False]
"""
SAMPLES = """
from tests.samples import samples


@samples
def binary(make):
    yield make


unary = reduce_dim = select = binary
"""
RULES = "".join(f"def {name}(): ...\n" for name in ("broadcast", "reduce", "view"))
PROMOTION = 'RULES = {"int_to_float": 1, "first_index": 2}\n'


def write_small_project(root):
    return write_project(
        root,
        OPS,
        DERIVATIVES,
        tests__samples=SAMPLES,
        mindtorch__backends__meta__rules=RULES,
        mindtorch___core__promotion=PROMOTION,
    )


def facts_of(*functions, derivatives=None):
    """PyTorch, as far as a test needs it: functions by base name."""
    grouped = {}
    for function in functions:
        grouped.setdefault(function.base, []).append(function)
    return TorchFacts({base: tuple(found) for base, found in grouped.items()}, derivatives or {})


def function(schema, variants="function", module=None, tags=(), composite=False):
    return TorchFunction(schema, tuple(variants.split()), module, tuple(tags), composite)


def plan(root, text, facts=None, **options):
    return make_plan(root, Request(text, **options), facts)


def entry(found, file="ops.yaml"):
    """The lines that a plan adds to a file."""
    before, after = (found.files.on_disk(file) or "").splitlines(), (found.files.read(file) or "").splitlines()
    start = next((i for i, pair in enumerate(zip([*before, None], after)) if pair[0] != pair[1]), len(after))
    return after[start : start + len(after) - len(before)]


HYPOT = (
    function("hypot(Tensor self, Tensor other) -> Tensor", "method function", tags=("core", "pointwise", "unheard_of")),
    function("hypot_(Tensor(a!) self, Tensor other) -> Tensor(a!)", "method"),
    function("hypot.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)"),
)
