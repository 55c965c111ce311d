"""Standard output, for what `porf` says and nothing else.

Ray prints to the standard output of its driver, whatever it is told: that some worker died, for
example. What it prints goes to standard error here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout


@contextmanager
def reserved() -> Iterator[int]:
    """Let everybody else print to standard error; gives a descriptor of standard output."""
    sys.stdout.flush()
    out = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield out
    finally:
        sys.stdout.flush()
        os.dup2(out, 1)
        os.close(out)
