"""SPDX licence expressions, checked for their form: `Apache-2.0 OR (MIT AND BSD-3-Clause WITH exception)`."""

import re

from runs.manifests.errors import ManifestError

_TOKEN = re.compile(r"\s*(?:([()])|(AND|OR|WITH)(?=[\s()]|$)|([A-Za-z0-9][A-Za-z0-9.:+-]*))", re.ASCII)


def check_licence(expression: str) -> None:
    """Check that identifiers, AND, OR, WITH and parentheses follow each other as SPDX has it.

    Whether an identifier is on the SPDX list is not asked: the list grows, and a record stays valid. Raises
    `ManifestError` with what was expected.
    """
    text = expression.rstrip()
    at, depth, operand_next = 0, 0, True
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _wrong(expression, f"{text[at:].strip()[:1]!r} does not belong there")
        parenthesis, operator, _ = match.groups()
        opens_operand = parenthesis == "(" or (parenthesis is None and operator is None)
        if opens_operand != operand_next:
            wanted = "a licence identifier" if operand_next else "AND, OR or WITH"
            raise _wrong(expression, f"expected {wanted} before {match[0].strip()!r}")
        if parenthesis:
            depth += 1 if parenthesis == "(" else -1
            if depth < 0:
                raise _wrong(expression, "a parenthesis closes that was not opened")
        else:
            operand_next = operator is not None
        at = match.end()
    if operand_next:
        raise _wrong(expression, "a licence identifier is missing at the end")
    if depth:
        raise _wrong(expression, "a parenthesis is not closed")


def _wrong(expression: str, reason: str) -> ManifestError:
    message = f"{expression[:80]!r} is no SPDX licence expression such as BSD-2-Clause or MIT OR Apache-2.0: {reason}"
    return ManifestError.of("", "licence", message)
