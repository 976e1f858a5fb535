from itertools import chain, islice

import pytest

from benchmark.errors import DataError
from benchmark.training.batches import BatchSampler, Row


def batches(rows, prompts, share=0.0, seed=0, count=6):
    order = iter(BatchSampler(rows, prompts, share, seed))
    return [list(islice(order, prompts)) for _ in range(count)]


PAIRED = [Row(100 + i, labelled=i < 4, pair=100 + (i ^ 1)) for i in range(12)]
MIXED = [Row(i, labelled=i < 5, pair=-1) for i in range(20)]


def test_a_question_and_its_paraphrase_are_in_one_batch():
    for batch in batches(PAIRED, 4):
        assert {PAIRED[i].pair for i in batch} == {PAIRED[i].index for i in batch}


def test_an_epoch_visits_every_row_once():
    assert sorted(chain.from_iterable(batches(PAIRED, 4, count=3))) == list(range(12))


def test_a_batch_has_the_labelled_share_that_was_asked_for():
    for batch in batches(MIXED, 8, share=0.25, count=10):
        assert sum(MIXED[i].labelled for i in batch) == 2


def test_no_batch_has_a_row_twice_even_where_a_deck_runs_out():
    for batch in batches(MIXED, 8, share=0.5, count=25):  # 4 of 5 labelled rows per batch
        assert len(set(batch)) == 8


def test_the_order_depends_on_the_seed_alone():
    assert batches(MIXED, 8, 0.25, seed=3) == batches(MIXED, 8, 0.25, seed=3)
    assert batches(MIXED, 8, 0.25, seed=3) != batches(MIXED, 8, 0.25, seed=4)


def test_pairs_and_a_labelled_share_go_together():
    for batch in batches(PAIRED, 4, share=0.5):
        assert sum(PAIRED[i].labelled for i in batch) == 2
        assert {PAIRED[i].pair for i in batch} == {PAIRED[i].index for i in batch}


@pytest.mark.parametrize(
    ("rows", "prompts", "share", "message"),
    [
        (PAIRED, 3, 0.0, "cannot hold pairs"),
        (MIXED, 16, 0.5, "asks for 8 labelled units: found 5"),
        ([*PAIRED, Row(1, False, -1)], 4, 0.0, "with and without a paraphrase"),
    ],
)
def test_a_batch_that_cannot_be_dealt_is_refused(rows, prompts, share, message):
    with pytest.raises(DataError, match=message):
        BatchSampler(rows, prompts, share, 0)


def test_verls_loader_resumes_where_it_stopped():
    from torchdata.stateful_dataloader import StatefulDataLoader

    def loader():
        return StatefulDataLoader(
            list(range(20)), batch_size=8, sampler=BatchSampler(MIXED, 8, 0.25, 0), drop_last=True
        )

    whole = [batch.tolist() for batch in islice(loader(), 6)]
    first, second = loader(), loader()
    iterator = iter(first)
    for _ in range(3):
        next(iterator)
    second.load_state_dict(first.state_dict())
    assert [batch.tolist() for batch in islice(second, 3)] == whole[3:]
