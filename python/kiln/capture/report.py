"""What was captured, in words, for people. In: operations and the program's seconds. Out: lines."""

import sys

from kiln.capture.kinds import words

# Kinds that a table shows.
SHOWN = 12


def say(line):
    """To standard error: standard output is the program's."""
    print(line, file=sys.stderr, flush=True)


def duration(seconds):
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size or unit == "us":
            return "%s %s" % (digits(seconds / size), unit)


def digits(number):
    """Three significant digits, never in powers of ten."""
    return "%.0f" % number if number >= 100 else "%.3g" % number


def percent(share):
    return "%s %%" % digits(100.0 * share)


def report(operation, program):
    """The lines about an operation of a program that took so many seconds."""
    spent, kinds = operation.seconds, operation.ranked()
    share = min(spent / program, 1.0) if program > 0 else 0.0
    lines = ["%s (%s): %s, %s; %s of %s, %s of the program" % (
        operation.name, operation.what, count(operation.calls, "call"), count(len(kinds), "kind"),
        duration(spent), duration(program), percent(share))]
    if share < 0.999:
        lines.append("  at most %.2fx for the whole program if it took no time" % (1.0 / (1.0 - share)))
    else:
        lines.append("  it took as long as the program: nothing else limits the speedup")
    lines.append("  %8s %10s %10s  %s" % ("share", "calls", "mean", "kind"))
    for kind, calls in kinds[:SHOWN]:
        timed = calls.seconds is not None
        lines.append("  %8s %10s %10s  %s" % (
            percent(calls.seconds / spent) if timed and spent else "-", format(calls.count, ","),
            duration(calls.seconds / calls.count) if timed else "not timed", words(kind)))
    if len(kinds) > SHOWN:
        rest = sum(calls.seconds or 0.0 for _, calls in kinds[SHOWN:])
        lines.append("  %s more, %s of its time" % (count(len(kinds) - SHOWN, "kind"), percent(rest / spent if spent else 0)))
    return lines


def count(number, noun):
    return "%s %s%s" % (format(number, ","), noun, "" if number == 1 else "s")
