"""The worker's fourth piece: gives up what a function has no business with, by calls to the system.

Landlock makes files read-only but for those named; seccomp filters come ready-made from the parent, who is also handed
the listener that tells of forbidden calls. What the system does not know is left out, and the answer says so.
"""

import os

# Calls of the system that the C library has no names for. The last one's number depends on the architecture.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
SECCOMP = {"x86_64": 317, "aarch64": 277}
# Rights to a file: to write, read, cut and control it; to read folders; and all there are, by the version that adds them.
WRITE, READ, LIST, CUT, CONTROL = 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: CUT, 5: CONTROL}
EXECUTE = 1 << 0
# Flags of a filter: for all threads, without slowing stores down, with a listener.
ALL_THREADS, PLAIN_SPEED, LISTENER = 1, 4, 8 | 16


def system(*arguments):
    """A call of the system; its answer, which is negative when it failed."""
    import ctypes

    # Numbers would otherwise be passed as half a register.
    plain = (ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments)
    return ctypes.CDLL(None).syscall(*plain)


def confine(rules):
    """Confines this process; how far, and the listener's descriptor where there is one."""
    import ctypes
    import faulthandler
    import signal

    # Whoever is ended for a forbidden call leaves the Python lines that led to it.
    faulthandler.register(signal.SIGSYS, chain=True)
    set_no_new_privileges = 38
    ctypes.CDLL(None).prctl(set_no_new_privileges, 1, 0, 0, 0)
    writable = rules.get("writable")
    landlock = 0
    if writable is not None:
        drop_privileges()
        landlock = restrict_files(writable, rules.get("programs", False))
    seccomp, listener = filter_calls(rules)
    return {"landlock": landlock, "seccomp": seccomp}, listener


def drop_privileges():
    """Leaves root no more than to read any file and to lock memory: it could look into every process."""
    import ctypes

    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    libc = ctypes.CDLL(None)
    if libc.capget(header, sets) == 0:
        kept = 1 << 1 | 1 << 2 | 1 << 14
        libc.capset(header, (ctypes.c_uint32 * 6)(sets[0] & kept, sets[1] & kept))


def restrict_files(writable, programs):
    """Makes all files read-only but these, and keeps programs from being run unless they may be; the version of Landlock that does, 0 when there is none."""
    import struct

    version = system(CREATE_RULESET, None, 0, 1)
    if version < 1:
        return 0
    rights = sum(bits for since, bits in RIGHTS.items() if version >= since)
    # Files; ports of the network, which version 4 added; sockets and signals of others, which version 6 did.
    handled = struct.pack("=QQQ", rights, 3, 3)[: 8 if version < 4 else 16 if version < 6 else 24]
    rules = system(CREATE_RULESET, handled, len(handled), 0)
    if rules < 0:
        return 0
    try:
        allowed = [("/", READ | LIST | (EXECUTE if programs else 0))]
        for path in writable:
            to_file = WRITE | READ | CUT | CONTROL
            allowed.append((path, rights & ~EXECUTE & (-1 if os.path.isdir(path) else to_file)))
        for path, access in allowed:
            try:
                place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            system(ADD_RULE, rules, 1, struct.pack("=Qi", access, place), 0)
            os.close(place)
        # Threads that libraries have started are restricted too where the system can.
        all_threads = 8 if version >= 8 else 0
        return version if system(RESTRICT_SELF, rules, all_threads) == 0 else 0
    finally:
        os.close(rules)


def filter_calls(rules):
    """Installs the parent's filters; whether all are, and the listener."""
    import ctypes

    number = SECCOMP.get(os.uname().machine)
    if number is None or not rules.get("killed"):
        return False, None

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]

    def add(text, flags):
        code = bytes.fromhex(text)
        memory = ctypes.create_string_buffer(code, len(code))
        program = Program(len(code) // 8, ctypes.addressof(memory))
        set_filter = 1
        return system(number, set_filter, flags | ALL_THREADS | PLAIN_SPEED, ctypes.byref(program))

    listener = add(rules["held"], LISTENER) if rules["held"] else -1
    done = listener >= 0 or add(rules["killed"], 0) == 0
    for text in rules["denied"]:
        done = add(text, 0) == 0 and done
    return done, listener if listener >= 0 else None
