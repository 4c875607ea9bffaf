"""The settings of a project: what they mean, where files are looked for, and what wrong ones are reported as."""

from pathlib import Path

import pytest

from codegen.errors import InvalidInput, Problems
from codegen.project import LIBRARY_ROOT, Project
from codegen.project_file import SETTINGS, find_root, read_project
from codegen.tree import compare
from tests.codegen.project import Case, check_case, clean

MINIMAL = '[tool.mindtorch-codegen]\npackage = "wavelets"\n'

ERRORS = [
    Case(
        "not TOML",
        "[tool\n",
        "pyproject.toml:1:6: error[E101] not TOML: Expected ']' at the end of a table declaration",
        "check quotes, brackets and commas",
    ),
    Case(
        "unknown key",
        MINIMAL + 'backend = "cpu"\n',
        "pyproject.toml:3:1: error[E102] unknown key 'backend' in [tool.mindtorch-codegen]",
        "did you mean 'backends'?",
    ),
    Case(
        "key like no other",
        MINIMAL + "colour = 1\n",
        "pyproject.toml:3:1: error[E102] unknown key 'colour' in [tool.mindtorch-codegen]",
        f"the keys are {', '.join(SETTINGS)}",
    ),
    Case(
        "no package",
        '[project]\nname = "x"\n\n[tool.mindtorch-codegen]\nops = "ops.yaml"\n',
        "pyproject.toml:4:1: error[E103] [tool.mindtorch-codegen] has no 'package'",
        'add package = "name"',
    ),
    Case(
        "no name of a package",
        '[tool.mindtorch-codegen]\npackage = "my-ops"\n',
        "pyproject.toml:2:1: error[E104] 'package' must be the name of a package",
        "it is the package that the ops belong to",
    ),
    Case(
        "path that leads out",
        MINIMAL + 'ops = "../ops.yaml"\n',
        "pyproject.toml:3:1: error[E104] 'ops' must be a path below the project's folder, with slashes",
        "it is the list of ops",
    ),
    Case(
        "list instead of a table",
        MINIMAL + 'backends = ["CPU"]\n',
        "pyproject.toml:3:1: error[E104] 'backends' must be a table of backends and folders",
        "it is the folder of each backend's kernels",
    ),
    Case(
        "no name of a namespace",
        MINIMAL + 'namespace = "a::b"\n',
        "pyproject.toml:3:1: error[E104] 'namespace' must be a name",
        "it is what stands before '::' in the names of the ops",
    ),
    Case(
        "families of no names",
        MINIMAL + 'families = ["a b"]\n',
        "pyproject.toml:3:1: error[E104] 'families' must be a list of names",
        "it is the groups of ops, each a file",
    ),
    Case(
        "generated code outside of the package",
        MINIMAL + 'generated = "generated"\n',
        "pyproject.toml:3:1: error[E105] 'generated' is not inside the package",
        "it belongs in src/wavelets/",
    ),
    Case(
        "kernels outside of the package, in a table of their own",
        MINIMAL + '\n[tool.mindtorch-codegen.backends]\nCPU = "kernels"\n',
        "pyproject.toml:4:25: error[E105] 'kernels' is not inside the package",
        "it belongs in src/wavelets/",
    ),
    Case(
        "generated code in place of the package",
        MINIMAL + 'generated = "src/wavelets"\n',
        "pyproject.toml:3:1: error[E105] 'src/wavelets' is not inside the package",
        "it belongs in src/wavelets/",
    ),
    Case(
        "kernels among generated code",
        MINIMAL + 'formulas = "src/wavelets/_generated/formulas.py"\n',
        "pyproject.toml:3:1: error[E105] 'src/wavelets/_generated/formulas.py' is where generated code is",
        "the generator removes from src/wavelets/_generated/ what it has not written",
    ),
    Case(
        "mindtorch's package",
        '[tool.mindtorch-codegen]\npackage = "mindtorch"\n',
        "pyproject.toml:2:1: error[E105] this 'package' is mindtorch's own",
        "choose another name",
    ),
    Case(
        "mindtorch's namespace",
        MINIMAL + 'namespace = "aten"\n',
        "pyproject.toml:3:1: error[E105] this 'namespace' is mindtorch's own",
        "choose another name",
    ),
]


def project(root: Path, text: str) -> Project:
    (root / "pyproject.toml").write_text(clean(text))
    problems = Problems()
    found = read_project(root, problems)
    problems.raise_if_any()
    return found


@pytest.mark.parametrize("case", ERRORS, ids=lambda case: case.name)
def test_wrong_settings(case, tmp_path):
    (tmp_path / "pyproject.toml").write_text(case.text)
    check_case(case, tmp_path)


@pytest.mark.parametrize(
    "line, hint",
    [
        ("variants: function, method", "call it as a function of wavelets: remove 'variants'"),
        ("operators: __add__", "call it as a function of wavelets: remove 'operators'"),
        ("python_module: nn", "call it as a function of wavelets: remove 'python_module'"),
        ("scalar: self", "no loops are compiled of wavelets: remove 'scalar'"),
    ],
)
def test_tensor_and_its_modules_belong_to_mindtorch(line, hint, tmp_path):
    ops = f"- func: add(Tensor self, Tensor other) -> Tensor\n  family: pointwise\n  {line}\n  composite: add\n"
    for name, text in {"pyproject.toml": MINIMAL, "ops.yaml": ops, "derivatives.yaml": "[]\n"}.items():
        (tmp_path / name).write_text(text)
    key = line.partition(":")[0]
    error = f"ops.yaml:3:3: error[E106] '{key}' is for mindtorch's own ops"
    check_case(Case(key, "", error, hint), tmp_path)


def test_a_folder_of_other_files_is_not_taken_for_generated_code(tmp_path):
    folder = tmp_path / "src" / "wavelets" / "core"
    folder.mkdir(parents=True)
    text = MINIMAL + 'generated = "src/wavelets/core"\n'
    assert project(tmp_path, text).generated == "src/wavelets/core"
    (folder / "__init__.py").write_text("# @generated by mindtorch_codegen/emit/packages.py\n")
    assert project(tmp_path, text).generated == "src/wavelets/core"
    (folder / "__init__.py").write_text("")
    error = "pyproject.toml:3:1: error[E105] 'src/wavelets/core' has files that are not generated"
    hint = "choose a folder for generated code alone: the generator removes what it has not written"
    check_case(Case("other files", "", error, hint), tmp_path)


def test_pages_and_schemas_written_by_hand_are_left_alone(tmp_path):
    kept = tmp_path / "docs" / "ops" / "guide.md", tmp_path / "schemas" / "own.schema.json"
    left_over = tmp_path / "docs" / "ops" / "old.md"
    for path in (*kept, left_over):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}" if path in kept else "<!-- @generated by mindtorch_codegen/emit/docs.py -->\n")
    assert compare(project(tmp_path, MINIMAL), {}).removed == ("docs/ops/old.md",)


def test_a_package_has_its_files_in_the_usual_places(tmp_path):
    found = project(tmp_path, MINIMAL)
    assert found.generated_package == "wavelets._generated"
    assert found.kernel_place("CPU", "view") == "src/wavelets/cpu/view.py"
    assert found.composite_place("view") == "src/wavelets/composite/view.py"
    assert found.module_of(found.formulas) == "wavelets.formulas"
    assert found.placed("generated/ops/view.py") == "src/wavelets/_generated/ops/view.py"
    assert found.registered_name("haar.out") == "wavelets::haar.out"
    assert not found.is_library and found.library_root == LIBRARY_ROOT


def test_a_package_beside_its_settings_needs_no_folder_for_sources(tmp_path):
    (tmp_path / "wavelets").mkdir()
    found = project(tmp_path, MINIMAL)
    assert found.generated == "wavelets/_generated"
    assert found.generated_package == "wavelets._generated"


def test_a_package_inside_another_one(tmp_path):
    found = project(tmp_path, '[tool.mindtorch-codegen]\npackage = "acme.wavelets"\n')
    assert found.generated_package == "acme.wavelets._generated"
    assert found.namespace == "wavelets"


def test_every_setting_has_its_effect(tmp_path):
    values = {name: getattr(Project(tmp_path), name) for name in SETTINGS}
    changed = {
        "package": '"wavelets"',
        "namespace": '"haar"',
        "ops": '"a.yaml"',
        "derivatives": '"b.yaml"',
        "generated": '"src/wavelets/made"',
        "backends": '{ MINE = "src/wavelets/mine" }',
        "composites": '"src/wavelets/made_of_ops"',
        "formulas": '"src/wavelets/helpers.py"',
        "samples": '"test/inputs.py"',
        "docs": '"reference"',
        "schemas": '"src/wavelets/json"',
        "families": '["transforms"]',
        "aclnn_signatures": '"aclnn.tsv"',
    }
    lines = "\n".join(f"{name} = {value}" for name, value in changed.items())
    found = project(tmp_path, f"[tool.mindtorch-codegen]\n{lines}\n")
    assert [name for name in SETTINGS if getattr(found, name) == values[name]] == []


def test_without_settings_it_is_mindtorch(tmp_path):
    assert project(tmp_path, '[project]\nname = "mindtorch"\n') == Project(tmp_path)
    assert Project(tmp_path).is_library
    assert read_project(LIBRARY_ROOT, Problems()) == Project(LIBRARY_ROOT)


def test_the_project_of_a_folder_is_the_nearest_one_above(tmp_path):
    inner = tmp_path / "src" / "wavelets"
    inner.mkdir(parents=True)
    (inner / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "pyproject.toml").write_text(MINIMAL)
    assert find_root(inner) == tmp_path


def test_outside_of_all_projects_it_is_the_generators_own_checkout(tmp_path):
    assert find_root(tmp_path) == LIBRARY_ROOT


def test_no_project_and_no_checkout(tmp_path, monkeypatch):
    monkeypatch.setattr("codegen.project_file.LIBRARY_ROOT", tmp_path)
    with pytest.raises(InvalidInput) as caught:
        find_root(tmp_path)
    (found,) = caught.value.diagnostics
    assert str(found).splitlines() == [
        f"pyproject.toml:1:1: error[E100] no pyproject.toml with [tool.mindtorch-codegen] in {tmp_path} or above",
        "help: run this in a project, say where it is with --project, or start one: mindtorch-codegen init NAME",
    ]
