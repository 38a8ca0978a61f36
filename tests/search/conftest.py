"""Every test begins with nothing kept from the one before; `index` publishes the records of `examples`."""

import pytest

from runs.publication import publish
from runs.reads import tallies
from runs.reads.search import vocabulary
from tests.search.examples import example_bundle


@pytest.fixture(autouse=True)
def nothing_kept():
    tallies.forget()
    vocabulary.forget()


@pytest.fixture
def index(db):
    publish(example_bundle())
