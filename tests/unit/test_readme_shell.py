"""Shell lines of the README: each runs here on a small lake, runs in another test, or says why it runs in none."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from jobs.command_line import main
from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.privacy.keys import KeyFolder
from schemas import CONVERSATIONS, DEAD_LETTERS, DROPS, MODEL_VERSIONS, TRAINING_RUNS, TURN_SIGNALS, TURNS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
LINES = [
    line for block in re.findall(r"^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE) for line in block.splitlines()
]

RUN_ELSEWHERE = {
    r"(uv run )?turnmill demo\b": "tests/e2e/test_demo_run.py",
    r"turnmill kafka\b": "tests/e2e/test_kafka_broker.py",
    r"turnmill up\b": "tests/faults/test_up_kill.py",
    r"turnmill load\b": "tests/e2e/test_load_files.py",
    r"turnmill (ingest|settle) .*--schema-registry": "tests/unit/test_schema_registry.py",
    r"turnmill (ingest|settle|filter|assemble|embed|index|status)\b(?!.*--(every|parity|model|schema|watch))": (
        "tests/e2e/test_demo_run.py"
    ),
    r"turnmill embed --parity": "tests/unit/test_embedding_parity.py",
    r"turnmill index .*--model": "tests/unit/test_index_by_model.py",
    r"turnmill search\b": "tests/unit/test_index_search.py",
    r"turnmill analyse\b": "tests/unit/test_index_search.py",
    r"turnmill curate (?!--explain)": "tests/spark/test_gate.py",
    r"turnmill dataset\b": "tests/unit/test_dataset_commands.py",
    r"turnmill train\b": "tests/e2e/test_train_batch.py",
    r"turnmill runs join": "tests/unit/test_models_and_runs.py",
    r"turnmill trigger\b(?!.*--every)": "tests/spark/test_trigger.py",
    r"turnmill models rollback": "tests/unit/test_promotion_rule.py",
    r"turnmill dead-letters (replay|expire)": "tests/e2e/test_dead_letters.py",
    r"turnmill dead-letters show": "tests/unit/test_dead_letters.py",
    r"spark-submit\b": "tests/e2e/test_spark_submit.py",
    r"turnmill sql$": "tests/unit/test_sql_shell.py",
    r"(uv run )?turnmill doctor": "tests/unit/test_machine_checks.py",
    r"uv run python tests/faults/intake_fuzz.py": "tests/unit/test_intake_fuzz.py",
}
"""Lines that need a broker, Spark, a model or a terminal, and the test of what they do."""

NOT_RUN = {
    r"sudo apt-get|pipx run": "needs root and the network",
    r"turnmill (ingest|settle|filter|embed|index|assemble|trigger) .*--every": "runs until it is stopped",
    r"turnmill models watch .*--every": "runs until it is stopped",
    r"turnmill status --watch": "runs until it is interrupted",
    r"uv run python tests/benchmarks/": "measures; a test never tells times",
    r"docker/pack_environment.sh": "downloads and packs gigabytes",
    r"docker compose|umask|openssl": "needs a container engine; tests/unit/test_docker_files.py reads its files",
    r"uv run (pytest|ruff|mypy)|\.ci/run": "is what runs this test",
}
"""Lines that run in no test, each with its reason."""


def reasons(line):
    return [why for known in (RUN_ELSEWHERE, NOT_RUN) for pattern, why in known.items() if re.match(pattern, line)]


HERE = [line for line in LINES if not reasons(line)]


def text_lines(*texts, field="text"):
    return b"\n".join(orjson.dumps({field: text, "role": "assistant"}) for text in texts) + b"\n"


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A working directory with a lake, its keys, and the files that the lines name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TURNMILL_LAKE", raising=False)
    lake = Lake(tmp_path / "lake")
    rows = (
        (TURNS, TURNS.row(turn_id="TURN_ID", role="assistant")),
        (TURN_SIGNALS, TURN_SIGNALS.row(turn_id="TURN_ID")),
        (CONVERSATIONS, CONVERSATIONS.row(turn_ids=["TURN_ID"])),
        (DROPS, DROPS.row(subject_id="TURN_ID")),
        (TRAINING_RUNS, TRAINING_RUNS.row()),
        (MODEL_VERSIONS, MODEL_VERSIONS.row()),
    )
    for table, row in rows:
        delta.append_rows([row], lake, table, txn=("test", 1))
    delta.append_rows([DEAD_LETTERS.row(offset=42)], lake, DEAD_LETTERS, txn=("test", 1))
    KeyFolder(tmp_path / "lake.keys").open_or_create()
    texts = text_lines("How do I reset it, please?", "how do I reset it please", "Nobody knows.")
    for name in ("in.jsonl", "turns.jsonl"):
        Path(name).write_bytes(texts)
    Path("answers.jsonl").write_bytes(text_lines("Press the button for ten seconds.", field="answer"))
    Path("talks.txt").write_text("talk-1\n")
    Path("benchmarks").mkdir()
    Path("benchmarks/quiz.jsonl").write_bytes(
        orjson.dumps({"question": "Which river flows through the old town of Exampleton?", "answer": "The Sample"})
        + b"\n"
    )
    return tmp_path


@pytest.mark.parametrize("line", HERE)
def test_a_line_of_the_readme_runs(desk, line):
    words, given, out = [], None, None
    parts = iter(shlex.split(line, comments=True))
    for part in parts:
        if part == "<":
            given = Path(next(parts)).read_bytes()
        elif part == ">":
            out = Path(next(parts))
        else:
            words.append(part)
    assert words[0] == "turnmill"
    told = CliRunner().invoke(main, words[1:], input=given)
    assert told.exit_code == 0, told.stderr
    if out is not None:
        assert len(told.stdout.splitlines()) == len(given.splitlines())


def test_what_does_not_run_here_is_told_with_one_reason_and_tests_that_are_named_exist():
    assert [line for line in LINES if len(reasons(line)) > 1] == []
    assert [path for path in RUN_ELSEWHERE.values() if not (ROOT / path).is_file()] == []
    for pattern in (*RUN_ELSEWHERE, *NOT_RUN):
        assert any(re.match(pattern, line) for line in LINES), f"no such line any more: {pattern}"
