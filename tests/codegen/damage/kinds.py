"""Damage that a person does who writes an entry: the mistakes that were found to give tracebacks, or to be accepted.

``damaged(number)`` gives the two texts with one or several of them, or of ``tests.codegen.yaml_damage``, by the number.
"""

import random
import re
from collections.abc import Callable

from tests.codegen.damage.project import DERIVATIVES, OPS
from tests.codegen.yaml_damage import DAMAGE, change_line, change_value

# What is no gradient, though it is Python.
NONSENSE = (
    *("1(grad)", "{{'a': grad}}", "{{grad}}", "not grad", "grad == grad", "None.shape", "mul_backward", "grad.sum"),
    *("grad is None", "grad in grad", "'a' + grad", "grad + None", "[grad]", "grad and {f}", "grad < 1", "{f}.shape"),
    *("{f}.dtype", "len(grad)", "isinstance(grad, float)", "True", "(1)(grad)", "'abc'.join(grad)", "[](grad)"),
    *("grad.size(0)", "bool(grad)", "int", "lambda: {f}", "range(3)", "grad()", "{f}(grad)", "grad.shape()"),
    *("grad.mul_({f})", "grad.backward()", "grad.zero_()", "{f}.requires_grad_()", "grad.detach_()", "grad.add_(1)"),
    *("mul_(grad, 2)", "grad.copy_({f})", "{f}[::0]", "{f}[0:1:0]", "grad[:, ::0]", "{f} #", "{f} # a note", "f({f}),"),
    *("{f},", "grad, {f}", "{f} * out", "{f} * output", "{f} * 1" + "0" * 5000, "{f} * 1e99999", "{f} ** 9 ** 9 ** 9"),
    *("{f} * x", "{f} * selfs", "{f}.summ()", "{f}.sum(dims=0)", "where(grad)", "{f} @ None", "{f} * 'a'", "-'a'"),
    *("grad[0, 'a']", "grad['a']", "grad[None:None:None]", "grad[1.5]", "grad / 0", "1 / 0", "{f} * (1, 2)"),
    *("grad if 1 else None", "None", "None if grad else {f}", "(grad := 1)", "*grad", "**grad", "grad; {f}", "grad)"),
    *(
        "input * grad",
        "{f} * input_t",
        "grad_output",
        "grad.T",
        "grad.grad",
        "grad.data",
        "grad.grad_fn",
        "{f}.numpy()",
    ),
    *("{f}.item()", "{f}.tolist()", "grad.__class__", "print(grad)", "open('a')", "grad.sum", "{f} * ...", "... "),
    *("-{f}", "2 * {f}", "{f} + 1", "{f} * 0", "grad", "zeros_like(grad)", "non_differentiable", "not_implemented"),
    *("auto_linear", "auto_element_wise", "self_t", "{f} * self_t", "({f})", "((({f})))", "{f}   ", "self * {f}"),
    "{f} * " + "(" * 90 + "1" + ")" * 90,
)
VALUES = (
    *("!!int 3", "!!str x", "!!float {v}", "!!bool {v}", "!!null", "!!binary {v}", "!!set {{a}}", "!x {v}", "! {v}"),
    *(
        "9" * 400,
        "-1",
        "1e400",
        "0x7fffffffffffffffffff",
        "{v}, {v}",
        "[{v}]",
        "{{a: {v}}}",
        "{v} {v}",
        "{v}, ",
        ", {v}",
    ),
    *("true", "no", "null", "~", "", '"{v}"', "'{v}'", "{v}x", "x{v}", "{v}_", "2026-01-01", "wehre", "none", "all"),
)
# Words that a key may have, though not with any schema.
WORDS = {
    "promotion": "default int_to_float first first_index complex_to_real sum where bool_result mask index none",
    "shape": "broadcast reduce same view cat like copy matmul conv select scalar none expand masked_fill stack",
    "dtypes": "all no_bool real float float_complex wide_float wide_float_complex complex integral number_real",
    "samples": "unary binary binary_with_number thresholds choices reductions reductions_of_one places lists none",
    "dispatch": "{CPU: sigmoid} {CPU: atan} {CPU:} {CPU: atan2} {NPU: sigmoid} {} {CUDA: sigmoid} {CPU: sigmiod}",
    "tags": "core pointwise reduction view_copy generated data_dependent_output inplace_view",
    "autogen": "inplace out inplace,out copied_out out,copied_out inplace,copied_out",
    "family": "pointwise reduction view unary linalg",
    "view": "single multi detach",
    "aclnn": "aclnnFoo(self,out) aclnnSigmoid(self) aclnnSigmoid(out,self) aclnnSigmoid aclnnSigmoid()"
    " sigmoid(self,out) aclnnAtan2(self,other,out) aclnnAtan2(self,out,other) aclnnAdd(self,other,1,out)"
    " aclnnSigmoid(self,out)(x) aclnnSigmoid(self,9**9**9)"
    " aclnnSigmoid((self,out)) aclnnSigmoid(self,*out) aclnnSigmoidd(self,out) ;;",
    "complex": "refused allowed true",
    "output_differentiability": "[True] [True,False] [False,True] [False] [] True [1,0] [False,False]",
    "autocast": "fp32 promote lower_precision_fp fp16",
}
_TOKEN = re.compile(r"\w+|[^\w\s]|\s+")
_TYPES = ("Tensor", "Tensor?", "Tensor[]", "int", "int[]", "float", "Scalar", "bool", "str", "ScalarType", "Generator")
_TYPES += ("Tensor(a!)", "int[1]", "SymInt", "Device", "Storage", "Tensr", "tensor", "double")

Texts = tuple[str, str]
HUMAN: list[Callable[[Texts, random.Random], Texts]] = []


def human(function):
    HUMAN.append(function)
    return function


def _in_ops(change):
    return lambda texts, rng: (change(texts[0], rng), texts[1])


def _in_derivatives(change):
    return lambda texts, rng: (texts[0], change(texts[1], rng))


def _in_either(change):
    both = [_in_ops(change), _in_derivatives(change)]
    return lambda texts, rng: rng.choice(both)(texts, rng)


def _formula_changed(text, rng, change):
    """A formula of an entry, changed."""
    keys = r"^  (?!output_diff|complex|node|when)(\w[\w, ]*): (.*)$"
    places = list(re.finditer(keys, text, re.MULTILINE))
    if not places:
        return text
    place = rng.choice(places)
    return text[: place.start(2)] + change(place[2]) + text[place.end(2) :]


@human
@_in_derivatives
def nonsense(text, rng):
    new = rng.choice(NONSENSE)
    return _formula_changed(text, rng, lambda old: _quoted(new.format(f=_plain(old)), rng))


@human
@_in_derivatives
def token_lost(text, rng):
    return _formula_changed(text, rng, lambda old: _tokens_changed(old, rng, lambda tokens, i: tokens[i : i + 1] * 0))


@human
@_in_derivatives
def token_doubled(text, rng):
    return _formula_changed(text, rng, lambda old: _tokens_changed(old, rng, lambda tokens, i: tokens[i : i + 1] * 2))


@human
@_in_derivatives
def tokens_swapped(text, rng):
    return _formula_changed(
        text, rng, lambda old: _tokens_changed(old, rng, lambda tokens, i: [rng.choice(tokens), tokens[i]])
    )


@human
@_in_derivatives
def name_swapped(text, rng):
    names = sorted(set(re.findall(r"[A-Za-z_]\w+", text)))
    return _formula_changed(
        text, rng, lambda old: _tokens_changed(old, rng, lambda tokens, i: [_other_name(tokens[i], names, rng)])
    )


@human
@_in_ops
def another_rule(text, rng):
    key = rng.choice(sorted(WORDS))
    words = WORDS[key].split(") ") if key == "aclnn" else re.split(r"(?<!:) ", WORDS[key])
    return _value_of(text, key, rng, lambda old: rng.choice(words))


@human
@_in_either
def another_value(text, rng):
    new = rng.choice(VALUES)
    return change_value(text, rng, lambda old: new.format(v=old))


@human
@_in_either
def another_type(text, rng):
    """In one schema."""
    new = rng.choice(_TYPES)
    return _schema_changed(text, rng, lambda old: re.sub(r"Tensor\??|int(\[1\])?|Scalar|bool", new, old, count=1))


@human
def another_type_in_both(texts, rng):
    found = re.findall(r"\(([^*()]+?)\) ->", texts[0])
    old, new = rng.sample(found, 2) if len(found) > 1 else ("", "")
    return (texts[0].replace(old, new), texts[1].replace(old, new)) if old else texts


@human
def argument_renamed_in_one(texts, rng):
    """In the schema, while the formulas keep the name, or nowhere else."""
    old = rng.choice(("other", "weight", "end", "dim", "keepdim", "self", "threshold", "condition", "index"))
    new = rng.choice((f"{old}s", "x", "input", "out", "result", "grad", "class", "A", old.upper()))
    changed = [re.sub(rf"(?m)^(- \w+: .*?)\b{old}\b", rf"\g<1>{new}", text) for text in texts]
    return (changed[0], rng.choice((changed[1], texts[1])))


@human
@_in_either
def character_doubled(text, rng):
    place = rng.randrange(len(text))
    return text[: place + 1] + text[place:]


@human
@_in_either
def character_dropped(text, rng):
    place = rng.randrange(len(text))
    return text[:place] + text[place + 1 :]


@human
@_in_either
def trailing_mark(text, rng):
    mark = rng.choice((" #", " # note", ",", ":", ";", " ;", " \\", " &", ' "', " ]", "#", " %", "\t", "."))
    return change_line(text, rng, lambda line: [line + mark])


@human
@_in_either
def long_line(text, rng):
    filling = rng.choice(("x", " * self", ", self", "(", "é", "9", " and y"))
    return change_line(text, rng, lambda line: [line + filling * (140_000 // len(filling))])


def _plain(formula):
    return formula[1:-1] if formula.startswith('"') else formula


def _quoted(formula, rng):
    """A formula as a person writes it who knows YAML; now and then as one who does not."""
    unsafe = re.match(r"[-\[{*&!|>%@'\"?]|^$", formula) or re.search(r": | #|:$", formula)
    return '"' + formula.replace('"', "'") + '"' if unsafe and rng.random() < 0.8 else formula


def _tokens_changed(formula, rng, change):
    tokens = _TOKEN.findall(formula) or [""]
    i = rng.randrange(len(tokens))
    return "".join([*tokens[:i], *change(tokens, i), *tokens[i + 1 :]])


def _other_name(token, names, rng):
    return rng.choice(names) if token.isidentifier() else token


def _value_of(text, key, rng, change):
    places = list(re.finditer(rf"^  {key}: (.*)$", text, re.MULTILINE))
    if not places:
        return change_line(
            text, rng, lambda line: [line, f"  {key}: {change('')}"] if line.startswith("  ") else [line]
        )
    place = rng.choice(places)
    return text[: place.start(1)] + change(place[1]) + text[place.end(1) :]


def _schema_changed(text, rng, change):
    places = list(re.finditer(r"^- (?:func|name): (.*)$", text, re.MULTILINE))
    if not places:
        return text
    place = rng.choice(places)
    return text[: place.start(1)] + change(place[1]) + text[place.end(1) :]


def damaged(number: int) -> Texts:
    """The texts of ops.yaml and derivatives.yaml with some damage: always the same ones for a number."""
    rng = random.Random(f"damage {number}")
    texts = (OPS, DERIVATIVES)
    anywhere = [_in_either(each) for each in DAMAGE]
    for _ in range(rng.choice((1, 1, 1, 1, 2))):
        if not all(texts):  # nothing is left to be damaged
            break
        texts = rng.choice(HUMAN if rng.random() < 0.75 else anywhere)(texts, rng)
    return texts
