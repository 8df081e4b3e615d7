"""Records: a backend's object is read whole, or refused by an error that names record and field."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calm.errors import CalmError, DuplicateMemoryId, EmbeddingDimensionError, EmbeddingModelMismatch, InvalidRecord
from calm.memories import check_embeddings, check_ids
from calm.records import KNOWN_KEYS, Record, UnknownKeyWarning, parse_record
from calm.times import to_us

FULL = {
    "id": "m1",
    "text": "Mira keeps bees.",
    "timestamp": "2026-03-01T09:00:00Z",
    "user": "mira",
    "speaker": "assistant",
    "session": "s4",
    "kind": "summary",
    "score": 0.25,
    "embedding": [0.5, -1, 2.0],
    "embedding_model": "tiny",
    "scope": "project:hive",
    "valid_at": "2026-02-01T00:00:00Z",
    "invalid_at": "2026-04-01T00:00:00Z",
    "state": "archived",
    "depends_on": ["m0", 7],
    "support": "any",
    "metadata": {"channel": "mail", "deep": {"x": [1, None]}},
}


def us(*when: int) -> int:
    return to_us(datetime(*when, tzinfo=UTC))  # type: ignore[misc, arg-type]


def test_every_key_arrives_in_its_field() -> None:
    assert set(FULL) == KNOWN_KEYS
    assert parse_record(FULL) == Record(
        id="m1",
        text="Mira keeps bees.",
        time_us=us(2026, 3, 1, 9),
        user="mira",
        speaker="assistant",
        session="s4",
        kind="summary",
        score=0.25,
        embedding=(0.5, -1.0, 2.0),
        embedding_model="tiny",
        scope="project:hive",
        valid_from_us=us(2026, 2, 1),
        valid_to_us=us(2026, 4, 1),
        state="archived",
        depends_on=("m0", "7"),
        support="any",
        metadata={"channel": "mail", "deep": {"x": [1, None]}},
    )


def test_an_id_is_enough_and_the_rest_has_defaults() -> None:
    assert parse_record({"id": "m1"}) == Record("m1", "")
    defaults = Record("m1", "")
    assert (defaults.speaker, defaults.scope, defaults.kind, defaults.support) == ("user", "global", "fact", "all")
    assert (defaults.time_us, defaults.user, defaults.score, defaults.depends_on) == (None, None, None, ())


@pytest.mark.parametrize("key", sorted(KNOWN_KEYS - {"id"}))
def test_null_is_as_good_as_absent(key: str) -> None:
    without = {k: v for k, v in FULL.items() if k != key}
    assert parse_record({**FULL, key: None}) == parse_record(without)


@pytest.mark.parametrize("data", [{"id": "m1"}, {"id": "m1", "text": None}, {"id": "m1", "text": ""}])
def test_a_memory_without_words_has_an_empty_text(data: dict[str, object]) -> None:
    assert parse_record(data).text == ""


@given(st.text())
def test_a_text_arrives_untouched(text: str) -> None:
    assert parse_record({"id": "m1", "text": text}).text == text


def test_a_record_with_a_session_is_dialogue_unless_it_says_otherwise() -> None:
    assert parse_record({"id": "m1", "session": "s"}).kind == "dialogue"
    assert parse_record({"id": "m1", "session": "s", "kind": "fact"}).kind == "fact"
    assert parse_record({"id": "m1", "kind": "dialogue"}).kind == "dialogue"


@pytest.mark.parametrize("key", ["id", "user", "session", "speaker"])
def test_numbers_that_name_something_become_text(key: str) -> None:
    assert getattr(parse_record({"id": "m1", key: 12}), key) == "12"


# --- times


def test_naive_times_of_a_record_are_read_in_the_callers_zone() -> None:
    data = {"id": "m1", "timestamp": "2026-07-01T12:00:00", "valid_at": "2026-01-01", "invalid_at": "2026-08-01T00:00Z"}
    record = parse_record(data, naive_tz=ZoneInfo("Europe/Oslo"))
    assert record.time_us == us(2026, 7, 1, 10)
    assert record.valid_from_us == us(2025, 12, 31, 23)
    assert record.valid_to_us == us(2026, 8, 1)


def test_lenient_mode_forgives_times_and_nothing_else() -> None:
    assert parse_record({"id": "m1", "timestamp": "in spring"}, strict=False).time_us is None
    with pytest.raises(InvalidRecord):
        parse_record({"id": "m1", "score": "high"}, strict=False)


# --- unknown keys


def test_an_unknown_key_is_kept_in_metadata_and_warned_about() -> None:
    with pytest.warns(UnknownKeyWarning, match="colour") as caught:
        record = parse_record({"id": "m1", "colour": {"r": 1}, "metadata": {"a": 1}})
    assert record.metadata == {"colour": {"r": 1}, "a": 1}
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("key", "meant"),
    [("timestmap", "timestamp"), ("speakr", "speaker"), ("embeddings", "embedding"), ("dependson", "depends_on")],
)
def test_a_misspelt_key_suggests_the_right_one_and_is_not_taken_for_it(key: str, meant: str) -> None:
    with pytest.warns(UnknownKeyWarning, match=f"did you mean '{meant}'"):
        record = parse_record({"id": "m1", key: "value"})
    assert record.metadata == {key: "value"}
    assert replace(record, metadata={}) == Record("m1", "")


def test_a_key_like_no_other_gets_no_suggestion() -> None:
    with pytest.warns(UnknownKeyWarning) as caught:
        parse_record({"id": "m1", "zzz9": 1})
    assert "did you mean" not in str(caught[0].message)


def test_where_both_speak_the_metadata_object_wins() -> None:
    with pytest.warns(UnknownKeyWarning):
        record = parse_record({"id": "m1", "tag": "outer", "metadata": {"tag": "inner"}})
    assert record.metadata == {"tag": "inner"}


def test_known_keys_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_record(FULL)


def test_metadata_may_hold_the_name_of_a_known_key_without_setting_it() -> None:
    record = parse_record({"id": "m1", "metadata": {"user": "eve", "scope": "x:y"}})
    assert (record.user, record.scope) == (None, "global")
    assert record.metadata == {"user": "eve", "scope": "x:y"}


# --- what is refused


@pytest.mark.parametrize("data", [None, [], "m1", 3, [("id", "m1")]], ids=repr)
def test_what_is_no_object_is_no_record(data: object) -> None:
    with pytest.raises(InvalidRecord, match="not a JSON object"):
        parse_record(data)


@pytest.mark.parametrize("data", [{}, *({"id": bad} for bad in (None, "", True, 1.5, [], {}))], ids=repr)
def test_a_record_needs_an_id(data: dict[str, object]) -> None:
    with pytest.raises(InvalidRecord) as caught:
        parse_record({"text": "Mira keeps bees.", **data})
    assert caught.value.field == "id"


WRONG = [
    ("text", 3),
    ("text", ["Mira"]),
    ("text", b"Mira"),
    ("user", 1.5),
    ("user", True),
    ("speaker", {}),
    ("session", []),
    ("kind", "turn"),
    ("kind", 3),
    ("kind", ["fact"]),
    ("score", "0.5"),
    ("score", math.nan),
    ("score", math.inf),
    ("score", -math.inf),
    ("score", True),
    ("score", 10**400),
    ("score", [0.5]),
    ("embedding", []),
    ("embedding", "0.5"),
    ("embedding", 0.5),
    ("embedding", {"0": 0.5}),
    ("embedding", [0.5, None]),
    ("embedding", [0.5, math.nan]),
    ("embedding", [math.inf, 0.5]),
    ("embedding", [0.5, True]),
    ("embedding", [[0.5]]),
    ("embedding", [10**400]),
    ("embedding_model", 3),
    ("scope", 3),
    ("state", False),
    ("depends_on", "m0"),
    ("depends_on", {"m0": 1}),
    ("depends_on", ["m0", None]),
    ("depends_on", [""]),
    ("depends_on", [True]),
    ("support", "some"),
    ("support", True),
    ("metadata", "note"),
    ("metadata", [1]),
]


@pytest.mark.parametrize(("key", "value"), WRONG, ids=lambda x: repr(x)[:20])
def test_a_wrong_value_is_an_error_that_names_record_and_field(key: str, value: object) -> None:
    with pytest.raises(InvalidRecord) as caught:
        parse_record({"id": "m42", key: value})
    assert (caught.value.record, caught.value.field) == ("m42", key)
    assert "'m42'" in str(caught.value) and repr(key) in str(caught.value)
    assert caught.value.as_dict()["type"] == "InvalidRecord"
    assert caught.value.as_dict()["record"] == "m42"


def test_the_error_shows_the_value_but_not_all_of_a_huge_one() -> None:
    with pytest.raises(InvalidRecord, match="'turn'"):
        parse_record({"id": "m1", "kind": "turn"})
    with pytest.raises(InvalidRecord) as caught:
        parse_record({"id": "m1", "kind": "turn" * 1_000_000})
    assert len(str(caught.value)) < 500


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def error_of(data: dict[str, object], strict: bool) -> CalmError | None:
    try:
        parse_record(data, strict=strict)
    except CalmError as error:
        return error
    return None


@given(st.dictionaries(st.sampled_from(sorted(KNOWN_KEYS - {"id"})), json_values, max_size=4), st.booleans())
def test_whatever_json_says_the_answer_is_a_sound_record_or_a_typed_error(
    values: dict[str, object], strict: bool
) -> None:
    data = {"id": "m1", **values}
    error = error_of(data, strict)
    if error is not None:
        assert error.record == "m1" and error.field in values
        return
    record = parse_record(data, strict=strict)
    assert record.score is None or math.isfinite(record.score)
    assert record.embedding is None or (record.embedding and all(math.isfinite(x) for x in record.embedding))
    assert isinstance(record.text, str) and record.kind in ("dialogue", "fact", "summary")


def test_a_record_read_from_json_text_is_the_same_record() -> None:
    assert parse_record(json.loads(json.dumps(FULL))) == parse_record(FULL)


def test_what_the_caller_does_to_its_object_later_leaves_the_record_alone() -> None:
    data: dict[str, object] = {"id": "m1", "embedding": [1.0], "depends_on": ["m0"], "metadata": {"a": 1}}
    record = parse_record(data)
    data["embedding"].append(2.0)  # type: ignore[attr-defined]
    data["depends_on"].append("m9")  # type: ignore[attr-defined]
    data["metadata"]["b"] = 2  # type: ignore[index]
    assert (record.embedding, record.depends_on, record.metadata) == ((1.0,), ("m0",), {"a": 1})


# --- several records together


def test_one_id_for_one_memory_told_twice_is_fine() -> None:
    check_ids([Record("a", "Mira keeps bees."), Record("b", "x"), Record("a", "Mira keeps bees.")])


@pytest.mark.parametrize(
    "other",
    [Record("a", "Mira keeps goats."), Record("a", "Mira keeps bees.", user="u"), Record("a", "Mira keeps bees.", 1)],
)
def test_one_id_for_two_memories_is_an_error_that_names_it(other: Record) -> None:
    with pytest.raises(DuplicateMemoryId) as caught:
        check_ids([Record("a", "Mira keeps bees."), Record("b", "x"), other])
    assert caught.value.record == "a"


def test_embeddings_of_two_sizes_do_not_meet() -> None:
    two, three = Record("a", "x", embedding=(1.0, 0.0)), Record("b", "y", embedding=(1.0, 0.0, 0.0))
    check_embeddings([two, Record("c", "z"), replace(two, id="d")], None)
    check_embeddings([two], 2)
    with pytest.raises(EmbeddingDimensionError) as caught:
        check_embeddings([two, three], None)
    assert caught.value.record == "b"
    with pytest.raises(EmbeddingDimensionError) as caught:
        check_embeddings([two], 3)
    assert caught.value.record == "a"


def test_embeddings_of_two_models_do_not_meet() -> None:
    a = Record("a", "x", embedding=(1.0,), embedding_model="tiny")
    unnamed = Record("b", "x", embedding=(1.0,))
    check_embeddings([a, unnamed, Record("c", "x", embedding_model="huge")], None)
    with pytest.raises(EmbeddingModelMismatch) as caught:
        check_embeddings([a, unnamed, replace(a, id="c", embedding_model="huge")], None)
    assert caught.value.record == "c"
