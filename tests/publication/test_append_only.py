"""The database keeps evidence as it was published, whoever asks and by whatever door."""

from __future__ import annotations

import copy
import dataclasses

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from runs.manifests.bundle import Bundle, Snapshot
from runs.models import (
    Calibration,
    ComparisonGroup,
    DatabasePurpose,
    EvidenceLevel,
    FloorConfirmation,
    OutboxEntry,
    Rerun,
    RerunResult,
    RerunRun,
    Run,
    Signer,
    SignerDecision,
    Standing,
)
from runs.publication import publish, retract, supersede
from runs.redaction import redact
from runs.sources.synthetic import synthesize

pytestmark = pytest.mark.django_db

NOT_EVIDENCE = {ComparisonGroup, Standing, EvidenceLevel, OutboxEntry, Rerun}
# What was exchanged has rows of its own making, and is tried in tests/exchange.
EXCHANGED = {"runs.models.exchange", "runs.models.serving"}
TABLES = [model for model in apps.get_app_config("runs").get_models() if model.__module__ not in EXCHANGED]
EVIDENCE = [model for model in TABLES if model not in NOT_EVIDENCE]
REFUSED = "append-only"


def everything() -> Bundle:
    """Synthetic runs, read from a file, one with an artifact and its operation with an alias."""
    bundle = synthesize(0, 12)
    records = [
        dataclasses.replace(record, aliases=("also-known-as",))
        if record.manifest["kind"] == "OperationSpec"
        else record
        for record in bundle.records
    ]
    last = copy.deepcopy(records[-1].manifest)
    last["spec"]["timing"]["rawSamples"] = {"uri": "https://example.org/samples.json", "digest": "sha256:" + "c" * 64}
    last["spec"]["evidence"] = {"logs": {"uri": "https://example.org/log.txt", "digest": "sha256:" + "a" * 64}}
    records[-1] = dataclasses.replace(records[-1], manifest=last)
    snapshot = Snapshot("results.csv", "1.0", "sha256:" + "b" * 64, 10, "CC0-1.0")
    return dataclasses.replace(bundle, snapshot=snapshot, records=records)


@pytest.fixture(autouse=True)
def catalogue() -> None:
    """At least one row in every table of evidence."""
    publish(everything())
    DatabasePurpose.objects.create(purpose="a test")
    first, second, third = Run.objects.order_by("id")[:3]
    retract(first.digest, reason="r", actor="a")
    supersede(second.digest, third.digest, reason="r", actor="a")
    now = timezone.now()
    fourth, fifth = Run.objects.order_by("id")[3:5]
    FloorConfirmation.objects.create(run=third, reason="r", actor="a", at=now)
    redact(fifth.digest, reason="r", actor="a")
    signer = Signer.objects.create(
        keyid="1" * 64, public="2" * 64, role="runner", name="a-runner", product="cpu", registered_at=now
    )
    SignerDecision.objects.create(signer=signer, decision="approve", reason="r", actor="a", at=now)
    rerun = Rerun.objects.create(run=fourth, product="cpu", state="done", runner=signer, created_at=now)
    result = RerunResult.objects.create(
        rerun=rerun,
        run=fourth,
        runner=signer,
        digest="sha256:" + "3" * 64,
        verdict="void",
        decision={},
        hardware_equal=False,
        claim=1.0,
        finished_at=now,
        published_at=now,
    )
    RerunRun.objects.create(result=result, run=third, kind="event")
    Calibration.objects.create(runner=signer, batch="b", sentinel="copy", at=now)


def columns(model) -> list[str]:
    return [field.column for field in model._meta.concrete_fields if not field.primary_key]


@pytest.mark.parametrize("model", EVIDENCE, ids=lambda model: model.__name__)
def test_raw_sql_cannot_change_or_delete(model):
    table = model._meta.db_table
    statements = [f"DELETE FROM {table}"] + [f"UPDATE {table} SET {c} = {c}" for c in columns(model)]
    if connection.vendor == "postgresql":
        statements.append(f"TRUNCATE {table} CASCADE")
        with connection.cursor() as cursor:  # no foreign key check of the fixture's own is pending
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    for statement in statements:
        with pytest.raises(DatabaseError, match=REFUSED), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


@pytest.mark.parametrize("model", EVIDENCE, ids=lambda model: model.__name__)
def test_the_orm_cannot_change_or_delete(model):
    row = model.objects.first()
    with pytest.raises(DatabaseError, match=REFUSED), transaction.atomic():
        row.save()
    with pytest.raises(DatabaseError), transaction.atomic():  # a foreign key may refuse first
        model.objects.filter(pk=row.pk)._raw_delete("default")


@pytest.mark.parametrize("level", ["verified", "replicated", "reported", "anything"])
def test_no_level_can_be_set_without_a_rerun(level):
    run = Run.objects.first()
    with pytest.raises(DatabaseError, match="controlled rerun"), transaction.atomic():
        EvidenceLevel.objects.create(run=run, level=level, since=timezone.now())
    with pytest.raises(DatabaseError, match="controlled rerun"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO runs_evidencelevel (run_id, level, since) SELECT id, %s, observed_at FROM runs_run", [level]
        )
    assert not EvidenceLevel.objects.exists()


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(get_user_model().objects.create_superuser("root"))
    return client


@pytest.mark.parametrize("model", TABLES, ids=lambda model: model.__name__)
def test_the_admin_shows_and_never_writes(root, model):
    from django.contrib import admin

    if model not in admin.site._registry:
        assert model.__name__ in {"DatabasePurpose", "OutboxEntry"}
        return
    base = f"admin:runs_{model._meta.model_name}"
    assert root.get(reverse(f"{base}_changelist")).status_code == 200
    assert root.get(reverse(f"{base}_add")).status_code == 403
    assert root.post(reverse(f"{base}_add"), {}).status_code == 403
    row = model.objects.first()
    if row is not None:
        assert root.get(reverse(f"{base}_change", args=[row.pk])).status_code == 200
        assert root.post(reverse(f"{base}_change", args=[row.pk]), {"level": "verified"}).status_code == 403
        assert root.post(reverse(f"{base}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
        assert model.objects.filter(pk=row.pk).exists()
