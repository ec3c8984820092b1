"""Compares our CPU engine with XLA on this machine, program by program.

    compare.py --runner PROGRAM --folder FOLDER [--corpus FOLDER] [--filter NAME] [--json FILE] [--iterations N]

Both sides use the same two processors. A row is the median of the ratios of samples that are taken in turn, ours by XLA's; for the
rest of the columns see `HEADER`. Rows whose results are not those of XLA, or whose bits depend on the number of threads or on
whether sizes are open, have no figure. Exit status 1 when a row has none.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import traceback

# XLA takes as many threads as the process may use processors.
THREADS = 2
PROCESSORS = sorted(os.sched_getaffinity(0))[:THREADS]
os.sched_setaffinity(0, PROCESSORS)
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
from jax import export

import programs
import windows
import xla
from ours import Failed, Ours, status_bytes

HEADER = ("program", "ours", "XLA", "ratio", "bar", "aim", "verdict", "discarded")
COMPILES = 5
PROFILED_CALLS = 3
SLOWEST = 4


class Wrong(Exception):
    """Why a figure does not count."""


class Bench:
    def __init__(self, options):
        self.options = options
        self.folder = options.folder
        self.folder.mkdir(parents=True, exist_ok=True)

    def written(self, name, text):
        path = self.folder / f"{name}.mlir"
        path.write_text(text)
        return path

    def ours(self, path, arrays, threads=THREADS):
        return Ours([self.options.runner, "cpu", path, str(threads)], self.folder / "arrays", arrays)

    def compare(self, ours, theirs):
        processes = [os.getpid(), *(side.process.pid for side in (ours, theirs) if isinstance(side, Ours))]
        return windows.compare(ours.run, theirs.run, self.options.iterations, processes)

    def timed(self, case):
        """A row of one program."""
        theirs = xla.Xla(case.function, case.arguments())
        path, arrays = self.written(case.name, theirs.text()), theirs.arrays()
        with self.ours(path, arrays) as ours:
            ours.run(1)
            results = ours.results()
            check_close(results, theirs.results(), case.tolerance)
            with self.ours(path, arrays, threads=1) as alone:
                alone.run(1)
                check_same(results, alone.results(), "one thread")
            times = self.compare(ours, theirs)
            row = row_of(case.name, times, case.bar, case.aim)
            row["slowest"] = slowest(ours.profile(PROFILED_CALLS))
        return row

    def dispatch(self):
        """The cost of a call, which is compared with a time and not with XLA's."""
        row = self.timed(programs.DISPATCH)
        row["unit"] = "us"
        return row | {"bar": programs.DISPATCH_BAR_NS, "met": row["ours_ns"] <= programs.DISPATCH_BAR_NS}

    def compiled(self, name, path, function, arguments):
        """Time to compile one program."""
        with self.ours(path, []) as ours:
            theirs = lambda: xla.compile_nanoseconds(function, arguments)
            times = windows.compare_once(ours.compile, theirs, COMPILES, [os.getpid(), ours.process.pid])
        return row_of(f"compile {name}", times, programs.COMPILED_BAR, None)

    def compiled_corpus(self, name):
        folder = self.options.corpus / "jax"
        exported = export.deserialize(bytearray((folder / f"{name}.static.bin").read_bytes()))
        arguments, keywords = jax.tree.unflatten(
            exported.in_tree, [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in exported.in_avals]
        )
        if keywords:
            raise Wrong(f"it takes arguments by name: {list(keywords)}")
        return self.compiled(name, folder / f"{name}.static.mlir", exported.call, arguments)

    def compiled_adam(self):
        case = programs.ADAM
        theirs = xla.Xla(case.function, case.arguments())
        return self.compiled(case.name, self.written(case.name, theirs.text()), case.function, theirs.arguments)

    def symbolic(self, name):
        """A program of open batch size against the same of a fixed one, both ours."""
        function, inputs, with_batch = programs.SYMBOLIC[name]
        make = lambda batch: inputs(np.random.default_rng(programs.SEED), batch)
        open_path = self.written(f"{name}_symbolic", symbolic_text(function, make(2), with_batch))
        with self.ours(open_path, []) as ours:
            for batch in programs.SYMBOLIC_BATCHES:
                ours.give(jax.tree.leaves(make(batch)))
                ours.run(1)
                self.check_static(name, function, make(batch), ours.results())
            theirs = xla.Xla(function, make(programs.SYMBOLIC_TIMED))
            ours.give(theirs.arrays())
            with self.ours(self.written(f"{name}_static", theirs.text()), theirs.arrays()) as static:
                times = self.compare(ours, static)
            row = row_of(f"symbolic {name}", times, programs.SYMBOLIC_BAR, None)
            row["note"] = f"{ours.compiles} compile for {len(programs.SYMBOLIC_BATCHES)} sizes; against our own of fixed size"
            row["slowest"] = slowest(ours.profile(PROFILED_CALLS))
        return row

    def check_static(self, name, function, arguments, results):
        theirs = xla.Xla(function, arguments)
        check_close(results, theirs.results(), 1e-4)
        with self.ours(self.written(f"{name}_static", theirs.text()), theirs.arrays()) as static:
            static.run(1)
            check_same(results, static.results(), "sizes fixed")

    def peak(self):
        """The memory that a program adds to a process of its own."""
        case = programs.MLP_TRAIN
        theirs = xla.Xla(case.function, case.arguments())
        program = self.written(case.name, theirs.text())
        with self.ours(self.written("trivial", xla.Xla(lambda x: x + 1, [np.zeros(4, np.float32)]).text()), []) as ours:
            before = status_bytes(ours.process.pid, "VmHWM")
        with self.ours(program, theirs.arrays()) as ours:
            ours.run(xla.PEAK_CALLS)
            whole = ours.peak_bytes()
        script = pathlib.Path(__file__).with_name("xla.py")
        printed = subprocess.run([sys.executable, script, case.name], check=True, capture_output=True, text=True).stdout
        added, their_whole = map(int, printed.split())
        row = {"name": f"peak {case.name}", "unit": "MB", "ours": (whole - before) / 1e6, "theirs": added / 1e6}
        row |= {"ratio": row["ours"] / row["theirs"], "bar": programs.PEAK_BAR, "aim": None, "noisy": False, "discarded": 0}
        row["note"] = f"added to a process with a trivial program; whole processes: {whole / 1e6:.0f} and {their_whole / 1e6:.0f} MB"
        return row | {"met": row["ratio"] <= row["bar"]}

    def rows(self):
        """The name of each row, and how to measure it."""
        for case in programs.TIMED:
            yield case.name, lambda case=case: self.timed(case)
        yield programs.DISPATCH.name, self.dispatch
        for name in programs.COMPILED if self.options.corpus else []:
            yield f"compile {name}", lambda name=name: self.compiled_corpus(name)
        yield f"compile {programs.ADAM.name}", self.compiled_adam
        for name in programs.SYMBOLIC:
            yield f"symbolic {name}", lambda name=name: self.symbolic(name)
        yield f"peak {programs.MLP_TRAIN.name}", self.peak


def symbolic_text(function, arguments, with_batch):
    """The program of an open batch size."""
    leaves, tree = jax.tree.flatten(arguments)
    (batch,) = export.symbolic_shape("b")
    open_ones = set(with_batch(len(leaves)))
    shapes = [
        jax.ShapeDtypeStruct((batch, *leaf.shape[1:]) if index in open_ones else leaf.shape, leaf.dtype)
        for index, leaf in enumerate(leaves)
    ]
    exported = export.export(jax.jit(function, keep_unused=True))(*jax.tree.unflatten(tree, shapes))
    return exported.mlir_module()


def row_of(name, times, bar, aim):
    return {
        "name": name,
        "unit": "ms",
        "ours_ns": times.ours_ns,
        "theirs_ns": times.theirs_ns,
        "ratio": times.ratio,
        "bar": bar,
        "aim": aim,
        "met": None if bar is None else times.ratio <= bar,
        "discarded": times.discarded,
        "noisy": times.noisy,
    }


def check_close(ours, theirs, tolerance):
    if len(ours) != len(theirs):
        raise Wrong(f"{len(ours)} results, XLA has {len(theirs)}")
    for index, (data, want) in enumerate(zip(ours, theirs)):
        got = np.frombuffer(data, want.dtype).reshape(want.shape)
        if want.dtype.kind != "c":
            got, want = got.astype(np.float64), want.astype(np.float64)
        scale = float(np.max(np.abs(want), initial=0.0))
        apart = float(np.max(np.abs(got - want), initial=0.0))
        # A number that is none is not close to anything.
        if not apart <= tolerance * scale:
            raise Wrong(f"result {index} is up to {apart:.3g} from XLA's, whose largest element is {scale:.3g}")


def check_same(ours, others, what):
    for index, (one, other) in enumerate(zip(ours, others, strict=True)):
        if one != other:
            raise Wrong(f"result {index} has other bits with {what}")


def slowest(times):
    """The steps that take most of the time, and what part of it."""
    total = sum(times.values()) or 1
    ordered = sorted(times.items(), key=lambda item: -item[1])[:SLOWEST]
    return [f"{nanoseconds / total:.0%} {kind} {name}" for (kind, name), nanoseconds in ordered]


def cells(row):
    """A row as text."""
    if "failed" in row:
        return (row["name"], *["-"] * 5, "FAILED", "-")
    if row["unit"] == "MB":
        shown = [f"{row[side]:.1f} MB" for side in ("ours", "theirs")]
    else:
        divisor = 1e6 if row["unit"] == "ms" else 1e3
        shown = [f"{row[side] / divisor:.4g} {row['unit']}" for side in ("ours_ns", "theirs_ns")]
    number = lambda value: "-" if value is None else f"{value:.3g}"
    bar = f"{row['bar'] / 1e3:g} us" if row["unit"] == "us" else number(row["bar"])
    verdict = {None: "reported", True: "met", False: "MISSED"}[row["met"]]
    if row["met"] and row["aim"] is not None and row["ratio"] <= row["aim"]:
        verdict = "aim met"
    if row["noisy"]:
        verdict += " (noisy)"
    return (row["name"], *shown, f"{row['ratio']:.3f}", bar, number(row["aim"]), verdict, str(row["discarded"]))


def show(texts):
    print("| " + " | ".join(texts) + " |", flush=True)


def measured(name, measure):
    try:
        return measure()
    except (Failed, Wrong) as error:
        return {"name": name, "failed": str(error)}
    except Exception:  # One row that cannot be measured must not hide the others.
        return {"name": name, "failed": traceback.format_exc()}


def details(row):
    if "failed" in row:
        return [row["failed"]]
    return [row[key] for key in ("note",) if key in row] + (row.get("slowest", []) if not row["met"] else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runner", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--filter", default="")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--iterations", type=int, default=8, help="windows of 0.3 s for each row")
    options = parser.parse_args()
    print(f"jax {jax.__version__}, processors {PROCESSORS}, {THREADS} threads each, load {os.getloadavg()[0]:.1f}")
    show(HEADER)
    show(["---"] * len(HEADER))
    rows = []
    for name, measure in Bench(options).rows():
        if options.filter in name:
            rows.append(measured(name, measure))
            show(cells(rows[-1]))
    if not rows:
        sys.exit(f"error: no row is named like `{options.filter}`")
    for row in rows:
        for line in details(row):
            print(f"{row['name']}: {line}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    sys.exit(1 if any("failed" in row for row in rows) else 0)


if __name__ == "__main__":
    main()
