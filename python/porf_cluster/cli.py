"""`porf-cluster`: the arguments of `porf`, and where the cluster is."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

from porf_cluster import __version__, binary
from porf_cluster.errors import ClusterError
from porf_cluster.output import reserved

USAGE = """\
Usage: porf-cluster VERB [--address ADDRESS] [--slots N] [options of porf VERB]

The verbs of porf that are worth more than one machine, on a Ray cluster:
  verify FILE...              every execution of a program
  litmus PATH...              litmus tests: files, folders
  prove PATH...               array systems: files, folders
  sample -n N -- ./program    many executions of a program built by `porf cc`

  --address ADDRESS   of the cluster, as ray.init takes it (ray://HOST:10001, HOST:6379)
                      [default: RAY_ADDRESS, or a cluster on this machine]
  --slots N           use at most N CPUs
  --version           the versions of porf-cluster and porf

Output and exit codes are those of porf: see `porf VERB --help`.
"""


@dataclass
class Arguments:
    """What is ours, and what is porf's."""

    verb: str
    address: str | None
    slots: int | None
    rest: list[str]


def parse(arguments: list[str]) -> Arguments:
    """Take out what is ours. What follows `--` is not looked at."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    own: dict[str, str] = {}
    rest: list[str] = []
    words = iter(arguments[:end])
    for word in words:
        name, _, value = word.partition("=")
        if name in ("--address", "--slots"):
            given = value if "=" in word else next(words, None)
            if not given:
                raise ClusterError(f"{name} needs a value")
            own[name] = given
        else:
            rest.append(word)
    rest += arguments[end:]
    verb = next((word for word in rest if word in VERBS), None)
    if verb is None:
        raise ClusterError(f"one of {', '.join(VERBS)} is needed: see porf-cluster --help")
    slots = own.get("--slots")
    if slots is not None and not (slots.isdigit() and int(slots) > 0):
        raise ClusterError(f"--slots {slots}: a number from 1 on")
    return Arguments(verb, own.get("--address"), int(slots) if slots else None, rest)


VERBS = ("verify", "litmus", "prove", "sample")

ALONE = ("--estimate", "--against", "--help", "-h")
"""What needs no cluster."""


def main(arguments: list[str] | None = None) -> int:
    """Run, and give the exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        return run(words)
    except ClusterError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def run(words: list[str]) -> int:
    """Run a verb."""
    if not words or words[0] in ("--help", "-h", "help"):
        print(USAGE, end="")
        return 0 if words else 2
    if words[0] in ("--version", "-V"):
        print(f"porf-cluster {__version__}", flush=True)
        return subprocess.run([binary.find(), "--version"], check=False).returncode
    given = parse(words)
    before = given.rest[: given.rest.index("--")] if "--" in given.rest else given.rest
    if any(word.partition("=")[0] in ALONE for word in before):
        os.execv(binary.find(), ["porf", *given.rest])
    from porf_cluster.cluster import connected

    with reserved() as out, connected(given.address, given.slots) as cluster:
        cluster.begin()
        if given.verb == "verify":
            from porf_cluster.drive import verify

            return verify(cluster, given.rest, out)
        from porf_cluster.batch import batch

        return batch(cluster, given.verb, given.rest, out)
