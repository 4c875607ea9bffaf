"""What mkdocs calls while it builds the site (``hooks`` in mkdocs.yml): adds the pages that are not files of docs/.

Those are the pages of the ops, README.md and its kin from the root, and the source files that are linked.
"""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from docs.builder.links import FROM_ROOT, with_links
from docs.builder.pages import reference_pages
from docs.builder.sources import Sources
from docs.builder.surface import surface_page

ROOT = Path(__file__).resolve().parents[2]

# Pages that are not there are left out; those of docs/ that are not listed come last.
NAVIGATION: dict[str, list[str]] = {
    "Home": ["index.md"],
    "Operators": ["ops.md", "coverage.md", "surface.md", "notation.md", "rules.md"],
    "Tutorials": [
        f"tutorials/{page}.md"
        for page in (
            "index", "custom_functions", "double_backward", "saved_tensor_hooks", "forward_mode", "jacobians_hessians",
            "per_sample_gradients", "model_ensembling", "neural_tangent_kernels",
        )
    ],
    "Use": "library.md out_of_tree.md programs.md numerics.md performance.md bench_ops.md benchmarks.md".split(),
    "Contribute": "contributing.md compatibility.md review.md errors.md autograd.md internals.md changelog.md".split(),
}  # fmt: skip


def on_files(files: Files, config: MkDocsConfig) -> Files:
    sources = Sources(ROOT, config.extra["repository"])
    pages = reference_pages(ROOT, sources) | _written(files, sources)
    pages["surface.md"] = surface_page(ROOT)
    pages |= {f"source/{file}.md": sources.page(file) for file in sources.linked}
    for name, content in pages.items():
        if name in files.src_uris:
            files.remove(files.src_uris[name])
        files.append(File.generated(config, name, content=content))
    config.nav = navigation(pages)
    return files


def _written(files: Files, sources: Sources) -> dict[str, str]:
    """The hand-written pages, with links that are right on the site."""
    places = FROM_ROOT | {f"docs/{file.src_uri}": file.src_uri for file in files.documentation_pages()}
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file in places}
    return {page: with_links(texts[file], file, places, sources) for file, page in places.items()}


def navigation(pages: dict[str, str]) -> list[dict[str, str | list[str]]]:
    listed = {page for names in NAVIGATION.values() for page in names}
    others = [page for page in pages if "/" not in page and page not in listed]
    entries: list[dict[str, str | list[str]]] = []
    for title, names in NAVIGATION.items():
        found = [page for page in names if page in pages] + (others if title == "Contribute" else [])
        entries.append({title: found[0] if title == "Home" else found})
    return entries
