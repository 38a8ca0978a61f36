"""Two roles, as groups of permissions: moderators decide and read, administrators also suspend, redact and appoint."""

from __future__ import annotations

from typing import Any, Final

from django.apps import apps as installed
from django.db.models import Q

MODERATOR: Final = "moderator"
ADMINISTRATOR: Final = "administrator"


def grant(**kwargs: Any) -> None:
    """Give both groups what they are to have. Runs after every migration, so that new tables can be read as well."""
    group_model = installed.get_model("auth", "Group")
    permission_model = installed.get_model("auth", "Permission")
    using = kwargs.get("using", "default")
    permissions = permission_model.objects.using(using)
    reading = Q(content_type__app_label__in=["runs", "attestations"], codename__startswith="view_")
    deciding = Q(content_type__app_label="attestations", codename__in=["moderate", "suspend_person"])
    people = Q(content_type__app_label="accounts", codename="view_user")
    ruling = Q(content_type__app_label="attestations", codename__in=["redact", "appoint"])
    moderating = reading | people | deciding
    for name, wanted in ((MODERATOR, moderating), (ADMINISTRATOR, moderating | ruling)):
        group, _ = group_model.objects.using(using).get_or_create(name=name)
        group.permissions.set(permissions.filter(wanted))
