"""What the hand-written sources define: kernels, composite functions, shape rules and formula helpers.

Everything is read with ``ast`` and nothing imported, so that the generator works while the library does not.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from ..errors import Problems, did_you_mean
from ..model import FunctionSchema, Kernel, Location
from ..npu.aclnn_signature import Signature
from ..npu.aclnn_table import signatures
from ..project import Project
from ..read.scalars import FUNCTIONS_FILE, ScalarNames, scalar_names
from ..read.schema_parser import parse_any_spelling
from ..read.scope import Helper
from ..read.yaml_source import read_text
from .call_forms import CallForms, forms_by_name
from .rule_forms import RuleForm, form_of_rule
from .sample_calls import SampleCall, generators, sample_calls
from .source_module import Module, literal_defaults, parameter_names, parsed

# Files of the library, below its root.
SHAPE_RULES = "mindtorch/backends/meta/rules.py"
BATCHING_RULES = "mindtorch/backends/batched/rules.py"
PROMOTION_RULES = "mindtorch/_core/promotion.py"
TENSOR = "mindtorch/_core/tensor.py"
FUNCTIONAL = "mindtorch/nn/functional.py"
# Where classes decorated with `extend_tensor` are.
TENSOR_METHODS = ("mindtorch/_core/*.py", "mindtorch/_functions/*.py", "mindtorch/_tensor_methods/*.py")
# Where the generated part of the library is: installed, or in a checkout.
LIBRARY_GENERATED = ("mindtorch/_generated", "generated")
_MAX_HOPS = 10


@dataclass(frozen=True, slots=True)
class RuleFile:
    """The names that a key of ops.yaml can have as value, and the file that defines them; None when it is absent.

    ``promoting`` are the shape rules that need a ``promotion``, ``doubling`` the words of ``promotion`` that give two
    results. ``forms`` are what rules ask of an op, ``calls`` what samples call it with, as far as the source shows it.
    """

    file: str
    names: frozenset[str] | None
    promoting: frozenset[str] = frozenset()
    doubling: frozenset[str] = frozenset()
    forms: Mapping[str, RuleForm] = field(default_factory=dict)
    calls: Mapping[str, tuple[SampleCall, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HandWritten:
    """What ops.yaml and derivatives.yaml can refer to: kernels by backend and family, rules by key of ops.yaml.

    ``sources`` are the top-level definitions of each file of the project that was read. ``methods`` are the attributes
    of a tensor that no op of the project gives it, and how they are called; empty when there is no class Tensor.
    ``extensions`` are the classes that they come from, besides Tensor, each with its module.
    ``library_ops`` are mindtorch's ops by their Python names, for a project that is not mindtorch. ``functional`` are
    the names in `nn.functional`; None when there is no such file. ``by_hand`` are the names that modules of the package
    (`nn` is `nn.functional`, None the package itself) define as something else than the op of that name;
    ``functions`` are those in the modules that `python_module` names. ``signatures`` are the functions of ACLNN.
    ``scalar_names`` are those that scalar expressions may use.
    ``is_broken``: a file could not be read, so something may be missing here that is there.
    """

    project: Project
    kernels: Mapping[tuple[str, str], Mapping[str, Kernel]]
    composites: Mapping[str, Mapping[str, Kernel]]
    helpers: Mapping[str, Helper]
    parts: Mapping[str, Helper]
    rules: Mapping[str, RuleFile]
    sources: Mapping[str, Mapping[str, ast.stmt]]
    methods: Mapping[str, CallForms] = field(default_factory=dict)
    extensions: Mapping[str, str] = field(default_factory=dict)
    library_ops: Mapping[str, CallForms] = field(default_factory=dict)
    functional: frozenset[str] | None = None
    by_hand: Mapping[str | None, frozenset[str]] = field(default_factory=dict)
    functions: Mapping[str | None, Mapping[str, Kernel]] = field(default_factory=dict)
    signatures: Mapping[str, Signature] = field(default_factory=dict)
    scalar_names: ScalarNames = field(default_factory=lambda: scalar_names(None))
    is_broken: bool = False


def read_hand_written(project: Project, problems: Problems) -> HandWritten:
    sources = _Sources(project, problems)
    kernels = {
        (backend, family): sources.functions_at(project.kernel_place(backend, family))
        for backend in project.backends
        for family in project.families
    }
    composites = {family: sources.functions_at(project.composite_place(family)) for family in project.families}
    return HandWritten(
        project=project,
        kernels={place: found for place, found in kernels.items() if found},
        composites={family: found for family, found in composites.items() if found},
        helpers=sources.helpers(Project.formula_files),
        parts=sources.helpers(Project.decomposition_files),
        rules={
            "shape": sources.shape_rules(),
            "batch": sources.batching_rules(),
            "promotion": sources.promotion_rules(),
            "samples": sources.samples(),
        },
        methods=sources.tensor_attributes(),
        extensions=sources.extensions(),
        library_ops=sources.library_ops(),
        functional=sources.names(FUNCTIONAL),
        by_hand={module: sources.by_hand(file) for module, file in project.module_files.items()},
        functions={module: sources.functions(file) for module, file in project.module_files.items() if module},
        sources=sources.everything(),
        signatures=signatures(project, problems),
        scalar_names=scalar_names(sources.module(FUNCTIONS_FILE, project.library_root)),
        is_broken=sources.is_broken,
    )


def expected_parameters(schema: FunctionSchema, with_out: bool) -> tuple[str, ...]:
    """The parameters of an op's kernel; see "Kernels" in docs/internals.md."""
    names = tuple(argument.python_name for argument in schema.inputs)
    return (*names, "out") if with_out else names


def imported_path(file: str, statement: ast.ImportFrom, sources: str) -> str:
    """Where the module lies, without its suffix, that a file imports from: in ``sources``, or near the file."""
    folder = file.removesuffix(".py").split("/")[: -statement.level] if statement.level else [sources]
    return str(PurePosixPath(*folder, *(statement.module or "").split(".")))


def imported_name(statement: ast.ImportFrom, name: str) -> str:
    """What the name is called where it comes from."""
    return next(alias.name for alias in statement.names if (alias.asname or alias.name) == name)


# The functions that a factory was given as arguments: where each parameter's value is defined, and under which name.
Given: TypeAlias = Mapping[str, tuple[Module, str]]


@dataclass(frozen=True, slots=True)
class Made:
    """A ``function`` that a ``factory`` makes, and the module of both."""

    module: Module
    factory: ast.FunctionDef
    function: ast.FunctionDef


class _Sources:
    """The modules of a project and of the library, each parsed once, found by path or by dotted name."""

    def __init__(self, project: Project, problems: Problems) -> None:
        self._nodes: dict[ast.FunctionDef, list[ast.AST]] = {}  # of factories, which many kernels come from
        self._project = project
        self._library = project.library_root
        self._problems = problems
        self._modules: dict[Path, Module | None] = {}
        self.is_broken = False

    def module(self, file: str, root: Path | None = None) -> Module | None:
        """A file of the project, or below another folder."""
        folder = root or self._project.root
        path = folder / file
        if path not in self._modules:
            self._modules[path] = self._parse(folder, file) if path.is_file() else None
        return self._modules[path]

    def _parse(self, root: Path, file: str) -> Module | None:
        module = self._parsed(read_text(root / file, file, self._problems), root, file)
        self.is_broken |= module is None
        return module

    def _parsed(self, text: str | None, root: Path, file: str) -> Module | None:
        if text is None:
            return None
        try:
            return Module(root, file, parsed(text))
        except SyntaxError as error:
            location = Location(file, error.lineno or 1, error.offset or 1)
            self._problems.add("E080", f"not Python: {error.msg}", location, "the generator reads this file, too")
        except ValueError as error:
            self._problems.add("E080", f"not Python: {error}", Location(file, 1, 1))
        except (RecursionError, MemoryError):
            self._problems.add("E080", "an expression is too deeply nested", Location(file, 1, 1), "take it apart")
        return None

    def everything(self) -> dict[str, dict[str, ast.stmt]]:
        """The definitions of the project's files, as far as they were read."""
        own = [module for module in self._modules.values() if module and module.root == self._project.root]
        return {module.file: module.everything for module in own}

    def names(self, file: str) -> frozenset[str] | None:
        """What a file of the project defines; None when it is absent."""
        module = self.module(file)
        return frozenset(module.definitions) if module else None

    def by_hand(self, file: str) -> frozenset[str]:
        """What a file of the project defines as something else than the op of that name."""
        module = self.module(file)
        generated = self._project.generated_package.rpartition(".")[2]
        return frozenset(module.defined_by_hand(generated)) if module else frozenset()

    def functions(self, file: str, imported: bool = True) -> dict[str, Kernel]:
        """The public functions of a file, also those made by a factory or ``imported`` from another module."""
        module = self.module(file)
        if module is None:
            return {}
        names = [name for name in module.definitions if not name.startswith("_")]
        if not imported:
            names = [name for name in names if not isinstance(module.definitions[name], ast.ImportFrom)]
        return {name: self._kernel(module, name) for name in names}

    def functions_at(self, place: str) -> dict[str, Kernel]:
        """The public functions of a family: of its file, or those that the files of its folder define.

        In a folder the generator finds the file, so what one file imports from another counts where it is defined.
        """
        files = self._project.files_of(place)
        if not place.endswith("/"):
            return self.functions(files[0])
        found: dict[str, Kernel] = {}
        for file in files:
            for name, kernel in self.functions(file, imported=False).items():
                found[name] = replace(found[name], second=kernel.location) if name in found else kernel
        return found

    def helpers(self, files: Callable[[Project], list[str]]) -> dict[str, Helper]:
        """The helpers of formulas, or of decompositions: those of the library, and of the project, which hide them."""
        of_library = {} if self._project.is_library else self._helpers(Project(self._library), files)
        return of_library | self._helpers(self._project, files)

    def _helpers(self, project: Project, files: Callable[[Project], list[str]]) -> dict[str, Helper]:
        """The helpers in some files of one project. No two files define the same one."""
        helpers: dict[str, Helper] = {}
        for file in files(project):
            module = self.module(file, project.root)
            for helper in module.helpers() if module else ():
                if module and helper.name in helpers:
                    hint = f"it is in {helpers[helper.name].file}, too: rename one, or remove it"
                    self._problems.add("E081", f"a second helper '{helper.name}'", module.location(helper.name), hint)
                helpers[helper.name] = replace(helper, module=project.module_of(file), file=file)
        return helpers

    def shape_rules(self) -> RuleFile:
        """The functions that make the kernels of the meta backend."""
        module = self.module(SHAPE_RULES, self._library)
        if module is None:
            return RuleFile(SHAPE_RULES, None)
        forms = {name: form_of_rule(made.factory, made.function) for name, made in self._rules(module, ("kernel",))}
        doubling = module.dict_keys("_SECOND_DTYPES")
        return RuleFile(SHAPE_RULES, self._factories(module) | forms.keys(), self._promoting(module), doubling, forms)

    def batching_rules(self) -> RuleFile:
        """The functions that make the kernels inside `vmap`: their ``rule`` takes a batch, and then the arguments."""
        module = self.module(BATCHING_RULES, self._library)
        if module is None:
            return RuleFile(BATCHING_RULES, None)
        forms = {name: _batching_form(made) for name, made in self._rules(module, ("rule", "kernel"))}
        return RuleFile(BATCHING_RULES, self._factories(module) | forms.keys(), forms=forms)

    def _factories(self, module: Module) -> frozenset[str]:
        """The names of a file that can make a kernel: of ``promotion``, of another kernel, or for an ``op``."""
        names = (name for name in module.definitions if not name.startswith("_"))
        origins = ((name, self._origin(module, name)) for name in names)
        statements = ((name, origin[0].definitions.get(origin[1])) for name, origin in origins if origin)
        return frozenset(name for name, statement in statements if _is_factory(statement))

    def _rules(self, module: Module, inner: tuple[str, ...]) -> Iterator[tuple[str, Made]]:
        """The rules of a file, each with the function of that name in the factory that it is, or is made by."""
        for name in module.definitions:
            origin = self._origin(module, name)
            statement = origin[0].definitions.get(origin[1]) if origin else None
            value = getattr(statement, "value", None)
            if origin and isinstance(statement, ast.FunctionDef):
                found = self._inside(origin[0], statement, {}, inner, 0)
            else:
                found = self._made_by(origin[0], value, {}, inner) if origin else None
            if found:
                yield name, found

    def _promoting(self, module: Module) -> frozenset[str]:
        """The rules that cannot do without their parameter ``promotion: str``."""
        origins = {name: self._origin(module, name) for name in module.definitions}
        statements = {name: origin[0].definitions.get(origin[1]) for name, origin in origins.items() if origin}
        return frozenset(name for name, statement in statements.items() if _takes_promotion(statement))

    def promotion_rules(self) -> RuleFile:
        """The functions that a dict with literal keys lists."""
        module = self.module(PROMOTION_RULES, self._library)
        if module is None:
            return RuleFile(PROMOTION_RULES, None)
        functions = {word: module.definitions.get(name) for word, name in module.dict_names("RULES").items()}
        forms = {word: form_of_rule(None, it) for word, it in functions.items() if isinstance(it, ast.FunctionDef)}
        return RuleFile(PROMOTION_RULES, module.dict_keys("RULES") or None, forms=forms)

    def samples(self) -> RuleFile:
        """The generators of test inputs: all functions, or those with the decorator ``samples`` if there is one."""
        file = self._project.samples
        module = self.module(file)
        found = module.definitions if module else {}
        return RuleFile(file, generators(found) if module else None, calls=sample_calls(found))

    def tensor_attributes(self) -> dict[str, CallForms]:
        """The methods and properties in class Tensor and in the classes that extend it."""
        modules = [*self._modules_of_methods(), *self._generated_methods()]
        return dict(pair for module in modules if module for pair in module.tensor_attributes())

    def extensions(self) -> dict[str, str]:
        """The classes that extend Tensor, each with its module; the library has them all."""
        modules = (module for module in self._modules_of_methods() if module and self._project.is_library)
        return {name: self._project.module_of(module.file) for module in modules for name in module.extensions()}

    def _modules_of_methods(self) -> list[Module | None]:
        root = self._library
        if not (root / TENSOR).is_file():
            return []
        paths = (path for pattern in TENSOR_METHODS for path in sorted(root.glob(pattern)))
        return [self.module(path.relative_to(root).as_posix(), root) for path in paths]

    def _generated_methods(self) -> Iterator[Module | None]:
        """The methods of the library's ops; none when it is the library that is generated."""
        root = self._library
        for folder in () if self._project.is_library else LIBRARY_GENERATED:
            paths = sorted((root / folder / "methods").glob("*.py"))
            yield from (self.module(path.relative_to(root).as_posix(), root) for path in paths)

    def _of_library(self, name: str) -> Module | None:
        """A generated file of the library; none when it is the library that is generated."""
        folders = () if self._project.is_library else LIBRARY_GENERATED
        modules = (self.module(f"{folder}/{name}", self._library) for folder in folders)
        return next((module for module in modules if module), None)

    def library_ops(self) -> dict[str, CallForms]:
        """The library's ops by name, without overloads, from its table of schemas."""
        module = self._of_library("schemas.py")
        texts = module.dict_texts("SCHEMAS") if module else ()
        return forms_by_name(map(parse_any_spelling, texts), method=False)

    def _kernel(self, module: Module, name: str) -> Kernel:
        """A name with the parameters that it has as a function, or with None if no function can be seen behind it."""
        location, file = module.location(name), module.file
        origin = self._origin(module, name)
        if origin is None:
            return Kernel(name, None, location, file=file)
        statement = origin[0].definitions.get(origin[1])
        if isinstance(statement, ast.FunctionDef):
            place = origin[0].location(origin[1]) if origin[0].root == module.root else location
            defaults = literal_defaults(statement.args, place.file) if place is not location else {}
            return Kernel(name, parameter_names(statement.args), place, defaults=defaults, file=file)
        value = getattr(statement, "value", None)
        if isinstance(value, ast.Lambda):
            return Kernel(name, parameter_names(value.args), location, file=file)
        made = self._made_by(origin[0], value, {}, ("kernel",))
        if made is None:
            unknown = _unknown_factory(origin[0], value)
            return Kernel(name, None, location, made=True, unknown=unknown, file=file)
        return Kernel(name, parameter_names(made.function.args), location, made=True, file=file)

    def _made_by(
        self, module: Module, call: ast.AST | None, given: Given, inner: tuple[str, ...], hops: int = 0
    ) -> Made | None:
        """What a factory call returns: the ``def kernel`` inside the factory, or how ``inner`` says that it is called.

        A factory may call another one, even one that it was ``given`` as an argument.
        """
        if hops > _MAX_HOPS or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return None
        module, name = given.get(call.func.id, (module, call.func.id))
        origin = self._origin(module, name)
        factory = origin[0].definitions.get(origin[1]) if origin else None
        if origin is None or not isinstance(factory, ast.FunctionDef):
            return None
        return self._inside(origin[0], factory, _passed_names(factory.args, call, origin[0], module), inner, hops)

    def _inside(
        self, module: Module, factory: ast.FunctionDef, given: Given, inner: tuple[str, ...], hops: int
    ) -> Made | None:
        """The first function in a factory that is called so, or that another factory which it calls has."""
        nodes = self._nodes.get(factory) or self._nodes.setdefault(factory, list(ast.walk(factory)))
        for name in inner:
            for node in nodes:
                if isinstance(node, ast.FunctionDef) and node.name == name:
                    return Made(module, factory, node)
        returned = (node.value for node in nodes if isinstance(node, ast.Return))
        made = (self._made_by(module, value, given, inner, hops + 1) for value in returned)
        return next((found for found in made if found is not None), None)

    def _origin(self, module: Module, name: str, hops: int = 0) -> tuple[Module, str] | None:
        """Follow imports and plain assignments (``a = b``) to the module and name of the definition."""
        statement = module.definitions.get(name)
        if hops > _MAX_HOPS or statement is None:
            return None
        if isinstance(statement, ast.ImportFrom):
            origin = self._imported(module, statement, name)
            return self._origin(*origin, hops + 1) if origin else None
        value = getattr(statement, "value", None)
        return self._origin(module, value.id, hops + 1) if isinstance(value, ast.Name) else (module, name)

    def _imported(self, module: Module, statement: ast.ImportFrom, name: str) -> tuple[Module, str] | None:
        own = imported_path(module.file, statement, self._project.sources)
        places = [(own, module.root if statement.level else self._project.root)]
        if not statement.level:
            places.append((imported_path(module.file, statement, ""), self._library))
        files = ((f"{each}{end}", root) for each, root in places for end in (".py", "/__init__.py"))
        source = next((found for file, root in files if (found := self.module(file, root))), None)
        return (source, imported_name(statement, name)) if source else None


def _unknown_factory(module: Module, call: ast.AST | None) -> tuple[str, str] | None:
    """The name of the factory in a call, if the module has none of that name, and a hint what was meant."""
    name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
    if not name or name in module.definitions or hasattr(builtins, name):
        return None
    return name, did_you_mean(name, module.definitions) or f"define or import it in {module.file}"


def _batching_form(made: Made) -> RuleForm:
    form = form_of_rule(made.factory, made.function, skipped=int(made.function.name == "rule"))
    return replace(form, only=made.module.dict_keys(form.table), file=made.module.file) if form.table else form


def _is_factory(statement: ast.stmt | None) -> bool:
    if not isinstance(statement, ast.FunctionDef) or statement.args.vararg:
        return False
    return [each.arg for each in statement.args.args[:1]] in ([], ["promotion"], ["kernel"], ["op"])


def _takes_promotion(statement: ast.stmt | None) -> bool:
    parameters = statement.args.args if isinstance(statement, ast.FunctionDef) else []
    return any(
        each.arg == "promotion" and isinstance(each.annotation, ast.Name) and each.annotation.id == "str"
        for each in parameters
    )


def _passed_names(arguments: ast.arguments, call: ast.Call, factory: Module, caller: Module) -> Given:
    """The parameters of a factory that are given a plain name, by their default or by the call."""
    parameters = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    defaults = zip(reversed(parameters), reversed(arguments.defaults))
    values = [(name, factory, value) for name, value in defaults]
    values += [(name, caller, value) for name, value in zip(parameters, call.args)]
    values += [(keyword.arg, caller, keyword.value) for keyword in call.keywords if keyword.arg]
    return {name: (module, value.id) for name, module, value in values if isinstance(value, ast.Name)}
