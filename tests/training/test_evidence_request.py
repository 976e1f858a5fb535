"""What the trainer asks of the old-log-prob pass, and what it refuses to hand to a method."""

import numpy as np
import pytest
from rollouts import make_evidence, make_groups

from benchmark.errors import MethodError
from methods.groups import EvidenceKind

pytest.importorskip("verl")


def test_only_what_verl_does_not_deliver_by_itself_is_asked_for():
    from benchmark.training.groups import evidence_request

    assert evidence_request(frozenset()) == ""
    assert evidence_request(frozenset({EvidenceKind.ENTROPY, EvidenceKind.LOG_PROBS})) == ""
    assert evidence_request(frozenset(EvidenceKind)) == "attention,hidden_states,self_certainty"


def test_every_kind_of_evidence_has_a_field():
    from benchmark.training.groups import FIELD_OF_EVIDENCE

    assert set(FIELD_OF_EVIDENCE) == set(EvidenceKind)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("kind", [EvidenceKind.SELF_CERTAINTY, EvidenceKind.HIDDEN_STATES])
def test_evidence_that_is_not_finite_names_the_item_and_the_step(bad, kind):
    from benchmark.training.groups import require_finite

    groups = make_groups([["1", "2"], ["3", None]], step=7)
    arrays = getattr(make_evidence(groups, frozenset({kind})), kind.value)
    require_finite(kind, arrays, groups)
    arrays[1][0][-1] = bad
    with pytest.raises(MethodError, match=f"evidence {kind} is not finite: .* for item 101 in step 7"):
        require_finite(kind, arrays, groups)


def test_a_rollout_without_tokens_has_nothing_that_could_be_wrong():
    from benchmark.training.groups import require_finite

    groups = make_groups([["1", None]], lengths=np.array([[5, 0]]))
    require_finite(EvidenceKind.ENTROPY, ((np.ones(5), np.zeros(0)),), groups)


def test_the_pass_is_saved_only_where_the_rollout_has_delivered_all_that_is_declared():
    from benchmark.training.job_config import trusts_rollout_log_probs
    from methods.registry import method_class

    train = {"backend": "cpu", "top_p": 1.0}
    assert method_class("seq_entropy").evidence == {EvidenceKind.LOG_PROBS}
    assert trusts_rollout_log_probs(train, "seq_entropy")
    assert not any(trusts_rollout_log_probs(train, name) for name in ("tok_entropy", "self_certainty", "geomin"))
