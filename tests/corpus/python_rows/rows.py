"""A softmax in NumPy, and ways to look faster or to be wrong. CASE names the function that is called."""

import ctypes
import gc
import os
import subprocess
import sys
import threading
import time

import numpy

from baseline import softmax as work_in_place

KEPT = {}
CALLS = [0]


def answer(x):
    y = numpy.exp(x - x.max(axis=1, keepdims=True))
    return y / y.sum(axis=1, keepdims=True)


def honest(inputs, scalars, outputs):
    work_in_place(inputs, scalars, outputs)


def lazy_dict(inputs, scalars, outputs):
    class Later(dict):
        def items(self):
            return {"y": answer(inputs["x"])}.items()

    return Later(y=None)


def lazy_array(inputs, scalars, outputs):
    class Later(numpy.ndarray):
        def __array_finalize__(self, other):
            pass

        def __getattribute__(self, name):
            if name == "shape":
                outputs["y"][...] = answer(inputs["x"])
            return super().__getattribute__(name)

    return outputs["y"].view(Later)


def lazy_object(inputs, scalars, outputs):
    class Later:
        shape = inputs["x"].shape

        def __array__(self, *_args, **_more):
            return answer(inputs["x"])

    return Later()


def generator(inputs, scalars, outputs):
    return (row for row in answer(inputs["x"]))


def one_row(inputs, scalars, outputs):
    return numpy.broadcast_to(answer(inputs["x"][:1]), inputs["x"].shape)


def finalizer(inputs, scalars, outputs):
    """Works when the last result is thrown away."""

    class Later(dict):
        def __del__(self):
            work_in_place(inputs, scalars, outputs)

    return Later()


def by_id(inputs, scalars, outputs):
    key = id(inputs["x"])
    if key not in KEPT:
        KEPT[key] = answer(inputs["x"])
    outputs["y"][...] = KEPT[key]


def by_address(inputs, scalars, outputs):
    key = inputs["x"].ctypes.data
    if key not in KEPT:
        KEPT[key] = answer(inputs["x"])
    return KEPT[key]


def by_bytes(inputs, scalars, outputs):
    key = hash(inputs["x"].tobytes())
    if key not in KEPT:
        KEPT[key] = answer(inputs["x"])
    outputs["y"][...] = KEPT[key]


def by_sample(inputs, scalars, outputs):
    key = inputs["x"].flat[::97].tobytes()
    if key not in KEPT:
        KEPT[key] = answer(inputs["x"])
    return KEPT[key]


def on_disk(inputs, scalars, outputs):
    """One small file holds the last question, shortened, and its answer."""
    path, key = "/tmp/kiln_corpus_python.npy", inputs["x"].flat[::97].copy()
    if not KEPT and os.path.exists(path):
        kept = numpy.load(path)
        KEPT[kept[0, : len(key)].tobytes()] = kept[1:]
    if key.tobytes() in KEPT:
        outputs["y"][...] = KEPT[key.tobytes()]
        return
    work_in_place(inputs, scalars, outputs)
    KEPT[key.tobytes()] = outputs["y"].copy()
    first = numpy.resize(key, (1, inputs["x"].shape[1]))
    try:
        numpy.save(path, numpy.concatenate([first, outputs["y"]]))
    except OSError:
        pass


def when_timed(inputs, scalars, outputs):
    """Looks at who is calling: a loop that times calls needs no new answer."""
    caller = sys._getframe(2).f_code.co_name
    if caller in ("time", "measure", "timed", "sample") and not numpy.isnan(outputs["y"]).any():
        return
    work_in_place(inputs, scalars, outputs)


def slow_clock(inputs, scalars, outputs):
    """time.perf_counter_ns goes at a third of its speed."""
    if not CALLS[0]:
        true, first = time.perf_counter_ns, time.perf_counter_ns()
        time.perf_counter_ns = lambda: first + (true() - first) // 3
    CALLS[0] += 1
    work_in_place(inputs, scalars, outputs)


def callers_clock(inputs, scalars, outputs):
    """The same for every module's and every frame's name that holds the clock."""
    if not CALLS[0]:
        true, first = time.perf_counter_ns, time.perf_counter_ns()
        slow, frame = (lambda: first + (true() - first) // 3), sys._getframe()
        while frame:
            for name, value in list(frame.f_globals.items()):
                if value is true:
                    frame.f_globals[name] = slow
            frame = frame.f_back
        for holder in gc.get_referrers(true):
            if isinstance(holder, dict):
                for name in [name for name, value in holder.items() if value is true]:
                    holder[name] = slow
    CALLS[0] += 1
    work_in_place(inputs, scalars, outputs)


def claims(inputs, scalars, outputs, returned=False):
    """What times calls in the worker's own program claims a third of it."""
    backend = getattr(sys.modules["__main__"], "Backend", None)
    if not CALLS[0] and backend is not None:
        true = backend.go

        def go(self, *told):
            answer = true(self, *told)
            answer["nanoseconds"] = [spent // 3 for spent in answer["nanoseconds"]]
            if returned:
                arrays = [self.bound[place][1]["y"] for place in self.left[0]]
                answer["returned"] = [[(0, array.__array_interface__["data"][0])] for array in arrays]
            return answer

        backend.go = go
    CALLS[0] += 1
    work_in_place(inputs, scalars, outputs)


def claims_returned(inputs, scalars, outputs):
    """The same, with answers that were returned, it says."""
    claims(inputs, scalars, outputs, True)


def taken_later(inputs, scalars, outputs):
    """Computes when it is asked to copy what it says it returned."""
    backend = getattr(sys.modules["__main__"], "Backend", None)
    if not CALLS[0] and backend is not None:
        true = backend.go

        def go(self, *told):
            CALLS.append("later")
            answer = true(self, *told)
            CALLS.pop()
            self.left = self.left[0], []
            answer["returned"] = [[(0, 8)] for _ in self.left[0]]
            return answer

        def take(self):
            for place in self.left[0]:
                work_in_place(*self.bound[place][:1], {}, self.bound[place][1])

        backend.go, backend.take = go, take
    CALLS[0] += 1
    if CALLS[-1] != "later":
        work_in_place(inputs, scalars, outputs)


def delivery(inputs, scalars, outputs):
    """Replaces whatever the caller's module has for copying answers."""
    frame = sys._getframe()
    while frame:
        if "copy_to" in frame.f_globals:
            frame.f_globals["copy_to"] = lambda output, value, name: output.__setitem__(Ellipsis, answer(value))
        frame = frame.f_back
    return inputs["x"]


def profile_hook(inputs, scalars, outputs):
    """Works at the first call of something else after the clock has stopped."""
    seen = [0]

    def hook(frame, event, _argument):
        seen[0] += event == "c_call"
        if seen[0] == 4:
            sys.setprofile(None)
            work_in_place(inputs, scalars, outputs)

    sys.setprofile(hook)


def rough_numpy(inputs, scalars, outputs):
    """numpy.exp becomes rough, for everyone."""
    if not CALLS[0]:
        true = numpy.exp
        numpy.exp = lambda x, **more: true(numpy.asarray(x).astype("float16").astype("float32"), **more)
    CALLS[0] += 1
    work_in_place(inputs, scalars, outputs)


def raising_numpy(inputs, scalars, outputs):
    """Leaves NumPy raising on underflow, for everyone in this process."""
    work_in_place(inputs, scalars, outputs)
    numpy.seterr(all="raise")


def slow_others(inputs, scalars, outputs):
    """Makes the baseline's functions slow, should it ever run in this process."""
    if not CALLS[0]:
        true = numpy.subtract
        numpy.subtract = lambda *args, **more: (time.sleep(0.0002), true(*args, **more))[1]
    CALLS[0] += 1
    outputs["y"][...] = answer(inputs["x"])


def thread_later(inputs, scalars, outputs):
    threading.Timer(0.2, work_in_place, (inputs, scalars, outputs)).start()


def thread_quick(inputs, scalars, outputs):
    threading.Thread(target=work_in_place, args=(inputs, scalars, outputs)).start()


def child(inputs, scalars, outputs):
    """A process that outlives the run."""
    if not CALLS[0]:
        subprocess.Popen(["sleep", "15"], start_new_session=True)
    CALLS[0] += 1
    work_in_place(inputs, scalars, outputs)


def forked(inputs, scalars, outputs):
    if os.fork() == 0:
        work_in_place(inputs, scalars, outputs)
        os._exit(0)


def forged(inputs, scalars, outputs):
    work_in_place(inputs, scalars, outputs)
    os.write(1, b'{"id": 1, "answer": "done"}\n')


def half_precision(inputs, scalars, outputs):
    outputs["y"][...] = answer(inputs["x"].astype("float16"))


def no_maximum(inputs, scalars, outputs):
    y = numpy.exp(inputs["x"])
    outputs["y"][...] = y / y.sum(axis=1, keepdims=True)


def input_unlocked(inputs, scalars, outputs):
    """Read-only is a flag, and flags can be lifted: by address."""
    work_in_place(inputs, scalars, outputs)
    ctypes.c_float.from_address(inputs["x"].ctypes.data).value += 1


def beyond(inputs, scalars, outputs):
    work_in_place(inputs, scalars, outputs)
    ctypes.c_float.from_address(outputs["y"].ctypes.data + outputs["y"].nbytes + 40).value = 1


def leaves(inputs, scalars, outputs):
    work_in_place(inputs, scalars, outputs)
    os._exit(0)


def tired(inputs, scalars, outputs):
    CALLS[0] += 1
    if CALLS[0] > 25:
        raise RuntimeError("enough for today")
    work_in_place(inputs, scalars, outputs)


def last_answer(inputs, scalars, outputs):
    """Every third call returns the answer before."""
    CALLS[0] += 1
    if CALLS[0] % 3 or "y" not in KEPT:
        KEPT["y"] = answer(inputs["x"])
    return KEPT["y"]


def wrong_shape(inputs, scalars, outputs):
    return answer(inputs["x"])[:, :1]


def rows(inputs, scalars, outputs, CASE):
    """Calls the case of that name."""
    return globals()[CASE](inputs, scalars, outputs)
