"""Builds a wheel of this folder with nothing but Python: `pip wheel .`, `pip install .` (PEP 517)."""

import base64
import hashlib
import os
import sysconfig
import zipfile

NAME, VERSION, SUMMARY = "@NAME@", "@VERSION@", "@SUMMARY@"
REQUIRES, PLAIN = @REQUIRES@, @PLAIN@
HERE = os.path.dirname(os.path.abspath(__file__))


def metadata():
    lines = ["Metadata-Version: 2.1", "Name: " + NAME, "Version: " + VERSION, "Summary: " + SUMMARY,
             "Requires-Python: >=3.9"] + ["Requires-Dist: " + package for package in REQUIRES]
    return "\n".join(lines) + "\n"


def tag():
    platform = "any" if PLAIN else sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return "py3-none-" + platform


def files():
    for folder, inner, names in os.walk(os.path.join(HERE, NAME)):
        inner[:] = sorted(name for name in inner if name != "__pycache__")
        for name in sorted(names):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                yield os.path.relpath(path, HERE).replace(os.sep, "/"), file.read()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    about = "%s-%s.dist-info" % (NAME, VERSION)
    wheel = "Wheel-Version: 1.0\nGenerator: kiln\nRoot-Is-Purelib: %s\nTag: %s\n" % ("true" if PLAIN else "false", tag())
    written = list(files()) + [(about + "/METADATA", metadata().encode()), (about + "/WHEEL", wheel.encode())]
    record = "".join("%s,sha256=%s,%d\n" % (
        path, base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), len(data))
        for path, data in written) + about + "/RECORD,,\n"
    name = "%s-%s-%s.whl" % (NAME, VERSION, tag())
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in written + [(about + "/RECORD", record.encode())]:
            archive.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return name
