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
EVAL = EvalSpec("micro", ("add", "sub"), 100, 8, 0.6, 1.0, 40, "transformers", 1234)
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
        replace(CELL, eval=replace(EVAL, samples=4)),
        replace(CELL, eval=replace(EVAL, benchmarks=("sub", "add"))),
    ]


GOLDEN = [
    "75dc23b724a297e35bb43e6590bc1e70906eb4cc5d89d94f2343194e50f0d226",
    "1ea10c6c934e6bc709c3cdcd0d47bb82f918c3e2e44a39a2a1473be80555b0b5",
    "5753533d45e52eb26d38215f56525c73b7fd53c0e0c8568c2b4610433a06ef6a",
    "f144a7b8d5890e09c0d227ca9affb620aaa23bc4020608bc9681b6cffe165112",
    "bbb5359610b3f5aeb5cf5121353916a861284332a714f42b7d2fc475e26ddfb1",
    "afebc768533185fa206f4bd7cddf3c9ae061bdef2acdae04a50586e17a41dcea",
    "9cf804a094edd2c8378f479b00aced7490f60512c26d8a58c8bf9f74cfb71645",
    "f94fa8f6ec4a40a40e711d0496cdf874bcddd7cc6c57c3a8395bd40b62e663fb",
    "56824be081267162fd02d1afa546204f7f74b8f4a59984697fa583032e55cc45",
    "6ca0aaf3c7788079c04d5d7b899b4b4f58fc7fd864f4f5cf0d0c53ee6d15e262",
    "fa01c5c1cfa6a705bcb2532ac5d5210dc786012c25c49e9d55643c2473bc747b",
    "3e3d25d2429e9f0b911d5b82d4bb9d609ca9a952df98c17879600c0a0958ed42",
    "58e2deeb811405ab660a0c1819c72bb470c9423827bd8d164d7c57df73d4b957",
    "eaf3e87aab3a58c379f920402dbc375e76dbac1faf58e46b936fad6948a8c70d",
    "b0e97dd960ad75133545b5db6bd81087b80918ec84777d46fc5b268c1d0dc353",
    "26369d2f5b510c2f761651c93ab2568351b24d8d9ccca00d6aa3b92d0fab3291",
    "ec28f0b5610af2a7b4d461efd01aac246ad7432b6150a908e898e5bc3d61254d",
    "001e3b040f5c309604fae1d2eeec40244b5fc10534b8a8d120e2f3f3cb5811ca",
    "7a273c3e7b2d6d0c1cde058440ecbf863b51d4c333bd19512c54ba74541286b2",
    "3d0b5f080fe6056deee8f75f178dde79de9894ba39af05eb5d41737921e95c66",
    "d195bd3bef73a59a6962ea221d0fc40a39bd5cb2155a3911e2eff6209c1d95d0",
    "df866943362c217fa93ebab28c57d81dd1a9ebb3eb0968df9efa7ade32f03857",
    "bac4bed7e809c4e8637ed17a7bba29872e80dcd8163d62a68e481c957992a4e5",
    "fb2c9023291b2643a05ba3588f2f100e279e63062c1d22650dfeaf0aeef8ff60",
    "335867a761864f8d19c2fb45de54f16252f92971bc23473be67fe406694e3fda",
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
