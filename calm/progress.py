"""Progress bars on the error stream for anything over a second; nothing when quiet or not a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress


class Positioned(Protocol):
    """A step that knows how far it got."""

    @property
    def position(self) -> int:
        """How far the work is, in the unit of the total."""


Step = TypeVar("Step", bound=Positioned)


@dataclass(frozen=True, slots=True)
class Progress:
    """`over` passes its steps through and draws how far they got."""

    console: Console
    quiet: bool = False

    def over(self, steps: Iterable[Step], title: str, total: int | None) -> Iterator[Step]:
        """The steps themselves; `total` is the last position, None where it is unknown."""
        if self.quiet or not self.console.is_terminal:
            yield from steps
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with RichProgress(*columns, console=self.console, transient=True) as bars:
            task = bars.add_task(title, total=total)
            for step in steps:
                bars.update(task, completed=step.position)
                yield step
