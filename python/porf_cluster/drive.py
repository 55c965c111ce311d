"""`porf-cluster verify`: carries lines between `porf verify`, which drives, and the slots.

`porf` owns the search: it says what to do next, counts what is reported, writes checkpoints and
gives the answer. Nothing of that is done here. What is here forgets everything when it ends.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
import time
from concurrent.futures import Future
from types import FrameType
from typing import Any, BinaryIO

from porf_cluster import binary
from porf_cluster.cluster import Cluster, Place
from porf_cluster.errors import ClusterError
from porf_cluster.worker import WorkerDiedError

SIGNALS = (signal.SIGINT, signal.SIGTERM)

LOOK = 1.0
"""Seconds between two looks at the nodes."""


class Driver:
    """A search that runs."""

    def __init__(self, cluster: Cluster, arguments: list[str]) -> None:
        """Start `porf` with these arguments."""
        self._cluster = cluster
        self._events: queue.Queue[tuple[Any, ...]] = queue.Queue()
        self._idle: list[Place] = list(cluster.places)
        self._busy: dict[int, Place] = {}
        self._job: Any = None
        self._jobs = 0
        self._over = False
        from_us, to_porf = os.pipe()
        from_porf, to_us = os.pipe()
        verb = arguments.index("verify")
        told = [*arguments[: verb + 1], "--cluster", f"{from_us},{to_us}", *arguments[verb + 1 :]]
        # A session of its own: Ctrl-C comes here, and is handed on once.
        self._porf = subprocess.Popen(
            [binary.find(), *told], pass_fds=(from_us, to_us), start_new_session=True
        )
        os.close(from_us)
        os.close(to_us)
        self._output = os.fdopen(to_porf, "wb")
        listener = threading.Thread(
            target=self._listen, args=(os.fdopen(from_porf, "rb"),), daemon=True
        )
        listener.start()

    def run(self) -> int:
        """Go on until `porf` ends; its exit code."""
        before = {number: signal.signal(number, self._interrupt) for number in SIGNALS}
        try:
            return self._run()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _run(self) -> int:
        self._tell(b"slots %d\n" % len(self._cluster.places))
        looked = time.monotonic()
        while True:
            if time.monotonic() - looked >= LOOK:
                self._look()
                looked = time.monotonic()
            try:
                event = self._events.get(timeout=LOOK)
            except queue.Empty:
                continue
            if event[0] == "end":
                return self._porf.wait()
            if event[0] == "line":
                self._obey(event[1])
            else:
                self._done(event[1], event[2])

    def _interrupt(self, number: int, _frame: FrameType | None) -> None:
        # porf writes a checkpoint and says what it has.
        self._porf.send_signal(number)

    def _listen(self, lines: BinaryIO) -> None:
        for line in lines:
            self._events.put(("line", line))
        self._events.put(("end",))

    def _tell(self, line: bytes) -> None:
        try:
            self._output.write(line)
            self._output.flush()
        except OSError:
            # It has ended, and the listener tells so.
            self._over = True

    def _obey(self, line: bytes) -> None:
        import ray

        word, _, rest = line.rstrip(b"\n").partition(b" ")
        if word == b"job":
            self._job = ray.put(rest)
            self._jobs += 1
        elif word == b"task":
            self._start(int(rest.partition(b" ")[0]), rest)
        elif word == b"hurry":
            place = self._busy.get(int(rest))
            if place is not None:
                place.actor.hurry.remote(int(rest))
        elif word == b"stop":
            self._over = True
            self._cluster.release()

    def _start(self, number: int, task: bytes) -> None:
        if not self._idle:
            self._tell(b"lost %d\n" % number)
            return
        place = self._idle.pop()
        self._busy[number] = place
        future: Future[bytes] = place.actor.run.remote(self._jobs, [self._job], task).future()
        future.add_done_callback(lambda done: self._events.put(("done", number, done)))

    def _done(self, number: int, future: Future[bytes]) -> None:
        place = self._busy.pop(number)
        if self._over:
            return
        error = future.exception()
        cause = getattr(error, "cause", None) or error
        if error is None:
            self._idle.append(place)
            self._tell(future.result())
        elif isinstance(cause, WorkerDiedError):
            # The slot starts another process.
            self._idle.append(place)
            self._tell(b"lost %d\n" % number)
        elif isinstance(cause, ClusterError):
            self._tell(b"failed " + str(cause).replace("\n", " ").encode() + b"\n")
        else:
            self._cluster.lose(place)
            self._tell(b"slots %d\n" % len(self._cluster.places))
            self._tell(b"lost %d\n" % number)

    def _look(self) -> None:
        """See whether there are new slots."""
        if self._over:
            return
        fresh = self._cluster.refresh()
        if fresh:
            self._idle.extend(fresh)
            self._tell(b"slots %d\n" % len(self._cluster.places))


def verify(cluster: Cluster, arguments: list[str]) -> int:
    """Verify a program on all slots of a cluster."""
    return Driver(cluster, arguments).run()
