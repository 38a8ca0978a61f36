"""A site with a dispatcher, two runners of different operators, and claims on an H200."""

from __future__ import annotations

import pytest

from tests.views import rerun_cases as lane


@pytest.fixture
def runners(db):
    return lane.register()


@pytest.fixture
def run(runners):
    return lane.claim(64)


@pytest.fixture
def rerun(run):
    """A rerun whose job is with its runners."""
    return lane.queued(run)
