"""Workers, nodes and drivers die at any moment: nothing is lost, and nothing counts twice."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import (
    PROGRAMS,
    Later,
    Machines,
    Report,
    alone,
    counts,
    driver,
    kill,
    parent,
    wait_for,
    workers,
)

from porf_cluster import binary

AINC = str(PROGRAMS / "ainc.c")
SIZE = os.environ.get("PORF_KILL_SIZE", "8")
SEARCH = ("--no-reduce", "all", "--model", "rc11", AINC, "--", f"-DN={SIZE}")
RANDOM_RUNS = int(os.environ.get("PORF_KILLS", "3"))


def checkpointed(path: Path, *more: str) -> tuple[str, ...]:
    return ("--checkpoint", str(path), "--checkpoint-interval", "1", *more, *SEARCH)


@pytest.mark.usefixtures("two")
def test_a_worker_is_killed(verify: Callable[..., Report]) -> None:
    with Later(0.5, lambda: kill(workers()[0])) as killer:
        found = verify(*SEARCH)
    assert killer.done == 1, "the search was over too soon"
    assert counts(found) == counts(alone(*SEARCH))


@pytest.mark.usefixtures("two")
def test_an_actor_is_killed(verify: Callable[..., Report]) -> None:
    with Later(0.5, lambda: kill(parent(workers()[0]))) as killer:
        found = verify(*SEARCH)
    assert killer.done == 1, "the search was over too soon"
    assert counts(found) == counts(alone(*SEARCH))


def test_a_node_is_removed_and_another_one_comes(two: Machines) -> None:
    process = driver(*SEARCH, address=two.nodes.address)
    wait_for(lambda: len(workers()) == 2)
    two.replace()
    assert process.poll() is None, "the search was over too soon"
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert counts(json.loads(out)) == counts(alone(*SEARCH))


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a driver, and the porf that it has started, with SIGKILL."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for child in children:
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            if words[0] == str(binary.find()).encode():
                kill(int(child))
    kill(process.pid)
    process.wait()


def saved(path: Path) -> int:
    """Count the executions that a checkpoint tells of."""
    return int(json.loads(path.read_text())["executions"]) if path.exists() else 0


def test_the_driver_is_killed_and_goes_on(two: Machines, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    process = driver(*checkpointed(path), address=two.nodes.address)
    wait_for(lambda: saved(path) > 0)
    assert process.poll() is None, "the search was over too soon"
    end_group(process)
    assert 0 < saved(path) < alone(*SEARCH)["executions"]
    process = driver(*checkpointed(path), address=two.nodes.address)
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert counts(json.loads(out)) == counts(alone(*SEARCH))
    assert not path.exists()


def test_one_checkpoint_for_porf_and_the_cluster(two: Machines, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    # porf begins, the cluster goes on until Ctrl-C, porf ends it.
    begun = alone("--budget", "1s", *checkpointed(path))
    assert begun["code"] == 3
    assert path.exists()
    process = driver(*checkpointed(path), address=two.nodes.address)
    wait_for(lambda: bool(workers()))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130, err
    report = json.loads(out)
    assert "interrupted" in report["limit"]
    assert path.exists()
    command = [binary.find(), "--format", "json", "verify", *checkpointed(path)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert counts(json.loads(done.stdout)) == counts(alone(*SEARCH))


def test_random_kills(two: Machines, tmp_path: Path) -> None:
    """Kill workers, actors, nodes and drivers, by turns and by chance."""
    chance = random.Random(int(os.environ.get("PORF_KILL_SEED", "21")))
    for run in range(RANDOM_RUNS):
        path = tmp_path / f"checkpoint-{run}"
        kills = []
        process = driver(*checkpointed(path), address=two.nodes.address)
        for _ in range(chance.randrange(1, 4)):
            wait_for(lambda: process.poll() is not None or bool(workers()))  # noqa: B023
            time.sleep(chance.uniform(0, 2))
            what = chance.choice(["worker", "actor", "node", "driver"])
            there = workers()
            if process.poll() is not None:
                break
            if what == "driver":
                end_group(process)
                kills.append(f"driver at {saved(path)}")
                process = driver(*checkpointed(path), address=two.nodes.address)
            elif what == "node":
                two.replace()
                kills.append(what)
            elif there:
                victim = chance.choice(there)
                kill(victim if what == "worker" else parent(victim))
                kills.append(what)
        out, err = process.communicate()
        assert process.returncode == 0, err
        found = json.loads(out)
        assert counts(found) == counts(alone(*SEARCH)), f"run {run}"
        assert not path.exists()
        print(run, found["executions"], found["events"], *kills, sep="; ", flush=True)
