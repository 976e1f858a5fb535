"""The transition stage: D(k) and the probes become D(k+1) and a manifest, and nothing else changes."""

import pytest
from pool_files import (
    pool_row,
    supervision,
    training_labels,
    training_rows,
    truth_sidecar,
    write_pool,
    write_probe,
)

from benchmark import artifacts
from benchmark.data import supervise, transition
from benchmark.data.noise import NO_CORRECT_ANSWER
from benchmark.data.schema import read_rows
from benchmark.errors import DataError, MethodError, SuiteError
from benchmark.stage import StageJob, StageKind
from methods.transitions.base import Change, ChangeKind, StoredLabel

# Twenty questions; the truth of question i is i.
POOL = [pool_row(i, str(i), paraphrase=f"other {i}") for i in range(20)]
NOTHING = (None, None, None, None)
NAN = float("nan")


def first_data(tmp_path, **changes):
    pool, out = write_pool(tmp_path / "pool", POOL, [pool_row(99, "99")]), tmp_path / "d0"
    out.mkdir()
    params = {"label_ratio": 0.5, "noise_kind": "none", "noise_ratio": 0.0, "rows": "all", "seed": 0} | changes
    supervise.run(StageJob(StageKind.SUPERVISE, "k", params, {"pool": pool}, out, out, 0, {}))
    return out


def growing(answer, number):
    """Answers of probe `number`: 2, 3, then 4 of 4 responses say `answer`; the others agree on nothing."""
    return ((answer,) * (2 + number) + ("a", "b"))[:4]


def probes(tmp_path, answers, count=3):
    """Probes 0, 1, ... in which `answers` (index -> answer) grow and the rest of the pool says nothing."""
    return {
        f"probe_{number}": write_probe(
            tmp_path / f"probe_{number}",
            {i: growing(answers[i], number) if i in answers else NOTHING for i in range(20)},
        )
        for number in range(count)
    }


def run(tmp_path, data, inputs, method="trapo_v2", number=2, **options):
    out = tmp_path / f"d{number + 1}"
    out.mkdir()
    params = {"method": method, "options": options, "round": number}
    every = {"pool": tmp_path / "pool", "supervise": data, **inputs}
    transition.run(StageJob(StageKind.TRANSITION, "k", params, every, out, out, 0, {}))
    return out


def manifest(out):
    return read_rows(out / artifacts.MANIFEST, artifacts.MANIFEST_SCHEMA)


def unlabelled(labels):
    return [i for i in range(20) if labels.get(i) is None]


def test_a_promoted_question_joins_the_training_rows_from_the_pool(tmp_path):
    before = first_data(tmp_path, rows="labelled")
    right, wrong = unlabelled(training_labels(before))[:2]
    after = run(tmp_path, before, probes(tmp_path, {right: str(right), wrong: "77"}))
    assert training_labels(after) == training_labels(before) | {right: str(right), wrong: "77"}
    texts = {row["extra_info"]["index"]: row["prompt"][0]["content"] for row in training_rows(after)}
    assert texts[right] == f"question {right}"
    assert manifest(after) == [
        # shares 2/4, 3/4, 4/4: slope 0.25 per probe
        {"round": 2, "index": index, "kind": "promoted", "label": label, "previous": None, "pass_rate": 1.0}
        | {"slope": 0.25, "margin": pytest.approx(NAN, nan_ok=True)}
        for index, label in sorted([(right, str(right)), (wrong, "77")])
    ]


def test_the_truth_sidecar_covers_the_new_rows_and_never_learns_a_pseudo_label(tmp_path):
    before = first_data(tmp_path, rows="labelled")
    wrong = unlabelled(training_labels(before))[0]
    after = run(tmp_path, before, probes(tmp_path, {wrong: "77"}))
    assert list(truth_sidecar(after)) == [row["extra_info"]["index"] for row in training_rows(after)]
    assert truth_sidecar(after) == truth_sidecar(before) | {wrong: str(wrong)}


def test_the_counts_and_the_precision_of_a_promotion_are_recorded(tmp_path):
    before = first_data(tmp_path, rows="labelled")
    right, wrong = unlabelled(training_labels(before))[:2]
    info = supervision(run(tmp_path, before, probes(tmp_path, {right: str(right), wrong: "77"})))
    assert info | supervision(before) == info | {"rows": 10, "labelled_rows": 10}  # labels bought are as before
    assert (info["round"], info["rows"], info["labelled_rows"], info["labelled"]) == (2, 12, 12, 10)
    assert info["changes"] == info["changes_so_far"] == {"promoted": 2, "relabelled": 0}
    assert info["diagnostics"] == {
        "promoted_precision": 0.5,
        "relabelled_precision": None,
        "repaired": 0,
        "harmed": 0,
        "label_accuracy": 11 / 12,
    }


def test_a_relabelled_row_changes_in_place_and_everything_else_stays(tmp_path):
    before = first_data(tmp_path, noise_kind="inactive", noise_ratio=0.2)  # two of ten
    labels = training_labels(before)
    noisy = next(i for i, label in labels.items() if label == NO_CORRECT_ANSWER)
    clean = next(i for i, label in labels.items() if label == str(i))
    after = run(tmp_path, before, probes(tmp_path, {noisy: str(noisy), clean: "77"}), "nl_olr_v2")
    assert training_labels(after) == labels | {noisy: str(noisy), clean: "77"}
    assert [row["extra_info"]["index"] for row in training_rows(after)] == list(range(20))
    assert truth_sidecar(after) == truth_sidecar(before)
    assert (after / artifacts.PANEL).read_bytes() == (before / artifacts.PANEL).read_bytes()
    # The noisy label was never given: lead (2/4 + 3/4 + 4/4) / 3. No response gave the clean one either.
    assert [(e["index"], e["previous"], e["margin"]) for e in manifest(after)] == [
        (i, labels[i], pytest.approx(0.75)) for i in sorted([noisy, clean])
    ]
    found = supervision(after)["diagnostics"]
    assert (found["repaired"], found["harmed"], found["relabelled_precision"]) == (1, 1, 0.5)
    assert found["label_accuracy"] == 8 / 10  # one noisy label left, one clean label harmed


def test_the_manifest_grows_from_round_to_round_and_states_the_provenance(tmp_path):
    before = first_data(tmp_path, rows="labelled")
    one, two = unlabelled(training_labels(before))[:2]
    inputs = probes(tmp_path, {one: str(one)})
    middle = run(tmp_path, before, inputs)
    answers = {i: growing(str(two), 2) if i == two else NOTHING for i in range(20)}
    inputs["probe_3"] = write_probe(tmp_path / "probe_3", answers)
    late = run(tmp_path, middle, inputs, number=3, min_probes=4, same_majority=1, slope=0.0)
    assert [(entry["round"], entry["index"]) for entry in manifest(late)] == [(2, one), (3, two)]
    assert training_labels(late) == training_labels(before) | {one: str(one), two: str(two)}
    info = supervision(late)
    assert (info["changes"]["promoted"], info["changes_so_far"]["promoted"]) == (1, 2)
    pool = {row["index"]: row for row in POOL}
    stored = transition.stored_labels(pool, training_rows(late), manifest(late))
    assert {item.index for item in stored if item.provenance == "promoted"} == {one, two}
    assert {item.provenance for item in stored if item.index not in (one, two)} == {"given"}


def test_without_a_change_the_data_stays_as_it_is(tmp_path):
    before = first_data(tmp_path)
    after = run(tmp_path, before, probes(tmp_path, {3: "3"}, count=1), number=0)
    assert training_rows(after) == training_rows(before)
    assert manifest(after) == []
    assert supervision(after)["diagnostics"]["promoted_precision"] is None


def test_every_question_of_the_pool_is_shown_to_the_rule_with_what_it_carries(tmp_path):
    before = first_data(tmp_path, rows="labelled")
    pool = {row["index"]: row for row in POOL}
    stored = transition.stored_labels(pool, training_rows(before), [])
    labels = training_labels(before)
    assert stored == [StoredLabel(i, labels.get(i), "given") for i in range(20)]


def test_a_method_without_a_transition_is_refused(tmp_path):
    before = first_data(tmp_path)
    with pytest.raises(SuiteError, match="method 'grpo' changes no label"):
        run(tmp_path, before, {}, "grpo")


@pytest.mark.parametrize(("count", "found"), [(2, "probe_0, probe_1"), (4, "probe_0, probe_1, probe_2, probe_3")])
def test_a_round_needs_exactly_the_probes_up_to_it(tmp_path, count, found):
    before = first_data(tmp_path)
    with pytest.raises(DataError, match=f"after round 2: found {found}, allowed probe_0, probe_1, probe_2; fix"):
        run(tmp_path, before, probes(tmp_path, {}, count))


def test_probes_are_in_the_order_of_their_numbers():
    assert transition.probe_names({f"probe_{n}": n for n in (10, 2, *range(2), *range(3, 10))}, 10) == [
        f"probe_{n}" for n in range(11)
    ]


def test_a_probe_of_another_pool_is_refused(tmp_path):
    before = first_data(tmp_path)
    inputs = {"probe_0": write_probe(tmp_path / "probe_0", dict.fromkeys(range(1, 22), NOTHING))}
    with pytest.raises(DataError, match="found 2 questions that the pool lacks and 1 of the pool unprobed"):
        run(tmp_path, before, inputs, number=0)


def test_rounds_on_paired_data_are_refused(tmp_path):
    before = first_data(tmp_path, rows="paired")
    with pytest.raises(DataError, match="rounds on paired data: found index 0"):
        run(tmp_path, before, probes(tmp_path, {}, 1), number=0)


STORED = [StoredLabel(1, "5", "given"), StoredLabel(2, None, "given")]


def change(index=1, kind=ChangeKind.RELABELLED, label="6", previous="5"):
    return Change(index, kind, label, previous, 1.0, 0.1, NAN)


@pytest.mark.parametrize(
    "changes",
    [
        [change(index=3)],
        [change(), change()],
        [change(label="")],
        [change(previous="4")],
        [change(previous=None)],
        [change(kind=ChangeKind.PROMOTED)],
        [change(index=2, previous=None)],
    ],
)
def test_a_decision_that_contradicts_the_data_is_refused(changes):
    with pytest.raises(MethodError, match="fix: the method's transition"):
        transition.require_sound(changes, STORED)


def test_a_decision_that_fits_the_data_passes():
    transition.require_sound([change(), change(2, ChangeKind.PROMOTED, "6", None)], STORED)
