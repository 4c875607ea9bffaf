"""What the hand-written sources define: kernels, composite functions, shape rules and formula helpers.

Everything is read with ``ast`` and nothing imported, so that the generator works while the library does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from .call_forms import CallForms, form_of_function, form_of_member, forms_by_name
from .errors import Problems
from .model import FunctionSchema, Kernel, Location
from .project import Project
from .schema import parse_any_spelling
from .scope import Helper
from .yaml_source import Scalar, read_text

# Files of the library, below its root.
SHAPE_RULES = "mindtorch/backends/meta/rules.py"
BATCHING_RULES = "mindtorch/backends/batched/rules.py"
PROMOTION_RULES = "mindtorch/promotion.py"
TENSOR = "mindtorch/tensor.py"
FUNCTIONAL = "mindtorch/nn/functional.py"
# Where classes decorated with `extend_tensor` are.
TENSOR_METHODS = ("mindtorch/*.py", "mindtorch/methods/*.py", "mindtorch/autograd/tensor_methods.py")
# Where the generated part of the library is: installed, or in a checkout.
LIBRARY_GENERATED = ("mindtorch/_generated", "generated")
_MAX_HOPS = 10


@dataclass(frozen=True, slots=True)
class RuleFile:
    """The names that a key of ops.yaml can have as value, and the file that defines them; None when it is absent.

    ``promoting`` are the shape rules that need a ``promotion``.
    """

    file: str
    names: frozenset[str] | None
    promoting: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class HandWritten:
    """What ops.yaml and derivatives.yaml can refer to: kernels by backend and family, rules by key of ops.yaml.

    ``sources`` are the top-level definitions of each file of the project that was read. ``methods`` are the attributes
    of a tensor that no op of the project gives it, and how they are called; empty when there is no class Tensor.
    ``library_ops`` are mindtorch's ops by their Python names, for a project that is not mindtorch. ``functional`` are
    the names in `nn.functional`; None when there is no such file. ``by_hand`` are the names that modules of the package
    (`nn` is `nn.functional`, None the package itself) define as something else than the op of that name.
    ``is_broken``: a file could not be read, so something may be missing here that is there.
    """

    project: Project
    kernels: Mapping[tuple[str, str], Mapping[str, Kernel]]
    composites: Mapping[str, Mapping[str, Kernel]]
    helpers: Mapping[str, Helper]
    rules: Mapping[str, RuleFile]
    sources: Mapping[str, Mapping[str, ast.stmt]]
    methods: Mapping[str, CallForms] = field(default_factory=dict)
    library_ops: Mapping[str, CallForms] = field(default_factory=dict)
    functional: frozenset[str] | None = None
    by_hand: Mapping[str | None, frozenset[str]] = field(default_factory=dict)
    is_broken: bool = False


def read_hand_written(project: Project, problems: Problems) -> HandWritten:
    sources = _Sources(project, problems)
    kernels = {
        (backend, family): sources.functions(project.kernel_file(backend, family))
        for backend in project.backends
        for family in project.families
    }
    composites = {family: sources.functions(project.composite_file(family)) for family in project.families}
    return HandWritten(
        project=project,
        kernels={place: found for place, found in kernels.items() if found},
        composites={family: found for family, found in composites.items() if found},
        helpers=sources.helpers(),
        rules={
            "shape": sources.rule_file(SHAPE_RULES, project.library_root),
            "batch": sources.rule_file(BATCHING_RULES, project.library_root),
            "promotion": sources.rule_table(PROMOTION_RULES, "RULES"),
            "samples": sources.rule_file(project.samples, project.root),
        },
        methods=sources.tensor_attributes(),
        library_ops=sources.library_ops(),
        functional=sources.names(FUNCTIONAL),
        by_hand={module: sources.by_hand(file) for module, file in project.module_files.items()},
        sources=sources.everything(),
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


@cache
def _tree(text: str) -> ast.Module:
    """A parsed file, read only: the schema diff reads two states of the sources, most of which are the same."""
    return ast.parse(text)


class _Module:
    """The top level of one source file, ``file`` below the folder ``root``."""

    def __init__(self, root: Path, file: str, tree: ast.Module) -> None:
        self.root = root
        self.file = file
        self._tree = tree

    @cached_property
    def definitions(self) -> dict[str, ast.stmt]:
        """The statement that gives each name: a function, an assignment or an import."""
        return {name: statement for statement in self._tree.body for name in _defined_names(statement)}

    @property
    def everything(self) -> dict[str, ast.stmt]:
        """The definitions, and the classes."""
        return self.definitions | {each.name: each for each in self._tree.body if isinstance(each, ast.ClassDef)}

    def location(self, name: str) -> Location:
        statement = self.definitions[name]
        return Location(self.file, statement.lineno, statement.col_offset + 1)

    def helpers(self) -> Iterator[Helper]:
        """The public functions and constants that are defined here, imported ones excepted."""
        for name, statement in self.definitions.items():
            if name.startswith("_") or isinstance(statement, ast.ImportFrom):
                continue
            yield Helper(name, form_of_function(statement.args) if isinstance(statement, ast.FunctionDef) else None)

    def defined_by_hand(self, generated: str) -> Iterator[str]:
        """The names that stand for something else than the op of that name. ``generated`` is a part of module names."""
        for name, statement in self.definitions.items():
            value = getattr(statement, "value", None)
            is_op = isinstance(value, ast.Attribute) and value.attr == name
            is_imported = isinstance(statement, ast.ImportFrom) and generated in (statement.module or "").split(".")
            if not is_op and not is_imported:
                yield name

    def dict_keys(self, name: str) -> frozenset[str]:
        """The literal keys of a dict."""
        value = getattr(self.definitions.get(name), "value", None)
        keys = value.keys if isinstance(value, ast.Dict) else []
        return frozenset(str(key.value) for key in keys if isinstance(key, ast.Constant))

    def dict_texts(self, name: str) -> Iterator[Scalar]:
        """The literal texts that are the values of a dict."""
        value = getattr(self.definitions.get(name), "value", None)
        for each in value.values if isinstance(value, ast.Dict) else []:
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                yield Scalar(each.value, Location(self.file, each.lineno, each.col_offset + 1))

    def tensor_attributes(self) -> Iterator[tuple[str, CallForms]]:
        """What the bodies of class Tensor and of those with the decorator ``extend_tensor`` define."""
        for statement in self._tree.body:
            if isinstance(statement, ast.ClassDef) and _is_of_tensor(statement):
                for member in statement.body:
                    yield from ((name, form_of_member(member)) for name in _defined_names(member))


# The functions that a factory was given as arguments: where each parameter's value is defined, and under which name.
Given: TypeAlias = Mapping[str, tuple[_Module, str]]


class _Sources:
    """The modules of a project and of the library, each parsed once, found by path or by dotted name."""

    def __init__(self, project: Project, problems: Problems) -> None:
        self._project = project
        self._library = project.library_root
        self._problems = problems
        self._modules: dict[Path, _Module | None] = {}
        self.is_broken = False

    def module(self, file: str, root: Path | None = None) -> _Module | None:
        """A file of the project, or below another folder."""
        folder = root or self._project.root
        path = folder / file
        if path not in self._modules:
            self._modules[path] = self._parse(folder, file) if path.is_file() else None
        return self._modules[path]

    def _parse(self, root: Path, file: str) -> _Module | None:
        module = self._parsed(read_text(root / file, file, self._problems), root, file)
        self.is_broken |= module is None
        return module

    def _parsed(self, text: str | None, root: Path, file: str) -> _Module | None:
        if text is None:
            return None
        try:
            return _Module(root, file, _tree(text))
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

    def functions(self, file: str) -> dict[str, Kernel]:
        """The public functions of a file, also those made by a factory or taken from another module."""
        module = self.module(file)
        if module is None:
            return {}
        names = (name for name in module.definitions if not name.startswith("_"))
        return {name: self._kernel(module, name) for name in names}

    def helpers(self) -> dict[str, Helper]:
        """The helpers of formulas: those of the library, and of the project, which hide them."""
        of_library = {} if self._project.is_library else self._helpers(Project(self._library))
        return of_library | self._helpers(self._project)

    def _helpers(self, project: Project) -> dict[str, Helper]:
        """The helpers in the files of one project. No two files define the same one."""
        helpers: dict[str, Helper] = {}
        for file in project.formula_files():
            module = self.module(file, project.root)
            for helper in module.helpers() if module else ():
                if module and helper.name in helpers:
                    hint = f"it is in {helpers[helper.name].file}, too: rename one, or remove it"
                    self._problems.add("E081", f"a second helper '{helper.name}'", module.location(helper.name), hint)
                helpers[helper.name] = replace(helper, module=project.module_of(file), file=file)
        return helpers

    def rule_file(self, file: str, root: Path) -> RuleFile:
        """A file whose functions are the rules."""
        module = self.module(file, root)
        return (
            RuleFile(file, frozenset(module.definitions), self._promoting(module)) if module else RuleFile(file, None)
        )

    def _promoting(self, module: _Module) -> frozenset[str]:
        """The rules that cannot do without their parameter ``promotion: str``."""
        origins = {name: self._origin(module, name) for name in module.definitions}
        statements = {name: origin[0].definitions.get(origin[1]) for name, origin in origins.items() if origin}
        return frozenset(name for name, statement in statements.items() if _takes_promotion(statement))

    def rule_table(self, file: str, table: str) -> RuleFile:
        """A file of the library that lists its rules in a dict with literal keys."""
        module = self.module(file, self._library)
        return RuleFile(file, module.dict_keys(table) or None if module else None)

    def tensor_attributes(self) -> dict[str, CallForms]:
        """The methods and properties in class Tensor and in the classes that extend it."""
        root = self._library
        if not (root / TENSOR).is_file():
            return {}
        paths = (path for pattern in TENSOR_METHODS for path in sorted(root.glob(pattern)))
        modules = [self.module(path.relative_to(root).as_posix(), root) for path in paths]
        modules += [self._of_library("tensor_methods.py")]
        return dict(pair for module in modules if module for pair in module.tensor_attributes())

    def _of_library(self, name: str) -> _Module | None:
        """A generated file of the library; none when it is the library that is generated."""
        folders = () if self._project.is_library else LIBRARY_GENERATED
        modules = (self.module(f"{folder}/{name}", self._library) for folder in folders)
        return next((module for module in modules if module), None)

    def library_ops(self) -> dict[str, CallForms]:
        """The library's ops by name, without overloads, from its table of schemas."""
        module = self._of_library("schemas.py")
        texts = module.dict_texts("SCHEMAS") if module else ()
        return forms_by_name(map(parse_any_spelling, texts), method=False)

    def _kernel(self, module: _Module, name: str) -> Kernel:
        """A name with the parameters that it has as a function, or with None if no function can be seen behind it."""
        location = module.location(name)
        origin = self._origin(module, name)
        if origin is None:
            return Kernel(name, None, location)
        statement = origin[0].definitions.get(origin[1])
        if isinstance(statement, ast.FunctionDef):
            place = origin[0].location(origin[1]) if origin[0].root == module.root else location
            return Kernel(name, _parameter_names(statement.args), place)
        value = getattr(statement, "value", None)
        if isinstance(value, ast.Lambda):
            return Kernel(name, _parameter_names(value.args), location)
        return Kernel(name, self._made_by(origin[0], value, {}, 0), location, made=True)

    def _made_by(self, module: _Module, call: ast.AST | None, given: Given, hops: int) -> tuple[str, ...] | None:
        """The parameters of what a factory call returns: those of the ``def kernel`` inside the factory.

        A factory may call another one, even one that it was ``given`` as an argument.
        """
        if hops > _MAX_HOPS or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return None
        module, name = given.get(call.func.id, (module, call.func.id))
        origin = self._origin(module, name)
        factory = origin[0].definitions.get(origin[1]) if origin else None
        if origin is None or not isinstance(factory, ast.FunctionDef):
            return None
        for node in ast.walk(factory):
            if isinstance(node, ast.FunctionDef) and node.name == "kernel":
                return _parameter_names(node.args)
        passed = _passed_names(factory.args, call, origin[0], module)
        returned = (node.value for node in ast.walk(factory) if isinstance(node, ast.Return))
        made = (self._made_by(origin[0], value, passed, hops + 1) for value in returned)
        return next((parameters for parameters in made if parameters is not None), None)

    def _origin(self, module: _Module, name: str, hops: int = 0) -> tuple[_Module, str] | None:
        """Follow imports and plain assignments (``a = b``) to the module and name of the definition."""
        statement = module.definitions.get(name)
        if hops > _MAX_HOPS or statement is None:
            return None
        if isinstance(statement, ast.ImportFrom):
            origin = self._imported(module, statement, name)
            return self._origin(*origin, hops + 1) if origin else None
        value = getattr(statement, "value", None)
        return self._origin(module, value.id, hops + 1) if isinstance(value, ast.Name) else (module, name)

    def _imported(self, module: _Module, statement: ast.ImportFrom, name: str) -> tuple[_Module, str] | None:
        own = imported_path(module.file, statement, self._project.sources)
        places = [(own, module.root if statement.level else self._project.root)]
        if not statement.level:
            places.append((imported_path(module.file, statement, ""), self._library))
        files = ((f"{each}{end}", root) for each, root in places for end in (".py", "/__init__.py"))
        source = next((found for file, root in files if (found := self.module(file, root))), None)
        return (source, imported_name(statement, name)) if source else None


def _defined_names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id
    elif isinstance(statement, ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in statement.names)


def _is_of_tensor(statement: ast.ClassDef) -> bool:
    extends = any(isinstance(node, ast.Name) and node.id == "extend_tensor" for node in statement.decorator_list)
    return extends or statement.name == "Tensor"


def _takes_promotion(statement: ast.stmt | None) -> bool:
    parameters = statement.args.args if isinstance(statement, ast.FunctionDef) else []
    return any(
        each.arg == "promotion" and isinstance(each.annotation, ast.Name) and each.annotation.id == "str"
        for each in parameters
    )


def _passed_names(arguments: ast.arguments, call: ast.Call, factory: _Module, caller: _Module) -> Given:
    """The parameters of a factory that are given a plain name, by their default or by the call."""
    parameters = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    defaults = zip(reversed(parameters), reversed(arguments.defaults))
    values = [(name, factory, value) for name, value in defaults]
    values += [(name, caller, value) for name, value in zip(parameters, call.args)]
    values += [(keyword.arg, caller, keyword.value) for keyword in call.keywords if keyword.arg]
    return {name: (module, value.id) for name, module, value in values if isinstance(value, ast.Name)}


def _parameter_names(arguments: ast.arguments) -> tuple[str, ...]:
    """All parameters in order, keyword-only ones flattened; ``*args`` and ``**kwargs`` keep their stars."""
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg:
        names.append(f"*{arguments.vararg.arg}")
    names += [argument.arg for argument in arguments.kwonlyargs]
    if arguments.kwarg:
        names.append(f"**{arguments.kwarg.arg}")
    return tuple(names)
