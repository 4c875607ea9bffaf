"""Write the documentation as HTML to site/: the pages of docs/, one page per family of ops, and README and its kin."""

import re
from pathlib import Path

import markdown

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "site"
SOURCES = ("*.md", "docs/**/*.md")
EXTENSIONS = ["fenced_code", "sane_lists", "tables", "toc"]

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ display: flex; gap: 3rem; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui }}
nav {{ flex: 0 0 13rem; font-size: 0.9rem }} main {{ min-width: 0 }}
pre {{ overflow-x: auto; padding: 0.8rem; background: #f4f4f4 }} code {{ font-size: 0.9em }}
td, th {{ padding: 0.2rem 0.8rem 0.2rem 0; text-align: left; vertical-align: top }}
</style>
<nav>{navigation}</nav>
<main>{content}</main>
</html>
"""


def pages() -> list[Path]:
    """The Markdown files, relative to the root."""
    found = [path for pattern in SOURCES for path in sorted(ROOT.glob(pattern))]
    return [path.relative_to(ROOT) for path in found]


def target(page: Path) -> Path:
    """Where a page goes, relative to site/; the README is the front page."""
    return Path("index.html") if page == Path("README.md") else page.with_suffix(".html")


def title(page: Path) -> str:
    """The first heading of a page."""
    first = re.search(r"^# (.+)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    return first.group(1) if first else page.stem


def navigation(page: Path, titles: dict[Path, str]) -> str:
    """Links to all pages, from one of them."""
    up = "../" * (len(target(page).parts) - 1)
    return "<br>\n".join(f'<a href="{up}{target(each).as_posix()}">{name}</a>' for each, name in titles.items())


def html(page: Path, titles: dict[Path, str]) -> str:
    """A page as HTML, its links to other pages included."""
    content = markdown.markdown((ROOT / page).read_text(encoding="utf-8"), extensions=EXTENSIONS)
    content = re.sub(r'href="(?!https?:)([^"#]+)\.md(#[^"]*)?"', r'href="\1.html\2"', content)
    return PAGE.format(title=titles[page], navigation=navigation(page, titles), content=content)


def main() -> None:
    titles = {page: title(page) for page in pages()}
    for page in titles:
        path = SITE / target(page)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html(page, titles), encoding="utf-8")
    print(f"{len(titles)} pages in {SITE.relative_to(ROOT)}/; begin with {SITE.relative_to(ROOT)}/index.html")


if __name__ == "__main__":
    main()
