"""The files that `venus new-method` writes, as they are before the name is put in.

Texts in a module rather than files beside it: there is nothing to package, and the tests of the scaffold run what these
texts become. `$name` is the name of the method, `$cls` its class.
"""

from string import Template
from typing import Final

METHOD: Final = Template('''\
"""$cls: say in one sentence what the method does, and where it comes from (title, arXiv id, section).

Below is a method that works: an unlabelled prompt takes the majority answer of its group as its target, and takes part
in the update only if that majority is clear. Replace it by your own, and name every deliberate difference to
the paper here.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from methods.base import Method, Module, SourceConfidence
from methods.groups import RolloutGroups, Targets
from methods.pseudo_labels import majority_targets


@dataclass(frozen=True, slots=True)
class Options:
    """Every option has a default; what a suite sets becomes part of the identity of its cells."""

    min_share: float = 0.5  # share of a group that must agree, in [0, 1]

    def __post_init__(self) -> None:
        """Raise ValueError, in one line, for a value that makes no sense."""
        if not 0.0 <= self.min_share <= 1.0:
            raise ValueError(f"min_share: found {self.min_share:g}, allowed 0 to 1; fix: write a share, such as 0.5")


class $cls(Method):
    """Majority vote over the group of an unlabelled prompt, used where it is clear."""

    name = "$name"
    version = 1  # bump it when the behaviour changes: it is part of the identity of a cell
    summary = "majority answer of the group as pseudo label, where it is clear"
    module = Module.REFINEMENT
    confidence = SourceConfidence.RECONSTRUCTION
    Options = Options

    def targets(self, groups: RolloutGroups) -> Targets:
        """Given label if labelled, else the unique majority answer, else no target."""
        return majority_targets(groups)

    def admit(self, groups: RolloutGroups, targets: Targets) -> NDArray[np.bool_]:
        """Admit [B] every labelled prompt, and an unlabelled one if enough of its rollouts agree."""
        return groups.labelled | (np.nan_to_num(targets.confidence) >= self.options.min_share)
''')

CONFIG: Final = Template("""\
# $name: say what the method is, and its source.
name: $name
options:
  min_share: 0.5  # say where the value comes from: the paper (section), the authors' code, or a choice of yours
""")

_TEST_BODY: Final = """\
def test_a_clear_majority_is_the_target_and_is_admitted():
    step = make_groups([["4", "4", "4", "5"]])  # 3 of 4 agree: 0.75
    targets = $cls().targets(step)
    assert targets.values == ("4",)
    assert targets.confidence.tolist() == [0.75]
    assert $cls().admit(step, targets).tolist() == [True]


def test_a_majority_below_the_share_is_left_out():
    step = make_groups([["4", "4", "4", "5"]])
    method = $cls($cls.Options(min_share=0.8))
    assert method.admit(step, method.targets(step)).tolist() == [False]


def test_a_labelled_prompt_keeps_its_label_and_is_always_admitted():
    step = make_groups([["4", "5", "6", "7"]], labels=["9"])
    targets = $cls().targets(step)
    assert targets.values == ("9",)
    assert $cls().admit(step, targets).tolist() == [True]


def test_a_share_above_one_is_refused():
    with pytest.raises(ValueError, match="min_share: found 2, allowed 0 to 1"):
        $cls.Options(min_share=2.0)
"""

BUILT_IN_TEST: Final = Template(
    '''\
"""$cls by hand. The rules that hold for every method are checked by tests/contract."""

import pytest
from rollouts import make_groups

from methods.$name import $cls


'''
    + _TEST_BODY
)

PLUGIN_TEST: Final = Template(
    '''\
"""$cls by hand. The rules that hold for every method are checked by tests/contract, in a checkout of venus."""

from pathlib import Path

import numpy as np
import pytest

from methods.groups import GivenLabels, RolloutGroups
from methods.registry import method_class, use_plugins

use_plugins([str(Path(__file__).with_name("$name.py"))])
$cls = method_class("$name")


def make_groups(answers, labels=None):
    labels = labels or [None] * len(answers)
    size = (len(answers), len(answers[0]))
    return RolloutGroups(
        index=np.arange(size[0]),
        labelled=np.array([label is not None for label in labels]),
        labels=GivenLabels(labels),
        answers=tuple(tuple(row) for row in answers),
        lengths=np.full(size, 5),
        rollout=np.tile(np.arange(size[1]), (size[0], 1)),
        step=1,
        epoch=0,
    )


'''
    + _TEST_BODY
)
