"""The hand-written pages: what they quote is what is there, their links lead somewhere, and their programs run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness import model

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def anchors(page):
    """The anchors that GitHub and mkdocs make of the headings: lower case, without punctuation."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w\s-]", "", heading).strip().lower().replace(" ", "-") for heading in headings]


@pytest.mark.parametrize("page", PAGES, ids=[page.relative_to(ROOT).as_posix() for page in PAGES])
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), target
        assert not anchor or anchors(linked).count(anchor) == 1, target


@pytest.mark.parametrize("page", PAGES, ids=[page.relative_to(ROOT).as_posix() for page in PAGES])
def test_headings_with_underscores_are_code(page):
    """Markdown reads `_foreach_zero_` as emphasis otherwise."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert [heading for heading in headings if "_" in heading and "`" not in heading] == []


@pytest.mark.parametrize(
    ("first_line", "file"),
    [("def mul", "generated/ops/arithmetic.py"), ("class MulBackward0", "generated/nodes/arithmetic.py")],
)
def test_internals_quote_generated_code(first_line, file):
    page = (ROOT / "docs/internals.md").read_text(encoding="utf-8")
    (quote,) = re.findall(rf"```python\n({first_line}.*?)```", page, re.DOTALL)
    text = (ROOT / file).read_text(encoding="utf-8")
    assert f"\n\n{quote}\n\n" in text, f"docs/internals.md quotes what {file} no longer says: copy it anew"


def test_the_glossary_names_what_is_there():
    page = (ROOT / "docs/internals.md").read_text(encoding="utf-8")
    glossary = page.partition("\n## Glossary\n")[2].partition("\n## ")[0]
    places = [row.split("|")[-2] for row in glossary.splitlines() if row.startswith("| ")][1:]
    found = [re.findall(r"`([^`]+)`(?:: `([^`]+)`)?", place) for place in places]
    assert len(found) > 15 and all(found)
    for file, name in (each for row in found for each in row):
        assert (ROOT / file).exists(), file
        assert not name or re.search(rf"\b{name}\b", (ROOT / file).read_text(encoding="utf-8")), (file, name)


def test_every_word_of_promotion_and_shape_is_explained():
    ops = model().ops.values()
    promotion, shape = (ROOT / "docs/rules.md").read_text(encoding="utf-8").split("\n## Shape")
    assert {op.promotion for op in ops} - {None} <= set(re.findall(r"`(\w+)`", promotion))
    assert {op.shape for op in ops} - {None} <= set(re.findall(r"`(\w+)`", shape))


def test_the_backend_in_contributing_works():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(import numpy.*?)```", page, re.DOTALL)
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
    assert done.stdout.splitlines() == re.findall(r"^print\(.*?\)  # (.*)$", program, re.MULTILINE), done.stderr


def test_the_changelog_names_commands_that_exist():
    (names,) = re.findall(r"`python -m codegen`, with (.*)\.", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    usage = subprocess.run([sys.executable, "-m", "codegen", "--help"], cwd=ROOT, text=True, capture_output=True).stdout
    assert "``" not in usage
    assert [name for name in re.findall(r"`(\w+)`", names) if not re.search(rf"\n +{name} ", usage)] == []
