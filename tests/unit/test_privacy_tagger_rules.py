"""Names that only what stands around them tells: invented ones, so that no list and no training knows them."""

import pytest

from pipelines.privacy.tagger.tag import Tagger, shipped_tagger


def found(text):
    return {text[start:end] for start, end, kind in shipped_tagger().tag([text])[0] if kind == "PERSON"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("hi, my name is trackalinde dralkibshaw and i wait", "trackalinde dralkibshaw"),
        ("hallo, ich heiße perkhelmine staldommoorer und warte", "perkhelmine staldommoorer"),
        ("hoi, ik heet krarbilleke van der glinkelmeer en wacht", "krarbilleke van der glinkelmeer"),
        ("hola, me llamo tavandoro grilligalde y espero", "tavandoro grilligalde"),
        ("bonjour, je m’appelle jaldaurice tendoisetteval et j’attends", "jaldaurice tendoisetteval"),
        ("oi, meu nome é dermenilde dos zuntandoleira e espero", "dermenilde dos zuntandoleira"),
        ("ciao, mi chiamo treldosvaldo bravandizzano e aspetto", "treldosvaldo bravandizzano"),
        ("cześć, nazywam się chrorzisława szebanaszczyk i czekam", "chrorzisława szebanaszczyk"),
        ("NOM ET PRÉNOM : QUESPÉMONDE DE GRILLIGOUCET", "QUESPÉMONDE DE GRILLIGOUCET"),
        ("MY NAME IS QUARNAVIEL CARNIBBOURNE AND I WAIT", "QUARNAVIEL CARNIBBOURNE"),
    ],
)
def test_a_name_is_found_where_its_owner_gives_it(text, name):
    assert name in found(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("can you change the name on my account to trothamond threndeskthwaite?", "trothamond threndeskthwaite"),
        ("kann ich den namen in meinem konto auf draggfriede mundingmoorer ändern?", "draggfriede mundingmoorer"),
        ("puis-je changer le nom de mon compte en draldoltine janchigoucet ?", "draldoltine janchigoucet"),
        ("czy mogę zmienić nazwę konta na gerzobrysz trerzalorzewski?", "gerzobrysz trerzalorzewski"),
    ],
)
def test_the_new_name_of_an_account_is_found(text, name):
    assert name in found(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Thank you, Qualdandry. I have updated it.", "Qualdandry"),
        ("Gentile Glancosvaldo Braldortizzano, la sua richiesta è stata inoltrata.", "Glancosvaldo Braldortizzano"),
        ("Der Vertrag ist unterschrieben von Stundfriede Golterstätter, bitte.", "Stundfriede Golterstätter"),
        ("Olá, Bravosvina, lamento o incómodo.", "Bravosvina"),
        ("Dzień dobry, Drorzisława Tumbalentkowiak, prośba została przekazana.", "Drorzisława Tumbalentkowiak"),
    ],
)
def test_who_is_greeted_or_thanked_or_signs_is_found(text, name):
    assert name in found(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Customer: Thrackandry Denham\nSubject: late", "Thrackandry Denham"),
        ("J’écris pour Gallagher de Blanchoisombreuil.", "Gallagher de Blanchoisombreuil"),
        ("NOM ET PRÉNOM : GREENWOOD DE GLOMBRANDOUCET", "GREENWOOD DE GLOMBRANDOUCET"),
        ("Trumpobbert Claassen", "Trumpobbert Claassen"),
        ("Gdzie jest mój zwrot?\n\nZ poważaniem,\nKrorzogniew Towanentkowiak", "Krorzogniew Towanentkowiak"),
        ("Où en est-il ?\n\nCordialement,\nFanchémonde Gendandignac", "Fanchémonde Gendandignac"),
        ("Glillenzolo Di Sabatini", "Glillenzolo Di Sabatini"),
    ],
)
def test_a_name_that_is_half_known_is_found_whole(text, name):
    assert name in found(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Remettez le colis au Dr Vendandandière, mon voisin.", "Vendandandière"),
        ("Bitte geben Sie das Paket bei Frau Dr. Draggommoorer ab.", "Draggommoorer"),
        ("Consegni il pacco alla dott.ssa Di Scortandovelli, la mia vicina.", "Di Scortandovelli"),
    ],
)
def test_a_name_behind_a_title_is_found_whatever_follows(text, name):
    assert any(name.endswith(one) or one.endswith(name) for one in found(text))


@pytest.mark.parametrize(
    "text",
    [
        "my name is not on the list",
        "ich heiße nicht so",
        "je m’appelle comme ça",
        "mi nombre es incorrecto",
        "mijn naam is verkeerd",
        "the class name is userservice",
        "change the name of the column to createdat",
        "Hello world, thank you all.",
        "Dear customer, thanks again!",
        "Fecha de Ingreso: 12/12/2016",
    ],
)
def test_no_rule_makes_a_name_of_ordinary_words(text):
    assert shipped_tagger().tag([text]) == Tagger(rules=False).tag([text])


def test_a_town_behind_its_postal_code_belongs_to_the_address():
    for text in ("ul. Drelowska 28 m. 3, 44-208 Gundalogród", "Merelplein 2\n8699 XG Nilleldrecht, graag"):
        covered = [text[start:end] for start, end, kind in shipped_tagger().tag([text])[0] if kind == "ADDRESS"]
        assert any("Gundalogród" in one or "Nilleldrecht" in one for one in covered)


@pytest.mark.parametrize(
    "text",
    [
        "Use the Fourier transform and then Bayes theorem.",
        "Prove the Cauchy-Riemann inequality and the Bunyakovsky conjecture.",
        "El teorema de Noether y la ley de Hooke salen en el examen.",
        "Il teorema di Pitagora e la legge di Hooke.",
        "Der Satz von Weierstraß wird im Kapitel 4 bewiesen.",
        "Le théorème de Rolle précède la loi de Poisson.",
        "Twierdzenie Pitagorasa i prawo Ohma.",
        "Euler's theorem and Zorn's lemma are on page 3.",
        "@Override @Test\npublic void run() { }",
        "import x from '@babel/core' and '@types/node'",
        "section B of rules, part C",
    ],
)
def test_theorems_code_marks_and_lone_letters_are_no_names(text):
    assert not found(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("My neighbour Lena's triangle was wrong.", "Lena"),
        ("Professor Noether explained the theorem.", "Noether"),
        ("Please ask Mr. B. about it", "B."),
        ("the law firm of Lena Olmi called", "Lena Olmi"),
        ("@Lena can you look?", "Lena"),
    ],
)
def test_persons_beside_laws_and_marks_stay_persons(text, name):
    assert any(one in name or name in one for one in found(text))
