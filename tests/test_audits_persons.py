"""Whose gender quotations tell: said of the protagonist, to a group, or by a child of the protagonist."""

import pytest

from audits import audit

SPOKEN_OF = (
    '"She\'s my lawyer," he said, pointing at me.',
    '"He\'s the one who broke it," said Ines, and pointed at me.',
    '"Ask her, she was there," the boy said, jerking his thumb at me.',
    '"He knows the way," the guide told them, nodding at me.',
    '"She never eats fish," Mum told the waiter over my head.',
    '"Give it to the lady," he said, nodding at me.',
    '"That man saw it all," the woman said, pointing at me.',
    '"Let him through," she shouted, waving at me.',
    "\"She's shy,\" my aunt said, as if I weren't there.",
    '"His hands are cold," the nurse told the doctor over my head.',
    '"This is her desk," the clerk said, introducing me.',
    '"She\'ll do it," said the foreman, meaning me.',
    '"He\'s new," Omar told the others and pushed me forward.',
    '"She is our best welder," said the boss, with a hand on my shoulder.',
    '"He can sing," Vera said, shoving me to the front.',
    '"Take her with you," said Dad, nodding towards me.',
    '"I\'d bet on that girl," the trainer said, pointing at me.',
    '"He won\'t bite," said my uncle, and drew me to the table.',
    '"She speaks Polish," the chief said, indicating me.',
    '"That\'s the boy," the shopkeeper said, pointing at me with a leek.',
    '"Her mother works here," said the porter, as though I was not there.',
    '"Listen to him," the cook said, meaning me.',
    '"She\'s mine," said Sam, with an arm around my shoulders.',
    '"He did it for nothing," they said about me.',
    '"It was her idea," said Lotte and pointed straight at me.',
    '"Is your son always this pale?" the nurse asked over my open mouth.',
    '"Her sleeves are too long," the tailor said, with his tape round my chest.',
    '"This is him," Ana said, pulling me in by the sleeve.',
    '"Look at our little princess," Papa says and spins me round.',
    'The waiter turns to me: "And for the lady?"',
    '"Is she asleep?" Papa whispers over my bed.',
    '"He has his grandad\'s ears," says Jo, holding me up to the light.',
    "They all wait for her grandson. That's me, and I am starving.",
    "The other nuns have gone up. I trim the candle.",
    '"What a stubborn lad," the vet said, meaning me.',
)
OF_ANOTHER = (
    '"She\'s my lawyer," he said, pointing at the door.',
    '"He\'s the one who broke it," said Ines, and pointed at Tom.',
    '"Ask her," the boy said.',
    '"They know the way," the guide told them, nodding at me.',
    '"Our guest never eats fish," Mum told the waiter over my head.',
    '"Give it to the boss," he said, nodding at me.',
    '"That one saw it all," the woman said, pointing at me.',
    '"Let us through," she shouted, waving at me.',
    "\"You're shy,\" my aunt said, as if I weren't there.",
    '"My hands are cold," the nurse told the doctor over my head.',
    '"This is the new desk," the clerk said, introducing me.',
    '"You\'ll do it," said the foreman, meaning me.',
    '"We have a new one," Omar told the others and pushed me forward.',
    '"Here is our best welder," said the boss, with a hand on my shoulder.',
    '"That voice!" Vera said, shoving me to the front.',
    '"Take the child with you," said Dad, nodding towards me.',
    '"I\'d bet on that one," the trainer said, pointing at me.',
    '"She\'s my lawyer," I said, pointing at Vera.',
    '"He is late," the driver said.',
    '"She speaks Polish," the chief said of the cook.',
    '"That\'s the kid," the shopkeeper said, pointing at me with a leek.',
    '"Nobody\'s mother works here," said the porter, as though I was not there.',
    '"Listen to that," the cook said, meaning me.',
    '"All mine," said Sam, with an arm around my shoulders.',
    '"They did it for nothing," they said about me.',
    '"I told her," said Omar when I came back.',
    "\"That's him, that's her, that's the one,\" a child said, pointing at me.",
    '"My mother raised nine," said Gran, tucking me in.',
    '"A pinch, even if he begs." She was not looking at me.',
    "They all wait for her grandson. That's the man with the hat.",
    "A girl came in late. The other girls laughed, and I moved up.",
    '"You need a longer sleeve," the tailor said, with his tape round my chest.',
)
TO_A_GROUP = (
    '"Gentlemen, please," the captain said, and Oke and I sat down.',
    '"Come on, lads," said the foreman, and the six of us lifted.',
    '"Good evening, ladies," the waiter said to us.',
    '"Girls!" the coach called, and we ran.',
    '"Quiet, boys," he told the three of us.',
    '"What\'ll it be, gents?" the barman asks me and Sven.',
    '"Ladies first," he says, so I go first.',
    '"We brothers stick together," says Ruben, and spits in his palm, and I spit in mine.',
    '"Two boys holding hands?" the conductor says, and Ahmet lets go of mine.',
)
TO_ANOTHER_GROUP = (
    '"Gentlemen, please," the captain told the crew.',
    '"Come on, lads," I said, and the six of us lifted.',
    '"Good evening, everyone," the waiter said to us.',
    '"The girls are late," the coach said, and we waited.',
    '"Boys," said Ines to her sons.',
    '"Gentlemen, start your engines," said the radio, and I turned it off.',
    '"We saw two girls," he told us.',
    '"Ladies first," he said to the two Miss Harpers, so I waited.',
)
BY_A_CHILD = (
    '"Daddy, look!" I looked.',
    '"Mum, it hurts." I knelt and blew on the knee.',
    '"Mum, look!" my daughter shouted.',
    '"Auntie, auntie, look!" the little ones yell at me.',
    '"Dad\'s home!" the kids scream, before I have got my key out of the lock.',
    'My nephew hangs on to my leg. "Don\'t go, Auntie!" he wails.',
    "'Grandma, your hands are cold,' she says when I do up her scarf.",
    "\"Mum, you're not listening,\" Jake says, and he's right, I'm not.",
)
BY_ANOTHER = (
    '"Look!" I looked.',
    '"Mum, look!" my brother shouted.',
    '"Dad, wait!" I shouted.',
    "\"Mum, it's burning,\" Tom says, and he's right, I can smell it.",
    '"Mum, where are my socks?" Tom asks when I pick up the ball.',
    "A little girl runs past me shouting 'Daddy, it snowed!'",
    'My brother hung on to the gate. "Mum, don\'t go!" he wailed.',
)


def finds(text):
    return [found.text for found in audit("memories", [{"content_full": text}], only={"identity.gendered"})]


@pytest.mark.parametrize("text", [*SPOKEN_OF, *TO_A_GROUP, *BY_A_CHILD])
def test_words_that_tell_the_gender_are_found(text):
    assert finds(text)


@pytest.mark.parametrize("text", [*OF_ANOTHER, *TO_ANOTHER_GROUP, *BY_ANOTHER])
def test_words_that_tell_nobodys_gender_are_left_alone(text):
    assert finds(text) == []
