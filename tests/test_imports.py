import subprocess
import sys


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_transformers_still_imports_scikit_learn_by_itself():
    """Where this fails, `benchmark.imports` is no longer needed."""
    assert run("import sys, transformers.generation.candidate_generator; print('sklearn' in sys.modules)") == "True"


def test_transformers_loads_without_scikit_learn_and_it_can_be_imported_afterwards():
    code = (
        "import sys\n"
        "from benchmark.imports import scikit_learn_hidden\n"
        "with scikit_learn_hidden():\n"
        "    import transformers.generation.candidate_generator\n"
        "print('sklearn' in sys.modules)\n"
        "import sklearn.mixture\n"
        "print(sklearn.mixture.GaussianMixture.__name__)"
    )
    assert run(code).split() == ["False", "GaussianMixture"]


def test_what_is_loaded_already_stays_loaded():
    code = (
        "import sklearn\n"
        "from benchmark.imports import scikit_learn_hidden, hide_scikit_learn\n"
        "hide_scikit_learn()\n"
        "with scikit_learn_hidden():\n"
        "    import sklearn.isotonic\n"
        "print(sklearn.isotonic.__name__)"
    )
    assert run(code) == "sklearn.isotonic"
