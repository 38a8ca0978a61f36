"""The running site and Chromium of the browser tests, for the pages of accounts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import link_in_mail, site

__all__ = ["link_in_mail", "site"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
