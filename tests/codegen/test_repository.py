"""The repository's own input files and what is documented about them."""

import json
import re
from pathlib import Path

from codegen.diff.allowed import KEYS as ALLOWED_KEYS
from codegen.diff.rules import RULES
from codegen.errors import CODES, SECTIONS, errors_page
from codegen.json_schema import json_schemas
from codegen.keys import ALL_FAMILIES, DERIVATIVE_KEYS, FAMILIES, OP_KEYS
from codegen.load import load
from codegen.project import Project
from tests.codegen import effort
from tests.codegen.project import diagnostics, write_project

ROOT = Path(__file__).parents[2]


def head(name):
    """The comment at the top of a file."""
    return "\n".join(re.findall(r"^#.*", (ROOT / name).read_text().partition("\n\n- ")[0], re.MULTILINE))


def test_input_files_are_valid():
    model = load(ROOT)
    assert model.derivatives.keys() <= model.ops.keys()
    assert set(model.families) == set(FAMILIES)


def test_loading_is_fast():
    """Reading, checking and looking through the hand-written sources takes about a second of processor time."""
    assert effort.processor_time(lambda: load(ROOT)) < 14 * effort.unit()


def test_error_page_is_current():
    assert (ROOT / "docs/errors.md").read_text() == errors_page()
    assert {code[:3] for code in CODES} == SECTIONS.keys()


def test_the_error_that_the_page_shows_is_one(tmp_path):
    (shown,) = re.findall(r"^```\n(ops.yaml.*?)\n```", errors_page(), re.MULTILINE | re.DOTALL)
    ops = "#\n" * 10 + "- func: abs(Tensor self) -> Tensor\n  familly: pointwise\n  dispatch: {CPU: abs}\n"
    assert str(diagnostics(write_project(tmp_path, ops, "[]"))[0]) == shown


def test_every_code_is_tested():
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert [code for code in CODES if f"[{code}]" not in tests and f'"{code}"' not in tests] == []


def test_every_key_is_documented_at_the_head_of_its_file():
    for name, keys in (("ops.yaml", OP_KEYS), ("derivatives.yaml", DERIVATIVE_KEYS)):
        text = head(name)
        assert [key.name for key in keys if not re.search(rf"\b{key.name}\b", text)] == []


def test_json_schemas_are_json_and_know_every_key():
    schemas = {path: json.loads(text) for path, text in json_schemas(Project(ROOT)).items()}
    ops, derivatives = schemas["schemas/ops.schema.json"], schemas["schemas/derivatives.schema.json"]
    assert list(ops["items"]["properties"]) == [key.name for key in OP_KEYS]
    assert ops["items"]["required"] == ["func", "family"]
    assert ops["items"]["additionalProperties"] is False
    assert ops["items"]["properties"]["family"]["enum"] == list(ALL_FAMILIES)
    assert derivatives["items"]["required"] == ["name"]
    assert derivatives["items"]["additionalProperties"]["type"] == "string"


def test_wanted_breaks_are_described_the_same_way_everywhere():
    described = json.loads(json_schemas(Project(ROOT))["schemas/allowed.schema.json"])["items"]["properties"]
    assert list(described) == [key.name for key in ALLOWED_KEYS]
    text = head("schemas/allowed.yaml")
    for name, property_ in described.items():
        assert re.search(rf"^#   {name} +{re.escape(property_['description'])}$", text, re.MULTILINE), name
    assert {"S018", "S020"} < set(described["rule"]["enum"]) < set(RULES)
    assert "D010" not in described["rule"]["enum"]
    assert re.fullmatch(described["expires"]["pattern"], "2027-06-30")


def test_json_schema_patterns_accept_the_values_of_the_repository():
    properties = json.loads(json_schemas(Project(ROOT))["schemas/ops.schema.json"])["items"]["properties"]
    lines = re.findall(r"^  (\w+): (.*)$", (ROOT / "ops.yaml").read_text(), re.MULTILINE)
    values = [(key, value) for key, value in lines if "pattern" in properties[key]]
    assert [pair for pair in values if not re.fullmatch(properties[pair[0]]["pattern"], pair[1])] == []
