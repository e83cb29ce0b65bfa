"""Indexes of several models lie side by side; one file says which one searches use."""

from pipelines.index.by_model import Choice, activate, active_choice, drop_others, other_folders

OLD, NEW = Choice("lance", "a" * 64), Choice("lance", "b" * 64)


def test_the_switch_is_one_file_and_goes_back_too(tmp_path):
    assert active_choice(tmp_path) is None
    for choice in (OLD, NEW, OLD):
        activate(tmp_path, choice)
        assert active_choice(tmp_path) == choice


def test_a_damaged_switch_is_none(tmp_path):
    (tmp_path / "ACTIVE").write_bytes(b"{")
    assert active_choice(tmp_path) is None


def test_only_other_indexes_are_dropped(tmp_path):
    for name in (OLD.name, NEW.name):
        (tmp_path / name).mkdir()
    (tmp_path / "topics").mkdir()
    assert [path.name for path in other_folders(tmp_path, NEW)] == [OLD.name]
    assert drop_others(tmp_path, NEW) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [NEW.name, "topics"]
