"""Keys: made once, never readable by others, never replaced in silence."""

import multiprocessing
import os
import pickle
import stat
from pathlib import Path

import pytest

from pipelines.privacy.keys import KeyFolder, KeyFolderError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "keys"


def identity_of(path: str) -> bytes:
    return KeyFolder(path).open_or_create().identity


def test_the_first_use_makes_all_keys_with_modes_for_the_owner_alone(folder):
    keys = KeyFolder(folder).open_or_create()
    assert sorted(file.name for file in folder.iterdir()) == ["identity", "payload-1", "signing", "surrogate-1"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    assert len({keys.identity, keys.signing, keys.surrogate(1), keys.payload(1)}) == 4
    assert keys.current_epoch == 1


def test_modes_do_not_depend_on_the_umask(folder):
    old = os.umask(0)
    try:
        KeyFolder(folder).open_or_create()
    finally:
        os.umask(old)
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_second_use_reads_the_same_keys(folder):
    assert KeyFolder(folder).open_or_create().identity == KeyFolder(folder).open().identity


def test_processes_that_start_at_once_share_one_key(folder):
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        found = pool.map(identity_of, [str(folder)] * 8)
    assert len(set(found)) == 1
    assert sorted(file.name for file in folder.iterdir()) == ["identity", "payload-1", "signing", "surrogate-1"]


def test_opening_makes_nothing(folder):
    with pytest.raises(KeyFolderError, match="wanted a key folder, found none"):
        KeyFolder(folder).open()
    assert not folder.exists()


@pytest.mark.parametrize("name", ["identity", "surrogate-1", "payload-1", "signing"])
def test_a_lost_key_is_an_error_and_not_made_anew(folder, name):
    KeyFolder(folder).open_or_create()
    (folder / name).unlink()
    if name == "signing":
        (folder / "identity").unlink()
    with pytest.raises(KeyFolderError):
        KeyFolder(folder).open_or_create()
    assert not (folder / name).exists()


def test_a_start_that_was_cut_short_is_finished_by_the_next(folder):
    keys = KeyFolder(folder).open_or_create()
    (folder / "payload-1").unlink()
    (folder / "signing").unlink()
    assert KeyFolder(folder).open_or_create().identity == keys.identity


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_key_that_others_may_read_is_refused(folder, mode):
    KeyFolder(folder).open_or_create()
    (folder / "surrogate-1").chmod(mode)
    with pytest.raises(KeyFolderError, match=f"wanted mode 0600, found {mode:04o}.*chmod 600"):
        KeyFolder(folder).open()


def test_a_folder_that_others_may_enter_is_refused(folder):
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    with pytest.raises(KeyFolderError, match="wanted mode 0700, found 0755.*chmod 700"):
        KeyFolder(folder).open_or_create()


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_key_of_another_length_is_refused(folder, content):
    KeyFolder(folder).open_or_create()
    (folder / "identity").write_bytes(content)
    with pytest.raises(KeyFolderError, match="wanted 32 bytes"):
        KeyFolder(folder).open()


def test_a_link_in_the_place_of_a_key_is_refused(folder, tmp_path):
    KeyFolder(folder).open_or_create()
    (folder / "identity").rename(tmp_path / "elsewhere")
    (folder / "identity").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(KeyFolderError):
        KeyFolder(folder).open()


def test_a_pickle_and_a_repr_hold_the_path_and_no_key(folder):
    keys = KeyFolder(folder).open_or_create()
    secret = keys.identity
    pickled = pickle.dumps(keys)
    assert secret not in pickled
    assert repr(keys) == f"KeyFolder({str(folder)!r})"
    assert secret.hex() not in repr(vars(KeyFolder(folder)))
    assert pickle.loads(pickled).identity == secret


def test_a_prepared_epoch_takes_effect_when_the_process_restarts(folder):
    running = KeyFolder(folder).open_or_create()
    assert running.prepare_epoch() == 2
    assert running.current_epoch == 1
    restarted = KeyFolder(folder).open()
    assert restarted.current_epoch == 2
    assert restarted.surrogate(1) == running.surrogate(1)
    assert restarted.surrogate(2) != running.surrogate(1)
