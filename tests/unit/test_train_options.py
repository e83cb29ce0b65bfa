"""The flags of a run give its options, all of them, and what cannot be meant is refused before anything starts."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from jobs.options import Exit, UserError
from jobs.train_batch import nodes_of
from jobs.train_options import TrainOptions, node_range, with_train_flags
from pipelines.adapters.cluster_launchers import Kubectl
from pipelines.training.launch import LocalTorchrun, torchrun_command
from pipelines.training.manifests import Cluster
from pipelines.training.run_spec import RunSpec


def asked(*words):
    told = []
    command = click.command("train")(click.pass_obj(with_train_flags(lambda _, options, trial: told.append(options))))
    done = CliRunner().invoke(command, list(words), obj=object())
    return done, told[0] if told else None


def test_without_flags_a_run_has_the_default_options():
    done, options = asked()
    assert done.exit_code == 0, done.output
    assert options == TrainOptions()


def test_flags_reach_the_options():
    _, options = asked(
        *("--nnodes", "1:4", "--rdzv-endpoint", "node.example:29400", "--micro-batch", "2", "--launcher", "spark"),
        *("--compression", "powersgd", "--powersgd-rank", "2", "--adaptive-shares"),
    )
    assert (options.node_range, options.rdzv_endpoint, options.micro_batch) == ((1, 4), "node.example:29400", 2)
    assert (options.compression, options.powersgd_rank, options.adaptive_shares) == ("powersgd", 2, True)
    assert options.launcher == "spark"


@pytest.mark.parametrize(
    "words", [("--nnodes", "0"), ("--nnodes", "3:2"), ("--nnodes", "2:"), ("--nnodes", "two"), ("--compression", "zip"),
              ("--rdzv-endpoint", "node.example"), ("--rdzv-endpoint", "a b:1"), ("--micro-batch", "0")],
)  # fmt: skip
def test_what_cannot_be_meant_is_wrong_use(words):
    done, _ = asked(*words)
    assert done.exit_code == 2
    assert words[0] in done.output


def judged(tmp_path, *words):
    told = []
    command = click.command("train")(click.pass_obj(with_train_flags(lambda _, options, trial: told.append(trial))))
    done = CliRunner().invoke(command, list(words), obj=object(), env={"JUDGE_KEY": "an-invented-key-of-a-judge"})
    return done, told[0].judge if told else None


def test_a_judge_is_asked_where_the_flags_say_with_a_key_of_a_file_or_variable(tmp_path):
    assert judged(tmp_path)[1] is None
    key = tmp_path / "key"
    key.write_text("an-invented-key-of-a-judge\n")
    key.chmod(0o600)
    where = ("--judge-url", "http://127.0.0.1:9/v1", "--judge-model", "m")
    for words in (("--judge-key-file", str(key)), ("--judge-key-env", "JUDGE_KEY")):
        _, judge = judged(tmp_path, *where, *words, "--judge-timeout", "7")
        assert (judge.key, judge.timeout, judge.label) == ("an-invented-key-of-a-judge", 7.0, "m at 127.0.0.1")
    assert judged(tmp_path, *where)[1].key is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--judge-model", "m"), "wanted --judge-url"),
        (("--judge-url", "http://127.0.0.1:9/v1"), "wanted --judge-model"),
        (("--judge-url", "http://127.0.0.1:9", "--judge-model", "m", "--judge-key-env", "NOT_SET"), "unset or empty"),
    ],
)
def test_flags_of_a_judge_that_do_not_fit_are_refused(tmp_path, words, told):
    done, judge = judged(tmp_path, *words)
    assert judge is None
    assert told in done.output


def test_machines_are_a_number_or_a_range():
    assert (node_range("3"), node_range("1:8")) == ((3, 3), (1, 8))


def test_several_machines_need_a_place_to_meet_and_a_cluster_has_its_own():
    with pytest.raises(UserError, match="--rdzv-endpoint") as refused:
        nodes_of(TrainOptions(nodes="1:2"), LocalTorchrun({}))
    assert refused.value.exit_code == Exit.WRONG_USE
    assert nodes_of(TrainOptions(nodes="1:2", rdzv_endpoint="node.example:1"), LocalTorchrun({})) == "1:2"
    cluster = Cluster("image", "lake", Path("/lake"), nodes=3)
    assert nodes_of(TrainOptions(), Kubectl(cluster, "job", {})) == "3"


def test_the_command_meets_others_only_where_there_are_several_machines():
    def command(**fields):
        spec = RunSpec("run-1", "ds-1", "/a", "/b", "b@1", nproc=2, max_restarts=3, **fields)
        return " ".join(torchrun_command(spec, Path("/run/spec.json"), "python"))

    assert "--standalone --nproc-per-node 2 --max-restarts 3" in command()
    several = command(nodes=4, least_nodes=1, rendezvous="node.example:29400")
    assert "--nnodes 1:4 --rdzv-backend c10d --rdzv-id run-1 --rdzv-endpoint node.example:29400" in several
    assert "--nnodes 4 " in command(nodes=4, least_nodes=4, rendezvous="node.example:29400")
