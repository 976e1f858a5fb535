"""Small inputs of the data stages, written by hand."""

import json

from benchmark import artifacts
from benchmark.data.schema import read_rows, write_rows


def pool_row(index, answer, question=None, paraphrase=""):
    return {
        "index": index,
        "question": question or f"question {index}",
        "answer": answer,
        "family": "",
        "level": -1,
        "paraphrase": paraphrase,
    }


def write_pool(folder, rows, panel=()):
    folder.mkdir(parents=True)
    write_rows(folder / artifacts.POOL, rows, artifacts.POOL_SCHEMA)
    write_rows(folder / artifacts.PANEL, panel, artifacts.POOL_SCHEMA)
    return folder


def write_probe(folder, answers):
    """Write the probe of a policy that gave `answers` (index -> answers, None where a response has none)."""
    folder.mkdir(parents=True)
    nothing = dict.fromkeys(("entropy", "self_certainty", "attention", "hidden_states"))
    rows = [
        {
            "index": index,
            "sample": sample,
            "response": "",
            "answer": answer,
            "finish_reason": "stop",
            "response_tokens": 1,
            **nothing,
        }
        for index, given in answers.items()
        for sample, answer in enumerate(given)
    ]
    write_rows(folder / artifacts.PROBE, rows, artifacts.PROBE_SCHEMA)
    (folder / artifacts.PROBE_INFO).write_text(json.dumps({"layers": 0, "width": 0}))
    return folder


def write_selection(folder, routes, probed=(), scoring=0):
    """Write the selection that sent each index (index -> route) there, probed some and bought labels to score."""
    folder.mkdir(parents=True)
    rows = [
        {"index": index, "score": float(-rank), "rank": rank, "route": route, "probed": index in probed}
        for rank, (index, route) in enumerate(routes.items())
    ]
    write_rows(folder / artifacts.SELECTION, rows, artifacts.SELECTION_SCHEMA)
    annotated = {index for index, route in routes.items() if route == "annotate"}
    cost = {"annotate": len(annotated), "probes": len(set(probed) - annotated), "scoring": scoring}
    (folder / artifacts.SELECTION_INFO).write_text(json.dumps({"label_cost": cost}))
    return folder


def training_rows(folder):
    return read_rows(folder / artifacts.TRAIN, artifacts.VERL_SCHEMA)


def training_labels(folder):
    """Return the label of each training row by index, None where it is unlabelled."""
    return {
        row["extra_info"]["index"]: row["reward_model"]["ground_truth"] if row["extra_info"]["labeled"] else None
        for row in training_rows(folder)
    }


def truth_sidecar(folder):
    return {row["index"]: row["answer"] for row in read_rows(folder / artifacts.TRUTH, artifacts.TRUTH_SCHEMA)}


def supervision(folder):
    return json.loads((folder / artifacts.SUPERVISION_INFO).read_text())
