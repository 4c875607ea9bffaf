"""Schema strings and node names against the installed torch."""

from collections import Counter
from pathlib import Path

import pytest
import torch
import yaml

from codegen.errors import Problems
from codegen.load import load
from codegen.model import Location
from codegen.read.derivative_entries import node_prefix
from codegen.read.schema_parser import parse_schema
from codegen.read.yaml_source import Scalar
from codegen.rules.op_rules import SCHEMA_RULES

torchgen = pytest.importorskip("torchgen", reason="the torch wheel packages its YAML files with torchgen")
PACKAGED = Path(torchgen.__file__).parent / "packaged"
ROOT = Path(__file__).parents[3]


def read_yaml(path):
    return yaml.load((PACKAGED / path).read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@pytest.fixture(scope="module")
def functions():
    return [entry["func"] for entry in read_yaml("ATen/native/native_functions.yaml")]


@pytest.fixture(scope="module")
def model():
    return load(ROOT)


def parse(text):
    return parse_schema(Scalar(text, Location("native_functions.yaml", 1, 1)))


def test_every_schema_of_torch_is_printed_back(functions):
    assert len(functions) > 2500
    assert [text for text in functions if str(parse(text)) != text] == []


def test_every_schema_of_torch_follows_our_rules(functions):
    problems = Problems()
    for schema in map(parse, functions):
        for rule in SCHEMA_RULES:
            rule(schema, problems)
    assert problems.diagnostics == ()


def test_our_schemas_are_those_of_torch(functions, model):
    """Byte for byte, derived variants included; what torchgen generates itself is compared as TorchScript prints it."""
    generated = {str(schema).removeprefix("aten::") for schema in torch._C._jit_get_all_schemas()}
    known = generated.union(functions)
    wrong = [str(op.schema) for op in model.ops.values() if op.divergence is None and str(op.schema) not in known]
    assert wrong == []


def node_names():
    """The node classes that torch generates, by op: counted per base name, over entries with a formula."""
    names, counters = {}, Counter()
    keys = {"name", "dispatch", "output_differentiability", "output_differentiability_conditions"}
    for entry in read_yaml("autograd/derivatives.yaml"):
        formulas = entry.get("dispatch", {}).get("Default", entry)
        schema = parse(entry["name"])
        arguments = {argument.name for argument in schema.arguments}
        backward = (key for key in formulas if key not in keys and set(key.split(", ")) <= arguments)
        if any(formulas[key] != "non_differentiable" for key in backward):
            prefix = node_prefix(schema.base)
            names[schema.full_name] = f"{prefix}{counters[prefix]}"
            counters[prefix] += 1
    return names


def test_nodes_are_called_as_in_torch(model):
    """Ops that torch differentiates by other means (copy_, composite ones) are not compared."""
    theirs = node_names()
    ours = {name: derivative.node for name, derivative in model.derivatives.items() if derivative.node}
    assert {name: (node, theirs[name]) for name, node in ours.items() if theirs.get(name, node) != node} == {}
