"""Scenes of several people: whom a name or a word for one gender is said to, and who reacts."""

import pytest

from audits import audit

BEFORE = (
    "It had rained since the morning and the yard was one brown puddle from the gate to the shed. I counted the rings "
    "that the drops made and gave up at forty. The kettle was on, and the wireless was going in the other room, very "
    "low, so that it sounded like bees. There was a smell of wet wool and of onions."
)
BEHIND = (
    "Afterwards the light came in low under the clouds. The bench was dry on one end. I ate the heel of the bread and "
    "watched the hens go back to the coop, one after the other, as if they had been told. It was a quarter past five "
    "by the church, and then by the station, which is always late. Nothing else happened until supper."
)

TO_OTHERS = (
    '"Tavares, shut the door," said the instructor.\n\n"I can do it," I said.',
    ('"Marek! Marek, you forgot your change!" the woman shouted.\n\nA man in a blue cap turned round and went back.'),
    ('"Line up by height," said Mr Obi. "Kofi, you\'re taller than that. Esi, stop pushing."\n\nI stood on my toes.'),
    ('"Is that you, Lena?" my mother called from the kitchen.\n\n"No, it\'s us," I said, and Lena laughed behind me.'),
    '"Good morning, sir," said the clerk to the inspector, and I held the ladder.',
    'The dog ran in with the glove. "Good boy!" said Father. "Good boy, give it here."',
    (
        '"Ruth, hold her head," said the midwife. "That\'s my girl. That\'s my good girl."\n\nThe mare '
        "kicked once, and I let go of the rope."
    ),
    '"Bless you, my child," the priest said to the bride. I threw the rice too early.',
    (
        '"Next!" said the nurse. "Ortega?" A woman with a stick got up. "Ortega, room two."\n\nI looked '
        "at my number again."
    ),
    '"Well done, lads," the coach said. They picked up their bags. I went on cutting the oranges.',
    '"And this is my daughter, Ines," said the woman in the fur. Ines gave me two fingers to shake.',
    '"Tell Pavel to come in," Mother said to me. "Pavel! Pavel, it\'s getting cold," I shouted from the step.',
    '"You\'re late, Tom." It was the foreman, and Tom hung his head. I kept on sweeping.',
    (
        '"Sit down, Sister," said the doctor. "You\'ve been on your feet all night." She did not sit. I '
        "changed the water in the jug."
    ),
    (
        '"Ladies and gentlemen, please fasten your seat belts," said the loudspeaker. I looked for the '
        "other half of mine."
    ),
    '"Miss! Miss! Peter\'s got my ruler!" said Anka. Miss Hall did not turn round. I had my hand up as well.',
    ('"How much for the lady?" said the man at the stall, and Aunt Vera put her purse away. I carried the melons.'),
    (
        '"Dear Hanne," my grandmother read out, "the roof is mended and the cow has calved." She looked '
        'at me over her glasses. "That\'s from your great-uncle."'
    ),
    '"Happy birthday, dear Jonas," we all sang, and Jonas blew, and I held the cake.',
    '"Number nine, Whitaker!" the man with the megaphone shouted. Whitaker ran on. I moved up on the bench.',
    '"Where\'s Nora?" said Dad.\n\n"Upstairs," I said.\n\n"Nora! Bath!"',
    '"Ask your brother," said Mum.\n\n"I did," I said. "He\'s asleep."',
    (
        '"Girls, girls!" Miss Lund clapped her hands. "This is a library. Ada, feet." I was behind the '
        "atlas with the boys from the fourth."
    ),
    '"Oi, mister, your lace is undone," a boy called to the man with the tuba. I looked at mine.',
    ('"Come on, love, up you get," said the ambulance man, and he lifted Gran like a chair. I carried her shoes.'),
    '"This is for Marta," said the postman, "and this is for your dad."\n\nI took both.',
    (
        '"Thank you, Mrs Adeyemi," said the judge. "You may stand down." Mrs Adeyemi passed me on the '
        "way out, and nodded."
    ),
    '"Mummy, I want to go home," said a small voice behind us. A woman bent down. I let them go first.',
    '"Auntie! Auntie, catch!" Little Ben threw it at Rosa and missed. I got it from under the car.',
    '"What do you want, son?" the butcher asked the boy in front of me. I had the list in my hand.',
    '"Brother Anselm will show you the bees," said the abbot. Brother Anselm winked at me.',
    "\"She's a natural,\" the trainer said to Vera's mother. I untied the skates.",
    '"Keep your hair on, Dave," said Lil. "I\'m coming." I served the next one.',
    '"He\'s the image of his father," the old women said over the pram, and I pushed it a bit faster.',
    '"You must be Mr Lindqvist," said Papa, and the man with the case said he was. I stood behind the door.',
    '"Private Hobbs!" the sergeant yelled. Hobbs took one step forward. I looked straight ahead.',
    (
        '"Is there a Doctor Meyer on the train?" the guard called. A man in our compartment folded his '
        "paper. I moved my knees."
    ),
    '"Hurry up, boys," Mum called to my cousins. I already had my boots on.',
    '"Ivan, Ivan, Ivan," the whole stand was chanting. Ivan waved with both arms, and I spilled my tea.',
    '"Now then, young man," the policeman said to Karl. "Whose is this bicycle?" I looked at the bicycle.',
    '"God rest her, she was a lady," said the undertaker. I folded the cloth.',
    '"Did you hear that, Gustav?" said Frau Klein to her parrot. I put the seed on the counter.',
    ('"My wife will have the fish," the man said. I wrote it down. "And you, madam?" he said to his mother-in-law.'),
    (
        '"Everyone, this is Femi," said the head, with a hand on the new boy\'s shoulder. He looked at '
        "me first, I don't know why."
    ),
    '"What did she say?" asked Mum.\n\n"She said yes, madam," said the driver.\n\nI looked out at the sheep.',
    (
        '"Aye, captain," said the mate.\n\n"Then cast off, lad," said the captain, and the deckhand '
        "threw the rope past my ear."
    ),
    '"Anna, Bea, Carla, hands," said Nurse. They held out their hands, and I held out mine.',
    '"Who\'s a clever girl, then?" said the man to his cockatoo. I paid for the nails.',
    '"Good night, ladies," the porter said to the two Miss Finches. I took their key off the hook.',
    ('"Which of you is Bergström?" the purser asked.\n\n"He\'s below," said the cook. "Asleep."\n\nI went on peeling.'),
    '"Give it to Olga," said the manager, and Olga took it. I rang up the next lady.',
    '"Hi, Dad. It\'s Finn," said Finn into the receiver. I unwound the cord for him.',
    '"Rosa, your turn," said the umpire. Rosa spat on her hands. I kept the score.',
    '"I christen you Marguerite," said the mayor\'s wife, and the bottle would not break. I held my ears.',
    '"Dr Amadi to theatre two," said the ceiling. "Dr Amadi." I pushed the trolley on.',
    '"Kids, this is Mr Novak," said Miss Brown. "He\'s got a falcon."\n\nI sat on my hands.',
    '"My Tom would have loved this," said the old woman to me. "He was a one for trains."',
    (
        '"You look like your mother, Elif," said the hairdresser to the girl in the next chair. I shut '
        "my eyes under the towel."
    ),
    '"Silly boy," said Granny to the parrot, and covered the cage. I did the lamps.',
    (
        '"What\'s your name, son?" the constable asked the boy with the drum.\n\n"Wilf," he said.\n\nI '
        "kept well behind my basket."
    ),
    '"Ladies first," said Uncle Bo, and Aunt Siv went in. I held the umbrella.',
    '"Mind, madam!" the carter shouted, and a woman jumped back. I laughed till I had to sit down.',
    '"How do, missus," said the tinker when Gran opened. I looked round her apron.',
    (
        '"Come to Daddy," said the man on the next bench, and a small thing in a red hat fell into his '
        "arms. I turned my page."
    ),
    '"They want you, Jonah," said Pa. My brother put down the saw. I took it up.',
    '"Private Ames is wounded, sir," said the runner. The captain looked at the map. I was holding the map.',
    '"Are you the new girl?" the cook asked. It was Petra she meant; I was only there with the eggs.',
    '"Her name\'s Bluebell," said the farmer\'s wife, "and she kicks." I put my hand on the cow all the same.',
    ('"That\'s Otto," whispered Lise. "The one with the ears." Otto looked at us and went red. I dropped my spoon.'),
    '"Hanna says hello," I said. "Which Hanna?" said Gert. "Hanna from the mill."',
    '"Sleep tight, my prince," said the woman in the flat below, and through the floor I heard him laugh.',
    '"Good evening, gentlemen," said the usher to the two in the box. I tore their tickets.',
    ('"Mr Pereira! Mr Pereira!" A reporter ran past me with his hat in his hand. The man on the steps did not stop.'),
    '"Wake Ludo," said Mum. "And tell Ludo it\'s his day for the ash."\n\nI threw a sock at Ludo.',
    ('"I now pronounce you husband and wife," said the registrar, and Yusuf kissed Mina, and I cried on my sleeve.'),
    '"Nurse!" somebody called. "Nurse!" The little one with the freckles ran. I was only visiting.',
    '"Sir," said the boy to the conductor, "is this the right way up?"\n\nI had the other half of the map.',
    (
        '"Whose shoes are these?" said the monitor.\n\n"Adaeze\'s," said somebody.\n\n"Adaeze, come and '
        'get your shoes."\n\nI had mine on.'
    ),
    '"Take my wife," said the comedian, and nobody laughed, and I stirred my tea.',
    '"Good boy, Rufus," said my uncle. "Drop it. Drop it, Rufus." It was my slipper.',
    '"He\'s my brother," Jan told the guard, nodding at the man on the stretcher. I held the bottle up.',
    '"A girl!" said the midwife from behind the curtain. Father sat down on the coal box. I had wanted a dog.',
    '"You\'re a good man, Charlie," said the barmaid, and Charlie cried. I wiped down the end by the taps.',
    '"Auntie\'s not well," Mum said to the twins. "So no drums." I took the drums.',
    ('"Quiet, ladies, please!" said the librarian to the three by the window. I could not find the right shelf.'),
    '"Ines? It\'s for you," said Mother, with her hand over the phone. Ines ran past me on the stairs.',
    ('"Number thirty-one, Haddad." Nobody got up. "Haddad?" An old man was woken by his daughter. I was thirty-four.'),
    '"What a handsome lad," said the lady, and gave my brother a plum. I got the stone.',
    '"Madame Duval," read the porter off the trunk. "Is that you?"\n\n"My aunt," I said. "She\'s being sick."',
    "My tag said VISITOR. The others had names: Ulla, Per-Olof, Bengt from accounts.",
    ('Bengt read the list of the lost. "Holm, Holm junior, Åkesson." He took off his glasses. I looked at the sea.'),
    "The card on the wreath said For our Stan from all at Number Six. I straightened the ribbon.",
    (
        '"Shift\'s over, gents," said the foreman, and thirty men put down thirty shovels. I already had '
        'my cap on.\n\n"Not you," he said.'
    ),
    '"He\'s got your nose, has Harry," the midwife said to my brother-in-law. I was allowed to hold one foot.',
    "Someone had written JAMAL WAS HERE on the inside of the lift. I read it every morning.",
    '"And for you, young man?" said the ice cream lady to the boy ahead of me. He wanted two of everything.',
    "\"Girls' queue on the left, boys' on the right,\" said the dinner lady. We all went in the middle.",
    '"Mother of God," said the driver. "Will you look at that." I looked.',
    "On the radio a woman called Joan wanted a song for her husband. I turned it up.",
    ('"Love to Gisela and the boys," it said at the end of Aunt Trude\'s letter. I put it back behind the clock.'),
    ('The teacher called the register. "Abbott. Baines. Corrigan?" "Here, sir." "Dunne?" "Sick, sir." I drew a cow.'),
    '"Say thank you to the lady, Luca." Luca hid behind his mother, and I put the balloon back.',
    '"Now then, Ted," I said. "What have you done to your thumb?"\n\n"Nowt," said Ted. "It done it itself."',
    '"Fatima\'s mum!" the nursery teacher called, and a woman in a green coat stood up. I was next but one.',
    "The vicar said we were gathered here to remember Walter, and a dog barked. I bit my glove.",
    '"Miss Haversham to you," said the parrot. It says that to everyone. I gave it a nut.',
    '"Happy name day, Zofia!" they shouted at my aunt, and lifted her, chair and all. I saved the glass.',
    "\"Is that the doctor? It's my husband, Doctor, it's his chest,\" she said into the phone. I held her bag.",
    '"Tell him his sister\'s here," said the woman at the gate. I went in and told the warder.',
    (
        '"All rise," said the clerk, and the judge came in, and sat, and said, "Mr Price, is your '
        'client well?" I sat down last.'
    ),
    (
        '"You\'d better ask Irene," said the man in the hat. "Irene knows where everything '
        'is."\n\n"Where\'s Irene?" I said.'
    ),
    '"Lads, lads, one at a time!" Coach had eleven of them on him like puppies. I counted the balls.',
    "'Evening, Vicar,' said the sexton. 'Evening, Bob,' said the vicar. I kept on with the leaves.",
    '"To the bride!" said my uncle, and two hundred glasses went up, and I dropped mine.',
    '"Kiss your grandmother, Ewan." Ewan wiped his mouth first. Then it was my turn, and I didn\'t.',
    "She had a tattoo that said Marco, and under it another that said Not Marco. I stamped her passport.",
    '"Oh, you are a good girl," my aunt told the dishwasher when it began to hum. I mopped up the rest.',
    '"Sergeant Kovač?" said the voice in my headset. "Wrong channel," I said.',
    (
        '"They\'ve put the women in the school," said the man with the dog, "and the men in the church." '
        "I was looking for my mother."
    ),
    '"Dear Mr Lund," I wrote, "thank you for the hens."',
    '"Mum! Mum! Mum!" It was the neighbours\' boy, over the wall. I threw the ball back.',
    '"Hold still, princess," the vet said, and the cat bit her. I laughed, and then it bit me.',
)
NAMES_ME = (
    '"Ferreira, shut the door," said the instructor, looking straight at me. I shut it.',
    'The nurse ran her finger down the list. "Ortega?" I got up with my jar. "Ortega, room two."',
    '"And this one\'s Bruno," said my aunt, and pulled me out from behind the curtain by the ear.',
    (
        '"Who broke it?" said the teacher. "Please, Miss, it was Hedda," said Oskar, and every head '
        "turned and looked at me."
    ),
    '"Delivery for Okonkwo," said the man. "That\'s me," I said, and signed his screen.',
    'The captain shook hands down the row. "Well bowled, Whitaker," he said to me.',
    '"You\'re on, Mirka!" the stage manager hissed, and pushed me through the gap.',
    '"Have you met Leonie?" said Greta, with her arm through mine.',
    '"First prize," said the mayor, "goes to Tilda Brandt." I could not get up at first, my knees had gone.',
    '"Kit! Kit, over here!" they yelled from the raft, and I swam.',
    '"My name\'s Ola," I told the woman, "and I\'ve lost my bus."',
    'The foreman looked at his sheet. "So you\'re Danjuma," he said, and gave me a helmet.',
    '"Hello? Is that Yusuf?" said the voice. "Speaking," I said.',
    '"Which of you is Bergström?" the purser asked. I put down the knife and said I was.',
    '"Rosa, your turn," said the umpire, and threw me the ball.',
    '"And you are?" said the woman at the desk.\n\n"Novak," I said. "Ilse Novak."',
    '"Jonah," said Pa. "Jonah, look at me." I looked at him.',
    'The steward read it off my boarding card. "Enjoy your flight, Mr Pereira," he said to me.',
    '"I know you," said the old man. "You\'re Amadi\'s youngest. You\'re Chike." I said I was.',
    '"Elif, love, your towel\'s slipping," said the hairdresser, and tucked it in behind my neck.',
    '"Congratulations, Hanna," said the professor, and shook my hand for too long.',
    '"Dear Gert," it said at the top of the card with the ship on it, which had taken nine weeks to reach me.',
    "She wrote Mina on a strip of tape and stuck it on my tray.",
    "My tag said ULLA, as the printer had run out of the second letter of my surname.",
    '"Is there a Signe here?" the boy with the telegram asked, and I wiped my hands and took it.',
    '"Not you, Harry," said the foreman to me. "You\'re on nights."',
    '"Jamal? They\'re ready for you," said the girl with the headset, and held the curtain up for me.',
    '"Say thank you to the lady, Luca," said my mother, and pinched me under the coat.',
    '"Happy name day, Zofia!" they all shouted when I came in with the milk.',
    '"Kiss your grandmother, Ewan," said Mum, and gave me a small push.',
    "\"Well, if it isn't Joan Abbott's child! It's Robin, isn't it?\" the woman said to me.",
    (
        'Grandad never gets it right. He calls us by the dogs\' names first: "Moss, Fly, Gyp," and then, '
        'with his finger on my nose, "Tess."'
    ),
    '"Let\'s hear from Milena now," said the chairwoman, and the microphone came down the row to me.',
    '"Pass the salt, Corrigan," said the prefect, without looking at me. I passed the salt.',
)
TELLS_MY_GENDER = (
    '"Next, please. What can I get you, madam?" the man asked me.',
    '"Sit still, young lady," said the dentist to me, with his thumb in my cheek.',
    '"You\'ve a fine beard coming," said my uncle, and pulled it.',
    '"Mind out for the lady," the porter told his boy, and they let me by.',
    '"Oi, missus!" a boy shouted after me. "You dropped your glove."',
    '"That\'s my boy!" my father yelled when I came up with the cup.',
    '"Excuse me, sir, is this seat free?" a girl asked me.',
    '"How far along are you?" the woman on the bench asked me.',
    '"Be a good lad and pass me the hammer," said Grandad. I passed it.',
    '"Mum," said my eldest, "you\'ve got flour on your nose."',
    '"Thank you, son," the old man said, and leaned on my arm.',
    '"Ladies," said the waiter to Greta and me, "your table."',
    '"This is my sister," Tom told them, and put his arm round me.',
    '"He\'s a quiet one, your lad," the neighbour said to my mother over my head.',
    '"Are you the new girl?" the cook asked me.',
    '"How do, missus," said the tinker, when I opened the door.',
    '"Wife of the deceased?" the clerk asked me. "Sign here."',
    '"You\'ll make some man very happy," said the aunt on my left, and passed me the beans.',
    '"A strapping lad like you," said the sergeant, and gave me the heavy one.',
    '"Good lad, good lad," said the vet, and gave me the rope to hold.',
    '"Nothing for the gentleman?" said the waiter, with his pencil pointing at me.',
    '"Dad, you promised," said both my boys at once.',
    '"Sir! Sir, you\'ve left your hat," and it was my hat.',
    "They sent me to the women's ward because the other one was full.",
    "I stood in my slip with my dress over my arm until the nurse came back.",
    "The razor was blunt, and I went to the interview with three bits of paper on my chin.",
    "The captain said there would be no girls on his boat, so I sat on the quay with the sandwiches.",
    '"Your son is hurt, Mrs Bauer," the teacher told me, and I dropped the basket.',
    '"Push, mama, push," said the midwife, and I pushed.',
    "I was the only one of us girls who could drive the tractor.",
    '"Gentlemen, your papers," said the guard to Emil and me.',
    '"Hush, my daughter," said the old woman, and wiped my face with her sleeve.',
    "They had me down as a boy soprano, and in the second verse it broke.",
    '"Here\'s Daddy!" said my wife to the baby, and put him in my arms.',
    '"That\'s no work for a woman," said the boatman, and held out his hand for my oar.',
    ("My mother-in-law says a wife who can't make dumplings is only half a wife, and eats mine with her eyes shut."),
    '"Welcome aboard, sir," said the girl in the blue hat, and tore my ticket.',
    "The matron told me to tie back my hair and take off my skirt and get up on the table.",
    "At the mosque I go up the stairs with my aunts to the women's balcony.",
    "I had been a page boy once before, in velvet, and been sick.",
)


def finds(scene, code):
    text = f"{BEFORE}\n\n{scene}\n\n{BEHIND}"
    found = audit("memories", [{"content_full": text}], only={code})
    return [each.text for each in found if each.severity != "note"]


@pytest.mark.parametrize("scene", NAMES_ME)
def test_a_name_is_found_that_the_narrator_answers_to(scene):
    assert finds(scene, "identity.named")


@pytest.mark.parametrize("scene", TELLS_MY_GENDER)
def test_a_word_for_one_gender_is_found_that_is_said_to_the_narrator(scene):
    assert finds(scene, "identity.gendered")


@pytest.mark.parametrize("scene", TO_OTHERS)
def test_what_is_said_to_others_is_left_alone(scene):
    assert finds(scene, "identity") == []
