"""The site as its visitors have it: the production server with hashed files and every header, and Chromium."""

from __future__ import annotations

import json
import os
import re
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
RUN_NAMES = ("seed", "full", "failed", "withdrawn", "corrected", "made_up")
RERUN_NAMES = (
    "contradicted",
    "host_bound",
    "inconclusive",
    "incorrect",
    "void",
    "failed",
    "running",
    "expired",
    "cancelled",
    "approved",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@dataclass(frozen=True)
class Place:
    """A page: its path, with the names of the catalogue in braces, and who looks at it; nobody is signed in for ""."""

    path: str
    person: str = ""


@dataclass(frozen=True)
class Site:
    """A running site, and what the catalogue calls its runs, reruns, statements and sessions."""

    url: str
    ids: dict[str, str]

    def path(self, name: str) -> str:
        """The path of a page: one of PLACES."""
        return PLACES[name].path.format_map(self.ids)


RUNS = {f"run:{name}": Place(f"/runs/{{{name}}}/") for name in RUN_NAMES}
# Pages that a visitor may meet first, or with a layout of their own: looked at in every way.
PRINCIPAL = {
    "home": Place("/"),
    **RUNS,
    "list": Place("/runs/"),
    "group": Place("/groups/{group}/"),
    "compare, one group": Place("/compare/?run={first}&run={seed}"),
    "operation": Place("/operations/liger-rms-norm/"),
    "search": Place("/search/?q=rmsnorm+h100+bf16+hidden%3D4096"),
    "rerun": Place("/reruns/{rerun_reproduced}/"),
    "run:rms_norm": Place("/runs/{rms_norm}/"),
    "ada: run": Place("/runs/{full}/", "ada"),
    "ada: statement form": Place("/runs/{seed}/statements/new/", "ada"),
}
OTHERS = {
    "list, filtered": Place("/runs/?operation=liger-group-norm&status=incorrect_numerical"),
    "list, empty": Place("/runs/?q=nothing-has-this-name"),
    "compare, none": Place("/compare/"),
    "compare, one": Place("/compare/?run={seed}"),
    "compare, two groups": Place("/compare/?run={seed}&run={full}"),
    "compare, many": Place("/compare/?run={first}&run={seed}&run={full}&run={made_up}&run={failed}&run={rms_norm}"),
    "group of one": Place("/groups/{group_of_full}/"),
    "operations": Place("/operations/"),
    "operation, many groups": Place("/operations/liger-group-norm/"),
    "implementations": Place("/implementations/"),
    "implementation": Place("/implementations/liger-group-norm-triton/"),
    "projects": Place("/projects/"),
    "project": Place("/projects/liger-kernel/"),
    "hardware, all": Place("/hardware/"),
    "hardware": Place("/hardware/{hardware}/"),
    "environments": Place("/environments/"),
    "environment": Place("/environments/{environment}/"),
    "protocols": Place("/protocols/"),
    "protocol": Place("/protocols/{protocol}/"),
    "sources": Place("/sources/"),
    "source": Place("/sources/liger-kernel-bench/"),
    "records": Place("/records/"),
    "record": Place("/records/{group}/"),
    "reruns": Place("/reruns/"),
    **{f"rerun, {name}": Place(f"/reruns/{{rerun_{name}}}/") for name in RERUN_NAMES},
    "runners": Place("/runners/"),
    "runner": Place("/runners/h200-a/"),
    "serving": Place("/serving/"),
    "exports": Place("/exports/"),
    "methodology": Place("/methodology/"),
    "search, nothing asked": Place("/search/"),
    "search, typo": Place("/search/?q=rmsnrom+hiden%3D4096"),
    "search, nothing found": Place("/search/?q=nothing-has-this-name"),
    "search, other size": Place("/search/?q=rmsnorm+h100+hidden%3D5000"),
    "sign in": Place("/account/login/"),
    "sign up": Place("/account/signup/"),
    "password, forgotten": Place("/account/password/reset/"),
    "person": Place("/people/ada/"),
    "statement": Place("/statements/{statement}/"),
    "report form": Place("/runs/{seed}/report/"),
    "receipt": Place("{receipt}"),
    "moderation log": Place("/moderation/"),
    "API": Place("/api/v1/reference"),
    "not found": Place("/runs/sha256:000000000000/"),
    "gone": Place("/runs/{removed}/"),
    "ada: account": Place("/account/", "ada"),
    "ada: password": Place("/account/password/change/", "ada"),
    "ada: sessions": Place("/account/sessions/", "ada"),
    "ada: tokens": Place("/account/tokens/", "ada"),
    "ada: following": Place("/following/", "ada"),
    "ada: submissions": Place("/submissions/", "ada"),
    "ada: submission": Place("/submissions/{submission}/", "ada"),
    "ada: submission with faults": Place("/submissions/{faulty}/", "ada"),
    "ada: submission form": Place("/submissions/new/", "ada"),
    "ada: revision": Place("/statements/{statement}/revise/", "ada"),
    "ada: withdrawal": Place("/statements/{statement}/withdraw/", "ada"),
    "ada: claim": Place("/claims/new/liger-group-norm-triton/", "ada"),
    "grace: waiting statement": Place("/statements/{waiting}/", "grace"),
    "morgan: home": Place("/", "morgan"),
}
# Django's own pages, with the site's content in them.
OFFICE = {
    "morgan: admin": Place("/admin/", "morgan"),
    "morgan: queue": Place("/admin/attestations/statement/", "morgan"),
    "morgan: decision": Place("/admin/attestations/statement/{waiting}/change/", "morgan"),
    "morgan: report": Place("/admin/attestations/report/{report}/change/", "morgan"),
}
PLACES = {**PRINCIPAL, **OTHERS, **OFFICE}
PAGES = (*PRINCIPAL, *OTHERS)


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
        "KERNELINDEX_EMAIL_URL": "file:",
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
    ids = json.loads(python("-m", "tests.browser.catalogue"))
    serve = [sys.executable, "manage.py", "serve", "--port", str(port), "--workers", "1"]
    with subprocess.Popen(serve, cwd=ROOT, env=environment) as server:
        try:
            _wait(f"{url}/readyz", server)
            yield Site(url, ids)
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
    """Makes a visitor: a context on this site, with Playwright's options; `person` is who is signed in."""
    opened: list[BrowserContext] = []

    def new(person: str = "", **options: object) -> BrowserContext:
        opened.append(chromium.new_context(base_url=site.url, **{"viewport": DESK, **options}))
        opened[-1].set_default_timeout(10_000)
        if person:
            session = site.ids[f"session_{person}"]
            opened[-1].add_cookies([{"name": "sessionid", "value": session, "url": site.url}])
        return opened[-1]

    yield new
    for each in opened:
        each.close()


@pytest.fixture
def visit(context: Callable[..., BrowserContext], site: Site) -> Callable[..., Page]:
    """Opens a page of the site in a new browser, signed in as who looks at it."""

    def go(name: str, **options: object) -> Page:
        page = context(person=PLACES[name].person, **options).new_page()
        page.goto(site.path(name))
        return page

    return go


@pytest.fixture
def link_in_mail(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], str]:
    """Waits for a mail that has not been read yet, and finds the first address in it."""
    read: set[Path] = set()

    def mails() -> list[Path]:
        found = tmp_path_factory.getbasetemp().glob("site*/mail/*")
        return sorted(set(found) - read, key=lambda path: path.stat().st_mtime_ns)

    def find() -> str:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            for mail in mails():
                address = re.search(r"https?://\S+", mail.read_text())
                if address:
                    read.add(mail)
                    return address[0]
            time.sleep(0.05)
        pytest.fail("No mail came within 10 seconds.")

    read.update(mails())
    return find
