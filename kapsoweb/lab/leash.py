"""`python -m kapsoweb.lab.leash MODULE ARGUMENTS...`: run a module that ends when its supervisor does.

Standard input is a pipe whose other end only the supervisor holds. When the supervisor is gone, even by SIGKILL, the
system closes it; that is the one sign of its end which needs no cooperation and works on every Unix.
"""

import os
import runpy
import sys
import threading

_SUPERVISOR_GONE = 70


def _end_with(pipe: int) -> None:
    while os.read(pipe, 1):
        pass
    # At once: whatever is lost here would be lost by a power cut too, and the job table is made for that.
    os._exit(_SUPERVISOR_GONE)


def main() -> None:
    """Run the module named by the first argument as `python -m` would, with the rest as its arguments."""
    threading.Thread(target=_end_with, args=(sys.stdin.fileno(),), name="leash", daemon=True).start()
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
