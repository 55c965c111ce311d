"""The counts of one machine, on one, two and four nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import factorial

import pytest
from conftest import FULL, PROGRAMS, ROOT, Machines, Report, alone, counts

TREE = ("--no-reduce", "all")
# A build for tests checks every graph: it visits some thousand executions per second.
SMALL = {"ainc": 7, "readers": 10, "fib": 2, "lamport": 3, "buffering": 3}
LARGE = {"ainc": 10, "readers": 26, "fib": 6, "lamport": 3, "buffering": 7}
QUEUE = ("-DPRODUCERS=3", "-DCONSUMERS=3") if FULL else ("-DPRODUCERS=3", "-DCONSUMERS=2")
SIZES = LARGE if FULL else SMALL


def program(name: str, *flags: str) -> tuple[str, ...]:
    return (str(PROGRAMS / name), "--", *flags) if flags else (str(PROGRAMS / name),)


MODELS = ("rc11", "sc", "imm")
FAMILIES = {
    "ainc": (*TREE, *program("ainc.c", f"-DN={SIZES['ainc']}")),
    "readers": (*TREE, *program("readers.c", f"-DN={SIZES['readers']}")),
    "fib": program("fib_bench.c", f"-DK={SIZES['fib']}"),
    "lamport": program("lamport.c", f"-DN={SIZES['lamport']}"),
    "mpmc": (*TREE, *program("mpmc.c", *QUEUE)),
}
RING = (*TREE, str(ROOT / "python/tests/buffering.c"), "--", f"-DN={SIZES['buffering']}")
CASES = {
    **{
        f"{name}-{model}": ("--model", model, *words)
        for name, words in FAMILIES.items()
        for model in MODELS
    },
    "symmetry": ("--model", "rc11", *program("ainc.c", "-DN=8")),
    "barriers": ("--model", "rc11", *program("barrier.c")),
    "buffering": ("--model", "imm", *RING),
    "buffering-armv8": ("--model", "armv8", *RING),
    "mixed-sizes": ("--model", "rc11", "--all", *program("memory.c")),
    "up-to-rf": ("--model", "rc11", "--equivalence", "rf", *program("fib_bench.c")),
    "only-weaving": ("--model", "lkmm", str(ROOT / "corpus/litmus/lkmm/2+2W+once+once.litmus")),
    "litmus": ("--model", "armv8", str(ROOT / "corpus/litmus/aarch64/3.LB+po+po+po.litmus")),
}
ORDERS = factorial(SIZES["buffering"])
KNOWN = {
    **{f"ainc-{model}": factorial(SIZES["ainc"]) for model in MODELS},
    **{f"readers-{model}": 2 ** SIZES["readers"] for model in MODELS},
    "buffering": 2 ** SIZES["buffering"] * ORDERS,
    "buffering-armv8": 2 ** SIZES["buffering"] * ORDERS,
}
"""How many executions there are, where a formula says so."""

FEW = ("ainc-rc11", "readers-sc", "mpmc-imm", "buffering")
"""On many nodes and few cores."""


@pytest.fixture(scope="module", params=[1, 2, 4])
def machines(request: pytest.FixtureRequest) -> Iterator[Machines]:
    machines = Machines(request.param)
    yield machines
    machines.close()


@pytest.mark.parametrize("case", CASES)
def test_counts_are_those_of_one_machine(
    case: str, machines: Machines, verify: Callable[..., Report]
) -> None:
    if len(machines.added) != 1 and case not in FEW and not FULL:
        pytest.skip("done on two nodes")
    expected = alone(*CASES[case])
    found = verify(*CASES[case])
    if case == "only-weaving":
        # There are no parts. Events of the second search are counted only without workers.
        expected["events"] = found["events"]
    assert counts(found) == counts(expected)
    assert found["executions"] == KNOWN.get(case, found["executions"])
    print(case, len(machines.added) + 1, *counts(found))
    assert found["code"] == expected["code"]
