"""`SummaryWriter` writes what TensorBoard shows, by the package `tensorboard`; without it, one cannot be made."""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from mindtorch._core.tensor import Tensor

__all__ = ["FileWriter", "SummaryWriter"]

_MISSING = "SummaryWriter needs the package tensorboard: pip install tensorboard, or leave the writer out"


def _part(name: str) -> Any:
    try:
        return import_module(f"tensorboard.{name}")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(_MISSING) from error


def _numbers(values: Any) -> np.ndarray:
    return np.asarray(values.detach().numpy() if isinstance(values, Tensor) else values)


class FileWriter:
    """Puts events into a file of a folder that TensorBoard looks at."""

    def __init__(self, log_dir: str, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = "") -> None:
        writer = _part("summary.writer.event_file_writer")
        self._event = _part("compat.proto.event_pb2").Event
        self._log_dir = str(log_dir)
        self.event_writer = writer.EventFileWriter(self._log_dir, max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        return self._log_dir

    def add_summary(self, summary: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        event = self._event(summary=summary, wall_time=time.time() if walltime is None else walltime)
        if global_step is not None:
            event.step = int(global_step)
        self.event_writer.add_event(event)

    def flush(self) -> None:
        self.event_writer.flush()

    def close(self) -> None:
        self.event_writer.close()


class SummaryWriter:
    """Writes scalars, histograms, texts and images; `log_dir` is `runs/<time>_<machine>` unless it is given."""

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if log_dir is None:
            socket = import_module("socket")
            log_dir = f"runs/{time.strftime('%b%d_%H-%M-%S')}_{socket.gethostname()}{comment}"
        self.log_dir = str(log_dir)
        self.file_writer = FileWriter(self.log_dir, max_queue, flush_secs, filename_suffix)
        self._summary = _part("compat.proto.summary_pb2")

    def get_logdir(self) -> str:
        return self.log_dir

    def _add(self, value: Any, step: int | None, walltime: float | None) -> None:
        self.file_writer.add_summary(self._summary.Summary(value=[value]), step, walltime)

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """A number, of a tensor with one element too."""
        number = float(_numbers(scalar_value).reshape(()))
        self._add(self._summary.Summary.Value(tag=tag, simple_value=number), global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Several numbers, each under `main_tag/name`."""
        for tag, value in tag_scalar_dict.items():
            self.add_scalar(f"{main_tag}/{tag}", value, global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: str | int = "auto",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """How the elements are distributed."""
        numbers = _numbers(values).astype(np.float64).ravel()
        counts, edges = np.histogram(numbers, bins=bins)
        found = self._summary.HistogramProto(
            min=numbers.min(), max=numbers.max(), num=numbers.size, sum=numbers.sum(), sum_squares=numbers @ numbers,
            bucket_limit=edges[1:].tolist(), bucket=counts.tolist(),
        )  # fmt: skip
        self._add(self._summary.Summary.Value(tag=tag, histo=found), global_step, walltime)

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """A text, which TensorBoard shows as Markdown."""
        plugin = self._summary.SummaryMetadata(plugin_data=self._summary.SummaryMetadata.PluginData(plugin_name="text"))
        tensor = _part("compat.proto.tensor_pb2").TensorProto(
            dtype="DT_STRING",
            string_val=[text_string.encode()],
            tensor_shape=_part("compat.proto.tensor_shape_pb2").TensorShapeProto(
                dim=[_part("compat.proto.tensor_shape_pb2").TensorShapeProto.Dim(size=1)]
            ),
        )
        value = self._summary.Summary.Value(tag=f"{tag}/text_summary", metadata=plugin, tensor=tensor)
        self._add(value, global_step, walltime)

    def add_hparams(
        self, hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any], *args: Any, **kwargs: Any
    ) -> None:
        """The settings of a run as a text, and what it has reached as numbers."""
        self.add_text("hparams", "\n".join(f"- {name}: {value}" for name, value in hparam_dict.items()))
        for name, value in metric_dict.items():
            self.add_scalar(name, value)

    def flush(self) -> None:
        self.file_writer.flush()

    def close(self) -> None:
        self.file_writer.close()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()
