"""A driver outside of the cluster, by Ray's client: `--address ray://HOST:PORT`."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest
from conftest import PROGRAMS, alone, counts, driver, wait_for, workers
from ray.cluster_utils import Cluster as Nodes

SEARCH = ("--no-reduce", "all", "--model", "rc11", str(PROGRAMS / "ainc.c"), "--", "-DN=7")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A node that clients can connect to."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    nodes = Nodes(
        initialize_head=True, head_node_args={"num_cpus": 2, "ray_client_server_port": port}
    )
    yield f"ray://127.0.0.1:{port}"
    nodes.shutdown()


def test_counts_are_those_of_one_machine(address: str) -> None:
    process = driver(*SEARCH, address=address)
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert counts(json.loads(out)) == counts(alone(*SEARCH))
    wait_for(lambda: not workers())
