"""Recorded programs: what is recorded, that running gives the same, files, and errors."""

import io
import json
import pickle
import re
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

import mindtorch as torch
from mindtorch.dispatch.versions import current_version
from mindtorch.program import ProgramError, load, record
from tests.codegen.running import Running

WEIGHT = torch.tensor([1.0, 2.0, -1.0], requires_grad=True)
TIED = torch.ones(2)
TIED_VIEW = TIED.view(2)


def saved(program):
    file = io.BytesIO()
    program.save(file)
    return load(file)


def again(function, *inputs):
    """What the recorded program, and that from a file, give for the inputs; they must agree in their listings."""
    program = record(function, *(tensor.detach().clone() for tensor in inputs))
    loaded = saved(program)
    assert str(loaded) == str(program)
    return [run(*(tensor.detach().clone() for tensor in inputs)) for run in (program, loaded)]


def in_place(x, y):
    x.add_(y)
    x[0].mul_(2)
    x[1:] = torch.tensor(5.0)
    return x


def writes_to_constants(x, y):
    total = torch.zeros(3)
    total += x
    total[0].add_(y[0])
    return total, total.sum()


def without_gradients(x, y):
    with torch.no_grad():
        factor = (x * WEIGHT).sum()
    return WEIGHT * factor, factor


def written_into(x, y):
    out = torch.empty(0)
    return torch.add(x, y, alpha=2, out=out), out


def new_memory_for_an_output(x, y):
    """The outputs leave their memory, where later constants may come to lie."""
    for number in range(4):
        torch.cat([x, y], out=torch.empty(0))
        x = x + torch.tensor([1.0 * number])
    return x


FUNCTIONS = {
    "arithmetic": lambda x, y: (x * 2 + y / 3 - 1) ** 2,
    "number first": lambda x, y: 2 - torch.mul(3, x),
    "views": lambda x, y: x.view(3, 1).expand(3, 2).t()[0, ::2],
    "separate ints": lambda x, y: x.view(3, 1).permute(1, 0).reshape(3, 1, 1),
    "several results": lambda x, y: torch.stack([x, y]).max(0),
    "lists": lambda x, y: torch.cat([x, y, x], dim=0).split([2, 4, 3])[1],
    "list results": lambda x, y: torch.stack([x, y]).unbind(),
    "indices": lambda x, y: torch.stack([x, y])[:, [0, 2]][torch.tensor([True, False])],
    "optional lists": lambda x, y: torch.stack([x, y])[:, torch.tensor([0, 2])],
    "dtypes": lambda x, y: (x.to(torch.float64), x.long(), y.type(torch.bool), x.to(torch.bfloat16)),
    "factories": lambda x, y: torch.zeros(3, dtype=torch.int64, device="cpu") + torch.full((3,), float("inf")),
    "special floats": lambda x, y: torch.full_like(x, float("nan")).nan_to_num(-float("inf")).clamp(-float("inf"), 1.0),
    "complex numbers": lambda x, y: x.to(torch.complex64) * (1 - 2j),
    "formats": lambda x, y: x.reshape(1, 3, 1, 1).contiguous(memory_format=torch.channels_last).clone(),
    "layouts": lambda x, y: torch.ones_like(x, layout=torch.strided),
    "texts": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "in place": in_place,
    "constants that are written to": writes_to_constants,
    "without gradients": without_gradients,
    "out=": written_into,
    "out= that takes on its shape": new_memory_for_an_output,
    "composite ops": lambda x, y: torch.nn.functional.cross_entropy(torch.stack([x, y]), torch.tensor([0, 2])),
    "nested results": lambda x, y: {"a": [x, (y, 3)], "b": {"c": None, 1: "text"}, "d": x + y},
    "an input": lambda x, y: y,
    "the same twice": lambda x, y: [x + y] * 2,
    "nothing": lambda x, y: None,
    "constants that share memory": lambda x, y: (TIED.t() + x[:2], TIED_VIEW * y[:2]),
    "a view that is written to": lambda x, y: (x.view(1, 3).mul_(y), x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_running_gives_the_same(name):
    function = FUNCTIONS[name]
    x, y = torch.tensor([1.0, -2.0, 3.5]), torch.tensor([0.5, 4.0, -1.0])
    expected = function(x.clone(), y.clone())
    for result in again(function, x, y):
        assert_same(result, expected)


def assert_same(result, expected):
    if isinstance(expected, torch.Tensor):
        torch.testing.assert_close(result, expected, rtol=0, atol=0, equal_nan=True)
        assert result.requires_grad == expected.requires_grad
    elif isinstance(expected, dict):
        assert result.keys() == expected.keys()
        for key in expected:
            assert_same(result[key], expected[key])
    elif isinstance(expected, (list, tuple)):
        assert isinstance(result, list) == isinstance(expected, list)
        assert len(result) == len(expected)
        for one, other in zip(result, expected):
            assert_same(one, other)
    else:
        assert result == expected


def test_listing():
    weight = torch.ones(2, 3)
    total = torch.zeros(2)

    def function(x, y):
        with torch.no_grad():
            values, _ = (x @ weight.t()).max(dim=0, keepdim=True)
        total.add_(values[0], alpha=2)
        return {"total": total, "size": (values, 3)}

    assert str(record(function, torch.ones(4, 3), torch.ones(1))) == (
        "program(%0, %1):\n"
        "    %2 = float32[2, 3] constant\n"
        "    %8 = float32[2] constant, copied for each run\n"
        "    %3 = t(input=%2)  # no grad\n"
        "    %4 = matmul(input=%0, other=%3)  # no grad\n"
        "    %5, %6 = max.dim(input=%4, dim=0, keepdim=True)  # no grad\n"
        "    %7 = select.int(input=%5, dim=0, index=0)\n"
        "    %8 = add_.Tensor(input=%8, other=%7, alpha=2)\n"
        "    return {'total': %8, 'size': (%5, 3)}"
    )


def test_other_shapes_and_dtypes():
    program = record(lambda x: x.sum(-1, keepdim=True) * x, torch.ones(2))
    x = torch.arange(6, dtype=torch.float64).view(2, 3)
    assert program(x).tolist() == (x.sum(-1, keepdim=True) * x).tolist()


def test_gradients_reach_inputs_and_parameters():
    model = torch.nn.Linear(3, 2)
    program = record(lambda x: model(x).sum(), torch.ones(3))
    x = torch.ones(3, requires_grad=True)
    program(x).backward()
    assert model.weight.grad.tolist() == [[1.0] * 3] * 2
    assert x.grad.tolist() == pytest.approx(model.weight.sum(0).tolist())
    assert saved(program)(x).requires_grad


def test_runs_do_not_disturb_each_other():
    program = record(lambda x: torch.zeros(1).add_(x), torch.ones(1))
    assert [program(torch.full((1,), 3.0)).item() for _ in range(3)] == [3.0, 3.0, 3.0]


def test_random_numbers_are_new_each_time():
    program = record(lambda x: torch.rand_like(x) + torch.randn(2), torch.ones(2))
    torch.manual_seed(3)
    first = program(torch.ones(2))
    assert not torch.equal(first, program(torch.ones(2)))
    torch.manual_seed(3)
    assert torch.equal(first, program(torch.ones(2)))


def test_methods_and_deprecated_calls_are_recorded_as_what_they_do():
    with pytest.warns(UserWarning, match="This overload of add is deprecated"):
        program = record(lambda x: x.add(2, x), torch.ones(2))
    assert [str(step) for step in program.steps] == ["%1 = add.Tensor(input=%0, other=%0, alpha=2)"]


def test_a_path(tmp_path):
    path = tmp_path / "twice.program"
    record(lambda x: x * 2, torch.ones(1)).save(path)
    assert load(path)(torch.tensor([4.0])).item() == 8
    assert load(str(path))(torch.tensor([4.0])).item() == 8


def test_nothing_is_recorded_afterwards():
    program = record(lambda x: x * 2, torch.ones(1))
    torch.ones(2) + 1
    with pytest.raises(ZeroDivisionError):
        record(lambda x: 1 / 0, torch.ones(1))
    assert len(program.steps) == 1
    assert len(record(lambda x: x + 1, torch.ones(1)).steps) == 1


def test_ops_of_a_library():
    @torch.library.custom_op("program_tests::weighted", mutates_args=())
    def weighted(x: torch.Tensor, weight: float, *, sizes: list[int]) -> torch.Tensor:
        return x * weight + sum(sizes)

    for result in again(lambda x: weighted(x + 1, 2.0, sizes=[1, 2]) * 2, torch.ones(2)):
        assert result.tolist() == [14, 14]


# -------------------- what cannot be recorded --------------------


def nested(x):
    return record(lambda y: y + 1, x)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda x: torch.rand(2, generator=torch.Generator()) + x,
            "argument 'generator' of rand: a value of type Generator cannot be recorded",
        ),
        (
            lambda x: (x.requires_grad_() * 2).sum().backward(),
            "a backward pass, which cannot be recorded",
        ),
        (
            lambda x: x.data.mul_(2),
            "a tensor that shares the memory of %0 was not made by an op, so what happens to it cannot be recorded: "
            "use detach() or a view instead of .data, .numpy() and the like",
        ),
        (
            lambda x: (TIED.mul_(2), TIED_VIEW + x),
            "a tensor that shares the memory of a constant that was written to was not made by an op",
        ),
        (
            lambda x: (TIED + TIED_VIEW, TIED.mul_(2)),
            "a tensor that shares the memory of %1 was not made by an op",
        ),
        (nested, "a program is being recorded already"),
        (lambda x: object(), "the result: a value of type object cannot be recorded"),
    ],
    ids=["generator", "backward", "data", "tied and written", "tied, then written", "nested", "result"],
)
def test_what_cannot_be_recorded(function, message):
    with pytest.raises(ProgramError) as caught:
        record(function, torch.ones(2))
    assert message in str(caught.value)


def test_inputs_are_tensors():
    with pytest.raises(TypeError, match=r"input 1 of record\(\) must be Tensor, not int"):
        record(torch.add, torch.ones(1), 2)
    program = record(torch.add, torch.ones(1), torch.ones(1))
    with pytest.raises(TypeError, match="the program takes 2 tensors but 1 were given"):
        program(torch.ones(1))
    with pytest.raises(TypeError, match="input 1 of the program must be Tensor, not int"):
        program(torch.ones(1), 2)


def test_a_step_that_fails_is_named():
    program = record(lambda x, y: (x * 2) @ y, torch.ones(2, 3), torch.ones(3, 2))
    with pytest.raises(ProgramError) as caught:
        program(torch.ones(2, 3), torch.ones(2, 2))
    step = "step 1 of the program, %3 = matmul(input=%2, other=%1): "
    assert str(caught.value).startswith(step)
    assert isinstance(caught.value.__cause__, RuntimeError)


# -------------------- files --------------------


@pytest.fixture
def document():
    file = io.BytesIO()
    record(lambda x: torch.ones(2, 1) * x + torch.tensor(1.5), torch.ones(2)).save(file)
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(path, parts, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def test_format(document):
    assert json.loads(document["program.json"]) == {
        "format": "mindtorch program",
        "format_version": 1,
        "inputs": 1,
        "constants": [3],
        "scratch": [],
        "steps": [
            {"op": "ones", "version": 1, "arguments": {"size": {"tuple": [2, 1]}}, "results": [1]},
            {
                "op": "mul.Tensor",
                "version": 1,
                "arguments": {"input": {"tensor": 1}, "other": {"tensor": 0}},
                "results": [2],
            },
            {
                "op": "add.Tensor",
                "version": 1,
                "arguments": {"input": {"tensor": 2}, "other": {"tensor": 3}},
                "results": [4],
            },
        ],
        "result": {"tensor": 4},
    }


WRONG = {
    "another format": (("format", "pickle"), "it is no saved program"),
    "a later format": (("format_version", 2), "its format has version 2, and only 1 is known here"),
    "no steps": (("steps", None), "steps: it must be a list, not None"),
    "too many inputs": (("inputs", 10**9), "inputs: 1000000000 are too many"),
    "a key that is a tensor": (("result", {"dict": [[{"tensor": 0}, 1]]}), "result: [[{'tensor': 0}, 1]] is no dict"),
    "wrong inputs": (("inputs", -1), "inputs: it must be a number, not -1"),
    "wrong constants": (("constants", [3, 4]), "constants: constants.pt does not hold 2 tensors"),
    "a step that is none": (("steps", 1, 7), "steps[1].op: it must be a name, not None"),
    "an unknown op": (
        ("steps", 1, "op", "turn"),
        "steps[1]: there is no op 'turn': it was added by a later release, or has been removed",
    ),
    "a later version": (
        ("steps", 1, "version", 2),
        "steps[1]: 'mul.Tensor' has no version 2 yet (known: 1): use a later release of mindtorch",
    ),
    "wrong arguments": (("steps", 1, "arguments", []), "steps[1].arguments: it must be an object, not []"),
    "a value that is not there yet": (
        ("steps", 1, "arguments", "other", {"tensor": 4}),
        "steps[1].arguments.other: there is no %4 yet",
    ),
    "an unknown kind of value": (
        ("steps", 1, "arguments", "other", {"code": "print()"}),
        "steps[1].arguments.other: {'code': 'print()'} is none of: tensor, tuple, dict, float, complex, device, dtype, "
        "layout, memory_format",
    ),
    "an unknown dtype": (("steps", 1, "arguments", "d", {"dtype": "os"}), "steps[1].arguments.d: 'os' is no dtype"),
    "a bad complex number": (("result", {"complex": 3}), "result: 3 is no complex"),
    "wrong results": (("steps", 1, "results", "2"), "steps[1].results: it must be a list of numbers, not '2'"),
    "a result that is not there": (("result", [{"tensor": 9}]), "result: there is no %9 yet"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files(document, name, tmp_path):
    (*keys, last, value), message = WRONG[name]
    content = json.loads(document["program.json"])
    place = content
    for key in keys:
        place = place[key]
    place[last] = value
    path = written(tmp_path / "x.program", document | {"program.json": json.dumps(content)})
    with pytest.raises(ProgramError) as caught:
        load(path)
    assert str(caught.value).removeprefix(str(path)).lstrip(": ") == message


@pytest.mark.parametrize(
    "damage",
    [
        lambda parts, path: path.write_bytes(b"no archive"),
        lambda parts, path: written(path, {"program.json": parts["program.json"]}),
        lambda parts, path: written(path, {"constants.pt": parts["constants.pt"]}),
        lambda parts, path: written(path, parts | {"program.json": b"{"}),
        lambda parts, path: written(path, parts | {"program.json": b"\xff"}),
        lambda parts, path: written(path, parts | {"constants.pt": b"no archive"}),
        lambda parts, path: written(path, parts | {"program.json": b"[]"}),
        lambda parts, path: written(path, parts | {"program.json": b"[" * 100_000}),
        lambda parts, path: written(path, parts, zipfile.ZIP_DEFLATED),
        lambda parts, path: written(path, parts | {"constants.pt": pickle.dumps([Path("x")])}),
    ],
)
def test_damaged_files(document, damage, tmp_path):
    path = tmp_path / "x.program"
    damage(document, path)
    with pytest.raises(ProgramError, match="no saved program"):
        load(path)


def test_values_that_are_nested_too_deeply(document, tmp_path):
    content = json.loads(document["program.json"]) | {"result": None}
    deep = json.dumps(content).replace('"result": null', f'"result": {"[" * 700}{"]" * 700}')
    path = written(tmp_path / "x.program", document | {"program.json": deep})
    with pytest.raises(ProgramError, match="nested too deeply|recursion"):
        load(path)


@pytest.mark.parametrize("file", [5, None, b"x.program"])
def test_what_is_no_file(file):
    with pytest.raises(TypeError, match=r"load\(\) takes a path or an open file, not"):
        load(file)


def test_every_changed_byte_of_the_constants_is_refused_or_harmless(document):
    """Whatever is in the file, loading it gives a program or a ProgramError."""
    with zipfile.ZipFile(io.BytesIO(document["constants.pt"])) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    (pickled,) = (name for name in parts if name.endswith(".pkl"))
    original = parts[pickled]
    for place in range(len(original)):
        data = bytearray(original)
        data[place] ^= 0x15
        constants, file = io.BytesIO(), io.BytesIO()
        written(constants, parts | {pickled: bytes(data)})
        written(file, document | {"constants.pt": constants.getvalue()})
        with suppress(ProgramError):
            load(file)


def test_the_example_of_the_documentation(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[3] / "docs/programs.md").read_text(encoding="utf-8")
    source, listing = re.findall(r"```(?:python)?\n(.*?)```", page, re.DOTALL)[:2]
    exec(source, {})
    assert capsys.readouterr().out == listing


# -------------------- old versions --------------------

SHIFT = """
- func: shift(Tensor self, int by, *, bool wrap) -> Tensor
  family: view
  autogen: inplace, out
  composite: shift
"""
VERSIONS = """
  versions:
    - version: 1
      func: shift(Tensor self, int distance=1) -> Tensor
      upgrade: shift(self, -distance)
    - version: 2
      func: shift(Tensor self, int by, bool around=True) -> Tensor
      upgrade: shift(self, by, wrap=around)
"""


def test_a_program_keeps_working_when_its_ops_change(tmp_path, monkeypatch):
    x, out = torch.tensor([1.0, 2.0, 3.0]), torch.empty(0)
    path = tmp_path / "old.program"
    first = SHIFT.replace("int by, *, bool wrap", "int distance=1")
    running = Running(tmp_path / "1", first, monkeypatch, shift=lambda input, distance: input.roll(distance))
    shift, shift_ = running.functions.shift, running.functions.shift_

    def function(x):
        y = shift(x) * 2
        shift_(y, 2)
        return y, shift(x, distance=2, out=torch.empty(0))

    expected = function(x)
    program = record(function, x)
    assert [step.version for step in program.steps if "shift" in step.op] == [1, 1, 1]
    program.save(path)

    def shifted(input, by, *, wrap):
        return input.roll(-by) if wrap else input.narrow(0, by, 1)

    third = SHIFT + VERSIONS.removeprefix("\n")
    Running(tmp_path / "3", third, monkeypatch, shift=shifted)
    assert current_version("shift") == 3
    loaded = load(path)
    assert "%1 = shift version 1(input=%0)" in str(loaded)
    assert_same(loaded(x), expected)
    assert out.numel() == 0
