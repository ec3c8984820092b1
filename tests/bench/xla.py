"""The other side: XLA in this process.

    xla.py NAME

prints, for the program of that name, by how many bytes 20 calls of it raised the peak of a process that had run a trivial one, and
the peak itself.
"""

import gc
import sys
import time

import jax
import numpy as np

import ours
import programs

PEAK_CALLS = 20


class Xla:
    """A program with its inputs on the device."""

    def __init__(self, function, arguments):
        self.call = jax.jit(function, keep_unused=True)
        self.arguments = jax.device_put(arguments)

    def text(self):
        """The program as StableHLO."""
        return str(self.call.lower(*self.arguments).compiler_ir("stablehlo"))

    def arrays(self):
        return [np.asarray(leaf) for leaf in jax.tree.leaves(self.arguments)]

    def run(self, count):
        """Nanoseconds of so many calls, each of which drops its results."""
        call, arguments, wait = self.call, self.arguments, jax.block_until_ready
        start = time.perf_counter_ns()
        for _ in range(count):
            wait(call(*arguments))
        return time.perf_counter_ns() - start

    def results(self):
        return [np.asarray(leaf) for leaf in jax.tree.leaves(self.call(*self.arguments))]


def compile_nanoseconds(function, arguments):
    """One compile. A function of its own is traced and compiled anew."""
    fresh = lambda *arguments: function(*arguments)
    lowered = jax.jit(fresh, keep_unused=True).lower(*arguments)
    start = time.perf_counter_ns()
    compiled = lowered.compile()
    elapsed = time.perf_counter_ns() - start
    del compiled
    return elapsed


def peak(name):
    (case,) = (case for case in programs.TIMED if case.name == name)
    jax.block_until_ready(jax.jit(lambda x: x + 1)(np.zeros(4, np.float32)))
    gc.collect()
    before = ours.peak_bytes()
    Xla(case.function, case.arguments()).run(PEAK_CALLS)
    after = ours.peak_bytes()
    print(after - before, after)


if __name__ == "__main__":
    peak(*sys.argv[1:])
