import json
import shutil

import pytest

from benchmark.errors import DataError, UnknownNameError
from benchmark.evaluation.engines import make_engine
from benchmark.evaluation.engines.base import SamplingParameters

PARAMS = SamplingParameters(temperature=1.0, top_p=1.0, max_tokens=12, samples=4, seed=7)
QUESTIONS = ["1+1?", "12+13+14?", "2*3?", "1+1?"]


@pytest.fixture(scope="module")
def engine(tiny_model_dir):
    return make_engine("transformers", tiny_model_dir, threads=1)


def prompts(engine, questions=QUESTIONS):
    return [engine.encode(engine.render([{"role": "user", "content": question}])) for question in questions]


def test_the_chat_template_is_applied_up_to_the_answer(engine):
    rendered = engine.render([{"role": "user", "content": "1+1?"}])
    assert rendered == "<|user|>1+1?<|assistant|>"
    assert engine.encode(rendered) == [3, 6, 15, 6, 22, 4]


def test_completions_come_in_prompt_order_with_their_counts(engine):
    found = engine.generate(prompts(engine), PARAMS)
    assert [len(own) for own in found] == [4, 4, 4, 4]
    for ids, own in zip(prompts(engine), found, strict=True):
        for completion in own:
            assert completion.prompt_tokens == len(ids)
            assert completion.response_tokens == len(completion.token_ids) <= 12
            assert (completion.finish_reason == "stop") == (completion.token_ids[-1] == 1)
            assert "<eos>" not in completion.text
    assert {completion.finish_reason for own in found for completion in own} == {"stop", "length"}


def test_the_same_seed_gives_the_same_samples_and_another_does_not(engine):
    again = SamplingParameters(**{name: getattr(PARAMS, name) for name in PARAMS.__slots__})
    other = SamplingParameters(temperature=1.0, top_p=1.0, max_tokens=12, samples=4, seed=8)
    assert engine.generate(prompts(engine), PARAMS) == engine.generate(prompts(engine), again)
    assert engine.generate(prompts(engine), PARAMS) != engine.generate(prompts(engine), other)


def test_the_samples_of_a_prompt_differ_from_each_other(engine):
    own = engine.generate(prompts(engine)[:1], PARAMS)[0]
    assert len({completion.token_ids for completion in own}) > 1


def test_the_samples_of_a_prompt_do_not_depend_on_the_others_or_their_order(engine):
    asked = prompts(engine)
    together = engine.generate(asked, PARAMS)
    assert engine.generate(asked[::-1], PARAMS)[::-1] == together
    assert [engine.generate([ids], PARAMS)[0] for ids in asked] == together


def test_progress_counts_prompts_to_the_end(engine, monkeypatch):
    monkeypatch.setattr("benchmark.evaluation.engines.transformers.ROWS_PER_BATCH", 8)
    seen = []
    engine.generate(prompts(engine), PARAMS, lambda done, total: seen.append((done, total)))
    assert seen == [(2, 4), (4, 4)]


def test_a_prompt_without_room_for_the_response_is_refused(engine):
    long = SamplingParameters(temperature=1.0, top_p=1.0, max_tokens=125, samples=1, seed=0)
    with pytest.raises(DataError, match=r"found 12 tokens \+ max_tokens 125, allowed 128"):
        engine.generate(prompts(engine, ["123456789?"]), long)


def test_a_model_without_a_chat_template_is_refused(tiny_model_dir, tmp_path):
    folder = tmp_path / "bare"
    shutil.copytree(tiny_model_dir, folder)
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    config = json.loads((folder / "tokenizer_config.json").read_text())
    config.pop("chat_template", None)
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    with pytest.raises(DataError, match="no chat template"):
        make_engine("transformers", folder, threads=1).render([{"role": "user", "content": "1"}])


def test_an_unknown_engine_is_named_with_the_nearest_one(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'transformers'"):
        make_engine("transformer", tmp_path, threads=1)
