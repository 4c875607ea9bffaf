"""The schema diff as one web page that needs nothing else: codegen/templates/diff.html.jinja with its style and script.

Everything is in the page as it is written. The script only adds to it: filters, search, keys, the dark switch.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from ...render import environment_of_templates
from ..report import Marked, OpChange, Report, Verdict
from .shared import has_own_texts, place_link, plain_and_code, rule_link, worst_first

_TEMPLATES = Path(__file__).parents[2] / "templates"

_HEADLINES = {
    Verdict.breaking: "Breaking changes",
    Verdict.forward_only: "Changes that older versions do not understand",
    Verdict.unproven: "Changes whose results only a run can tell",
    Verdict.compatible: "Compatible changes",
    Verdict.text: "Changes in spelling only",
}
_MEANINGS = {
    Verdict.breaking: "Something that worked stops working, or gives another result.",
    Verdict.forward_only: "What is written for the new version may not run on the old one.",
    Verdict.unproven: "What is computed may differ: tests tell, or a run of both states.",
    Verdict.compatible: "Everything that worked works as before.",
    Verdict.text: "Nothing that runs can tell the difference.",
}


def render(report: Report) -> str:
    script = _source("diff.js")
    return _ENVIRONMENT.get_template("diff.html.jinja").render(
        report=report,
        headline=_headline(report),
        meanings=_MEANINGS,
        groups=dict(_groups(report)),
        counts={verdict: report.count(verdict) for verdict in reversed(Verdict)},
        families=sorted({change.family for change in report.changes if change.family}),  # a snapshot has none
        style=_source("diff.css"),
        script=script,
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )


def _headline(report: Report) -> str:
    return _HEADLINES[report.verdict] if report.changes or report.list_errors else "No operator changes"


def _groups(report: Report) -> Iterator[tuple[Verdict, list[OpChange]]]:
    """The changes by verdict, worst first; only verdicts that occur."""
    for verdict in reversed(Verdict):
        changes = [change for change in report.changes if change.verdict is verdict]
        if changes:
            yield verdict, changes


def _source(name: str) -> Markup:
    """A file that goes into the page as it is."""
    return Markup((_TEMPLATES / name).read_text(encoding="utf-8"))


# -------------------- filters of the template --------------------


def _words(text: str) -> Markup:
    """A message; what is between backticks is code."""
    code = Markup("<code>{}</code>")
    return Markup("").join(code.format(part) if is_code else escape(part) for part, is_code in plain_and_code(text))


def _marked(marked: Marked, tag: str) -> Markup:
    """A text with its changed parts inside elements."""
    parts, done = [], 0
    for start, end in marked.spans:
        parts += [escape(marked.text[done:start]), Markup(f"<{tag}>{{}}</{tag}>").format(marked.text[start:end])]
        done = end
    return Markup("").join([*parts, escape(marked.text[done:])])


def _environment() -> jinja2.Environment:
    environment = environment_of_templates(autoescape=True)
    environment.filters.update(
        words=_words, marked=_marked, worst_first=worst_first, rule_link=rule_link, place_link=place_link
    )
    environment.tests["other_than_schemas_of"] = has_own_texts
    return environment


_ENVIRONMENT = _environment()
