"""Every test begins with nothing kept and nothing counted; `index` publishes the small index of the search's tests."""

import pytest

from kernelindex.pages import shelf
from runs.api import workloads
from runs.api.limits import counter
from runs.models import Run
from runs.publication import publish
from runs.reads import tallies
from runs.reads.search import vocabulary
from tests.factories import seed_bundle
from tests.search.examples import example_bundle


@pytest.fixture(autouse=True)
def nothing_kept():
    tallies.forget()
    vocabulary.forget()
    shelf.clear()
    counter.clear()
    workloads.shelf.clear()


@pytest.fixture
def index(db):
    publish(example_bundle())


@pytest.fixture
def seed(db):
    """The run of the seed page, published with the one that it is compared with."""
    publish(seed_bundle())
    return Run.objects.get(digest__startswith="sha256:5cde9b90d5f90633")
