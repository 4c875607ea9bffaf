"""Everything that the heads of ops.yaml and derivatives.yaml offer works, in a package of its own: every_word/."""

import os
import re
import shutil
import sys

import pytest

from codegen.keys import DERIVATIVE_KEYS, OP_KEYS
from codegen.read.formula import KEYWORDS
from codegen.read.metadata import INDEXED_METADATA, LIST_METADATA, METADATA_ATTRIBUTES, METADATA_METHODS
from tests.packaging.commands import ROOT, run
from tests.packaging.every_word_checks import CHECKS

PACKAGE = ROOT / "tests" / "packaging" / "every_word"


def head_of(file):
    """The manual of a file: the comment that it begins with."""
    return "\n".join(re.findall(r"\A(?:#.*\n|\n)+", (ROOT / file).read_text(encoding="utf-8")))


def keys_in(manual):
    """The keys at the beginnings of the lines of a manual, with what is said of each."""
    found = re.split(r"^# {3,27}(?=\S)(.+?) {2,}", manual, flags=re.MULTILINE)
    return {key: said for keys, said in zip(found[1::2], found[2::2]) for key in _separate(keys)}


def _separate(keys):
    return [keys] if keys == "<a>, <b>" else keys.split(", ")


OP_MANUAL, DERIVATIVE_MANUAL = keys_in(head_of("ops.yaml")), keys_in(head_of("derivatives.yaml"))


def offered_in_ops():
    keys = {*OP_MANUAL}
    words = {f"{key.name}: {word}" for key in OP_KEYS if key.name != "family" for word in key.values}
    return keys | words


def offered_in_derivatives():
    names = re.search(r"# Names in formulas: (.*?)\. An argument", head_of("derivatives.yaml"), re.DOTALL)[1]
    listed = set(re.findall(r"grads\[i\]|grad_<output>|\bgrad\b|result<i>|<output>|\bresult\b", names))
    listed |= set(re.findall(r"needs_input_grad\.<argument>|<argument>_[pt]|\bhelpers\b|\bops\b", names))
    facts = set(
        re.findall(r"\.\w+(?:\(\))?(?=[ ,])", re.search(r"only (\.shape.*?)\.\.\.", head_of("derivatives.yaml"))[1])
    )
    keys = DERIVATIVE_MANUAL.keys() - {"<name>"}  # that of an output
    words = {word for role in KEYWORDS.values() for word in role}
    return keys | listed | facts | words | {"complex: refused"}


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package, with what the generator makes of it."""
    folder = tmp_path_factory.mktemp("package") / "every_word"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    run(sys.executable, "-m", "codegen", cwd=folder, PYTHONPATH=str(ROOT))
    return folder


@pytest.mark.parametrize("debug", ("0", "1"))
def test_every_word(debug, package):
    path = os.pathsep.join(map(str, (ROOT, package / "src", package / "tests")))
    pytest_here = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error")
    shown = run(*pytest_here, package / "tests", cwd=package, PYTHONPATH=path, MINDTORCH_DEBUG=debug)
    assert f"{len(CHECKS)} passed" in shown


def test_no_word_is_without_a_check():
    shown = {word for _, words in CHECKS.values() for word in words}
    offered = offered_in_ops() | offered_in_derivatives()
    assert shown - offered == {"name"}
    assert offered - shown == set()


def test_every_fact_is_used():
    text = (PACKAGE / "derivatives.yaml").read_text()
    facts = METADATA_ATTRIBUTES | LIST_METADATA | {f"{method}()" for method in METADATA_METHODS}
    assert [fact for fact in facts if f".{fact}" not in text] == []
    assert [method for method in INDEXED_METADATA if f".{method}(0)" not in text] == []


def test_the_manuals_name_every_key_and_word():
    assert set(OP_MANUAL) >= {key.name for key in OP_KEYS} | {each.name for key in OP_KEYS for each in key.keys}
    assert DERIVATIVE_MANUAL.keys() >= {key.name for key in DERIVATIVE_KEYS} - {"name"}
    text = head_of("derivatives.yaml")
    assert [word for role in KEYWORDS.values() for word in role if word not in text] == []
    for key in OP_KEYS:
        said = OP_MANUAL[key.name]
        listed = [] if "..." in said or key.name in ("operators", "dispatch") else key.values
        assert [word for word in listed if not re.search(rf"\b{word}\b", said)] == [], key.name
