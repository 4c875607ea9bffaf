"""Results of image ops in the memory format of their inputs."""

from functools import lru_cache

import numpy as np

from mindtorch._core import geometry
from mindtorch._core.strided import laid_out
from mindtorch.backends import image_layout

Dims = tuple[int, ...]


def as_image(result: np.ndarray, input: np.ndarray) -> np.ndarray:
    """A new result in the memory format that the input looks like; usually it is laid out in this way already."""
    if result.size and input.size:
        geometries = input.shape, input.strides, input.itemsize, result.shape, result.itemsize
        if result.strides == _strides_like(*geometries):
            return result
    return laid_out(result, image_layout.following(input, result.shape))


@lru_cache(maxsize=1024)
def _strides_like(shape: Dims, strides: Dims, itemsize: int, result_shape: Dims, result_itemsize: int) -> Dims:
    """The strides of the result, in bytes."""
    in_elements = tuple([stride // itemsize for stride in strides])
    is_last = len(shape) in geometry.LAST_FORMATS and geometry.is_like_channels_last(shape, in_elements)
    order = geometry.channels_last_strides if is_last else geometry.contiguous_strides
    return tuple([stride * result_itemsize for stride in order(result_shape)])
