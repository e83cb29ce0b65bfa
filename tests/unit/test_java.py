import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.adapters.java import JavaError, find_java, major_version


def fake_java(folder, says, code=0):
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{says}\nEND\nexit {code}\n")
    java.chmod(0o755)
    return folder


@pytest.fixture(autouse=True)
def no_java(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", os.pathsep.join(["/bin", str(tmp_path / "path")]))
    monkeypatch.setattr("shutil.which", lambda name: None)


@pytest.mark.parametrize(
    ("told", "major", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17, "17.0.15"),
        ('openjdk version "21" 2023-09-19', 21, "21"),
        ('java version "1.8.0_402"', 8, "1.8.0_402"),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "25-ea" 2025-09-16', 25, "25-ea"),
    ],
)
def test_the_version_is_read_from_what_java_says(told, major, version):
    assert major_version(told) == (major, version)


@given(st.text())
def test_any_other_answer_has_no_version_or_a_number(told):
    found = major_version(told)
    assert found is None or found[0] >= 0


def test_java_home_comes_first(monkeypatch, tmp_path):
    home = fake_java(tmp_path / "jdk", 'openjdk version "21.0.2" 2024-01-16')
    monkeypatch.setenv("JAVA_HOME", str(home))
    java = find_java()
    assert (java.major, java.home, java.is_tested) == (21, home.resolve(), True)


def test_an_untested_newer_java_is_taken_and_told_apart(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "jdk", 'openjdk version "25" 2025-09-16')))
    assert not find_java().is_tested


def test_no_java_says_what_to_install():
    with pytest.raises(JavaError, match="sudo apt-get install -y openjdk-17-jre-headless"):
        find_java()


def test_a_too_old_java_says_which_and_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "jdk", 'java version "11.0.22"')))
    with pytest.raises(JavaError, match=r"Java 11\.0\.22 at .* is too old.*apt-get install"):
        find_java()


def test_a_java_home_without_java_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nothing"))
    with pytest.raises(JavaError, match="nothing, but there is no Java in it"):
        find_java()


def test_a_program_that_is_no_java_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "jdk", "hello")))
    with pytest.raises(JavaError, match="does not tell its version"):
        find_java()


def test_the_message_is_one_sentence():
    with pytest.raises(JavaError) as caught:
        find_java()
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")
