"""The recipes of docs/cluster.md, as far as they can be checked without such a cluster."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import ray
import yaml
from conftest import ROOT


def blocks(language: str) -> list[str]:
    """Give all code blocks of a language."""
    text = (ROOT / "docs" / "cluster.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def start_options() -> set[str]:
    """Ask the installed Ray what `ray start` takes."""
    command = [str(Path(sys.executable).parent / "ray"), "start", "--help"]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(re.findall(r"--[a-z][a-z-]+", said.stdout))


def test_the_resource_of_kuberay() -> None:
    (resource,) = [yaml.safe_load(block) for block in blocks("yaml")]
    assert (resource["apiVersion"], resource["kind"]) == ("ray.io/v1", "RayCluster")
    spec = resource["spec"]
    major, minor = (int(part) for part in spec["rayVersion"].split(".")[:2])
    assert (2, 50) <= (major, minor) <= tuple(map(int, ray.__version__.split(".")[:2]))
    assert f"rayproject/ray:{spec['rayVersion']}" in "".join(blocks("dockerfile"))
    known = start_options()
    groups = [spec["headGroupSpec"], *spec["workerGroupSpecs"]]
    for group in groups:
        assert {f"--{name}" for name in group["rayStartParams"]} <= known
        (container,) = group["template"]["spec"]["containers"]
        assert container["resources"]["limits"].keys() == {"cpu", "memory"}
    for group in groups[1:]:
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]


def test_the_script_for_slurm(tmp_path: Path) -> None:
    (script,) = blocks("bash")
    file = tmp_path / "job.sh"
    file.write_text(script)
    subprocess.run(["bash", "-n", file], check=True)
    starts = re.findall(r"\bray start ((?:.*\\\n)*.*)", script)
    used = {option for start in starts for option in re.findall(r"--[a-z][a-z-]+", start)}
    assert "--head" in used
    assert used <= start_options()
