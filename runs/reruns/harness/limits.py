"""What a batch may use: time for the whole and for each request, and how many checks and processes it makes."""

from dataclasses import dataclass

CHECK_DISTRIBUTIONS = ("normal", "hard", "normal", "hard")


@dataclass(frozen=True)
class Limits:
    """Limits of a batch in seconds; the defaults end a batch within 8 minutes.

    ``batch_s`` bounds the whole, ``job_s`` one request to the executor, ``start_s`` the start of a process.
    ``rounds`` is how many fresh processes time each job, ``more_rounds`` how many in all where the first leave it open.
    """

    batch_s: float = 480.0
    job_s: float = 60.0
    start_s: float = 180.0
    rounds: int = 5
    more_rounds: int = 15
