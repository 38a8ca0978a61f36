"""What other indexes call the records that they exchange with this one, and what they say beside the manifests."""

from __future__ import annotations

from django.db import models

from runs.models.base import DigestField, new_id


class ExternalRecord(models.Model):
    """A row of another index's export: its id there, the record here, and the columns that nothing else says.

    `record` is an id of the table that `export_table` stands for (`runs.exchange.MODELS`). Several rows may mean one
    record.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    export_table = models.CharField(max_length=40)
    external_id = models.UUIDField()
    record = models.UUIDField()
    stated = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["export_table", "external_id"], name="external_record_once")]
        indexes = [models.Index(fields=["record"], name="external_record_of")]

    def __str__(self) -> str:
        return f"{self.export_table} {self.external_id}"


class NamedFile(models.Model):
    """A file that manifests name by its digest, such as a source file or a log: what it is, and on which terms."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    digest = DigestField()
    uri = models.CharField(max_length=2000)
    kind = models.CharField(max_length=40)
    media_type = models.CharField(max_length=200, blank=True)
    size = models.BigIntegerField(null=True, help_text="bytes")
    license = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest", "uri", "kind"], name="named_file_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.digest}"
