"""Why a row of an export did not become a record here: a code and its sentence, like those of `runs.policy.reasons`."""

from __future__ import annotations

from typing import Final

SENTENCES: Final = {
    "MALFORMED_LINE": "The line is not a JSON object of a table's name and a row.",
    "UNKNOWN_TABLE": "The export has no table of this name.",
    "INVALID_ROW": "A column that is needed is missing or of another type.",
    "DUPLICATE_ID": "Another row of the table has the same id and says something else.",
    "NO_DIGEST": "No digest stands beside the manifest.",
    "NOT_IN_MANIFEST": "The run's manifest does not have this figure.",
    "DEPENDS_ON_REFUSED": "The record that the row belongs to was refused or is not in the export.",
    "OTHER_IMPLEMENTATION": "The row names an implementation whose digest is not the one in the run's manifest.",
    "NOT_STORABLE": "A value is longer than the database can hold.",
}
