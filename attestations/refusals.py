"""What the community's services answer when they do not do what was asked: a code with its sentence, here alone."""

from __future__ import annotations

from typing import Final

REFUSALS: Final[dict[str, str]] = {
    "TWICE": "You have said whether this run can be reproduced. Revise that statement, or withdraw it first.",
    "DAILY_LIMIT": "You have posted 20 times in the last 24 hours. Go on tomorrow.",
    "SUSPENDED": "Your account may not post at present. The reason was given to you.",
    "NOT_YOURS": "This belongs to somebody else.",
    "NOT_OWNER": "Only somebody who was found to own the implementation may post its reply.",
    "REPLY_EXISTS": "The owner's reply to this run is there already. Revise it, or withdraw it first.",
    "FINAL": "This was decided and cannot be changed any more.",
    "STALE": "This was changed meanwhile. Look at it again.",
    "WRONG_STATE": "This cannot follow from the present state.",
    "NO_REASON": "A decision needs a reason.",
    "OWN": "You cannot decide on what is your own.",
    "NOT_MODERATOR": "Only a moderator decides this.",
    "INVALID_SUBMISSION": "The submission has faults; it can be sent in once they are mended.",
    "PUBLICATION": "The index did not publish it.",
    "TOO_MANY_REPORTS": "There were many reports from here. Wait a little, then go on.",
    "OTHER_TARGET": "Reports can be merged when they are about the same run.",
    "NO_OUTCOME": "An accepted report leads to a retraction, a supersession or a public note. Say which.",
    "CLAIM_EXISTS": "You have claimed this implementation already.",
    "TOO_MANY_DRAFTS": "You have 20 submissions that are not decided. Withdraw one, or wait.",
}


class Refused(Exception):
    """Nothing was changed. `detail` adds particulars to the code's sentence."""

    def __init__(self, code: str, detail: str = "") -> None:
        self.code = code
        self.detail = detail
        super().__init__(f"{REFUSALS[code]}{f' {detail}' if detail else ''}")
