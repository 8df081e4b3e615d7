"""The demo shows what it says: the current state for questions about now, the earlier one for questions about then."""

from __future__ import annotations

import io
import re
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from calm.demo import BUDGET_TOKENS, QUESTIONS, conversation, run_demo
from calm.embed import load_embedder, packaged_encoder
from calm.progress import Progress
from calm.rules import RuleScorer


@dataclass(frozen=True)
class Shown:
    """What stands on the screen below one question."""

    admitted: list[str]
    blocked: list[tuple[str, str]]
    """(memory, why) of each."""
    context: list[str]
    tokens: int

    def why(self, pattern: str) -> list[str]:
        return [why for text, why in self.blocked if re.search(pattern, text)]

    def admits(self, pattern: str) -> bool:
        return any(re.search(pattern, text) for text in self.admitted)


@pytest.fixture(
    scope="module",
    params=[
        "hashing",
        pytest.param(
            "offline",
            marks=[
                pytest.mark.slow,
                pytest.mark.skipif(packaged_encoder() is None, reason="the [offline] extra is not installed"),
            ],
        ),
    ],
)
def screen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """All that the demo prints, and the folder in which it could have left something."""
    out, folder = io.StringIO(), tmp_path_factory.mktemp("demo")
    # So wide that every memory stands on one line.
    console = Console(file=out, width=600, color_system=None)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setattr(tempfile, "tempdir", str(folder))
        warnings.filterwarnings("ignore", message="no CUDA device")
        run_demo(console, RuleScorer(), load_embedder(request.param), Progress(console, quiet=True))
    return out.getvalue(), folder


@pytest.fixture(scope="module")
def shown(screen: tuple[str, Path]) -> dict[str, Shown]:
    """Question to what was shown."""
    text, found = screen[0], {}
    for (title, question), after in zip(QUESTIONS, (*QUESTIONS[1:], None), strict=True):
        _, sep, rest = text.partition(f"{title}: {question}")
        assert sep, question
        part = rest if after is None else rest.partition(f"{after[0]}: {after[1]}")[0]
        found[question] = read(part)
    return found


def read(part: str) -> Shown:
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in part.splitlines() if line[:1] == "│"]
    context = [row[0] for row in rows if row[0].startswith("- [")]
    tokens = re.search(r"context, (\d+) tokens", part)
    assert tokens
    return Shown(
        [row[1] for row in rows if row[0] == "✓"],
        [(row[1], row[3]) for row in rows if row[0] == "✗"],
        context,
        int(tokens[1]),
    )


@pytest.mark.parametrize("question", [question for _, question in QUESTIONS])
def test_every_question_gets_a_context_within_the_budget_and_reasons_for_the_rest(
    shown: dict[str, Shown], question: str
) -> None:
    found = shown[question]
    assert 0 < found.tokens <= BUDGET_TOKENS
    assert len(found.context) == len(found.admitted) > 0
    assert found.blocked
    assert all(why for _, why in found.blocked)


def test_where_noor_lives_now_is_ghent_and_utrecht_is_superseded(shown: dict[str, Shown]) -> None:
    found = shown["Where does Noor live now?"]
    assert found.admits(r"live in Ghent|moved to Ghent")
    assert not found.admits("live in Utrecht")
    assert found.why("live in Utrecht")
    assert all("superseded" in why and "Ghent" in why for why in found.why("I (still )?live in Utrecht"))


def test_where_noor_lived_in_january_is_utrecht_and_ghent_is_not_known_yet(shown: dict[str, Shown]) -> None:
    found = shown["Where did Noor live in January 2025?"]
    assert found.admits("I live in Utrecht")
    assert not found.admits("Ghent")
    assert all("not known yet" in why for why in found.why("Ghent"))
    assert all(line[3:13] < "2025-02-01" for line in found.context)


def test_the_favourite_tea_now_is_genmaicha_and_earl_grey_is_superseded(shown: dict[str, Shown]) -> None:
    found = shown["What is Noor's favourite tea now?"]
    assert found.admits("genmaicha")
    assert not found.admits("Earl Grey")
    assert len(found.why("Earl Grey")) >= 2
    assert all("superseded" in why and "genmaicha" in why for why in found.why("Earl Grey"))


def test_the_favourite_tea_before_comes_back(shown: dict[str, Shown]) -> None:
    found = shown["What was Noor's favourite tea before?"]
    assert found.admits("favourite tea is Earl Grey|Earl Grey is still my favourite tea")
    assert not found.why("Earl Grey")


def test_the_booking_is_superseded_by_the_cancelled_trip(shown: dict[str, Shown]) -> None:
    found = shown["Does Noor need the room at Hotel Aurora for the trip to Lisbon?"]
    assert found.admits("I cancelled the trip to Lisbon")
    assert not found.admits("I booked a trip to Lisbon")
    assert all("superseded" in why and "cancelled" in why for why in found.why("I booked a trip to Lisbon"))


def test_stories_and_wishes_are_never_where_someone_lives(shown: dict[str, Shown]) -> None:
    for found in shown.values():
        assert not found.admits("In my story|If I won the lottery|Queen of Norway")


def test_the_demo_introduces_what_it_ingested(screen: tuple[str, Path]) -> None:
    said = re.search(r"(\d+) turns, (\d+) claims, (\d+) of them superseded", screen[0])
    assert said
    turns, claims, superseded = map(int, said.groups())
    assert turns == 248
    assert turns <= claims
    assert 5 <= superseded < claims / 4


def test_the_demo_leaves_no_store_behind(screen: tuple[str, Path]) -> None:
    assert list(screen[1].rglob("*.db*")) == []


def test_the_conversation_is_shipped_with_the_package() -> None:
    with conversation() as path:
        assert path.is_file()
        assert path.name == "demo.json"
