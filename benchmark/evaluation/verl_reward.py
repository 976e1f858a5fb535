"""The grader of training in the shape that verl calls as a custom reward function (no verl import needed).

It compares texts and exact numbers only (`grade_in_process`): a reward means the same as a vote, and no process has to
be started inside verl's reward loop. `benchmark.evaluation.grader` says why that holds for every profile.
"""

from typing import Any

from benchmark.evaluation.grader import Verdict, grade_in_process


def score_response(
    data_source: str,
    solution_str: str,
    ground_truth: str | None,
    extra_info: dict[str, Any] | None = None,
    **kwargs: Any,
) -> dict[str, float | str]:
    """Score one response: 1 where it is correct, else 0.

    An empty ground truth, which is what an unlabelled row carries, scores 0. Arguments are verl's;
    those that do not change the verdict are accepted and ignored. verl averages `acc` in validation and writes
    `pred` (empty without an answer) into its dumps.
    """
    record = grade_in_process(solution_str, ground_truth or "")
    score = float(record.verdict is Verdict.CORRECT)
    return {"score": score, "acc": score, "pred": record.extracted or ""}
