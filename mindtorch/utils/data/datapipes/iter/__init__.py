"""Datasets that go through others: each is a method of them, too, as `pipe.batch(2)` is `Batcher(pipe, 2)`."""

from typing import TYPE_CHECKING

from mindtorch._support.lazy import names_from
from mindtorch.utils.data.datapipes.iter.callable import MapperIterDataPipe as Mapper
from mindtorch.utils.data.datapipes.iter.combining import ConcaterIterDataPipe as Concater
from mindtorch.utils.data.datapipes.iter.combining import ZipperIterDataPipe as Zipper
from mindtorch.utils.data.datapipes.iter.grouping import BatcherIterDataPipe as Batcher
from mindtorch.utils.data.datapipes.iter.selecting import FilterIterDataPipe as Filter
from mindtorch.utils.data.datapipes.iter.utils import IterableWrapperIterDataPipe as IterableWrapper

__all__ = ["Batcher", "Concater", "Filter", "IterableWrapper", "Mapper", "Zipper"]

if not TYPE_CHECKING:  # the others refuse when they are made
    __getattr__ = names_from(__name__, {})
