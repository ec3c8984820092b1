"""Compares calls of a PJRT plugin through our engine with a loop over the plugin's own functions, and with jax.

    pjrt.py --runner PROGRAM --bare PROGRAM --plugin FILE --folder FOLDER --corpus FOLDER [--json FILE] [--iterations N]

Inputs are on the device, which is the host, before the calls; results are arrays of the host, on our side and in the bare loop, and stay
on the device in jax. What jax's own dispatch costs shows with the same plugin behind it; beside the XLA in its own library, it also
shows how that differs from the plugin. Sides are measured in turn; figures are medians. A process start is timed from outside, up to the first
result of an executable that was serialized before.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

PROCESSORS = sorted(os.sched_getaffinity(0))[:2]
os.sched_setaffinity(0, PROCESSORS)
# The plugin under a name of its own, and the XLA that jax brings.
PLUGIN = "plugin"
os.environ["JAX_PLATFORMS"] = f"{PLUGIN},cpu"

import jax
import numpy as np
from jax import export
from jax._src import xla_bridge

import load
import windows
import xla
from ours import Ours

# What a call may cost over the bare loop, and a process up to its first result.
OVER_BARE_NS = 5_000
START_MS = 60
STARTS = 40
HEADER = ("row", "ours", "other", "difference", "ratio", "bar", "verdict", "discarded")


class Jax(xla.Xla):
    """A program with its inputs on a device of some platform."""

    def __init__(self, call, arrays, platform):
        self.call, self.arguments = jax.jit(call), jax.device_put(arrays, jax.devices(platform)[0])


def add_one():
    """The text of x + 1, its inputs, and how jax calls it."""
    call = lambda x: x + 1
    arrays = [np.arange(4, dtype=np.float32)]
    return str(jax.jit(call).lower(*arrays).compiler_ir("stablehlo")), arrays, call


def transformer_block(corpus):
    """The same for the program of the corpus."""
    folder = corpus / "jax"
    program = json.loads((folder / "manifest.json").read_text())["programs"]["transformer_block"]
    case, variant = program["cases"][0], program["variants"]["static"]
    with np.load(folder / program["npz"]) as arrays:
        inputs = [arrays[case["inputs"][index]] for index in variant["module_kept_var_idx"]]
    exported = export.deserialize(bytearray((folder / variant["bin"]).read_bytes()))
    text = (folder / variant["mlir"]).read_text()
    # Flat, so that jax need not walk a tree.
    call = lambda *leaves: exported.call(*jax.tree.unflatten(exported.in_tree, leaves)[0])
    return text, inputs, call


class Bench:
    def __init__(self, options):
        self.options = options
        self.engine = f"pjrt:{options.plugin}"
        options.folder.mkdir(parents=True, exist_ok=True)

    def program(self, name, made):
        """The rows of one program."""
        text, arrays, call = made
        folder = self.options.folder
        path = folder / f"{name}.mlir"
        path.write_text(text)
        assert all(array.dtype == np.float32 for array in arrays), "the bare loop takes arrays of f32"
        executable = folder / f"{name}.executable"
        with Ours([self.options.runner, self.engine, path, "2"], folder / "ours", arrays) as ours:
            ours.tell(f"executable {executable}")
            ours.tell(f"module {folder / name}.module")
            with Ours([self.options.bare, self.options.plugin, executable], folder / "bare", arrays) as bare:
                on_plugin, own = Jax(call, arrays, PLUGIN), Jax(call, arrays, "cpu")
                ours.run(1)
                bare.run(1)
                self.check(ours.results(), bare.results(), own.results())
                yield self.over_bare(name, ours, bare)
                yield self.beside_jax(f"{name}, beside jax on the plugin", ours, on_plugin)
                yield self.beside_jax(f"{name}, beside jax on its own XLA", ours, own)

    def check(self, ours, bare, theirs):
        for one, other, want in zip(ours, bare, theirs, strict=True):
            for data in (one, other):
                got = np.frombuffer(data, want.dtype).reshape(want.shape)
                np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)

    def over_bare(self, name, ours, bare):
        processes = [ours.process.pid, bare.process.pid]
        times = windows.compare(ours.run, bare.run, self.options.iterations, processes)
        over = times.ours_ns - times.theirs_ns
        return row(f"{name}, over a bare loop", times, f"{OVER_BARE_NS / 1e3:g} us more", over <= OVER_BARE_NS)

    def beside_jax(self, name, ours, theirs):
        processes = [ours.process.pid, os.getpid()]
        times = windows.compare(ours.run, theirs.run, self.options.iterations, processes)
        return row(name, times, "less", times.ours_ns < times.theirs_ns)

    def start(self, name, made):
        """A process that loads what was compiled before, calls it and says so."""
        folder = self.options.folder
        _, arrays, _ = made
        command = [self.options.runner, "first", self.engine, folder / f"{name}.module", folder / "digests"]
        for index, array in enumerate(arrays):
            path = folder / f"start{index}"
            array.tofile(path)
            command += ["x".join(map(str, array.shape)) or "-", path]
        once = lambda: started(command)
        # The first finds the files cold, and remembers the plugin's digest.
        once(), once()
        watch = load.Watch([os.getpid()])
        times = [once() for _ in range(STARTS)]
        median = statistics.median(times)
        return {
            "name": f"{name}, process start to first result",
            "cells": (f"{median:.1f} ms", "-", "-", "-", f"{START_MS} ms"),
            "met": median <= START_MS,
            "discarded": 0,
            "ours_ms": median,
            "foreign": watch.foreign(),
        }

    def rows(self):
        programs = {"x + 1": add_one(), "transformer_block": transformer_block(self.options.corpus)}
        for name, made in programs.items():
            yield from self.program(name.replace(" ", ""), made)
        yield self.start("transformer_block", programs["transformer_block"])


def started(command):
    """Milliseconds from the start of a process until it says that it is done."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        line = process.stdout.readline()
        elapsed = time.perf_counter() - start
        if line != b"ok\n":
            sys.exit(f"error: {process.stderr.read().decode()}")
    return elapsed * 1e3


def row(name, times, bar, met):
    microseconds = lambda nanoseconds: f"{nanoseconds / 1e3:.2f} us"
    over = times.ours_ns - times.theirs_ns
    return {
        "name": name,
        "cells": (microseconds(times.ours_ns), microseconds(times.theirs_ns), microseconds(over), f"{times.ratio:.3f}", bar),
        "met": bool(met),
        "noisy": times.noisy,
        "discarded": times.discarded,
        "ours_ns": times.ours_ns,
        "theirs_ns": times.theirs_ns,
    }


def show(texts):
    print("| " + " | ".join(texts) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("runner", "bare", "plugin", "folder", "corpus"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--iterations", type=int, default=8, help="windows of 0.3 s for each row")
    options = parser.parse_args()
    xla_bridge.register_plugin(PLUGIN, library_path=str(options.plugin))
    print(f"jax {jax.__version__}, processors {PROCESSORS}, load {os.getloadavg()[0]:.1f}")
    show(HEADER)
    show(["---"] * len(HEADER))
    rows = []
    for one in Bench(options).rows():
        rows.append(one)
        verdict = ("met" if one["met"] else "MISSED") + (" (noisy)" if one.get("noisy") else "")
        show([one["name"], *one["cells"], verdict, str(one["discarded"])])
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
