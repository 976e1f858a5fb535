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
    normalise_by_std=True,
    max_prompt_tokens=24,
    max_response_tokens=40,
    panel_every=10,
    panel_samples=4,
)
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
        replace(CELL, eval=replace(EVAL, samples=4)),
        replace(CELL, eval=replace(EVAL, benchmarks=("sub", "add"))),
    ]


GOLDEN = [
    "0a8f21f65cf167cf10c97385b06ba9bea7116fd281f52f08ba73c760dd8dba1d",
    "2cdc4eb1fb74d3f1f5b95b0d3a606e0ea3a8c4f54615773f01fc8fe2f465c299",
    "939c7a1939b2820334685a7d114e73c32d143d2ef4ef76608f23cce8e5e4a23b",
    "307c1e06b8d49ca32903d5c136d45565b0898dcb462d6833e97c828443dfe5ea",
    "3480a61292642aaeba5ee87a240dd05fe8d0cd19588f0f8fc3ac6a99122a517f",
    "40ff670415f75e1f2dc96a3cea5fa31ab61aba7be8a8a1e219037e1e4f1dfb4f",
    "cabdd4b404b87783ce8281e4651e4b54cf92c70b46f0bad833e662107db02168",
    "f26167ee5e06118cde40becaa4e30f5b3b57b2e5be5dac7a57bed7ea1294b8bb",
    "99c7e861e327ad542bcf7a45bc85a52cf35e0106d4cbcef67ebd15d44132dbb5",
    "2cfeb999eb1645ecda2f462d949c50add1c65b0556bc15b0da1fd5fa23935f29",
    "b1059f67522fea732346f89b265e2ee30b6ce00de001df3c3d402464b67c4ed2",
    "65ce72acde0b0be760ec771865384369dd9cb350751b79d050f0928960b7d443",
    "39ade432690d0c5953204790c8bef8a3dbe235922e89d6c06947200366ab8801",
    "a65894f2b9aad1ccf3711e895ef8962d7eb132830780d0b99f454ee8c7d03ffa",
    "2556432bdc53ec5f387d35a7910e1a9cf532452feb65eb6c978fb6f71b4d8a4b",
    "0d97a2badce0aa3c1bcff9910af782479a60f98cd6a6ed89b0dead2afcc7e982",
    "a95349680093a5ebf4d955d0ae73cfaf2c18e706a7ca91b25922bdd0e5a735eb",
    "0564a1d9cc5090e6344d570e269889c5de4471b4aeb2e75ba5e3038428599377",
    "e62c769fec9695614d6292c2a49205f5cdbb2b1de32de13813a315d4ac45ee88",
    "49edd2cf7e561d5c788d0774b931c19e78f2152190d132adb5b768bf599fa002",
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


def test_labels_name_pool_and_steps_only_where_a_suite_varies_them():
    small = replace(CELL, data=DataSpec("micro", 192, 198, "{}"))
    assert arm_labels([CELL]) == ("grpo, 100% labels",)
    assert arm_labels([CELL, small]) == ("grpo, 100% labels, pool 1536", "grpo, 100% labels, pool 192")


def test_the_base_model_reads_no_labels():
    assert reads_labels(CELL)
    assert not reads_labels(replace(CELL, method=MethodSpec("base", 1)))
