"""Files of `torch.hub`. Weights can be downloaded; the models that go with them are written for PyTorch itself."""

from __future__ import annotations

import os
import shutil
from hashlib import sha256
from re import compile as pattern
from tempfile import NamedTemporaryFile
from typing import Any, NoReturn
from urllib.parse import urlparse
from urllib.request import urlopen

from mindtorch.serialization import load as load_file

try:
    from tqdm import tqdm as tqdm
except ImportError:

    class tqdm:  # type: ignore[no-redef]
        """Shows nothing of how far a download has got."""

        def __init__(self, total: Any = None, disable: bool = False, **ignored: Any) -> None:
            self.total, self.disable, self.n = total, disable, 0

        def update(self, n: int) -> None:
            self.n += n

        def close(self) -> None:
            """Nothing was shown."""

        def __enter__(self) -> tqdm:
            return self

        def __exit__(self, *exc_info: object) -> None:
            """Nothing was shown."""


__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

HASH_REGEX = pattern(r"-([a-f0-9]*)\.")  # the first digits of its SHA-256, in the name of a file

_folder: str | None = None


def _get_torch_home() -> str:
    """The folder for everything that PyTorch keeps."""
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir() -> str:
    """The folder for what is downloaded: that of PyTorch."""
    return os.path.join(_get_torch_home(), "hub") if _folder is None else _folder


def set_dir(d: str) -> None:
    """Choose another folder."""
    global _folder
    _folder = os.path.expanduser(d)


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError(
        "torch.hub runs code that imports torch: define the model in your program, and load its weights with "
        "torch.hub.load_state_dict_from_url(url) or torch.load(file)"
    )


load = list = help = _refuse


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Download a file, whose SHA-256 has to begin with `hash_prefix`, if there is one."""
    with urlopen(url) as source, NamedTemporaryFile(dir=os.path.dirname(dst) or ".", delete=False) as file:
        try:
            shutil.copyfileobj(source, file)
            file.flush()
            _check_hash(file.name, hash_prefix)
            os.replace(file.name, dst)
        except BaseException:
            os.unlink(file.name)
            raise


def _check_hash(path: str, prefix: str | None) -> None:
    if prefix is None:
        return
    with open(path, "rb") as file:
        digest = sha256(file.read()).hexdigest()
    if not digest.startswith(prefix):
        raise RuntimeError(f'invalid hash value (expected "{prefix}", got "{digest}")')


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """Load weights, which are downloaded when they are first asked for."""
    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, found and found.group(1), progress)
    return load_file(path, map_location=map_location, weights_only=weights_only)
