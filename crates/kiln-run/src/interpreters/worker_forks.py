"""The worker's eighth piece: a server that imports what takes seconds, once, and forks a worker whenever it is asked.

The server never loads a function's file and never opens a device, so that every worker begins as a new interpreter would,
with those modules imported. It forks twice: the worker's parent ends at once, and kiln adopts the worker. Refuses to
serve when an import fails, or leaves threads or an open device behind: neither survives a fork.
"""

import os
import sys

# The argument that makes a server of this program; names of modules follow, which are imported where they are installed.
FORK_SERVER = "fork-server"


def fork_workers():
    """Forks workers until the channel is closed. Returns in each of them, never in the server."""
    import gc
    import json
    import socket

    tie_to_parent()
    channel = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)

    def say(answer):
        channel.sendall(json.dumps(answer).encode() + b"\n")

    try:
        import_ahead(sys.argv[sys.argv.index(FORK_SERVER) + 1 :])
    except BaseException as error:
        say({"failed": "%s: %s" % (type(error).__name__, error)})
        os._exit(1)
    # What is there now is never looked at again, and its pages stay shared.
    gc.collect()
    gc.freeze()
    say("ready")
    while True:
        asked, files = request(channel)
        if asked is None:
            os._exit(0)
        first, worker = fork_apart()
        if first is not None:
            channel.close()
            begin(json.loads(asked), files, first)
            return
        for file in files:
            os.close(file)
        say({"failed": "it cannot fork"} if worker is None else {"pid": worker})


def import_ahead(names):
    from importlib import import_module
    from importlib.util import find_spec

    for name in names:
        if find_spec(name) is not None:
            import_module(name)
    threads = os.listdir("/proc/self/task")
    if len(threads) != 1:
        raise Failed("imports have left %d threads: %s" % (len(threads), ", ".join(map(thread_name, threads))))
    for number in os.listdir("/proc/self/fd"):
        try:
            file = os.readlink("/proc/self/fd/" + number)
        except OSError:
            continue
        if file.startswith("/dev/nvidia"):
            raise Failed("imports have opened %s" % file)


def thread_name(number):
    try:
        with open("/proc/self/task/%s/comm" % number, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return "one that has ended"


def request(channel):
    """A line, or None when the channel is closed, and the files that came with it."""
    import socket

    line, files = b"", []
    while not line.endswith(b"\n"):
        data, came, _, _ = socket.recv_fds(channel, 1 << 16, 3, socket.MSG_CMSG_CLOEXEC)
        files += came
        if not data:
            return None, files
        line += data
    return line, files


def fork_apart():
    """Forks a worker that has no parent. In the worker, the process it must see gone and None; here, None and the worker's
    number, or None twice where the system makes no more processes."""
    reading, writing = os.pipe()
    try:
        middle = os.fork()
    except OSError:
        middle = None
    if middle == 0:
        first = os.getpid()
        try:
            worker = os.fork()
        except OSError:
            os._exit(1)
        if worker == 0:
            os.close(reading)
            os.close(writing)
            return first, None
        try:
            # It leads a group before anybody else hears of it.
            os.setpgid(worker, worker)
            os.write(writing, b"%d" % worker)
        finally:
            os._exit(0)
    os.close(writing)
    number = os.read(reading, 32)
    os.close(reading)
    if middle is not None:
        os.waitpid(middle, 0)
    return None, int(number) if number else None


def begin(asked, files, first):
    """Makes this process the worker that was asked for, as if kiln had started it."""
    import time

    os.setpgid(0, 0)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.argv[1:] = []
    for name, value in asked["environment"]:
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    if asked["folder"] is not None:
        os.chdir(asked["folder"])
    # What imports have drawn or looked up is the server's.
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    while os.getppid() == first:
        time.sleep(0.0001)
    tie_to_parent()
    if os.getppid() != asked["parent"]:
        # It ended before it could be tied to.
        os._exit(1)


def tie_to_parent():
    import ctypes
    import signal

    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, int(signal.SIGKILL), 0, 0, 0)
