import numpy as np

from methods.random_keys import split_mix, uniforms


def test_the_hash_agrees_with_the_published_outputs_of_splitmix64():
    # outputs of the generator seeded with 0 and with 1234567, and the latter's second output (state + gamma)
    gamma = 0x9E3779B97F4A7C15
    states = np.array([0, 1234567, 1234567 + gamma], dtype=np.uint64)
    assert split_mix(states).tolist() == [0xE220A8397B1DCDAF, 6457827717110365317, 3203168211198807973]


def numbers(seed=0, step=1, index=(5, 6), rollout=((0, 1, 2), (0, 1, 2))):
    return uniforms(seed, step, np.array(index), np.array(rollout))


def test_every_part_of_the_key_changes_the_numbers():
    base = numbers()
    for other in (numbers(seed=1), numbers(step=2), numbers(index=(7, 8)), numbers(rollout=((3, 4, 5), (3, 4, 5)))):
        assert not np.isin(other, base).any()


def test_a_number_belongs_to_its_item_and_rollout_not_to_its_position():
    moved = numbers(index=(6, 5), rollout=((2, 0, 1), (2, 0, 1)))
    assert moved.tolist() == numbers()[[1, 0]][:, [2, 0, 1]].tolist()


def test_numbers_fill_the_unit_interval_evenly():
    drawn = uniforms(3, 9, np.arange(1000), np.tile(np.arange(64), (1000, 1)))
    assert drawn.min() >= 0
    assert drawn.max() < 1
    # 64,000 draws: the share of a tenth has a standard deviation of .0012, five of them are .006
    shares = np.histogram(drawn, bins=10, range=(0, 1))[0] / drawn.size
    assert np.abs(shares - 0.1).max() < 0.006


def test_negative_seeds_and_indices_are_keys_like_any_other():
    assert np.isfinite(numbers(seed=-1, index=(-5, 2**62))).all()
    assert not np.isin(numbers(seed=-1), numbers(seed=1)).any()
