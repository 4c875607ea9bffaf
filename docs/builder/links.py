"""Links in written pages: what leads to a file of the repository leads to its place on the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from .sources import Sources

# Pages from outside of docs/, and what they are called on the site.
FROM_ROOT = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/results.md": "benchmarks.md",
    "benchmarks/ops.md": "bench_ops.md",
}
# The site has better ones.
_REPLACED = {"docs/ops/index.md": "ops.md", "docs/ops/npu.md": "coverage.md"}

_ASSETS = "docs/assets/"

_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")
_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)


def with_links(text: str, file: str, places: Mapping[str, str], sources: Sources) -> str:
    """The text of a page, its links moved; ``places`` has the pages by file. Code is left alone."""

    def moved(match: re.Match[str]) -> str:
        return _moved(match[1], file, places, sources) + (match[2] or "")

    head = "---\nhide:\n  - navigation\n---\n\n" if places[file] == "index.md" else ""
    parts = _CODE.split(text)
    parts[::2] = [_LINK.sub(moved, part) for part in parts[::2]]
    return head + "".join(parts)


def _moved(target: str, file: str, places: Mapping[str, str], sources: Sources) -> str:
    path = posixpath.normpath(posixpath.join(posixpath.dirname(file), target))
    page = places.get(path) or _REPLACED.get(path)
    if path.startswith(_ASSETS):  # pictures, which the site has as they are
        page = path.removeprefix("docs/")
    if page is None and (sources.root / path).is_file():
        page = sources.page_name(path)
    return target if page is None else posixpath.relpath(page, posixpath.dirname(places[file]) or ".")
