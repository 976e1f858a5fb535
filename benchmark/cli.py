"""The `venus` command: one function per verb, no logic.

Exit status: 0 done; 1 something failed while running; 2 a mistake in what was asked for, explained in one
line; 130 interrupted. Nothing is imported here that `venus --help` does not need.
"""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmark.errors import UserError, VenusError

if TYPE_CHECKING:
    from benchmark.runs.session import Session

app = typer.Typer(
    name="venus",
    help="Run suites of data-efficient RLVR, and look at what they found.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

data_app = typer.Typer(name="data", help="Look at benchmark files and training sets.")
app.add_typer(data_app)

Suite = Annotated[str, typer.Argument(help="name of a suite, or path of its YAML file")]
Overrides = Annotated[list[str] | None, typer.Argument(help="settings as key=value, such as train.steps=2")]
ProfileOption = Annotated[str | None, typer.Option("--profile", help="micro, paper, ...; the suite names its default")]
StoreOption = Annotated[str | None, typer.Option("--store", help="folder of artifacts [default: results/store]")]
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
    """Show the cells of a suite and what is left to run; starts nothing."""
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
    """Run what is missing of a suite, then print its table and write its report."""
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
    """Show where the cells of a suite stand, or what the store holds."""
    from benchmark.runs import overview
    from benchmark.runs.session import open_store

    if suite is None:
        _show(overview.store_data(open_store(store)), overview.store_text, as_json)
    else:
        _show(overview.status_data(_open(suite, overrides, profile, store, plugin)), overview.status_text, as_json)


@app.command()
def tables(
    suite: Suite,
    overrides: Overrides = None,
    profile: ProfileOption = None,
    store: StoreOption = None,
    plugin: Plugins = None,
    as_json: Json = False,
) -> None:
    """Print the tables of a suite from what the store has, and write its report; runs nothing."""
    from benchmark.runs import results
    from benchmark.runs.console import make_console

    session = _open(suite, overrides, profile, store, plugin)
    report = results.suite_report(session)
    if as_json:
        print(results.tables_json(report))
    else:
        results.print_tables(make_console(), report)
        print(f"report: {results.write(session, report)[-1]}")


@app.command()
def show(
    cell: Annotated[str, typer.Argument(help="first characters of a cell's id, as `venus plan` prints it")],
    overrides: Overrides = None,
    suite: Annotated[str | None, typer.Option("--suite", help="suite of the cell [default: search all]")] = None,
    wrong: Annotated[bool, typer.Option("--wrong", help="only responses that are not correct")] = False,
    benchmark: Annotated[str | None, typer.Option("--benchmark", help="only responses to this benchmark")] = None,
    limit: Annotated[int, typer.Option("--limit", help="responses at most; 0 shows all")] = 20,
    text: Annotated[
        bool, typer.Option("--show-text", help="print restricted texts (GPQA) too; never publish them")
    ] = False,
    profile: ProfileOption = None,
    store: StoreOption = None,
    plugin: Plugins = None,
    as_json: Json = False,
) -> None:
    """Show questions, responses and verdicts of a cell that has a result."""
    from benchmark.runs import show as shown
    from benchmark.runs.session import open_store
    from methods.registry import use_plugins

    use_plugins(plugin or ())
    place = open_store(store)
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
    """Sample and grade the responses of a model to benchmarks, then print their table."""
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
    """List the methods and the scorers of active selection, or describe one with its options."""
    from benchmark.commands import method_catalogue as catalogue
    from benchmark.runs.console import make_console
    from methods.registry import use_plugins

    use_plugins(plugin or ())
    if name is not None:
        _show(catalogue.method_data(name), catalogue.method_text, as_json)
    elif as_json:
        print(json.dumps(catalogue.methods_data(), allow_nan=False))
    else:
        make_console().print(catalogue.methods_table(catalogue.methods_data()))


@app.command()
def new_method(
    name: Annotated[str, typer.Argument(help="name of the method, such as my_method")],
    folder: Annotated[
        Path | None, typer.Option("--folder", help="write a plugin there instead of into the checkout")
    ] = None,
) -> None:
    """Write a method that works, its options and its test, to start from."""
    from benchmark.commands import scaffold

    print(scaffold.describe(scaffold.new_method(name, folder)))


@data_app.command("check")
def data_check(
    profile: ProfileOption = None,
    directory: Annotated[Path | None, typer.Option("--data", help="data directory [default: VENUS_DATA]")] = None,
    as_json: Json = False,
) -> None:
    """Examine benchmark files and training sets: counts, content, licences, defects, overlaps."""
    from benchmark.commands.data_check import check_data
    from benchmark.commands.data_check_text import check_text

    found = check_data(profile, directory)
    _show(found, check_text, as_json)
    if found["failed"]:
        raise typer.Exit(1)


@app.command()
def grade(
    file: Annotated[str, typer.Argument(help="JSON lines with gold and response; - for the standard input")],
    fallback: Annotated[
        str, typer.Option("--fallback", help="what to read without a box: statement, last_number or none")
    ] = "statement",
) -> None:
    """Judge responses of your own: one verdict per line, as JSON, in order."""
    from benchmark.commands.grade_files import grade_file

    for record in grade_file(file, fallback):
        print(record)


@app.command()
def vote(
    file: Annotated[str, typer.Argument(help="JSON lines with a list of answers; - for the standard input")],
) -> None:
    """Count the votes of your own answers: clusters and winner per line, as JSON, in order."""
    from benchmark.commands.grade_files import vote_file

    for record in vote_file(file):
        print(record)


def _open(
    suite: str, overrides: list[str] | None, profile: str | None, store: str | None, plugin: list[str] | None
) -> "Session":
    from benchmark.runs.session import open_session
    from methods.registry import use_plugins

    use_plugins(plugin or ())
    return open_session(suite, profile, overrides or [], store)


def _show(data: dict[str, Any], as_text: Any, as_json: bool) -> None:
    print(json.dumps(data, allow_nan=False) if as_json else as_text(data))


def main() -> None:
    """Run the command and turn what went wrong into a line and an exit status."""
    # typer exports the leaves of its usage errors only; this is their root.
    usage_error: Any = typer.BadParameter.__base__
    try:
        status_code = app(standalone_mode=False)
    except UserError as error:
        status_code = _complain(str(error), 2)
    except usage_error as error:
        status_code = _complain(" ".join(error.format_message().split()), 2)
    except VenusError as error:
        status_code = _complain(str(error), 1)
    except (typer.Abort, KeyboardInterrupt):
        status_code = _complain("interrupted; run the same command again to go on", 130)
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status_code = 0
    sys.exit(status_code if isinstance(status_code, int) else 0)


def _complain(message: str, status_code: int) -> int:
    print(f"venus: {message}", file=sys.stderr)
    return status_code


if __name__ == "__main__":
    main()
