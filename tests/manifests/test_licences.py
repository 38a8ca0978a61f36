"""The form of SPDX licence expressions."""

import pytest

from runs.manifests.errors import ManifestError
from runs.manifests.licences import check_licence


@pytest.mark.parametrize(
    "expression",
    [
        "BSD-2-Clause",
        "GPL-2.0+",
        "LicenseRef-GPUMode-Reciprocity-1.0",
        "DocumentRef-spdx:LicenseRef-1",
        "MIT OR Apache-2.0",
        "GPL-2.0-only WITH Classpath-exception-2.0 AND (MIT OR (BSD-3-Clause))",
        "NOASSERTION",
    ],
)
def test_it_takes_licence_expressions(expression):
    check_licence(expression)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("", "missing at the end"),
        ("MIT License", "expected AND, OR or WITH before 'License'"),
        ("MIT OR", "missing at the end"),
        ("AND MIT", "expected a licence identifier before 'AND'"),
        ("(MIT", "not closed"),
        ("MIT)", "not opened"),
        ("()", "expected a licence identifier before '\\)'"),
        ("MIT/X11", "'/' does not belong there"),
        ("MIT, BSD", "',' does not belong there"),
    ],
)
def test_it_says_what_is_wrong_with_a_licence_expression(expression, reason):
    with pytest.raises(ManifestError, match=reason):
        check_licence(expression)
