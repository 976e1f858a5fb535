"""What a person sees of a run: a live panel on a terminal, plain lines now and then elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchmark.runs.progress import CellState, RunningStage, RunView
from benchmark.runs.scheduler import Listener

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_PIPE_WIDTH = 120
_BAR_WIDTH = 10
PLAIN_SECONDS = 30.0  # between two plain lines when nothing happens


class Silent:
    """A listener that shows nothing, for machine-readable output."""

    def event(self, message: str) -> None:
        """Ignore it."""

    def tick(self, view: RunView) -> None:
        """Ignore it."""


class PlainLines:
    """A listener for logs and pipes: one line per event, and one now and then while work goes on."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def event(self, message: str) -> None:
        """Print it."""
        print(message, flush=True)
        self._last = time.monotonic()

    def tick(self, view: RunView) -> None:
        """Print where the run stands, unless something was printed lately."""
        if view.running and time.monotonic() - self._last > PLAIN_SECONDS:
            running = "; ".join(f"{stage.kind} ({stage.label}){_suffix(stage)}" for stage in view.running)
            self.event(f"{_counts(view)}; {running}")


class LivePanel:
    """A listener for terminals."""

    def __init__(self, console: "Console") -> None:
        from rich.live import Live

        self._console = console
        self._view: RunView | None = None
        self.live = Live(console=console, get_renderable=self._render, refresh_per_second=4, transient=True)

    def event(self, message: str) -> None:
        """Print it above the panel."""
        self._console.print(message, highlight=False, markup=False)

    def tick(self, view: RunView) -> None:
        """Show it from the next refresh on."""
        self._view = view

    def _render(self) -> "RenderableType":
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        view = self._view
        if view is None:
            return Text("starting")
        table = Table.grid(padding=(0, 2))
        for stage in view.running:
            progress = stage.progress
            bar = ProgressBar(progress.steps, progress.step, width=_BAR_WIDTH) if progress else Text("")
            table.add_row(Text(stage.kind), Text(stage.label), bar, Text(_suffix(stage).strip()))
        return Group(Text(_counts(view), style="bold"), table)


def make_console() -> "Console":
    """Build the console of the command; what is not a terminal gets lines that are wide enough for a table."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=_PIPE_WIDTH)


@contextmanager
def display(console: "Console", machine: bool) -> Iterator[Listener]:
    """Choose how a run is shown: not at all for machines, live on a terminal, else as plain lines."""
    if machine:
        yield Silent()
    elif console.is_terminal:
        panel = LivePanel(console)
        with panel.live:
            yield panel
    else:
        yield PlainLines()


def _counts(view: RunView) -> str:
    cells = ", ".join(f"{view.cells[state]} {state.value}" for state in CellState if view.cells[state])
    return f"cells: {cells or 'none'}; stages: {view.stages_done}/{view.stages}; {duration(view.seconds)}"


def _suffix(stage: RunningStage) -> str:
    """Say how far a stage is: step, reward and time left of a training job, else the time it has taken."""
    progress = stage.progress
    attempt = f" attempt {stage.attempt}" if stage.attempt > 1 else ""
    if progress is None:
        return f"{attempt} {duration(stage.seconds)}"
    reward = "" if progress.reward is None else f", reward {progress.reward:.3f}"
    left = "" if progress.seconds_left is None else f", {duration(progress.seconds_left)} left"
    return f"{attempt} step {progress.step}/{progress.steps}{reward}{left}"


def duration(seconds: float) -> str:
    """Write a duration for people: 42 s, 3 min 05 s, 2 h 04 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
