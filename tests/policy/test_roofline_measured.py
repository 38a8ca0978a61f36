"""The physical floor against runs that were measured: none of them may be faster than physics."""

from collections import Counter

import pytest

from runs.policy.roofline import Floor
from tests.policy.floor_survey import main, survey
from tests.shared_data import SHARED, needs_shared

FILES = ("liger-0.8.5-nvidia-h200.csv", "liger-0.8.5-nvidia-h200-second.csv")

pytestmark = needs_shared


@pytest.mark.parametrize("name", FILES)
def test_no_run_on_a_known_machine_is_below_the_floor(name):
    runs = list(survey([SHARED / "h200" / name]))
    assert len(runs) == 120
    assert all(isinstance(run.claim, Floor) for run in runs)
    shares = {run.claim.binding: [] for run in runs}
    for run in runs:
        assert not run.claim.is_above(run.value)
        shares[run.claim.binding].append(run.claim.share(run.value))
    # A floor so low that nothing comes near it would pass too: large products and large copies must.
    assert 0.7 < max(shares["arithmetic"]) < 1
    assert 0.25 < max(shares["bandwidth"]) < 1


def test_a_run_that_two_files_hold_counts_once():
    file = SHARED / "h200" / FILES[0]
    assert Counter(run.title for run in survey([file, file])) == Counter(run.title for run in survey([file]))


def test_a_run_that_claims_a_tenth_of_its_floor_is_found(tmp_path, capsys):
    lines = (SHARED / "h200" / FILES[0]).read_text().splitlines()
    row = next(line for line in lines if line.startswith("softmax,") and ",full,speed," in line)
    name = row.split(",")[8]
    impossible = tmp_path / "impossible.csv"
    impossible.write_text("\n".join([lines[0], _with_median(row, name)]) + "\n")
    main([impossible])
    assert "1 checked, 1 below the physical floor" in capsys.readouterr().out


def _with_median(row, median):
    cells = row.split(",")
    cells[8:11] = ["0.0001"] * 3
    assert median not in cells
    return ",".join(cells)
