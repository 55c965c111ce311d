"""Violations, budgets, formats, the other verbs, and what is refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import PROGRAMS, ROOT, Report, alone, counts, wait_for, workers

from porf_cluster import binary
from porf_cluster.cli import main

BUG = ("--model", "rc11", "--no-reduce", "all", "--no-hints", str(PROGRAMS / "ainc.c"))
FLAGS = ("--", "-DN=12", "-DBUG_NOT_ATOMIC")

pytestmark = pytest.mark.usefixtures("two")


def test_a_violation_ends_everything(verify: Callable[..., Report], tmp_path: Path) -> None:
    witness = tmp_path / "bug.json"
    found = verify("--witness", str(witness), *BUG, *FLAGS)
    assert (found["verdict"], found["code"]) == ("violated", 1)
    replayed = subprocess.run([binary.find(), "replay", str(witness)], check=False)
    assert replayed.returncode in (0, 1)
    # 12! executions are left; nobody looks at them.
    wait_for(lambda: not workers())


def test_all_violations(verify: Callable[..., Report]) -> None:
    arguments = ("--all", "--no-hints", str(PROGRAMS / "memory.c"), "--", "-DBUG_AFTER_FREE")
    expected, found = alone(*arguments), verify(*arguments)
    assert counts(found) == counts(expected)
    assert len(found["violations"]) == len(expected["violations"])


def test_a_budget_is_kept_to_the_letter(verify: Callable[..., Report]) -> None:
    search = ("--no-reduce", "all", str(PROGRAMS / "ainc.c"), "--", "-DN=8")
    found = verify("--budget", "1234", *search)
    assert (found["verdict"], found["code"], found["executions"]) == ("inconclusive", 3, 1234)


def test_a_program_that_does_not_compile(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.c"
    wrong.write_text("int main(void) { return x; }\n")
    assert main(["verify", str(wrong)]) == 2
    assert "does not compile" in capfd.readouterr().err


def timeless(text: str) -> list[str]:
    """Leave out lines that tell times."""
    return [line for line in text.splitlines() if " s" not in line]


@pytest.mark.parametrize(
    "more", [(), ("--model", "sc,tso,rc11"), ("--format", "json"), ("--states",)]
)
def test_litmus_tests(more: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    words = ["litmus", *more, str(ROOT / "corpus/litmus/c11")]
    expected = subprocess.run([binary.find(), *words], capture_output=True, text=True, check=False)
    capfd.readouterr()
    code = main(words)
    said = capfd.readouterr()
    assert timeless(said.out) == timeless(expected.stdout)
    assert code == expected.returncode


def test_systems(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name in ("naive-mutex.cub", "peterson.cub"):
        shutil.copy(ROOT / "corpus/prove" / name, tmp_path)
    capfd.readouterr()
    code = main(["--format", "json", "prove", str(tmp_path)])
    reports = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    expected = []
    for name in ("naive-mutex.cub", "peterson.cub"):
        command = [binary.find(), "--format", "json", "prove", tmp_path / name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        expected.append(json.loads(done.stdout)["verdict"])
        code -= done.returncode if done.returncode == code else 0
    assert [report["verdict"] for report in reports] == expected


def test_samples(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    built = tmp_path / "message"
    source = ROOT / "examples/message.c"
    subprocess.run([binary.find(), "cc", "-g", source, "-o", built], check=True)
    capfd.readouterr()
    code = main(["--format", "json", "sample", "-n", "4000", "--", str(built)])
    report = json.loads(capfd.readouterr().out)
    assert (code, report["executions"], report["asked"]) == (1, 4000, 4000)
    assert report["findings"][0]["count"] <= report["violating"]


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    program = str(PROGRAMS / "ainc.c")
    began = time.monotonic()
    no_porf = run("-m", "porf_cluster", "verify", program, PORF=str(tmp_path / "porf"))
    assert (no_porf.returncode, "no such file" in no_porf.stderr) == (2, True), no_porf.stderr
    hidden = "import sys; sys.modules['ray'] = None; from porf_cluster.cli import main; "
    no_ray = run("-c", hidden + f"sys.exit(main(['verify', {program!r}]))")
    assert (no_ray.returncode, "Ray is not there" in no_ray.stderr) == (2, True), no_ray.stderr
    old = "import sys, ray; ray.__version__ = '2.9.1'; from porf_cluster.cli import main; "
    old_ray = run("-c", old + f"sys.exit(main(['verify', {program!r}]))")
    assert (old_ray.returncode, "2.9.1" in old_ray.stderr) == (2, True), old_ray.stderr
    assert time.monotonic() - began < 60


def test_a_node_with_another_porf_is_refused(two: object, tmp_path: Path) -> None:
    """The driver has a copy of porf that differs from that of the nodes in one byte."""
    other = tmp_path / "porf"
    shutil.copy(binary.find(), other)
    with other.open("ab") as file:
        file.write(b"\n")
    address = two.nodes.address  # type: ignore[attr-defined]
    program = str(PROGRAMS / "ainc.c")
    refused = run("-m", "porf_cluster", "verify", program, "--address", address, PORF=str(other))
    assert refused.returncode == 2
    assert "cannot take part" in refused.stderr
