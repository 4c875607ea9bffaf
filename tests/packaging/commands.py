"""Running commands, in the environment of the tests or in a fresh one."""

import os
import shutil
import subprocess
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = "Scripts" if os.name == "nt" else "bin"


def run(*command, cwd, **variables):
    """The command's output; its text is in the failure when it fails."""
    done = attempt(*command, cwd=cwd, **variables)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def attempt(*command, cwd, **variables):
    """The finished command, whatever came of it. `variables` are added to the environment."""
    words = [str(part) for part in command]
    return subprocess.run(words, cwd=cwd, text=True, capture_output=True, env=os.environ | variables)


def copy_of_tree(folder, names):
    """Copy files and folders of the repository with what Python has compiled of them: to do that anew takes seconds.

    Other processes may be compiling, and what they write for a moment is gone when it is to be copied.
    """
    for name in names:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("*.pyc.*"))
        else:
            shutil.copy2(source, folder / name)


def new_environment(folder):
    """The folder of the programs of a fresh virtual environment."""
    venv.create(folder, with_pip=True)
    return folder / BIN
