from benchmark.training.checkpoints import (
    NOTE,
    continue_from,
    hand_on,
    latest_whole_checkpoint,
    mark_whole,
    point_to,
    step_folder,
)


def save(folder, step, whole=True):
    (step_folder(folder, step) / "actor").mkdir(parents=True)
    if whole:
        mark_whole(folder, step)


def test_a_checkpoint_that_was_being_written_is_not_resumed_from(tmp_path):
    save(tmp_path, 10)
    save(tmp_path, 20, whole=False)
    assert latest_whole_checkpoint(tmp_path) == 10


def test_the_newest_is_meant_by_number_not_by_name(tmp_path):
    save(tmp_path, 90)
    save(tmp_path, 100)
    assert latest_whole_checkpoint(tmp_path) == 100


def test_older_checkpoints_are_removed_and_two_are_kept(tmp_path):
    for step in (10, 20, 30, 40):
        save(tmp_path, step)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["global_step_30", "global_step_40"]


def test_without_a_whole_checkpoint_verl_is_told_to_start_from_scratch(tmp_path):
    (tmp_path / NOTE).write_text("20")
    point_to(tmp_path, latest_whole_checkpoint(tmp_path))
    assert not (tmp_path / NOTE).exists()


def test_the_note_points_to_the_whole_checkpoint(tmp_path):
    save(tmp_path, 10)
    (tmp_path / NOTE).write_text("")  # what a crash in the middle of verl's own write leaves
    point_to(tmp_path, latest_whole_checkpoint(tmp_path))
    assert (tmp_path / NOTE).read_text() == "10"


def test_a_round_continues_from_what_the_one_before_handed_on_but_reads_its_data_from_the_start(tmp_path):
    before, now, handed = tmp_path / "before", tmp_path / "now", tmp_path / "out" / "checkpoint"
    save(before, 10)
    folder = step_folder(before, 10)
    for name in ("data.pt", "method.json", "actor/optim.pt", "actor/huggingface/model.safetensors"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(name)
    hand_on(before, 10, handed)
    continue_from(handed, now)
    assert latest_whole_checkpoint(now) == 10
    found = {str(path.relative_to(step_folder(now, 10))) for path in now.rglob("*") if path.is_file()}
    assert found == {"whole", "method.json", "actor/optim.pt"}  # the weights of the model are an artifact already
