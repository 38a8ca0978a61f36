"""Bulk statements for `runs.publication`, on SQLite and PostgreSQL alike. Nothing else writes evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

import orjson
from django.db import connection, models, transaction

T = TypeVar("T")

# One lock for all writers of evidence; any constant does, as long as nothing else in the database uses it.
_PUBLICATION_LOCK = 0x6B65726E656C


@contextmanager
def one_writer() -> Iterator[None]:
    """A transaction that no other publication runs beside."""
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_PUBLICATION_LOCK])
        yield


def chunks(items: Iterable[T], size: int = 500) -> Iterator[list[T]]:
    """Lists of at most `size` items: no statement grows with what it is given."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def _converter(field: models.Field[Any, Any]) -> Callable[[Any], Any] | None:
    """How a column's values must be written for this database; None when Python's own value will do."""
    target = field.target_field if isinstance(field, models.ForeignKey) else field
    if isinstance(target, models.UUIDField):
        return None if connection.vendor == "postgresql" else (lambda value: value.hex if value else None)
    if isinstance(target, models.DateTimeField):  # rows of one publication share their times: each is written once
        return lru_cache(maxsize=4096)(lambda value: target.get_db_prep_save(value, connection))
    if isinstance(target, models.JSONField):
        return lambda value: orjson.dumps(value).decode()
    return None


def _write(model: type[models.Model], names: Sequence[str], sql: str, rows: Iterable[Sequence[Any]]) -> None:
    fields = {field.attname: field for field in model._meta.concrete_fields}
    converters = [_converter(fields[name]) for name in names]
    with connection.cursor() as cursor:
        cursor.executemany(
            sql,
            [
                [convert(value) if convert else value for convert, value in zip(converters, row, strict=True)]
                for row in rows
            ],
        )


def _columns(model: type[models.Model], names: Iterable[str]) -> list[str]:
    fields = {field.attname: field for field in model._meta.concrete_fields}
    return [connection.ops.quote_name(str(fields[name].column)) for name in names]


def insert(model: type[models.Model], rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows given by attribute name. Every row has the same members, in the same order."""
    if not rows:
        return
    names = list(rows[0])
    table, columns = connection.ops.quote_name(model._meta.db_table), ", ".join(_columns(model, names))
    marks = ", ".join(["%s"] * len(names))
    _write(model, names, f"INSERT INTO {table} ({columns}) VALUES ({marks})", (list(row.values()) for row in rows))  # noqa: S608


def update(model: type[models.Model], names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Set the named columns; each row is their values and, last, the primary key."""
    if not rows:
        return
    key = str(model._meta.pk.attname)
    *columns, key_column = _columns(model, [*names, key])
    changes = ", ".join(f"{column} = %s" for column in columns)
    table = connection.ops.quote_name(model._meta.db_table)
    _write(model, [*names, key], f"UPDATE {table} SET {changes} WHERE {key_column} = %s", rows)  # noqa: S608


def renew_statistics() -> None:
    """Tell SQLite's planner how large the tables are now; PostgreSQL keeps its own statistics up to date."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA analysis_limit = 1000")
            cursor.execute("ANALYZE")
