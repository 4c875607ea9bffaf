"""Writes pytorch_ops.txt, the list of PyTorch's operators that the coverage page compares with. Needs torch:

    python -m docs.builder.pytorch_ops

A line is the name of a schema in the namespace aten, ``add.Tensor``, followed by ``core`` if the op has that tag.
"""

from __future__ import annotations

from pathlib import Path

import torch

LIST = Path(__file__).parent / "pytorch_ops.txt"


def main() -> None:
    version = torch.__version__.partition("+")[0]
    names = sorted(_aten_names())
    lines = [f"# The schemas of aten in PyTorch {version}. Written by docs/builder/pytorch_ops.py.", *map(_line, names)]
    LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(names)} schemas in {LIST.name}")


def _aten_names() -> set[str]:
    """What the dispatcher knows: without the operators that TorchScript has for Python's numbers, strings and lists."""
    names = torch._C._dispatch_get_all_op_names()
    return {name.removeprefix("aten::") for name in names if name.startswith("aten::")}


def _line(name: str) -> str:
    base, _, overload = name.partition(".")
    packet = getattr(torch.ops.aten, base, None)
    op = getattr(packet, overload or "default", None)
    return f"{name} core" if op is not None and torch.Tag.core in op.tags else name


if __name__ == "__main__":
    main()
