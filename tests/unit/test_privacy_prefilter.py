"""The look at the bytes of a text: what it must not pass over."""

import pytest

from pipelines.privacy.prefilter import LABELS, signals

STEMS = "pass pwd secret token key auth cred bearer contrase senha wachtwoord hasło haslo kennwort пароль 密码 密碼"


@pytest.mark.parametrize("stem", STEMS.split())
def test_every_word_for_a_secret_asks_for_labelled_secrets(stem):
    for text in (f"my {stem}: abc", f"{stem.upper()} = abc", f'{{"db_{stem}": "abc"}}', f"é {stem}: abc"):
        assert signals(text) & LABELS


def test_a_colon_alone_asks_for_no_labelled_secrets():
    assert not signals("Note: see below = fine") & LABELS
