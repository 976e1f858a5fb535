from dataclasses import asdict
from pathlib import Path

import pytest
import yaml

from methods.registry import build_method, method_names

CONFIGS = Path(__file__).parents[2] / "configs" / "method"
REGISTERED = [path for path in sorted(CONFIGS.glob("*.yaml")) if path.stem in method_names()]


@pytest.mark.parametrize("path", REGISTERED, ids=lambda path: path.stem)
def test_a_config_states_every_option_of_its_method_at_its_default(path):
    assert yaml.safe_load(path.read_text()) == {
        "name": path.stem,
        "options": asdict(build_method(path.stem, {}).options),
    }


@pytest.mark.parametrize("path", REGISTERED, ids=lambda path: path.stem)
def test_a_config_can_be_built_and_starts_with_what_the_method_is(path):
    text = path.read_text()
    config = yaml.safe_load(text)
    assert build_method(config["name"], config["options"]).name == path.stem
    assert text.startswith("# ")


def test_the_baselines_have_configs():
    assert {"grpo", "labeled_only", "ttrl"} <= {path.stem for path in REGISTERED}
