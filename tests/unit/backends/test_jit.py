"""When compiled loops are used: MINDTORCH_JIT, the cache and its files, and the process that fills it."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HAS_LLVMLITE = find_spec("llvmlite") is not None
needs_llvmlite = pytest.mark.skipif(not HAS_LLVMLITE, reason="compiled loops need llvmlite")

SILU = """
import json, sys
import mindtorch as torch
before = [name for name in ("llvmlite", "numba") if sys.modules.get(name)]
bits = torch.nn.functional.silu(torch.linspace(-4, 4, 1000)).numpy().tobytes().hex()
print(json.dumps({"before": before, "bits": bits, **torch.backends.jit.flags()._asdict()}))
"""
NO_LLVMLITE = "import sys; sys.modules['llvmlite'] = None\n"  # an import fails then


def started(code, folder, mode="auto", **environment):
    own = {
        "MINDTORCH_JIT": mode,
        "MINDTORCH_KERNELS": str(folder),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
    }
    command = [sys.executable, "-c", code] if isinstance(code, str) else [sys.executable, *code]
    return subprocess.Popen(
        command, env={**os.environ, **own, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run(code, folder, mode="auto", **environment):
    process = started(code, folder, mode, **environment)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return json.loads(out.splitlines()[-1]) if out.startswith("{") else out


def failure(code, folder, mode):
    process = started(code, folder, mode)
    _, err = process.communicate(timeout=120)
    assert process.returncode != 0
    return err


def build(folder, *names):
    return run(["-m", "mindtorch.kernels", "build", *names], folder)


def test_without_compiled_loops_nothing_of_them_is_imported(tmp_path):
    found = run(SILU, tmp_path, "0")
    assert (found["mode"], found["before"], found["compiled"], found["numpy"]) == ("0", [], [], [])
    assert list(tmp_path.iterdir()) == []


def test_another_word_is_refused(tmp_path):
    assert "MINDTORCH_JIT is 'yes'; it must be 0, 1 or auto" in failure(SILU, tmp_path, "yes")


def test_without_llvmlite_numpy_serves_and_a_wish_is_refused(tmp_path):
    code = NO_LLVMLITE + SILU
    assert run(code, tmp_path)["compiled"] == []
    expected = "MINDTORCH_JIT=1 needs llvmlite, which is not installed: pip install 'mindtorch[jit]'"
    assert expected in failure(code, tmp_path, "1")


@needs_llvmlite
def test_a_run_loads_what_was_built(tmp_path):
    assert build(tmp_path, "silu") == f"{tmp_path}: 1 compiled, 0 were there\n"
    assert build(tmp_path, "silu") == f"{tmp_path}: 0 compiled, 1 were there\n"
    found = run(SILU, tmp_path)
    assert (found["before"], found["compiled"], found["directory"]) == ([], ["silu"], str(tmp_path))
    assert found["bits"] == run(SILU, tmp_path, "1")["bits"]


@needs_llvmlite
def test_one_compiles_at_once_and_keeps_it(tmp_path):
    assert run(SILU, tmp_path, "1")["compiled"] == ["silu"]
    (kept,) = tmp_path.iterdir()
    code = kept.read_bytes()
    kept.write_bytes(code[:-100])  # a file that is damaged is written again
    assert run(SILU, tmp_path, "1")["compiled"] == ["silu"]
    assert kept.read_bytes() == code


LAYOUTS = """
import mindtorch as torch
F = torch.nn.functional
x = torch.randn(1200, 1000, generator=torch.Generator().manual_seed(0))
for op in (F.silu, F.gelu, lambda x: F.softplus(x, 2.0), lambda x: torch.lerp(x, -x, 0.3)):
    torch.set_num_threads(1)
    expected = op(x)
    torch.set_num_threads(2)
    spread = torch.zeros(1200, 2000)[:, ::2]
    for found in (op(x), op(x.t().contiguous().t()), op(spread.copy_(x)), torch.stack([op(each) for each in x])):
        assert torch.equal(found.view(torch.int32), expected.view(torch.int32))
assert len(torch.backends.jit.flags().compiled) == 4, torch.backends.jit.flags()


def gradients(op):
    leaf, weight = x.clone().requires_grad_(), x[0].clone().requires_grad_()
    result = op(leaf, weight)
    return [result.detach(), *torch.autograd.grad((result * x).sum(), (leaf, weight))]


ROWS = [
    lambda x, weight: F.softmax(x, 1) * weight,
    lambda x, weight: F.log_softmax(x, 0) * weight,
    lambda x, weight: F.layer_norm(x, (1000,), weight),
]
for op in ROWS:
    torch.set_num_threads(1)
    expected = gradients(op)
    for threads in (2, 3):
        torch.set_num_threads(threads)
        for found, each in zip(gradients(op), expected):
            assert found.equal(each), threads
print("{}")
"""


@needs_llvmlite
def test_bits_are_the_same_with_any_number_of_threads_and_in_any_layout(tmp_path):
    run(LAYOUTS, tmp_path, "1")


ROWS = """
import mindtorch as torch
x = torch.randn(3, 200, 100, generator=torch.Generator().manual_seed(0))
norm = torch.linalg.vector_norm
OPS = [torch.softmax, torch.log_softmax, torch.logsumexp, norm, torch.prod, torch.cumsum, torch.cumprod]
for op in OPS:
    arguments = (2,) if op is norm else ()
    for dim in range(3):
        for each in (x, x.transpose(0, 2), x[:, ::2], x.bfloat16(), x.half()):
            found = op(each, *arguments, dim)
            wide = torch.get_default_dtype() if each.dtype == torch.float32 else each.dtype
            expected = op(each.double(), *arguments, dim)
            assert found.dtype == wide and found.shape == expected.shape, op
            closeness = {torch.float32: 2e-5, torch.half: 5e-3, torch.bfloat16: 4e-2}[wide]
            near = torch.isclose(found.double(), expected, rtol=closeness, atol=closeness * 10)
            # Running sums of 16 bits are rounded at each step, so only where few have been added up.
            assert near.all() or (wide != torch.float32 and op in OPS[4:]), (op, dim, each.dtype)
for op in OPS[:2]:
    leaf = x.clone().requires_grad_()
    wide = x.double().requires_grad_()
    (found,), (expected,) = [torch.autograd.grad((op(each, 1) * each.detach()).sum(), each) for each in (leaf, wide)]
    assert torch.allclose(found.double(), expected, atol=1e-5)
functional = torch.nn.functional
NORMS = {
    "rows": lambda x, w, b: functional.layer_norm(x, x.shape[-1:], w, b),
    "rows alone": lambda x, w, b: functional.layer_norm(x, x.shape[-2:]),
    "groups": lambda x, w, b: functional.group_norm(x.transpose(1, 2), 5, w, b),
    "channels": lambda x, w, b: functional.batch_norm(x.transpose(1, 2), None, None, w, b, True),
    "few channels": lambda x, w, b: functional.batch_norm(x[0, :20], None, None, w, b, True),
    "columns": lambda x, w, b: functional.batch_norm(x[0], None, None, w, b, True),
    "known channels": lambda x, w, b: functional.batch_norm(x.transpose(1, 2), b.detach(), w.detach() ** 2, w, b),
    "variance": lambda x, w, b: x.var(1) * w + b,
    "variance of all": lambda x, w, b: x.var() * w + b,
}
for name, op in NORMS.items():
    given = x * 3 + 5, x[0, 0] + 1, x[1, 1]
    grads = []
    for dtype in (torch.float32, torch.float64):
        leaves = [each[..., :95].to(dtype).detach().clone().requires_grad_() for each in given]
        result = op(*leaves)
        taken = torch.autograd.grad((result * result.detach().cos()).sum(), leaves, allow_unused=True)
        grads.append([result, *[each for each in taken if each is not None]])
    for each, exact in zip(*grads):
        assert torch.allclose(each.double(), exact, rtol=1e-4, atol=2e-4), (name, (each - exact).abs().max())
from mindtorch.backends.cpu.compiled.row_kernels import ROW_KERNELS
assert ROW_KERNELS.keys() <= set(torch.backends.jit.flags().compiled)
print("{}")
"""


@needs_llvmlite
def test_kernels_for_rows_serve_the_ops(tmp_path):
    run(ROWS, tmp_path, "1")


SCATTERS = """
import mindtorch as torch
generator = torch.Generator().manual_seed(0)
x, source = torch.randn(50, 6, generator=generator), torch.randn(400, 6, generator=generator)
index = torch.randint(0, 50, (400,), generator=generator)
places = torch.randint(0, 50, (400, 6), generator=generator)
OPS = {
    "index_add": lambda x, source: x.index_add(0, index, source),
    "index_add of columns": lambda x, source: x.T.contiguous().index_add(1, index, source.T),
    "scatter_add": lambda x, source: x.scatter_add(0, places, source),
    "scatter_add of rows": lambda x, source: x.scatter_add(0, index[:, None].expand(400, 6), source),
    "index_put": lambda x, source: x.index_put((index,), source, accumulate=True),
    "index_put of elements": lambda x, source: x.index_put((index, places[:, 0] % 6), source[:, 0], accumulate=True),
    "embedding": lambda x, source: torch.nn.functional.embedding(index, x) * source,
    "gather": lambda x, source: x.gather(0, places) * source,
    "index": lambda x, source: x[index] * source,
    "negative index": lambda x, source: x[index - 50] * source,
    "take": lambda x, source: x.take(places) * source,
    "itself": lambda x, source: x.clone().index_add_(0, index[:50], x),
}
for name, op in OPS.items():
    grads = []
    for dtype in (torch.float32, torch.float64):
        leaves = [each.to(dtype).clone().requires_grad_() for each in (x, source)]
        result = op(*leaves)
        taken = torch.autograd.grad((result * result.detach().cos()).sum(), leaves, allow_unused=True)
        grads.append([result, *[each for each in taken if each is not None]])
    for each, exact in zip(*grads):
        assert torch.allclose(each.double(), exact, rtol=1e-4, atol=1e-4), name
exact = x.clone()
for place, row in zip(index.tolist(), source):
    exact[place] += row
assert x.index_add(0, index, source).equal(exact)
for bad in (50, -1):
    try:
        x.index_add(0, torch.tensor([bad]), source[:1])
    except (IndexError, RuntimeError) as error:
        assert "out of" in str(error)
    else:
        raise AssertionError(bad)
assert "add_rows" in torch.backends.jit.flags().compiled
print("{}")
"""


@needs_llvmlite
def test_additions_to_rows_serve_the_ops(tmp_path):
    run(SCATTERS, tmp_path, "1")


@needs_llvmlite
@pytest.mark.parametrize("folder", ["file", "readonly"])
def test_no_cache_can_be_written(tmp_path, folder):
    """`/proc` takes no files, whoever asks; nor does a path through a file."""
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "kernels" if folder == "file" else Path("/proc/kernels")
    found = run(SILU, path, "1")
    assert found["compiled"] == ["silu"]
    assert run(SILU, path)["numpy"] == ["silu"]
    assert "no kernels can be kept" in failure(["-m", "mindtorch.kernels", "build", "silu"], path, "auto")


STORED = """
import json, sys, types
from pathlib import Path
sys.modules.setdefault("llvmlite", types.SimpleNamespace(binding=None))  # nothing is compiled
from mindtorch.backends.cpu.compiled import cache
folder = cache.directory()
cache.path_of = lambda name: folder / f"{name}.o"
(folder / "silu.o").mkdir()
stored = [cache.store(name, b"code") for name in ("silu", "exp")]
print(json.dumps({"stored": stored, "found": cache.find("exp") == b"code"}))
"""


def test_a_file_that_cannot_be_replaced_leaves_nothing(tmp_path):
    assert run(STORED, tmp_path) == {"stored": [False, True], "found": True}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["exp.o", "silu.o"]


@needs_llvmlite
def test_many_processes_fill_one_cache(tmp_path):
    runs = [started(SILU, tmp_path, "1") for _ in range(4)]
    found = [json.loads(each.communicate(timeout=120)[0]) for each in runs]
    assert [each["compiled"] for each in found] == [["silu"]] * 4
    assert len({each["bits"] for each in found}) == 1
    assert [each.suffix for each in tmp_path.iterdir()] == [".o"]


@needs_llvmlite
def test_what_is_missing_is_compiled_in_the_background(tmp_path):
    """The run itself goes on with NumPy: what an op computes does not change while a program runs."""
    code = (
        SILU + "from mindtorch.backends.cpu.compiled import background\n[each.wait() for each in background._started]"
    )
    found = run(code, tmp_path)
    assert (found["compiled"], found["numpy"]) == ([], ["silu"])
    assert sorted(each.suffix for each in tmp_path.iterdir() if each.name.startswith("silu-")) == [".o"]
    assert run(SILU, tmp_path)["compiled"] == ["silu"]


@needs_llvmlite
def test_one_process_builds_at_a_time(tmp_path):
    (tmp_path / "build.lock").touch()
    code = SILU + "from mindtorch.backends.cpu.compiled import background\nassert background._started == []"
    run(code, tmp_path)
    run(["-m", "mindtorch.kernels", "build", "--in-background", "silu"], tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["build.lock"]
    os.utime(tmp_path / "build.lock", (0, 0))  # that of a process which has been ended
    run(["-m", "mindtorch.kernels", "build", "--in-background", "silu"], tmp_path)
    assert [each.suffix for each in tmp_path.iterdir()] == [".o"]


def test_only_expressions_can_be_built(tmp_path):
    expected = "there is nothing to compile of the name 'silo'" if HAS_LLVMLITE else "compiled kernels need llvmlite"
    assert expected in failure(["-m", "mindtorch.kernels", "build", "silo"], tmp_path, "auto")


def test_the_configuration_says_what_is_used(tmp_path):
    shown = run("import mindtorch; print(mindtorch.__config__.show())", tmp_path, "0")
    assert "Compiled loops: none" in shown
