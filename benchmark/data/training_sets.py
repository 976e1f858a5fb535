"""The public training sets: licence, what is known to be wrong with them, and their recipe in configs/data.

A recipe states the number of rows and the hash of what they say, so another file is refused; what a published file
repeats or lacks is left as it is and counted, because the papers trained on it so.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.errors import DataError, unknown_name


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """A training set; its name is that of its file in configs/data."""

    name: str
    description: str
    licence: str
    note: str = ""


TRAINING_SETS = (
    TrainingSet(
        "math_train",
        "the 7,500 training problems of MATH",
        "MIT",
        "two rows without an answer and two of unknown level",
    ),
    TrainingSet(
        "dapo14k",
        "DAPO-Math in English, integer answers, as used by Co-rewarding",
        "Apache-2.0",
        "the carrier calls its rows MATH-lighteval, which they are not",
    ),
    TrainingSet("olr800", "the 800 rows of DAPO-14k on which OLR trains with noisy labels", "Apache-2.0"),
    TrainingSet("gsm8k_train", "grade-school word problems", "MIT"),
    TrainingSet("deepmath", "DeepMath-103K of difficulty 6 and more (DE-Venus 4.1); from the hub only", "MIT"),
)


def read_recipe(name: str, configs: Path) -> tuple[str, dict[str, Any]]:
    """Read source and recipe of a training set from configs/data.

    Raises UnknownNameError for a name without a file, DataError for a file that states none.
    """
    import yaml

    path = configs / "data" / f"{name}.yaml"
    if not path.is_file():
        raise unknown_name("training set", name, (file.stem for file in path.parent.glob("*.yaml")))
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict) or not isinstance(found.get("recipe"), dict):
        raise DataError(f"{path.name} has no recipe: found {found!r}, allowed a mapping; fix: see deepmath.yaml")
    return str(found.get("source")), found["recipe"]
