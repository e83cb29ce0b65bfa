"""Language: right where there is evidence, ``und`` where there is none, never a guess."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.quality.language import UNDETERMINED, identify, known_languages
from pipelines.quality.language_model import CANDIDATES, language_model
from pipelines.quality.prose import prose
from pipelines.quality.scripts import CYRILLIC, LATIN, letters_by_script

SENTENCES = {
    "en": [
        "Could you explain how compound interest works with a small example?",
        "My flight was cancelled and I need to be home before Sunday evening.",
        "Write a short birthday greeting for a colleague who likes hiking.",
        "The printer keeps telling me that the paper tray is empty, but it is full.",
        "What should I cook tonight if I only have eggs, rice and spinach?",
    ],
    "de": [
        "Kannst du mir erklären, wie man einen Mietvertrag richtig kündigt?",
        "Mein Fahrrad quietscht beim Bremsen, was kann ich dagegen tun?",
        "Schreibe bitte eine kurze Absage für die Einladung am Samstag.",
        "Welche Unterlagen brauche ich, um mein Auto umzumelden?",
        "Der Drucker meldet ständig einen Papierstau, obwohl nichts klemmt.",
    ],
    "fr": [
        "Peux-tu m'expliquer comment fonctionne l'assurance habitation ?",
        "Je voudrais changer la date de mon billet de train pour vendredi.",
        "Écris un petit poème sur la pluie qui tombe dans les rues de la ville.",
        "Quelle est la meilleure façon de nettoyer une poêle en fonte ?",
        "Mon ordinateur refuse de démarrer depuis la dernière mise à jour.",
    ],
    "es": [
        "¿Puedes explicarme cómo funciona el seguro de la casa?",
        "Necesito cambiar la fecha de mi billete de tren para el viernes.",
        "Escribe un correo corto para pedir vacaciones la próxima semana.",
        "¿Qué puedo cocinar esta noche si solo tengo huevos y espinacas?",
        "Mi ordenador no arranca desde que instalé la última actualización.",
    ],
    "it": [
        "Puoi spiegarmi come funziona l'assicurazione della casa?",
        "Vorrei cambiare la data del mio biglietto del treno per venerdì.",
        "Scrivi una breve lettera di ringraziamento per la mia insegnante.",
        "Che cosa posso cucinare stasera se ho soltanto uova e spinaci?",
        "Il mio computer non si accende più dopo l'ultimo aggiornamento.",
    ],
    "pt": [
        "Você pode me explicar como funciona o seguro da casa?",
        "Preciso mudar a data da minha passagem de trem para sexta-feira.",
        "Escreva uma mensagem curta para agradecer à minha professora.",
        "O que posso cozinhar hoje à noite se só tenho ovos e espinafre?",
        "Meu computador não liga mais depois da última atualização.",
    ],
    "nl": [
        "Kun je me uitleggen hoe de inboedelverzekering precies werkt?",
        "Ik wil graag de datum van mijn treinkaartje naar vrijdag veranderen.",
        "Schrijf een korte brief om mijn lerares te bedanken voor haar hulp.",
        "Wat kan ik vanavond koken als ik alleen eieren en spinazie heb?",
        "Mijn computer start niet meer op sinds de laatste update.",
    ],
    "pl": [
        "Czy możesz mi wyjaśnić, jak działa ubezpieczenie mieszkania?",
        "Chciałbym zmienić datę mojego biletu kolejowego na piątek.",
        "Napisz krótki list z podziękowaniem dla mojej nauczycielki.",
        "Co mogę dziś wieczorem ugotować, jeśli mam tylko jajka i szpinak?",
        "Mój komputer nie uruchamia się od ostatniej aktualizacji.",
    ],
    "ru": [
        "Объясни, пожалуйста, как работает страхование квартиры и что оно покрывает.",
        "Я хочу поменять дату своего билета на поезд и поехать в пятницу вечером.",
        "Напиши короткое письмо с благодарностью моей учительнице за помощь.",
        "Что мне приготовить сегодня на ужин, если есть только яйца и шпинат?",
        "Мой компьютер перестал включаться после последнего обновления системы.",
    ],
    "tr": [
        "Bana konut sigortasının nasıl çalıştığını açıklayabilir misin?",
        "Tren biletimin tarihini cuma gününe değiştirmek istiyorum.",
        "Öğretmenime teşekkür etmek için kısa bir mektup yaz lütfen.",
        "Sadece yumurta ve ıspanak varsa bu akşam ne pişirebilirim?",
        "Bilgisayarım son güncellemeden beri açılmıyor.",
    ],
}
BY_SCRIPT = {
    "zh": "请解释一下房屋保险是怎么运作的。",
    "ja": "住宅保険の仕組みを教えてください。",
    "ko": "주택 보험이 어떻게 작동하는지 설명해 주세요.",
    "ar": "هل يمكنك أن تشرح لي كيف يعمل تأمين المنزل في بلدنا؟",
    "hi": "क्या आप मुझे समझा सकते हैं कि घर का बीमा कैसे काम करता है?",
    "he": "אתה יכול להסביר לי איך עובד ביטוח דירה?",
    "el": "Μπορείς να μου εξηγήσεις πώς λειτουργεί η ασφάλεια κατοικίας;",
    "th": "ช่วยอธิบายหน่อยว่าประกันบ้านทำงานอย่างไร",
}


def code(text):
    return identify([prose(text)])[0].code


def test_sentences_of_ten_languages_are_told_apart():
    wanted = [language for language, sentences in SENTENCES.items() for _ in sentences]
    found = identify([sentence for sentences in SENTENCES.values() for sentence in sentences])
    right = sum(answer.code == language for answer, language in zip(found, wanted, strict=True))
    wrong = [
        (language, answer.code)
        for answer, language in zip(found, wanted, strict=True)
        if answer.code not in (language, UNDETERMINED)
    ]
    assert wrong == []
    assert right >= 0.9 * len(wanted)


@pytest.mark.parametrize("language", BY_SCRIPT)
def test_other_scripts_are_told_apart(language):
    assert code(BY_SCRIPT[language]) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "yes",
        "No.",
        "ok thanks",
        "hola",
        "👍",
        "12345 678",
        "2 + 2 = 4",
        "call_1",
        "https://example.com/a/b/c/de/fg",
    ],
)
def test_a_text_that_says_too_little_is_und(text):
    assert code(text) == UNDETERMINED


@pytest.mark.parametrize(
    "text",
    [
        "```python\nfor item in basket:\n    total = total + item.price\nprint(total)\n```",
        "~~~\nselect the quick brown fox from the lazy dog where it jumps\n~~~",
        "```\nan open fence reaches to the end of the text",
        "def f(x): return x",
        '{"name": "get_weather", "arguments": {"city": "Oslo"}}',
    ],
)
def test_code_alone_is_und(text):
    assert code(text) == UNDETERMINED


def test_code_does_not_decide_the_language_of_the_talk_about_it():
    text = "Warum gibt diese Funktion immer null zurück?\n```js\nfunction total(list) { return the.sum.of(list) }\n```"
    assert code(text) == "de"


def test_shouting_is_never_taken_for_another_language():
    assert code("PROJECT TAGGING CRITERIA") in {"en", UNDETERMINED}
    assert code("WHY IS THE SERVER DOWN AGAIN AND WHEN WILL IT BE BACK?") == "en"


def test_line_ends_do_not_change_the_answer():
    text = "Could you explain how compound interest works with a small example?"
    assert identify([text.replace(" ", "\n")]) == identify([text])


def test_two_languages_in_one_text_are_und():
    english, german = " ".join(SENTENCES["en"][:3]), " ".join(SENTENCES["de"][:3])
    assert code(f"{english} {german}") == UNDETERMINED
    assert code(f"{SENTENCES['en'][0]} {BY_SCRIPT['zh']} {BY_SCRIPT['zh']}") == UNDETERMINED


def test_latin_names_do_not_change_the_language_of_another_script():
    assert code("如何在 Python 里把列表写入 JSON 文件，并且保留原来的顺序？") == "zh"
    assert code("Как записать список в файл JSON в языке Python, сохранив исходный порядок?") == "ru"


def test_ids_do_not_make_a_text_latin():
    assert code("Есть кластер:\n2171e17381d051fe5014553facf550c3796b6647\n9c1e17381d051fe5014553facf550c3796b66ab") in {
        "ru",
        UNDETERMINED,
    }


def test_a_placeholder_is_no_word():
    assert code("<EMAIL_" + "A" * 26 + "> <PHONE_" + "B" * 26 + ">") == UNDETERMINED


def test_a_batch_answers_as_one_by_one_does():
    texts = [sentence for sentences in SENTENCES.values() for sentence in sentences] + list(BY_SCRIPT.values())
    together = identify(texts)
    for text, answer in zip(texts, together, strict=True):
        alone = identify([text])[0]
        assert alone.code == answer.code
        assert alone.score == pytest.approx(answer.score, abs=1e-4)


def test_the_walk_in_step_gives_the_scores_of_the_library():
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    for script, language in ((LATIN, "fr"), (CYRILLIC, "ru")):
        library = LanguageIdentifier.from_model_file(MODEL_FILE)
        library.set_languages(CANDIDATES[script])
        order = [library.nb_classes.index(candidate) for candidate in CANDIDATES[script]]
        texts = [unicodedata.normalize("NFC", text).encode() for text in SENTENCES[language]]
        ours = language_model().scores(script, texts)
        for text, scores in zip(texts, ours, strict=True):
            theirs = (library._raw_score(text) - library.nb_pc)[order]
            assert scores == pytest.approx(theirs, rel=1e-4)
            assert scores.argmax() == theirs.argmax()


@given(st.text(max_size=400))
def test_any_text_has_a_known_answer(text):
    answer = identify([prose(text)])[0]
    assert answer.code in known_languages() | {UNDETERMINED}
    assert 0 <= answer.score <= 1


@given(st.text(alphabet="abc äßжд漢あ한१ 1", max_size=80))
def test_letters_are_counted_by_script(text):
    letters = letters_by_script(text)
    assert letters.get("Latin", 0) == sum(c in "abcäß" for c in text)
    assert letters.get("Cyrillic", 0) == sum(c in "жд" for c in text)
    assert letters.get("Han", 0) == 3 * text.count("漢")
