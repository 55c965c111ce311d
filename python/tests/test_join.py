"""Connecting to a cluster whose head is busy."""

from __future__ import annotations

import pytest

from porf_cluster.cluster import ATTEMPTS, join
from porf_cluster.errors import ClusterError


class Busy:
    """A Ray that breaks off some connections before it takes one."""

    def __init__(self, refusals: int, reason: Exception) -> None:
        self.asked = 0
        self._refusals = refusals
        self._reason = reason

    def init(self, **_: object) -> None:
        self.asked += 1
        if self.asked <= self._refusals:
            raise self._reason


def test_a_busy_head_is_asked_again() -> None:
    ray = Busy(ATTEMPTS - 1, ConnectionAbortedError("Starting Ray client server failed"))
    join(ray, "ray://head:10001", {})
    assert ray.asked == ATTEMPTS


def test_not_for_ever() -> None:
    ray = Busy(ATTEMPTS, ConnectionAbortedError("Starting Ray client server failed"))
    with pytest.raises(ClusterError, match="no Ray cluster at ray://head:10001: Starting"):
        join(ray, "ray://head:10001", {})
    assert ray.asked == ATTEMPTS


def test_nobody_there_is_said_at_once() -> None:
    ray = Busy(1, ConnectionError("nobody there"))
    with pytest.raises(ClusterError, match="nobody there"):
        join(ray, "ray://head:10001", {})
    assert ray.asked == 1
