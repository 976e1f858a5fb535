"""The `venus` command: one function per verb, no logic.

Exit status: 0 done; 1 something failed while running; 2 a mistake in what was asked for, explained in one
line; 130 interrupted. Nothing is imported here that `venus --help` does not need.
"""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmark.errors import UserError, VenusError
from benchmark.standard_output import patient_output, print_lines

if TYPE_CHECKING:
    from benchmark.runs.session import Session

# Help is plain text: as rich markup it would lose whatever stands in brackets.
app = typer.Typer(
    name="venus",
    help="Run suites of data-efficient RLVR, and look at what they found.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

data_app = typer.Typer(name="data", help="Look at benchmark files and training sets.", rich_markup_mode=None)
app.add_typer(data_app)

Suite = Annotated[str, typer.Argument(help="name of a suite, or path of its YAML file")]
Overrides = Annotated[list[str] | None, typer.Argument(help="settings as key=value, such as train.steps=2")]
ProfileOption = Annotated[str | None, typer.Option("--profile", help="micro, paper, ...; the suite names its default")]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="folder of artifacts, with its reports in STORE/reports [default: VENUS_STORE, else results/store, "
        "whose reports are in results/reports]",
    ),
]
Plugins = Annotated[
    list[str] | None, typer.Option("--plugin", help="Python file with a method of your own; may be repeated")
]
Json = Annotated[bool, typer.Option("--json", help="print JSON for machines")]


@app.command()
def plan(
    suite: Suite,
    overrides: Overrides = None,
    profile: ProfileOption = None,
    store: StoreOption = None,
    plugin: Plugins = None,
    as_json: Json = False,
) -> None:
    """Show the cells of a suite and what is left to run. Starts nothing."""
    from benchmark.runs import overview

    session = _open(suite, overrides, profile, store, plugin)
    _show(overview.plan_data(session), overview.plan_text, as_json)


@app.command()
def run(
    suite: Suite,
    overrides: Overrides = None,
    profile: ProfileOption = None,
    store: StoreOption = None,
    plugin: Plugins = None,
    as_json: Json = False,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="stop at the first stage that fails for good")] = False,
) -> None:
    """Run what is missing of a suite. Then print its tables and write its report."""
    from benchmark.runs import overview, results
    from benchmark.runs.console import display, make_console
    from benchmark.runs.session import run_session

    session = _open(suite, overrides, profile, store, plugin)
    console = make_console()
    with display(console, machine=as_json) as listener:
        outcome = run_session(session, listener, fail_fast)
    report = results.suite_report(session)
    files = results.write(session, report)
    if as_json:
        print(json.dumps(overview.outcome_data(session, outcome, files), allow_nan=False))
    else:
        results.print_tables(console, report)
        print(overview.outcome_text(session, outcome, files))
    if outcome.failed:
        raise typer.Exit(1)


@app.command()
def status(
    suite: Annotated[str | None, typer.Argument(help="name of a suite; none for the whole store")] = None,
    overrides: Overrides = None,
    profile: ProfileOption = None,
    store: StoreOption = None,
    plugin: Plugins = None,
    as_json: Json = False,
) -> None:
    """Show where a suite stands, or what the store holds."""
    from benchmark.runs import overview
    from benchmark.runs.session import open_store

    if suite is None:
        _show(overview.store_data(open_store(store, existing=True)), overview.store_text, as_json)
    else:
        session = _open(suite, overrides, profile, store, plugin, existing=True)
        _show(overview.status_data(session), overview.status_text, as_json)


@app.command()
def tables(
    suite: Suite,
    overrides: Overrides = None,
    profile: ProfileOption = None,
    store: StoreOption = None,
    plugin: Plugins = None,
    as_json: Json = False,
) -> None:
    """Write the report of a suite and print its tables. Runs nothing, and reads what the store has."""
    from benchmark.runs import results
    from benchmark.runs.console import make_console

    session = _open(suite, overrides, profile, store, plugin, existing=True)
    report = results.suite_report(session)
    try:
        files = results.write(session, report)
    finally:  # the tables are wanted even where the report cannot be written, as in somebody else's store
        if as_json:
            print(results.tables_json(report))
        else:
            results.print_tables(make_console(), report)
    if not as_json:
        print(f"report: {next(path for path in files if path.suffix == '.html')}")


@app.command()
def show(
    cell: Annotated[str, typer.Argument(help="first characters of a cell's id, as `venus plan` prints it")],
    overrides: Overrides = None,
    suite: Annotated[str | None, typer.Option("--suite", help="suite of the cell [default: search all]")] = None,
    wrong: Annotated[bool, typer.Option("--wrong", help="only responses that are not correct")] = False,
    benchmark: Annotated[str | None, typer.Option("--benchmark", help="only responses to this benchmark")] = None,
    limit: Annotated[int, typer.Option("--limit", help="responses at most, of all benchmarks; 0 shows all")] = 20,
    text: Annotated[
        bool, typer.Option("--show-text", help="print restricted texts (GPQA) too; never publish them")
    ] = False,
    profile: ProfileOption = None,
    store: StoreOption = None,
    plugin: Plugins = None,
    as_json: Json = False,
) -> None:
    """Show questions, responses and verdicts of a cell."""
    from benchmark.runs import show as shown
    from benchmark.runs.session import open_store
    from methods.registry import use_plugins

    use_plugins(plugin or ())
    place = open_store(store, existing=True)
    found = shown.find_cell(place, cell, suite, profile, overrides or ())
    _show(shown.show_data(place, found, shown.ShowRequest(wrong, benchmark, limit, text)), shown.show_text, as_json)


@app.command()
def evaluate(
    model: Annotated[str, typer.Argument(help="folder of a model, as save_pretrained writes it")],
    overrides: Annotated[list[str] | None, typer.Argument(help="settings as key=value, such as eval.samples=4")] = None,
    evaluation: Annotated[str, typer.Option("--eval", help="micro, paper, ...: a file of configs/eval")] = "micro",
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="items per benchmark at most")] = None,
    store: StoreOption = None,
    as_json: Json = False,
) -> None:
    """Evaluate a model folder on benchmarks. Samples, grades and prints a table."""
    from benchmark.commands import evaluate_model
    from benchmark.runs.console import display, make_console
    from benchmark.runs.session import run_session

    planned = evaluate_model.open_evaluation(model, evaluation, limit, overrides or [], store)
    console = make_console()
    with display(console, machine=as_json) as listener:
        outcome = run_session(planned.session, listener)
    data = evaluate_model.evaluation_data(planned, outcome)
    if as_json:
        print(json.dumps(data, allow_nan=False))
    else:
        evaluate_model.print_evaluation(console, planned, outcome, data)
    if outcome.failed:
        raise typer.Exit(1)


@app.command()
def methods(
    name: Annotated[str | None, typer.Argument(help="name of a method, or selection:SCORER; none for all")] = None,
    plugin: Plugins = None,
    as_json: Json = False,
) -> None:
    """List methods and scorers, or describe one. Scorers are those of active selection."""
    from benchmark.commands import method_catalogue as catalogue
    from benchmark.runs.console import make_console
    from methods.registry import use_plugins

    use_plugins(plugin or ())
    if name is not None:
        _show(catalogue.method_data(name), catalogue.method_text, as_json)
    elif as_json:
        print(json.dumps(catalogue.methods_data(), allow_nan=False))
    else:
        console = make_console()
        console.print(catalogue.methods_table(catalogue.methods_data(), console.width))


@app.command()
def new_method(
    name: Annotated[str, typer.Argument(help="name of the method, such as my_method")],
    folder: Annotated[
        Path | None, typer.Option("--folder", help="write a plugin there instead of into the checkout")
    ] = None,
) -> None:
    """Write a method to start from. It works, and comes with its options and its test."""
    from benchmark.commands import scaffold

    print(scaffold.describe(scaffold.new_method(name, folder)))


@data_app.command("check")
def data_check(
    profile: ProfileOption = None,
    directory: Annotated[Path | None, typer.Option("--data", help="data directory [default: VENUS_DATA]")] = None,
    as_json: Json = False,
) -> None:
    """Examine benchmark files and training sets. Prints counts, content, licences, defects and overlaps.

    Exit status 1 where a file is refused, or where all are missing.
    """
    from benchmark.commands.data_check import check_data
    from benchmark.commands.data_check_text import check_text

    found = check_data(profile, directory)
    _show(found, check_text, as_json)
    if found["failed"] or found["all_missing"]:
        raise typer.Exit(1)


@app.command()
def grade(
    file: Annotated[str, typer.Argument(help="JSON lines with gold and response; - for the standard input")],
    fallback: Annotated[
        str, typer.Option("--fallback", help="what to read without a box: statement, last_number or none")
    ] = "statement",
) -> None:
    """Judge responses of your own. Prints one verdict per line, as JSON, in order.

    A line of FILE is an object with gold (the correct answer) and response (the text to judge). It may have kind (math
    or multiple_choice; told from the gold without it), choices (the list of options, for multiple_choice), tolerance
    (such as "0.01"), finish_reason (stop or length) and id (any value, printed with the verdict).
    Without kind, a line with choices, or whose gold is a single capital A to J, is multiple choice. What counts as the
    same answer is listed in benchmark/evaluation/policy.py.
    """
    from benchmark.commands.grade_files import grade_file

    print_lines(grade_file(file, fallback))


@app.command()
def vote(
    file: Annotated[str, typer.Argument(help="JSON lines with a list of answers; - for the standard input")],
) -> None:
    """Count votes of your own answers. Prints clusters and winner per line, as JSON, in order.

    A line of FILE is an object with answers (a list of texts, numbers, or null where no answer was given) and, if you
    like, id (any value, printed with the vote); or the list alone.
    """
    from benchmark.commands.grade_files import vote_file

    print_lines(vote_file(file))


@app.callback(invoke_without_command=True)
@data_app.callback(invoke_without_command=True)
def _help_without_a_verb(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit(2)


def _open(
    suite: str,
    overrides: list[str] | None,
    profile: str | None,
    store: str | None,
    plugin: list[str] | None,
    existing: bool = False,
) -> "Session":
    from benchmark.runs.session import open_session
    from methods.registry import use_plugins

    use_plugins(plugin or ())
    return open_session(suite, profile, overrides or [], store, existing)


def _show(data: dict[str, Any], as_text: Any, as_json: bool) -> None:
    print(json.dumps(data, allow_nan=False) if as_json else as_text(data))


def main() -> None:
    """Run the command and end with its exit status."""
    with patient_output():
        status_code = _status_of_the_command()
    sys.exit(status_code)


def _status_of_the_command() -> int:
    """Run the command, and turn what went wrong into a line and an exit status."""
    # typer exports the leaves of its usage errors only; this is their root.
    usage_error: Any = typer.BadParameter.__base__
    try:
        status_code = app(standalone_mode=False)
    except UserError as error:
        return _complain(str(error), 2)
    except usage_error as error:
        return _complain(" ".join(error.format_message().split()), 2)
    except VenusError as error:
        return _complain(str(error), 1)
    except (typer.Abort, KeyboardInterrupt):
        return _complain("interrupted; run the same command again to go on", 130)
    return status_code if isinstance(status_code, int) else 0


def _complain(message: str, status_code: int) -> int:
    print(f"venus: {message}", file=sys.stderr)
    return status_code


if __name__ == "__main__":
    main()
