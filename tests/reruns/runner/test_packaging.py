"""A GPU host needs neither Django nor anything of the site."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BLOCKED = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"django", "kernelindex", "attestations", "psycopg", "torch", "triton"}:
            raise ImportError(f"{name} is not on a GPU host")
        if name.startswith(("runs.models", "runs.publication", "runs.storage", "runs.reads", "runs.views")):
            raise ImportError(f"{name} belongs to the site")

sys.meta_path.insert(0, Blocker())
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCKED + code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    "module", ["runs.reruns.runner.cli", "runs.reruns.runner.worker", "runs.reruns.runner.sample", "runs.reruns.verify"]
)
def test_the_runner_imports_without_django_and_before_torch(module):
    done = run(f"import {module}")
    assert done.returncode == 0, done.stderr


def test_the_blocker_blocks():
    assert "not on a GPU host" in run("import django").stderr


def test_the_runner_without_a_network_needs_no_celery():
    code = (
        "sys.modules['celery'] = sys.modules['kombu'] = None\nfrom runs.reruns.runner.cli import main\nmain(['--help'])"
    )
    done = run(code)
    assert done.returncode == 0, done.stderr


def test_the_runner_extra_brings_no_django():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {
        requirement.partition("[")[0].partition(">")[0].partition("=")[0].strip().lower()
        for requirement in [*project["dependencies"], *project["optional-dependencies"]["runner"]]
    }
    assert {"celery", "torch", "nvidia-ml-py", "liger-kernel"} <= names
    assert not [name for name in names if "django" in name or name in {"psycopg", "granian", "whitenoise"}]
