"""Identity: golden ids, and what must not change one."""

import json
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.stage import digest
from benchmark.suite.identity import IDENTITY, arm_key, arm_label, arm_labels, cell_id, reads_labels
from benchmark.suite.spec import (
    CellSpec,
    DataSpec,
    EvalSpec,
    MethodSpec,
    ModelSpec,
    NoiseKind,
    ProbeSpec,
    SelectionSpec,
    SupervisionSpec,
    TrainSpec,
    frozen_json,
    plain,
)

# Written out, not composed: a change to configs/ must not change what this file pins.
TRAIN = TrainSpec(
    backend="cpu",
    steps=60,
    prompts=32,
    rollouts=8,
    temperature=1.0,
    top_p=1.0,
    learning_rate=0.0002,
    warmup_steps=5,
    weight_decay=0.0,
    kl_coefficient=0.001,
    clip=0.2,
    estimator="grpo",
    normalise_by_std=True,
    labelled_share=0.0,
    max_prompt_tokens=24,
    max_response_tokens=40,
    panel_every=10,
    panel_samples=4,
)
PROBE = ProbeSpec(8, 1.0, 1.0, 40, "transformers")
SELECTION = SelectionSpec("entropy", "{}", "budget", 0.293, 0.421, ("entropy",))
EVAL = EvalSpec("micro", ("add", "sub"), 100, "micro", "8", 0.6, 1.0, 40, "transformers", 1234)
CELL = CellSpec(
    method=MethodSpec("grpo", 1),
    supervision=SupervisionSpec(1.0),
    seed=0,
    model=ModelSpec("micro", frozen_json({"hidden": 64, "learning_rate": 0.004})),
    data=DataSpec("micro", 1536, 198, "{}"),
    train=TRAIN,
    eval=EVAL,
)


def variants() -> list[CellSpec]:
    noisy = SupervisionSpec(0.5, NoiseKind.INACTIVE, 0.25)
    return [
        CELL,
        replace(CELL, seed=1),
        replace(CELL, seed=2147483647),
        replace(CELL, method=MethodSpec("base", 1)),
        replace(CELL, method=MethodSpec("ttrl", 1)),
        replace(CELL, method=MethodSpec("ttrl", 2)),
        replace(CELL, method=MethodSpec("trapo", 1, frozen_json({"top_p": 0.1, "warm_up": 5}))),
        replace(CELL, supervision=SupervisionSpec(0.0)),
        replace(CELL, supervision=SupervisionSpec(0.1)),
        replace(CELL, supervision=SupervisionSpec(0.1, rows="labelled")),
        replace(CELL, supervision=noisy),
        replace(CELL, supervision=replace(noisy, noise_ratio=0.5)),
        replace(CELL, model=ModelSpec("hub", frozen_json({"id": "Qwen/Qwen3-8B-Base", "revision": "main"}))),
        replace(CELL, data=DataSpec("micro", 192, 198, "{}")),
        replace(CELL, data=DataSpec("hub", 0, 400, frozen_json({"suffix": " Größe \\boxed{}"}))),
        replace(CELL, train=replace(TRAIN, steps=2)),
        replace(CELL, train=replace(TRAIN, learning_rate=1e-6)),
        replace(CELL, train=replace(TRAIN, normalise_by_std=False)),
        replace(CELL, train=replace(TRAIN, estimator="rloo")),
        replace(CELL, train=replace(TRAIN, labelled_share=0.25)),
        replace(CELL, method=MethodSpec("trapo_v2", 1, "{}", 6), probe=PROBE),
        replace(CELL, supervision=SupervisionSpec(0.5, NoiseKind.ACTIVE_FIXED, 0.25), probe=PROBE),
        replace(CELL, selection=SELECTION, probe=PROBE),
        replace(CELL, eval=replace(EVAL, samples="4")),
        replace(CELL, eval=replace(EVAL, benchmarks=("sub", "add"))),
    ]


GOLDEN = [
    "9cc25c14ed6639e46bd6ab4828b7fc2f57318f2174d58ea0fd53afc6c0d59013",
    "63b3b3d73de73631ebcc9b183122ea2ce84dc52c3c06a0608995aa3b39e2ab6a",
    "0205ce3d8d74ecbba291c1c665eae5067e4c4bbe57b683ad5df15d7a814b490a",
    "a4222c8bb51700db2dca5c1389629582246ec12da71b037a5fe39c5262eebcec",
    "2b5d39fc5d78105080af2fc3c76e3bd2fccfe09ed63d38e6a312281bec9d9fd9",
    "ead0e7acd9ece23608da57a1be5a1f1e3daad7952cd28d114b0ba71f60a22ed8",
    "3036a148b49f59b4cb3ca72b0d9ae091072bb147480500131bb255f8d784e471",
    "444e3d6e5ba06925a70a7094214ff7fecaac6a8c8f20f03676d5a7b724abc302",
    "84e5a719ac4ecc78b8820031b8da715b10534f23385b506e07dea9fa5fe4be10",
    "29be1e7f833a55a83d7804091aea2fd695178b40cf3b16008e535825caf55d8a",
    "b7f19b75dddf6c749a9beb1b7ace8ac3d40a2b5d29a6088a17240de3271b06c3",
    "b6abc4dfadb630b003896da55696d210531ba7b3cf1e3e32c58fa14cc8f6f5c5",
    "2fee3da6f65aeca943ec57f23f04cf75c2db1f5350d3e64fc7c845d6634ed1c9",
    "ee89ea044fc31c40e7aff42105b12e5623705dce765345cba83213a3402c12ae",
    "c83c7c43458c8ac25705b4df3e7bfe837f655edd85c990e2e4a7bbaaf739379f",
    "e9ec0cb52a34f78d0a8d339dde87b0aa0ac5d29cc6d0811c5da503a5954cc17e",
    "2d6de2d90d2dcb96386018cfab6bcf70c4327edbbf689e5b492186f7804b0a3d",
    "9a444194ef7184d5885e4bf2e7ff3a1e3938d818959622a33c371241a4629890",
    "f5a446a84f5e2a63f08004f5b9be2456c67a3df638f87c684cc3f799ced2746c",
    "27ee62706e8d2a28dd0854a75608e3e67dd9e8c3acc91a835b64a1e74cbf523c",
    "df1b2e02c45d17c0486a94856090e32047f453b79f84d6ad5d8e9fe48d737ab1",
    "95587853a5af759a92d913ee61a24ce9ecc484461bd415346f68fd4766e6b1f3",
    "286f796d440d23de059723b61930180e7c74179fc7ee66933fb76e02c6116555",
    "c8ea9bc40a38872946eba3a9b168f51144bafd2e9cdf8ea7ab751a1516711eaa",
    "2b9586f113b8a27dcedbe670e486c60897a24db811c741cc4cf671a3bbe610d7",
]


def test_ids_are_the_golden_ones():
    assert [cell_id(spec) for spec in variants()] == GOLDEN


def test_every_variant_has_an_id_of_its_own():
    assert len({cell_id(spec) for spec in variants()}) == len(variants())


@pytest.mark.parametrize("spec", variants())
def test_the_id_is_the_hash_of_the_plain_specification(spec):
    assert cell_id(spec) == digest({"identity": IDENTITY, "cell": plain(spec)})


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(random):
    def shuffled(value):
        if not isinstance(value, dict):
            return value
        items = list(value.items())
        random.shuffle(items)
        return {key: shuffled(item) for key, item in items}

    assert digest({"cell": shuffled(plain(CELL)), "identity": IDENTITY}) == cell_id(CELL)


def test_an_arm_is_a_cell_without_its_seed():
    assert arm_key(CELL) == arm_key(replace(CELL, seed=9))
    assert arm_key(CELL) != arm_key(replace(CELL, supervision=SupervisionSpec(0.5)))


def test_a_specification_holds_no_path_host_or_thread_count():
    names = {field.name for part in (CELL, CELL.model, CELL.data, TRAIN, EVAL) for field in fields(part)}
    assert not names & {"path", "folder", "store", "host", "address", "threads", "lanes", "checkpoint_every", "logger"}
    assert "/" not in json.dumps(plain(CELL))


def test_labels_are_what_a_person_would_say():
    assert arm_label(CELL) == "grpo, 100% labels"
    assert arm_label(replace(CELL, method=MethodSpec("base", 1))) == "base model"
    noisy = SupervisionSpec(0.125, NoiseKind.INACTIVE, 0.5)
    assert arm_label(replace(CELL, supervision=noisy)) == "grpo, 12.5% labels, 50% inactive noise"
    options = MethodSpec("unregistered", 1, frozen_json({"votes": 64}))
    assert arm_label(replace(CELL, method=options)) == "unregistered (votes=64), 100% labels"


def test_the_label_of_a_selection_says_who_chose_how_much():
    chosen = replace(CELL, selection=SELECTION, supervision=SupervisionSpec(0.293))
    assert arm_label(chosen) == "grpo, entropy (budget) labels 29.3%, discards 42.1%"


def test_labels_name_pool_and_settings_only_where_a_suite_varies_them():
    small = replace(CELL, data=DataSpec("micro", 192, 198, "{}"))
    assert arm_labels([CELL]) == ("grpo, 100% labels",)
    assert arm_labels([CELL, small]) == ("grpo, 100% labels, pool 1536", "grpo, 100% labels, pool 192")
    other = replace(CELL, train=replace(TRAIN, estimator="dr_grpo", steps=30))
    assert arm_labels([CELL, other]) == ("grpo, 100% labels, 60 steps", "grpo, 100% labels, 30 steps, dr grpo")


def test_the_base_model_reads_no_labels():
    assert reads_labels(CELL)
    assert not reads_labels(replace(CELL, method=MethodSpec("base", 1)))
