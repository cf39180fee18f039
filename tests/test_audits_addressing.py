"""By which words others call the protagonist, and what in the scene says that they mean somebody else."""

import pytest

from audits import audit

CALLED = (
    '"Good boy," my grandfather said.',
    '"Sit down, young lady," the teacher said.',
    '"Well done, my girl," Grandma said.',
    '"Young man, this is a library," she hissed.',
    "'You're a brave girl,' said the nurse.",
    '"That\'s my boy!" Dad shouted.',
    '"What\'s the matter, little man?" the driver asked.',
    '"That\'s my girl," Dad said.',
    '"Be a good boy," my aunt said.',
    '"Big girls share," no: "Come on, big girl," she said.',
    '"Clever boy!" the teacher said.',
    '"Poor girl," said the nurse, and gave me a plaster.',
    '"Well done, young man," he said.',
    '"Sit, little man," the barber said.',
    '"My boy, you are freezing," she said.',
    '"Hello, little lady," the conductor said.',
    '"Oh, my dear boy," she sighed.',
    "'Good girl,' the doctor said.",
    '"Listen, my son," the priest said.',
    '"You silly girl!" my sister shouted.',
    '"Now, young lady, the truth," he said.',
    '"There\'s a good lad," said the plumber.',
    '"Smart girl," the clerk said, and gave me the form.',
    '"What a brave girl," said the nurse.',
    '"Hey, pretty lady," a man called.',
    '"Good evening, young man," the porter said.',
    '"Waitress!" he called.',
    '"Come on, lass," he said.',
    "'Come here, son,' he said to me.",
    '"Not bad, sis," Omar said.',
    '"Listen, lad," he began.',
    '"Bro, look at this," Timo said.',
    '"Good night, son," he said.',
    '"Thanks, sis," my brother said.',
    '"Hey, bro!" he called.',
    '"Come on, lass," the farmer said.',
    '"What is it, girl?" my grandmother asked me.',
    '"Sorry, mister," the boy said to me.',
    '"Listen, missy," she said.',
    '"No, laddie," he said.',
    '"Wake up, princess," my father said.',
    '"Boy, come here," the man shouted.',
    '"Sonny, that is my seat," the woman said.',
    '"You there, boy!" he shouted.',
    '"Yes, daughter," he said.',
    '"Oh, sister, what have you done," she said.',
    '"Hello, brother," Amir said.',
    '"Attagirl!" the coach shouted.',
    '"Please, señora, sit," he said.',
    '"Well done, lad," he said.',
    '"Son, sit down and eat," she said.',
    '"Look here, lassie," he began.',
    '"Hi, sis!" Nils called.',
    '"Girl, what a day," she said.',
)
NOT_CALLED = (
    '"Good boy," I told the dog.',
    '"Thank you, sir," I said.',
    '"Sit down, kid," the teacher said.',
    '"I will miss you," she said.',
    '"My son is ill," the neighbour said.',
    '"The boy next door broke it," she said.',
    "'Your sister called,' Dad said.",
    '"Where is the girl?" he asked.',
    '"I saw a man, a dog and a cart," said Leo.',
    "'Excuse me, sir,' I said to the guard.",
    '"She is a good girl," he said about the mare.',
    '"Miss Brandt is ill," they told us.',
    '"Good dog," Dad said.',
    '"Good boy," I whispered to the pony.',
    '"Well done, kid," he said.',
    '"The young lady at the desk was kind," she said.',
    '"A little girl was lost," the speaker said.',
    '"My boy is four," the neighbour told me.',
    '"That young man over there dropped it," she said.',
    '"Good boy," she said to the dog.',
    '"Poor thing," said the nurse.',
    '"Come, my dear," she said.',
    '"He is a big boy now," Mum said about my cousin.',
    '"She\'s a clever girl, that cat," he said.',
    "'Good girl,' he told his mare.",
    '"An old man fell," the driver said.',
    '"What a good lad he is," she said about Finn.',
    '"Sweet dreams," she said.',
    '"Brave old house," he said.',
    '"Oh boy," said Ruth when she saw the sink.',
    '"The glass, please," he said.',
    '"Thanks, mate," he said.',
    '"My sister, Ines, is late," he said.',
    '"I saw your son," she said.',
    '"The girl was fast," he said.',
    '"Hello, kid," he called.',
    '"Thanks, sis," I said.',
    '"A boy fell in," the guard said.',
    '"Boys and girls, sit down," the teacher said.',
    '"His daughter is ill," they said.',
    '"Brotherhood is a big word," he said.',
    '"Come on, everyone," she said.',
    '"Lad Lane is closed," the sign said.',
    '"Son of a gun!" he laughed.',
    '"Mister Softy is parked outside," she said.',
    '"Brother Thomas rang the bell," she said.',
    '"Sis is late," he said about Karla.',
    '"Princess Street is closed," he said.',
    '"Girls\' shoes are upstairs," the clerk said.',
    '"Who is that boy?" she asked.',
    "'Daughter of the regiment' was the title.",
    '"Listen, kid," he began.',
)
FAR_AND_WIDE = (
    '"Need a hand there, young fella?" the driver asked, and I shook my head.',
    '"Mind the step, guv," the cabbie said.',
    '"Evening, squire," said the porter.',
    '"Come away in, hen," said the landlady.',
    '"Sit down, bhai," said the man at the tea stall.',
    '"Didi! Didi, wait!" a small boy called after me.',
    '"Gracias, señorita," said the conductor, and gave me my change.',
    '"Mija, eat," said my aunt.',
    '"Habibi, sit," said the grocer.',
    '"Bonjour, madame," said the baker and wrapped my loaf.',
    '"Komm, mein Junge," said the ferryman.',
    '"Doucement, ma grande," said the nurse.',
    '"Bravo, ragazzo," the cook said.',
    '"Thank you kindly, missus," the coalman said to me.',
    '"Steady on, old chap," said the man in the next chair.',
    '"Sleep well, my prince," Grandpa said.',
    '"All right, boyo?" said the postman.',
    '"Arre, beti, come inside," the neighbour said.',
    '"Kuya, wait for us!" the little ones called to me.',
    '"Chin up, laddie," said the nurse.',
    '"Who\'s my big strong man?" said Gran, and squeezed me.',
    '"Watch yourself, young feller," the ferryman said.',
    '"Right you are, my good woman," the inspector said to me.',
    '"Down you come, wee man," the fireman said.',
    '"There\'s my girl," Grandpa said.',
    '"Where\'s my big boy?" Dad called.',
    '"Girl, what a day," she said, and dropped her bags at my feet.',
)
SCENES_FOR_ME = (
    ('I wind down the window.\n\nThe man in the other car laughs. "Need a hand, young fella?"\n\n"I\'m fine!" I yell.'),
    (
        'I add it up twice, as it can\'t be true. His mouth opens.\n\n"Ma\'am, with respect," he says, "you '
        'could get a boat for that."'
    ),
    'I stood up so fast that the chair fell. Mr Pryce caught it with his foot. "Go on, good lad," he muttered.',
    'I put my bag on the belt.\n\n"Anything sharp, sir?" says the officer.\n\n"Only my tongue," I say.',
    '"Is it far?" I asked.\n\n"Two stops, miss," the man said.',
)
SCENES_FOR_OTHERS = (
    (
        'Brenda let me hold the dog. Her name was Duchess, and Duchess shook.\n\n"Good girl," Brenda '
        "said, and Duchess licked the salt off my thumb."
    ),
    (
        '"Is that what I think?" says the lady with the dachshund.\n\n"I believe so, señora."\n\nShe '
        "crosses herself, and I drive on."
    ),
    (
        'I look at the floor.\n\nThen Nayeli says, very loud, "What\'s that in your hair, señora?"\n\nDoña '
        "Lucha puts up her hand."
    ),
    'He kissed her on the head. "Bad lassie," he said to her. "Bad, bad lassie." I looked away.',
    '"Tariq, you\'re bleeding, bro," says Sami, and Tariq touches his ear.',
    'The vet ran a hand down the mare\'s leg. "Easy, old girl," he said. I held the torch.',
    'Papa turned to Milo. "Well done, lad," he said. I ate my soup.',
    '"Sit, boy," the man said, and the puppy sat on my foot.',
    '"Sis, stop," I hiss, pulling her down behind the wall.',
    '"What do I do?" asked the clerk.\n\n"Stamp it, lad."\n\nHe stamped it, and I took my form.',
    'The teacher wrote a date on the board.\n\n"Sir, it\'s the fourth," said Tom.\n\nI looked out of the window.',
    '"Sir, your tea," I said.',
    '"Come on, Kofi, good lad," the coach called, and I clapped.',
    '"Boy, is it hot," said Ruth.',
    '"Oh boy," she said when I opened the door.',
)


def finds(text):
    return [found.text for found in audit("memories", [{"content_full": text}], only={"identity.gendered"})]


@pytest.mark.parametrize("text", [*CALLED, *FAR_AND_WIDE, *SCENES_FOR_ME])
def test_a_word_for_one_gender_that_the_protagonist_is_called_by_is_found(text):
    assert finds(text)


@pytest.mark.parametrize("text", [*NOT_CALLED, *SCENES_FOR_OTHERS])
def test_a_word_that_is_meant_for_somebody_else_is_left_alone(text):
    assert finds(text) == []
