"""Fixtures that more than one folder of tests uses."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parent.parent


class Database:
    """A database of a test's own, reached as an operator reaches it: by manage.py in other processes."""

    def __init__(self, url: str, state: Path) -> None:
        self.url = url
        self.environment = {
            **os.environ,
            "DATABASE_URL": url,
            "KERNELINDEX_ENV": "development",
            "KERNELINDEX_STATE_DIR": str(state),
            "DJANGO_SETTINGS_MODULE": "kernelindex.settings",
        }

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def manage(self, *arguments: str, fails: bool = False) -> str:
        process = self.start(*arguments)
        output, _ = process.communicate(timeout=300)
        assert (process.returncode != 0) == fails, output
        return output


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """An empty, migrated database on the server that the suite runs against."""
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        fresh = Database(f"sqlite:///{tmp_path / 'test.sqlite3'}", tmp_path)
        fresh.manage("migrate", "-v0")
        yield fresh
        return
    url, name = os.environ["DATABASE_URL"].rsplit("/", 1)
    own = f"test_own_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(f"{url}/{name}", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{own}"')
        try:
            fresh = Database(f"{url}/{own}", tmp_path)
            fresh.manage("migrate", "-v0")
            yield fresh
        finally:
            connection.execute(f'DROP DATABASE "{own}" WITH (FORCE)')


CHROMIUM_ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One Chromium for all folders: Playwright runs once in a process."""
    path = shutil.which("chromium")
    if path is None:
        pytest.fail("Chromium is not installed (on Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_ARGUMENTS))
        yield browser
        browser.close()
