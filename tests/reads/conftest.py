"""Every test begins without the counts that a process keeps."""

import pytest

from runs.reads import tallies


@pytest.fixture(autouse=True)
def nothing_kept():
    tallies.forget()
