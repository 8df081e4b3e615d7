"""The README's promises: its Python snippet runs, stays under ten lines, and prints what it says; its paths exist."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def snippet() -> str:
    return re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)[0]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_snippet_runs_and_prints_what_its_comments_say() -> None:
    code = snippet()
    scope: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, "README.md", "exec"), scope)
    promised = re.findall(r"print\(.*\)\s+# (.*)", code)
    assert out.getvalue().splitlines() == promised
    past = scope["past"]
    assert [m.record.id for m in past.admitted] in (["m1", "m2"], ["m2", "m1"])  # type: ignore[attr-defined]


def test_the_api_takes_under_ten_lines() -> None:
    code = [line for line in snippet().splitlines() if line.strip()]
    assert len(code) < 10


@pytest.mark.parametrize("name", re.findall(r"`(\w+\.py)`", README))
def test_every_file_that_the_readme_names_exists(name: str) -> None:
    assert (ROOT / "calm" / name).is_file()


@pytest.mark.parametrize("target", re.findall(r"^make (\w+)", README, flags=re.MULTILINE))
def test_every_make_target_exists(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
