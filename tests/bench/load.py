"""How much of the machine others used while something was measured."""

import dataclasses
import os
import pathlib
import time

TICKS = os.sysconf("SC_CLK_TCK")


def busy_seconds():
    """Processor time of everything, of all processors together, that of other virtual machines on them included."""
    user, nice, system, _idle, _waiting, interrupt, soft, steal = map(
        int, pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    )
    return (user + nice + system + interrupt + soft + steal) / TICKS


def own_seconds(processes):
    """Processor time of these processes."""
    total = 0
    for process in processes:
        # The name, in parentheses, may hold spaces.
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


@dataclasses.dataclass
class Watch:
    """Measures from its creation to `foreign`."""

    processes: list[int]

    def __post_init__(self):
        self.start = time.perf_counter()
        self.busy = busy_seconds()
        self.own = own_seconds(self.processes)

    def foreign(self):
        """What part of the machine others used, from 0 to 1."""
        elapsed = time.perf_counter() - self.start
        others = (busy_seconds() - self.busy) - (own_seconds(self.processes) - self.own)
        return max(0.0, others) / (elapsed * os.cpu_count())
