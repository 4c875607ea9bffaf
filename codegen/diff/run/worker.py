"""Runs the library of one checkout on samples: a process of its own, which is told what to do line by line.

    python worker.py FOLDER SAMPLES

``FOLDER`` is the checkout, ``SAMPLES`` a file with the generators of samples, which both states share. Each line of
input is a task in JSON. Answers are lines of JSON on the descriptor that was standard output, so that what the library
prints does not get between them. Arrays are left in files of NumPy's, which hold nothing that is executed on reading.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import time
import tracemalloc
import warnings
import zlib
from typing import Any

import numpy as np

_ERRORS = (
    ArithmeticError,
    AttributeError,
    IndexError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ValueError,
)
_FLOATING = ("float", "bfloat", "complex")
_ENOUGH = 50_000  # elements of a tensor that are computed rather than prepared
_MOST_DIFFERENCES = 24  # elements of an input along which differences are taken


class Worker:
    def __init__(self, folder: str, samples: str) -> None:
        sys.path.insert(0, folder)
        self.torch = importlib.import_module("mindtorch")
        found = os.path.realpath(self.torch.__file__ or "")
        if not found.startswith(os.path.realpath(folder) + os.sep):
            raise SystemExit(f"mindtorch comes from {found}, and not from {folder}")
        spec = importlib.util.spec_from_file_location("shared_samples", samples)
        assert spec is not None and spec.loader is not None
        self.samples = importlib.util.module_from_spec(spec)
        sys.modules["shared_samples"] = self.samples
        spec.loader.exec_module(self.samples)
        self._prepared: dict[str, Any] = {}

    # -------------------- samples --------------------

    def samples_of(self, task: dict[str, Any], dtype: str) -> list[Any]:
        make = self.samples.SAMPLES.get(task["samples"])
        return [] if make is None else list(make(self.samples.Maker(task["op"], dtype)))

    def function(self, task: dict[str, Any]) -> Any:
        return getattr(getattr(self.torch.ops.aten, task["name"]), task["overload"] or "default")

    def _tensor(self, spec: Any, wants_grad: bool) -> Any:
        tensor = self._laid_out(spec)
        if wants_grad and spec.differentiable and spec.dtype.startswith(_FLOATING):
            tensor = tensor.detach().requires_grad_()
        return tensor

    def _laid_out(self, spec: Any) -> Any:
        data, layout = spec.data, spec.layout
        if layout == "transposed":
            return self._plain(data.T, spec.dtype).t()
        if layout == "permuted":
            order = tuple(reversed(range(data.ndim)))
            return self._plain(data.transpose(order), spec.dtype).permute(order)
        if layout == "stepped":
            return self._plain(np.repeat(data, 2, axis=0), spec.dtype)[::2]
        if layout == "expanded":
            return self._plain(data[:1], spec.dtype).expand(data.shape)
        if layout == "offset":
            return self._plain(np.concatenate([data[:1], data]), spec.dtype)[1:]
        return self._plain(data, spec.dtype)

    def _plain(self, data: Any, dtype: str) -> Any:
        torch = self.torch
        if not data.size:
            return torch.zeros(data.shape, dtype=getattr(torch, dtype))
        with np.errstate(invalid="ignore"):
            if dtype == "bfloat16":
                return torch.from_numpy(np.array(data, dtype=np.float32, order="C")).to(torch.bfloat16)
            return torch.from_numpy(np.array(data, dtype=dtype, order="C"))

    def given(self, value: Any, wants_grad: bool = False) -> Any:
        if isinstance(value, self.samples.TensorSpec):
            return self._tensor(value, wants_grad)
        if isinstance(value, self.samples.DtypeOf):
            return getattr(self.torch, value.name)
        if isinstance(value, (list, tuple)):
            return [self.given(each, wants_grad) for each in value]
        if isinstance(value, dict):
            return {name: self.given(each, wants_grad) for name, each in value.items()}
        return value

    def tensors(self, value: Any) -> list[Any]:
        if isinstance(value, self.torch.Tensor):
            return [value]
        if isinstance(value, (list, tuple)):
            return [tensor for each in value for tensor in self.tensors(each)]
        if isinstance(value, dict):
            return [tensor for each in value.values() for tensor in self.tensors(each)]
        return []

    # -------------------- values --------------------

    def compute(self, task: dict[str, Any]) -> dict[str, Any]:
        """Everything that a call shows, for every sample of some dtypes."""
        arrays: dict[str, Any] = {}
        calls = []
        for dtype in task["dtypes"]:
            for number, sample in enumerate(self.samples_of(task, dtype)):
                key = f"{dtype}.{number}"
                calls.append({"key": key, "call": self._described(sample), **self._call(task, sample, key, arrays)})
        np.savez(task["file"], **arrays)
        return {"calls": calls}

    def _call(self, task: dict[str, Any], sample: Any, key: str, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
        args, kwargs = self.given(list(sample.args)), self.given(sample.kwargs)
        inputs = self.tensors([args, kwargs])
        self.torch.manual_seed(0)
        try:
            result = self.function(task)(*args, **kwargs)
        except _ERRORS as error:
            return {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
        facts = {"results": self._results(sample, result, inputs, f"{key}.result", arrays)}
        if task["written"]:
            facts["inputs"] = self._results(None, inputs, [], f"{key}.input", arrays)
        return facts | (
            self._gradients(task, sample, key, arrays) if key.partition(".")[0] in task["gradients"] else {}
        )

    def _results(
        self, sample: Any, result: Any, inputs: list[Any], key: str, arrays: dict[str, np.ndarray]
    ) -> list[dict[str, Any]]:
        """Geometry of what came out, and which inputs it shares memory with; values go to the file."""
        tensors = self.tensors(result)
        found = [self._geometry(tensor, inputs) for tensor in tensors]
        if sample is not None and sample.invariant is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tensors = self.tensors(sample.invariant(*result))
        for number, tensor in enumerate(tensors):
            arrays[f"{key}.{number}"] = self._array(tensor)
        if not tensors:
            return [{"value": repr(result)[:200]}]
        return found

    def _geometry(self, tensor: Any, inputs: list[Any]) -> dict[str, Any]:
        place = tensor.untyped_storage().data_ptr() if tensor.numel() else 0
        shared = [i for i, each in enumerate(inputs) if place and each.untyped_storage().data_ptr() == place]
        return {
            "dtype": str(tensor.dtype),
            "shape": list(tensor.shape),
            "strides": list(tensor.stride()) if tensor.numel() else [],
            "shares": shared,
        }

    def _array(self, tensor: Any) -> np.ndarray:
        tensor = tensor.detach()
        if tensor.is_complex():
            tensor = tensor.resolve_conj()
        tensor = tensor.resolve_neg()
        if str(tensor.dtype) == "torch.bfloat16":
            tensor = tensor.float()
        return np.array(tensor.numpy(force=True))

    def _described(self, sample: Any) -> str:
        def word(value: Any) -> str:
            if isinstance(value, self.samples.TensorSpec):
                layout = "" if value.layout == "plain" else f":{value.layout}"
                return f"{value.dtype}{list(value.data.shape)}{layout}"
            if isinstance(value, (list, tuple)):
                return f"[{', '.join(map(word, value))}]"
            return repr(value)

        words = [word(value) for value in sample.args]
        return ", ".join(words + [f"{name}={word(value)}" for name, value in sample.kwargs.items()])

    # -------------------- gradients and what is kept for them --------------------

    def _gradients(self, task: dict[str, Any], sample: Any, key: str, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
        args, kwargs = self.given(list(sample.args), True), self.given(sample.kwargs, True)
        inputs = [tensor for tensor in self.tensors([args, kwargs]) if tensor.requires_grad]
        if not inputs:
            return {}
        kept: dict[int, int] = {}
        known = {each.untyped_storage().data_ptr() for each in self.tensors([args, kwargs])}

        def keep(tensor: Any) -> Any:
            storage = tensor.untyped_storage()
            kept[storage.data_ptr()] = storage.nbytes()
            return tensor

        self.torch.manual_seed(0)
        try:
            given = args if task["kind"] != "inplace" else [args[0].clone(), *args[1:]]
            with self.torch.autograd.graph.saved_tensors_hooks(keep, lambda each: each):
                result = self.function(task)(*given, **kwargs)
            outputs = [each for each in self._determined(sample, result) if each.requires_grad]
            if not outputs:
                return {"no_graph": True}
            starts = [self._start(each, i) for i, each in enumerate(outputs)]
            gradients = self.torch.autograd.grad(outputs, inputs, starts, allow_unused=True)
        except _ERRORS as error:
            return {"gradient_error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
        own = {each.untyped_storage().data_ptr() for each in self.tensors(result)}
        for number, gradient in enumerate(gradients):
            if gradient is not None:
                arrays[f"{key}.gradient.{number}"] = self._array(gradient)
        facts: dict[str, Any] = {
            "gradients": [None if each is None else self._geometry(each, []) for each in gradients],
            "kept": {
                "inputs": sum(size for place, size in kept.items() if place in known),
                "results": sum(size for place, size in kept.items() if place in own - known),
                "others": sum(size for place, size in kept.items() if place not in own | known),
            },
        }
        if task["differences"]:
            facts["differences"] = self._differences(task, sample, gradients)
        return facts

    def _determined(self, sample: Any, result: Any) -> list[Any]:
        result = sample.invariant(*result) if sample.invariant is not None else result
        return self.tensors(result)

    def _start(self, tensor: Any, number: int) -> Any:
        """The gradient that backward begins with: the same on both sides."""
        random = np.random.default_rng(zlib.crc32(f"{number}{tuple(tensor.shape)}".encode()))
        values = random.uniform(0.5, 1.5, tuple(tensor.shape))
        return self.torch.from_numpy(np.asarray(values)).reshape(tensor.shape).to(tensor.dtype)

    def _differences(self, task: dict[str, Any], sample: Any, gradients: Any) -> list[float | None] | None:
        """Per input how far the gradient is from differences of values, relative to the largest of them.

        None where these do not tell: samples whose derivative is defined otherwise, and results that are not smooth.
        """
        if sample.no_differences or sample.tied or sample.invariant or task["kind"] == "inplace":
            return None
        specs = [each for each in self._specs(sample) if each.differentiable and each.dtype.startswith(_FLOATING)]
        if any(each.dtype != "float64" or each.domain or each.layout == "expanded" for each in specs):
            return None
        args, kwargs = self.given(list(sample.args)), self.given(sample.kwargs)
        chosen = [self.given(each, True).requires_grad for each in self._specs(sample)]
        tensors = [tensor for tensor, use in zip(self.tensors([args, kwargs]), chosen) if use]
        return [self._distance(task, args, kwargs, *pair) for pair in zip(tensors, gradients)]

    def _specs(self, sample: Any) -> list[Any]:
        found: list[Any] = []

        def visit(value: Any) -> None:
            if isinstance(value, self.samples.TensorSpec):
                found.append(value)
            for each in value if isinstance(value, (list, tuple)) else ():
                visit(each)

        visit(list(sample.args))
        visit(list(sample.kwargs.values()))
        return found

    def _distance(self, task: dict[str, Any], args: Any, kwargs: Any, tensor: Any, gradient: Any) -> float | None:
        flat = tensor.detach().reshape(-1) if tensor.is_contiguous() else None
        if flat is None or gradient is None or not tensor.numel():
            return None
        array, found = flat.numpy(), self._array(gradient).reshape(-1)
        worst, scale, step = 0.0, float(np.abs(found).max(initial=1.0)), 1e-6
        for place in range(min(len(array), _MOST_DIFFERENCES)):
            value, sums = array[place], []
            for moved in (value + step, value - step):
                array[place] = moved
                self.torch.manual_seed(0)
                outputs = self.tensors(self.function(task)(*args, **kwargs))
                outputs = [each for each in outputs if each.is_floating_point()]
                sums.append(sum(float((each * self._start(each, i)).sum()) for i, each in enumerate(outputs)))
            array[place] = value
            worst = max(worst, abs((sums[0] - sums[1]) / (2 * step) - float(found[place])) / scale)
        return worst if np.isfinite(worst) else None

    # -------------------- speed and memory --------------------

    def prepare(self, task: dict[str, Any]) -> dict[str, Any]:
        """Calls to be timed: a small one, and one of many elements if the op takes such."""
        self._prepared = {}
        for dtype in task["dtypes"]:
            samples = [each for each in self.samples_of(task, dtype) if not each.refusal]
            for name, sample in (("small", self._first(task, samples)), ("large", self._first(task, samples, True))):
                if sample is not None and name not in self._prepared:
                    self._prepared[name] = (
                        self.function(task),
                        self.given(list(sample.args)),
                        self.given(sample.kwargs),
                    )
        return {"prepared": list(self._prepared)}

    def _first(self, task: dict[str, Any], samples: list[Any], is_large: bool = False) -> Any:
        for sample in samples:
            given = self._enlarged(sample) if is_large else sample
            if given is None:
                continue
            try:
                self.function(task)(*self.given(list(given.args)), **self.given(given.kwargs))
            except _ERRORS:
                continue
            return given
        return None

    def _enlarged(self, sample: Any) -> Any:
        """The sample with its first dimension repeated in all tensors that have the same length in it."""
        specs = [each for each in self._specs(sample) if each.data.ndim and each.data.shape[0] > 1]
        if not specs or specs[0].data.size == 0:
            return None
        length = specs[0].data.shape[0]
        times = max(1, _ENOUGH // specs[0].data.size)

        def larger(value: Any) -> Any:
            if isinstance(value, self.samples.TensorSpec):
                if value.data.ndim and value.data.shape[0] == length:
                    return self.samples.replace(value, data=np.repeat(value.data, times, axis=0), layout="plain")
                return value
            return [larger(each) for each in value] if isinstance(value, (list, tuple)) else value

        kwargs = {name: larger(value) for name, value in sample.kwargs.items()}
        return self.samples.replace(sample, args=tuple(larger(each) for each in sample.args), kwargs=kwargs)

    def measure(self, task: dict[str, Any]) -> dict[str, Any]:
        """Seconds per call of a prepared call: the best of some rounds."""
        function, args, kwargs = self._prepared[task["which"]]
        number = task.get("number") or self._number(function, args, kwargs)
        best = min(self._time(function, args, kwargs, number) for _ in range(task["rounds"]))
        return {"seconds": best, "number": number}

    def _number(self, function: Any, args: Any, kwargs: Any) -> int:
        once = max(min(self._time(function, args, kwargs, 1) for _ in range(3)), 1e-7)
        return max(1, min(2_000, int(0.004 / once)))

    def _time(self, function: Any, args: Any, kwargs: Any, number: int) -> float:
        start = time.perf_counter()
        for _ in range(number):
            function(*args, **kwargs)
        return (time.perf_counter() - start) / number

    def memory(self, task: dict[str, Any]) -> dict[str, Any]:
        """The most memory that a call has at a time, beyond what there was before."""
        function, args, kwargs = self._prepared[task["which"]]
        function(*args, **kwargs)
        tracemalloc.start()
        try:
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            result = function(*args, **kwargs)
            peak = tracemalloc.get_traced_memory()[1] - before
            del result
        finally:
            tracemalloc.stop()
        return {"peak": peak}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    worker = Worker(sys.argv[1], sys.argv[2])
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        task = json.loads(line)
        try:
            answer = getattr(worker, task["do"])(task)
        except Exception as error:  # noqa: BLE001  (whatever the state that is run raises: it becomes a finding)
            answer = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
