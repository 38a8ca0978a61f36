"""The form of a statement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError

from attestations import pastes
from attestations.comparison import DURATIONS, Comparison
from attestations.environment import LOCKED, UNLOCKED, Environment
from attestations.forms.fields import FigureField, HttpsField, LineField, ProseField
from attestations.markdown import LONGEST_NOTE
from attestations.models import Statement, StatementRevision
from attestations.reads.facts import RunFacts
from attestations.text import clean, clean_line
from attestations.uploads import LARGEST, BadUpload, examine
from attestations.values import Content, Upload

STATISTICS: Final = ("median", "mean", "minimum", "p05", "p20", "p80", "p95")
MOST_LIBRARIES: Final = 20
_LONGEST_LINE: Final = 120
_FACTS: Final = ("gpu", "driver", "toolkit", "framework")


class StatementForm(forms.Form):
    """What somebody states about a run. Its fields are all that a statement takes from a request."""

    kind = forms.ChoiceField(label="What you observed", widget=forms.RadioSelect)
    note = ProseField(
        label="Note",
        required=False,
        max_length=LONGEST_NOTE,
        widget=forms.Textarea(attrs={"rows": 6, "data-preview": "note"}),
        help_text=f"Up to {LONGEST_NOTE:,} characters. *Emphasis*, `code`, lists, quotes and [links](https://…) work.",
    )
    value = FigureField(
        label="Measured value", required=False, widget=forms.TextInput(attrs={"inputmode": "decimal", "size": 12})
    )
    unit = forms.ChoiceField(label="Unit", required=False)
    statistic = forms.ChoiceField(
        label="Statistic", required=False, choices=[("", "—"), *((name, name) for name in STATISTICS)]
    )
    samples = forms.IntegerField(
        label="Samples",
        required=False,
        min_value=1,
        max_value=10**12,
        widget=forms.TextInput(attrs={"inputmode": "numeric", "size": 12}),
    )
    paste = forms.CharField(
        label="Paste of a tool",
        required=False,
        max_length=pastes.LONGEST_PASTE,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text="What python -m torch.utils.collect_env or nvidia-smi -q printed. It is not kept.",
    )
    gpu = LineField(label="GPU", required=False, max_length=_LONGEST_LINE)
    driver = LineField(label="Driver", required=False, max_length=60)
    toolkit = LineField(label="CUDA or ROCm", required=False, max_length=60, help_text="Such as CUDA 13.0.")
    framework = LineField(
        label="Framework", required=False, max_length=_LONGEST_LINE, help_text="Such as pytorch 2.11.0."
    )
    libraries = forms.CharField(
        label="Libraries",
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="One a line: name, blank, version.",
    )
    clocks = forms.ChoiceField(
        label="Clocks",
        required=False,
        choices=[("", "not known"), (LOCKED, "locked"), (UNLOCKED, "not locked")],
    )
    evidence_url = HttpsField(label="Evidence", required=False, help_text="An https address.")
    attachment = forms.FileField(
        label="Or a file",
        required=False,
        max_length=200,
        help_text="JSON or UTF-8 text, up to 1 MiB. Others can download it.",
        widget=forms.ClearableFileInput(attrs={"accept": ".json,.txt,.log,.csv,application/json,text/plain"}),
    )
    revision = forms.IntegerField(required=False, widget=forms.HiddenInput)

    use_required_attribute = False

    def __init__(self, facts: RunFacts, *args: Any, is_owner: bool = False, kinds: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.facts = facts
        chosen = kinds or [kind for kind in Statement.Kind if is_owner or kind != Statement.Kind.OWNER_REPLY]
        self.fields["kind"].choices = [(kind.value, kind.label) for kind in chosen]  # type: ignore[attr-defined]
        units = list(DURATIONS)
        if facts.primary and facts.primary.unit not in units:
            units.insert(0, facts.primary.unit)
        self.fields["unit"].choices = [("", "—"), *((unit, unit) for unit in units)]  # type: ignore[attr-defined]
        self.ask_about: Comparison | None = None

    def clean_attachment(self) -> Upload | None:
        """The file, examined."""
        sent = self.cleaned_data["attachment"]
        if not sent:
            return None
        try:
            if sent.size > LARGEST:
                raise BadUpload("The file is larger than 1 MiB.")
            return examine(sent.name, sent.read())
        except BadUpload as error:
            raise ValidationError(str(error)) from error

    def clean_libraries(self) -> dict[str, str]:
        """Versions by name."""
        libraries: dict[str, str] = {}
        for line in map(clean_line, clean(self.cleaned_data["libraries"]).splitlines()):
            name, _, version = line.replace("==", " ").partition(" ")
            if line and not version:
                raise ValidationError(f"Give the version of {name[:60]} after a blank.")
            if line:
                libraries[name.lower()[:60]] = version.strip()[:60]
        if len(libraries) > MOST_LIBRARIES:
            raise ValidationError(f"Name at most {MOST_LIBRARIES} libraries.")
        return libraries

    def clean(self) -> dict[str, Any]:
        """What belongs together is there together, and something is said at all."""
        data: dict[str, Any] = super().clean() or {}
        if data.get("value") is not None:
            for name in ("unit", "statistic"):
                if not data.get(name):
                    self.add_error(name, f"Give the {name} of the value.")
        said = ("note", "value", *_FACTS, "libraries", "evidence_url", "attachment")
        if not self.errors and not any(data.get(name) for name in said):
            raise ValidationError("Say something: a note, a value, an environment or evidence.")
        if not self.errors:
            self._ask(data)
        return data

    def _ask(self, data: Mapping[str, Any]) -> None:
        """Ask before "reproduced" is posted with a value far from the run's. Another value is asked about again."""
        if data["kind"] != Statement.Kind.REPRODUCED:
            return
        compared = self.facts.compare(data["value"], data["unit"], data["statistic"])
        if compared is None or compared.is_near:
            return
        shown = f"{compared.ratio:.3g}"
        if self.data.get("confirmed") != shown:
            self.ask_about = compared
            raise ValidationError(f"Your value is {shown} × the run's. Is that “reproduced”? Confirm it below.")

    @property
    def ratio_to_confirm(self) -> str:
        """What the box that confirms stands for."""
        return f"{self.ask_about.ratio:.3g}" if self.ask_about else ""

    def content(self) -> Content:
        """What a valid form says."""
        data = self.cleaned_data
        measured = data["value"] is not None
        return Content(
            kind=data["kind"],
            note=data["note"],
            value=data["value"],
            unit=data["unit"] if measured else "",
            statistic=data["statistic"] if measured else "",
            samples=data["samples"] if measured else None,
            environment=Environment(**{name: data[name] for name in (*_FACTS, "clocks")}, libraries=data["libraries"]),
            evidence_url=data["evidence_url"],
            upload=data["attachment"],
            keep_attachment=bool(self.data.get("keep_attachment")),
        )


# What is kept of a form that could not be posted; files and pastes are not.
DRAFT: Final = tuple(name for name in StatementForm.base_fields if name not in {"paste", "attachment", "revision"})


def draft_of(data: Mapping[str, Any]) -> dict[str, str]:
    """What somebody wrote, for as long as they need to sign in again; nothing larger than the form takes."""
    limits = {name: getattr(StatementForm.base_fields[name], "max_length", None) or 200 for name in DRAFT}
    return {name: str(data[name])[: limits[name]] for name in DRAFT if data.get(name)}


def filled(data: Mapping[str, Any]) -> dict[str, Any]:
    """What somebody wrote, with the environment from their paste where it says something."""
    found = pastes.read_paste(str(data.get("paste", "")))
    kept = {name: data[name] for name in StatementForm.base_fields if name in data and name != "attachment"}
    read = {name: getattr(found, name) for name in _FACTS if getattr(found, name)}
    if found.libraries:
        read["libraries"] = libraries_text(found.libraries)
    return {**kept, **read, "paste": "" if read else kept.get("paste", "")}


def libraries_text(libraries: Mapping[str, str]) -> str:
    """Versions as the form takes them."""
    return "\n".join(f"{name} {version}" for name, version in libraries.items())


def initial_of(revision: StatementRevision) -> dict[str, Any]:
    """A revision as the form shows it."""
    environment = Environment.of(revision.environment)
    names = ("kind", "note", "value", "unit", "statistic", "samples", "evidence_url")
    return {
        **{name: getattr(revision, name) for name in names},
        **{name: getattr(environment, name) for name in (*_FACTS, "clocks")},
        "libraries": libraries_text(environment.libraries),
        "revision": revision.number,
    }
