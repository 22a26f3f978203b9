#!/usr/bin/env python3
"""Prints what the packages of a release contain and depend on, as an SPDX 2.3 document.

usage: deploy/components.py VERSION FOLDER

The server's packages are those that its .deb depends on, in the versions of this machine; the dashboard's are those of
web/package-lock.json that are part of what is served.
"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Headers and archives that are compiled into the programs, so in no list of dependencies.
IN_PROGRAMS = ("nlohmann-json3-dev", "libboost1.81-dev", "libstdc++-12-dev", "libcli11-dev", "libtomlplusplus-dev")
IN_CLIENT = ("libfmt-dev", "libspdlog-dev", "nettle-dev", "libyaml-cpp-dev")


def output_of(*words):
    return subprocess.run([*map(str, words)], check=True, capture_output=True, text=True).stdout


def installed_version(package):
    done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def debian_packages(deb):
    depends = output_of("dpkg-deb", "-f", deb, "Depends")
    return [re.split(r"[ (|:]", entry.strip())[0] for entry in depends.split(",") if entry.strip()]


def component(name, version, kind, **more):
    purl = f"pkg:{kind}/{name}@{version}" if version else f"pkg:{kind}/{name}"
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{kind}-{name}"), "name": name, "versionInfo": version or "NOASSERTION",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}], **more}


def document(version, folder):
    ours, served, others, relations = [], [], {}, []
    for file in sorted(folder.glob("slipway[-_]*")):
        if file.suffix == ".json":
            continue
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        ours.append(component(file.name, version, "generic", checksums=[{"algorithm": "SHA256", "checksumValue": digest}]))
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", ours[-1]["SPDXID"]))
        if file.suffix == ".deb":
            for name in debian_packages(file):
                if not name.startswith("slipway"):
                    others[name] = component(name, installed_version(name), "deb/debian")
                    relations.append((ours[-1]["SPDXID"], "DEPENDS_ON", others[name]["SPDXID"]))
        has_server = file.name.startswith("slipway-server") or file.name.endswith(".tar.gz")
        has_client = file.name.startswith("slipway_") or file.name.endswith(".tar.gz")
        for name in IN_PROGRAMS * (has_server or has_client) + IN_CLIENT * has_client:
            others[name] = component(name, installed_version(name), "deb/debian")
            relations.append((ours[-1]["SPDXID"], "CONTAINS", others[name]["SPDXID"]))
        if has_server:
            served.append(ours[-1])
    lock = json.loads((ROOT / "web/package-lock.json").read_text())["packages"]
    for path, entry in sorted(lock.items()):
        if path and not entry.get("dev"):
            name = path.split("node_modules/")[-1]
            others["npm " + name] = component(name, entry["version"], "npm")
            relations += [(one["SPDXID"], "CONTAINS", others["npm " + name]["SPDXID"]) for one in served]
    made = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH") or output_of("git", "-C", ROOT, "log", "-1", "--format=%ct")),
                                           datetime.timezone.utc)
    commit = output_of("git", "-C", ROOT, "rev-parse", "HEAD").strip()
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"slipway-{version}",
            "documentNamespace": f"https://spdx.org/spdxdocs/slipway-{version}-{commit}",
            "creationInfo": {"created": made.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: deploy/components.py"]},
            "packages": ours + list(others.values()),
            "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations]}


if __name__ == "__main__":
    json.dump(document(sys.argv[1], pathlib.Path(sys.argv[2])), sys.stdout, indent=1)
    print()
