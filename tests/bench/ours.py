"""Our side: a process that has one program loaded, and is told by lines what to do."""

import os
import subprocess

import numpy as np


class Failed(Exception):
    """Why our side ended."""


class Ours:
    """A program in a process of its own, which `command` starts. `arrays` are its flat inputs, which are written to `folder`."""

    def __init__(self, command, folder, arrays):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        try:
            self.compiles = int(self.answer()[0])
            self.give(arrays)
        except Failed:
            self.close()
            raise

    def give(self, arrays):
        """Replaces the inputs."""
        self.tell("clear")
        for index, array in enumerate(arrays):
            path = self.folder / f"input{index}"
            np.asarray(array).tofile(path)
            self.tell(f"input {'x'.join(map(str, np.shape(array))) or '-'} {path}")
            path.unlink()

    def tell(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return self.answer()

    def answer(self):
        line = self.process.stdout.readline().split()
        if not line or line[0] != "ok":
            message = self.process.stderr.read()
            raise Failed(message.strip() or f"ended with {self.process.wait()}")
        return line[1:]

    def run(self, count):
        """Nanoseconds of so many calls."""
        return int(self.tell(f"run {count}")[0])

    def compile(self):
        """Nanoseconds of one compile in a fresh engine."""
        return int(self.tell("compile")[0])

    def profile(self, count):
        """Nanoseconds of each step of so many calls, by kind and name."""
        (lines,) = self.tell(f"profile {count}")
        times = {}
        for _ in range(int(lines)):
            nanoseconds, kind, name = self.process.stdout.readline().rstrip("\n").split(" ", 2)
            times[kind, name] = times.get((kind, name), 0) + int(nanoseconds)
        return times

    def results(self):
        """The bytes of each result of the last call."""
        (count,) = self.tell(f"save {self.folder}")
        paths = [self.folder / str(index) for index in range(int(count))]
        read = [path.read_bytes() for path in paths]
        for path in paths:
            path.unlink()
        return read

    def peak_bytes(self):
        return peak_bytes(self.process.pid)

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def status_bytes(process, field):
    with open(f"/proc/{process}/status") as lines:
        for line in lines:
            name, _, value = line.partition(":")
            if name == field:
                return int(value.split()[0]) * 1024
    raise KeyError(field)


def peak_bytes(process=None):
    """The most memory that a process has had."""
    return status_bytes(process or os.getpid(), "VmHWM")
