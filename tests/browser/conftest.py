"""The site as its visitors have it: the production server with hashed files and every header, and Chromium."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

ROOT = Path(__file__).resolve().parents[2]
PHONE = {"width": 360, "height": 800}
DESK = {"width": 1280, "height": 900}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@dataclass(frozen=True)
class Site:
    """A running site and the ids of the runs that tests name."""

    url: str
    runs: dict[str, str]

    def path(self, name: str) -> str:
        """The path of a page: one of PATHS, or `run:` and a run's name."""
        kind, _, run = name.partition(":")
        return f"/runs/{self.runs[run]}/" if kind == "run" else PATHS[name]


PATHS = {
    "home": "/",
    "list": "/runs/",
    "list, filtered": "/runs/?operation=liger-group-norm&status=incorrect_numerical",
    "list, empty": "/runs/?q=nothing-has-this-name",
    "sources": "/sources/",
    "methodology": "/methodology/",
    "not found": "/runs/sha256:000000000000/",
}
RUNS = ("run:seed", "run:full", "run:failed", "run:withdrawn", "run:corrected", "run:made_up")
PAGES = (*PATHS, *RUNS)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    state = tmp_path_factory.mktemp("site")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    environment = {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{state / 'site.sqlite3'}",
        "DJANGO_SETTINGS_MODULE": "kernelindex.settings",
        "KERNELINDEX_BASE_URL": url,
        "KERNELINDEX_ENV": "development",
        "KERNELINDEX_STATE_DIR": str(state),
    }

    def python(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    python("manage.py", "migrate", "-v0")
    python("manage.py", "collectstatic", "-v0", "--noinput")
    runs = json.loads(python("-m", "tests.browser.catalogue"))
    serve = [sys.executable, "manage.py", "serve", "--port", str(port), "--workers", "1"]
    with subprocess.Popen(serve, cwd=ROOT, env=environment) as server:
        try:
            _wait(f"{url}/readyz", server)
            yield Site(url, runs)
        finally:
            server.terminate()


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(150):
        assert server.poll() is None, "the server stopped"
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    pytest.fail("the server did not answer within 15 seconds")


@pytest.fixture
def context(chromium: Browser, site: Site) -> Iterator[Callable[..., BrowserContext]]:
    """Makes a visitor: a context on this site, with Playwright's options."""
    opened: list[BrowserContext] = []

    def new(**options: object) -> BrowserContext:
        opened.append(chromium.new_context(base_url=site.url, **{"viewport": DESK, **options}))
        return opened[-1]

    yield new
    for each in opened:
        each.close()


@pytest.fixture
def visit(context: Callable[..., BrowserContext], site: Site) -> Callable[..., Page]:
    """Opens a page of the site as a new visitor."""

    def go(name: str, **options: object) -> Page:
        page = context(**options).new_page()
        page.goto(site.path(name))
        return page

    return go
