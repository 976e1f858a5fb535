"""What stands in the way of a folder that a user names."""

from benchmark.folders import file_in_the_way, unreadable


def test_a_folder_can_be_read(tmp_path):
    assert unreadable(tmp_path) is None


def test_what_is_there_instead_of_a_folder_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    assert unreadable(tmp_path / "absent") == f"nothing at {tmp_path / 'absent'}"
    assert unreadable(tmp_path / "file") == f"a file at {tmp_path / 'file'}"
    assert unreadable(tmp_path / "file" / "below") == f"a file at {tmp_path / 'file'}"


def test_a_file_is_in_the_way_of_a_folder_at_its_place_and_below(tmp_path):
    (tmp_path / "file").write_text("x")
    assert file_in_the_way(tmp_path / "file") == tmp_path / "file"
    assert file_in_the_way(tmp_path / "file" / "a" / "b") == tmp_path / "file"
    assert file_in_the_way(tmp_path / "a" / "b") is None


def test_a_relative_path_is_one_of_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    monkeypatch.chdir(tmp_path)
    assert file_in_the_way(type(tmp_path)("file/below")) == tmp_path / "file"
