"""Settings come from the environment, say loudly what is wrong, and are all documented."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = (ROOT / "kernelindex" / "settings.py").read_text()
KEY = "a key of more than fifty characters, for tests alone 0123456789"
PRODUCTION = {"KERNELINDEX_SECRET_KEY": KEY, "KERNELINDEX_HOSTS": "kernelindex.example"}


def manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("KERNELINDEX") and name != "DATABASE_URL"
    }
    return subprocess.run(
        [sys.executable, "-W", "error", "manage.py", *arguments],
        check=False,
        cwd=ROOT,
        env={**kept, "DJANGO_SETTINGS_MODULE": "kernelindex.settings", **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_every_setting_is_documented():
    names = set(re.findall(r'"((?:KERNELINDEX_[A-Z_]+)|DATABASE_URL)"', SOURCE))
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE))
    assert names == documented


def test_the_deployment_check_is_clean(tmp_path):
    done = manage("check", "--deploy", "--fail-level", "WARNING", **PRODUCTION, KERNELINDEX_STATE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({}, "KERNELINDEX_SECRET_KEY"),
        ({"KERNELINDEX_SECRET_KEY": "short", "KERNELINDEX_HOSTS": "a.example"}, "KERNELINDEX_SECRET_KEY"),
        ({"KERNELINDEX_SECRET_KEY": KEY}, "KERNELINDEX_HOSTS"),
        ({"KERNELINDEX_ENV": "staging"}, "KERNELINDEX_ENV"),
        ({**PRODUCTION, "KERNELINDEX_DEBUG": "1"}, "KERNELINDEX_DEBUG"),
        ({**PRODUCTION, "KERNELINDEX_DEBUG": "perhaps"}, "KERNELINDEX_DEBUG"),
        ({**PRODUCTION, "KERNELINDEX_BASE_URL": "kernelindex.example"}, "KERNELINDEX_BASE_URL"),
        ({**PRODUCTION, "DATABASE_URL": "mysql://localhost/x"}, "DATABASE_URL"),
        ({**PRODUCTION, "DATABASE_URL": "nonsense"}, "DATABASE_URL"),
        ({**PRODUCTION, "KERNELINDEX_LOG_LEVEL": "LOUD"}, "KERNELINDEX_LOG_LEVEL"),
    ],
)
def test_a_wrong_setting_is_one_line_that_names_it(environment, named):
    done = manage("check", **environment)
    assert done.returncode != 0
    assert named in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_the_development_key_is_made_once_and_kept_private(tmp_path):
    state = {"KERNELINDEX_ENV": "development", "KERNELINDEX_STATE_DIR": str(tmp_path)}
    keys = set()
    for _ in range(2):
        assert manage("check", **state).returncode == 0
        keys.add((tmp_path / "secret-key").read_text())
    assert len(keys) == 1
    assert len(keys.pop()) >= 50
    assert (tmp_path / "secret-key").stat().st_mode & 0o777 == 0o600
