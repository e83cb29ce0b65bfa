import hashlib
import subprocess
import threading
from pathlib import Path

import certifi
import pytest

from pipelines.adapters import jars
from pipelines.adapters.ivy import Coordinates, IvyError, ivy_jar, proxy_properties, trust_properties
from pipelines.adapters.jars import Jar, JarError
from pipelines.adapters.java import find_java

CONTENT = {"one": b"first jar", "two": b"second jar, longer"}


def jar_of(name, content):
    return Jar("org.example", name, "1.0", hashlib.sha256(content).hexdigest(), len(content))


@pytest.fixture
def listed(monkeypatch, tmp_path):
    """A list of one set, ``test``, and a cache of its own."""
    listed = (jar_of("one", CONTENT["one"]), jar_of("two", CONTENT["two"]))
    monkeypatch.setattr(jars, "jar_sets", lambda: {"test": listed})
    monkeypatch.setenv("TURNMILL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(jars, "find_java", lambda: None)
    return listed


@pytest.fixture
def repository(monkeypatch):
    """Stands for the network: what it serves can be changed, and each fetch is counted."""

    class Repository:
        served = dict(CONTENT)
        fetches = 0

    def fetch(self, wanted, into, on_jar):
        Repository.fetches += 1
        into.mkdir(parents=True, exist_ok=True)
        for coordinates in wanted:
            if coordinates.artifact not in Repository.served:
                raise IvyError(["not found"])
            (into / coordinates.file_name).write_bytes(Repository.served[coordinates.artifact])
            cached = self.work / "cache" / f"{coordinates.artifact}-{coordinates.version}.jar"
            cached.parent.mkdir(parents=True, exist_ok=True)
            cached.write_bytes(b"")
            on_jar(coordinates)

    monkeypatch.setattr(jars.Ivy, "fetch", fetch)
    return Repository


def test_a_second_call_needs_no_network(listed, repository):
    folder = jars.jars_folder("test")
    assert jars.jars_folder("test") == folder
    assert repository.fetches == 1
    assert [path.read_bytes() for path in jars.classpath("test")] == list(CONTENT.values())


def test_progress_counts_bytes_up_to_all_of_them(listed, repository):
    seen = []
    jars.jars_folder("test", lambda done, total, name: seen.append((done, total)))
    total = sum(map(len, CONTENT.values()))
    assert seen == [(len(CONTENT["one"]), total), (total, total)]


def test_a_jar_with_another_checksum_is_not_kept(listed, repository):
    repository.served["two"] = b"SECOND jar, longer"
    with pytest.raises(JarError, match="sha256 differs, first org.example_two"):
        jars.jars_folder("test")
    assert not jars.is_cached("test")
    repository.served["two"] = CONTENT["two"]
    assert jars.classpath("test")


def test_no_network_says_how_many_came_and_what_to_do(listed, repository):
    del repository.served["two"]
    with pytest.raises(JarError, match=r"Wanted 2 jars .*got 1 .*org.example:two:1.0.*TURNMILL_MAVEN_REPOSITORY"):
        jars.jars_folder("test")
    assert not jars.is_cached("test")


def test_a_lost_or_cut_jar_is_fetched_again(listed, repository):
    first, second = jars.classpath("test")
    second.write_bytes(b"cut")
    assert not jars.is_cached("test")
    jars.classpath("test")[0].unlink()
    assert [path.read_bytes() for path in jars.classpath("test")] == list(CONTENT.values())


def test_verify_finds_a_changed_byte_of_the_same_size(listed, repository):
    first, second = jars.classpath("test")
    assert jars.verify("test") == []
    first.write_bytes(b"First jar")
    assert jars.is_cached("test")
    assert jars.verify("test") == [first.name]


def test_of_many_that_start_at_once_one_downloads(listed, repository):
    folders = []
    threads = [threading.Thread(target=lambda: folders.append(jars.jars_folder("test"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert repository.fetches == 1
    assert len(folders) == 8


def test_a_new_list_gets_a_new_folder(listed, repository, monkeypatch):
    before = jars.jars_folder("test")
    repository.served["two"] = b"another version"
    monkeypatch.setattr(jars, "jar_sets", lambda: {"test": (listed[0], jar_of("two", b"another version"))})
    assert jars.jars_folder("test") != before
    assert before.is_dir()


def test_the_checked_in_list_pins_every_jar():
    sets = jars.jar_sets()
    assert set(sets) == {"spark", "broker"}
    for listed in sets.values():
        assert len({jar.file_name for jar in listed}) == len(listed)
        assert all(len(jar.sha256) == 64 and jar.size > 0 for jar in listed)
    pinned = {str(jar.coordinates) for jar in sets["spark"]}
    assert "io.delta:delta-spark_4.2_2.13:4.4.0" in pinned
    assert "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0" in pinned
    assert "org.apache.kafka:kafka-clients:3.9.2" in pinned
    assert "org.apache.kafka:kafka_2.13:4.4.0" in {str(jar.coordinates) for jar in sets["broker"]}


def test_the_list_for_spark_repeats_nothing_that_pyspark_brings():
    pyspark_jars = {path.name for path in ivy_jar().parent.glob("*.jar")}
    assert pyspark_jars
    for jar in jars.jar_sets()["spark"]:
        assert f"{jar.artifact}-{jar.version}.jar" not in pyspark_jars


def test_writing_the_list_and_reading_it_gives_the_same(tmp_path):
    path = tmp_path / "jars.lock.json"
    jars.write_lock(jars.jar_sets(), path)
    assert path.read_text() == jars.LOCK_FILE.read_text()


def test_a_proxy_of_the_environment_reaches_java():
    found = proxy_properties({"https": "http://proxy.example.com:3128"}, "localhost,.example.org")
    assert "-Dhttps.proxyHost=proxy.example.com" in found
    assert "-Dhttps.proxyPort=3128" in found
    assert "-Dhttp.nonProxyHosts=localhost|*.example.org" in found
    assert proxy_properties({}, "localhost") == []


def test_equal_artifacts_of_two_groups_have_two_file_names():
    assert Coordinates("a", "x", "1").file_name != Coordinates("b", "x", "1").file_name


def test_java_trusts_the_certificates_of_ssl_cert_file(tmp_path):
    bundle = certifi.where()
    properties = dict(p.removeprefix("-D").split("=", 1) for p in trust_properties(bundle, tmp_path))
    store = ["-keystore", properties["javax.net.ssl.trustStore"], "-storepass", "changeit"]
    listed = subprocess.run(
        [find_java().home / "bin" / "keytool", "-list", *store],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    wanted = Path(bundle).read_text().count("BEGIN CERTIFICATE")
    assert listed.stdout.count("trustedCertEntry") == wanted
    assert trust_properties(None, tmp_path) == trust_properties(str(tmp_path / "none.pem"), tmp_path) == []
