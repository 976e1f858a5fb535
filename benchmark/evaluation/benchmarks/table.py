"""The table of benchmarks: what each is, where it comes from, what it must hold, and what is known to be wrong with it.

Counts and content hashes pin the items: a file that says something else is refused (`loaders`). Defects that are kept
are listed here with the reason. The text of AIME and AMC questions belongs to the MAA; licences are those of the data,
not of the repository that carries them.
"""

from dataclasses import dataclass
from enum import StrEnum

from benchmark.errors import unknown_name
from benchmark.evaluation.benchmarks.defects import Defect, Known
from benchmark.evaluation.benchmarks.hub import HubSource


class Group(StrEnum):
    """The group over which benchmarks are averaged."""

    ID = "id"
    """In distribution: the kind of question that is trained on."""
    OOD = "ood"
    """Out of distribution: a kind of question that reinforcement learning never sees."""
    NONE = "none"
    """In no average."""


class Kind(StrEnum):
    """How an item is answered."""

    MATH = "math"
    """With a number or an expression."""
    MULTIPLE_CHOICE = "multiple_choice"
    """With the letter of an option."""


class Contamination(StrEnum):
    """What is known about the items in the pre-training of models."""

    GENERATED = "generated"
    """Made by this project from a seed: in nobody's corpus."""
    RECENT = "recent"
    """Published after the pre-training of the oldest models that are compared, before that of the newest."""
    PUBLIC = "public"
    """On the web for years, with answers: presumably seen."""
    MEMORISED = "memorised"
    """Shown to be recited: Qwen2.5-Math-7B completes 54.6% of MATH-500 questions verbatim (arXiv 2507.10532), and
    random rewards seem to help Qwen2.5 on MATH-500, AMC and AIME24."""


MATH_PROMPT = "{question} Let's think step by step and output the final answer within \\boxed{{}}."
"""The instruction that training questions end with too (configs/data): the format is not what is measured."""

CHOICE_PROMPT = (
    "{question}\n\n{options}\n\nLet's think step by step and output the letter of the right option within \\boxed{{}}."
)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark; the name of a micro benchmark is the family of its questions."""

    name: str
    group: Group
    description: str
    items: int = 0  # 0: as many as are asked for (generated)
    content_hash: str = ""  # see items.content_hash
    licence: str = "Apache-2.0"
    contamination: Contamination = Contamination.GENERATED
    kind: Kind = Kind.MATH
    prompt: str = "{question}"
    file: str = ""  # below the data directory
    hub: HubSource | None = None
    integers: bool = False  # every gold is a whole number
    usual_options: int = 0
    shuffled: bool = False  # options are shown in an order that follows from the id of the item
    restricted: bool = False  # its text must not appear in plain form, in logs and errors neither
    known: tuple[Known, ...] = ()

    @property
    def generated(self) -> bool:
        """Say whether the items are made rather than read."""
        return not self.file


MICRO_BENCHMARKS = (
    Benchmark("add", Group.ID, "sums of two numbers of up to three digits"),
    Benchmark("sub", Group.ID, "differences of two numbers of up to three digits"),
    Benchmark("mul", Group.ID, "products of a digit and a number up to 99"),
    Benchmark("chain", Group.ID, "two operations with precedence"),
    Benchmark("mod", Group.ID, "remainders by divisors from 3 to 12"),
    Benchmark("cmp", Group.ID, "the largest of two or three numbers, or the middle of three"),
    Benchmark("words", Group.OOD, "sums, differences and products of numbers in words"),
    Benchmark("long", Group.OOD, "sums, differences and products with longer operands"),
    Benchmark("compose", Group.OOD, "the remainder of a sum or product"),
)

_MAA = "question text (c) MAA; answers are facts"

PUBLIC_BENCHMARKS = (
    Benchmark(
        "aime24",
        Group.ID,
        "American Invitational Mathematics Examination 2024, I and II",
        items=30,
        content_hash="f750e68cbaaea2305b6d1e6202f640f1b09d44c88a2c010e2e9da7403e1190fe",
        integers=True,
        licence=_MAA,
        contamination=Contamination.MEMORISED,
        prompt=MATH_PROMPT,
        file="aime24/test.jsonl",
        hub=HubSource("HuggingFaceH4/aime_2024", split="train", question="problem"),
    ),
    Benchmark(
        "aime25",
        Group.ID,
        "American Invitational Mathematics Examination 2025, I and II, in the wording of math-ai",
        items=30,
        content_hash="aee0ff467caa155e54d89d032ab4757b31f6ea8058ac7afb45d285330a62203f",
        integers=True,
        licence=_MAA,
        contamination=Contamination.RECENT,
        prompt=MATH_PROMPT,
        file="aime25/test.jsonl",
        hub=HubSource("math-ai/aime25", question="problem"),
    ),
    Benchmark(
        "amc",
        Group.ID,
        "AMC 12 of 2022 and 2023: the AMC of LUFFY, TraPO, TTRL and DE-Venus",
        items=83,
        content_hash="2ba8f34fd2c3367030d2a8bc1007cf529e6f3ceac8e9f9e15db74fc0c1cd069a",
        integers=True,
        licence=_MAA,
        contamination=Contamination.MEMORISED,
        prompt=MATH_PROMPT,
        file="amc23/test_83_aimo.jsonl",
        hub=HubSource("AI-MO/aimo-validation-amc", split="train", question="problem"),
    ),
    Benchmark(
        "amc23",
        Group.NONE,
        "AMC 12 of 2023 alone, a subset of amc: the AMC23 of Qwen2.5-Math",
        items=40,
        content_hash="b89fff17ddacf49bb7735d6619e928a2686e3156c78209bb8d547d65ec4f71bc",
        integers=True,
        licence=_MAA,
        contamination=Contamination.MEMORISED,
        prompt=MATH_PROMPT,
        file="amc23/test_40.jsonl",
        hub=HubSource("math-ai/amc23"),
    ),
    Benchmark(
        "math500",
        Group.ID,
        "500 test problems of MATH, as chosen by PRM800K",
        items=500,
        content_hash="8bfb82b1923030c6b02d6320fefc54d3691189bbd5ca40d791e07e2ac82b1d58",
        licence="MIT",
        contamination=Contamination.MEMORISED,
        prompt=MATH_PROMPT,
        file="math500/test.jsonl",
        hub=HubSource("HuggingFaceH4/MATH-500", question="problem", id="unique_id"),
    ),
    Benchmark(
        "minerva",
        Group.ID,
        "undergraduate science questions from MIT OpenCourseWare",
        items=272,
        content_hash="d5b0e6aa7d89cafe751f87b8030ef77cee8923db50d30a485c0efad88f3a823a",
        licence="CC BY-NC-SA 4.0 (non-commercial, share alike)",
        contamination=Contamination.PUBLIC,
        prompt=MATH_PROMPT,
        file="minerva/test.jsonl",
        hub=HubSource("math-ai/minervamath"),
    ),
    Benchmark(
        "olympiad",
        Group.ID,
        "OlympiadBench, open-ended text-only mathematics in English (OE_TO_maths_en_COMP)",
        items=675,
        content_hash="e1cc4b50014ecbc8280ca0ab10d36eeb2b0c1cc69465cfb3b61a464ec8b4ac1c",
        licence="Apache-2.0",
        contamination=Contamination.PUBLIC,
        prompt=MATH_PROMPT,
        file="olympiadbench/test.jsonl",
        hub=HubSource("Hothan/OlympiadBench", "OE_TO_maths_en_COMP", split="train", gold="final_answer"),
    ),
    Benchmark(
        "arc_challenge",
        Group.OOD,
        "grade-school science questions that retrieval answers wrongly",
        items=1172,
        content_hash="666c65a5d07225596a43fe99040f95795416a19ecfb791a64436a09218ec359b",
        licence="CC BY-SA 4.0 (attribution, share alike)",
        contamination=Contamination.PUBLIC,
        kind=Kind.MULTIPLE_CHOICE,
        prompt=CHOICE_PROMPT,
        file="arc_challenge/test.jsonl",
        hub=HubSource("allenai/ai2_arc", "ARC-Challenge", gold="answerKey"),
        usual_options=4,
    ),
    Benchmark(
        "gpqa_diamond",
        Group.OOD,
        "graduate science questions that search engines do not answer",
        items=198,
        content_hash="b62d3fab3d011c97c4779c863e062e6ad524d7c6046edb8a80e51ca760dc79b1",
        licence="CC BY 4.0; not to be shown in plain text",
        contamination=Contamination.PUBLIC,
        kind=Kind.MULTIPLE_CHOICE,
        prompt=CHOICE_PROMPT,
        file="gpqa_diamond/test.jsonl.enc",
        hub=HubSource(
            "Idavidrein/gpqa",
            "gpqa_diamond",
            split="train",
            question="Question",
            gold="Correct Answer",
            wrong=("Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3"),
        ),
        usual_options=4,
        shuffled=True,
        restricted=True,
        known=(
            Known(
                Defect.REPEATED_OPTION,
                "two wrong options are the same in the published file; the right one is neither",
                ("gpqa-89", "gpqa-126"),
            ),
        ),
    ),
    Benchmark(
        "mmlu_pro",
        Group.OOD,
        "questions from 14 fields with up to ten options",
        items=12032,
        content_hash="fc88adc3af22627d37241f430601b8962da4af835e2aa3b33fe21267a95cd350",
        licence="MIT",
        contamination=Contamination.PUBLIC,
        kind=Kind.MULTIPLE_CHOICE,
        prompt=CHOICE_PROMPT,
        file="mmlu_pro/test_full.parquet",
        hub=HubSource("TIGER-Lab/MMLU-Pro", id="question_id"),
        usual_options=10,
        known=(
            Known(
                Defect.REPEATED_ITEM,
                "published twice, options and gold alike; kept, so that averages are over the published 12,032",
                count=159,
            ),
            Known(
                Defect.CONTROL_CHARACTER,
                r"published with \b, \a and \v of LaTeX commands eaten by an escape; options are never edited",
                count=22,
            ),
            Known(
                Defect.LETTER_INDEX_DISAGREE,
                "letter C, index 1; the letter names the right option and is what the official script compares",
                ("mmlu_pro-3983",),
            ),
        ),
    ),
    Benchmark(
        "gsm8k",
        Group.NONE,
        "grade-school word problems",
        items=1319,
        content_hash="89ffe07b233b1d5b7ef5c01fb796cda3f49a7cd2cf7930094573b2d8db57be86",
        licence="MIT",
        contamination=Contamination.PUBLIC,
        prompt=MATH_PROMPT,
        file="gsm8k/test.jsonl",
        hub=HubSource("openai/gsm8k", "main", gold_after="####"),
    ),
)

BENCHMARKS = MICRO_BENCHMARKS + PUBLIC_BENCHMARKS


def benchmark_named(name: str, among: tuple[Benchmark, ...] = BENCHMARKS) -> Benchmark:
    """Return a benchmark by its name.

    Raises UnknownNameError, with the nearest name.
    """
    for benchmark in among:
        if benchmark.name == name:
            return benchmark
    raise unknown_name("benchmark", name, (benchmark.name for benchmark in among))
