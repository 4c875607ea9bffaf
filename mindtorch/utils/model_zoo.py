"""The old names of what is in `mindtorch.hub`."""

from mindtorch.hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]
from mindtorch.hub import tqdm as tqdm
