"""`manage.py runner_key`: the keys that may sign jobs and results, and who decided so."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.publication import decide_signer, register_signer
from runs.refusals import PublicationRefused
from runs.reruns.documents.keys import PublicKey, key_id
from runs.reruns.documents.refusals import Refusal
from runs.reruns.keyring import key_set

DECISIONS = {
    "approve": "let a registered key sign; never by the one who registered it",
    "suspend": "take nothing of it until it is resumed",
    "resume": "end a suspension",
    "revoke": "believe nothing that it ever signed; it cannot be undone",
}


class Command(BaseCommand):
    help = "Register, approve, suspend, resume and revoke the keys of dispatchers and runners."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        register = actions.add_parser("register", help="take a public key in")
        register.add_argument("name", help="what it is called, such as h200-a")
        register.add_argument("public", help="the public key that keygen printed: 64 hexadecimal digits")
        register.add_argument("--role", choices=("runner", "dispatcher"), default="runner")
        register.add_argument("--operator", help="who answers for the runner")
        register.add_argument(
            "--since", type=_moment, metavar="INSTANT", help="of a key with a history elsewhere: from when on it counts"
        )
        register.add_argument("--product", help="the hardware product that it measures on, such as nvidia-h200")
        for name, help_text in DECISIONS.items():
            actions.add_parser(name, help=help_text).add_argument("name", help="what the key is called")
        for name in ("register", *DECISIONS):
            actions.choices[name].add_argument("--actor", required=True, help="who decides, as the site will show it")
            actions.choices[name].add_argument("--reason", required=True, help="why, as the site will show it")
        actions.add_parser("keys", help="print the published keys (KEYS.json)")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        if action == "keys":
            self.stdout.write(json.dumps(key_set().plain(), indent=1))
            return
        try:
            if action == "register":
                who = {"actor": options["actor"], "reason": options["reason"]}
                register_signer(_entry(options), **who, since=options["since"])
            else:
                decide_signer(options["name"], action, actor=options["actor"], reason=options["reason"])
        except (PublicationRefused, Refusal) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{options['name']}: {action} is recorded")


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("an instant ends in Z")
    return moment


def _entry(options: dict[str, Any]) -> PublicKey:
    try:
        keyid = key_id(options["public"])
    except ValueError as error:
        raise CommandError("the public key is not one of 64 hexadecimal digits") from error
    fields = {name: options[name] for name in ("name", "public", "role", "operator", "product") if options[name]}
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return PublicKey.read({**fields, "keyid": keyid, "validFrom": now})
