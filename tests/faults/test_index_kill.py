"""kill -9 of the writer at any moment, torn files, full disks: readers keep a whole state, the next write heals it."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("lancedb")

from pipelines.index.errors import IndexUnreadableError  # noqa: E402
from pipelines.index.qdrant import QdrantIndex  # noqa: E402

SHARED = """
import datetime as dt, importlib.util, sys
from pathlib import Path
import numpy as np, pyarrow as pa
from pipelines.index.rows import Change, index_schema
D, START, CHANGED = 32, 400, 40
VERSIONS = {"table_ids": {"turns": "id"}}
MODEL = {"model": "m", "model_fingerprint": "f1"}
def rows(version, ids):
    vectors = np.random.default_rng(version).normal(size=(len(ids), D)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    day = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    return pa.Table.from_pylist([{"tenant": "a", "turn_id": i, "text_hash": "h", "role": "user",
        "conversation_ref": None,
        "lang": "en", "created_at": None, "landed_at": day, "terms": f"{version:08x}", "vector": v.tolist()}
        for i, v in zip(ids, vectors)], schema=index_schema(D))
def ids_of(version):
    "Each version brings new rows, replaces some and removes some of the version before."
    return ([f"v{version}-{i}" for i in range(CHANGED)], [f"v{version - 1}-{i}" for i in range(10)],
            [f"v{version - 1}-{i}" for i in range(10, 20)])
def change(version):
    new, replaced, removed = ids_of(version)
    return Change([("a", i) for i in new + replaced + removed], rows(version, new + replaced))
def expected(version):
    live = {f"v0-{i}" for i in range(START)}
    for v in range(1, version + 1):
        new, replaced, removed = ids_of(v)
        live = (live - set(removed)) | set(new) | set(replaced)
    return {("a", i) for i in live}
"""
WRITER = SHARED + textwrap.dedent("""
    sys.path.insert(0, sys.argv[4])
    from faults_engine import make
    index = make(sys.argv[1], Path(sys.argv[2]))
    with index.writer():
        if index.standing() is None:
            first = rows(0, [f"v0-{i}" for i in range(START)]).to_batches()
            index.rebuild(first, versions={"turns": 0}, **MODEL, **VERSIONS)
        print("ready", flush=True)
        for version in range(index.standing().versions["turns"] + 1, 10**6):
            index.apply([change(version)], versions={"turns": version}, **VERSIONS)
            if version % 3 == 0 and sys.argv[3] != "append":
                index.fold(retrain=sys.argv[3] == "train")
""")
ENGINE = """
import importlib.util
from pathlib import Path
def make(name, folder):
    if name == "exact":
        from pipelines.index.exact import ExactIndex
        return ExactIndex(folder)
    if name == "qdrant":
        from pipelines.index.qdrant import QdrantIndex
        spec = importlib.util.spec_from_file_location("points", "POINTS")
        module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)
        return QdrantIndex(folder, module.EnginePoints(folder / "points"))
    from pipelines.index.lance import LanceIndex
    return LanceIndex(folder, ann_rows=300)
"""
shared: dict = {}
exec(compile(SHARED, "shared", "exec"), shared)  # noqa: S102 - the same rows as the writer's


@pytest.fixture
def make(tmp_path):
    points = Path(__file__).parents[1] / "unit" / "qdrant_engine_points.py"
    (tmp_path / "faults_engine.py").write_text(ENGINE.replace("POINTS", str(points)))
    namespace: dict = {}
    exec(compile(ENGINE.replace("POINTS", str(points)), "engine", "exec"), namespace)  # noqa: S102
    return namespace["make"]


def killed_writer(tmp_path, engine, mode, seconds):
    """Let a writer work for so long after it is ready, then kill it."""
    command = [sys.executable, "-c", WRITER, engine, str(tmp_path / "index"), mode, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        time.sleep(seconds)
        assert process.poll() is None, process.stderr.read()
        process.send_signal(signal.SIGKILL)


def healed(index):
    """Check what readers see after the kill, write the next version, and check again."""
    standing = index.standing()
    if standing is None:
        return -1
    version = standing.versions["turns"]
    if not isinstance(index, QdrantIndex):
        assert index.indexed_keys() == shared["expected"](version)
        index.verify()
    index.apply([shared["change"](version + 1)], versions={"turns": version + 1}, **shared["VERSIONS"])
    assert index.indexed_keys() == shared["expected"](version + 1)
    index.verify()
    new = shared["rows"](version + 1, [f"v{version + 1}-0"]).to_pylist()[0]
    hits = index.search(np.array(new["vector"], np.float32), 5, "a").hits
    assert (hits[0].turn_id, len(hits)) == (f"v{version + 1}-0", 5)
    return version + 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("engine", "mode"),
    [("lance", "append"), ("lance", "fold"), ("lance", "train"), ("exact", "append"), ("qdrant", "append")],
)
def test_a_killed_writer_leaves_a_whole_state_and_the_next_one_goes_on(tmp_path, make, engine, mode):
    if engine == "qdrant":
        pytest.importorskip("qdrant_edge")
    versions = []
    for _ in range(5):
        seconds = random.uniform(0.05, 2.0)
        killed_writer(tmp_path, engine, mode, seconds)
        index = make(engine, tmp_path / "index")
        versions.append(healed(index))
        if isinstance(index, QdrantIndex):
            index.points.close()
    assert versions == sorted(versions)
    assert versions[-1] > 3, versions


@pytest.mark.long
def test_a_torn_newest_manifest_of_an_unfinished_write_is_stepped_over(tmp_path, make):
    killed_writer(tmp_path, "lance", "append", 1.5)
    index = make("lance", tmp_path / "index")
    before = healed(index)
    folder = index.generations.path(index.standing()) / "turns.lance" / "_versions"
    newest = min(folder.glob("*.manifest"))
    (folder / f"{int(newest.stem) - 1:020d}.manifest").write_bytes(newest.read_bytes()[:20])
    reader = make("lance", tmp_path / "index")
    assert reader.standing().versions == {"turns": before}
    assert healed(make("lance", tmp_path / "index")) == before + 1


@pytest.mark.parametrize("engine", ["lance", "exact"])
def test_a_full_disk_is_told_and_readers_keep_the_last_state(tmp_path, make, engine):
    index = make(engine, tmp_path / "index")
    first = shared["rows"](0, [f"v0-{i}" for i in range(250)])
    index.rebuild(first.to_batches(), versions={"turns": 0}, **shared["MODEL"], **shared["VERSIONS"])
    program = SHARED + textwrap.dedent('''
        import json, resource
        sys.path.insert(0, sys.argv[3])
        from faults_engine import make
        from pipelines.index.errors import IndexWriteError
        index = make(sys.argv[1], Path(sys.argv[2]))
        many = rows(1, [f"v1-{i}" for i in range(3000)])
        index.standing()
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            index.apply([Change([], many)], versions={"turns": 1}, **VERSIONS)
        except IndexWriteError as error:
            print(json.dumps(str(error)))
    ''')  # fmt: skip
    command = [sys.executable, "-W", "ignore", "-c", program, engine, str(tmp_path / "index"), str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr[-2000:]
    assert "readers keep the last state" in json.loads(told.stdout)
    reader = make(engine, tmp_path / "index")
    assert reader.standing().versions == {"turns": 0}
    assert len(reader.indexed_keys()) == 250
    index.apply([shared["change"](1)], versions={"turns": 1}, **shared["VERSIONS"])
    index.verify()


def test_a_folder_that_went_away_is_told(tmp_path, make):
    import shutil

    index = make("lance", tmp_path / "index")
    rows = shared["rows"](0, ["v0-0"])
    index.rebuild(rows.to_batches(), versions={"turns": 0}, **shared["MODEL"], **shared["VERSIONS"])
    shutil.rmtree(tmp_path / "index" / "generations")
    with pytest.raises(IndexUnreadableError, match="turnmill index"):
        make("lance", tmp_path / "index").search(np.ones(32, np.float32), 1, "a")


def test_lance_in_a_forked_child_is_refused(tmp_path, make):
    program = SHARED + textwrap.dedent('''
        import os
        sys.path.insert(0, sys.argv[2])
        from faults_engine import make
        from pipelines.index.errors import ForkedProcessError
        index = make("lance", Path(sys.argv[1]))
        index.rebuild(rows(0, ["v0-0"]).to_batches(), versions={"turns": 0}, **MODEL, **VERSIONS)
        child = os.fork()
        if child == 0:
            try:
                index.indexed_keys()
            except ForkedProcessError:
                os._exit(7)
            os._exit(8)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    ''')  # fmt: skip
    command = [sys.executable, "-W", "ignore", "-c", program, str(tmp_path / "index"), str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert told.stdout.strip() == "7", told.stderr[-2000:]
