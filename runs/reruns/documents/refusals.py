"""Why a document is refused: a code, its sentence, and what exactly."""

from typing import Final

REFUSALS: Final[dict[str, str]] = {
    "MALFORMED": "The document does not have the form that it must have.",
    "TOO_LARGE": "The document is larger than its kind may be.",
    "UNKNOWN_KEY": "The key that signed it is not among the published keys.",
    "WRONG_ROLE": "The key that signed it has another role.",
    "KEY_NOT_VALID": "The key that signed it was not valid at that time.",
    "KEY_REVOKED": "The key that signed it was revoked.",
    "KEY_SUSPENDED": "The key that signed it was suspended at that time.",
    "BAD_SIGNATURE": "The signature does not belong to these bytes and this key.",
    "WRONG_TYPE": "The signed statement is of another type.",
    "EXPIRED": "The job had expired.",
    "CLOCK": "The times in the document cannot be true.",
    "OTHER_PRODUCT": "The document is about another hardware product.",
    "OTHER_RUNNER": "The result names another runner than the one that signed it.",
    "OTHER_JOB": "The result belongs to another job.",
    "NONCE_MISMATCH": "The result does not repeat the nonce of its job.",
    "OTHER_RECIPE": "The result executed another recipe or harness than the job asks for.",
    "SEED_MISMATCH": "A revealed seed does not follow from the job and the runner's bytes.",
    "REPLAYED": "The same document was taken before.",
    "MANIFEST_MISMATCH": "A manifest is not the one that the job was signed for.",
    "VERDICT_MISMATCH": "The verdict in the bundle does not follow from the signed result.",
    "KEY_FILE_EXPOSED": "Others can read the private key file; its mode must be 0600.",
}


class Refusal(ValueError):
    """A document that is not accepted. `code` is stable and meant for programs, the text is for people."""

    def __init__(self, code: str, detail: str = "") -> None:
        self.code = code
        self.detail = detail
        super().__init__(f"{REFUSALS[code]} {detail}".strip())
