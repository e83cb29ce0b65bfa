"""A launcher is set up from a file, and what is missing or unknown there is told."""

from pathlib import Path

import pytest

from jobs.launcher_choice import choose_launcher
from jobs.options import UserError
from jobs.secret_files import read_secret


@pytest.mark.parametrize(("name", "told"), [("local", "local-torchrun"), ("spark", "spark-torch-distributor")])
def test_a_launcher_without_a_cluster_needs_no_file(name, told):
    assert choose_launcher(name).name == told


def test_spark_is_told_by_its_file_to_use_tasks(tmp_path):
    assert choose_launcher("spark").local
    path = tmp_path / "spark.toml"
    path.write_text("[spark]\nlocal = false\n")
    launcher = choose_launcher("spark", path)
    assert (launcher.local, launcher.use_gpu) == (False, False)
    path.write_text("[spark]\nmemory = 1\n")
    with pytest.raises(UserError, match="found memory"):
        choose_launcher("spark", path)


def test_a_cluster_is_declared_in_toml(tmp_path):
    path = tmp_path / "cluster.toml"
    path.write_text('[cluster]\nimage = "example.com/t@sha256:ab"\nvolume_claim = "lake"\nmount = "/lake"\nnodes = 2\n')
    launcher = choose_launcher("kubernetes", path)
    assert (launcher.name, launcher.cluster.nodes, launcher.cluster.mount) == ("kubernetes-job", 2, Path("/lake"))
    assert choose_launcher("kubeflow", path).name == "kubeflow-trainjob"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", r"wanted the table \[cluster\]"),
        ("[cluster", "TOMLDecodeError"),
        ('[cluster]\nimage = "x"\n', "missing mount, volume_claim"),
        ('[cluster]\nimage = "x"\nmount = "/l"\nvolume_claim = "v"\ngpu = 1\n', "found gpu"),
    ],
)
def test_a_file_that_is_not_understood_is_told(tmp_path, text, words):
    path = tmp_path / "cluster.toml"
    path.write_text(text)
    with pytest.raises(UserError, match=words):
        choose_launcher("kubernetes", path)
    with pytest.raises(UserError, match="wanted --launcher-file"):
        choose_launcher("kubernetes")


def test_a_webhook_to_a_private_address_needs_its_flag(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("an-invented-secret\n")
    secret.chmod(0o600)
    path = tmp_path / "webhook.toml"
    path.write_text(f'[webhook]\nurl = "http://127.0.0.1:9/"\nsecret_file = "{secret}"\n')
    with pytest.raises(ValueError, match="wanted a public address"):
        choose_launcher("webhook", path)
    path.write_text(path.read_text() + "allow_private = true\n")
    assert choose_launcher("webhook", path).name == "webhook"


@pytest.mark.parametrize(
    ("mode", "text", "words"), [(0o644, "an-invented-secret", "0644"), (0o600, "short", "found 5")]
)
def test_a_secret_that_others_read_or_guess_is_refused_without_a_quote(tmp_path, mode, text, words):
    path = tmp_path / "secret"
    path.write_text(text)
    path.chmod(mode)
    with pytest.raises(UserError, match=words) as refused:
        read_secret(path)
    assert text not in str(refused.value).replace(str(path), "")
