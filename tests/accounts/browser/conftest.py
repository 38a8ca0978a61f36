"""The running site and Chromium of the browser tests, for the pages of accounts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import site

__all__ = ["site"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session", autouse=True)
def mail_as_files() -> Iterator[None]:
    """The site that these tests start writes its mail to files."""
    os.environ["KERNELINDEX_EMAIL_URL"] = "file:"
    yield
    del os.environ["KERNELINDEX_EMAIL_URL"]


@pytest.fixture
def link_in_mail(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], str]:
    """Finds the first address in the mail that was written last."""

    def find() -> str:
        mails = tmp_path_factory.getbasetemp().glob("site*/mail/*")
        newest = max(mails, key=lambda path: path.stat().st_mtime_ns)
        found = re.search(r"https?://\S+", newest.read_text())
        assert found
        return found[0]

    return find
