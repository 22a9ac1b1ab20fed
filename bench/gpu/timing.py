"""Times of several contestants in one process, by events, interleaved.

The mode decides more than most changes of a kernel, since the card slows down under its power limit:
  sustained  each turn runs back to back for 700 ms first, then at least 500 ms are timed
  burst      150 ms of rest before each timed run
"""

import random
import statistics
import time

import torch


def once(run):
    """Milliseconds of one run, the launches of its host included where they take longer."""
    first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    first.record()
    run()
    last.record()
    last.synchronize()
    return first.elapsed_time(last)


def sustained(run):
    estimate = max(min(once(run) for _ in range(2)), 1e-3)
    for _ in range(int(700 / estimate) + 1):
        run()
    count = max(int(500 / estimate) + 1, 3)
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    events[0].record()
    for event in events[1:]:
        run()
        event.record()
    torch.cuda.synchronize()
    return statistics.median(a.elapsed_time(b) for a, b in zip(events, events[1:]))


def burst(run):
    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        time.sleep(0.15)
        times.append(once(run))
    return statistics.median(times)


MODES = {"sustained": sustained, "burst": burst}


def interleave(contestants, mode, rounds, seed=0):
    """Median milliseconds of each contestant {name: run} over shuffled rounds, and all of them."""
    shuffle = random.Random(seed)
    times = {name: [] for name in contestants}
    for run in contestants.values():
        run()
    torch.cuda.synchronize()
    for _ in range(rounds):
        order = list(contestants)
        shuffle.shuffle(order)
        for name in order:
            times[name].append(MODES[mode](contestants[name]))
    return {name: statistics.median(values) for name, values in times.items()}, times
