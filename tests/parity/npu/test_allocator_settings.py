"""Settings of the caching allocator that are wrong get torch's errors."""

import pytest
import torch as real

from mindtorch.backends.npu.runtime.allocator_settings import parsed

WRONG = (
    "max_split_size_mb:10",
    "max_split_size_mb:abc",
    "garbage_collection_threshold:1.5",
    "garbage_collection_threshold:0",
    "garbage_collection_threshold:x",
    "expandable_segments:Yes",
    "expandable_segments:true",
    "large_segment_size_mb:10",
    "max_split_size_mb",
    "expandable_segments",
)


@pytest.mark.parametrize("text", WRONG)
def test_wrong_settings(text):
    with pytest.raises((ValueError, RuntimeError)) as theirs:
        real._C._accelerator_setAllocatorSettings(text)
    with pytest.raises((ValueError, RuntimeError)) as ours:
        parsed(text)
    assert type(ours.value) is type(theirs.value)
    assert str(ours.value) in str(theirs.value)
