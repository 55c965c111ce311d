"""The cluster: its nodes, and the slots on them."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from porf_cluster import binary
from porf_cluster.errors import ClusterError

if TYPE_CHECKING:
    from porf_cluster.slot import Facts

NEEDED = (2, 50)
PATIENCE = 60.0
"""Seconds that a slot may take to start."""
ATTEMPTS = 3
"""How often a cluster that breaks the connection off is asked."""


def load_ray() -> Any:  # noqa: ANN401 (a module)
    """Import Ray, or say what is missing."""
    # What Ray would say about its own habits is no part of our output.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_DEDUP_LOGS", "0")
    try:
        import ray
    except ImportError as error:
        message = f"Ray is not there ({error}): pip install 'ray[client]>=2.50'"
        raise ClusterError(message) from error
    version = tuple(int(part) for part in ray.__version__.split(".")[:2] if part.isdigit())
    if not NEEDED <= version < (3,):
        raise ClusterError(f"Ray {ray.__version__} is not supported: 2.50 or newer, below 3")
    return ray


@contextlib.contextmanager
def connected(address: str | None, slots: int | None) -> Iterator[Cluster]:
    """Connect to a cluster, or start one on this machine."""
    ray = load_ray()
    began = not ray.is_initialized()
    if began:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        # Without an address Ray would join any cluster that it finds on this machine.
        where = address or os.environ.get("RAY_ADDRESS") or "local"
        if where == "local":
            options["include_dashboard"] = False
            if slots is not None:
                options["num_cpus"] = slots
        join(ray, where, options)
    cluster = Cluster(slots)
    try:
        yield cluster
    finally:
        cluster.release()
        if began:
            ray.shutdown()


def join(ray: Any, where: str, options: dict[str, Any]) -> None:  # noqa: ANN401 (a module)
    """Connect to the cluster at an address."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            ray.init(address=where, **options)
        except ConnectionAbortedError as error:
            # The cluster answers, but its head starts a server for each client, and a busy head
            # starts it too slowly for Ray.
            if attempt == ATTEMPTS:
                raise ClusterError(f"no Ray cluster at {where}: {error}") from error
        except Exception as error:
            raise ClusterError(f"no Ray cluster at {where}: {error}") from error
        else:
            return


@dataclass
class Place:
    """A slot, and the node that it is on."""

    actor: Any
    node: str


class Cluster:
    """All slots. Nodes come and go."""

    def __init__(self, most: int | None) -> None:
        """Know no slots yet; there will be at most `most`."""
        self.places: list[Place] = []
        self._most = most
        self._build = binary.build(binary.find())
        self._starting: list[tuple[Place, Future[Facts], float]] = []
        # Nodes with another porf: they are not asked again.
        self._refused: set[str] = set()

    def begin(self) -> None:
        """Take slots on all nodes. It is an error if a node has no porf, or another one."""
        self._create()
        end = time.monotonic() + PATIENCE
        reason = "the cluster has no node with a CPU"
        for entry in list(self._starting):
            place, future, _ = entry
            try:
                facts = future.result(timeout=max(0.0, end - time.monotonic()))
            except FutureTimeoutError:
                # Its CPU is not free. It may become so later.
                reason = "no CPU of the cluster became free"
                continue
            except Exception as error:
                # The node died before it began. There may be others.
                reason = f"a slot on node {place.node[:12]} does not start: {error}"
                self._starting.remove(entry)
                kill(place)
                continue
            self._starting.remove(entry)
            self._check(place, facts)
            self.places.append(place)
        if not self.places:
            raise ClusterError(reason)

    def refresh(self) -> list[Place]:
        """Start slots that are missing; gives those that have become ready."""
        fresh = []
        now = time.monotonic()
        for entry in list(self._starting):
            place, future, since = entry
            if not future.done():
                if now - since > PATIENCE:
                    self._starting.remove(entry)
                    kill(place)
                continue
            self._starting.remove(entry)
            if future.exception() is not None:
                kill(place)
                continue
            try:
                self._check(place, future.result())
            except ClusterError as error:
                # The search goes on without the node.
                print(f"warning: {error}", file=sys.stderr)
                self._refused.add(place.node)
                kill(place)
                continue
            fresh.append(place)
        self.places.extend(fresh)
        self._create()
        return fresh

    def lose(self, place: Place) -> None:
        """Forget a slot that is gone."""
        if place in self.places:
            self.places.remove(place)
        kill(place)

    def release(self) -> None:
        """End all slots at once."""
        for place in [*self.places, *(place for place, _, _ in self._starting)]:
            kill(place)
        self.places.clear()
        self._starting.clear()

    def _create(self) -> None:
        """Start the slots that are missing: one for each CPU of each node."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        from porf_cluster.slot import Slot

        have = Counter(place.node for place in self.places)
        have.update(place.node for place, _, _ in self._starting)
        for node in ray.nodes():
            name = str(node["NodeID"])
            if not node["Alive"] or name in self._refused:
                continue
            cpus = int(node["Resources"].get("CPU", 0))
            for _ in range(cpus - have[name]):
                if self._most is not None and have.total() >= self._most:
                    return
                have[name] += 1
                strategy = NodeAffinitySchedulingStrategy(node_id=name, soft=False)
                options = {"num_cpus": 1, "max_restarts": 0, "max_concurrency": 2}
                remote: Any = ray.remote
                slot = remote(scheduling_strategy=strategy, **options)(Slot)
                place = Place(slot.remote(cpus), name)
                future = place.actor.facts.remote().future()
                self._starting.append((place, future, time.monotonic()))

    def _check(self, place: Place, facts: Facts) -> None:
        """Refuse a node that would search with another porf."""
        if facts.error or facts.build != self._build:
            has = facts.error or f"it has {facts.build}, and this machine {self._build}"
            raise ClusterError(f"node {facts.host} ({place.node[:12]}) cannot take part: {has}")


def kill(place: Place) -> None:
    """End a slot, whatever it does. One that is gone stays gone."""
    import ray

    with contextlib.suppress(Exception):
        ray.kill(place.actor)
