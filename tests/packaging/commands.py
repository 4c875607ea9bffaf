"""Running commands, in the environment of the tests or in a fresh one."""

import os
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


def new_environment(folder):
    """The folder of the programs of a fresh virtual environment."""
    venv.create(folder, with_pip=True)
    return folder / BIN
