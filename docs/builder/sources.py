"""Source files on the site: the text of YAML entries, links to lines, and a page for every file that is linked.

A link goes to the repository on the web if mkdocs.yml knows its address, and otherwise to a page that shows the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from codegen.model import Location

_LANGUAGES = {".py": "python", ".yaml": "yaml", ".md": "markdown", ".toml": "toml", ".txt": "text", "": "makefile"}


@dataclass
class Sources:
    """The files below ``root``; ``linked`` are those that a page links to."""

    root: Path
    web: str = ""
    linked: dict[str, None] = field(default_factory=dict)

    def url(self, file: str, line: int, up: str) -> str:
        """The address of a line, from a page; ``up`` leads from it to the top of the site."""
        if self.web:
            return f"{self.web}/{file}#L{line}"
        return f"{up}{self.page_name(file).removesuffix('.md')}.html#__codelineno-0-{line}"

    def page_name(self, file: str) -> str:
        """The page that shows a file."""
        self.linked[file] = None
        return f"source/{file}.md"

    def page(self, file: str) -> str:
        """A source file as a page."""
        text = (self.root / file).read_text(encoding="utf-8")
        fence = "`" * 6
        language = _LANGUAGES.get(Path(file).suffix, "text")
        head = f"---\ntitle: {file}\nsearch:\n  exclude: true\nhide:\n  - navigation\n  - toc\n---\n\n"
        return f'{head}# `{file}`\n\n{fence}{{ .{language} linenums="1" }}\n{text}\n{fence}\n'

    def entry(self, location: Location) -> str:
        """The entry of a YAML file that begins at a place: it ends at a blank line."""
        lines = _lines(self.root / location.file)
        first = location.line - 1
        last = next((i for i in range(first, len(lines)) if not lines[i].strip()), len(lines))
        return "\n".join(lines[first:last])


@cache
def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()
