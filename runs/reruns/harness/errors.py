"""What the harness refuses."""


class HarnessError(Exception):
    """A batch that cannot be run as asked: ``code`` names the reason, the message says it in a sentence."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
