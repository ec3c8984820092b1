"""Times of two sides, measured one after the other in short windows, of which those with foreign load are discarded."""

import dataclasses
import statistics

import load

WINDOW_SECONDS = 0.3
# A call shorter than this is repeated until a sample takes as long.
SAMPLE_SECONDS = 0.01
# More foreign load than this part of the machine discards a window.
FOREIGN_MAX = 0.1
# After so many windows for each that is wanted, those with the least foreign load count, and the row is marked as noisy.
TRIES = 2
# A noisy row counts this part of its windows.
QUIETEST = 0.25


@dataclasses.dataclass
class Times:
    """Medians over the windows that count, and how many did not. A row is noisy when those that count had foreign load."""

    ours_ns: float
    theirs_ns: float
    ratio: float
    discarded: int
    noisy: bool


def sample_size(run):
    """How many calls make a sample."""
    run(1)
    each = min(run(1), run(1), run(1))
    return max(1, round(SAMPLE_SECONDS * 1e9 / max(each, 1)))


def window(ours, theirs, counts, processes):
    """The foreign load of one window, and its pairs of nanoseconds for a call."""
    watch = load.Watch(processes)
    pairs = []
    spent = 0
    while spent < WINDOW_SECONDS * 1e9:
        # Each side is first every other time.
        order = (0, 1) if len(pairs) % 2 == 0 else (1, 0)
        pair = [0.0, 0.0]
        for side in order:
            run, count = (ours, theirs)[side], counts[side]
            # The other side has taken the caches, and the second processor may have slept while it ran: the first call after that
            # is several times slower on either side.
            spent += run(1)
            nanoseconds = run(count)
            spent += nanoseconds
            pair[side] = nanoseconds / count
        pairs.append(pair)
    return watch.foreign(), pairs


def compare(ours, theirs, wanted, processes):
    """Interleaves two functions that run a number of calls and return nanoseconds. `processes` are those that do the work."""
    counts = [sample_size(ours), sample_size(theirs)]
    return median(lambda: window(ours, theirs, counts, processes), wanted)


def compare_once(ours, theirs, wanted, processes):
    """Interleaves two functions that return the nanoseconds of something that is done once."""

    def pair():
        watch = load.Watch(processes)
        times = [(ours(), theirs())]
        return watch.foreign(), times

    return median(pair, wanted)


def median(measure, wanted):
    """Medians over so many windows without foreign load, where there are as many."""
    quiet, loaded = [], []
    while len(quiet) < wanted and len(quiet) + len(loaded) < wanted * TRIES:
        foreign, pairs = measure()
        (quiet if foreign <= FOREIGN_MAX else loaded).append((foreign, pairs))
    noisy = len(quiet) < max(2, wanted // 4)
    counted = quiet
    if noisy:
        every = sorted(quiet + loaded, key=lambda one: one[0])
        counted = every[: max(2, round(len(every) * QUIETEST))]
    pairs = [pair for _, pairs in counted for pair in pairs]
    return Times(
        ours_ns=statistics.median(pair[0] for pair in pairs),
        theirs_ns=statistics.median(pair[1] for pair in pairs),
        ratio=statistics.median(pair[0] / pair[1] for pair in pairs),
        discarded=len(quiet) + len(loaded) - len(counted),
        noisy=noisy,
    )
