"""The arithmetic of the teacher, on real modules; that it is sampled is tested in a real job (tests/e2e)."""

from types import SimpleNamespace

import pytest
import torch

from benchmark.training.teacher_worker import TeacherWorker
from methods.teacher import TeacherPlan


def worker(dtype=torch.float32):
    """A worker with an actor and a reference of one linear layer each, without Ray and verl's start-up."""
    made = object.__new__(TeacherWorker)
    torch.manual_seed(0)
    for role in ("actor", "ref"):
        module = torch.nn.Linear(3, 2, bias=False, dtype=dtype)
        setattr(made, role, SimpleNamespace(engine=SimpleNamespace(module=module)))
    made.teacher = {"weight": torch.zeros(2, 3)}
    return made


def weights(made, role):
    return getattr(made, role).engine.module.weight.detach()


def test_the_teacher_moves_by_the_rate_towards_the_actor():
    made = worker()
    made.move_teacher(0.25, False)
    made.move_teacher(0.25, False)
    assert torch.allclose(made.teacher["weight"], weights(made, "actor") * (1 - 0.75**2))


def test_the_teacher_is_float32_where_a_small_rate_would_vanish_in_bfloat16():
    made = worker(torch.bfloat16)
    made.teacher = {"weight": torch.ones(2, 3)}
    with torch.no_grad():
        made.actor.engine.module.weight.fill_(1.5)
    for _ in range(10):
        made.move_teacher(1e-4, False)
    assert made.teacher["weight"][0, 0].item() == pytest.approx(1 + 0.5 * (1 - (1 - 1e-4) ** 10), rel=1e-5)
    assert torch.tensor(1.0, dtype=torch.bfloat16) + 5e-5 == 1.0  # what would have happened


def test_an_anchored_reference_follows_the_teacher_and_a_frozen_one_does_not():
    made = worker()
    frozen = weights(made, "ref").clone()
    made.move_teacher(0.5, False)
    assert torch.equal(weights(made, "ref"), frozen)
    made.move_teacher(0.5, True)
    assert torch.equal(weights(made, "ref"), made.teacher["weight"])


def test_a_teacher_survives_a_checkpoint_bit_for_bit(tmp_path):
    made, restored = worker(), worker()
    made.__dict__["_rank"] = restored.__dict__["_rank"] = 0
    made.move_teacher(0.3, False)
    made.save_teacher(str(tmp_path))
    restored.load_teacher(str(tmp_path), True)
    assert torch.equal(restored.teacher["weight"], made.teacher["weight"])
    assert torch.equal(weights(restored, "ref"), made.teacher["weight"])


def test_the_rate_falls_on_half_a_cosine():
    plan = TeacherPlan(rollouts=8, first_rate=1e-2, last_rate=1e-4, anchors=True)
    assert plan.rate(1, 61) == pytest.approx(1e-2)
    assert plan.rate(31, 61) == pytest.approx((1e-2 + 1e-4) / 2)
    assert plan.rate(61, 61) == pytest.approx(1e-4)
    assert plan.rate(1, 1) == pytest.approx(1e-2)
