"""Checks every example of OpenAPI documents against the schema beside it.

The validator of the specification looks at the document's shape alone. Exits 1 and lists what does not fit.
"""

import json
import sys

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012


def pairs(node, path=""):
    """Every (path, schema, example) of a document: of media types, parameters and schemas."""
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield from pairs(item, f"{path}/{index}")
    if not isinstance(node, dict):
        return
    if isinstance(node.get("schema"), dict):
        if "example" in node:
            yield f"{path}/example", node["schema"], node["example"]
        for name, example in node.get("examples", {}).items():
            yield f"{path}/examples/{name}", node["schema"], example["value"]
    if "type" in node and isinstance(node.get("examples"), list):
        for index, example in enumerate(node["examples"]):
            yield f"{path}/examples/{index}", node, example
    for name, member in node.items():
        if name not in ("example", "examples"):
            yield from pairs(member, f"{path}/{name}")


def faults(document):
    """How many examples there are, and what is wrong with them."""
    registry = Registry().with_resource("urn:document", Resource.from_contents(document, DRAFT202012))
    checked, found = 0, []
    for path, schema, example in pairs(document):
        absolute = json.loads(json.dumps(schema).replace('"#/components/', '"urn:document#/components/'))
        validator = Draft202012Validator(absolute, registry=registry, format_checker=Draft202012Validator.FORMAT_CHECKER)
        checked += 1
        found += [f"{path}: {error.message}" for error in validator.iter_errors(example)]
    return checked, found


def main():
    failed = False
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            checked, found = faults(json.load(file))
        failed |= bool(found) or checked == 0
        print(f"{checked} examples, {len(found)} faults")
        for fault in found:
            print(f"  {fault}")
    sys.exit(failed)


main()
