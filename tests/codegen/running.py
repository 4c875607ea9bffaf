"""Runs what the generator writes for a small project, inside of the library as it is."""

import sys
import types
from inspect import signature

from codegen.emit import emit_all
from codegen.load import load
from mindtorch.composite.view import view as composites
from mindtorch.dispatch import parameters, registry, versions
from mindtorch.dispatch.arguments import deprecation
from mindtorch.dispatch.methods import as_method
from mindtorch.dispatch.schema.old_forms import OldForm
from tests.codegen.emitted import definition
from tests.codegen.project import write_project


class Running:
    """The functions of the view ops of a project, which are composite ones, and its methods in ``methods``."""

    def __init__(self, root, ops, monkeypatch, **composite_functions):
        for name, function in composite_functions.items():
            monkeypatch.setattr(composites, name, function, raising=False)
        sources = {"mindtorch__composite__view__view": _as_source(composite_functions)}
        model = load(write_project(root, ops, "[]", **sources))
        self.files = emit_all(model)
        self.functions = self._module("ops")
        monkeypatch.setitem(sys.modules, "written.parameters.view", self._module("parameters"))
        monkeypatch.setitem(parameters._packages, "written.ops", "written.parameters")
        self.methods = types.SimpleNamespace()
        self._register(model, monkeypatch)
        for name, value in list(vars(self.functions).items()):
            if isinstance(value, types.FunctionType) and value.__module__ == self.functions.__name__:
                setattr(self.methods, name, as_method(value))

    def _module(self, folder):
        path = f"generated/{folder}/view.py"
        module = types.ModuleType(f"written.{folder}.view")
        exec(compile(self.files[path], path, "exec"), vars(module))
        return module

    def _register(self, model, monkeypatch):
        """Make ops and old forms known, for one test."""
        registry.all_ops()  # what is loaded in the meantime would be forgotten
        for place, name in ((registry, "_entries"), (versions, "_current"), (versions, "_old")):
            monkeypatch.setattr(place, name, dict(getattr(place, name)))
        names = {"functions": self.functions}
        for schema, function, details in eval(self._table("OPS"), names | {"SCHEMAS": _Schemas(model)}):
            registry.register_op(schema, function, **details)
        names |= {"OldCall": deprecation.OldCall, "OldForm": OldForm}
        deprecation.register_old_calls(eval(self._table("OLD_CALLS"), names))
        versions.register_versions(eval(self._table("VERSIONS"), names))

    def _table(self, name):
        if f"\n{name} = " not in self.files["generated/registry/view.py"]:
            return "{}"
        return definition(self.files, "generated/registry/view.py", name).partition(" = ")[2]


class _Schemas(dict):
    def __init__(self, model):
        super().__init__((op.name, str(op.schema)) for op in model.ops.values())


def _as_source(functions):
    """What the generator has to see of the composite functions: their names and parameters."""
    return "\n".join(f"def {name}{signature(function)}:\n    return input\n" for name, function in functions.items())
