"""Compares exports that were read and written again with their originals, in the JAX that runs this.

    rewritten_exports.py golden FOLDER
    rewritten_exports.py compare SCHEMA [ORIGINALS REWRITTEN]...

`golden` writes the exports that JAX keeps of its earlier releases, one for each version of the schema, to be rewritten.

`compare` compares a FlatBuffers schema with the code that JAX's own reader is generated to. Then it loads every file of
each second folder and the one of the same name in the first, and compares all fields, those of the functions of gradients
too; as a reader of the lists for older readers sees them as well. Where the first folder has a `manifest.json`, each
rewritten program runs on its first stored inputs, and must give the stored results; of two variants of a program, whose
bytes are compared anyway, the one with symbolic sizes. Exit status 1 on any difference.
"""

import dataclasses
import importlib
import inspect
import json
import os
import pathlib
import pkgutil
import re
import sys

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"

import jax
import jax.export
import numpy as np
from jax._src.export import serialization, serialization_generated
from jax._src.internal_test_util import export_back_compat_test_data
from jax.sharding import NamedSharding

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "fixtures"))
import jax_exports

# Fields of `Exported` that are compared as they are.
PLAIN = (
    "fun_name in_tree out_tree _in_named_shardings _out_named_shardings nr_devices platforms ordered_effects"
    " unordered_effects disabled_safety_checks mlir_module_serialized calling_convention_version module_kept_var_idx"
    " uses_global_constants"
).split()
# Compared in another way, or derived from the others.
OTHERWISE = {
    "in_avals",
    "out_avals",
    "_get_vjp",
    "in_shardings_hlo",
    "out_shardings_hlo",
    "_has_named_shardings",
}

# What hides the tables of unique values from JAX's reader, so that it reads the lists.
UNIQUE_TABLES = (
    "InAvalsIdxs OutAvalsIdxs InShardingsIdxs OutShardingsIdxs UniqueAvals UniqueAbstractMeshes UniqueNamedShardings"
).split()

SCALARS = {"bool": "Bool", "short": "Int16", "uint16": "Uint16", "uint32": "Uint32"}


def aval_fields(aval):
    """Sizes as text, because sizes of two files are never equal to JAX."""
    return [str(size) for size in aval.shape], aval.dtype, aval.memory_space, aval.sharding


def fields(exported):
    """All that two exports must agree in."""
    unknown = {field.name for field in dataclasses.fields(exported)} - set(PLAIN) - OTHERWISE
    if unknown:
        sys.exit(f"error: this JAX has fields of Exported that are not compared: {unknown}")
    found = {name: getattr(exported, name) for name in PLAIN}
    found["in_avals"] = [aval_fields(aval) for aval in exported.in_avals]
    found["out_avals"] = [aval_fields(aval) for aval in exported.out_avals]
    found["vjp"] = fields(exported.vjp()) if exported.has_vjp() else None
    return found


def stamps(data):
    """What the file says about itself, which JAX's reader does not hand on."""
    root = serialization_generated.Exported.GetRootAsExported(data)
    newest = root.JaxVersion() if hasattr(root, "JaxVersion") else None
    return root.SerializationVersion(), newest


def load_from_lists(data):
    """Loads a file as a reader does that does not know the tables of unique values."""
    reader = serialization_generated.Exported
    kept = {name: getattr(reader, name) for name in (f"{table}Length" for table in UNIQUE_TABLES)}
    try:
        for name in kept:
            setattr(reader, name, lambda self: 0)
        return fields(jax.export.deserialize(data))
    finally:
        for name, method in kept.items():
            setattr(reader, name, method)


def differences(original, rewritten):
    wanted = fields(jax.export.deserialize(original))
    found = {"the tables": fields(jax.export.deserialize(rewritten)), "the lists": load_from_lists(rewritten)}
    for place, got in found.items():
        for name in wanted:
            if got[name] != wanted[name]:
                yield f"{name} in {place} is {got[name]}, originally {wanted[name]}"
    if stamps(original) != stamps(rewritten):
        yield f"the stamps are {stamps(rewritten)}, originally {stamps(original)}"


def stored(arrays, key, aval):
    """An array of the corpus, which keeps bfloat16 as bits."""
    array = arrays[key]
    return array.view(jax.numpy.bfloat16) if aval.dtype == jax.numpy.bfloat16 else array


def run(exported, arrays, case, mesh):
    """The flat results for the flat arguments of a case."""
    avals = exported.in_avals
    arguments = [stored(arrays, key, aval) for key, aval in zip(case["inputs"], avals, strict=True)]
    if mesh is not None:
        shardings = exported.in_shardings_jax(mesh)
        default = NamedSharding(mesh, jax.sharding.PartitionSpec())
        arguments = [jax.device_put(value, sharding or default) for value, sharding in zip(arguments, shardings)]
    positional, keywords = jax.tree_util.tree_unflatten(exported.in_tree, arguments)
    return jax.tree_util.tree_leaves(exported.call(*positional, **keywords))


def wrong_results(folder, name, program, data):
    """What is wrong with the results of a program on its first inputs."""
    exported = jax.export.deserialize(data)
    case = program["cases"][0]
    mesh = None
    if "mesh" in program:
        names, sizes = zip(*program["mesh"])
        devices = np.array(jax.devices())[program["device_order"]].reshape(sizes)
        kept = next(sharding for sharding in exported._in_named_shardings if sharding is not None)
        mesh = jax.sharding.Mesh(devices, names, axis_types=kept.mesh.axis_types)
    with np.load(folder / program["npz"]) as arrays:
        results = run(exported, arrays, case, mesh)
        for index, (key, result) in enumerate(zip(case["outputs"], results, strict=True)):
            wanted = np.asarray(stored(arrays, key, result))
            got = np.asarray(result)
            if wanted.dtype.kind not in "biu":
                wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
                wanted, got = wanted.astype(wide), got.astype(wide)
            close = np.allclose(got, wanted, program["rtol"], program["atol"], equal_nan=True)
            if got.shape != wanted.shape or not close:
                yield f"result {index} of {name} differs from the stored one"


def to_run(program):
    """The variants worth running: the one with symbolic sizes, and a static one if it is alone or drops arguments."""
    variants = program["variants"]
    inputs = len(program["cases"][0]["inputs"])
    for name, variant in variants.items():
        if name == "sym" or len(variants) == 1 or len(variant["module_kept_var_idx"]) < inputs:
            yield variant


def compare_folder(originals, rewritten):
    """Compares every file, and returns how many differ."""
    manifest = originals / "manifest.json"
    programs = json.loads(manifest.read_text())["programs"] if manifest.is_file() else {}
    of_file = {variant["bin"]: program for program in programs.values() for variant in to_run(program)}
    paths = sorted(rewritten.glob("*.bin"))
    if not paths:
        sys.exit(f"error: {rewritten} holds no .bin file")
    failed = 0
    for path in paths:
        original, data = bytearray((originals / path.name).read_bytes()), bytearray(path.read_bytes())
        found = list(differences(original, data))
        if path.name in of_file:
            found += wrong_results(originals, path.name, of_file[path.name], data)
        failed += bool(found)
        for line in found:
            print(f"FAILED {path.name}: {line[:400]}")
    ran = sum(path.name in of_file for path in paths)
    print(f"{rewritten}: JAX {jax.__version__}: {len(paths) - failed} equal, {ran} run, {failed} failed")
    return failed


def compare(schema, *folders):
    jax_exports.register()
    failed = compare_schema(schema)
    for originals, rewritten in zip(folders[::2], folders[1::2], strict=True):
        failed += compare_folder(originals, rewritten)
    sys.exit(1 if failed else 0)


def golden(folder):
    """The modules of JAX's test data that keep exports call them `serializations`."""
    count = 0
    for module in pkgutil.iter_modules(export_back_compat_test_data.__path__):
        if not module.name.startswith("export_with_"):
            continue
        data = importlib.import_module(f"{export_back_compat_test_data.__name__}.{module.name}")
        for entry in getattr(data, "serializations", []):
            name = f"{module.name}.schema{entry['serialization_version']}.bin"
            (folder / name).write_bytes(entry["exported_serialized"])
            count += 1
    print(f"{folder}: JAX {jax.__version__} keeps {count} exports of earlier releases")


def camel(name):
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def schema_of(text):
    """The enumerations and tables of a schema: name to (names to numbers), name to (name, type) in order."""
    text = re.sub(r"//[^\n]*", "", text)
    enumerations = {
        name: {value: int(number) for value, number in re.findall(r"(\w+)\s*=\s*(\d+)", body)}
        for name, body in re.findall(r"enum\s+(\w+)\s*:\s*byte\s*{([^}]*)}", text)
    }
    tables = {
        name: re.findall(r"(\w+)\s*:\s*([^;=\s]+)", body) for name, body in re.findall(r"table\s+(\w+)\s*{([^}]*)}", text)
    }
    return enumerations, tables


def generated_slots(table):
    """What JAX's writer of a table calls, by the name of the field: the kind of value and its slot."""
    found = {}
    for name, function in inspect.getmembers(serialization_generated, inspect.isfunction):
        match = re.fullmatch(rf"{table}Add(\w+)", name)
        if match:
            found[match[1]] = re.search(r"Prepend(\w+?)Slot\((\d+),", inspect.getsource(function)).groups()
    return found


def compare_schema(path):
    """Compares the declarations of a schema with JAX's, and returns how many differ."""
    enumerations, tables = schema_of(path.read_text())
    failed = []
    for name, values in enumerations.items():
        theirs = vars(getattr(serialization_generated, name))
        theirs = {key: value for key, value in theirs.items() if not key.startswith("_")}
        if theirs != values:
            failed.append(f"{name}: {values}, in JAX {theirs}")
    for name, members in tables.items():
        theirs = generated_slots(name)
        ours = {}
        for slot, (field, kind) in enumerate(members):
            kind = "Int8" if kind in enumerations else SCALARS.get(kind, "UOffsetTRelative")
            ours[camel(field)] = (kind, str(slot))
        # A JAX that is older than the schema lacks what came last, and nothing else.
        newer = list(ours)[len(theirs) :]
        if {key: value for key, value in ours.items() if key not in newer} != theirs:
            failed.append(f"{name}: {ours}, in JAX {theirs}")
        if newer and serialization._SERIALIZATION_VERSION >= 12:
            failed.append(f"{name}: JAX has not {newer}")
    for line in failed:
        print(f"FAILED {line}")
    print(f"{path}: JAX {jax.__version__}: {len(enumerations) + len(tables)} declarations, {len(failed)} failed")
    return len(failed)


def main():
    commands = {"golden": golden, "compare": compare}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*map(pathlib.Path, sys.argv[2:]))


if __name__ == "__main__":
    main()
