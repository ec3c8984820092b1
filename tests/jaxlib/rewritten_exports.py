"""Compares exports that we wrote with those that JAX wrote, in the JAX that runs this.

    rewritten_exports.py golden FOLDER
    rewritten_exports.py compare SCHEMA PART [ORIGINALS WRITTEN]...

`golden` writes the exports that JAX keeps of its earlier releases, one for each version of the schema, to be rewritten.

`compare` compares a FlatBuffers schema with the code that JAX's own reader is generated to. Then it loads every file of
each first folder and those of the same name in the folders `rewritten` (read and written again), `interchanged` (by way of an
artifact) and `from_text` (of the program's text alone) of the second, and compares. A rewritten one agrees in all fields, the
program's bytes included, and as a reader of the lists for older readers sees them as well; an interchanged one in all
fields but those bytes; one from text has the interchanged one's bytes, and types and kept arguments that follow from them. Functions of
gradients are compared like their functions; interchanged ones run on ones and must give what the original gives.

Where the first folder has a `manifest.json`, interchanged programs run on their first stored inputs, and must give the
stored results. Of two variants of a program PART, 0 or 1, says which: half of the programs run with symbolic sizes, the
others with static ones, and the other way round for the other part. Exit status 1 on any difference.
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


def without_program(found):
    """The fields of an export that do not depend on how its program is spelled, those of gradients too."""
    kept = {name: value for name, value in found.items() if name != "mlir_module_serialized"}
    kept["vjp"] = found["vjp"] and without_program(found["vjp"])
    return kept


def unequal(place, wanted, got):
    for name in wanted:
        if got[name] != wanted[name]:
            yield f"{name} in {place} is {got[name]}, originally {wanted[name]}"


def differences(original, rewritten):
    wanted = fields(jax.export.deserialize(original))
    yield from unequal("the tables", wanted, fields(jax.export.deserialize(rewritten)))
    yield from unequal("the lists", wanted, load_from_lists(rewritten))
    if stamps(original) != stamps(rewritten):
        yield f"the stamps are {stamps(rewritten)}, originally {stamps(original)}"


def interchange_differences(original, interchanged):
    wanted, got = (jax.export.deserialize(data) for data in (original, interchanged))
    yield from unequal("what is interchanged", without_program(fields(wanted)), without_program(fields(got)))
    if stamps(original)[0] > serialization._SERIALIZATION_VERSION:
        # This JAX reads what a newer one says of a function, and not its program.
        return
    while wanted.has_vjp():
        wanted, got = wanted.vjp(), got.vjp()
        yield from result_differences(wanted, got)


# Values for the named sizes of the fixtures and of the corpus; they satisfy the constraints of each.
VALUES = [{"a": 6, "b": 3, "n": 5, "t": 4}, {"a": 9, "b": 4, "n": 2, "t": 7}]


def static_shape(aval, values):
    return [size._evaluate(values) if jax.export.is_symbolic_dim(size) else size for size in aval.shape]


def ones(aval):
    return np.ones(static_shape(aval, VALUES[0]), aval.dtype)


def result_differences(wanted, got):
    """Whether a function and ours give the same for ones; each is called with flat arguments."""
    arguments = [ones(aval) for aval in wanted.in_avals]
    results = []
    for exported in (wanted, got):
        positional, keywords = jax.tree_util.tree_unflatten(exported.in_tree, arguments)
        results.append(jax.tree_util.tree_leaves(exported.call(*positional, **keywords)))
    for index, (one, other) in enumerate(zip(*results, strict=True)):
        if one.dtype != jax.dtypes.float0 and not np.array_equal(one, other):
            yield f"gradient {index} is {other}, originally {one}"


def text_differences(interchanged, from_text):
    """What a file that was made of a text has to have of the one of its export."""
    wanted, got = (jax.export.deserialize(data) for data in (interchanged, from_text))
    if got.mlir_module_serialized != wanted.mlir_module_serialized:
        yield "the program from text has other bytes"
    kept = [wanted.in_avals[index] for index in wanted.module_kept_var_idx]
    for side, avals, ours in (("in", kept, got.in_avals), ("out", wanted.out_avals, got.out_avals)):
        # The same size may be spelled otherwise.
        avals, ours = (
            [(aval.dtype, *(static_shape(aval, values) for values in VALUES)) for aval in avals] for avals in (avals, ours)
        )
        if avals != ours:
            yield f"{side}_avals from text are {ours}, originally {avals}"
    flat = jax.tree_util.tree_structure(((0,) * len(kept), {}))
    if got.in_tree != flat or got.module_kept_var_idx != tuple(range(len(kept))):
        yield f"the arguments from text are {got.in_tree}, kept {got.module_kept_var_idx}"


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


def to_run(programs, part):
    """The variant of each program that this part runs, by the name of its file."""
    found = {}
    for number, program in enumerate(programs.values()):
        variants = list(program["variants"].values())
        found[variants[(number + part) % len(variants)]["bin"]] = program
    return found


def compare_folder(originals, written, part):
    """Compares every file, and returns how many differ."""
    manifest = originals / "manifest.json"
    programs = json.loads(manifest.read_text())["programs"] if manifest.is_file() else {}
    of_file = to_run(programs, part)
    paths = sorted(originals.glob("*.bin"))
    if not paths:
        sys.exit(f"error: {originals} holds no .bin file")
    failed = from_text = 0
    for path in paths:
        read = lambda folder: bytearray((written / folder / path.name).read_bytes())
        original, interchanged = bytearray(path.read_bytes()), read("interchanged")
        found = list(differences(original, read("rewritten")))
        found += interchange_differences(original, interchanged)
        if path.with_suffix(".mlir").is_file():
            found += text_differences(interchanged, read("from_text"))
            from_text += 1
        if path.name in of_file:
            found += wrong_results(originals, path.name, of_file[path.name], interchanged)
        failed += bool(found)
        for line in found:
            print(f"FAILED {path.name}: {line[:400]}")
    equal, ran = len(paths) - failed, len(of_file)
    print(f"{originals}: JAX {jax.__version__}: {equal} equal, {from_text} from text, {ran} run, {failed} failed")
    return failed


def compare(schema, part, *folders):
    jax_exports.register()
    failed = compare_schema(pathlib.Path(schema))
    folders = list(map(pathlib.Path, folders))
    for originals, written in zip(folders[::2], folders[1::2], strict=True):
        failed += compare_folder(originals, written, int(part))
    sys.exit(1 if failed else 0)


def golden(folder):
    """The modules of JAX's test data that keep exports call them `serializations`."""
    folder = pathlib.Path(folder)
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
    commands[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
