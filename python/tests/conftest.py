"""Clusters of several nodes on this machine, and what one machine alone says."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster as Nodes

from porf_cluster import binary
from porf_cluster.cli import main

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "corpus" / "programs"
FULL = bool(os.environ.get("PORF_FULL"))

Report = dict[str, Any]


def counts(report: Report) -> tuple[Any, ...]:
    """What must be the same on every cluster."""
    return tuple(report[name] for name in ("verdict", "executions", "blocked", "events", "reduced"))


@functools.cache
def alone(*arguments: str) -> Report:
    """What `porf` says by itself."""
    command = [binary.find(), "--format", "json", "verify", *arguments]
    done = subprocess.run(command, capture_output=True, check=False)
    report: Report = json.loads(done.stdout)
    report["code"] = done.returncode
    return report


class Machines:
    """Some nodes, and runs on them."""

    def __init__(self, nodes: int, cpus: int = 1) -> None:
        self.nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": cpus})
        self.added = [self.nodes.add_node(num_cpus=cpus) for _ in range(nodes - 1)]
        ray.init(address=self.nodes.address, log_to_driver=False, logging_level="ERROR")

    def replace(self) -> None:
        """Remove a node without warning, and add another one."""
        self.nodes.remove_node(self.added.pop())
        for patience in (True, True, False):
            try:
                self.added.append(self.nodes.add_node(num_cpus=1))
            except Exception:
                # A busy machine starts nodes too slowly for Ray.
                if not patience:
                    raise
            else:
                return

    def close(self) -> None:
        ray.shutdown()
        self.nodes.shutdown()


@pytest.fixture
def verify(capfd: pytest.CaptureFixture[str]) -> Callable[..., Report]:
    """Run `porf-cluster verify` in this process, on the cluster that it is connected to."""

    def run(*arguments: str) -> Report:
        capfd.readouterr()
        code = main(["--format", "json", "verify", *arguments])
        said = capfd.readouterr()
        assert said.out, said.err
        report: Report = json.loads(said.out)
        report["code"] = code
        return report

    return run


@pytest.fixture(scope="module")
def two() -> Iterator[Machines]:
    """Two nodes with a CPU each."""
    machines = Machines(2)
    yield machines
    machines.close()


def workers() -> list[int]:
    """All `porf work` processes of this build."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[:2] == [str(binary.find()).encode(), b"work"]:
                found.append(int(entry.name))
    return found


def parent(pid: int) -> int:
    """Name the actor that a worker belongs to."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return int(next(line for line in status.splitlines() if line.startswith("PPid")).split()[1])


class Later:
    """Does something a while after the search has begun: as soon as there are workers."""

    def __init__(self, seconds: float, act: Callable[[], None]) -> None:
        self.done = 0
        self._act = act
        self._seconds = seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Later:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not workers() and not self._stop.wait(0.02):
            pass
        if not self._stop.wait(self._seconds):
            self._act()
            self.done += 1


def kill(pid: int) -> None:
    """Kill a process with SIGKILL, if it is still there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def driver(*arguments: str, address: str) -> subprocess.Popen[bytes]:
    """Start `porf-cluster verify` as a process."""
    command = [sys.executable, "-m", "porf_cluster", "--format", "json", "verify"]
    return subprocess.Popen(
        [*command, "--address", address, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)
