"""The pages that are made when the site is built, as Markdown by file name."""

from __future__ import annotations

from pathlib import Path

import jinja2

from codegen.keys import BACKENDS
from codegen.load import load
from codegen.model import Location
from codegen.npu.kernels import ops_by_way
from codegen.project import Project

from . import index
from .op_page import UP, Reference
from .review import example_diff
from .sources import Sources


def reference_pages(root: Path, sources: Sources) -> dict[str, str]:
    """The page of every op, the index, the coverage of PyTorch, and an example of a schema diff."""
    model = load(root)
    pages = Reference(Project(root), model, sources).pages()
    templates = _templates(sources)
    ops = {f"op/{page.name}.md": templates.get_template("op.md.jinja").render(page=page) for page in pages}
    entries = sum(op.derived_from is None for op in model.ops.values())
    rows, covered = index.rows(model, pages), index.coverage(model, pages)
    overview = templates.get_template("index.md.jinja").render(
        rows=rows,
        facets=index.offered(rows),
        stubs=index.STUBS,
        summary=f"{len(pages)} operators with {entries} overloads, {len(model.ops)} schemas with the derived variants.",
    )
    coverage = templates.get_template("coverage.md.jinja").render(
        rows=covered,
        facets=index.offered(covered),
        backends=BACKENDS,
        families=index.families(model),
        npu=ops_by_way(model),
        heading=index.heading(),
        **index.counts(model),
    )
    review = templates.get_template("review.md.jinja").render()
    others = {
        "ops.md": overview,
        "coverage.md": coverage,
        "review.md": review,
        "review/example.html": example_diff(),
    }
    return ops | others


def _templates(sources: Sources) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )

    def link(location: Location) -> str:
        return sources.url(location.file, location.line, UP)

    environment.globals["link"] = link
    return environment
