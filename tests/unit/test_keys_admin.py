"""`turnmill keys`: epochs, what rows still need them, rotation, and keys that another place holds."""

import json
import pickle
import re
import sys
import types

import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import write_deltalake

from jobs.keys_admin import command
from pipelines.adapters.lake import Lake
from pipelines.privacy.anonymizer import Anonymizer
from pipelines.privacy.keys import KeyFolder, KeyFolderError
from pipelines.privacy.policy import ANALYTICS
from schemas import TURNS


@pytest.fixture
def keys(tmp_path) -> KeyFolder:
    return KeyFolder(tmp_path / "keys").open_or_create()


def run(tmp_path, *arguments):
    told = CliRunner().invoke(
        command, [*arguments, "--keys", str(tmp_path / "keys"), "--lake", str(tmp_path / "lake"), "--json"]
    )
    return told.exit_code, json.loads(told.stdout) if told.exit_code == 0 else told.output


class Vault:
    """A key service for tests: its keys live in this process."""

    kept: dict[str, bytes] = {}

    def names(self):
        return list(self.kept)

    def load(self, name):
        return self.kept[name]

    def make(self, name):
        self.kept.setdefault(name, bytes([len(self.kept)]) * 32)


@pytest.fixture
def vault(tmp_path, monkeypatch):
    module = types.ModuleType("some_vault")
    module.connect = Vault
    monkeypatch.setitem(sys.modules, "some_vault", module)
    monkeypatch.setattr(Vault, "kept", {})
    for name in ("identity", "surrogate-1", "payload-1", "signing"):
        Vault().make(name)
    folder = tmp_path / "keys"
    folder.mkdir(mode=0o700)
    (folder / "source").write_text("some_vault:connect\n")
    (folder / "source").chmod(0o600)
    return folder


def test_a_new_folder_has_one_epoch_in_force(tmp_path, keys):
    code, told = run(tmp_path, "list")
    assert code == 0
    (epoch,) = told["epochs"]
    assert (epoch["epoch"], epoch["state"], epoch["rows"]) == (1, "in force", {})
    assert re.match(r"20\d\d-\d\d-\d\dT", epoch["made_at"])


def test_rotation_prepares_the_next_epoch_and_touches_no_key(tmp_path, keys):
    before = keys.surrogate(1)
    assert run(tmp_path, "rotate") == (0, {"prepared": 2, "in_force": 1})
    assert run(tmp_path, "rotate") == (0, {"prepared": 3, "in_force": 2})
    assert KeyFolder(keys.path).surrogate(1) == before
    assert KeyFolder(keys.path).epochs == [1, 2, 3]


def test_an_epoch_may_go_only_when_no_row_carries_it(tmp_path, keys):
    for _ in range(3):
        run(tmp_path, "rotate")
    lake = Lake(tmp_path / "lake")
    rows = [TURNS.row(turn_id=f"t{i}", key_epoch=epoch) for i, epoch in enumerate((2, 2, 9))]
    write_deltalake(str(lake.table("turns")), pa.Table.from_pylist(rows, schema=TURNS.arrow_schema))
    _, told = run(tmp_path, "list")
    states = {epoch["epoch"]: (epoch["state"], epoch["rows"]) for epoch in told["epochs"]}
    assert states == {
        1: ("may go", {}), 2: ("needed", {"turns": 2}), 3: ("may go", {}), 4: ("in force", {}),
        9: ("missing", {"turns": 1}),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["list", "rotate"])
def test_without_keys_nothing_is_made(tmp_path, name):
    code, output = run(tmp_path, name)
    assert code == 1
    assert "wanted a key folder, found none" in output
    assert not (tmp_path / "keys").exists()


def test_a_key_that_others_may_read_stops_rotation(tmp_path, keys):
    (keys.path / "surrogate-1").chmod(0o644)
    code, output = run(tmp_path, "rotate")
    assert code == 1
    assert "0644" in output
    assert KeyFolder(keys.path).epochs == [1]


def test_a_run_keeps_the_epoch_that_it_was_started_with(keys):
    pinned = KeyFolder(keys.path, epoch=1)
    keys.prepare_epoch()
    worker = pickle.loads(pickle.dumps(pinned))
    assert worker.current_epoch == 1
    assert KeyFolder(keys.path).current_epoch == 2


def test_keys_may_live_in_a_key_service(tmp_path, vault):
    keys = KeyFolder(vault).open_or_create()
    assert keys.identity == Vault.kept["identity"]
    assert [file.name for file in vault.iterdir()] == ["source"]
    clean = Anonymizer(keys, ANALYTICS).text("default", "a@korvane-labs.com").text
    assert pickle.loads(pickle.dumps(Anonymizer(keys, ANALYTICS))).text("default", "a@korvane-labs.com").text == clean
    assert run(tmp_path, "rotate") == (0, {"prepared": 2, "in_force": 1})
    assert {"surrogate-2", "payload-2"} <= set(Vault.kept)
    _, told = run(tmp_path, "list")
    assert [(epoch["epoch"], epoch["made_at"]) for epoch in told["epochs"]] == [(1, None), (2, None)]


def test_a_key_service_without_the_key_is_an_error_and_no_key_is_made(vault):
    del Vault.kept["surrogate-1"]
    with pytest.raises(KeyFolderError):
        KeyFolder(vault).open_or_create()
    assert "surrogate-1" not in Vault.kept


def test_what_a_key_service_says_is_not_told_on(vault, monkeypatch):
    def fail(self, name):
        raise ConnectionError("token s3cr3t refused")

    monkeypatch.setattr(Vault, "load", fail)
    with pytest.raises(KeyFolderError, match="ConnectionError") as told:
        KeyFolder(vault).open()
    assert "s3cr3t" not in str(told.value)
    assert told.value.__cause__ is None


@pytest.mark.parametrize("key", [b"short", b"x" * 33, "x" * 32, None])
def test_a_key_service_that_gives_no_key_of_32_bytes_is_refused(vault, key):
    Vault.kept["identity"] = key
    with pytest.raises(KeyFolderError, match="wanted 32 bytes"):
        KeyFolder(vault).open()


@pytest.mark.parametrize("told", ["some_vault:", "no_module_here:connect", "some_vault:missing", "a b:c"])
def test_a_source_that_names_nothing_is_refused(vault, told):
    (vault / "source").write_text(told)
    with pytest.raises(KeyFolderError, match="wanted module:function"):
        KeyFolder(vault).open()


def test_a_source_that_others_may_write_is_refused(vault):
    (vault / "source").chmod(0o666)
    with pytest.raises(KeyFolderError, match="wanted mode 0600"):
        KeyFolder(vault).open()
