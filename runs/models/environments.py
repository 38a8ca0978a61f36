"""How and where: protocols and execution environments."""

from __future__ import annotations

from django.db import models

from runs.models.base import ManifestRecord


class Protocol(ManifestRecord):
    """A BenchmarkProtocol."""

    title = models.CharField(max_length=300)
    harness = models.CharField(max_length=300)
    timer = models.CharField(max_length=60)
    family = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest"], name="protocol_digest")]

    def __str__(self) -> str:
        return self.title


class Environment(ManifestRecord):
    """An ExecutionEnvironment."""

    title = models.CharField(max_length=300)
    hardware = models.SlugField(max_length=200, db_index=True, help_text="slug of product and form factor")
    vendor = models.CharField(max_length=60)
    product = models.CharField(max_length=200)
    architecture = models.CharField(max_length=60)
    form_factor = models.CharField(max_length=100, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest"], name="environment_digest")]

    def __str__(self) -> str:
        return self.title
