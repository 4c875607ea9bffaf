"""The formats of the report. Each module has ``render(report)``, which returns the whole text."""

from __future__ import annotations

from collections.abc import Callable

from ..report import Report
from . import github, html, json, junit, markdown, sarif, text

Render = Callable[[Report], str]

FORMATS: dict[str, Render] = {
    "text": text.render,
    "markdown": markdown.render,
    "json": json.render,
    "html": html.render,
    "github": github.render,
    "sarif": sarif.render,
    "junit": junit.render,
}
