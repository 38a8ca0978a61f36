from django.apps import AppConfig


class AttestationsConfig(AppConfig):
    name = "attestations"
    verbose_name = "community"

    def ready(self) -> None:
        from django.db.models.signals import post_migrate  # noqa: PLC0415

        from attestations import hooks, roles  # noqa: PLC0415

        hooks.register()
        post_migrate.connect(roles.grant, sender=self, dispatch_uid="attestations.roles")
