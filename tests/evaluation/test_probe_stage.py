"""The probe stage: answers of a policy to the pool, with the evidence that was asked for."""

import itertools
import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmark import artifacts
from benchmark.data.probed import read_probe
from benchmark.data.schema import write_rows
from benchmark.errors import DataError
from benchmark.evaluation import probe
from benchmark.evaluation.engines import evidence as evidence_of_models
from benchmark.evaluation.engines import make_engine
from benchmark.evaluation.engines.base import SamplingParameters
from benchmark.stage import StageJob, StageKind

SAMPLING = {"samples": 3, "temperature": 0.8, "top_p": 1.0, "max_tokens": 12, "seed": 4}
QUESTIONS = {30: "7-3?", 10: "1+1?", 20: "12+2?"}
ALL = sorted(kind.value for kind in probe.KINDS)


def write_pool(folder, questions=QUESTIONS):
    folder.mkdir(parents=True)
    nothing = {"answer": "1", "family": "", "level": -1, "paraphrase": ""}
    rows = [{"index": index, "question": text, **nothing} for index, text in questions.items()]
    write_rows(folder / artifacts.POOL, rows, artifacts.POOL_SCHEMA)
    return folder


def run(tmp_path, model, questions=QUESTIONS, evidence=(), layers="none", **changes):
    pool, out = write_pool(tmp_path / "pool", questions), tmp_path / "out"
    out.mkdir()
    params = {**SAMPLING, "engine": "transformers", "evidence": list(evidence), "layers": layers, **changes}
    inputs = {"model": model.parent, "pool": pool}
    probe.run(StageJob(StageKind.PROBE, "k", params, inputs, out, out, 1, {"threads": 1}))
    return pq.read_table(out / artifacts.PROBE), json.loads((out / artifacts.PROBE_INFO).read_text())


@pytest.fixture
def boxing_model_dir(tmp_path, tiny_model_dir):
    """A model that knows one answer: each token of it is followed by the next, whatever came before."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_model_dir)
    model = AutoModelForCausalLM.from_pretrained(tiny_model_dir)
    tokenizer.add_tokens(["\\boxed"])
    model.resize_token_embeddings(len(tokenizer))
    chain = [tokenizer.convert_tokens_to_ids(t) for t in ("<|assistant|>", "\\boxed", "{", "7", "}", "<eos>")]
    assert tokenizer.unk_token_id not in chain
    with torch.no_grad():
        for layer in model.model.layers:  # layers add nothing: the logits depend on the newest token only
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        model.model.embed_tokens.weight.zero_()
        model.lm_head.weight.zero_()
        for position, (token, following) in enumerate(itertools.pairwise(chain)):
            model.model.embed_tokens.weight[token, position] = 1.0
            model.lm_head.weight[following, position] = 10.0  # the norm scales the state to 8: a logit of 80
    folder = tmp_path / "boxing" / "model"
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_answers_are_those_of_the_engine_by_index_and_sample(tmp_path, tiny_model_dir, capsys):
    table, info = run(tmp_path, tiny_model_dir)
    assert "probed 3/3" in capsys.readouterr().out
    assert table.schema.equals(artifacts.PROBE_SCHEMA)
    rows = table.to_pylist()
    assert [(row["index"], row["sample"]) for row in rows] == [(i, n) for i in (10, 20, 30) for n in range(3)]
    engine = make_engine("transformers", tiny_model_dir, 1)
    prompts = [engine.encode(f"<|user|>{QUESTIONS[index]}<|assistant|>") for index in (10, 20, 30)]
    sampled = [one for own in engine.generate(prompts, SamplingParameters(**SAMPLING)) for one in own]
    for row, one in zip(rows, sampled, strict=True):
        assert (row["response"], row["finish_reason"], row["response_tokens"]) == (
            one.text,
            one.finish_reason,
            one.response_tokens,
        )
    assert info["sampling"] == SAMPLING | {"stop": []}
    assert (info["samples"], info["prompts"], info["engine"]["name"]) == (3, 3, "transformers")
    assert info["response_tokens"] == sum(row["response_tokens"] for row in rows)


def test_an_answer_is_what_the_response_boxes(tmp_path, boxing_model_dir):
    table, info = run(tmp_path, boxing_model_dir, evidence=["entropy"])
    assert table.column("response").to_pylist() == [r"\boxed{7}"] * 9
    assert table.column("answer").to_pylist() == ["7"] * 9
    assert info["truncated"] == 0


def test_a_response_without_a_box_has_no_answer(tmp_path, tiny_model_dir):
    table, _ = run(tmp_path, tiny_model_dir)  # a random model never writes one
    assert table.column("answer").null_count == 9


def test_the_order_of_the_pool_does_not_matter(tmp_path, tiny_model_dir):
    turned = dict(reversed(QUESTIONS.items()))
    one, two = (run(tmp_path / name, tiny_model_dir, pool)[0] for name, pool in (("a", QUESTIONS), ("b", turned)))
    assert one.equals(two)


def test_without_evidence_no_forward_pass_is_made(tmp_path, tiny_model_dir, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("evidence was computed")

    monkeypatch.setattr(evidence_of_models, "response_evidence", refuse)
    table, info = run(tmp_path, tiny_model_dir)
    assert all(table.column(kind).null_count == 9 for kind in ALL)
    assert (info["layers"], info["width"], info["evidence"]) == (0, 0, [])
    assert "attention_window" not in info


def test_evidence_is_that_of_the_sampled_responses(tmp_path, tiny_model_dir, tiny_llama):
    import torch

    table, info = run(tmp_path, tiny_model_dir, evidence=ALL, layers="all")
    assert table.schema.equals(artifacts.PROBE_SCHEMA)
    assert (info["layers"], info["width"]) == (3, 64)  # embeddings and two layers
    engine = make_engine("transformers", tiny_model_dir, 1)
    prompts = {index: engine.encode(f"<|user|>{text}<|assistant|>") for index, text in QUESTIONS.items()}
    order = sorted(prompts)
    sampled = engine.generate([prompts[index] for index in order], SamplingParameters(**SAMPLING))
    for row in table.to_pylist():
        ids = list(sampled[order.index(row["index"])][row["sample"]].token_ids)
        start = len(prompts[row["index"]])
        with torch.no_grad():
            out = tiny_llama(torch.tensor([prompts[row["index"]] + ids]), output_hidden_states=True)
        log_p = (out.logits[0, start - 1 : -1] / 0.8).log_softmax(-1)
        assert row["entropy"] == pytest.approx((-(log_p.exp() * log_p).sum(-1)).tolist(), rel=1e-4, abs=1e-5)
        # KL(uniform || p) = -log V - mean log p, V = 65
        assert row["self_certainty"] == pytest.approx((-np.log(65) - log_p.mean(-1)).tolist(), rel=1e-4, abs=1e-5)
        states = torch.stack([layer[0, start:].mean(0) for layer in out.hidden_states[:2]])  # below the final norm
        assert row["hidden_states"][: 2 * 64] == pytest.approx(states.flatten().tolist(), rel=1e-3, abs=1e-4)
        assert len(row["hidden_states"]) == 3 * 64
        assert len(row["attention"]) == row["response_tokens"]
        assert all(0 <= mass <= 1 + 1e-6 for mass in row["attention"])


def test_only_the_evidence_that_is_asked_for_is_there(tmp_path, tiny_model_dir):
    table, info = run(tmp_path, tiny_model_dir, evidence=["self_certainty"])
    assert {kind for kind in ALL if not table.column(kind).null_count} == {"self_certainty"}
    assert (info["evidence"], info["layers"]) == (["self_certainty"], 0)


def test_scorers_can_read_a_probe_back(tmp_path, tiny_model_dir):
    table, info = run(tmp_path, tiny_model_dir, evidence=ALL, layers="all")
    found = read_probe(tmp_path / "out", probe.KINDS)
    assert [question.index for question in found] == [10, 20, 30]
    assert [states.shape for states in found[0].hidden_states] == [(3, 64)] * 3
    assert found[1].lengths.tolist() == table.column("response_tokens").to_pylist()[3:6]
    assert found[1].entropy[2] == pytest.approx(table.column("entropy").to_pylist()[5])
    assert found[0].attention_window == info["attention_window"] == 1  # a tenth of 12 tokens


def test_the_attention_window_fits_into_responses_and_is_32_where_they_are_long():
    assert [probe.attention_window(tokens) for tokens in (4, 40, 320, 4096)] == [1, 4, 32, 32]


def test_greedy_probes_read_the_policy_itself(tmp_path, tiny_model_dir):
    table, _ = run(tmp_path, tiny_model_dir, evidence=["entropy"], temperature=0.0)
    assert np.isfinite(np.concatenate(table.column("entropy").to_pylist())).all()
    assert len(set(table.column("response").to_pylist())) == 3  # samples of a question are equal


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"evidence": ["log_probs"]}, "evidence of a probe: found 'log_probs', allowed entropy, self_certainty"),
        ({"evidence": ["hidden_states"]}, "hidden states of a probe: found layers 'none', allowed 'all'"),
        ({"layers": "some"}, "layers of a probe: found 'some', allowed all or none"),
        ({"questions": {}}, "no question to probe: found an empty pool"),
    ],
)
def test_what_a_probe_cannot_do_is_refused_before_the_model_is_loaded(tmp_path, changes, message):
    with pytest.raises(DataError, match=message):
        run(tmp_path, tmp_path / "nothing" / "model", **changes)
