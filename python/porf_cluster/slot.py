"""A place in the cluster where tasks are done: a Ray actor with a `porf work` of its own."""

from __future__ import annotations

import os
import platform
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

import ray
from ray import ObjectRef

from porf_cluster import binary
from porf_cluster.errors import ClusterError
from porf_cluster.worker import Worker, WorkerDiedError


@dataclass(frozen=True)
class Facts:
    """What a slot says of its machine."""

    host: str
    build: str
    error: str


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    code: int
    stdout: bytes
    stderr: bytes


class Slot:
    """The body of the actor. One call of `run` at a time; `hurry` may come in between."""

    def __init__(self, share: int) -> None:
        """Start nothing yet; `share` slots are on this machine."""
        self._share = share
        self._worker: Worker | None = None
        self._running = threading.Lock()
        self._job: tuple[int, bytes] = (-1, b"")

    def facts(self) -> Facts:
        """Say which build of porf is here, or why none can be used."""
        try:
            return Facts(platform.node(), binary.build(binary.find()), "")
        except ClusterError as error:
            return Facts(platform.node(), "", str(error))

    def run(self, number: int, job: list[ObjectRef], task: bytes) -> bytes:
        """Do a task. The job comes from the object store, once."""
        with self._running:
            if self._job[0] != number:
                self._job = (number, ray.get(job[0]))
            if self._worker is None:
                self._worker = Worker(binary.find(), self._share)
            try:
                return self._worker.run(*self._job, task)
            except WorkerDiedError:
                self._worker.close()
                self._worker = None
                raise

    def hurry(self, number: int) -> None:
        """Want the rest of a task back."""
        worker = self._worker
        if worker is not None:
            worker.hurry(number)

    def command(self, arguments: list[str], files: dict[str, ObjectRef]) -> Ended:
        """Run `porf` with some files, which are in a folder of their own."""
        with self._running, tempfile.TemporaryDirectory(prefix="porf-") as folder:
            for name, content in files.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(ray.get(content))
                path.chmod(0o700)
            done = subprocess.run(
                [binary.find(), *arguments], cwd=folder, capture_output=True, check=False
            )
            return Ended(done.returncode, done.stdout, done.stderr)

    def processes(self) -> tuple[int, int]:
        """Name the actor and its worker, for tests that kill them."""
        return os.getpid(), self._worker.pid if self._worker else 0
