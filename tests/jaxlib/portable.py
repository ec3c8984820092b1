"""Compares portable bytecode that we wrote with that of JAX's own StableHLO, version by version.

    portable.py [--report] [PROGRAMS OURS THEIRS]...

`PROGRAMS` holds `NAME.mlir`, `OURS/VERSION/NAME.mlirbc` is what we wrote of it, and `OURS/refused.txt` says what we refused.
For each program and version JAX writes its own bytes, after its own legalization of CHLO operations where there are any. Where it
can, ours must be there, JAX must read it, and the module must be the one that it reads from its own bytes: both in the generic
form, without locations. Where it cannot, ours must not be there. CHLO operations we decompose in another way than JAX, some
that it cannot; ours must then be a program of that version for JAX. What we shall read and compare with the text goes to
`THEIRS/VERSION/NAME.mlirbc`: JAX's own bytes, or for a program with CHLO operations ours as JAX writes them again.

Programs have other dialects since version 1.11. JAX writes them in older ones too when it is told to, which nobody who has such
a version reads; we refuse. All files are compared in one process. Prints each failure with its reason, then counts; exit
status 1 on any failure.
"""

import argparse
import collections
import pathlib
import re
import sys

from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir, passmanager
from jaxlib.mlir.dialects import stablehlo

REASON_CHARACTERS_MAX = 300
OTHER_DIALECTS_SINCE = (1, 11, 0)
CHLO_OPERATION = re.compile(r'(?m)^\s*(%[^=\n]*= )?"?chlo\.')
EMPTY_SPLAT = re.compile(r"dense<[^<>\[\]]+> : (tensor<(?:\d+x)*0x)")
LEGALIZE_CHLO = "builtin.module(func.func(chlo-legalize-to-stablehlo))"


class Rejected(Exception):
    """Why a program does not pass in a version."""


class Program:
    """A program as JAX reads it from its text, its CHLO operations legalized."""

    def __init__(self, text):
        self.has_chlo = CHLO_OPERATION.search(text) is not None
        self.is_sharded = "sdy." in text
        try:
            self.module = ir.Module.parse(text)
            if self.has_chlo:
                passmanager.PassManager.parse(LEGALIZE_CHLO).run(self.module.operation)
        except ir.MLIRError as error:
            raise Rejected(f"JAX does not read its text: {error}") from error

    def written(self, version):
        """The bytes of a version; nothing where JAX cannot write it."""
        other_dialects = self.is_sharded and numbers(version) >= OTHER_DIALECTS_SINCE
        try:
            return stablehlo.serialize_portable_artifact(self.module, version, other_dialects)
        except ValueError:
            return None


def numbers(version):
    return tuple(int(number) for number in version.split("."))


def read(context, artifact, whose):
    try:
        return stablehlo.deserialize_portable_artifact(context, artifact)
    except Exception as error:  # What the binding raises is not documented.
        raise Rejected(f"JAX does not read {whose}: {error}") from error


def generic_text(module):
    """The program in the generic form, without locations and what says nothing: that a function is public, and of what value the
    elements of a tensor without elements are."""
    text = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=False)
    return EMPTY_SPLAT.sub(r"dense<> : \1", text.replace(', sym_visibility = "public"', ""))


def first_difference(ours, theirs):
    for number, (one, other) in enumerate(zip(ours.splitlines(), theirs.splitlines()), start=1):
        if one != other:
            at = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
            start = max(0, at - 60)
            return f"line {number}: ours ...{one[start:at + 100]}, theirs ...{other[start:at + 100]}"
    return "one is longer than the other"


def check(context, program, version, ours, refusal):
    """The bytes that we must read as the program of the text; nothing where neither of us can write it."""
    theirs = program.written(version)
    if ours is None:
        if theirs is None:
            return None
        raise Rejected(f"JAX wrote it, and we refused: {refusal}")
    if program.has_chlo:
        return stablehlo.serialize_portable_artifact(read(context, ours, "ours"), version, program.is_sharded)
    if theirs is None:
        raise Rejected("we wrote it, and JAX cannot")
    our_module = read(context, ours, "ours")
    our_text, their_text = generic_text(our_module), generic_text(read(context, theirs, "its own"))
    if our_text != their_text:
        raise Rejected(f"another module: {first_difference(our_text, their_text)}")
    return theirs


def shorten(reason):
    line = " ".join(reason.split())
    return line if len(line) <= REASON_CHARACTERS_MAX else line[:REASON_CHARACTERS_MAX] + "..."


def written_and_refused(ours):
    """What we wrote and what we refused: by name, for each version a path or a reason."""
    programs = collections.defaultdict(dict)
    for path in ours.glob("*/*.mlirbc"):
        programs[path.stem][path.parent.name] = path
    for line in (ours / "refused.txt").read_text().splitlines():
        version, name, reason = re.match(r"(\S+) (.+?): (.*)", line).groups()
        programs[name][version] = reason
    return programs


def check_program(context, programs, name, results, theirs, counts):
    program = None
    for version, result in sorted(results.items(), key=lambda item: numbers(item[0])):
        ours = result.read_bytes() if isinstance(result, pathlib.Path) else None
        try:
            program = program or Program((programs / f"{name}.mlir").read_text())
            again = check(context, program, version, ours, result)
        except Rejected as rejected:
            counts[version]["failed"] += 1
            print(f"FAILED {name} in {version}: {shorten(str(rejected))}")
            continue
        counts[version]["neither" if again is None else "same"] += 1
        if again is not None:
            target = theirs / version / f"{name}.mlirbc"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(again)


def check_folder(programs, ours, theirs, report):
    """Checks every program, and returns whether all passed."""
    counts = collections.defaultdict(collections.Counter)
    with mlir.make_ir_context() as context:
        # What JAX refuses is counted, not shown.
        context.attach_diagnostic_handler(lambda _: True)
        # Reading loads the dialect of quantized types, which parsing a text needs and does not load.
        empty = ir.Module.parse("func.func @main() { return }")
        read(context, stablehlo.serialize_portable_artifact(empty, "1.0.0"), "its own")
        for name, results in sorted(written_and_refused(ours).items()):
            check_program(context, programs, name, results, theirs, counts)
    for version in sorted(counts, key=numbers) if report else []:
        count = counts[version]
        print(f"{version}: {count['same']} same, {count['neither']} written by neither, {count['failed']} failed")
    total = sum(counts.values(), collections.Counter())
    print(f"{programs}: {total['same']} same, {total['neither']} written by neither, {total['failed']} failed")
    return total["same"] > 0 and total["failed"] == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    parser.add_argument("--report", action="store_true", help="print the counts of each version")
    arguments = parser.parse_args()
    folders = arguments.folders
    if len(folders) % 3 != 0:
        parser.error("folders come in threes: PROGRAMS OURS THEIRS")
    stablehlo.register_stablehlo_passes()
    passed = [check_folder(*folders[at : at + 3], arguments.report) for at in range(0, len(folders), 3)]
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main()
