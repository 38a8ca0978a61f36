"""An export to import: three kernel runs of one comparison group, one of them failed, and two serving runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests import factories
from tests.exchange.examples import FAILED
from tests.exchange.rows import export_of, serving


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    return export_of(factories.bundle(factories.FIRST, factories.SEED, FAILED)) + serving()
