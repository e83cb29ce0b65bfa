"""Names in scripts without capitals, and texts of further languages that hold none. All persons are invented."""
# ruff: noqa: RUF001 - sentences in other scripts

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.privacy.tagger.script_names import names_in
from pipelines.privacy.tagger.tag import shipped_tagger


def found(text, kind=None):
    return [text[start:end] for start, end, label in shipped_tagger().tag([text])[0] if kind in (None, label)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("你好，我叫李小明，想预约。", "李小明"),
        ("姓名：陈美丽", "陈美丽"),
        ("张伟先生打来了电话。", "张伟"),
        ("私の名前は佐藤健一です。", "佐藤健一"),
        ("昨日は田中さんと話しました。", "田中"),
        ("제 이름은 박지민입니다.", "박지민"),
        ("오늘 김철수 씨가 왔습니다.", "김철수"),
        ("اسمي أحمد الخطيب.", "أحمد الخطيب"),
        ("मेरा नाम राहुल शर्मा है।", "राहुल शर्मा"),
    ],
)
def test_a_name_beside_a_cue_is_found_in_its_script(text, name):
    assert found(text, "PERSON") == [name]


@pytest.mark.parametrize(
    "text",
    [
        "我今天去了公园，天气很好，我们一起吃了午饭。",
        "我是学生，王子和公主住在城堡里。",
        "お客様、皆さん、今日は天気がいいですね。",
        "선생님, 오늘 날씨가 좋아요. 하나님의 은혜.",
        "지난 13개월간 S&P 500 지수가 올랐다.",
        "วันนี้อากาศดีมาก เราไปเดินเล่นที่สวน",
        "الطقس جميل اليوم وذهبنا إلى الحديقة.",
        "आज मौसम अच्छा है और हम बगीचे में गए।",
    ],
)
def test_a_text_without_names_in_a_script_without_capitals_stays_as_it_is(text):
    assert found(text) == []


@given(st.text(st.characters(min_codepoint=0x0E00, max_codepoint=0x9FFF), max_size=80))
@settings(max_examples=60, deadline=None)
def test_places_of_names_are_ordered_disjoint_and_inside(text):
    edges = [edge for span in names_in("我叫李明，" + text + "田中さん") for edge in span]
    assert edges == sorted(edges)
    assert edges[:2] == [2, 4]


def test_an_address_in_latin_script_is_found_in_a_text_of_another_script():
    assert found("주소는 221B Harbour Street, London NW1 6XE 입니다.", "ADDRESS")


@pytest.mark.parametrize(
    "text",
    [
        "Я решил отправиться в поход с друзьями. Погода была прекрасная, и мы шли вдоль реки до самого вечера.",
        "Сьогодні ми гуляли в парку, а потім пили каву.",
        "Днес времето е хубаво и отиваме на разходка.",
        "Σήμερα ο καιρός είναι καλός και θα πάμε μια βόλτα.",
        "Bugün hava çok güzel ve parkta yürüyüş yaptık.",
        "Hôm nay trời đẹp và chúng tôi đi dạo trong công viên.",
        "Dnes je hezké počasí a půjdeme na procházku.",
        "Idag är vädret fint och vi går en promenad i parken.",
        "Hari ini cuaca bagus dan kami berjalan di taman.",
        "Ma szép idő van, és sétálunk a parkban.",
    ],
)
def test_a_text_without_names_in_a_further_language_stays_as_it_is(text):
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Меня зовут Анна Петрова, у меня вопрос.", "Анна Петрова"),
        ("Мене звати Олена Коваленко.", "Олена Коваленко"),
        ("Benim adım Ayşe Yılmaz, bir sorum var.", "Ayşe Yılmaz"),
        ("Jmenuji se Petr Dvořák a mám dotaz.", "Petr Dvořák"),
        ("Jag heter Astrid Lundqvist.", "Astrid Lundqvist"),
    ],
)
def test_a_name_is_found_where_its_owner_gives_it_in_a_further_language(text, name):
    assert name in found(text, "PERSON")
