"""Round trips through parquet keep plain Python values and declared types."""

import pytest

from benchmark import artifacts
from benchmark.data.schema import read_rows, verl_row, write_json, write_rows
from benchmark.errors import DataError


def test_nested_values_come_back_as_lists_and_dicts(tmp_path):
    rows = [verl_row("1+1?", 2**63 - 1, "2", labelled=True, split="train")]
    write_rows(tmp_path / "t.parquet", rows, artifacts.VERL_SCHEMA)
    back = read_rows(tmp_path / "t.parquet", artifacts.VERL_SCHEMA)
    assert back == rows
    assert type(back[0]["prompt"]) is list
    assert type(back[0]["extra_info"]["index"]) is int


def test_an_empty_table_keeps_its_columns(tmp_path):
    write_rows(tmp_path / "t.parquet", [], artifacts.POOL_SCHEMA)
    assert read_rows(tmp_path / "t.parquet", artifacts.POOL_SCHEMA) == []


def test_a_value_of_another_type_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"rows do not fit t\.parquet"):
        write_rows(tmp_path / "t.parquet", [{"index": "one", "answer": "2"}], artifacts.TRUTH_SCHEMA)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_rows(tmp_path / "t.parquet")


def test_nan_never_reaches_json(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "t.json", {"x": float("nan")})
