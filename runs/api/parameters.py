"""What a request asks for: filters, fields, what to include, and the page. Whatever is not understood is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings
from django.http import QueryDict
from rest_framework import serializers

from runs.api.cursors import LONGEST, seal, unseal
from runs.api.problems import Fault, Problem, faults

DEFAULT_LIMIT: Final = 50
LARGEST_LIMIT: Final = 100


class Filters(serializers.Serializer[Any]):
    """The parameters of an endpoint, besides those that many have: none, unless a subclass names some."""


class Body(serializers.Serializer[Any]):
    """An object in a body. What it does not know is refused, so that a misspelt name is not passed over."""

    def to_internal_value(self, data: Any) -> Any:
        strangers = [name for name in data if name not in self.fields] if isinstance(data, Mapping) else []
        if strangers:
            there = f"There is no such member; there are {', '.join(self.fields)}."
            raise serializers.ValidationError({str(name)[:100]: [there] for name in strangers[:20]})
        return super().to_internal_value(data)


class Text(serializers.CharField):
    """A value that is no longer than any that could match."""

    def __init__(self, help_text: str, **options: Any) -> None:
        super().__init__(**{"required": False, "max_length": 200, "help_text": help_text, **options})


@dataclass(frozen=True, slots=True)
class Takes:
    """What an endpoint takes in its query string.

    `fields` are those that a reader may choose among, `include` what may come along; `paged` adds `cursor`, and
    `sized` a `limit`.
    """

    filters: type[serializers.Serializer[Any]] = Filters
    fields: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    paged: bool = False
    sized: bool = False

    @property
    def common(self) -> tuple[str, ...]:
        """The parameters that are read here and not by `filters`."""
        names = {"fields": self.fields, "include": self.include, "cursor": self.paged, "limit": self.sized}
        return tuple(name for name, taken in names.items() if taken)


@dataclass(frozen=True, slots=True)
class Asked:
    """What one request asks for, checked. `token` is the read's own cursor; empty where the list begins."""

    path: str
    query: Mapping[str, Sequence[str]]
    values: Mapping[str, Any]
    fields: tuple[str, ...]
    include: tuple[str, ...]
    token: str
    limit: int

    @property
    def filters(self) -> dict[str, str]:
        """The filters as texts, which is how the reads take them."""
        return {name: str(value) for name, value in self.values.items()}

    def seal(self, token: str | None) -> str | None:
        """A read's cursor as it is given out."""
        return seal(token, self.path, self.filters) if token else None

    def link(self, token: str | None) -> str | None:
        """The address of the page that a read's cursor leads to."""
        if not token:
            return None
        query = {**self.query, "cursor": [seal(token, self.path, self.filters)]}
        return f"{settings.BASE_URL}{self.path}?{urlencode(query, doseq=True)}"

    def beginning(self) -> str:
        """The address of the first page."""
        query = {name: values for name, values in self.query.items() if name != "cursor"}
        return f"{settings.BASE_URL}{self.path}?{urlencode(query, doseq=True)}"


def asked(query: QueryDict, path: str, takes: Takes) -> Asked:
    """Read a query string. Raises Problem, and InvalidCursor."""
    known = takes.filters().fields
    lists = [name for name, field in known.items() if isinstance(field, serializers.ListField)]
    _refuse_strangers(query, (*known, *takes.common))
    _refuse_repeated(query, lists)
    # A plain mapping: of a form REST framework would take an empty value for none.
    accepted = takes.filters(data={name: query.getlist(name) if name in lists else query[name] for name in query})
    if not accepted.is_valid():
        raise Problem("INVALID_PARAMETER", faults=faults(accepted.errors))
    values = {name: value for name, value in accepted.validated_data.items() if value not in ("", None)}
    found = Asked(
        path,
        dict(query.lists()),
        values,
        _chosen(query, "fields", takes.fields),
        _chosen(query, "include", takes.include),
        "",
        _limit(query.get("limit")) if takes.sized else DEFAULT_LIMIT,
    )
    sealed = query.get("cursor", "")
    if not sealed:
        return found
    return replace(found, token=unseal(sealed[:LONGEST], path, found.filters))


def _refuse_strangers(query: QueryDict, known: Sequence[str]) -> None:
    strangers = [name for name in query if name not in known]
    if strangers:
        there = f"There are {', '.join(known)}." if known else "There are none."
        raise Problem("UNKNOWN_PARAMETER", faults=[Fault(name[:100], there) for name in strangers[:20]])


def _refuse_repeated(query: QueryDict, lists: Sequence[str]) -> None:
    repeated = [name for name, values in query.lists() if len(values) > 1 and name not in lists]
    if repeated:
        raise Problem("INVALID_PARAMETER", faults=[Fault(name, "This can be given once.") for name in repeated])


def _chosen(query: Mapping[str, Any], name: str, options: Sequence[str]) -> tuple[str, ...]:
    """A comma-separated choice among options, in their order; empty where nothing was chosen."""
    if name not in query:
        return ()
    wanted = {part.strip() for part in query[name].split(",")}
    unknown = sorted(wanted - set(options))
    if unknown:
        said = f"{', '.join(unknown)[:100] or 'Nothing'} cannot be chosen; these can: {', '.join(options)}."
        raise Problem("INVALID_PARAMETER", faults=[Fault(name, said)])
    return tuple(option for option in options if option in wanted)


def _limit(text: str | None) -> int:
    if text is None:
        return DEFAULT_LIMIT
    if not (text.isascii() and text.isdigit() and len(text) < 5 and 1 <= int(text) <= LARGEST_LIMIT):
        raise Problem("INVALID_PARAMETER", faults=[Fault("limit", f"A number from 1 to {LARGEST_LIMIT}.")])
    return int(text)
