"""The Celery application: work beside the web processes. `celery -A kernelindex.celery worker` and `… beat` run it."""

from __future__ import annotations

import os
from pathlib import Path

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kernelindex.settings")

app = Celery("kernelindex")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["runs.reruns"])


def make_folders() -> None:
    """The folders that messages are kept in where there is no broker but the file system."""
    options = app.conf.broker_transport_options or {}
    for name in ("data_folder_in", "data_folder_out", "control_folder"):
        if name in options:
            Path(options[name]).mkdir(parents=True, exist_ok=True)


make_folders()
