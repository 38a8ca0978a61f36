"""Hand-written SQL that runs alike on SQLite and PostgreSQL.

Raw cursors give what the driver gives; the `as_…` functions turn that into the values which the ORM would have made.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
from django.db import connection

Row = dict[str, Any]


def fetch(sql: str, params: Sequence[Any] = ()) -> list[Row]:
    """The rows of one statement, each by column name.

    UUIDs and times among the parameters are written as they are stored.
    """
    with connection.cursor() as cursor:
        cursor.execute(sql, _parameters(params))
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def fetch_tuple(sql: str, params: Sequence[Any] = ()) -> tuple[Any, ...] | None:
    """The first row of one statement as the driver gives it, or None."""
    with connection.cursor() as cursor:
        cursor.execute(sql, _parameters(params))
        row: tuple[Any, ...] | None = cursor.fetchone()
    return row


def _parameters(params: Sequence[Any]) -> list[Any]:
    if connection.features.has_native_uuid_field:
        return list(params)
    return [_written(value) for value in params]


def _written(value: Any) -> Any:
    """A value as SQLite keeps it: 32 digits of a UUID, a time in UTC as text without an offset."""
    if isinstance(value, datetime):
        return str(value.astimezone(UTC).replace(tzinfo=None))
    return value.hex if isinstance(value, UUID) else value


def as_uuid(value: UUID | str) -> UUID:
    """A UUID column: SQLite keeps 32 hexadecimal digits."""
    return value if isinstance(value, UUID) else UUID(value)


def as_instant(value: datetime | str) -> datetime:
    """A time column, aware and in UTC: SQLite keeps ISO text without an offset."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def as_json(value: Any) -> Any:
    """A JSON column: both drivers give its text."""
    return orjson.loads(value) if isinstance(value, str | bytes) else value


def as_number(value: float) -> float | int:
    """A figure as its manifest writes it: RFC 8785 knows no difference between 73728 and 73728.0, and writes 73728."""
    return int(value) if value.is_integer() and abs(value) < 2**53 else value
