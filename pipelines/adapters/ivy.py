"""Run the Ivy that pyspark ships: fetch named jars from a Maven repository, or find out which jars a module needs."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from xml.sax.saxutils import quoteattr

from cryptography import x509
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

from pipelines.adapters.java import Java

RETRIEVE_PATTERN = "[organisation]_[artifact]-[revision].[ext]"

_SUCCESSFUL = re.compile(r"\[SUCCESSFUL \] ([^#\s]+)#([^;\s]+);([^!\s]+)!")


class IvyError(RuntimeError):
    """Ivy did not bring all that it was asked for; ``lines`` holds its own words about it."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__("Ivy did not bring all that it was asked for")
        self.lines = lines


@dataclass(frozen=True, order=True)
class Coordinates:
    """A jar's place in a Maven repository."""

    group: str
    artifact: str
    version: str

    def __str__(self) -> str:
        return f"{self.group}:{self.artifact}:{self.version}"

    @property
    def file_name(self) -> str:
        """Name that the jar gets in a folder of jars; unique, since the group is part of it."""
        return f"{self.group}_{self.artifact}-{self.version}.jar"


@dataclass(frozen=True)
class Ivy:
    """The Ivy of pyspark with a work folder of its own and one repository: Maven Central, or the mirror given."""

    java: Java
    work: Path
    mirror: str | None = None

    def fetch(self, jars: Sequence[Coordinates], into: Path, on_jar: Callable[[Coordinates], None]) -> None:
        """Download exactly ``jars`` into the folder ``into``, and nothing that they depend on.

        ``on_jar`` is called after each download. Files that an interrupted run left in the work folder are used again.
        Errors: ``IvyError`` when one of them cannot be had.
        """
        wanted = "\n".join(_dependency(jar, 'transitive="false"') for jar in jars)
        self._run(wanted, into, read_poms=False, on_jar=on_jar)

    def resolve(self, roots: Sequence[Coordinates], excluded_groups: Iterable[str], into: Path) -> list[Coordinates]:
        """Download ``roots`` and all that they need at run time into ``into``; return what came.

        Reads every POM on the way; only making the checked-in list anew needs it. The work folder must be empty.
        """
        conf = 'conf="default->compile(*),runtime(*),master(*)"'
        wanted = "\n".join(_dependency(root, conf) for root in roots)
        without = "\n".join(f"<exclude org={quoteattr(group)} matcher='exact'/>" for group in excluded_groups)
        came: list[Coordinates] = []
        self._run(f"{wanted}\n{without}", into, read_poms=True, on_jar=came.append)
        return came

    def _run(self, wanted: str, into: Path, *, read_poms: bool, on_jar: Callable[[Coordinates], None]) -> None:
        into.mkdir(parents=True, exist_ok=True)
        self.work.mkdir(parents=True, exist_ok=True)
        (self.work / "ivysettings.xml").write_text(_settings(self.work, self.mirror, read_poms), "utf-8")
        (self.work / "ivy.xml").write_text(
            '<ivy-module version="2.0"><info organisation="turnmill" module="jars"/>\n'
            f'<configurations><conf name="default"/></configurations>\n<dependencies>\n{wanted}\n</dependencies>'
            "</ivy-module>\n",
            "utf-8",
        )
        command = [str(self.java.executable), "-Xmx256m", f"-Divy.default.ivy.user.dir={self.work}"]
        command += proxy_properties(urllib.request.getproxies(), os.environ.get("no_proxy", ""))
        command += trust_properties(os.environ.get("SSL_CERT_FILE"), self.work)
        command += ["-cp", str(ivy_jar()), "org.apache.ivy.Main"]
        command += ["-settings", str(self.work / "ivysettings.xml"), "-ivy", str(self.work / "ivy.xml")]
        command += ["-confs", "default", "-types", "jar", "bundle", "-retrieve", str(into / RETRIEVE_PATTERN)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8") as process:
            lines = []
            try:
                for line in process.stdout or ():
                    lines.append(line.strip())
                    if found := _SUCCESSFUL.search(line):
                        on_jar(Coordinates(*found.groups()))
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0:
            raise IvyError(lines)


def ivy_jar() -> Path:
    """Path of the Ivy jar inside the installed pyspark. Errors: ``FileNotFoundError`` when pyspark is not there."""
    spec = importlib.util.find_spec("pyspark")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted((Path(folder) / "jars").glob("ivy-*.jar")):
            return path
    raise FileNotFoundError(
        "pyspark with its Ivy jar is not installed; install the extra: pip install 'turnmill[jobs]'"
    )


def trust_properties(cert_file: str | None, work: Path) -> list[str]:
    """Java system properties that trust the certificates of ``SSL_CERT_FILE``, which Java itself does not read.

    The PEM bundle becomes a PKCS 12 store in ``work``; no properties where the file is not given or holds none.
    """
    if not cert_file or not Path(cert_file).is_file():
        return []
    try:
        certificates = x509.load_pem_x509_certificates(Path(cert_file).read_bytes())
    except ValueError:
        return []
    # The password is Java's own customary one: it guards nothing, but without it Java reads no entries.
    password = "changeit"  # noqa: S105
    entries = [pkcs12.PKCS12Certificate(one, f"ca-{i}".encode()) for i, one in enumerate(certificates)]
    store = work / "trusted.p12"
    store.write_bytes(pkcs12.serialize_java_truststore(entries, BestAvailableEncryption(password.encode())))
    names = {"trustStore": str(store), "trustStoreType": "PKCS12", "trustStorePassword": password}
    return [f"-Djavax.net.ssl.{name}={value}" for name, value in names.items()]


def proxy_properties(proxies: dict[str, str], no_proxy: str) -> list[str]:
    """Java system properties that say the same as the proxy environment, which Java itself does not read.

    ``proxies`` maps a scheme to a proxy address, as ``urllib.request.getproxies`` gives it.
    """
    properties = []
    for scheme in ("http", "https"):
        parts = urlsplit(proxies.get(scheme, ""))
        if parts.hostname:
            properties += [f"-D{scheme}.proxyHost={parts.hostname}", f"-D{scheme}.proxyPort={parts.port or 80}"]
    if properties and no_proxy:
        hosts = [host.strip() for host in no_proxy.split(",") if host.strip()]
        properties.append("-Dhttp.nonProxyHosts=" + "|".join(f"*{h}" if h.startswith(".") else h for h in hosts))
    return properties


def _dependency(jar: Coordinates, attributes: str) -> str:
    where = f"org={quoteattr(jar.group)} name={quoteattr(jar.artifact)} rev={quoteattr(jar.version)}"
    return f"<dependency {where} {attributes}/>"


def _settings(work: Path, mirror: str | None, read_poms: bool) -> str:
    # No .sha1 look-ups: every file is checked against the sha256 of the checked-in list afterwards.
    # Without a root, Ivy's Maven 2 resolver stands for Maven Central.
    root = f"root={quoteattr(mirror.rstrip('/') + '/')}" if mirror else ""
    return (
        '<ivysettings><settings defaultResolver="repository"/>\n'
        f"<caches defaultCacheDir={quoteattr(str(work / 'cache'))}/>\n"
        '<timeout-constraints><timeout-constraint name="net" connectionTimeout="15000" readTimeout="60000"/>'
        "</timeout-constraints>\n"
        f'<resolvers><ibiblio name="repository" m2compatible="true" checksums="" timeoutConstraint="net" '
        f'usepoms="{str(read_poms).lower()}" {root}/></resolvers></ivysettings>\n'
    )
