"""The seed page's run and its citation on a day of our choosing."""

import datetime

import pytest

from runs import citation
from runs.models import Run
from runs.publication import publish
from runs.reads.run_page import run_page
from tests.factories import seed_bundle

TODAY = datetime.date(2026, 12, 1)


@pytest.fixture
def page(db):
    publish(seed_bundle())
    found = run_page(Run.objects.get(digest__startswith="sha256:5cde9b90d5f90633").id)
    assert found
    return found[0]


@pytest.fixture
def cited(page):
    return citation.citation(page, TODAY)
