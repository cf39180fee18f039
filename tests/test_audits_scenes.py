"""Who speaks in a scene, and whether the narrator is spoken to."""

import pytest

from audits.scenes import Scene
from audits.speech import Quotations


def scene(*paragraphs):
    return Scene(Quotations("\n\n".join(paragraphs)))


def test_two_who_talk_take_turns():
    talk = scene('"Where is it?" I said.', '"In the shed."', '"Which one?"', '"The green one," said Dad.')
    assert [talk.mine(number) for number in range(4)] == [True, False, True, False]


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
    assert scene(*paragraphs).to_narrator(0)


@pytest.mark.parametrize(
    "paragraphs",
    [
        ('"Hold it, Ada," said Dad.', '"I am holding it," said Mum.', "I ate my soup."),
        ('"Hold it, Ada," said Dad, and the ladder shook.', "Mum held it with both hands."),
        ('"Hold it, Ada," I said.', "She held it."),
    ],
)
def test_others_talk_among_themselves(paragraphs):
    assert not scene(*paragraphs).to_narrator(0)


def test_a_shout_reaches_the_narrator_where_nobody_else_answers():
    assert scene("There was a shout from the stairs.", '"Ada! Where are you, Ada?"', "The light went out.").from_afar(0)
    assert not scene("There was a shout.", '"Ada! Where are you?"', "The captain turned round.").from_afar(0)
