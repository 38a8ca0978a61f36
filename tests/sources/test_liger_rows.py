"""Malformed rows are counted with line and reason, and the rest is published."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.sources.liger import rows
from runs.sources.liger.build import build_bundle
from runs.sources.liger.reasons import HELD, MALFORMED, SENTENCES
from runs.sources.liger.report import PUBLISHED
from runs.sources.liger.rows import COLUMNS, SourceError, read_rows
from tests.sources.lines import HEADER, ROW, document, line

CONFIG = json.loads(ROW["extra_benchmark_config_str"])

BAD_LINES = [
    ("missing_column", line().rsplit(",", 1)[0]),
    ("extra_column", line() + ",more"),
    ("not_csv", line().replace('"{', '"{"', 1) + '"x'),
    ("missing_value", line(kernel_provider="")),
    ("missing_value", line(kernel_operation_mode="")),
    ("not_a_number", line(y_value_50="fast")),
    ("not_a_number", line(y_value_50="1_000")),
    ("not_a_number", line(y_value_50=" 1")),
    ("not_a_number", line(y_value_50="0x10")),
    ("nan", line(y_value_50="nan")),
    ("nan", line(y_value_20="NaN")),
    ("infinite", line(y_value_80="inf")),
    ("infinite", line(y_value_80="1e999")),
    ("negative", line(y_value_50="-0.1")),
    ("negative", line(y_value_20="-1e-3")),
    ("zero", line(y_value_50="0")),
    ("zero", line(y_value_20="0.0")),
    ("zero", line(y_value_20="1e-9")),
    ("too_large", line(y_value_80="1e300")),
    ("quantiles_disordered", line(y_value_20="0.5")),
    ("config_not_json", line(extra_benchmark_config_str="{'M': 1}")),
    ("config_not_json", line(extra_benchmark_config_str="[]")),
    ("config_not_json", line(extra_benchmark_config_str='{"M": 1, "M": 1}')),
    ("config_not_json", line(extra_benchmark_config_str='{"M": NaN}')),
    ("config_not_json", line(extra_benchmark_config_str="[" * 20_000)),
    ("bad_timestamp", line(timestamp="2026-02-30 00:00:00")),
    ("bad_timestamp", line(timestamp="2026-02-28T00:00:00")),
    ("bad_version", line(liger_version="latest!")),
    ("bad_x_value", line(x_value="1024.5")),
    ("bad_x_value", line(x_value="0")),
    ("bad_x_value", line(x_value="-4")),
    ("bad_x_value", line(x_value="llama_3_8b")),
    ("line_too_long", line(x_label="a" * (rows.MAX_LINE + 1))),
]

HELD_LINES = [
    ("control_experiment", line(kernel_name="fused_scaled_cross_entropy_disabled_control")),
    ("metric_unknown", line(metric_name="flops")),
    ("metric_unknown", line(metric_unit="us")),
    ("kernel_unknown", line(kernel_name="conv")),
    ("mode_unknown", line(kernel_operation_mode="sideways")),
    ("provider_unknown", line(kernel_provider="someone")),
    ("gpu_unknown", line(gpu_name="NVIDIA Z9")),
    ("layout_unknown", line(x_name="Q")),
    ("layout_unknown", line(CONFIG | {"extra": 1})),
    ("config_value_unknown", line(CONFIG | {"M": "2048"})),
    ("config_value_unknown", line(CONFIG | {"M": True})),
    ("config_value_unknown", line(CONFIG | {"M": 0})),
    ("config_value_unknown", line(CONFIG | {"eps": "tiny"})),
    ("config_value_unknown", line({"S": 2, "B": 2, "TP": 2}, kernel_name="megatron_cross_entropy", x_name="V")),
    ("dtype_unknown", line(CONFIG | {"dtype": "torch.int3"})),
    ("axis_out_of_range", line({"B": 2**40, "T": 2**40}, kernel_name="tvd", x_name="V")),
    (
        "axis_out_of_range",
        line(
            {"dtype": "torch.bfloat16", "seq_len": 8, "num_q_heads": 4096, "num_kv_heads": 8},
            kernel_name="rope",
        ),
    ),
    (
        "mode_not_measured",
        line(
            {"M": 8, "H": 8, "channels_per_group": 4, "dtype": "torch.float32", "eps": 1e-6},
            kernel_name="group_norm",
            x_name="C",
            metric_name="memory",
            metric_unit="MB",
        ),
    ),
    (
        "memory_of_other_shape",
        line(
            {"M": 8, "dtype": "torch.float32"},
            kernel_name="softmax",
            x_name="N",
            metric_name="memory",
            metric_unit="MB",
        ),
    ),
]


@pytest.mark.parametrize(
    ("code", "bad"), BAD_LINES, ids=[f"{code}-{index}" for index, (code, _) in enumerate(BAD_LINES)]
)
def test_a_malformed_line_is_named_and_the_others_are_published(code, bad):
    _, report = build_bundle({"f.csv": document(line(x_value="512"), bad, line(x_value="2048"))})
    assert report.outcomes() == {PUBLISHED: 2, code: 1}
    assert [(each.file, each.line, each.code) for each in report.lines] == [("f.csv", 3, code)]


@pytest.mark.parametrize(("code", "held"), HELD_LINES, ids=[f"{code}-{n}" for n, (code, _) in enumerate(HELD_LINES)])
def test_a_row_whose_meaning_is_not_certain_is_counted_under_its_reason(code, held):
    _, report = build_bundle({"f.csv": document(line(), held)})
    assert report.outcomes() == {PUBLISHED: 1, code: 1}
    assert report.lines == []


def test_every_reason_is_told_by_some_row():
    others = {"not_utf8", "duplicate", "environment_other_gpu"}
    assert {code for code, _ in BAD_LINES} | {code for code, _ in HELD_LINES} | others == SENTENCES.keys()
    assert SENTENCES == {**MALFORMED, **HELD}


def test_a_second_row_of_the_same_identity_is_a_duplicate():
    _, report = build_bundle({"a.csv": document(line(), line()), "b.csv": document(line(y_value_80="0.5"))})
    assert report.outcomes() == {PUBLISHED: 1, "duplicate": 2}
    assert [(each.file, each.line) for each in report.lines] == [("a.csv", 3), ("b.csv", 2)]


def test_models_of_equal_vocabulary_are_no_duplicates():
    models = ("qwen2.5_7b", "qwen2.5_14b")
    config = {"bsz": 1, "seq_len": 2048}
    both = [line(config, kernel_name="cross_entropy", x_name="model_config", x_value=model) for model in models]
    bundle, report = build_bundle({"f.csv": document(*both)})
    assert report.published == 2
    assert sum(record.manifest["kind"] == "WorkloadCase" for record in bundle.records) == 1


def test_carriage_returns_a_byte_order_mark_and_blank_lines_are_no_fault():
    content = b"\xef\xbb\xbf" + document(line(), "", line(x_value="2048"), end="\r\n")
    _, report = build_bundle({"f.csv": content})
    assert report.outcomes() == {PUBLISHED: 2}


def test_a_last_line_without_an_end_counts():
    _, report = build_bundle({"f.csv": document(line()).rstrip(b"\n")})
    assert report.published == 1


def test_a_line_in_another_encoding_is_named():
    latin = line(gpu_name="Gerät").encode("latin-1")
    _, report = build_bundle({"f.csv": document(line()) + latin + b"\n"})
    assert report.outcomes() == {PUBLISHED: 1, "not_utf8": 1}
    assert report.lines[0].line == 3


def test_a_file_in_another_encoding_has_no_legible_row():
    content = document(line()).decode().encode("utf-16")
    _, report = build_bundle({"f.csv": content})
    assert report.published == 0
    assert report.rows > 0
    assert report.outcomes().keys() == {"not_utf8"}


@pytest.mark.parametrize("column", COLUMNS)
def test_without_a_column_no_row_is_published(column):
    content = document(line()).replace(column.encode(), b"other", 1)
    _, report = build_bundle({"f.csv": content})
    assert report.outcomes() == {"missing_column": 1}
    assert report.lines[0].detail == f"header: {column}"


def test_an_empty_file_has_no_rows():
    _, report = build_bundle({"f.csv": b""})
    assert report.to_document()["rows"] == 0


class Endless(io.RawIOBase):
    """A header, then one line of 200 MB, then a row; it is never held as a whole."""

    def __init__(self):
        self.parts = iter([HEADER.encode() + b"\n"])
        self.left = 200_000_000
        self.longest = 0

    def readline(self, size=-1):
        self.longest = max(self.longest, size)
        part = next(self.parts, None)
        if part is not None:
            return part
        if self.left > size:
            self.left -= size
            return b"a" * size
        if self.left:
            self.left = 0
            self.parts = iter([(line() + "\n").encode()])
            return b"a\n"
        return b""


def test_a_line_of_200_mb_is_skipped_and_never_held():
    stream = Endless()
    first, second = read_rows(stream)
    assert (first.line, first.code) == (2, "line_too_long")
    assert (second.line, second.kernel) == (3, "rms_norm")
    assert stream.longest <= rows.MAX_LINE + 1


def test_a_file_of_too_many_lines_is_refused(monkeypatch):
    monkeypatch.setattr(rows, "MAX_LINES", 3)
    with pytest.raises(SourceError, match="more than 3 lines"):
        list(read_rows(io.BytesIO(document(line(), line(), line()))))


texts = st.text(st.characters(exclude_characters="\n\r", codec="utf-8"), max_size=30)
changes = st.dictionaries(st.sampled_from(sorted(ROW)), texts, max_size=3)


@given(st.lists(st.one_of(texts, changes.map(lambda change: line(**change))), max_size=8))
def test_the_table_sums_to_the_rows_read(lines):
    content = document(*lines)
    expected = sum(1 for each in content.decode().split("\n")[1:] if each.strip())
    bundle, report = build_bundle({"f.csv": content})
    told = json.loads(json.dumps(report.to_document()))
    assert told["rows"] == expected == sum(entry["rows"] for entry in told["table"])
    assert told["published"] + sum(entry["rows"] for entry in told["reasons"].values()) == expected
    assert told["published"] == sum(record.manifest["kind"] == "BenchmarkRun" for record in bundle.records)
    assert len(told["malformed"]) == sum(entry["rows"] for code, entry in told["reasons"].items() if code in MALFORMED)
