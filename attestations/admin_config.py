"""The admin of this site in place of Django's own."""

from django.contrib.admin.apps import AdminConfig as DjangoAdminConfig


class AdminConfig(DjangoAdminConfig):
    default_site = "attestations.moderation.site.Site"
