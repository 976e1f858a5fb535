"""Evaluation protocols by name: how many samples of each benchmark, at which temperature.

Sibling papers differ in exactly this, so a score without its protocol compares with nothing. The section eval of a
profile names a protocol and leaves samples, temperature, top_p and max_tokens null to follow it; a value given there
wins, and `deviations` says so beside the results. What a protocol does not state, nobody guesses: it must be given.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from benchmark.errors import SuiteError, unknown_name
from benchmark.stage import canonical_json
from benchmark.suite.spec import EvalSpec


@dataclass(frozen=True, slots=True)
class Protocol:
    """How a group of papers evaluates."""

    name: str
    source: str  # where that is stated
    samples: Mapping[str, int]  # benchmark -> n of avg@n
    temperature: float
    top_p: float
    max_tokens: int
    items: int = 0  # per benchmark; 0 means all


def _samples(**groups: int) -> Mapping[str, int]:
    """Map benchmarks to n; a name with double underscores stands for several."""
    return MappingProxyType({name: n for names, n in groups.items() for name in names.split("__")})


_COMPETITIONS = "aime24__aime25__amc__amc23"
_MATH = "math500__minerva__olympiad"
_MICRO = "add__sub__mul__chain__mod__cmp__words__long__compose"

PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(
    {
        protocol.name: protocol
        for protocol in (
            Protocol(
                "de_venus",
                "DE-Venus 4.1; the token limit is not published: 4096 as in OLR",
                _samples(**{_COMPETITIONS: 32, _MATH: 4, "arc_challenge__gpqa_diamond": 4, "mmlu_pro": 1}),
                temperature=0.6,
                top_p=1.0,
                max_tokens=4096,
            ),
            Protocol(
                "trapo",
                "TraPO, as LUFFY: 32 repeated rows, all else once; scripts state 8192 tokens",
                _samples(**{_COMPETITIONS: 32, _MATH: 1, "arc_challenge__gpqa_diamond__mmlu_pro": 1}),
                temperature=0.6,
                top_p=1.0,
                max_tokens=8192,
            ),
            Protocol(
                "olr",
                "OLR: paper for n, script for the rest",
                _samples(**{_COMPETITIONS: 8, _MATH: 1, "arc_challenge__gpqa_diamond__mmlu_pro": 1}),
                temperature=0.6,
                top_p=1.0,
                max_tokens=4096,
            ),
            Protocol(
                "ttrl",
                "TTRL: 16 samples, nucleus sampling in validation; base models answer in 3072 tokens",
                _samples(**{_COMPETITIONS: 16, _MATH: 16, "gpqa_diamond": 16}),
                temperature=0.6,
                top_p=0.95,
                max_tokens=3072,
            ),
            Protocol(
                "micro",
                "this project's generated benchmarks",
                _samples(**{_MICRO: 8}),
                temperature=0.6,
                top_p=1.0,
                max_tokens=40,
                items=100,
            ),
        )
    }
)

FROM_PROTOCOL = ("temperature", "top_p", "max_tokens")


def protocol_named(name: str) -> Protocol:
    """Return a protocol by its name.

    Raises UnknownNameError, with the nearest name.
    """
    if name not in PROTOCOLS:
        raise unknown_name("evaluation protocol", name, PROTOCOLS)
    return PROTOCOLS[name]


def follow_protocol(section: Mapping[str, Any]) -> dict[str, Any]:
    """Fill what the section eval leaves null from its protocol, and freeze the samples as text.

    Samples given as a number hold for every benchmark, as a mapping for those that it names. The text is the number
    where all benchmarks have the same, else canonical JSON of {benchmark: n}: equal requests are equal cells. Raises
    UnknownNameError for an unknown protocol or benchmark, SuiteError where no n is stated or it is no positive number.
    """
    found = dict(section)
    if not isinstance(found.get("protocol"), str):
        return found  # the type check of the section explains it
    protocol = protocol_named(found["protocol"])
    found |= {key: getattr(protocol, key) for key in FROM_PROTOCOL if key in found and found[key] is None}
    names = found.get("benchmarks")
    if "samples" in found and isinstance(names, list):
        found["samples"] = _frozen({str(name): _n(str(name), found["samples"], protocol, names) for name in names})
    return found


def deviations(evaluation: EvalSpec) -> tuple[str, ...]:
    """Say in words where an evaluation differs from the protocol that it names, such as "4 samples of aime24, not 32".

    Raises UnknownNameError where the protocol is not known.
    """
    protocol = protocol_named(evaluation.protocol)
    given = samples_by_benchmark(evaluation)
    found = [
        f"{n} samples of {name}, not {protocol.samples[name]}"
        for name, n in given.items()
        if protocol.samples.get(name, n) != n
    ]
    uncovered = [name for name in given if name not in protocol.samples]
    found += [f"{given[name]} samples of {name}, which it does not cover" for name in uncovered]
    for key in FROM_PROTOCOL:
        if getattr(evaluation, key) != getattr(protocol, key):
            found.append(f"{key} {getattr(evaluation, key):g}, not {getattr(protocol, key):g}")
    if evaluation.items != protocol.items:
        found.append(f"{evaluation.items or 'all'} items of a benchmark, not {protocol.items or 'all'}")
    return tuple(found)


def samples_by_benchmark(evaluation: EvalSpec) -> dict[str, int]:
    """Return n of each benchmark of an evaluation."""
    samples = json.loads(evaluation.samples)
    return {name: samples if isinstance(samples, int) else samples[name] for name in evaluation.benchmarks}


def _n(name: str, given: Any, protocol: Protocol, names: list[str]) -> int:
    key = "eval.samples"
    if isinstance(given, Mapping):
        for other in given:
            if other not in names:
                raise unknown_name(f"benchmark in {key}", str(other), names)
        key, given = f"{key}.{name}", given.get(name)
    n = protocol.samples.get(name) if given is None else given
    if n is None:
        raise SuiteError(
            f"eval.samples: found none for {name!r}, which protocol {protocol.name!r} does not cover; "
            f"fix: set for example eval.samples={{{name}: 4}}, or leave it out of eval.benchmarks"
        )
    if type(n) is not int:
        raise SuiteError(f"{key}: found {n!r}, allowed a whole number; fix: correct its type")
    if n < 1:
        raise SuiteError(f"{key}: found {n}, allowed 1 or more; fix: raise it")
    return n


def _frozen(samples: Mapping[str, int]) -> str:
    distinct = set(samples.values())
    return str(distinct.pop()) if len(distinct) == 1 else canonical_json(dict(samples))
