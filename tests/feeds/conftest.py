"""Every test begins with nothing kept from the one before."""

import pytest

from kernelindex.pages import shelf
from runs.reads import tallies


@pytest.fixture(autouse=True)
def nothing_kept():
    tallies.forget()
    shelf.clear()
