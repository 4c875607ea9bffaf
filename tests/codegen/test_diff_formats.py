"""The review formats of the schema diff: what a pull request's comment, its annotations and the page say.

What every rule looks like in every format is in test_diff_golden.py; how the page behaves, in test_diff_page.py.
"""

import re
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.diff.formats import github, html, markdown, text
from codegen.diff.report import Report
from tests.codegen import reports

STYLE = (Path(html.__file__).parents[2] / "templates" / "diff.css").read_text(encoding="utf-8")
SIZES = [(3,), (300,), (5000,), (2000, 30, 500), (1, 4000, 30000), (1, 1, 200_000), (40, 3, 200), (9, 9, 9000)]


# -------------------- markdown --------------------


def fences_and_folds(text: str) -> None:
    """Every fence and every <details> that is opened is closed, in order."""
    fence, depth = "", 0
    for line in text.split("\n"):
        found = re.match(r" *(`{3,})", line)
        if found and (not fence or line.strip(" ") == fence):
            fence = "" if fence else found.group(1)
        elif not fence:
            depth += line.count("<details>") - line.count("</details>")
            assert 0 <= depth <= 1, line
    assert not fence and not depth


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_comment_is_never_too_large(size):
    comment = markdown.render(reports.large(*size))
    assert len(comment.encode()) < 65_536
    fences_and_folds(comment)


def test_what_does_not_fit_is_counted():
    report = reports.large(5000)
    comment = markdown.render(report)
    rows = re.findall(r"^\| \S+ (breaking|forward-only|compatible) \|", comment, re.MULTILINE)
    assert set(rows) == {"breaking"}
    hidden = report.count(report.verdict) - len(rows)
    assert f"... and {hidden} more breaking changes, 1667 more forward-only changes, 1666 more compatible" in comment
    details = comment.count("<details><summary>🔴")
    assert f"The details of {5000 - details} more ops are in the full report: `--format html`." in comment


@pytest.mark.parametrize(
    ("report", "headline"),
    [
        (reports.ordinary(), "## ❌ Breaking changes of operators"),
        (reports.forward_only(), "## ⚠️ Changes of operators that older versions do not understand"),
        (reports.harmless(), "## ✅ Compatible changes of operators"),
        (Report("a", "b", (reports.spelled(),), 1), "## ✅ Operators change in spelling only"),
        (reports.nothing(), "## ✅ No operator changes"),
        (Report("a", "b", (), 1, (), ("expired",)), "## ❌ Breaking changes of operators"),
    ],
    ids=["breaking", "forward-only", "compatible", "text", "nothing", "allow-list"],
)
def test_a_comment_begins_with_its_marker_and_the_verdict(report, headline):
    assert markdown.render(report).splitlines()[:3] == ["<!-- mindtorch schema diff -->", "", headline]


def test_the_worst_comes_first():
    comment = markdown.render(reports.ordinary())
    rows = re.findall(r"^\| \S+ ([\w-]+) \| `(.*?)` \|", comment, re.MULTILINE)
    assert [verdict for verdict, _ in rows] == ["breaking"] * 3 + ["forward-only"] + ["allowed"] + [
        "compatible"
    ] * 2 + ["text"]
    assert comment.index("D100") < comment.index("M100"), "inside of an op, too"


def test_allowed_breaks_are_counted_and_told_from_compatible_changes():
    report = reports.ordinary()
    assert report.allowed == 1
    assert ", 1 allowed, " in markdown.render(report) and "(1 allowed); " in text.render(report)
    assert "🟡 allowed" in markdown.render(report)
    assert ", 1 allowed" in html.render(report) and ">allowed</span>" in html.render(report)


def test_a_change_of_variants_is_suggested_once_for_the_allow_list():
    change = reports.renamed()
    variant = replace(change, op="sum.out", root=change.op)
    entries = markdown.render(Report("a", "b", (replace(change, root=change.op), variant), 1)).split("```yaml")[1]
    assert re.findall("op: (.*)", entries) == [change.op]


def test_a_changed_part_has_carets_below_it():
    block = re.search(r"```diff\n(.*?)```", markdown.render(reports.ordinary()), re.DOTALL).group(1)
    assert block == (
        "- sum.dim(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor\n"
        "?                              ^^^\n"
        "+ sum.dim(Tensor self, int[1]? axis, bool keepdim=False) -> Tensor\n"
        "?                              ^^^^\n"
    )


def test_wanted_breaks_can_be_copied_into_the_allow_list():
    comment = markdown.render(reports.ordinary())
    (block,) = re.findall(r"```yaml\n(.*?)```", comment, re.DOTALL)
    assert re.findall(r"op: (.*)\n  rule: (.*)", block) == [
        ("sum.dim", "S100"), ("exp2", "D100"), ("trunc_divide", "S100"),
    ]  # fmt: skip
    assert "```yaml" not in markdown.render(reports.harmless())


def test_an_allowed_break_says_why_and_until_when():
    comment = markdown.render(reports.ordinary())
    assert "  - Allowed: until 2999-01-01: as NumPy calls it\n" in comment
    assert "| `mean.dim` | argument `dim` is now called `axis` (allowed until 2999-01-01) |\n" in comment
    text = " ".join(Page(html.render(reports.ordinary())).text.split())
    assert "argument dim is now called axis (allowed until 2999-01-01)" in text
    assert "until 2999-01-01: as NumPy calls it" in text


def outside_of_code(comment: str) -> str:
    """The comment without blocks and spans of code, and without what the format itself writes."""
    text = re.sub(r"^ *(`{3,})\w+\n.*?^ *\1$", "", comment, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`]*`|<code>.*?</code>|</?(details|summary)>|<!-- mindtorch schema diff -->", "", text)


def test_a_comment_gives_wicked_texts_no_meaning():
    comment = markdown.render(reports.wicked())
    fences_and_folds(comment)
    text = outside_of_code(comment)
    assert "<script" not in text and "`" not in text
    assert not re.search(r"[@#](?!<!-- -->)(?=[A-Za-z])", text), "mentions and references become links"
    assert "*bold*" not in text and "[x](" not in text
    (row,) = [line for line in comment.splitlines() if line.startswith("| 🔴")]
    assert row.count("|") == 4, "a row of three cells"


@settings(deadline=None, max_examples=60)
@given(st.text(st.sampled_from("`|<>@#*_[]\\\n\r\x0b\u2028 -+?:%,a1é🎉") | st.characters(codec="utf-8"), max_size=60))
def test_no_text_breaks_a_format(word):
    report = reports.wicked(word)
    comment = markdown.render(report)
    fences_and_folds(comment)
    assert [line.count("|") for line in comment.split("\n") if line.startswith("| ")] == [4, 4]
    assert "\r" not in comment
    assert Page(html.render(report)).open == []
    assert {level for level, _, _ in commands(github.render(report))} == {"error", "warning"}


def test_backticks_in_messages_are_code():
    comment = markdown.render(reports.ordinary())
    assert "argument `dim` is now called `axis`" in comment


# -------------------- annotations --------------------


def unescape(text: str) -> str:
    for character, code in (("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C"), ("%", "%25")):
        text = text.replace(code, character)
    return text


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Workflow commands as GitHub reads them: level, properties, message."""
    found = []
    for line in text.removesuffix("\n").split("\n") if text else ():
        level, described, message = re.fullmatch(r"::(\w+) (.*?)::(.*)", line).groups()
        properties = dict(part.split("=", 1) for part in described.split(","))
        found.append((level, {name: unescape(value) for name, value in properties.items()}, unescape(message)))
    return found


def test_annotations_are_at_the_lines_that_they_speak_of():
    found = commands(github.render(reports.ordinary()))
    assert [(level, place.get("file"), place.get("line")) for level, place, _ in found] == [
        ("error", "schemas/allowed.yaml", "7"),
        ("error", "ops.yaml", "12"),
        ("error", "derivatives.yaml", "41"),
        ("error", "ops.yaml", None),  # an op that is gone has no line
        ("warning", "ops.yaml", "9"),
        ("warning", "ops.yaml", "80"),
        ("notice", "ops.yaml", "40"),
        ("notice", "ops.yaml", "200"),
        ("notice", "ops.yaml", "400"),
        ("notice", "ops.yaml", "70"),
    ]


def test_an_annotation_says_what_and_what_to_do():
    _, (level, properties, message), *_ = commands(github.render(reports.ordinary()))
    assert (level, properties["title"]) == ("error", "S100: An argument has a new name")
    assert message.splitlines() == [
        "sum.dim: argument `dim` is now called `axis`",
        "Callers: `x.sum(dim=0)` by keyword stops working",
        "Instead: Keep the name `dim`",
    ]


def test_annotations_give_wicked_texts_no_meaning():
    found = commands(github.render(reports.wicked()))
    assert [level for level, _, _ in found] == ["error", "error", "warning"]
    level, properties, message = found[1]
    assert properties == {"file": "a,b:c%.yaml", "line": "1", "col": "2", "title": f"X1: {reports.WICKED}"}
    assert message.startswith(f"{reports.WICKED}: {reports.WICKED}")


@pytest.mark.parametrize(("ops", "shown"), [(30, 10), (33, 10), (300, 10)])
def test_what_github_would_not_show_is_counted(ops, shown):
    report = Report("a", "b", reports.large(ops).changes, 0)
    found = commands(github.render(report))
    errors = [message for level, _, message in found if level == "error"]
    assert len(errors) == shown
    assert ops == 30 or errors[-1].startswith(f"and {ops // 3 - 9} more")
    assert errors[0].startswith("op0: ")


def test_no_change_has_no_annotations():
    assert github.render(reports.nothing()) == ""


# -------------------- the page --------------------

VOID = {"meta", "link", "input", "br"}


class Page(HTMLParser):
    """Reads a page: its elements, its text, and whether every element is closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.open += [] if tag in VOID else [tag]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += "" if self.open and self.open[-1] in ("style", "script") else data


@pytest.mark.parametrize(
    "report",
    [reports.ordinary(), reports.nothing(), reports.harmless(), reports.wicked(), reports.large(200)],
    ids=["ordinary", "nothing", "harmless", "wicked", "large"],
)
def test_the_page_is_well_formed_and_needs_nothing_else(report):
    page = Page(html.render(report))
    assert page.open == []
    names = [name for name, _ in page.elements]
    assert names.count("script") == names.count("style") == names.count("h1") == names.count("main") == 1
    loaded = [value for _, attributes in page.elements for name, value in attributes.items() if name in ("src", "href")]
    assert [value for value in loaded if not value.startswith(("#", "data:"))] == []
    identifiers = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))


def test_the_page_has_every_text():
    report = reports.ordinary()
    text = " ".join(Page(html.render(report)).text.split())
    for finding in (finding for change in report.changes for finding in change.findings):
        for expected in (finding.op, finding.message, finding.caller, finding.remedy, finding.rule.code):
            assert expected.replace("`", "") in text
        for marked in filter(None, (finding.old, finding.new)):
            assert marked.text in text


def test_the_page_gives_wicked_texts_no_meaning():
    page = html.render(reports.wicked())
    assert '<script>alert("x")' not in page
    assert reports.WICKED.replace("\r\n", " ").replace("`code|`", "code|") in " ".join(Page(page).text.split())


def test_changed_parts_are_marked():
    page = html.render(reports.ordinary())
    assert "sum.dim(Tensor self, int[1]? <del>dim</del>, bool keepdim=False) -&gt; Tensor" in page
    assert "sum.dim(Tensor self, int[1]? <ins>axis</ins>, bool keepdim=False) -&gt; Tensor" in page


def luminance(colour: str) -> float:
    """Relative luminance, as the accessibility guidelines define it."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


COLOURS = {name: pair for name, *pair in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", STYLE)}
PAIRS = [("ink", ground) for ground in ("page", "card", "sunk", "breaking-tint")]
PAIRS += [("quiet", ground) for ground in ("page", "card", "sunk")]
PAIRS += [(name, ground) for name in ("breaking", "forward-only", "compatible", "text")
          for ground in ("page", "card", f"{name}-tint")]  # fmt: skip


@pytest.mark.parametrize(("ink", "ground"), PAIRS)
def test_texts_have_enough_contrast(ink, ground):
    for one, other in zip(COLOURS[ink], COLOURS[ground]):
        assert contrast(one, other) >= 4.5


def test_the_formats_do_not_depend_on_the_day():
    assert str(date.today()) not in html.render(reports.ordinary()) + markdown.render(reports.ordinary())
