"""Overlap of a training pool with benchmarks: equal questions, and questions that share 13 words in a row.

Two counts, because each errs on its own side: an equal question is a leak, but a reworded one is missed; a shared
13-gram finds those, and also the boilerplate of competitions ("m and n are relatively prime positive integers").
Questions are compared by the letters and digits of any script, in lower case, so LaTeX spelling does not hide a
leak. Where symbols carry the meaning (6+4? and 6*4?), the text is compared as written instead.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmark.data.content import normalise_question

GRAM = 13
"""Words in a row that two questions must share, as in the reports on GPT-3 and later models."""

_WORD = re.compile(r"[^\W_]+")
_WORDS_THAT_SPEAK = 2


def question_fingerprint(question: str) -> str:
    """Return the text by which a leaked question is recognised."""
    words = question_words(question)
    if sum(len(word) > 1 and word.isalpha() for word in words) < _WORDS_THAT_SPEAK:
        return normalise_question(question)
    return "".join(words)


def question_words(question: str) -> list[str]:
    """Split a question into runs of letters and digits, in lower case."""
    return _WORD.findall(question.lower())


def repeated_questions(questions: Iterable[str]) -> int:
    """Count the questions that repeat an earlier one, whatever their LaTeX and punctuation."""
    texts = [question_fingerprint(question) for question in questions]
    return len(texts) - len(set(texts))


def overlap_report(pool_questions: Sequence[str], items: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Count the items of each benchmark that a training pool contains or resembles.

    `items` have the keys benchmark, item_id and question (as in artifacts.BENCHMARKS_SCHEMA). Returns {"pool": rows,
    "gram": 13, "benchmarks": {name: {"items", "exact", "grams", "exact_items": ids, "gram_items": ids}}}: ids, never
    texts. An instruction that ends every question of the pool is left out of the comparison.
    """
    suffix = _shared_ending(pool_questions)
    bare = [question.removesuffix(suffix) for question in pool_questions] if suffix else list(pool_questions)
    texts = {question_fingerprint(question) for question in (*bare, *(pool_questions if suffix else ()))}
    grams = {gram for question in bare for gram in _grams(question)}
    found: dict[str, dict[str, Any]] = {}
    for item in items:
        own = found.setdefault(
            item["benchmark"], {"items": 0, "exact": 0, "grams": 0, "exact_items": [], "gram_items": []}
        )
        own["items"] += 1
        if question_fingerprint(item["question"]) in texts:
            own["exact"] += 1
            own["exact_items"].append(item["item_id"])
        if not grams.isdisjoint(_grams(item["question"])):
            own["grams"] += 1
            own["gram_items"].append(item["item_id"])
    return {"pool": len(pool_questions), "gram": GRAM, "benchmarks": found}


def _grams(question: str) -> Iterable[int]:
    words = question_words(question)
    return (hash(tuple(words[i : i + GRAM])) for i in range(len(words) - GRAM + 1))


def _shared_ending(questions: Sequence[str]) -> str:
    """Return the text with which all questions end: the instruction that a recipe appends."""
    if len(questions) < 2:
        return ""
    backwards = [question[::-1] for question in questions]
    first, last = min(backwards), max(backwards)  # what these two share, all share
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:same][::-1]
