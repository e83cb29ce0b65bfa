"""The house's rules about who may import whom, and how things are named."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("schemas", "pipelines", "jobs")
MAY_IMPORT = {"schemas": {"schemas"}, "pipelines": {"schemas", "pipelines"}, "jobs": {"schemas", "pipelines", "jobs"}}
CATCH_ALL = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc"}
TOP_LEVEL = {"pipelines", "jobs", "schemas", "tests", "docker"}

MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def dotted(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "absolute imports only"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def top_level_imports(tree):
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from imports(ast.Module([node], []))


@pytest.fixture(scope="module")
def trees():
    return {dotted(path): ast.parse(path.read_text()) for path in MODULES}


def test_imports_go_one_way(trees):
    wrong = [
        f"{module} imports {name}"
        for module, tree in trees.items()
        for name in imports(tree)
        if name.split(".")[0] in PACKAGES and name.split(".")[0] not in MAY_IMPORT[module.split(".")[0]]
    ]
    assert wrong == []


def test_stages_never_import_adapters(trees):
    wrong = [
        f"{module} imports {name}"
        for module, tree in trees.items()
        if module.startswith("pipelines.") and not module.startswith("pipelines.adapters")
        for name in imports(tree)
        if name.startswith("pipelines.adapters")
    ]
    assert wrong == []


def test_no_module_is_a_catch_all():
    assert [dotted(path) for path in MODULES if path.stem in CATCH_ALL] == []


def test_no_job_hides_another_module():
    stems = {path.stem for path in (ROOT / "jobs").glob("*.py")} - {"__init__"}
    assert stems & (set(sys.stdlib_module_names) | TOP_LEVEL) == set()


def test_jobs_of_the_flow_are_named_by_verb_and_kind(trees):
    kinds = {name.rsplit("_", 1)[1] for name in trees if name.endswith(("_stream", "_batch"))}
    assert kinds == {"stream", "batch"}


def test_pipelines_print_nothing_and_ask_nobody(trees):
    wrong = []
    for module, tree in trees.items():
        if not module.startswith("pipelines"):
            continue
        calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        wrong += [f"{module} prints" for call in calls if isinstance(call, ast.Name) and call.id == "print"]
        wrong += [f"{module} imports {name}" for name in imports(tree) if name in ("argparse", "click")]
        if not module.startswith("pipelines.adapters"):
            wrong += [
                f"{module} reads os.environ"
                for node in ast.walk(tree)
                if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
            ]
    assert wrong == []


def test_tables_are_declared_without_spark(trees):
    wrong = [
        f"{module} imports {name}"
        for module, tree in trees.items()
        if module.startswith("schemas")
        for name in top_level_imports(tree)
        if name.split(".")[0] in ("pyspark", "delta")
    ]
    assert wrong == []


def test_help_needs_neither_spark_nor_torch():
    blocked = "pyspark delta torch transformers sentence_transformers lancedb great_expectations confluent_kafka pandas"
    program = (
        "import sys\n"
        f"for name in {blocked.split()!r}: sys.modules[name] = None\n"
        "from jobs.command_line import main\n"
        "main(['--help'])\n"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert "Exit codes" in told.stdout
    assert "dead-letters" in told.stdout


@pytest.mark.parametrize("folder", ["tests", "docker"])
def test_tests_and_docker_are_no_packages(folder):
    assert [str(path) for path in (ROOT / folder).rglob("__init__.py")] == []


def test_the_top_level_stays_as_it_was_agreed():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("not a checkout")
    top = {line.split("/")[0] for line in tracked.stdout.splitlines()}
    agreed = TOP_LEVEL | {"pyproject.toml", "README.md", "requirements.lock", "LICENSE", "CHANGELOG.md"}
    assert {name for name in top - agreed if not name.startswith(".")} == set()
