"""What each stage leaves on disk: file names, columns and keys.

A stage reads the files of its inputs and writes the files named here into its output folder.
Writers and readers of an artifact share nothing but this page, so it is the contract between the
packages: change a column here and bump the version of the stage in `benchmark.runs.stages`.

    base_model   model/ (a Hugging Face folder), base_model.json
    pool         pool.parquet, panel.parquet (questions with their answers), pool.json
    benchmarks   benchmarks.parquet
    probe        probe.parquet, probe.json
    select       selection.parquet, selection.json
    supervise    train.parquet, panel.parquet (verl's schema), truth.parquet, supervision.json
    transition   the files of supervise, and manifest.parquet
    train        model/, metrics.parquet, decisions.parquet, train.json, and checkpoint/ if a round follows
    generate     samples.parquet, generate.json
    grade        verdicts.parquet, grade.json
    record       items.parquet, record.json
"""

import pyarrow as pa

MODEL_DIR = "model"
BASE_MODEL_INFO = "base_model.json"

POOL = "pool.parquet"
POOL_INFO = "pool.json"
PANEL = "panel.parquet"
POOL_SCHEMA = pa.schema(
    [
        ("index", pa.int64()),  # derived from the content: stable under reordering, unique
        ("question", pa.string()),  # what the user turn of the prompt says
        ("answer", pa.string()),  # the truth
        ("family", pa.string()),  # topic or source within the pool
        ("level", pa.int64()),  # difficulty, -1 where the source has none
        ("paraphrase", pa.string()),  # the same question in other words, "" where there is none
    ]
)

PROBE = "probe.parquet"
PROBE_INFO = "probe.json"
PROBE_SCHEMA = pa.schema(
    [
        ("index", pa.int64()),
        ("sample", pa.int64()),  # 0 .. n-1
        ("response", pa.string()),
        ("answer", pa.string()),  # null where there is none
        ("finish_reason", pa.string()),  # stop | length
        ("response_tokens", pa.int64()),
        # Evidence, null where it was not asked for: a value per response token, in nats (attention: a share) ...
        ("entropy", pa.list_(pa.float32())),
        ("self_certainty", pa.list_(pa.float32())),
        ("attention", pa.list_(pa.float32())),
        # ... and the hidden states averaged over the response, [layers + 1, width] in one row, embeddings first.
        ("hidden_states", pa.list_(pa.float32())),
    ]
)

SELECTION = "selection.parquet"
SELECTION_INFO = "selection.json"
SELECTION_SCHEMA = pa.schema(
    [
        ("index", pa.int64()),
        ("score", pa.float64()),  # uncertainty: higher is less certain
        ("rank", pa.int64()),  # 0 is the least certain
        ("route", pa.string()),  # annotate | unlabelled | discard
        ("probed", pa.bool_()),  # its label was bought to calibrate the thresholds
    ]
)

BENCHMARKS = "benchmarks.parquet"
BENCHMARKS_SCHEMA = pa.schema(
    [
        ("benchmark", pa.string()),
        ("group", pa.string()),  # id | ood | none
        ("item_id", pa.string()),  # content hash
        ("question", pa.string()),  # as the benchmark words it
        ("prompt", pa.string()),  # the user turn that is sent
        ("gold", pa.string()),  # multiple choice: a letter
        ("kind", pa.string()),  # math | multiple_choice
        ("choices", pa.list_(pa.string())),  # in the order of the prompt; null for math
        ("tolerance", pa.string()),  # absolute, where the benchmark states one; else null
    ]
)

TRAIN = "train.parquet"
TRUTH = "truth.parquet"
SUPERVISION_INFO = "supervision.json"
# verl's own schema. An unlabelled row has reward_model.ground_truth == "" and labeled == False.
VERL_SCHEMA = pa.schema(
    [
        ("data_source", pa.string()),
        ("prompt", pa.list_(pa.struct([("content", pa.string()), ("role", pa.string())]))),
        ("ability", pa.string()),
        ("reward_model", pa.struct([("ground_truth", pa.string()), ("style", pa.string())])),
        (
            "extra_info",
            pa.struct(
                [
                    ("index", pa.int64()),
                    ("labeled", pa.bool_()),
                    ("pair", pa.int64()),  # index of the row with its paraphrase, -1 where there is none
                    ("split", pa.string()),
                ]
            ),
        ),
    ]
)
TRUTH_SCHEMA = pa.schema([("index", pa.int64()), ("answer", pa.string())])

MANIFEST = "manifest.parquet"
MANIFEST_SCHEMA = pa.schema(  # every change of label so far, oldest round first
    [
        ("round", pa.int64()),  # the round after which it was decided, 0-based
        ("index", pa.int64()),
        ("kind", pa.string()),  # promoted | relabelled
        ("label", pa.string()),
        ("previous", pa.string()),  # null where there was no label
        ("pass_rate", pa.float64()),
        ("slope", pa.float64()),
        ("margin", pa.float64()),  # NaN where there was no label
    ]
)

METRICS = "metrics.parquet"
METRICS_SCHEMA = pa.schema([("step", pa.int64()), ("key", pa.string()), ("value", pa.float64())])
PANEL_ACCURACY = "panel/accuracy"  # metric key: accuracy on the validation panel, in [0, 1]
TRAIN_REWARD = "critic/score/mean"  # metric key: mean score that the step was trained on

DECISIONS = "decisions.parquet"
DECISIONS_SCHEMA = pa.schema(
    [
        ("step", pa.int64()),
        ("index", pa.int64()),
        ("labelled", pa.bool_()),
        ("target", pa.string()),  # null where there is none
        ("target_source", pa.string()),  # given | pseudo | refined | none
        ("confidence", pa.float64()),  # NaN where the method states none
        ("target_is_true", pa.bool_()),  # diagnostics only: null where there is no target
        ("label_is_true", pa.bool_()),  # diagnostics only: null for an unlabelled item
        ("admitted", pa.float64()),  # share of the group's rollouts that were admitted
        ("pass_rate", pa.float64()),  # against the target
        ("true_pass_rate", pa.float64()),  # diagnostics only: against the truth
        ("weight", pa.float64()),  # advantage weight in [0, 1]
    ]
)
TRAIN_INFO = "train.json"
CHECKPOINT = "checkpoint"  # folder, where another round follows

SAMPLES = "samples.parquet"
SAMPLES_SCHEMA = pa.schema(
    [
        ("benchmark", pa.string()),
        ("item_id", pa.string()),
        ("sample", pa.int64()),  # 0 .. n-1
        ("prompt_hash", pa.string()),
        ("response", pa.string()),
        ("finish_reason", pa.string()),  # stop | length
        ("prompt_tokens", pa.int64()),
        ("response_tokens", pa.int64()),
    ]
)
GENERATE_INFO = "generate.json"

VERDICTS = "verdicts.parquet"
VERDICTS_SCHEMA = pa.schema(
    [
        ("benchmark", pa.string()),
        ("group", pa.string()),
        ("item_id", pa.string()),
        ("sample", pa.int64()),
        ("verdict", pa.string()),  # see benchmark.evaluation.grader.Verdict
        ("extracted", pa.string()),  # null where nothing was found
        ("method", pa.string()),  # layer of the grader that decided
        ("choice", pa.string()),  # label of the chosen option; null for math and where no option is named
        ("second", pa.string()),  # verdict of the second grader; null where the gold is invalid
    ]
)
GRADE_INFO = "grade.json"

ITEMS = "items.parquet"
ITEMS_SCHEMA = pa.schema(
    [
        ("benchmark", pa.string()),
        ("group", pa.string()),
        ("item_id", pa.string()),
        ("responses", pa.int64()),  # that exist
        ("samples", pa.int64()),  # n: those whose gold can be compared with
        ("correct", pa.int64()),  # c of n
        ("majority", pa.float64()),  # expected correctness of the majority answer, ties split
    ]
)
RECORD = "record.json"
