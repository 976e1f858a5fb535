"""The standard output whose reader may go away before the end, as `head` does when it has seen enough.

That is no failure: what is still printed goes nowhere, and the command ends as it would have with a reader. A run goes
on, a report is written, and the exit status says what became of them.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import IO, Any, cast


class PatientOutput:
    """A text stream over a file descriptor that takes everything after its reader went away, and drops it."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self.unread = False  # the reader went away

    def write(self, text: str) -> int:
        """Write as the stream below does; what nobody reads counts as written."""
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            self._drop()
            return len(text)

    def flush(self) -> None:
        """Flush the stream below."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._drop()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _drop(self) -> None:
        self.unread = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())  # takes what is buffered too


@contextmanager
def patient_output() -> Iterator[None]:
    """Let nothing inside fail because nobody reads the standard output any more."""
    stream = PatientOutput(sys.stdout)
    with redirect_stdout(cast("IO[str]", stream)):
        try:
            yield
        finally:
            stream.flush()


def print_lines(lines: Iterable[str]) -> None:
    """Print lines, which take their time to be made, until there are no more or nobody reads them."""
    for line in lines:
        print(line)
        if getattr(sys.stdout, "unread", False):
            return
