"""Parses printed StableHLO programs with JAX's own parser, and compares them with their originals.

    parse_printed.py FOLDER [--originals FOLDER] [--portable VERSION]

Every `*.mlir` file of the first folder must parse and verify. With `--originals`, the file of the same name there must
be the same program: attributes that say what their absence says, and the value of a splat without elements, are taken
from both, both are printed in the generic form without locations, and the texts must be equal. With `--portable`, each must have a
portable artifact of that version of VHLO, which must be the same program when it is read. All files are read in one process. Prints
each failure with its reason, then `N passed, M failed`; exit status 1 on any failure.
"""

import argparse
import pathlib
import re
import sys

from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

REASON_CHARACTERS_MAX = 300

ONES = r"array<i64(: 1(, 1)*)?>"
DEFAULT = r"#stablehlo<precision DEFAULT>"
# Values of attributes that are the same as no attribute (StableHLO specification, the sections of the operations; the
# defaults in StablehloOps.td).
MEANINGLESS = {
    "api_version": r"1 : i32",
    "backend_config": r'""',
    "base_dilations": ONES,
    "called_computations": r"\[\]",
    "compare_type": r"#stablehlo<comparison_type NOTYPE>",
    "composite_attributes": r"{}",
    "dimension": r"-1 : i64",
    "has_side_effect": r"false",
    "indices_are_sorted": r"false",
    "infeed_config": r'""',
    "is_host_transfer": r"false",
    "is_stable": r"false",
    "lhs_dilation": ONES,
    "lower": r"false",
    "outfeed_config": r'""',
    "output_operand_aliases": r"\[\]",
    "padding": r"dense<0> : tensor<\d+x2xi64>",
    "precision_config": rf"\[({DEFAULT}(, {DEFAULT})*)?\]",
    "result_accuracy": r"#stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>",
    "rhs_dilation": ONES,
    "sym_visibility": r'"public"',
    "unique_indices": r"false",
    "version": r"0 : i32",
    "window_dilations": ONES,
    "window_reversal": r"array<i1(: false(, false)*)?>",
    "window_strides": ONES,
}
# A complex splat of a tensor without elements, which MLIR keeps although it says nothing.
EMPTY_SPLAT = re.compile(r"dense<\([^()]*\)> : (tensor<(?:\d+x)*0x)")


class Rejected(Exception):
    """Why a file does not pass."""


def drop_meaningless(operation):
    for name in list(operation.attributes):
        meaningless = MEANINGLESS.get(name)
        if meaningless is not None and re.fullmatch(meaningless, str(operation.attributes[name])):
            del operation.attributes[name]
    return ir.WalkResult.ADVANCE


def parse(path):
    try:
        module = ir.Module.parse(path.read_text())
    except (ir.MLIRError, UnicodeDecodeError) as error:
        raise Rejected(f"does not parse: {error}") from error
    if not module.operation.verify():
        raise Rejected("parses, but does not verify")
    return module


def generic_text(module):
    """The program in the generic form, without locations."""
    module.operation.walk(drop_meaningless)
    text = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=False)
    return EMPTY_SPLAT.sub(r"dense<> : \1", text)


def check_portable(module, version):
    try:
        artifact = stablehlo.serialize_portable_artifact_str(str(module), version)
        again = stablehlo.deserialize_portable_artifact_str(artifact)
    except ValueError as error:
        raise Rejected(f"has no portable artifact of version {version}: {error}") from error
    difference = first_difference(generic_text(ir.Module.parse(again)), generic_text(module))
    if difference is not None:
        raise Rejected(f"is another program in its portable artifact: {difference}")


def first_difference(printed, original):
    """The first line in which two texts differ, or nothing when they are equal."""
    for number, (ours, theirs) in enumerate(zip(printed.splitlines(), original.splitlines()), start=1):
        if ours != theirs:
            at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
            start = max(0, at - 40)
            return f"line {number} of the generic form: printed ...{ours[start:at + 80]}, original ...{theirs[start:at + 80]}"
    return None if printed == original else "one is longer than the other"


def check(path, originals, portable):
    module = parse(path)
    if portable is not None:
        check_portable(module, portable)
    if originals is None:
        return
    original = originals / path.name
    if not original.is_file():
        raise Rejected(f"has no original {original}")
    difference = first_difference(generic_text(module), generic_text(parse(original)))
    if difference is not None:
        raise Rejected(f"is another program than its original: {difference}")


def shorten(reason):
    line = " ".join(reason.split())
    return line if len(line) <= REASON_CHARACTERS_MAX else line[:REASON_CHARACTERS_MAX] + "..."


def check_folder(folder, originals, portable):
    """Checks every program and returns how many failed."""
    paths = sorted(folder.glob("*.mlir"))
    if not paths:
        sys.exit(f"error: {folder} holds no .mlir file")
    failed = 0
    with mlir.make_ir_context():
        for path in paths:
            try:
                check(path, originals, portable)
            except Rejected as rejected:
                failed += 1
                print(f"FAILED {path.name}: {shorten(str(rejected))}")
    print(f"{folder}: {len(paths) - failed} passed, {failed} failed")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--originals", type=pathlib.Path)
    parser.add_argument("--portable", metavar="VERSION")
    arguments = parser.parse_args()
    sys.exit(1 if check_folder(arguments.folder, arguments.originals, arguments.portable) else 0)


if __name__ == "__main__":
    main()
