"""Ways to damage a YAML file, for the fuzz test. Each takes the text and a random generator, and gives another text."""

import random
import re
from collections.abc import Callable

DAMAGE: list[Callable[[str, random.Random], str]] = []

WORDS = (
    *("", "~", "null", "no", "true", "0", "-1", "3.5", "1e400", "0x10", "1_000", "2026-01-01", ".inf"),
    *("[]", "{}", "[a, b]", "{a: b}", "[[[]]]", "- x", "? x", "|", ">", "|2", "''", '""', '"\\x41"', "'it''s'"),
    *("&anchor x", "*anchor", "*missing", "!!int 3", "!!python/object:os.system x", "!tag x", "<<", "%YAML 1.2", "@x"),
    *("function", "method", "pointwise", "inplace, out", "out, out", ", ,", "lambda", "None", "é", "名前", "\u0430dd"),
)
CHARACTERS = (
    "\0\x07\x1b\x7f\x85\xa0\u200b\u2028\u2029\ufeff\uffff\U0001f600\t\r\\'\"`:#-,.()[]{}<>|*&!%@?=~é\u0301\u202e"
)
SCHEMAS = (
    *("f() -> ()", "f(Tensor self) -> Tensor", "f_(Tensor(a!) self) -> Tensor(a!)", "f.(Tensor self) -> Tensor"),
    *("f(Tensor self) ->", "f(Tensor self, *) -> Tensor", "f(Tensor self, int[99999999999999999999] n) -> Tensor"),
    *("f(Tensor? self=None, Tensor(a -> *)[] b, *, str s='x') -> (Tensor a, int[]? b)", "f(int x=[1,2) -> Tensor"),
    *("f(Tensor class, int lambda=1) -> Tensor", "f(float x=1e999, bool b=maybe) -> Tensor", "(((", "f" * 3000),
    *("f(Tensor self, Tensor self) -> Tensor", "f(Tensor" + "?" * 500 + " x) -> Tensor", "f(…) -> Tensor"),
)
FORMULAS = (
    *(
        "grad",
        "grads[0]",
        "grads[7]",
        "grads[-1]",
        "grads[i]",
        "result",
        "self",
        "self.shape[",
        "lambda: grad",
        "x := grad",
    ),
    *("grad if self else (yield)", "await grad", "f'{grad}'", "[g for g in grads]", "{**grad}", "*grad", "grad; self"),
    *("grad, other", "()", "self.no_such", "self.size()", "self.size(0)(1)", "needs_input_grad.x", "needs_input_grad"),
    *("not_implemented", "auto_linear", "auto_element_wise", "non_differentiable", "self_t", "self_t * other_p"),
    *("torch.add(grad)", "__import__('os')", "print(grad)", "exec('1')", "grad\n+ grad", "'text'", "b''", "...", "1_0"),
    *(
        "-" * 300 + "grad",
        "(" * 200,
        "grad" + ".t()" * 300,
        "9" * 5000,
        "0777",
        "grad # comment",
        "\u00e9\u0301 * grad",
    ),
    *(
        "lambda x=grad, *y, z: x",
        "{k: v for k in grad for v in self if k}",
        "self[0:1, ..., None]",
        "not grad",
        "a.b.c.d",
    ),
)


def damage(function):
    DAMAGE.append(function)
    return function


def lines_of(text):
    return text.split("\n")


def change_line(text, rng, change):
    """One line that is not empty, changed; ``change`` gives the lines that replace it."""
    lines = lines_of(text)
    numbers = [i for i, line in enumerate(lines) if line.strip()]
    if not numbers:
        return text
    i = rng.choice(numbers)
    return "\n".join([*lines[:i], *change(lines[i]), *lines[i + 1 :]])


def entries_of(text):
    """The text cut before every entry."""
    return re.split(r"^(?=- )", text, flags=re.MULTILINE)


# ---- characters ----


@damage
def typo(text, rng):
    place = rng.randrange(len(text) + 1)
    return text[:place] + rng.choice("abcxyzAB_0189 .,:") + text[place + rng.randrange(3) :]


@damage
def strange_character(text, rng):
    place = rng.randrange(len(text) + 1)
    return text[:place] + rng.choice(CHARACTERS) * rng.choice((1, 1, 1, 40)) + text[place:]


@damage
def letters_swapped(text, rng):
    place = rng.randrange(max(len(text) - 1, 1))
    return text[:place] + text[place : place + 2][::-1] + text[place + 2 :]


@damage
def truncated(text, rng):
    return text[: rng.randrange(len(text) + 1)]


@damage
def beginning_lost(text, rng):
    return text[rng.randrange(len(text) + 1) :]


@damage
def other_line_ends(text, rng):
    return text.replace("\n", rng.choice(("\r\n", "\r", "\x85", "\u2028", "\n\n")))


# ---- lines ----


@damage
def line_deleted(text, rng):
    return change_line(text, rng, lambda line: [])


@damage
def line_doubled(text, rng):
    return change_line(text, rng, lambda line: [line, line])


@damage
def line_indented(text, rng):
    return change_line(text, rng, lambda line: [rng.choice((" ", "  ", "    ", "\t", "- ")) + line])


@damage
def line_dedented(text, rng):
    return change_line(text, rng, lambda line: [line[rng.randrange(1, 4) :]])


@damage
def line_commented_out(text, rng):
    return change_line(text, rng, lambda line: [f"# {line}"])


@damage
def line_broken_in_two(text, rng):
    return change_line(text, rng, lambda line: [line[: len(line) // 2], line[len(line) // 2 :]])


@damage
def lines_swapped(text, rng):
    lines = lines_of(text)
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines)


@damage
def stray_line(text, rng):
    stray = ("---", "...", "%TAG ! x", "<<: *a", "key: value", "- key: value", "text", "? a", "}", '"', "x: &a [*a]")
    return change_line(text, rng, lambda line: [line, rng.choice(stray)])


# ---- keys and values ----


def change_value(text, rng, change):
    """The value of one key."""

    def changed(line):
        key, colon, value = line.partition(": ")
        return [f"{key}{colon}{change(value)}"] if colon else [line]

    return change_line(text, rng, changed)


@damage
def another_word(text, rng):
    return change_value(text, rng, lambda value: rng.choice(WORDS))


@damage
def value_from_elsewhere(text, rng):
    values = re.findall(r": (.+)$", text, re.MULTILINE) or [""]
    return change_value(text, rng, lambda value: rng.choice(values))


@damage
def quoted_value(text, rng):
    return change_value(
        text, rng, lambda value: rng.choice(('"{}"', "'{}'", "[{}]", "{{{}}}", "|\n    {}")).format(value)
    )


@damage
def anchored_value(text, rng):
    return change_value(
        text, rng, lambda value: rng.choice(("&a ", "!!str ", "!!binary ", "!<x> ", "*", "<<: ")) + value
    )


@damage
def huge_value(text, rng):
    return change_value(text, rng, lambda value: value + rng.choice(("x", " ", "9", "(", ", a", "é")) * 20_000)


@damage
def deep_value(text, rng):
    return change_value(text, rng, lambda value: rng.choice("[{") * rng.choice((3, 12, 2000)))


@damage
def key_misspelt(text, rng):
    return change_line(text, rng, lambda line: [line.replace(":", rng.choice((" :", "s:", "", "::", ":x")), 1)])


@damage
def another_key(text, rng):
    keys = re.findall(r"^[- ] (\w+):", text, re.MULTILINE) or ["x"]
    return change_line(text, rng, lambda line: [re.sub(r"^([- ] )\w+:", rf"\g<1>{rng.choice(keys)}:", line)])


# ---- schemas and formulas ----


@damage
def another_schema(text, rng):
    new = rng.choice(SCHEMAS)
    return change_line(
        text, rng, lambda line: [re.sub(r"(func|name|out|inplace): .*", lambda m: f"{m[1]}: {new}", line)]
    )


@damage
def swapped_types(text, rng):
    types = ("Tensor", "int", "SymInt", "Scalar", "bool", "Tensor[]", "Tensor?", "int[]", "str", "Tensor(a!)", "float?")
    old, new = rng.sample(types, 2)
    return change_line(text, rng, lambda line: [line.replace(old, new, rng.choice((1, -1)))])


@damage
def argument_renamed(text, rng):
    names = re.findall(r"\b(self|other|dim|input|alpha|result|grad|values|indices)\b", text) or ["self"]
    old, new = rng.choice(names), rng.choice((*names, "x", "lambda", "gr\u00e4d"))
    return change_line(text, rng, lambda line: [re.sub(rf"\b{old}\b", new, line)])


@damage
def another_formula(text, rng):
    new = rng.choice(FORMULAS)
    return change_line(text, rng, lambda line: [re.sub(r"^(  \w[\w, ]*): .*", lambda m: f"{m[1]}: {new}", line)])


# ---- entries ----


@damage
def entry_deleted(text, rng):
    entries = entries_of(text)
    del entries[rng.randrange(len(entries))]
    return "".join(entries)


@damage
def entry_doubled(text, rng):
    entries = entries_of(text)
    i = rng.randrange(len(entries))
    return "".join([*entries[: i + 1], *entries[i:]])


@damage
def entries_shuffled(text, rng):
    head, *entries = entries_of(text)
    rng.shuffle(entries)
    return head + "".join(entry.rstrip("\n") + "\n" for entry in entries)


@damage
def line_moved_to_another_entry(text, rng):
    lines = lines_of(text)
    line = lines.pop(rng.randrange(len(lines)))
    lines.insert(rng.randrange(len(lines) + 1), line)
    return "\n".join(lines)
