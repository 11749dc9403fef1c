"""The worker's side of the Python backend, the last of nine pieces, which begin with worker_tensors.py: the process itself.

Answers questions on standard input, a socket, one JSON object a line, until it is closed. Nothing but the standard library
is needed to start; NumPy or PyTorch when tensors are mapped.
"""

import faulthandler
import json
import os
import sys

PROTOCOL = 12


def pin(cpus):
    """Keeps every thread there is to these processors; those started later inherit it."""
    try:
        for thread in os.listdir("/proc/self/task"):
            try:
                os.sched_setaffinity(int(thread), cpus)
            except ProcessLookupError:
                pass
    except (OSError, ValueError, OverflowError) as error:
        raise Failed("keeping to processors %s: %s" % (cpus, getattr(error, "strerror", None) or error))


def tie():
    """Asks the system to end this process with its parent, even in the middle of an endless loop."""
    try:
        import ctypes
        import signal

        set_parent_death_signal, set_child_subreaper = 1, 36
        prctl = ctypes.CDLL(None).prctl
        # What a function returns and lets go is given to the next call again, as in any program that runs for a while: the
        # results of a whole sample are let go at once, and the system would have to hand out new pages for the next.
        trim_threshold, map_threshold = -1, -3
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(trim_threshold, (1 << 31) - 1)
        mallopt(map_threshold, 32 << 20)
        # Compiled code prints line by line: what it printed before a crash is then heard.
        by_line = 1
        ctypes.CDLL(None).setvbuf(ctypes.c_void_p.in_dll(ctypes.CDLL(None), "stdout"), None, by_line, 0)
        # Processes that a function starts and leaves stay findable below this one.
        prctl(set_child_subreaper, 1, 0, 0, 0)
        prctl(set_parent_death_signal, int(signal.SIGKILL), 0, 0, 0)
    except (ImportError, OSError, AttributeError, ValueError):
        pass


def about(error):
    """What an error is about: something that ran on the device, or anything else. PyTorch and Triton say so in words alone."""
    words = str(error)
    ran = isinstance(error, RuntimeError) and ("CUDA error" in words or "illegal memory access" in words)
    return "running" if ran else "other"


def describe(error, path):
    """The last line of the traceback, with the place in the loaded file where there is one."""
    import traceback

    if isinstance(error, Failed):
        return str(error)
    last = traceback.format_exception_only(type(error), error)[-1].strip()
    if isinstance(error, SyntaxError) and error.filename:
        return "%s:%s: %s" % (error.filename, error.lineno, last)
    frames = traceback.extract_tb(error.__traceback__)
    places = [f for f in frames if f.filename == path]
    if is_of_device(error):
        # Advice on how to look for it follows; and where it was noticed says nothing, unless that is in the file.
        last = last.splitlines()[0]
    else:
        places = places or [f for f in frames if f.filename != "<string>"]
    return "%s:%s: %s" % (places[-1].filename, places[-1].lineno, last) if places else last


class Questions:
    """Questions, a line each, and the files that came with them."""

    def __init__(self, channel):
        self.channel, self.unread, self.files = channel, b"", []

    def __iter__(self):
        import socket

        room = socket.CMSG_SPACE(4)
        while True:
            line, end, rest = self.unread.partition(b"\n")
            if end:
                self.unread = rest
                yield line
                continue
            data, beside, _, _ = self.channel.recvmsg(1 << 16, room, socket.MSG_CMSG_CLOEXEC)
            for level, kind, content in beside:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    self.files.append(int.from_bytes(content[:4], sys.byteorder))
            if not data:
                return
            self.unread += data

    def file(self):
        """The last file that came; it is the caller's to close."""
        return self.files.pop() if self.files else None


def confined(rules, channel):
    """Confines this process, and hands the parent the means to see which call it is held at."""
    import socket

    achieved, listener = confine(rules)
    if listener is not None:
        channel.sendmsg([b"\n"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, listener.to_bytes(4, sys.byteorder))])
        os.close(listener)
    return {"confined": achieved}


def serve():
    import socket

    tie()
    # A crash in compiled code leaves the Python lines that led to it.
    faulthandler.enable()
    # The pipes under other numbers: what the function prints goes to standard error, and it reads nothing.
    channel, answers = socket.socket(fileno=os.dup(0)), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)

    def say(number, answer):
        answers.write(json.dumps({"id": number, "answer": answer}).encode() + b"\n")
        answers.flush()

    backend, questions = Backend(), Questions(channel)
    say(0, {"ready": PROTOCOL})
    for line in questions:
        number, file = 0, questions.file()
        try:
            ask = json.loads(line)
            number = ask["id"]
            answer = backend.answer(dict(ask, arena=file))
            if ask["do"] == "confine":
                answer = confined(ask, channel)
        except Failed as failed:
            answer = {"failed": {"about": failed.about, "words": str(failed)}}
        # Also what is meant to end a process: a function has no say in that.
        except BaseException as error:
            answer = {"failed": {"about": about(error), "words": describe(error, backend.path)}}
        if file is not None:
            os.close(file)
        say(number, answer)


if __name__ == "__main__":
    if FORK_SERVER in sys.argv:
        # Returns in the workers alone.
        fork_workers()
    serve()
    # Threads a function has left behind are not waited for.
    os._exit(0)
