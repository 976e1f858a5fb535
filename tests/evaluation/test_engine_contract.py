"""What every engine owes its callers, on a tiny random model.

vLLM is among the engines where it is installed: `make test-vllm` runs this file in an environment that has it.
"""

from dataclasses import replace
from importlib.util import find_spec

import pytest
from engine_models import EOS, SPECIAL, write_model

from benchmark.errors import DataError
from benchmark.evaluation.engines import ENGINES, make_engine
from benchmark.evaluation.engines.base import SamplingParameters

CONTEXT = 128
PARAMS = SamplingParameters(temperature=1.0, top_p=1.0, max_tokens=12, samples=4, seed=7)
GREEDY = replace(PARAMS, temperature=0.0, samples=1, max_tokens=24)
QUESTIONS = ("1+1?", "12+13+14?", "2*3?", "1+1?")


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("contract") / "model", CONTEXT)


@pytest.fixture(scope="module", params=[name for name in ENGINES if find_spec(name)])
def engine(request, model_dir):
    return make_engine(request.param, model_dir, threads=1)


@pytest.fixture(scope="module")
def next_probs(model_dir):
    """Next-token probabilities after token ids, from one forward pass of transformers without cache or batch."""
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(model_dir, dtype=torch.float32).eval()

    def probs(ids):
        with torch.inference_mode():
            return model(input_ids=torch.tensor([list(ids)])).logits[0, -1].softmax(-1)

    return probs


def prompts(engine, questions=QUESTIONS):
    return [engine.encode(engine.render([{"role": "user", "content": question}])) for question in questions]


def test_a_question_becomes_the_tokens_of_the_chat_template(engine):
    rendered = engine.render([{"role": "user", "content": "1+1?"}])
    assert rendered == "<|user|>1+1?<|assistant|>"
    assert engine.encode(rendered) == [3, 6, 15, 6, 22, 4]


def test_the_context_is_that_of_the_model(engine):
    assert engine.context == CONTEXT


def test_completions_come_in_prompt_order_with_their_counts(engine):
    asked = prompts(engine)
    found = engine.generate(asked, PARAMS)
    assert [len(own) for own in found] == [4, 4, 4, 4]
    for ids, own in zip(asked, found, strict=True):
        for one in own:
            assert one.prompt_tokens == len(ids)
            assert one.response_tokens == len(one.token_ids) <= PARAMS.max_tokens
            assert "<eos>" not in one.text
    assert found[0] == found[3]  # the same question
    assert found[0] != found[2]


def test_a_response_ends_with_the_end_token_or_at_the_limit_and_says_which(engine):
    completions = [one for own in engine.generate(prompts(engine), replace(PARAMS, samples=16)) for one in own]
    assert {one.finish_reason for one in completions} == {"stop", "length"}
    for one in completions:
        assert EOS not in one.token_ids[:-1]
        assert (one.finish_reason == "stop") == (one.token_ids[-1] == EOS)
        assert one.finish_reason == "stop" or one.response_tokens == PARAMS.max_tokens


def test_greedy_takes_the_likeliest_token_every_time(engine, next_probs):
    asked = prompts(engine)
    for ids, (one,) in zip(asked, engine.generate(asked, GREEDY), strict=True):
        for position, token in enumerate(one.token_ids):
            assert token == int(next_probs([*ids, *one.token_ids[:position]]).argmax())


def test_greedy_samples_of_a_prompt_are_equal_and_as_many_as_asked(engine):
    (own,) = engine.generate(prompts(engine)[:1], replace(GREEDY, samples=3))
    assert len(own) == 3
    assert own[0] == own[1] == own[2]


def test_top_p_keeps_to_the_smallest_set_of_tokens_that_holds_it(engine, next_probs):
    (prompt,) = prompts(engine, ["7-3?"])
    params = replace(PARAMS, top_p=0.5, samples=200, max_tokens=1)
    drawn = {one.token_ids[0] for one in engine.generate([prompt], params)[0]}
    probs = next_probs(prompt)
    order = probs.argsort(descending=True).tolist()
    size = next(n for n in range(1, len(order)) if float(probs[order[:n]].sum()) >= 0.5)
    assert len(drawn) > 1
    assert drawn <= set(order[:size])


def test_the_same_seed_gives_the_same_samples_and_another_does_not(engine):
    asked = prompts(engine)
    assert engine.generate(asked, PARAMS) == engine.generate(asked, replace(PARAMS))
    assert engine.generate(asked, PARAMS) != engine.generate(asked, replace(PARAMS, seed=8))


def test_the_samples_of_a_prompt_differ_from_each_other(engine):
    (own,) = engine.generate(prompts(engine)[:1], PARAMS)
    assert len({one.token_ids for one in own}) > 1


def test_the_samples_of_a_prompt_do_not_depend_on_the_others_or_their_order(engine):
    asked = prompts(engine)
    together = engine.generate(asked, PARAMS)
    assert engine.generate(asked[::-1], PARAMS)[::-1] == together
    assert [engine.generate([ids], PARAMS)[0] for ids in asked] == together


def test_each_prompt_may_have_settings_of_its_own(engine):
    asked = prompts(engine)
    params = [PARAMS, replace(PARAMS, samples=1), replace(GREEDY, max_tokens=3), replace(PARAMS, max_tokens=2)]
    found = engine.generate(asked, params)
    assert [len(own) for own in found] == [4, 1, 1, 4]
    for ids, own, settings in zip(asked, found, params, strict=True):
        assert [own] == engine.generate([ids], settings)


def test_settings_for_another_number_of_prompts_are_refused(engine):
    with pytest.raises(ValueError, match="found 1, allowed 4"):
        engine.generate(prompts(engine), [PARAMS])


def test_a_stop_string_ends_a_response_and_is_not_part_of_it(engine):
    asked = prompts(engine)[:1]
    params = replace(PARAMS, samples=8, max_tokens=40)
    whole = engine.generate(asked, params)[0]
    stop = next(one.text[3:6] for one in whole if len(one.text) > 10)  # three tokens of what it says anyway
    stopped = engine.generate(asked, replace(params, stop=("never said", stop)))[0]
    assert any(stop in one.text for one in whole)
    for before, after in zip(whole, stopped, strict=True):
        assert after.text == before.text.split(stop)[0]
        if stop in before.text:
            assert after.finish_reason == "stop"
            assert after.token_ids == before.token_ids[: after.response_tokens]
            spoken = [token for token in after.token_ids if token >= len(SPECIAL)]  # one character each
            assert len(spoken) == before.text.index(stop) + len(stop)
            assert after.token_ids[-1] == spoken[-1]
        else:
            assert after == before


def test_a_prompt_without_room_for_the_response_is_refused(engine):
    asked = prompts(engine, ["1+1?", "123456789?"])
    with pytest.raises(DataError, match=rf"found 12 tokens \+ max_tokens {CONTEXT - 11}, allowed {CONTEXT}"):
        engine.generate(asked, replace(PARAMS, max_tokens=CONTEXT - 11))


def test_a_prompt_may_fill_the_context_with_its_response(engine):
    (prompt,) = prompts(engine, ["5*5?"])
    params = replace(PARAMS, max_tokens=CONTEXT - len(prompt), samples=2)
    for one in engine.generate([prompt], params)[0]:
        assert one.finish_reason == "stop" or one.response_tokens == params.max_tokens


def test_no_prompts_give_no_completions(engine):
    assert engine.generate([], PARAMS) == []


def test_progress_counts_prompts_to_the_end(engine):
    seen = []
    engine.generate(prompts(engine), PARAMS, lambda done, total: seen.append((done, total)))
    assert seen[-1] == (4, 4)
    assert seen == sorted(seen)


def test_the_version_names_the_libraries(engine):
    assert engine.name in engine.version
    assert "torch" in engine.version
