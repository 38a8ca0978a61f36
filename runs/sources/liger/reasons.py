"""Why a row of a benchmark file is not published: each code with its sentence."""

from __future__ import annotations

from collections.abc import Mapping

MALFORMED: Mapping[str, str] = {
    "line_too_long": "The line is longer than a row can be.",
    "not_utf8": "The line is not UTF-8 text.",
    "not_csv": "The line is no row of comma-separated values.",
    "missing_column": "A column that every row needs is missing.",
    "extra_column": "The row has more fields than the header has names.",
    "missing_value": "A field that every row needs is empty.",
    "not_a_number": "A measured value is no decimal number.",
    "nan": "A measured value is NaN.",
    "infinite": "A measured value is infinite.",
    "negative": "A measured value is negative.",
    "zero": "A measured value is zero, or rounds to zero nanoseconds or bytes.",
    "too_large": "A measured value is too large to be exact in JSON.",
    "quantiles_disordered": "The 20th, 50th and 80th percentile are not in ascending order.",
    "config_not_json": "The config is no JSON object with distinct names.",
    "bad_timestamp": "The timestamp is no date and time written as 2026-02-28 00:23:31.",
    "bad_version": "The Liger-Kernel version is not written as a version.",
    "bad_x_value": "The x value is neither a positive integer nor, where the layout asks for one, a model's name.",
    "duplicate": "A row with the same identity was read before; the first one counts.",
}
"""What is wrong with a row itself; the report names its line."""

HELD: Mapping[str, str] = {
    "control_experiment": "The rows compare a commit with its parent as a control experiment; they are no results.",
    "metric_unknown": "The row measures neither speed in ms nor memory in MB.",
    "kernel_unknown": "No operation is known for the kernel name.",
    "mode_unknown": "What a call in this mode covers is not known.",
    "provider_unknown": "Whose implementation the provider names is not known.",
    "gpu_unknown": "The GPU is not known, and no environment describes it.",
    "environment_other_gpu": "The environment given for the file describes another GPU than the row names.",
    "layout_unknown": "What the x value means together with these config names is not certain.",
    "config_value_unknown": "The config has a value for which the meaning of the row is not certain.",
    "dtype_unknown": "The dtype is none that the scripts use.",
    "mode_not_measured": "The script measures memory over the full pass whatever mode the row names.",
    "memory_of_other_shape": "The script measures memory of another shape than the row's config states.",
    "axis_out_of_range": "An axis computed from the row is no positive integer that JSON holds exactly.",
}
"""Why a row that is well formed is held back; the report counts them by kernel and layout."""

SENTENCES: Mapping[str, str] = {**MALFORMED, **HELD}
