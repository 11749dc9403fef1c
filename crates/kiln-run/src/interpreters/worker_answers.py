"""The worker's fifth piece: what functions returned. Plain arrays with memory of their own are read where they lie, by the parent
or another process; anything else is copied to the outputs, on the clock.
"""

from time import perf_counter_ns as clock


class Answers:
    """What a backend does with answers; it has the device, and the sets that are bound."""

    def lie(self, places, results):
        """Where the answers lie that calls returned: handles of memory, and for each call numbers of outputs, of handles, and
        offsets. None where somebody has to copy them."""
        spots, seen, handles = [], set(), {}
        for place, result in zip(places, results):
            outputs, found = self.bound[place][1], []
            names = list(outputs) if result is not None else []
            for name, value in self.returned(result, outputs):
                output = outputs[name]
                whole = name not in self.written and is_as(value, output) and output.is_contiguous()
                spot = self.device.lie(value) if whole else None
                if spot is None or spot in seen or not holds(value):
                    return None
                seen.add(spot)
                handle, offset = spot
                found.append((names.index(name), handles.setdefault(handle, len(handles)), offset))
            spots.append(found)
        return [list(handles), spots if handles else []]

    def take_over(self, places, results):
        """Copies what calls returned to their outputs, all of it: nobody but the parent knows which are looked at."""
        pairs = []
        for place, result in zip(places, results):
            outputs = self.bound[place][1]
            if self.device is not None and not is_plain(result, outputs):
                raise Failed("the function returned %s, which need not hold its elements; hint: return a plain tensor, or "
                             "write the outputs in place" % kind(result))
            pairs += [self.pair(name, outputs, value) for name, value in self.returned(result, outputs)]
        if self.device is not None:
            self.device.copy(pairs)
        else:
            for output, value in pairs:
                copy_to(output, value)

    def adopt(self, places, results, copy):
        """Where the answers lie that calls returned: for each call numbers of outputs and addresses. What the parent cannot
        read as it lies is copied to its output, and the nanoseconds this takes are the function's."""
        spots, seen, begin, copied = [], set(), clock(), False
        for place, result in zip(places, results):
            outputs, found = self.bound[place][1], []
            names = list(outputs) if result is not None else []
            for name, value in self.returned(result, outputs):
                # What an empty function takes is taken off its subject's time: strides of the output cost it no copy.
                free = self.function is nothing and max(value.shape, default=1) > 1
                if not copy and (free or is_as(value, outputs[name])):
                    found.append((names.index(name), address(value)))
                else:
                    copy_to(*self.pair(name, outputs, value))
                    copied = True
            if any(spot in seen for spot in found):
                raise Failed("the function returned the same array again, for another call of the same sample; hint: return "
                             "a new one, or write the outputs in place")
            seen.update(found)
            spots.append(found)
        return (spots if any(spots) else []), clock() - begin if copied else 0

    def deliver_one(self, call, outputs):
        self.deliver(call(), outputs)

    def deliver_each(self, row, places):
        """Calls, each followed by a copy of what it returned."""
        for place, call in zip(places, row):
            self.deliver_one(call, self.bound[place][1])
        return []

    def deliver(self, result, outputs=None):
        """Copies what a function returned to the outputs."""
        outputs = self.outputs if outputs is None else outputs
        for name, value in self.returned(result, outputs):
            copy_to(*self.pair(name, outputs, value))

    def pair(self, name, outputs, value):
        """An output and what was returned for it: of one that is written in part, that part of both."""
        part = self.written.get(name)
        return (outputs[name][part], value[part]) if part else (outputs[name], value)

    def returned(self, result, outputs):
        """Names of outputs, and what a function returned for each; None says that it wrote them in place."""
        if result is None:
            return []
        if not isinstance(result, dict):
            if len(outputs) != 1:
                raise Failed("the function returned one value for %d outputs; return a dict" % len(outputs))
            result = {name: result for name in outputs}
        elif type(result) is not dict:
            raise Failed("the function returned a %s, not a dict" % type(result).__name__)
        found = []
        for name, value in result.items():
            if name not in outputs:
                raise Failed("the function returned `%s`, which is no output" % name)
            if value is not outputs[name]:
                check_returned(outputs[name], value, name)
                found.append((name, value))
        return found


def is_plain(result, outputs):
    """Whether all that was returned holds its elements, in memory of its own or the output's."""
    if result is None:
        return True
    own = list(outputs.values())
    values = list(result.values()) if type(result) is dict else [result]
    return all(holds(value) or any(value is output for output in own) for value in values)


def kind(result):
    values = result.values() if type(result) is dict else [result]
    return ", ".join(sorted({type(value).__name__ for value in values if not holds(value)})) + " that is a view or lazy"


def repeats(results):
    """Whether two results are the same array."""
    values = [value for result in results if result is not None
              for value in (result.values() if type(result) is dict else [result])]
    spots = [address(value) for value in values if holds(value) and hasattr(value, "shape")]
    return len(set(spots)) < len(spots)
