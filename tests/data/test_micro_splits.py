"""The parts of the micro world: disjoint, balanced, nested."""

from collections import Counter

import pytest

from benchmark.data.micro import splits
from benchmark.data.micro.questions import FAMILIES, ID_FAMILIES
from benchmark.data.micro.splits import Part, part
from benchmark.errors import DataError


def texts(questions):
    return [question.text for question in questions]


def test_pool_panel_and_benchmarks_are_disjoint_and_free_of_duplicates():
    groups = [splits.training_pool(1536), splits.validation_panel(198)]
    groups += [splits.benchmark_items(family, 100) for family in FAMILIES]
    everything = [text for group in groups for text in texts(group)]
    assert len(everything) == len(set(everything)) == 1536 + 198 + 900


@pytest.mark.parametrize(
    ("text", "expected"),  # sha256sum of the text, modulo 100 with bc: 19, 20, 29, 30
    [("1+1?", Part.BENCHMARK), ("346+1?", Part.PANEL), ("47+1?", Part.PANEL), ("160*3?", Part.TRAIN)],
)
def test_the_part_of_a_text_is_its_hash_modulo_100(text, expected):
    assert part(text) is expected


def test_parts_have_their_shares():
    shares = Counter(part(f"{i}?") for i in range(20_000))
    assert shares[Part.TRAIN] / 20_000 == pytest.approx(0.70, abs=0.02)
    assert shares[Part.BENCHMARK] / 20_000 == pytest.approx(0.20, abs=0.02)


@pytest.mark.parametrize("size", [1, 7, 192])
def test_a_smaller_pool_is_a_prefix_of_a_larger_one(size):
    assert splits.training_pool(size) == splits.training_pool(1536)[:size]


def test_a_pool_is_balanced_over_families_and_levels():
    pool = splits.training_pool(1536)
    assert Counter(q.family for q in pool) == dict.fromkeys(ID_FAMILIES, 256)
    small = Counter((q.family, q.level) for q in splits.training_pool(180))
    assert set(small.values()) == {10}


def test_a_pool_of_thousands_goes_on_after_small_families_run_dry():
    pool = texts(splits.training_pool(4000))
    assert len(set(pool)) == 4000


def test_more_items_than_the_world_holds_are_refused_with_the_number_it_holds():
    with pytest.raises(DataError, match=r"found \d+, wanted 5000; fix: ask for at most \d+"):
        splits.benchmark_items("mod", 5000)


@pytest.mark.parametrize("size", [0, -3])
def test_a_size_below_one_is_refused(size):
    with pytest.raises(DataError, match="fix: ask for 1 or more"):
        splits.training_pool(size)
