"""What the pages of the ops are made of: examples that run, words with a meaning, links of written pages, coverage."""

import re

import pytest

from docs.builder import index
from docs.builder.definitions import definition
from docs.builder.examples import example, table
from docs.builder.links import with_links
from docs.builder.op_page import grouped
from docs.builder.places import function_of
from docs.builder.review import example_diff
from docs.builder.session import transcript
from docs.builder.sources import Sources
from docs.builder.words import read_words
from tests.harness import ROOT, model


def op(name):
    return model().ops[name]


# What torch says of ops that it advises against.
ADVICE = ("is deprecated", "without specifying the dim arg", "is in beta", "required to pass the indexing")


def test_every_op_has_an_example():
    for name, ops in grouped(model()).items():
        texts = [example(model(), each) or "" for each in ops]
        assert any(texts), f"{name}: write one in docs/builder/examples.yaml"
        warned = [line for text in texts for line in text.splitlines() if line.startswith(("UserWarning", "FutureW"))]
        assert all(any(advice in line for advice in ADVICE) for line in warned), f"{name}: {warned}"


def test_examples_are_the_same_every_time():
    names = ("dropout", "add.Tensor", "randperm")
    assert [example(model(), op(name)) for name in names] == [example(model(), op(name)) for name in names]


def test_the_table_of_examples_has_only_ops_that_exist():
    assert table().keys() <= model().ops.keys()


def test_a_transcript_is_what_an_interactive_python_shows():
    assert transcript(["x = torch.ones(2)", "x", "x.sum().item()"]) == "\n".join(
        [">>> x = torch.ones(2)", ">>> x", "tensor([1., 1.])", ">>> x.sum().item()", "2.0"]
    )


def test_an_example_that_fails_ends_the_build():
    with pytest.raises(RuntimeError, match="size of tensor a"):
        transcript(["torch.ones(2) + torch.ones(3)"])


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("add.Tensor", "torch.add"),
        ("gelu", "torch.nn.functional.gelu"),
        ("fft_fft", "torch.fft.fft"),
        ("linalg_vector_norm", "torch.linalg.vector_norm"),
        ("nll_loss_nd", "torch.ops.aten.nll_loss_nd"),
    ],
)
def test_where_an_op_is_found(name, place):
    assert function_of(op(name)) == place


def test_every_word_has_a_meaning_that_stands_alone():
    words = read_words(ROOT)
    for each in model().ops.values():
        for word, meanings in ((each.promotion, words.promotion), (each.shape, words.shape)):
            assert word is None or not meanings[word].startswith("the same"), word


def test_an_entry_is_the_text_of_the_file():
    sources = Sources(ROOT)
    text = sources.entry(op("mul.Tensor").location)
    assert text.startswith("- func: mul.Tensor(") and text.endswith("samples: binary")
    assert text in (ROOT / "ops.yaml").read_text(encoding="utf-8")


def kernels_of(each):
    if each.decomposition is not None:
        return []
    if each.is_composite:
        return [model().composites[each.family][each.composite]]
    places = {name: model().kernels.get((backend, each.family), {}) for backend, name in (each.dispatch or {}).items()}
    return [kernels[name] for name, kernels in places.items() if name in kernels]


def test_kernels_are_found_where_they_are_defined():
    """Also those that a family's module only imports."""
    found = [kernel for each in model().ops.values() for kernel in kernels_of(each)]
    for kernel in found:
        place = definition(ROOT, kernel.location, kernel.name)
        line = (ROOT / place.file).read_text(encoding="utf-8").splitlines()[place.line - 1]
        assert not line.startswith(("from", "import")), f"{kernel.name}: {place}"


def test_links_to_lines():
    local, web = Sources(ROOT), Sources(ROOT, "https://example.org/blob/main")
    assert local.url("ops.yaml", 7, "../") == "../source/ops.yaml.html#__codelineno-0-7"
    assert list(local.linked) == ["ops.yaml"]
    assert web.url("ops.yaml", 7, "../") == "https://example.org/blob/main/ops.yaml#L7"
    assert list(web.linked) == []


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("[a](docs/internals.md#kernels)", "[a](internals.md#kernels)"),
        ("[a](CONTRIBUTING.md)", "[a](contributing.md)"),
        ("[a](docs/ops/index.md)", "[a](ops.md)"),
        ("[a](setup.py)", "[a](source/setup.py.md)"),
        ("[a](https://example.org)", "[a](https://example.org)"),
        ("[a](#there)", "[a](#there)"),
        ("`[a](setup.py)`", "`[a](setup.py)`"),
        ("```\n[a](setup.py)\n```", "```\n[a](setup.py)\n```"),
    ],
)
def test_links_of_written_pages(text, moved):
    places = {"README.md": "readme.md", "docs/internals.md": "internals.md", "CONTRIBUTING.md": "contributing.md"}
    assert with_links(text, "README.md", places, Sources(ROOT)) == moved


def test_links_of_pages_in_docs():
    places = {"docs/internals.md": "internals.md", "CONTRIBUTING.md": "contributing.md"}
    text = "[a](../CONTRIBUTING.md#x) [b](../Makefile)"
    assert (
        with_links(text, "docs/internals.md", places, Sources(ROOT)) == "[a](contributing.md#x) [b](source/Makefile.md)"
    )


def test_the_list_of_pytorch_has_every_schema_that_is_not_a_divergence():
    ours = {name for name, each in model().ops.items() if not each.divergence}
    missing = ours - index.pytorch_ops().keys()
    assert missing == set(), "run python -m docs.builder.pytorch_ops"


def test_coverage_adds_up():
    counts = index.counts(model())
    covered = index.coverage(model(), [])
    assert sum(len(row.have) for row in covered) == counts["all_have"]
    assert sum(len(row.have) + len(row.lack) for row in covered) == counts["all_all"] == len(index.pytorch_ops())
    assert 0 < counts["core_have"] <= counts["core_all"] < counts["all_all"]


def test_the_in_place_form_is_in_the_row_of_the_op():
    rows = {row.name: row for row in index.coverage(model(), [])}
    assert {"add.Tensor", "add_.Tensor", "add.out"} <= set(rows["add"].have)
    assert "add_" not in rows
    assert {"__and__", "__iand__", "uniform"} <= rows.keys()


def test_the_example_of_a_diff_has_every_verdict():
    page = example_diff()
    for verdict in ("breaking", "forward-only", "compatible"):
        assert re.search(rf"\b{verdict}\b", page), verdict
