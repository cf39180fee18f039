"""Realism of simulated users: figures by register, and the ranges they are held against."""

import orjson
import pytest

from audits.realism import figures, main, read_settings
from schemas.errors import RequestError

PROFILES = [
    {"persona_id": "a", "styles": [{"dimension": "formality", "option": "formality.always_casual"}]},
    {"persona_id": "b", "styles": [{"dimension": "formality", "option": "formality.always_formal"}]},
]


def said(persona, *texts, speaker="user"):
    return [
        {"persona": persona, "session": f"{n:03}", "turn": "001", "speaker": speaker, "text": text}
        for n, text in enumerate(texts, 1)
    ]


def of(rows, group):
    return {one.name: one for one in figures(rows, PROFILES, read_settings()) if one.group == group}


def test_messages_are_counted_by_the_register_of_their_profile_and_assistants_not_at_all():
    rows = [
        *said("a", "hey im here 🙂", "so whats up"),
        *said("b", "Good day. I am here."),
        *said("a", "X.", speaker="x"),
    ]
    casual, formal = of(rows, "casual"), of(rows, "formal")
    assert (casual["lower_start"].value, casual["misspelt"].value, casual["emoji"].value) == (1.0, 1.0, 0.5)
    assert (formal["lower_start"].value, formal["no_final_mark"].value, formal["words"].value) == (0.0, 0.0, 5.0)


def test_an_emoji_behind_a_full_stop_leaves_it_the_final_mark():
    assert of(said("a", "All done. 🙂"), "casual")["no_final_mark"].value == 0.0


def test_openings_are_those_of_sessions_and_alike_by_their_first_three_words():
    assert of(said("a", "Hey there you", "hey there, you again"), "all")["distinct_openings"].value == 0.5


def test_a_casual_person_who_writes_like_a_letter_is_outside():
    assert of(said("a", "Good day. I am here."), "casual")["lower_start"].outside
    assert not of(said("a", "hey there"), "casual")["lower_start"].outside


def test_settings_of_users_are_laid_over_and_mistakes_are_named(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text("[casual]\nlower_start = [0, 1]\n")
    assert read_settings(path)["casual"]["lower_start"] == [0, 1]
    assert read_settings(path)["casual"]["contraction"] == [0.1, 1]
    for text, reported in (
        ("[casul]\nwords = [1, 2]\n", "unknown group 'casul'"),
        ("[casual]\nword = [1, 2]\n", "unknown figure 'word'"),
        ("[casual]\nwords = [1]\n", "malformed range"),
    ):
        path.write_text(text)
        with pytest.raises(RequestError, match=reported):
            read_settings(path)


def test_the_command_prints_figures_and_ends_with_1_where_one_is_outside(tmp_path, capsys):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join(orjson.dumps(row) for row in said("a", "Good day to you.")))
    assert main(["--rows", str(path), "--json"]) == 1
    found = orjson.loads(capsys.readouterr().out)["figures"]
    assert {one["group"] for one in found} == {"all", "mixed"}
