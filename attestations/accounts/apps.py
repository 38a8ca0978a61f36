from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "attestations.accounts"
    label = "accounts"
    verbose_name = "accounts"
