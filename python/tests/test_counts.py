"""The counts of one machine, on one, two and four nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from conftest import FULL, PROGRAMS, ROOT, Machines, Report, alone, counts

TREE = ("--no-reduce", "all")
SIZES = (
    {"ainc": "10", "readers": "22", "fib": "5"}
    if FULL
    else {"ainc": "8", "readers": "15", "fib": "4"}
)


def program(name: str, *flags: str) -> tuple[str, ...]:
    return (str(PROGRAMS / name), "--", *flags) if flags else (str(PROGRAMS / name),)


CASES = {
    "ainc-rc11": ("--model", "rc11", *TREE, *program("ainc.c", f"-DN={SIZES['ainc']}")),
    "ainc-reduced": ("--model", "rc11", *program("ainc.c", "-DN=10")),
    "readers-imm": ("--model", "imm", *TREE, *program("readers.c", f"-DN={SIZES['readers']}")),
    "fib-sc": ("--model", "sc", *program("fib_bench.c", f"-DN={SIZES['fib']}")),
    "fib-rc11": ("--model", "rc11", *program("fib_bench.c", f"-DN={SIZES['fib']}")),
    "lamport-imm": ("--model", "imm", *program("lamport.c")),
    "mpmc-rc11": ("--model", "rc11", *program("mpmc.c")),
    "mpmc-imm": ("--model", "imm", *TREE, *program("mpmc.c")),
    "buffering": ("--model", "imm", str(ROOT / "python" / "tests" / "buffering.c")),
    "mixed-sizes": ("--model", "rc11", "--all", *program("memory.c")),
    "up-to-rf": ("--model", "rc11", "--equivalence", "rf", *program("fib_bench.c")),
    "litmus": ("--model", "armv8", str(ROOT / "corpus/litmus/aarch64/3.LB+po+po+po.litmus")),
}


@pytest.fixture(scope="module", params=[1, 2, 4])
def machines(request: pytest.FixtureRequest) -> Iterator[Machines]:
    machines = Machines(request.param)
    yield machines
    machines.close()


@pytest.mark.usefixtures("machines")
@pytest.mark.parametrize("case", CASES)
def test_counts_are_those_of_one_machine(case: str, verify: Callable[..., Report]) -> None:
    expected = alone(*CASES[case])
    found = verify(*CASES[case])
    assert counts(found) == counts(expected)
    assert found["code"] == expected["code"]
