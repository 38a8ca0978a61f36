"""Evidence in the admin: everything can be read, nothing can be added, changed or deleted."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest

from runs.models import (
    Artifact,
    Calibration,
    ComparisonGroup,
    Environment,
    EvidenceLevel,
    ExternalId,
    FloorConfirmation,
    Implementation,
    Measurement,
    Operation,
    OperationAlias,
    Project,
    Protocol,
    Redaction,
    Rerun,
    RerunResult,
    RerunRun,
    Retraction,
    Run,
    Signer,
    SignerDecision,
    Source,
    SourceSnapshot,
    Standing,
    Supersession,
    Workload,
    WorkloadAxis,
)


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    actions = None
    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


# What each list shows, what it is searched by, and what it is filtered by.
LISTS: dict[type[models.Model], tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    Run: (("title", "status", "value", "unit", "source", "observed_at"), ("digest", "title"), ("source", "status")),
    Operation: (("name", "family", "digest"), ("name", "slug", "digest"), ("family",)),
    OperationAlias: (("alias", "operation"), ("alias",), ()),
    Workload: (("summary", "operation", "digest"), ("summary", "digest"), ("kind", "dtype")),
    WorkloadAxis: (("workload", "name", "value"), ("name",), ("name",)),
    Implementation: (("title", "operation", "project", "language"), ("title", "slug", "digest"), ("language",)),
    Project: (("name", "slug", "url"), ("name", "slug"), ()),
    Protocol: (("title", "harness", "timer", "digest"), ("title", "digest"), ("timer",)),
    Environment: (("title", "product", "architecture", "digest"), ("title", "digest"), ("product",)),
    Source: (("name", "slug", "license"), ("name", "slug"), ()),
    SourceSnapshot: (("name", "version", "source", "size", "retrieved_at"), ("name", "digest"), ("source",)),
    Measurement: (("run", "metric", "statistic", "value", "unit"), (), ("metric",)),
    Artifact: (("run", "role", "uri"), ("digest",), ("role",)),
    ExternalId: (("value", "run", "source"), ("value",), ("source",)),
    Redaction: (("digest", "reason", "actor", "at"), ("digest", "reason"), ()),
    Retraction: (("run", "reason", "actor", "at"), ("reason",), ()),
    Supersession: (("run", "successor", "reason", "actor", "at"), ("reason",), ()),
    FloorConfirmation: (("run", "reason", "actor", "at"), ("reason",), ()),
    Signer: (("name", "role", "operator", "product", "registered_at"), ("name", "keyid"), ("role", "product")),
    SignerDecision: (("signer", "decision", "reason", "actor", "at"), ("reason",), ("decision",)),
    Rerun: (("run", "state", "product", "requested_by", "approved_by", "created_at"), (), ("state", "product")),
    RerunResult: (("run", "verdict", "runner", "operator", "finished_at"), ("digest",), ("verdict", "runner")),
    RerunRun: (("run", "kind", "result"), (), ("kind",)),
    Calibration: (("runner", "batch", "sentinel", "before", "after", "at"), ("batch",), ("sentinel", "runner")),
    ComparisonGroup: (("key", "operation", "environment", "run_count", "ranked_count"), ("key",), ("source_native",)),
    Standing: (("run", "rank", "group"), ("run__digest",), ()),
    EvidenceLevel: (("run", "level", "since"), ("run__digest",), ("level",)),
}

for model, (columns, searched, filtered) in LISTS.items():
    related = tuple(name for name in columns if model._meta.get_field(name).is_relation)
    options = {
        "list_display": columns,
        "search_fields": searched,
        "list_filter": filtered,
        "list_select_related": related or False,
    }
    admin.site.register(model, type(f"{model.__name__}Admin", (ReadOnlyAdmin,), options))
