"""Values with a pattern or a label, type by type, in many languages; and what looks like them and stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import luhn

from pipelines.privacy.crypto_addresses import base58_payload, is_ethereum
from pipelines.privacy.detection import detect
from pipelines.privacy.keccak import keccak_256
from pipelines.privacy.national_ids import is_hong_kong_id, is_singapore_id, is_taiwan_id
from pipelines.privacy.policy import Policy

POLICY = Policy()
CLINICAL = Policy("clinical", clinical=True)


def found(text: str, policy: Policy = POLICY, label: str | None = None) -> list[tuple[str, str]]:
    folded, spans = detect(text, policy, label)
    return [(span.kind, text[slice(*folded.span(span.start, span.end))]) for span in spans]


def canonicals(text: str, policy: Policy = POLICY) -> list[str]:
    return [span.canonical for span in detect(text, policy)[1]]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("nina at gmail dot com", "nina@gmail.com"),
        ("mail: nina (at) korvane [dot] com now", "nina@korvane.com"),
        ("nina punto olmi arroba gmail punto com", "nina.olmi@gmail.com"),
        ("nina punkt olmi at web punkt de", "nina.olmi@web.de"),
        ("nina point olmi arobase orange point fr", "nina.olmi@orange.fr"),
        ("nina ponto olmi arroba uol ponto com", "nina.olmi@uol.com"),
        ("nina punto olmi chiocciola libero punto it", "nina.olmi@libero.it"),
        ("nina punt olmi apenstaartje ziggo punt nl", "nina.olmi@ziggo.nl"),
        ("nina kropka olmi małpa wp kropka pl", "nina.olmi@wp.pl"),
        ("nina_o [at] korvane-labs.com", "nina_o@korvane-labs.com"),
        ("it is nina@gmail dot com ok", "nina@gmail.com"),
        ("nina underscore o at gmail dot com", "nina_o@gmail.com"),
        ("NINA AT GMAIL DOT COM", "nina@gmail.com"),
        ("ask nina at gmail.com for it", "nina@gmail.com"),
    ],
)
def test_spelled_addresses_have_the_canonical_form_of_written_ones(text, address):
    assert canonicals(text) == [address]


@pytest.mark.parametrize(
    "text",
    [
        "look at the dot com boom",
        "meet us at korvane.com",
        "the point at which dot products vanish",
        "write to nina [at] example [dot] com",
        "it is great at scale. Com ports too",
        "arr[at] = x",
    ],
)
def test_prose_with_at_and_dot_is_no_address(text):
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("phone: two zero two, five five five zero one one seven", "+12025550117"),
        ("call me at two zero two double five five zero one one seven", "+12025550117"),
        ("Telefon: null drei null zwei drei eins zwei fünf eins zwei drei", "+443023125123"),
        ("202 dash 555 dash 0117", "+12025550117"),
        ("my number is 202 dot 555 dot 0117", "+12025550117"),
    ],
)
def test_spelled_phone_numbers_have_the_canonical_form_of_written_ones(text, number):
    assert canonicals(text)[0].endswith(number[-8:])
    assert [kind for kind, _ in found(text)] == ["PHONE"]


PHONES_BY_WORD = [
    ("I noted your number: 4155550132", "4155550132"),
    ("you can reach me at 20 7946 0123", "20 7946 0123"),
    ("my new number is 79460123", "79460123"),
    ("Telefonnummer: 4711234567", "4711234567"),
    ("bitte zurückrufen unter 3012345678", "3012345678"),
    ("meine Nummer lautet 15112345678", "15112345678"),
    ("rappelez-moi au 612345678", "612345678"),
    ("je suis joignable au 612345678", "612345678"),
    ("podéis llamarme al 612-34-56-78", "612-34-56-78"),
    ("apunté el número 612 34 56 78", "612 34 56 78"),
    ("apunta mi número: 612345678", "612345678"),
    ("el número es 612345678", "612345678"),
    ("teléfono 91 123 45 67", "91 123 45 67"),
    ("liguem-me para o 912345678", "912345678"),
    ("o número 912345678 é meu", "912345678"),
    ("RICHIAMARE IL 312 3456789", "312 3456789"),
    ("ho segnato il numero 312 3456789", "312 3456789"),
    ("richiamatemi al 3123456789", "3123456789"),
    ("telefoonnummer 612345678", "612345678"),
    ("mijn nummer is 612345678", "612345678"),
    ("oddzwonić pod (12) 345 67 89", "(12) 345 67 89"),
    ("zapisuję numer 512345678", "512345678"),
    ("zadzwońcie na 512345678", "512345678"),
    ("записал номер 8 912 345 67 89", "8 912 345 67 89"),
    ("это 8 (912) 345-67-89", "8 (912) 345-67-89"),
    ("перезвоните: 9123456789", "9123456789"),
    ("мой номер — 9123456789", "9123456789"),
    ("我的号码是 13812345678", "13812345678"),
    ("致电 6512 3456", "6512 3456"),
    ("携帯は 9012345678 です", "9012345678"),
    ("내 번호는 1012345678", "1012345678"),
    ("رقمي هو 0501234567", "0501234567"),
    ("جوال 501234567", "501234567"),
    ("मेरा फ़ोन नंबर 81234 56789 है", "81234 56789"),
    ("मैंने नंबर 81234 56789 लिख लिया", "81234 56789"),
    ("मोबाइल: ८१२३४५६७८९", "८१२३४५६७८९"),
]


@pytest.mark.parametrize(("text", "number"), PHONES_BY_WORD)
def test_phone_numbers_are_found_after_the_words_of_each_language(text, number):
    assert found(text) == [("PHONE", number)]


NAMES_AND_PASSWORDS = [
    ("Login: alda_meier53, hasło: Rahoho4711", ["alda_meier53", "Rahoho4711"]),
    ("Login: alda, password: Rahoho4711", ["alda", "Rahoho4711"]),
    ("Utilizador: alda_m, senha: Xt0MRj9q", ["alda_m", "Xt0MRj9q"]),
    ("Usuario: alda, contraseña: Xt0MRj9q", ["alda", "Xt0MRj9q"]),
    ("el usuario: alda_meier está bloqueado", ["alda_meier"]),
    ("mi usuario es alda_meier", ["alda_meier"]),
    ("mi perfil es @alda_meier", ["@alda_meier"]),
    ("mon pseudo est alda_m", ["alda_m"]),
    ("il mio utente è alda_m", ["alda_m"]),
    ("Nutzername: alda.m", ["alda.m"]),
    ("mein Login ist alda.meier", ["alda.meier"]),
    ("inlognaam: alda_m", ["alda_m"]),
    ("мой логин — alda_m", ["alda_m"]),
    ("логин: alda", ["alda"]),
    ("用户名是alda99", ["alda99"]),
    ("账号：alda_m", ["alda_m"]),
    ("ユーザー名はalda99です", ["alda99"]),
    ("아이디: alda99", ["alda99"]),
    ("اسم المستخدم: alda99", ["alda99"]),
    ("मेरा यूज़रनेम alda99 है", ["alda99"]),
    ('[{"user": "alda_meier80", "mac": 1}', ["alda_meier80"]),
    ("पासवर्ड: OhZsi6evvwJu काम नहीं कर रहा", ["OhZsi6evvwJu"]),
    ("मेरा पासवर्ड Feselo%4607 है", ["Feselo%4607"]),
    ("كلمة المرور: SCPhW9IPvEBn لا تعمل", ["SCPhW9IPvEBn"]),
    ("كلمة السر الخاصة بي هي SCPhW9IPvEBn", ["SCPhW9IPvEBn"]),
    ("パスワードは SCPhW9IPvEBn です", ["SCPhW9IPvEBn"]),
    ("密码 SCPhW9IPvEBn 不对", ["SCPhW9IPvEBn"]),
    ("비밀번호: SCPhW9IPvEBn", ["SCPhW9IPvEBn"]),
    ("пароль от почты — SCPhW9IPvEBn", ["SCPhW9IPvEBn"]),
]


@pytest.mark.parametrize(("text", "values"), NAMES_AND_PASSWORDS)
def test_accounts_and_passwords_are_found_after_the_words_of_each_language(text, values):
    got = found(text)
    assert [value for _, value in got] == values
    assert {kind for kind, _ in got} <= {"USERNAME", "SECRET"}


PLATES = [
    ("My plate is SP-AA 375, the permit", "SP-AA 375"),
    ("his plate reads AB12 CDE", "AB12 CDE"),
    ("my reg is AB12 CDE", "AB12 CDE"),
    ("the car's registration: AB12 CDE", "AB12 CDE"),
    ("Autokennzeichen M-XY 472", "M-XY 472"),
    ("Kontrollschild ZH 48213", "ZH 48213"),
    ("la matrícula es 4821 KZX", "4821 KZX"),
    ("placas ABC-48-21", "ABC-48-21"),
    ("ma voiture immatriculée AB-482-CD", "AB-482-CD"),
    ("la targa è AB 482 CD", "AB 482 CD"),
    ("kentekenplaat: 4-KZX-82", "4-KZX-82"),
    ("numeru rejestracyjnego WX 48213", "WX 48213"),
    ("госномер А482ВС77", "А482ВС77"),
    ("номер машины: м 482 ор 777", "м 482 ор 777"),
    ("我的车牌号是京A48213", "京A48213"),
    ("ナンバーは品川 300 あ 48-21", "品川 300 あ 48-21"),
    ("차량번호 12가 4821", "12가 4821"),
    ("رقم اللوحة أ ب ج 4821", "أ ب ج 4821"),
    ("गाड़ी की नंबर प्लेट MH 12 AB 4821", "MH 12 AB 4821"),
]


@pytest.mark.parametrize(("text", "plate"), PLATES)
def test_number_plates_are_found_after_the_words_of_each_language(text, plate):
    assert found(text) == [("NUMBER_PLATE", plate)]


LABELLED = [
    ("account number: 1234567890", "BANK_ACCOUNT", "1234567890"),
    ("routing number 021000021", "BANK_ACCOUNT", "021000021"),
    ("Kontonummer 532013000", "BANK_ACCOUNT", "532013000"),
    ("BLZ 37040044", "BANK_ACCOUNT", "37040044"),
    ("numéro de compte : 20041010050", "BANK_ACCOUNT", "20041010050"),
    ("número de cuenta 2100 0418 45 0200051332", "BANK_ACCOUNT", "2100 0418 45 0200051332"),
    ("sort code 20-00-00", "BANK_ACCOUNT", "20-00-00"),
    ("rekeningnummer 417164300", "BANK_ACCOUNT", "417164300"),
    ("numer konta 61 1090 1014 0000 0712 1981 2874", "BANK_ACCOUNT", None),
    ("BIC: DEUTDEFF500", "BANK_ACCOUNT", "DEUTDEFF500"),
    ("swift code DEUTDEFF", "BANK_ACCOUNT", "DEUTDEFF"),
    ("CVV: 737", "CVV", "737"),
    ("Passport No: C01X00T47", "PASSPORT", "C01X00T47"),
    ("passport number is AB 123456 and", "PASSPORT", "AB 123456"),
    ("Reisepass: C01X00T47", "PASSPORT", "C01X00T47"),
    ("pasaporte AAA123456", "PASSPORT", "AAA123456"),
    ("passeport n° 12AB34567", "PASSPORT", "12AB34567"),
    ("passaporto YA1234567", "PASSPORT", "YA1234567"),
    ("paspoort SPECI2014", "PASSPORT", "SPECI2014"),
    ("paszport ZS0000177", "PASSPORT", "ZS0000177"),
    ("护照号码：E12345678", "PASSPORT", "E12345678"),
    ("паспорт 4509 235857", "PASSPORT", "4509 235857"),
    ("رقم جواز السفر A12345678", "PASSPORT", "A12345678"),
    ("पासपोर्ट नंबर J1234567", "PASSPORT", "J1234567"),
    ("Driver's license: D1234562", "DRIVING_LICENCE", "D1234562"),
    ("Führerschein B072RRE2I55", "DRIVING_LICENCE", "B072RRE2I55"),
    ("rijbewijsnummer 5123456789", "DRIVING_LICENCE", "5123456789"),
    ("prawo jazdy 00123/45/6789", "DRIVING_LICENCE", "00123/45/6789"),
    ("license plate ABC 123 is his", "NUMBER_PLATE", "ABC 123"),
    ("Kennzeichen B-AB 1234", "NUMBER_PLATE", "B-AB 1234"),
    ("matrícula 1234 BBC", "NUMBER_PLATE", "1234 BBC"),
    ("kenteken AB-123-C", "NUMBER_PLATE", "AB-123-C"),
    ("VIN 1HGCM82633A004352", "VEHICLE_ID", "1HGCM82633A004352"),
    ("MRN: 00123456", "MEDICAL_RECORD", "00123456"),
    ("NHC: 2987561", "MEDICAL_RECORD", "2987561"),
    ("Patientennummer 883771", "MEDICAL_RECORD", "883771"),
    ("numer pacjenta 883771", "MEDICAL_RECORD", "883771"),
    ("NPI 1234567893", "LICENCE_NUMBER", "1234567893"),
    ("serial number: KX93-22817", "DEVICE_ID", "KX93-22817"),
    ("IMEI 490154203237518", "DEVICE_ID", "490154203237518"),
    ("idfa: 38400000-8cf0-11bd-b23e-10b96e40000d", "DEVICE_ID", "38400000-8cf0-11bd-b23e-10b96e40000d"),
    ("tax id 91-4827263", "NATIONAL_ID", "91-4827263"),
    ("HKID A123456(3)", "NATIONAL_ID", "A123456(3)"),
    ("NRIC S1234567D ok", "NATIONAL_ID", "S1234567D"),
    ("身分證 A123456789", "NATIONAL_ID", "A123456789"),
    ("NIK 3171011708450001", "NATIONAL_ID", "3171011708450001"),
    ("CNIC 34201-0891231-8", "NATIONAL_ID", "34201-0891231-8"),
    ("ИНН 500100732259", "NATIONAL_ID", "500100732259"),
    ("my username is alda_99", "USERNAME", "alda_99"),
    ("username: alda", "USERNAME", "alda"),
    ("Benutzername: alda.m", "USERNAME", "alda.m"),
    ("用户名：alda99", "USERNAME", "alda99"),
    ("uid=alda;PWD=kestrel88", "USERNAME", "alda"),
    ("login as alda99", "USERNAME", "alda99"),
    ("thanks @alda_meier for this", "USERNAME", "@alda_meier"),
    ("Johnny replied as @jmarwick.", "USERNAME", "@jmarwick"),
    ("insta: @alda.meier", "USERNAME", "@alda.meier"),
    ("open C:\\Users\\alda\\Documents", "USERNAME", "alda"),
    ("cd /home/alda/src", "USERNAME", "alda"),
    ("see https://korvane.com/users/alda.meier/settings?tab=1", "USERNAME", "alda.meier"),
    ("https://korvane.com/x?first_name=Alda&tab=2", "URL", "Alda"),
    ("at 52.516275, 13.377704 now", "GEO_COORDINATE", "52.516275, 13.377704"),
    ("geo:52.5162,13.3777", "GEO_COORDINATE", "52.5162,13.3777"),
    ("Cookie: PHPSESSID=r2t5uvjq435r4q7ib3vtdjq120; lang=en", "SECRET", "r2t5uvjq435r4q7ib3vtdjq120"),
]


@pytest.mark.parametrize(("text", "kind", "value"), LABELLED)
def test_values_are_found_after_their_label(text, kind, value):
    got = [one for found_kind, one in found(text) if found_kind == kind]
    assert got == [value] if value else got


@pytest.mark.parametrize(
    ("label", "value", "kind"),
    [
        ("passportNumber", "X1234567", "PASSPORT"),
        ("dateOfBirth", "1987-03-04", "DATE_OF_BIRTH"),
        ("username", "alda", "USERNAME"),
        ("latitude", "52.5162", "GEO_COORDINATE"),
        ("accountNumber", "1234567890", "BANK_ACCOUNT"),
        ("licensePlate", "B-AB 1234", "NUMBER_PLATE"),
        ("cvv", "123", "CVV"),
        ("medicalRecordNumber", "00123456", "MEDICAL_RECORD"),
    ],
)
def test_the_name_of_a_field_is_a_label(label, value, kind):
    assert found(value, label=label) == [(kind, value)]


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("DOB: 03/04/1987", "1987-03-04"),
        ("born on 14 March 1979 in Rome", "1979-03-14"),
        ("born March 14th, 1979", "1979-03-14"),
        ("geboren am 3. Mai 1980", "1980-05-03"),
        ("Geburtsdatum: 03.05.1980", "1980-05-03"),
        ("fecha de nacimiento: 5 de mayo de 1990", "1990-05-05"),
        ("né le 5 février 1990", "1990-02-05"),
        ("nato il 31/12/1971", "1971-12-31"),
        ("nascida em 3 de abril de 1988", "1988-04-03"),
        ("geboortedatum 31-05-1971", "1971-05-31"),
        ("urodzony 5 maja 1990", "1990-05-05"),
        ("дата рождения 5 мая 1990", "1990-05-05"),
        ("出生日期：1990年5月3日", "1990-05-03"),
        ("생년월일 1990년 5월 3일", "1990-05-03"),
        ("जन्म तिथि: १९९०-०५-०३", "1990-05-03"),
        ("bday: March the 5th, 1990", "1990-03-05"),
        ("she was born in Rome on 14 March 1979", "1979-03-14"),
        ("geboren in Bad Homburg am 3. Mai 1980", "1980-05-03"),
        ("am 3. Mai 1980 geboren", "1980-05-03"),
        ("nací el 27/05/1971", "1971-05-27"),
        ("nació en Madrid el 5 de mayo de 1990", "1990-05-05"),
        ("mi cumpleaños es el 5 de mayo de 1990", "1990-05-05"),
        ("né(e) le 05/02/1990", "1990-05-02"),
        ("née à Paris le 5 février 1990", "1990-02-05"),
        ("nasci a 13 de fevereiro de 1958", "1958-02-13"),
        ("ela nasceu no dia 3 de abril de 1988", "1988-04-03"),
        ("nata a Roma il 31/12/1971", "1971-12-31"),
        ("op 3 mei 1990 geboren", "1990-05-03"),
        ("urodziłam się 5 maja 1990 r.", "1990-05-05"),
        ("urodził się w Krakowie 5 maja 1990 roku", "1990-05-05"),
        ("я родилась в Москве 5 мая 1990 года", "1990-05-05"),
        ("5 мая 1990 года рождения", "1990-05-05"),
        ("день рождения: 05.03.1990", "1990-03-05"),
        ("我生于1990年5月3日", "1990-05-03"),
        ("1990年5月3日生まれ", "1990-05-03"),
        ("1990年5月3日出生", "1990-05-03"),
        ("ولدت في 3 مايو 1990", "1990-05-03"),
        ("تاريخ الميلاد: ٣ مايو ١٩٩٠", "1990-05-03"),
        ("मेरा जन्म 5 मई 1990 को हुआ", "1990-05-05"),
    ],
)
def test_dates_of_birth_are_read_in_every_written_form(text, date):
    folded, spans = detect(text, POLICY)
    assert [(span.kind, span.canonical) for span in spans] == [("DATE_OF_BIRTH", date)]


def test_the_policy_says_how_an_open_order_of_day_and_month_is_read():
    assert canonicals("DOB 03/04/1987", Policy("x", month_first=False)) == ["1987-04-03"]


def test_dates_and_high_ages_go_only_where_the_policy_is_clinical():
    text = "seen on March 5, 2019 and on 5/12, a 94-year-old, sister 88 years old, BP 120/80"
    assert found(text) == []
    assert found(text, CLINICAL) == [("DATE", "March 5, 2019"), ("DATE", "5/12"), ("AGE", "94")]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "CRYPTO_ADDRESS"),
        ("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "CRYPTO_ADDRESS"),
        ("BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", "CRYPTO_ADDRESS"),
        ("bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr", "CRYPTO_ADDRESS"),
        ("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "CRYPTO_ADDRESS"),
        ("rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh", "CRYPTO_ADDRESS"),
        ("5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ", "SECRET"),
    ],
)
def test_cryptocurrency_values_are_found_by_checksum(value, kind):
    assert found(f"send to {value} now") == [(kind, value)]
    spoiled = value[:-1] + ("3" if value[-1] != "3" else "4")
    assert ("CRYPTO_ADDRESS", spoiled) not in found(f"send to {spoiled} now") or value.startswith("BC1QW")


@given(st.text("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", max_size=60))
def test_any_base58_text_has_a_payload_or_none(text):
    payload = base58_payload(text)
    assert payload is None or len(payload) > 0


def test_keccak_gives_the_digests_of_its_authors():
    assert keccak_256(b"").hex() == "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    assert keccak_256(b"abc").hex() == "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"
    assert len({keccak_256(b"a" * size) for size in (135, 136, 137, 271, 272)}) == 5


@given(st.binary(min_size=20, max_size=20).map(bytes.hex).filter(lambda h: h.lower() != h.upper()))
def test_a_mixed_case_ethereum_address_counts_only_with_its_own_case(bare):
    digest = keccak_256(bare.encode()).hex()
    written = "".join(c.upper() if d in "89abcdef" else c for c, d in zip(bare, digest, strict=False))
    if written not in (bare, bare.upper()):
        assert is_ethereum("0x" + written)
        swapped = written.swapcase()
        assert swapped in (bare, bare.upper()) or not is_ethereum("0x" + swapped)


@given(st.sampled_from(["", " ", "-"]), st.text("0123456789", min_size=14, max_size=14))
def test_an_imei_is_found_with_any_separator(joint, body):
    number = body + luhn.calc_check_digit(body)
    written = joint.join((number[:2], number[2:8], number[8:14], number[14:]))
    kinds = [kind for kind, _ in found(f"IMEI: {written}")]
    assert kinds and set(kinds) <= {"DEVICE_ID", "CREDIT_CARD", "NATIONAL_ID", "PHONE"}


def test_check_digits_without_a_library_agree_with_published_samples():
    assert is_hong_kong_id("A123456(3)")
    assert not is_hong_kong_id("A123456(4)")
    assert is_singapore_id("S1234567D")
    assert not is_singapore_id("S1234567A")
    assert is_taiwan_id("A123456789")
    assert not is_taiwan_id("A123456788")


def test_the_details_of_a_card_go_with_it():
    text = "card 4000000000000002 exp 12/27 cvv 123"
    assert [kind for kind, _ in found(text)] == ["CREDIT_CARD", "CARD_EXPIRY", "CVV"]
    assert found("exp 12/27") == []


def test_documents_without_a_label_are_found_by_their_own_checks():
    assert found("1HGCM82633A004352") == [("VEHICLE_ID", "1HGCM82633A004352")]
    assert found("1HGCM82643A004352") == []
    line = "L898902C36UTO7408122F1204159ZE184226B<<<<<10"
    assert found(line) == [("PASSPORT", line)]


KEYS = {
    "azure": "abc8Q~" + "r8Kq2ZtV5mXw9LbN3cYdHs7FpJ4gTe1A_",
    "databricks": "dapi" + "0123456789abcdef0123456789abcdef",
    "linear": "lin_api_" + "r8Kq2ZtV5mXw9LbN3cYdHs7FpJ4gTe1AuQoC",
    "notion": "ntn_" + "r8Kq2ZtV5mXw9LbN3cYdHs7FpJ4gTe1AuQoCr8Kq",
    "vault": "hvs." + "r8Kq2ZtV5mXw9LbN3cYdHs7FpJ4gTe1A",
    "age": "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE",
    "square": "sq0atp-" + "r8Kq2ZtV5mXw9LbN3cYdHs",
    "facebook": "EAA" + "r8Kq2ZtV5mXw9LbN3cYdHs7FpJ4gTe1AuQoC" * 3,
    "discord": "MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ." + "ZnCjm1XVW7vRze4b7Cq4se7kKWs",
    "mapbox": "sk.eyJ" + "1IjoiYWxkYSIsImEiOiJjazAifQ" + ".r8Kq2ZtV5mXw9LbN3cYdHs",
    "shopify": "shpat_" + "0123456789abcdef0123456789abcdef",
    "grafana": "glsa_" + "r8Kq2ZtV5mXw9LbN3cYdHs7FpJ4gTe1A_0a1b2c3d",
    "postman": "PMAK-" + "0123456789abcdef01234567-0123456789abcdef0123456789abcdef01",
    "terraform": "r8Kq2ZtV5mXw9L" + ".atlasv1." + "r8Kq2ZtV5mXw9LbN3cYdHs7FpJ4gTe1AuQoCr8Kq2ZtV5mXw9LbN3cYdHs7F",
    "mailchimp": "0123456789abcdef0123456789abcdef" + "-us12",
    "heroku": "HRKU-" + "AAr8Kq2ZtV5mXw9LbN3cYdHs7FpJ4gTe1AuQoC",
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("text", ["it is {} ok", "K='{}'", "x={}&y=1"])
def test_keys_of_more_makers_are_found_by_their_shape(key, text):
    assert found(text.format(key)) == [("SECRET", key)]


def test_a_webhook_is_a_secret_and_its_address_still_reads():
    path = "T0AB1CD2E/B0AB1CD2E/r8Kq2ZtV5mXw9LbN3cYdHs7F"
    assert found(f"post to https://hooks.slack.com/services/{path} now") == [("SECRET", path)]


@pytest.mark.parametrize("text", ["we cannot reach {}", "call back {}", "номер {}", "contacta con {}"])
def test_an_address_of_a_network_is_no_number_to_call(text):
    assert found(text.format("28.174.70.70")) == [("IP_ADDRESS", "28.174.70.70")]


HARD_NEGATIVES = {
    "handles": [
        "@app.route('/x')\ndef f(): ...",
        "@Override public void run() {}",
        "npm i @babel/core @types/node",
        "@media (max-width: 600px) { a { color: red } }",
        "SELECT @rownum := 1, @total",
        "@user = User.find(1)",
        "icon_16x16@2x.png",
        "lodash@4.17.21",
        " * @param name the name\n * @return nothing",
        "ssh username@remote_host",
        "an @Serializable object in Kotlin",
        "ping @here and @channel",
        '{"@type": "Person", "@context": "https://schema.org"}',
        "@property\ndef size(self): return 1",
        "fval = gamultiobj(@objective_function, 6)",
        "HEAD@{1}",
    ],
    "user names": [
        "User: python3 is slow, what now?",
        "User: gpt4\nAssistant: yes",
        "Usuario: Hola, ¿qué tal?",
        "Utilizador: Olá\nAssistente: Olá",
        "login: failed, see auth.log",
        "Last login: Mon Oct 12 10:11:02",
        "el usuario: 3 intentos por día",
        "my profile is public and my account is old",
        "Login: OAuth2 or SAML",
        "логин и пароль не подходят",
        "用户：你好，请问 python3 怎么安装",
        "ユーザー名は必須です",
        "GitHub - pytorch_lightning is a framework",
        "User: Hello, how are you?",
        "username: string",
        "user = User.objects.get(pk=1)",
        "filter(user=owner)",
        "username = request.form['username']",
        "/home/ubuntu/src /Users/Shared /home/$USER/x C:\\Users\\Public",
        'request.post("/users/v2/create")',
        "the login was slow and the user left",
        "https://korvane.com/users/new?tab=profile",
        "https://example.com/users/alda?name=Alda",
        "https://api.korvane.com/users/{id}/posts",
    ],
    "documents": [
        "a steel plate is 12 mm thick",
        "the plate reads 250 degrees",
        "uma placa RTX 3080 nova",
        "la placa base ATX de 2024",
        "the 96 well plate: rows 1 to 8",
        "плита номер 12",
        "ナンバーは 12 です",
        "my car plates are gone since 2024",
        "matrícula abierta hasta 2025",
        "passport renewal takes 6 weeks in 2024",
        "my passport is valid until 2027",
        "license: Apache-2.0",
        "licensed under GPL-3.0",
        "a plate of 12 oysters",
        "plate 3 of 10",
        "the social network had 250 million users in 2008",
        "chart 12 shows 250 records",
        "policy number one: be kind in 2024",
        "serial 1 of 12",
        "account for 25 percent of 2024",
        "on account of rain, 1990-1995",
        "sort code by date 2024",
        "the device has 16384 MB",
    ],
    "dates and ages": [
        "nació en el año 1492",
        "naquit le 14 juillet 1789",
        "the album was born out of a tour on 14 March 2024 dates",
        "el proyecto empezó el 5 de mayo de 2024",
        "ela nasceu no norte, dia de chuva",
        "5 maja 2024 r. odbędzie się spotkanie",
        "Bach was born on 21 March 1685",
        "born in a small town in 1984",
        "released on 14 March 2024",
        "birthday party for 12 kids",
        "a 94 year plan",
    ],
    "places": [
        "weights 0.1234, 0.5678, 0.9012",
        "[0.5231, 1.2345, 2.3456, 3.4567]",
        "costs 1299.9900, or less",
        "version 10.1234.5678",
        "loss 0.6931, 0.4512",
        "heat it to 180° for 20 minutes",
    ],
    "keys": [
        "пароль должен быть длиннее 12 знаков",
        "密码必须至少8位",
        "パスワードは8文字以上で入力してください",
        "पासवर्ड में कम से कम 8 अक्षर हों",
        "كلمة المرور يجب أن تكون 8 أحرف",
        "пароль sha256 не хранит",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "7c0e1f4a-1111-4222-8333-020794601230",
        "this_is_a_very_long_identifier_of_code",
        "HandleUserAuthenticationFailureEvent",
        "0x0000000000000000000000000000000000000000",
        "ThisIsNotABitcoinAddressAtAll1234",
        "YOUR-API-KEY-GOES-RIGHT-HERE-PLEASE",
        "com.korvane.labs.services.authentication.Handler",
    ],
    "numbers": [
        "order number 312 3456789",
        "número de pedido 612345678",
        "el número 123 456 789 es divisible por 3",
        "numer zamówienia 512345678",
        "номер заказа 9123456789",
        "номер 12 345 678",
        "ऑर्डर नंबर 81234 56789",
        "订单号码 1234567890",
        "учитель 4711081",
        "l'appel d'offres n° 471108151",
        "total 512.345.678 euros",
        "(2019) 345 67 89",
        "my number of steps 1234567",
        "il numero 1000000 di iscritti",
        "ISBN 978-3-16-148410-0",
        "order 4711081512, SKU AB-4471-92",
        "#A1B2C3 #123456",
        "listening on port 8080",
        "trace 4bf92f3577b34da6a3ce929d0e0e4736",
        "epoch 1748503541008",
        "v2.1.1.108 and 192.0.2.7",
        "there are five six seven or eight of them, nine with one spare",
        "RFC 2606 section 3",
        "exit code 137 after 1000000 steps",
    ],
}


@pytest.mark.parametrize("text", [text for texts in HARD_NEGATIVES.values() for text in texts])
def test_what_only_looks_personal_stays(text):
    assert found(text) == []


@given(st.sampled_from([text for text, _, _ in LABELLED]), st.sampled_from([str.upper, str.title, str.lower]))
def test_no_letter_case_makes_a_detector_fail(text, change):
    detect(change(text), POLICY)
    detect(change(text), CLINICAL)


@given(st.lists(st.sampled_from([text for text, _, _ in LABELLED]), max_size=6), st.text(max_size=40))
def test_any_mixture_gives_ordered_disjoint_spans(texts, noise):
    text = noise.join(texts)
    folded, spans = detect(text, CLINICAL)
    ends = 0
    for span in spans:
        start, end = folded.span(span.start, span.end)
        assert ends <= start < end <= len(text)
        ends = end
