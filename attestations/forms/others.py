"""The forms of submissions, reports and claims."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError

from attestations.forms.fields import HttpsField, LineField, ProseField
from attestations.models import Report
from attestations.values import ReportContent
from runs.manifests.intake import MAX_BYTES


class SubmissionForm(forms.Form):
    """A manifest, or a list of them."""

    document = forms.CharField(
        label="Manifest",
        max_length=MAX_BYTES,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "false", "class": "mono", "data-check": "document"}),
        help_text="JSON or YAML: a BenchmarkRun, or a list of it with its ExecutionEnvironment and BenchmarkProtocol.",
    )
    note = ProseField(
        label="For the moderator",
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Not published.",
    )
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    use_required_attribute = False


class ReportForm(forms.Form):
    """What is wrong with a run. `website` is for programs that fill in whatever they find."""

    reason = forms.ChoiceField(label="What is wrong", choices=Report.Reason, widget=forms.RadioSelect)
    detail = ProseField(label="Detail", max_length=4_000, min_length=10, widget=forms.Textarea(attrs={"rows": 6}))
    evidence_url = HttpsField(label="Evidence", required=False, help_text="An https address.")
    contact = LineField(
        label="Contact",
        required=False,
        max_length=200,
        help_text="If a moderator may ask back. Moderators alone see it.",
    )
    website = forms.CharField(
        label="Leave this empty",
        required=False,
        widget=forms.TextInput(attrs={"tabindex": "-1", "autocomplete": "off"}),
    )

    use_required_attribute = False

    def clean_website(self) -> str:
        """Empty, or sent by a program."""
        if self.cleaned_data["website"]:
            raise ValidationError("Leave this field empty.")
        return ""

    def content(self) -> ReportContent:
        """What a valid form says."""
        names = ("reason", "detail", "evidence_url", "contact")
        return ReportContent(**{name: self.cleaned_data[name] for name in names})


class ClaimForm(forms.Form):
    """Why an implementation is somebody's."""

    detail = ProseField(
        label="Your part in it",
        max_length=2_000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="For the moderator: maintainer, author, …",
    )

    use_required_attribute = False


class ProofForm(forms.Form):
    """Where the token can be read."""

    proof_url = HttpsField(label="Address of the file", help_text="An https address in the repository.")

    use_required_attribute = False
