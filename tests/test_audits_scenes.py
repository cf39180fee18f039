"""Who speaks in a text, and to whom."""

import pytest

from audits.text.quotations import Quotations


def scene(*paragraphs):
    return Quotations("\n\n".join(paragraphs)).scene


def hearer(*paragraphs):
    """Whom the first quotation is for, which calls somebody Ada."""
    talk = scene(*paragraphs)
    at = talk.text.find("Ada")
    return talk.hearer(0, (at, at + 3))


def speakers(*paragraphs):
    talk = scene(*paragraphs)
    return [talk.turns.speaker(number) for number in range(len(talk.spans))]


def test_two_who_talk_take_turns():
    talk = ('"Where is it?" I said.', '"In the shed."', '"Which one?"', '"The green one," said Dad.')
    assert speakers(*talk) == ["I", "other", "I", "other"]


def test_others_take_turns_without_the_narrator():
    assert speakers('"Where is it?" said Mum.', '"In the shed."', '"Which one?"') == ["other", None, None]


def test_what_abuts_is_said_by_another():
    assert speakers('"Are you there?" "I am here," I said.') == ["other", "I"]


def test_who_has_spoken_goes_on_in_a_paragraph_unless_somebody_else_acts():
    assert speakers('"Go," I said. "Now."') == ["I", "I"]
    assert speakers('"Go," I said. Mum looked up. "Where?"') == ["I", "other"]
    assert speakers('"Go," said Mum. I shook my head. "No."') == ["other", "I"]


@pytest.mark.parametrize(
    "paragraphs",
    [
        ('"Hold it, Ada," said Dad.', '"I am holding it," I said.'),
        ('"Hold it, Ada," said Dad, and pushed it into my hand.',),
        ('"Ada?" she said, and I stood up.',),
        ('"Hold it, Ada," said Dad.', "I held it with both hands."),
    ],
)
def test_the_narrator_is_spoken_to_who_answers_or_is_touched_or_does_it(paragraphs):
    assert hearer(*paragraphs) == "me"


@pytest.mark.parametrize(
    "paragraphs",
    [
        ('"Hold it, Ada," said Dad.', '"I am holding it," said Mum.', "I ate my soup."),
        ('"Hold it, Ada," I said.', "She held it."),
        ('"Hold it, Ada," Dad told my sister.', "I held it with both hands."),
        ('Dad turned to my sister. "Hold it, Ada."', "I held it with both hands."),
        ('"Hold it," said Dad, and Ada took it.',),
    ],
)
def test_others_talk_among_themselves(paragraphs):
    assert hearer(*paragraphs) == "another"


def test_a_scene_may_leave_it_open():
    assert hearer('"Hold it, Ada," said Dad, and the ladder shook.', "It held.") is None


def test_a_shout_reaches_the_narrator_where_nobody_else_answers():
    assert scene("There was a shout from the stairs.", '"Ada! Where are you, Ada?"', "The light went out.").from_afar(0)
    assert not scene("There was a shout.", '"Ada! Where are you?"', "The captain turned round.").from_afar(0)
