"""The tutorials in docs/tutorials, as programs: the blocks of a page, run one after the other."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

PAGES = sorted((Path(__file__).resolve().parents[1] / "docs" / "tutorials").glob("[!i]*.md"))
IMPORT = "import mindtorch as torch\n"


def blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def promised(page: Path) -> list[str]:
    """What the page says that its programs print: the comments behind `print`."""
    return re.findall(r"^ *print\(.*\)  # (.*)$", "".join(blocks(page)), re.MULTILINE)


def printed(page: Path, library: str) -> list[str]:
    """What the programs print with a library under the name `torch`."""
    program = "".join(blocks(page))
    assert program.startswith(IMPORT)
    output = io.StringIO()
    with redirect_stdout(output):
        exec(compile(program.replace(IMPORT, f"import {library} as torch\n", 1), page.name, "exec"), {})
    return output.getvalue().splitlines()
