"""Prints the licence texts of what the program for one platform contains: its crates, and what it embeds.

    python3 packaging/licences.py x86_64-unknown-linux-gnu [FILE…]

Each text is printed once, after the names of all that it covers. FILEs are further texts, for what the linker adds. A crate without a
text in its package is an error.
"""

import json
import pathlib
import re
import subprocess
import sys

from sbom import crates_of_the_program

LICENCE = re.compile(r"(LICEN[CS]E|COPYING|NOTICE|UNLICENSE)([-._].*)?|.*-LICENSE\.txt|OFL\.txt", re.IGNORECASE)
# Folders of the repository whose content the program embeds.
EMBEDDED = ("src/render", "fixtures")
RULE = "=" * 80


def texts_in(folder):
    files = (file for file in sorted(folder.rglob("*")) if file.is_file() and LICENCE.fullmatch(file.name) and file.suffix != ".rs")
    return ["\n".join(line.rstrip() for line in file.read_text(encoding="utf-8").splitlines()).strip() for file in files]


def main(target, more):
    flags = ["--format-version", "1", "--locked", "--filter-platform", target]
    metadata = json.loads(subprocess.run(["cargo", "metadata", *flags], check=True, stdout=subprocess.PIPE).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    found = {}
    for id in sorted(crates_of_the_program(metadata), key=lambda id: (packages[id]["name"], packages[id]["version"])):
        if id == metadata["resolve"]["root"]:
            continue
        package = packages[id]
        name = f"{package['name']} {package['version']} ({package['license']})"
        texts = texts_in(pathlib.Path(package["manifest_path"]).parent)
        for text in texts:
            found.setdefault(text, []).append(name)
        if not texts:
            sys.exit(f"{name}: its package has no licence text")
    for folder in EMBEDDED:
        for file in sorted(pathlib.Path(folder).rglob("*")):
            if file.is_file() and LICENCE.fullmatch(file.name):
                found.setdefault(file.read_text(encoding="utf-8").strip(), []).append(file.stem.removesuffix("-LICENSE") if "-" in file.stem else file.parent.name)
    for file in more:
        found.setdefault(pathlib.Path(file).read_text(encoding="utf-8").strip(), []).append(pathlib.Path(file).parent.name)
    print("The program contains these works of others, whose licences follow, and the standard library of Rust (MIT OR Apache-2.0).")
    for text, names in found.items():
        print(f"\n{RULE}\n" + "\n".join(dict.fromkeys(names)) + f"\n{RULE}\n\n{text}")


main(sys.argv[1], sys.argv[2:])
