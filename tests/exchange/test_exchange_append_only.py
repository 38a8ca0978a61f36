"""What was exchanged is evidence as well: the database keeps it as it was published."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction

from runs.models import (
    ExternalRecord,
    ModelRevision,
    NamedFile,
    ServingConfiguration,
    ServingMeasurement,
    ServingRun,
    ServingStackRevision,
    ServingWithdrawal,
    ServingWorkload,
)
from tests.exchange.examples import one_of_each

pytestmark = pytest.mark.django_db
TABLES = (
    ExternalRecord,
    ModelRevision,
    NamedFile,
    ServingConfiguration,
    ServingMeasurement,
    ServingRun,
    ServingStackRevision,
    ServingWithdrawal,
    ServingWorkload,
)


@pytest.fixture(autouse=True)
def exchanged(tmp_path) -> None:
    one_of_each(tmp_path)


@pytest.mark.parametrize("model", TABLES, ids=lambda model: model.__name__)
def test_the_database_lets_nothing_be_changed_or_deleted(model):
    assert model.objects.exists()
    table = model._meta.db_table
    columns = [field.column for field in model._meta.concrete_fields if not field.primary_key]
    statements = [f"DELETE FROM {table}", *(f"UPDATE {table} SET {column} = {column}" for column in columns)]
    if connection.vendor == "postgresql":
        statements.append(f"TRUNCATE {table} CASCADE")
        with connection.cursor() as cursor:  # no foreign key check of the fixture's own is pending
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    for statement in statements:
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
