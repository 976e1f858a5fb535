"""What a report takes from plan and store: families of arms, and the responses behind each number."""

import pytest
from judged_cell import publish_cell, write_parts

from benchmark.runs.results import suite_report
from benchmark.runs.session import open_session
from benchmark.stage import StageKind


def test_arms_that_differ_by_noise_alone_are_one_family(tmp_path):
    report = suite_report(open_session("histories", None, (), str(tmp_path / "store")))
    families = {}
    for arm in report.arms:
        families.setdefault(arm.family, {})[arm.noise_kind] = arm.noise_ratio
    assert families["grpo, 100% labels"] == {
        "none": 0.0,
        "inactive": 0.5,
        "active_fixed": 0.5,
        "active_redraw": 0.5,
    }
    assert families["base model"] == {"none": 0.0}


@pytest.fixture
def session(tmp_path):
    """Suite `quick` with a result for its first cell, the untrained policy."""
    found = open_session("quick", None, (), str(tmp_path / "store"))
    base = found.plan.cells[0]
    publish_cell(found.store, base.stages[StageKind.RECORD], write_parts(tmp_path / "parts"), dict(base.stages))
    return found


def test_a_finished_cell_names_its_responses(session):
    base, arm = session.plan.cells[0], suite_report(session).arms[0]
    source = arm.sources[0]
    assert source.cell == base.id
    assert source.samples == session.store.path(StageKind.GENERATE, base.stages[StageKind.GENERATE])
    assert (source.verdicts / "verdicts.parquet").is_file()


def test_a_result_whose_responses_were_removed_stays_and_links_nowhere(session):
    session.store.quarantine(StageKind.GENERATE, session.plan.cells[0].stages[StageKind.GENERATE])
    arm = suite_report(session).arms[0]
    assert list(arm.finished) == [0]
    assert arm.sources == {}


def test_an_arm_is_set_beside_plain_grpo_on_the_same_labels(tmp_path):
    def partners(suite):
        report = suite_report(open_session(suite, None, (), str(tmp_path / "store")))
        return {arm.arm: arm.plain for arm in report.arms}

    noisy = partners("histories")
    assert noisy["olr, 100% labels, 50% active fixed noise"] == "grpo, 100% labels, 50% active fixed noise"
    assert noisy["nl_olr_v2, 100% labels, 50% inactive noise"] == "grpo, 100% labels, 50% inactive noise"
    assert noisy["trapo, 10% labels"] == noisy["random_reward, 0% labels"] == ""
    assert noisy["grpo, 100% labels, 50% inactive noise"] == noisy["base model"] == ""
    few = partners("weak_supervision")
    assert few["ttrl, 10% labels"] == few["trapo_v2, 10% labels"] == "labeled_only, 10% labels"
    assert few["ttrl, 0% labels"] == few["labeled_only, 10% labels"] == ""
