"""Where the `porf` binary is, and which build it is."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

from porf_cluster.errors import ClusterError


def find() -> Path:
    """Find the binary: what PORF names, the one beside this Python, or one on PATH."""
    named = os.environ.get("PORF")
    if named:
        path = Path(named)
        if not path.is_file():
            raise ClusterError(f"PORF names {named}, and there is no such file")
        return path.resolve()
    beside = Path(sysconfig.get_path("scripts")) / "porf"
    found = str(beside) if beside.is_file() else shutil.which("porf")
    if found is None:
        raise ClusterError(
            "no porf found: install it (pip install porf), or set PORF to the binary"
        )
    return Path(found).resolve()


@functools.cache
def build(path: Path) -> str:
    """Tell builds apart: the version and a digest of the file."""
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ClusterError(f"{path} does not run: {error}") from error
    version = said.stdout.splitlines()[0] if said.stdout else "?"
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256") if hasattr(hashlib, "file_digest") else None
        if digest is None:
            digest = hashlib.sha256(file.read())
    return f"{version} ({digest.hexdigest()[:16]})"
