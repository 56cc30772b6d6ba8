"""Prints what the program for one platform is built from, as CycloneDX 1.5: name, version, licence and checksum of each crate.

    python3 packaging/sbom.py x86_64-unknown-linux-gnu

It contains no path of the machine and no time, so the same Cargo.lock gives the same bytes.
"""

import json
import subprocess
import sys


def crates_of_the_program(metadata):
    """The packages that normal and build dependencies reach from the root, with the ids of their own ones."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    reached, waiting = {}, [metadata["resolve"]["root"]]
    while waiting:
        here = waiting.pop()
        if here in reached:
            continue
        used = [dep["pkg"] for dep in nodes[here]["deps"] if any(kind["kind"] != "dev" for kind in dep["dep_kinds"])]
        reached[here] = used
        waiting += used
    return reached


def main(target):
    flags = ["--format-version", "1", "--locked", "--filter-platform", target]
    metadata = json.loads(subprocess.run(["cargo", "metadata", *flags], check=True, stdout=subprocess.PIPE).stdout)
    with open("Cargo.lock", encoding="utf-8") as lock:
        blocks = [dict(line.split(" = ", 1) for line in block.splitlines() if " = " in line) for block in lock.read().split("[[package]]")]
    checksums = {(block["name"], block["version"]): block["checksum"].strip('"') for block in blocks if "checksum" in block}
    packages = {package["id"]: package for package in metadata["packages"]}
    reached = crates_of_the_program(metadata)

    def reference(id):
        return f"pkg:cargo/{packages[id]['name']}@{packages[id]['version']}"

    def component(id):
        package = packages[id]
        checksum = checksums.get((f'"{package["name"]}"', f'"{package["version"]}"'))
        return {
            "type": "application" if id == metadata["resolve"]["root"] else "library",
            "bom-ref": reference(id),
            "name": package["name"],
            "version": package["version"],
            **({"hashes": [{"alg": "SHA-256", "content": checksum}]} if checksum else {}),
            # Some crates write "MIT/Apache-2.0", an older form of OR.
            "licenses": [{"expression": package["license"].replace("/", " OR ")}],
            "purl": reference(id),
        }

    root = metadata["resolve"]["root"]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(root), "properties": [{"name": "cargo:target", "value": target}]},
        "components": [component(id) for id in sorted(reached, key=reference) if id != root],
        "dependencies": [
            {"ref": reference(id), "dependsOn": sorted(reference(used) for used in reached[id])} for id in sorted(reached, key=reference)
        ],
    }
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])
