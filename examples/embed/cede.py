# SPDX-License-Identifier: Apache-2.0
"""cede from Python, through ctypes: objects and settings in, plans as dictionaries out.

    cluster = cede.Cluster(now="2026-11-15T12:00:00Z")
    cluster.apply(open("cluster.yaml").read())
    plan = cluster.plan()
    print(plan["summary"], cluster.explain("ml/train-0")["message"])

The library is found in CEDE_LIBRARY, else as the system finds libcede.so.0. include/cede.h says what each call does; one
Cluster is for one thread at a time.
"""
import ctypes
import json
import os

_lib = ctypes.CDLL(os.environ.get("CEDE_LIBRARY", "libcede.so.0"))
_JSON, _YAML, _TEXT = range(3)


class Error(Exception):
    """What is wrong, in the library's words; code is its enum cede_status."""

    def __init__(self, code, words):
        super().__init__(words)
        self.code = code


def _declare():
    handle, text, size, out = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)
    for name, result, *arguments in [
            ("version", text), ("new", handle), ("free", None, handle), ("error", text, handle), ("count", size, handle),
            ("apply", ctypes.c_int, handle, text, text, size), ("remove", ctypes.c_int, handle, text, text, text),
            ("set", ctypes.c_int, handle, text), ("unset", ctypes.c_int, handle, text),
            ("set_now", ctypes.c_int, handle, text), ("set_profile", ctypes.c_int, handle, text),
            ("set_cycles", ctypes.c_int, handle, ctypes.c_uint32), ("set_threads", ctypes.c_int, handle, ctypes.c_uint32),
            ("check", ctypes.c_int, handle), ("note", text, handle, size),
            ("plan", ctypes.c_int, handle, ctypes.c_int, out), ("show", ctypes.c_int, handle, ctypes.c_int, out),
            ("explain", ctypes.c_int, handle, text, ctypes.c_int, out),
            ("difference", ctypes.c_int, handle, handle, handle, text, ctypes.c_int, out),
            ("result_free", None, handle), ("result_text", text, handle)]:
        function = getattr(_lib, "cede_" + name)
        function.restype, function.argtypes = result, arguments


_declare()


def version():
    return _lib.cede_version().decode()


def _bytes(text):
    return text if text is None or isinstance(text, bytes) else text.encode()


class Plan(dict):
    """As `cede plan -o json` prints it; keeps what is needed to compare it with another."""

    def __init__(self, result):
        super().__init__(json.loads(_lib.cede_result_text(result)))
        self._result = result

    def __del__(self):
        _lib.cede_result_free(self._result)


class Cluster:
    def __init__(self, now, profile=None, cycles=1, threads=1):
        self._handle = _lib.cede_new()
        self._call("set_now", _bytes(now))
        self._call("set_profile", _bytes(profile))
        self._call("set_cycles", cycles)
        self._call("set_threads", threads)

    def __del__(self):
        _lib.cede_free(self._handle)

    def __len__(self):
        return _lib.cede_count(self._handle)

    def apply(self, text, name="input"):
        """Adds objects, or puts them in the place of those of their name; text is YAML or JSON, or an object as a dictionary."""
        data = json.dumps(text).encode() if isinstance(text, dict) else _bytes(text)
        self._call("apply", _bytes(name), data, len(data))

    def remove(self, kind, name, namespace=""):
        self._call("remove", _bytes(kind), _bytes(namespace), _bytes(name))

    def set(self, setting):
        """As `cede plan --set`: "queue.root.a.guaranteed.nvidia.com/gpu=16"."""
        self._call("set", _bytes(setting))

    def unset(self, key):
        self._call("unset", _bytes(key))

    def at(self, now):
        self._call("set_now", _bytes(now))

    def check(self):
        self._call("check")

    def notes(self):
        found, i = [], 0
        while (note := _lib.cede_note(self._handle, i)) is not None:
            found.append(note.decode())
            i += 1
        return found

    def plan(self):
        return Plan(self._ask("plan", _JSON))

    def show(self):
        return json.loads(self._take(self._ask("show", _JSON)))

    def explain(self, what, text=False):
        found = self._take(self._ask("explain", _bytes(what), _TEXT if text else _JSON))
        return found if text else json.loads(found)

    def difference(self, before, after, change=None, text=False):
        """What is different in the second plan; as a dictionary or as the tables people read."""
        found = self._take(self._ask("difference", before._result, after._result, _bytes(change), _TEXT if text else _JSON))
        return found if text else json.loads(found)

    def _call(self, name, *arguments):
        code = getattr(_lib, "cede_" + name)(self._handle, *arguments)
        if code:
            raise Error(code, _lib.cede_error(self._handle).decode("utf-8", "replace"))

    def _ask(self, name, *arguments):
        result = ctypes.c_void_p()
        self._call(name, *arguments, ctypes.byref(result))
        return result.value

    @staticmethod
    def _take(result):
        text = _lib.cede_result_text(result).decode()
        _lib.cede_result_free(result)
        return text
