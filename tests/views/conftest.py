"""Every test begins with nothing kept from the one before, and with the seed page's group where it asks for it."""

import pytest

from kernelindex.pages import shelf
from runs.models import Run
from runs.publication import publish
from runs.reads import tallies
from tests.factories import seed_bundle


@pytest.fixture(autouse=True)
def nothing_kept():
    tallies.forget()
    shelf.clear()


@pytest.fixture
def seed(db):
    """The run of the seed page, published with the one that it is compared with."""
    publish(seed_bundle())
    return Run.objects.get(digest__startswith="sha256:5cde9b90d5f90633")
