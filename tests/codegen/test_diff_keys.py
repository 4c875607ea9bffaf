"""The schema diff overlooks no key of the two files: a change of each is reported, or there is a reason why not."""

import pytest

from codegen.keys import DEPRECATED_KEYS, DERIVATIVE_KEYS, OP_KEYS, VERSION_KEYS
from tests.codegen.diff_project import EXP, EXP_DERIVATIVE, EXP_KERNEL, DiffCase, case_report

OLD_CALL = "  deprecated:\n    - {func: 'exp(Tensor self, int times) -> Tensor', since: 0.2.0, removal: 0.4.0"
OLD_CALL += ", replacement: exp(self)}\n"
OLD_VERSION = "  versions:\n    - {version: 1, func: 'exp(Tensor self, int times) -> Tensor', upgrade: exp(self)}\n"
GRADIENT = "- name: exp(Tensor self) -> Tensor\n  self: grad\n  result: self_t\n"


def of_exp(more, less=""):
    """Further lines in the entry of exp, and what they replace in the state before."""
    return ((EXP, EXP + less),), ((EXP, EXP + more),)


def of_exp_with_out(*lines):
    """The same, with the kernel that the in-place and out= forms need."""
    kernel = (EXP_KERNEL, "def exp(input, out=None): ...")
    return tuple((*edits, kernel) for edits in of_exp(*lines))


def of_gradient(more):
    return ((EXP_DERIVATIVE, GRADIENT),), ((EXP_DERIVATIVE, GRADIENT + more),)


def replaced(before, after):
    return (), ((before, after),)


def in_old_call(before, after):
    return of_exp(OLD_CALL.replace(before, after), OLD_CALL)


def in_old_version(before, after):
    return of_exp(OLD_VERSION.replace(before, after), OLD_VERSION)


# For every key the state before a change of it, and the state after.
CHANGES = {
    "func": replaced("bool wrap=False", "bool wrap=True"),
    "family": replaced(EXP, EXP.replace("pointwise", "special")),
    "variants": replaced(EXP, EXP.replace("function, method", "method")),
    "python_module": replaced("  python_module: nn\n", ""),
    "python": replaced("  python: hidden\n", ""),
    "autogen": of_exp_with_out("  autogen: inplace, out\n", "  autogen: out\n"),
    "inplace": of_exp_with_out("  autogen: out\n  inplace: exp_(Tensor(a!) self) -> Tensor(a!)\n", "  autogen: out\n"),
    "out": of_exp_with_out("  out: exp.to(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n", "  autogen: out\n"),
    "python_names": replaced("  dtypes: number_real\n", "  python_names: {dim: axis}\n  dtypes: number_real\n"),
    "numbers": replaced("  numbers: other\n", ""),
    "writes": of_exp("  writes: self\n"),
    "other_devices": replaced("  numbers: other\n", "  numbers: other\n  other_devices: other\n"),
    "operators": of_exp("  operators: __neg__\n"),
    "promotion": of_exp("  promotion: default\n"),
    "shape": of_exp("  shape: same\n"),
    "batch": of_exp("  batch: rows\n"),
    "view": replaced("  view: single\n", "  view: detach\n"),
    "shares_memory": of_exp("  shares_memory: true\n"),
    "factory": replaced("  factory: true\n", ""),
    "dispatch": replaced("dispatch: {CPU: cat}", "dispatch: {CPU: concatenate}"),
    "composite": replaced("  composite: square\n", "  composite: squared\n"),
    "decomposition": replaced("  composite: square\n", "  decomposition: mul(self, self)\n"),
    "scalar": of_exp("  scalar: self + 1\n"),
    "aclnn": replaced("aclnnMul(self, other, out)", "aclnnMuls(self, other, out)"),
    "tags": of_exp("  tags: core\n"),
    "autocast": of_exp("  autocast: fp32\n"),
    "autocast_npu": of_exp("  autocast_npu: fp32\n"),
    "dtypes": of_exp("  dtypes: float\n"),
    "divergence": of_exp("  divergence: it is shorter\n"),
    "deprecated": of_exp(OLD_CALL),
    "deprecated.func": in_old_call("int times", "int often"),
    "deprecated.since": in_old_call("0.2.0", "0.3.0"),
    "deprecated.removal": in_old_call("0.4.0", "0.5.0"),
    "deprecated.replacement": in_old_call("exp(self)", "exp(self * times)"),
    "versions": of_exp("", OLD_VERSION),
    "versions.func": in_old_version("int times", "int often"),
    "versions.upgrade": in_old_version("exp(self)", "exp(self * times)"),
    "name": replaced(EXP_DERIVATIVE, ""),
    "output_differentiability": replaced("[True, False]", "[True, True]"),
    "when": replaced("  when: keepdim\n", ""),
    "complex": of_gradient("  complex: refused\n"),
    "node": of_gradient("  node: PowerBackward0\n"),
    "a formula": replaced("  self: grad * other\n", "  self: grad + other\n"),
}
IRRELEVANT = {
    "short_cut": "whether a transform gets another tensor of a captured one that stays as it is, is no promise",
    "copies": "what the op does with nothing but tensors of inference mode that require grad is no promise",
    "doc": "the sentences are for readers",
    "samples": "the test inputs are no part of the interface",
    "versions.version": "numbers go from 1 without gaps: another number is another entry",
}


def key_names():
    nested = {"deprecated": DEPRECATED_KEYS, "versions": VERSION_KEYS}
    yield from (key.name for key in (*OP_KEYS, *DERIVATIVE_KEYS))
    yield from (f"{outer}.{key.name}" for outer, keys in nested.items() for key in keys)


def test_no_key_is_forgotten():
    assert {*CHANGES, *IRRELEVANT} == {*key_names(), "a formula"}
    assert not CHANGES.keys() & IRRELEVANT.keys()


@pytest.mark.parametrize("key", CHANGES)
def test_a_change_of_a_key_is_reported(key, tmp_path):
    before, after = CHANGES[key]
    report = case_report(DiffCase("", "", "", edits=after, old_edits=before), tmp_path)
    assert (
        report.changes
    ), f"codegen/diff/ does not look at `{key}`: report a change of it, or say in IRRELEVANT why not"


def test_samples_are_not_reported(tmp_path):
    before, after = of_exp("  samples: unary\n")
    assert not case_report(DiffCase("", "", "", edits=after, old_edits=before), tmp_path).changes
