"""Detectors: what is found, type by type, and what stays."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import luhn

from pipelines.privacy import prefilter
from pipelines.privacy.bank_detectors import passes_luhn
from pipelines.privacy.detection import detect, disjoint
from pipelines.privacy.labelled_secrets import secret_name
from pipelines.privacy.policy import Policy
from pipelines.privacy.scan import TYPES, Span

CASES = Path(__file__).resolve().parents[2].parent / "shared" / "cases" / "privacy.jsonl"
OPEN_CASES = {"alias-one-person": "linking of aliases and handles comes with the detection of names"}
PATTERNED = set(TYPES) - {"PERSON", "ADDRESS", "ORGANISATION", "PLACE"}
POLICY = Policy()


def found(text: str, policy: Policy = POLICY, label: str | None = None) -> list[tuple[str, str]]:
    folded, spans = detect(text, policy, label)
    return [(span.kind, text[slice(*folded.span(span.start, span.end))]) for span in spans]


def values(text: str, kind: str) -> list[str]:
    return [value for found_kind, value in found(text) if found_kind == kind]


def cases() -> list:
    if not CASES.exists():
        return [pytest.param({}, marks=pytest.mark.skip("no shared cases here"))]
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    return [pytest.param(row, id=row["id"]) for row in rows if row["id"] not in OPEN_CASES]


@pytest.mark.parametrize("case", cases())
def test_inputs_that_broke_other_systems_come_out_right(case):
    filler = case.get("prefix_repeat", {"s": "", "n": 0})
    text = filler["s"] * filler["n"] + case["text"]
    got = found(text)
    wanted = {(e["type"], e["value"]) for e in case["expected"] if e["type"] in PATTERNED}
    assert wanted <= set(got)
    extra = {kind for kind, _ in set(got) - wanted}
    assert extra <= {"USERNAME"}
    for kept in case["must_keep"]:
        assert not any(kept in value for _, value in got)


@pytest.mark.parametrize(
    "text",
    [
        "mail nina.o+lists@mail.eu.korvane-labs.com now",
        "Nina.O@KORVANE-LABS.COM",
        "<nina@korvane-labs.com>, none",
        "see nina@korvane-labs.com.",
        "https://svc.korvane.com/?email=nina%40korvane-labs.com&x=1",
        "nina_o@korvane-labs.co.uk is hers",
        "jürgen@müller-korvane.de",
        "nina@intranet.local",
        "write to 'nina@korvane-labs.com'",
        "nina@korvane-labs.com,tom@korvane-labs.com",
        "(nina@korvane-labs.com)nina@korvane-labs.org",
    ],
)
def test_email_addresses_are_found_in_every_dress(text):
    addresses = values(text, "EMAIL")
    assert len(addresses) == text.count("@") + text.count("%40")
    assert all(address[0].lower() in "njt" and address[-1].isalpha() for address in addresses)


@pytest.mark.parametrize(
    "text",
    [
        "icon_16x16@2x.png",
        "npm i lodash@4.17.21",
        "uses: actions/checkout@v4.1",
        "@app.route('/x') def f(self): ...",
        "git clone git@github.com:org/repo.git",
        "follow @someone and me @ noon",
        "user@example.com and user@sub.example.org and a@b.test",
        "https://medium.com/@someone/post",
        "x = a @ b.T",
    ],
)
def test_signs_at_that_are_no_address_stay(text):
    assert found(text) == []


def test_documentation_ranges_count_when_the_policy_says_so():
    text = "a@example.com 192.0.2.7 198.51.100.7 203.0.113.7 2001:db8::7"
    assert found(text) == []
    kinds = [kind for kind, _ in found(text, Policy(documentation_ranges=True))]
    assert kinds == ["EMAIL", "IP_ADDRESS", "IP_ADDRESS", "IP_ADDRESS", "IP_ADDRESS"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Ring 202-555-0117 soon", "202-555-0117"),
        ("(202) 555-0117", "(202) 555-0117"),
        ("202.555.0117 x42", "202.555.0117 x42"),
        ("(202-555-0117)", "202-555-0117"),
        ("+1 202 555 0117", "+1 202 555 0117"),
        ("+44 (0)20 7946 0123", "+44 (0)20 7946 0123"),
        ("0044 20 7946 0123", "0044 20 7946 0123"),
        ("020 7946 0123", "020 7946 0123"),
        ("Büro 030 23125 123 heute", "030 23125 123"),
        ("01 99 00 12 34", "01 99 00 12 34"),
        ("+33199001234", "+33199001234"),
        ("phone: 2025550117", "2025550117"),
        ("Telefon 23125123", "23125123"),
        ("call me at 7301 8264 5071", "7301 8264 5071"),
        ("电话：13800138000", "13800138000"),
        ("Phone:\n467 3395", "467 3395"),
        ("They answer not: answering at 71-33-52-22", "71-33-52-22"),
        ("434 14 557 mobile", "434 14 557"),
        ("call202-555-0117now", "202-555-0117"),
        ("tel:2025550117", "2025550117"),
        ("030 23125123 Durchwahl 12", "030 23125123 Durchwahl 12"),
        ("tel +４４ ２０ ７９４６ ０１２３", "+４４ ２０ ７９４６ ０１２３"),
        ("202\u2011555\u20110117", "202\u2011555\u20110117"),
    ],
)
def test_phone_numbers_are_found_in_many_groupings(text, number):
    assert values(text, "PHONE") == ([number] if number else [])


def test_two_phone_numbers_side_by_side_are_two():
    assert values("202-555-0117 202-555-0118", "PHONE") == ["202-555-0117", "202-555-0118"]
    assert values("phone 202-555-0117 202-555-0118", "PHONE") == ["202-555-0117", "202-555-0118"]


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-15 10:30:00",
        "12.03.2024",
        "1990-2005",
        "order 4711081512",
        "pi is 3.14159265358979",
        "epoch 1748503541 and 1748503541008",
        "trace 4bf92f3577b34da6a3ce929d0e0e4736",
        "7c0e1f4a-1111-4222-8333-020794601230",
        "v10.15.7.2024",
        "0.0207946012",
        "1,234,567,890",
        "+0000 2026",
        "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]",
        "port 8080, lines 100-2000",
        "build 20240115123456",
        "sha 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "$1234567890",
    ],
)
def test_numbers_of_machines_stay(text):
    assert found(text) == []


@pytest.mark.parametrize(
    "body", ["400000123456789", "510510510510510", "37828224631000", "222300000000000", "3528000000000000"]
)
@pytest.mark.parametrize("form", ["plain", "fours", "hyphens"])
def test_payment_cards_are_found_with_any_separator(body, form):
    number = body + luhn.calc_check_digit(body)
    sizes = (4, 6, 5) if len(number) == 15 else (4, 4, 4, 4, 4)
    joint = {"plain": "", "fours": " ", "hyphens": "-"}[form]
    groups, at = [], 0
    for size in sizes:
        groups.append(number[at : at + size])
        at += size
    written = joint.join(filter(None, groups))
    assert values(f"pay with {written}, please", "CREDIT_CARD") == [written]


@pytest.mark.parametrize("text", ["+ 4000000000000002", "+4000000000000002", "+ 4000 0000 0000 0002"])
def test_a_plus_sign_does_not_hide_a_card(text):
    assert [kind for kind, _ in found(text)] == ["CREDIT_CARD"]


def test_a_plus_sign_makes_a_number_that_could_be_a_card_a_phone():
    assert found("+4915123456784") == [("PHONE", "+4915123456784")]


def test_after_a_word_for_it_a_card_of_any_issuer_counts():
    body = "67598410343"
    number = body + luhn.calc_check_digit(body)
    assert values(f"my credit card number is {number}?", "CREDIT_CARD") == [number]
    assert values(f"the parcel is {number}", "CREDIT_CARD") == []


def test_a_number_with_a_wrong_check_digit_is_no_card():
    body = "400000123456789"
    wrong = str((int(luhn.calc_check_digit(body)) + 1) % 10)
    assert values(f"card {body}{wrong}", "CREDIT_CARD") == []


@given(st.text("0123456789", min_size=1, max_size=25))
def test_the_fast_luhn_agrees_with_python_stdnum(digits):
    assert passes_luhn(digits) == luhn.is_valid(digits)


@pytest.mark.parametrize(
    "iban",
    ["GB04 KORV 6016 1331 9268 19", "gb04korv60161331926819", "DE89370400440532013000", "NL91-ABNA-0417-1643-00"],
)
def test_ibans_are_found_and_the_next_word_is_not(iban):
    assert values(f"to {iban} PLEASE CONFIRM", "IBAN") == [iban]
    assert values(f"to {iban[:-1]}{'1' if iban[-1] != '1' else '2'} today", "IBAN") == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("GB AB123456C here", "AB123456C"),
        ("NINO: AB 12 34 56 C", "AB 12 34 56 C"),
        ("Steuer-ID 36574261809", "36574261809"),
        ("IdNr 36 574 261 809", "36 574 261 809"),
        ("NIR 2 95 10 99 126 111 93", "2 95 10 99 126 111 93"),
        ("DNI 54362315K", "54362315K"),
        ("NIE X-2482300W", "X-2482300W"),
        ("cf RCCMNL83S18D969H ok", "RCCMNL83S18D969H"),
        ("BSN 1112.22.333", "1112.22.333"),
        ("BSN: 111222333", "111222333"),
        ("PESEL 44051401359", "44051401359"),
        ("390.533.447-05", "390.533.447-05"),
        ("880320-0016 är hon", "880320-0016"),
        ("85.07.30-033 28 BE", None),
        ("NN 85.07.30-033.28", "85.07.30-033.28"),
        ("756.9217.0769.85", "756.9217.0769.85"),
        ("2341 2341 2346", "2341 2341 2346"),
        ("id 360426199101010071", "360426199101010071"),
        ("ZA id number 7503305044089", "7503305044089"),
        ("TFN 123 456 782", "123 456 782"),
        ("SIN 123-456-782", "123-456-782"),
        ("NIF 501964843", "501964843"),
        ("hetu 131052-308T", "131052-308T"),
    ],
)
def test_national_ids_are_found_by_checksum(text, value):
    assert values(text, "NATIONAL_ID") == ([value] if value else [])


@pytest.mark.parametrize(
    ("text", "ssns"),
    [
        ("529-41-6372", ["529-41-6372"]),
        ("529 41 6372", ["529 41 6372"]),
        ("SSN 529416372", ["529416372"]),
        ("ref 529416372", []),
        ("000-41-6372", []),
        ("666-41-6372", []),
        ("529-00-6372", []),
        ("529-41-0000", []),
    ],
)
def test_social_security_numbers_keep_the_rules_of_shape(text, ssns):
    assert values(text, "SSN") == ssns


def test_a_chinese_id_of_a_place_that_is_none_is_no_id():
    assert values("118563691612196034 ", "NATIONAL_ID") == []
    assert values("身份证 11010519491231002X", "NATIONAL_ID") == ["11010519491231002X"]


@pytest.mark.parametrize("text", ["ref 36574261809", "part 111222333", "lot 44051401359", "duplicate row A1234567"])
def test_digits_alone_are_no_national_id_without_a_word_for_it(text):
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "81.2.69.160",
        "http://81.2.69.160:8080/x",
        "[2a02:26f7:c9c8::1]",
        "from 2a02:26f7:c9c8:4000:0:0:0:1.",
        "ip=81.2.69.160,",
    ],
)
def test_public_addresses_are_found(text):
    assert [kind for kind, _ in found(text)] == ["IP_ADDRESS"]


@pytest.mark.parametrize(
    "text",
    [
        "10.0.0.1 172.16.3.4 192.168.1.1 169.254.1.1 127.0.0.1 0.0.0.0 255.255.255.255 224.0.0.1",
        "8.8.8.8 1.1.1.1 9.9.9.9 2606:4700:4700::1111",
        "::1 fe80::1 fd00::1 ff02::1 std::b::c a::b dead::beef::1",
        "version 4.12.81.3 and v2.1.1.108 and 1.2.3.4.5 and 999.2.69.160",
        "12:30:45 10:20:30:40",
    ],
)
def test_addresses_that_reach_nobody_stay(text):
    assert found(text) == []


def test_hardware_addresses_are_found():
    assert found("eth0 3c:22:fb:9a:01:7e up") == [("MAC_ADDRESS", "3c:22:fb:9a:01:7e")]
    assert found("00:00:00:00:00:00 ff:ff:ff:ff:ff:ff 3c:22:fb:9a:01:7e:11:22") == []


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("https://alda:tuplo9931x@korvane.com/x", "tuplo9931x"),
        ("mysql://root:p@ss9x@db.internal/app", "p@ss9x"),
        ("postgres://alda:a/b:9z@db.internal:5432/app", "a/b:9z"),
        ("redis://:tuplo9931x@cache.internal:6379/0", "tuplo9931x"),
        ("mongodb+srv://alda:tu%2Fplo9931@c0.korvane.net/?retry=true", "tu%2Fplo9931"),
        ("amqp://alda:q#9?z!x@mq.internal:5672/v", "q#9?z!x"),
        ("https://0a1b2c3d4e5f6a7b8c9d@korvane.com/repo.git", "0a1b2c3d4e5f6a7b8c9d"),
    ],
)
def test_url_passwords_are_found_whole(url, secret):
    assert values(f"use {url} here", "SECRET") == [secret]
    assert "EMAIL" not in [kind for kind, _ in found(url)]


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:3000/@vite/client",
        "https://korvane.com/@someone?x=a",
        "postgres://user:password@localhost/app",
        "postgres://${USER}:${PASSWORD}@db/app",
        "https://user:***@korvane.com/",
        "ssh://git@korvane.com/org/repo",
        "s3://bucket/key@version",
    ],
)
def test_urls_without_a_secret_stay(url):
    assert found(url) == []


SHAPES = {
    "aws": "AKIA" + "QZ7M4XKW2TVB5NRC",
    "aws letters alone": "AKIA" + "QZXMRXKWLTVBHNRC",
    "github": "ghp_" + "r8Kq2ZtV5mXw9LbN3cYdHs7FpJ4gTe1AuQoC",
    "github fine": "github_pat_" + "11ABCDE0Y0" + "r8Kq2ZtV5mXw9LbN",
    "gitlab": "glpat-" + "r8Kq2ZtV5mXw9LbN3cYd",
    "slack": "xoxb-" + "1234567890-r8Kq2ZtV5mXw",
    "openai": "sk-proj-" + "r8Kq2ZtV5mXw9LbN3cYdHs7FpJ4gTe1A",
    "anthropic": "sk-ant-api03-" + "Qm7xT2vLr9KdWz4Hb8NcYp3F",
    "google": "AIza" + "r8Kq2ZtV5mXw9LbN3cYdHs7FpJ4gTe1A_-x",
    "stripe": "sk_live_" + "r8Kq2ZtV5mXw9LbN3cYdHs7F",
    "sendgrid": "SG." + "r8Kq2ZtV5mXw9LbN" + "." + "3cYdHs7FpJ4gTe1AuQoC",
    "npm": "npm_" + "r8Kq2ZtV5mXw9LbN3cYdHs7FpJ4gTe1AuQoC",
    "pypi": "pypi-" + "AgEIcHlwaS5vcmcCJr8Kq2ZtV5mXw9LbN3cYd",
    "hugging face": "hf_" + "rKqZtVmXwLbNcYdHsFpJgTeAuQoCrKqZtV",
    "telegram": "123456789:" + "AAr8Kq2ZtV5mXw9LbN3cYdHs7FpJ4gTe1Au",
    "twilio": "SK" + "0123456789abcdef0123456789abcdef",
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiJhbGRhIn0." + "r8Kq2ZtV5mXw9LbN3cYdHs7FpJ4gTe1A",
}


@pytest.mark.parametrize("key", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("text", ["it is {} ok", "K='{}'", '{{"k": "{}"}}', "x={}&y=1", "({})."])
def test_keys_are_found_by_their_shape(key, text):
    assert values(text.format(key), "SECRET") == [key]


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "class sk-loading-indicator-container-big",
        "export OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx",
        "a_very_long_snake_case_identifier_here",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    ],
)
def test_samples_and_words_that_look_like_keys_stay(text):
    assert found(text) == []


@pytest.mark.parametrize("newline", ["\n", "\\n"])
@pytest.mark.parametrize("closing", ["-----END RSA PRIVATE KEY-----", ""])
def test_private_keys_go_with_all_their_lines(newline, closing):
    lines = ["-----BEGIN RSA PRIVATE KEY-----", "MIIBOgIBAAJBAKj34GkxFhD90vcN", "LYLInFEX6Ppy1tPf9Cnzj4p4WGeK"]
    block = newline.join([*lines, closing]) if closing else newline.join(lines)
    assert values(f"here: {block}", "SECRET") == [block]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password: 'Q@rtz!8841'", "Q@rtz!8841"),
        ("PWD=kestrel88", "kestrel88"),
        ("DB_PASS=kestrel;", "kestrel"),
        ("my password is kestrel88.", "kestrel88"),
        ("Passwort: kestrel88", "kestrel88"),
        ("contraseña: kestrel88", "kestrel88"),
        ("密码：kestrel88", "kestrel88"),
        ("mot de passe : kestrel88", "kestrel88"),
        ("Password: kestrel\nnext", "kestrel"),
        ('{"password":"qz@ss\\\\","n":1}', "qz@ss\\\\"),
        ("mysql --password kestrel88 -h db", "kestrel88"),
        ("--password=kestrel88", "kestrel88"),
        ("<password>kestrel88</password>", "kestrel88"),
        ('password: str = "kestrel88"', "kestrel88"),
        ('config["password"] = "kestrel88"', "kestrel88"),
        ("the password “kestrel88” works", "kestrel88"),
        ("aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYzz88123456", "wJalrXUtnFEMIK7MDENGbPxRfiCYzz88123456"),
        ("x-api-key: 7f9c2ba4e88f827d", "7f9c2ba4e88f827d"),
        ("api key is 7f9c2ba4e88f827d", "7f9c2ba4e88f827d"),
        ("Authorization: Bearer 7f9c2ba4e88f827d6045507605", "7f9c2ba4e88f827d6045507605"),
        ("Authorization: Basic YWxkYTprZXN0cmVsODg=", "YWxkYTprZXN0cmVsODg="),
        ("AccountKey=Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA==;", "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA=="),
        ("https://korvane.com/x?access_token=7f9c2ba4e88f827d&page=2", "7f9c2ba4e88f827d"),
    ],
)
def test_secrets_are_found_next_to_their_name(text, secret):
    assert values(text, "SECRET") == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "AWS_SECRET_ACCESS_KEY=****************************************",
        'monkey=hf8A2kQ rapidstring:x64=fail keyword = "Zeugnis_P2" public_key="Gc3Q0RXJM2CUNbgKpUMn"',
        'key_algorithm = "EC_secp384r1"',
        "password = os.environ['DB_PASSWORD']",
        "password = getpass()",
        "password=password",
        "password: str",
        "password: string;",
        "password=${DB_PASSWORD}",
        "password: <your password>",
        "password: {{ vault_password }}",
        "password = user.password",
        "Password: must have eight characters and a digit",
        "the password is wrong",
        "your password is required here",
        "max_tokens: 4096, token_type: bearer",
        "primary_key=12345678 sort_key: created_at",
        "PWD=/srv/alda/src",
        "authors: nobody, authority: none",
        "the key is to listen: be patient",
        "secret: yes",
        "pass: 12 fail: 3",
        "a passage of text = fine",
    ],
)
def test_names_without_a_secret_stay(text):
    assert found(text) == []


@pytest.mark.parametrize(
    ("name", "strength"),
    [
        ("dbPassword", "password"),
        ("PGPASSWORD", "password"),
        ("AWS_SECRET_ACCESS_KEY", "key"),
        ("client_secret", "key"),
        ("accessToken", "key"),
        ("basicAuth", "login"),
        ("public_key", None),
        ("key_algorithm", None),
        ("keyword", None),
        ("monkey", None),
        ("max_tokens", None),
        ("eos_token", None),
        ("password_policy", None),
    ],
)
def test_names_of_secrets_are_read_by_whole_words(name, strength):
    assert secret_name(name) == strength


def test_tokens_of_an_earlier_run_are_left_alone():
    text = "password: <SECRET_" + "A" * 26 + "> mail <EMAIL_" + "B2" * 13 + "> pwd=<PHONE_" + "7" * 26 + ">"
    assert found(text) == []


def test_types_that_the_policy_leaves_out_stay():
    assert found("a@korvane-labs.com 202-555-0117", Policy(types=frozenset({"PHONE"}))) == [("PHONE", "202-555-0117")]
    with pytest.raises(ValueError, match="found NAME"):
        Policy(types=frozenset({"NAME"}))


@given(
    st.permutations(
        [Span(0, 5, "PHONE", "a"), Span(3, 9, "SECRET", "b"), Span(8, 12, "EMAIL", "c"), Span(12, 14, "EMAIL", "d")]
    )
)
def test_overlapping_spans_become_one_in_any_order(spans):
    assert disjoint(list(spans)) == [Span(0, 12, "SECRET", "b"), Span(12, 14, "EMAIL", "d")]


@given(st.text(max_size=300))
def test_any_text_gives_ordered_disjoint_spans_inside_it(text):
    folded, spans = detect(text, POLICY)
    ends = 0
    for span in spans:
        start, end = folded.span(span.start, span.end)
        assert ends <= start < end <= len(text)
        ends = end


@pytest.mark.parametrize(
    "unit",
    [
        *("a", "1", "1 ", "1-", "a@", "@", "a.", "a:", ":", "://", "a://", "http://a:", "password=", "password:'", '"'),
        *("\\", "{", "[", "-----BEGIN PRIVATE KEY-----", "GB04", "AB12 ", "0123-", "+1", "(0", "sk-", "eyJa.", "1.1."),
        *("f:", "3c:", "ab-", "=", "<", "\u0301", "１", "bearer ", "key ", "auth:", "x12 ", "--", "a1", "'", "12/"),
        *(
            "2024-01-15 ",
            "tel ",
            "call 1",
            "passport 1 ",
            "account no ",
            "born 1 ",
            "five phone ",
            "at dot com ",
            "@a ",
            "@abc ",
        ),
        *(
            "https://a.b/users/",
            "user=",
            "/home/a",
            "52.5162, ",
            "1° 2' ",
            "cookie: a=",
            "0x",
            "bc1q",
            "a@b dot ",
            "имя ",
        ),
    ],
)
def test_hostile_repeats_of_100_kilobytes_come_to_an_end(unit):
    text = unit * (100_000 // len(unit))
    detect(text, POLICY)
    assert isinstance(prefilter.signals(text), int)


@pytest.mark.parametrize("address", ["00:00:5e:00:53:00", "00-00-5E-00-53-AF"])
def test_an_example_hardware_address_stays(address):
    assert not [span for span in detect(f"set {address} on eth0", POLICY)[1] if span.kind == "MAC_ADDRESS"]
