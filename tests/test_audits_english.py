"""Whose words are judged: English ones, and nothing is said of those in other languages."""

import json
from pathlib import Path

import orjson
import pytest

from audits import audit, not_checked
from audits.codes import select
from audits.command import main

SOUND = orjson.loads((Path(__file__).parent / "cases/sound_rows.json").read_bytes())["memories"]
OTHERS = {
    "German": "Mama stand am Fenster und sagte nichts. Ich hatte den Brief in der Tasche und wusste nicht, wohin "
    "damit. Jahre später verstand ich, dass ich das einzige Mädchen im Zimmer war. »Komm, Lena«, sagte sie.",
    "French": "Maman était à la fenêtre et ne disait rien. J'avais la lettre dans ma poche et je ne savais pas quoi en "
    "faire. Dehors il pleuvait et le chien aboyait. « Viens », dit-elle, et je suis allé vers elle.",
    "Dutch": "Mama stond bij het raam en zei niets. Ik had de brief in mijn zak en wist niet wat ik ermee moest doen. "
    "Het is hier koud, zei ze, en we gingen naar huis of naar de winkel. Ik was bang voor de hond die daar lag.",
    "Danish": "Mor stod ved vinduet og sagde ikke noget. Jeg havde brevet i lommen og vidste ikke, hvad jeg skulle "
    "gøre med det. Udenfor regnede det, og hunden gøede. Kom her, sagde hun, og jeg gik langsomt hen til hende.",
    "Spanish": "Mamá estaba en la ventana y no decía nada. Yo tenía la carta en el bolsillo y no sabía qué hacer con "
    "ella. Fuera llovía y el perro ladraba. Ven aquí, me dijo, y fui despacio hacia ella porque tenía miedo.",
    "Japanese": "雨が降っていたので私は家まで走って帰った。台所には誰もいなかった。窓が開いていて、床が濡れていた。",
    "Arabic": "كانت أمي واقفة عند النافذة ولم تقل شيئا. كانت الرسالة في جيبي ولم أعرف ماذا أفعل بها.",
}
OF_WORDS = ("perspective", "identity", "person", "rubin", "age", "vocabulary", "continuity")


@pytest.mark.parametrize("language", OTHERS)
def test_nothing_is_said_of_words_that_are_not_english_but_that_they_are_not(language):
    found = audit("memories", [{**SOUND, "content_full": OTHERS[language]}])
    assert "format.script" in {finding.code for finding in found}
    assert not [finding for finding in found if finding.code.startswith(OF_WORDS)]


def test_words_of_another_language_in_an_english_text_leave_it_english():
    text = SOUND["content_full"] + " »Komm her und setz dich«, sagte Oma, und dann sang sie: Der Mond ist aufgegangen."
    assert "format.script" not in {finding.code for finding in audit("memories", [{**SOUND, "content_full": text}])}


def test_a_short_text_passes_for_english():
    assert not audit("decisions", [{"final_decision": "Ich bleibe. Ich setze mich."}], only=["format.script"])


def test_what_could_not_be_checked_is_listed_where_no_finding_says_it(tmp_path, capsys):
    path = tmp_path / "mine.jsonl"
    path.write_bytes(orjson.dumps({**SOUND, "content_full": OTHERS["German"], "character_id": "CHAR_77"}))
    asked = ["--benchmark", "heart", "--table", "memories", "--rows", str(path), "--only", "rubin", "continuity"]
    assert main([*asked, "--processes", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["skipped"] == [
        "words not checked: 1 of 1 rows are not English",
        "continuity not checked: no ledger for CHAR_77 (1 memory)",
    ]


def test_everything_is_checked_of_english_rows_with_a_ledger():
    fact = {"fact_id": "F1", "character_id": SOUND["character_id"], "kind": "home", "role": "home"}
    ledger = [{**fact, "from_age": 0, "to_age": 80}]
    assert not_checked("memories", [SOUND], {"ledgers": ledger}, select("memories", None)) == []
