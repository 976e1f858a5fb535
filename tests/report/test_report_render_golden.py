"""The whole text of one small table in each of its forms, written out by hand."""

from pathlib import Path

import pytest

from benchmark.errors import DataError
from benchmark.report.render import to_csv, to_json, to_markdown
from benchmark.report.results import CellSource, CellState
from benchmark.report.table_model import Column, Quantity, Row, Table, TableCell, missing

COLUMNS = (
    Column("labels", "Labels", Quantity.COUNT, "answers revealed to training"),
    Column("id", "ID", Quantity.ACCURACY, with_error=True),
    Column("delta_id", "Δ ID", Quantity.DIFFERENCE),
    Column("gap", "Gap", Quantity.SHARE, with_interval=True),
    Column("state", "State", Quantity.STATE),
)
TABLE = Table(
    "100% of labels & none",
    "main",
    "Arm",
    COLUMNS,
    (
        Row(
            "grpo, 100% labels",
            {
                "labels": TableCell(1536.0),
                "id": TableCell(0.625, error=0.0125),
                "delta_id": missing(CellState.NOT_APPLICABLE, "the reference itself"),
                "gap": TableCell(1.0, low=1.0, high=1.0),
                "state": TableCell(None),
            },
            reference=True,
            seeds=3,
            planned=3,
        ),
        Row(
            "my_method (k=3)",
            {
                "labels": TableCell(153.5),
                "id": TableCell(0.5, CellState.PARTIAL, error=0.02, seeds=2, planned=3),
                "delta_id": TableCell(
                    -0.125,
                    low=-0.15,
                    high=-0.1,
                    question_low=-0.14,
                    question_high=-0.11,
                    p_value=4e-9,
                    p_adjusted=8e-9,
                    strong=True,
                    provisional=True,
                    seeds=2,
                    planned=2,
                    method="seed_t",
                    questions=40,
                ),
                "gap": missing(CellState.FAILED, "out of memory"),
                "state": TableCell(None, CellState.PARTIAL, seeds=2, planned=3),
            },
            sources={1: CellSource("ab" * 32, Path("store/generate/k1"), Path("store/grade/k2"))},
            seeds=2,
            planned=3,
        ),
    ),
    ("* p < 5% after Holm.", "† fewer than 5 seeds."),
)

MARKDOWN = """\
### 100% of labels & none

| Arm | Labels | ID | Δ ID | Gap | State |
| --- | ---: | ---: | ---: | ---: | --- |
| grpo, 100% labels (reference) | 1,536 | 62.5 ± 1.2 | – | 100.0% [100.0%, 100.0%] | done |
| my_method (k=3) | 154 | 50.0 ± 2.0 (2/3) | **−12.5 [−15.0, −10.0] q [−14.0, −11.0] \\*†** | failed | partial 2/3 |

\\* p &lt; 5% after Holm.

† fewer than 5 seeds.
"""
CSV = (
    "arm,reference,seeds,seeds_planned,labels (count),labels_state,"
    "id (accuracy),id_standard_error (accuracy),id_state,"
    "delta_id (accuracy_difference),delta_id_low (accuracy_difference),delta_id_high (accuracy_difference),"
    "delta_id_question_low (accuracy_difference),delta_id_question_high (accuracy_difference),delta_id_p,"
    "delta_id_p_holm,delta_id_seeds,delta_id_provisional,delta_id_state,"
    "gap (fraction),gap_low (fraction),gap_high (fraction),gap_seeds,gap_provisional,gap_state,state\n"
    '"grpo, 100% labels",1,3,3,1536,done,0.625,0.0125,done,,,,,,,,,,not_applicable,1.0,1.0,1.0,0,0,done,done\n'
    "my_method (k=3),0,2,3,153.5,done,0.5,0.02,partial,"
    "-0.125,-0.15,-0.1,-0.14,-0.11,4e-09,8e-09,2,1,done,,,,,,failed,partial 2/3\n"
)


def test_markdown_is_as_written_by_hand():
    assert to_markdown(TABLE) == MARKDOWN


def test_csv_is_as_written_by_hand():
    assert to_csv(TABLE) == CSV


def test_json_keeps_numbers_states_marks_and_the_keys_of_the_samples():
    content = to_json(TABLE)
    assert content["rows"][0]["samples"] == []
    row = content["rows"][1]
    assert (row["seeds"], row["seeds_planned"]) == (2, 3)
    assert content["rows"][0]["cells"]["labels"] == {"value": 1536, "state": "done"}
    assert isinstance(content["rows"][0]["cells"]["labels"]["value"], int)
    assert row["cells"]["state"] == {"value": None, "state": "partial", "seeds": 2, "seeds_planned": 3}
    assert row["samples"] == [{"seed": 1, "cell": "ab" * 32, "generate": "k1", "grade": "k2"}]
    assert row["cells"]["gap"] == {"value": None, "state": "failed", "note": "out of memory"}
    assert row["cells"]["delta_id"] == {
        "value": -0.125,
        "state": "done",
        "low": -0.15,
        "high": -0.1,
        "question_low": -0.14,
        "question_high": -0.11,
        "method": "seed_t",
        "questions": 40,
        "seeds": 2,
        "seeds_planned": 2,
        "provisional": True,
        "p": 4e-9,
        "p_holm": 8e-9,
        "significant": True,
        "excludes_zero": True,
    }


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_cell_refuses_what_is_not_a_number(number):
    with pytest.raises(DataError, match=r"allowed a finite number or none"):
        TableCell(number)
    with pytest.raises(DataError, match=r"allowed a finite number or none"):
        TableCell(0.5, low=number)
