"""`litmus`, `prove` and `sample`: many small questions, spread over the slots.

Each slot runs `porf` on some of the files, or with some of the seeds. What comes back is shown by
`porf` itself, as if it had done all.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from porf_cluster import binary
from porf_cluster.cluster import Cluster, Place
from porf_cluster.errors import ClusterError

PARTS = 8
"""Parts for each slot: a slot that is done early takes more."""

MOST_LOSSES = 10
"""A part that so many slots were lost with is not tried again."""


@dataclass
class Part:
    """A command for some slot."""

    arguments: list[str]
    files: dict[str, Any]
    losses: int = 0


@dataclass
class Pool:
    """Parts that are to be done, in the slots that are there."""

    cluster: Cluster
    parts: list[Part]
    first: bool = False
    done: dict[int, Any] = field(default_factory=dict)

    def run(self) -> list[Any]:
        """Do all parts, also those whose slots are lost; what they said, in their order."""
        import ray

        waiting = deque(range(len(self.parts)))
        idle = list(self.cluster.places)
        busy: dict[Any, tuple[int, Place]] = {}
        while waiting or busy:
            while waiting and idle:
                number, place = waiting.popleft(), idle.pop()
                part = self.parts[number]
                ref = place.actor.command.remote(part.arguments, part.files)
                busy[ref] = (number, place)
            ready, _ = ray.wait(list(busy), timeout=1.0) if busy else ([], [])
            for ref in ready:
                number, place = busy.pop(ref)
                try:
                    self.done[number] = ray.get(ref)
                    idle.append(place)
                except ray.exceptions.RayActorError:
                    self.cluster.lose(place)
                    self._lose(number)
                    waiting.appendleft(number)
                if self.first and number in self.done and self.done[number].code == 1:
                    waiting.clear()
            idle.extend(self.cluster.refresh())
        return [self.done[number] for number in sorted(self.done)]

    def _lose(self, number: int) -> None:
        self.parts[number].losses += 1
        if self.parts[number].losses >= MOST_LOSSES:
            command = " ".join(self.parts[number].arguments)
            raise ClusterError(f"{MOST_LOSSES} slots were lost with the same part: porf {command}")


def batch(cluster: Cluster, verb: str, arguments: list[str]) -> int:
    """Run a verb on all slots."""
    verbs = {"litmus": litmus, "prove": prove, "sample": sample}
    return verbs[verb](cluster, arguments)


def litmus(cluster: Cluster, arguments: list[str]) -> int:
    """Run litmus tests; `porf` shows the answers."""
    listed = subprocess.run(
        [binary.find(), *arguments, "--list"], stdout=subprocess.PIPE, check=False
    )
    if listed.returncode != 0:
        return listed.returncode
    plan = json.loads(listed.stdout)
    files: list[str] = plan["files"]
    each = max(1, len(files) // (PARTS * len(cluster.places)))
    parts = []
    for start in range(0, len(files), each):
        texts = {f"{at:06}.litmus": Path(files[at]) for at in _range(start, each, len(files))}
        told = ["litmus", *texts, "--raw", "--jobs", "1", *plan["arguments"]]
        parts.append(Part(told, {name: _put(path) for name, path in texts.items()}))
    lines = b""
    for ended in Pool(cluster, parts).run():
        if ended.code != 0:
            sys.stderr.buffer.write(ended.stderr)
            return int(ended.code)
        lines += ended.stdout
    with _file(lines) as answers:
        return _porf([*arguments, "--answers", answers])


def prove(cluster: Cluster, arguments: list[str]) -> int:
    """Prove systems, each on a slot of its own; what `porf` says of each, in their order."""
    options: list[str] = []
    files: list[Path] = []
    for word in arguments:
        path = Path(word)
        if path.is_dir():
            files += sorted(path.rglob("*.cub"))
        elif path.suffix == ".cub":
            files.append(path)
        else:
            options.append(word)
    if not files:
        raise ClusterError("no systems found (files named *.cub)")
    for name in ("--certificate", "--check", "--smt", "--sarif"):
        if any(word.partition("=")[0] == name for word in options):
            raise ClusterError(f"{name} is about one system: use porf prove")
    missing = next((path for path in files if not path.is_file()), None)
    if missing is not None:
        raise ClusterError(f"{missing}: no such file")
    # A system keeps its name, in a folder of its own.
    names = [str(path) if not path.is_absolute() else str(path)[1:] for path in files]
    names = [name.replace("../", "") for name in names]
    parts = [
        Part([*options, name], {name: _put(path)}) for name, path in zip(names, files, strict=True)
    ]
    worst = 0
    for ended in Pool(cluster, parts).run():
        sys.stdout.buffer.write(ended.stdout)
        sys.stdout.buffer.flush()
        sys.stderr.buffer.write(ended.stderr)
        worst = max(worst, ended.code, key=_severity)
    return worst


def _severity(code: int) -> int:
    """Order exit codes: what is wrong counts most, then bad input, then no answer."""
    return [0, 3, 130, 2, 1].index(code) if code in (0, 1, 2, 3, 130) else 5


def sample(cluster: Cluster, arguments: list[str]) -> int:
    """Run a program with many seeds; `porf` adds the reports up."""
    if "--" not in arguments or arguments[-1] == "--":
        return _porf(arguments)
    end = arguments.index("--")
    options, program = arguments[:end], arguments[end + 1 :]
    path = Path(program[0])
    if not path.is_file():
        raise ClusterError(f"{path}: no such file")
    kept, own = _without(options, {"-n": "--executions"}, ("--executions", "--seed"))
    kept, _ = _without(kept, {}, ("--witness", "--sarif", "--format", "--color"))
    total, seed = _number(own, "--executions", 1000), _number(own, "--seed", 1)
    each = max(1, -(-total // (PARTS * len(cluster.places))))
    files = {"program": _put(path)}
    parts = []
    for start in range(0, total, each):
        count = min(each, total - start)
        told = [*kept, "--format", "json", "-n", str(count), "--seed", str(seed + start)]
        parts.append(Part([*told, "--", "./program", *program[1:]], files))
    lines = b""
    for ended in Pool(cluster, parts, first="--first" in options).run():
        if not ended.stdout.endswith(b"\n"):
            sys.stderr.buffer.write(ended.stderr)
            return int(ended.code)
        lines += ended.stdout
    with _file(lines) as reports:
        return _porf([*options, "--reports", reports, "--", *program])


def _without(
    words: list[str], short: dict[str, str], names: tuple[str, ...]
) -> tuple[list[str], dict[str, str]]:
    """Take options that have a value out."""
    kept: list[str] = []
    taken: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        name = short.get(name, name)
        if name in names:
            taken[name] = value if equals else next(rest, "")
        elif word[:2] in short and len(word) > 2 and not equals:
            taken[short[word[:2]]] = word[2:]
        else:
            kept.append(word)
    return kept, taken


def _number(values: dict[str, str], name: str, default: int) -> int:
    text = values.get(name, str(default))
    if not text.isdigit():
        raise ClusterError(f"{name} {text}: a number")
    return int(text)


def _range(start: int, count: int, end: int) -> range:
    return range(start, min(start + count, end))


def _put(path: Path) -> Any:  # noqa: ANN401 (a reference)
    """Put a file into the object store: it goes to each node once."""
    import ray

    try:
        return ray.put(path.read_bytes())
    except OSError as error:
        raise ClusterError(f"{path}: {error.strerror}") from error


@contextmanager
def _file(content: bytes) -> Iterator[str]:
    with tempfile.NamedTemporaryFile(prefix="porf-") as file:
        file.write(content)
        file.flush()
        yield file.name


def _porf(arguments: list[str]) -> int:
    return subprocess.run([binary.find(), *arguments], check=False).returncode
