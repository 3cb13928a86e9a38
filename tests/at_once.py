"""Python files run in processes of their own that begin at once: forked from one that has loaded the compiler.

``python at_once.py MODULE …`` loads these modules, lets the compiler set itself up, and then runs a file for every line
it reads: a JSON list of the file with its arguments, the folder to run in, the whole environment, the seconds it may
take, and the files of what it reads, for what it prints and for its errors.  It writes how the process ended.  Settings
of the compiler itself (``NUMBA_…``) are those of the process that has loaded it.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import signal
import sys
import traceback
from typing import Any

PATH = sys.path[1 + len(os.environ.get("PYTHONPATH", "").split(os.pathsep)) :]
"""Where modules are found without the variable ``PYTHONPATH``."""


def run(command: list[str], folder: str, environment: dict[str, str], seconds: int, *files: str) -> int:
    """How the file ended, as `subprocess` says it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for number, name in enumerate(files):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | (os.O_TRUNC if number else 0), 0o600), number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115, closed with the process
    signal.alarm(seconds)
    os._exit(code_of(command, folder, environment))


def code_of(command: list[str], folder: str, environment: dict[str, str]) -> int:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = command
    sys.path[:] = [os.path.dirname(command[0]), *environment.get("PYTHONPATH", "").split(os.pathsep), *PATH]
    code: Any = 0
    try:
        runpy.run_path(command[0], run_name="__main__")
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return code if isinstance(code, int) else int(code is not None)


if __name__ == "__main__":
    import numba

    for name in sys.argv[1:]:
        importlib.import_module(name)
    numba.njit("f8(f8)")(lambda x: x)
    print("ready", flush=True)
    for line in sys.stdin:
        print(run(*json.loads(line)), flush=True)
