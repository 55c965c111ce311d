"""One `porf work` process, and the lines that go to it and come from it."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

from porf_cluster.errors import ClusterError

PROTOCOL = 2


class WorkerDiedError(Exception):
    """The process ended in the midst of a task. The task can be done by another."""


class Worker:
    """A process that does tasks of one job after the other, and stays warm between them."""

    def __init__(self, porf: Path, share: int) -> None:
        """Start the process; `share` workers have the memory of this machine."""
        self._writing = threading.Lock()
        self._job = -1
        self._process = subprocess.Popen(
            [porf, "work", "--share", str(share)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        greeting = self._read().split()
        if greeting[-2:] != [b"protocol", str(PROTOCOL).encode()]:
            said = b" ".join(greeting).decode(errors="replace")
            raise ClusterError(f"{porf} speaks another protocol than this porf-cluster: {said}")

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def run(self, number: int, job: bytes, task: bytes) -> bytes:
        """Do a task of a job, which the process is told once. Gives the line of the report."""
        if self._job != number:
            self._write(b"job " + job + b"\n")
            self._job = number
        self._write(b"task " + task + b"\n")
        report = self._read()
        if report.startswith(b"failed "):
            raise ClusterError(report[len(b"failed ") :].decode(errors="replace").strip())
        return report

    def hurry(self, number: int) -> None:
        """Want the rest of a task back."""
        self._write(b"hurry %d\n" % number)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

    def _write(self, line: bytes) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            with self._writing:
                stdin.write(line)
                stdin.flush()
        except OSError as error:
            raise WorkerDiedError(str(error)) from error

    def _read(self) -> bytes:
        stdout = self._process.stdout
        assert stdout is not None
        line = stdout.readline()
        if not line.endswith(b"\n"):
            raise WorkerDiedError(f"porf work ended with {self._process.wait()}")
        return line
