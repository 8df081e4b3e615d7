"""Progress passes its steps through, one by one and unchanged, and writes only where someone watches."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from rich.console import Console

from calm.cli import Screen
from calm.progress import Progress


@dataclass(frozen=True)
class Step:
    position: int


STEPS = [Step(3), Step(7), Step(10)]


def terminal() -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, force_terminal=True, width=100, color_system=None), out


@pytest.fixture(params=["quiet", "drawn"])
def over(request: pytest.FixtureRequest) -> Callable[..., Iterator[Step]]:
    """`Progress.over`, with and without a bar."""
    return Progress(terminal()[0], quiet=request.param == "quiet").over


@pytest.mark.parametrize("total", [10, 3, None], ids=["right", "too small", "unknown"])
def test_the_steps_come_through_as_they_are(over: Callable[..., Iterator[Step]], total: int | None) -> None:
    got = list(over(STEPS, "ingest", total))
    assert all(one is other for one, other in zip(got, STEPS, strict=True))


def test_no_step_is_no_step(over: Callable[..., Iterator[Step]]) -> None:
    assert list(over([], "ingest", 0)) == []


def test_a_step_is_taken_only_when_it_is_asked_for(over: Callable[..., Iterator[Step]]) -> None:
    taken: list[Step] = []

    def steps() -> Iterator[Step]:
        for step in STEPS:
            taken.append(step)
            yield step

    passing = over(steps(), "ingest", 10)
    assert taken == []
    for n, _ in enumerate(passing, start=1):
        assert len(taken) == n


def test_an_error_of_the_work_reaches_the_caller(over: Callable[..., Iterator[Step]]) -> None:
    def steps() -> Iterator[Step]:
        yield STEPS[0]
        raise KeyboardInterrupt

    passing = over(steps(), "ingest", 10)
    assert next(passing) is STEPS[0]
    with pytest.raises(KeyboardInterrupt):
        next(passing)


def test_stopping_halfway_leaves_the_terminal_as_it_was() -> None:
    console, out = terminal()
    passing = Progress(console).over(STEPS, "ingest", 10)
    next(passing)
    passing.close()  # type: ignore[attr-defined]
    assert out.getvalue().rindex("\x1b[?25h") > out.getvalue().rindex("\x1b[?25l"), "the cursor is back"


def test_a_bar_says_what_is_done_and_how_far_it_got() -> None:
    console, out = terminal()
    list(Progress(console).over(STEPS, "ingest", 10))
    assert "ingest" in out.getvalue()
    assert "10/10" in out.getvalue()


def test_quiet_writes_nothing() -> None:
    console, out = terminal()
    list(Progress(console, quiet=True).over(STEPS, "ingest", 10))
    assert out.getvalue() == ""


@pytest.mark.parametrize(
    ("watched", "quiet", "draws"), [(True, False, True), (True, True, False), (False, False, False)]
)
def test_a_command_draws_on_the_error_stream_and_only_on_a_terminal(watched: bool, quiet: bool, draws: bool) -> None:
    out, err = io.StringIO(), io.StringIO()
    screen = Screen(Console(file=out, force_terminal=True), Console(file=err, force_terminal=watched), quiet)
    list(screen.progress.over(STEPS, "ingest", 10))
    assert out.getvalue() == ""
    assert bool(err.getvalue()) == draws
