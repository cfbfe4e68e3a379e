"""
What can be checked of Swift without its compiler, in the folder of the example: every file that the document decides
parses, no type, member or case has a name twice, and the program calls what there is, with its labels in their order.
"""

import sys
from collections import Counter
from pathlib import Path

import tree_sitter_swift
from tree_sitter import Language, Node, Parser

parser = Parser(Language(tree_sitter_swift.language()))
faults: list[str] = []


def text(node: Node | None) -> str:
    return node.text.decode() if node and node.text else ""


def all_of(node: Node, *types: str) -> list[Node]:
    here = [node] if node.type in types else []
    return here + [one for child in node.children for one in all_of(child, *types)]


def parsed(path: Path) -> Node:
    root = parser.parse(path.read_bytes()).root_node
    if root.has_error:
        broken = next((one for one in all_of(root, "ERROR")), root)
        faults.append(f"{path}:{broken.start_point[0] + 1}: does not parse")
    return root


def once(names: list[str], where: str) -> None:
    faults.extend(f"{where}: {name} is there {count} times" for name, count in Counter(names).items() if count > 1)


def labels_of(parameters: Node) -> list[str]:
    return [
        text(one.child_by_field_name("external_name") or one.child_by_field_name("name"))
        for one in parameters.children
        if one.type == "parameter"
    ]


client = Path("client/Sources")
roots = [parsed(path) for folder in ("APIs", "Models") for path in sorted(client.glob(f"*/{folder}/*.swift"))]
if len(roots) < 100:
    sys.exit(f"{len(roots)} files in {client}: the client is not there")



def declarations(node: Node) -> list[Node]:
    found = all_of(node, "class_declaration")
    return [one for one in found if not any(child.type == "extension" for child in one.children)]


def name_of(node: Node) -> str:
    return text(node.child_by_field_name("name"))


once([name_of(one) for root in roots for one in declarations(root) if one.parent == root], "the client")

callable_: dict[str, list[str]] = {}
for declaration in [one for root in roots for one in declarations(root)]:
    name = name_of(declaration)
    body = declaration.child_by_field_name("body")
    members = body.children if body else []
    once([name_of(one) for one in members if one.type in ("enum_entry", "property_declaration")], name)
    for one in members:
        if one.type == "init_declaration":
            callable_.setdefault(name, labels_of(one))
        if one.type == "function_declaration":
            callable_[f"{name}.{name_of(one)}"] = labels_of(one)

calls = 0
for path in sorted(Path(".").glob("S*s/*.swift")):
    for call in all_of(parsed(path), "call_expression"):
        target = "".join(text(call.children[0]).split())
        if target not in callable_:
            # Further calls of a chain hold its first one; other names are of the program or of Foundation.
            if "API." in target and "(" not in target:
                faults.append(f"{path}: the client has no {target}")
            continue
        arguments = all_of(call.children[1], "value_arguments")[0].children
        used = [name_of(one) for one in arguments if one.type == "value_argument"]
        declared = iter(callable_[target])
        if not all(label in declared for label in used):
            faults.append(f"{path}: {target} takes {callable_[target]}, in this order, not {used}")
        calls += 1

if faults:
    sys.exit("\n".join(faults))
print(f"{len(roots)} files of the client, {calls} calls of the program")
