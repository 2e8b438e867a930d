"""llama.cpp through its C interface, as the xllamacpp wheel carries it: no server, no sampling, no Python per token."""

import ctypes as c
import importlib.util
import time
from pathlib import Path

# Of this version the order of the parameters below was read; see `check`.
VERSION = "2026.10.11549"
FIRST, SPREAD, TOKEN = 100, 200, 300  # the prompts of bench-machine


class Params(c.Structure):
    """Parameters by value: larger than any of the library's, which reads and fills only its own part."""

    _fields_ = [("word", c.c_uint32 * 256)]


class Batch(c.Structure):
    _fields_ = [("n_tokens", c.c_int32)] + [
        (name, c.c_void_p) for name in ("token", "embd", "pos", "n_seq_id", "seq_id", "logits")
    ]


def _library():
    found = importlib.util.find_spec("xllamacpp")
    lib = c.CDLL(str(next(Path(found.origin).parent.glob("xllamacpp*.so"))))
    for name, result, arguments in [
        ("llama_model_default_params", Params, []),
        ("llama_context_default_params", Params, []),
        ("llama_model_load_from_file", c.c_void_p, [c.c_char_p, Params]),
        ("llama_init_from_model", c.c_void_p, [c.c_void_p, Params]),
        ("llama_model_free", None, [c.c_void_p]),
        ("llama_free", None, [c.c_void_p]),
        ("llama_set_n_threads", None, [c.c_void_p, c.c_int32, c.c_int32]),
        ("llama_get_memory", c.c_void_p, [c.c_void_p]),
        ("llama_memory_clear", None, [c.c_void_p, c.c_bool]),
        ("llama_batch_get_one", Batch, [c.c_void_p, c.c_int32]),
        ("llama_decode", c.c_int32, [c.c_void_p, Batch]),
        ("llama_synchronize", None, [c.c_void_p]),
        ("llama_n_ctx", c.c_uint32, [c.c_void_p]),
        ("llama_print_system_info", c.c_char_p, []),
        ("llama_log_set", None, [c.c_void_p, c.c_void_p]),
    ]:
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


LIB = _library()
_LOG = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_void_p)(lambda *_: None)
LIB.llama_log_set(c.cast(_LOG, c.c_void_p), None)
LIB.llama_backend_init()


def features():
    """What this build of llama.cpp uses of the processor."""
    parts = LIB.llama_print_system_info().decode().replace("CPU :", "").split("|")
    return ", ".join(p.split("=")[0].strip() for p in parts if p.strip().endswith("= 1"))


def _now():
    """Wall clock, and processor time of this thread (all of it where llama.cpp has one thread)."""
    return time.perf_counter(), time.thread_time()


class Model:
    """A model in a context of `n_ctx` tokens, everything else as llama.cpp sets it."""

    def __init__(self, path, n_ctx):
        params = LIB.llama_context_default_params()
        # n_ctx, n_batch, n_ubatch come first: other values are another version's order.
        if list(params.word[:3]) != [512, 2048, 512]:
            raise RuntimeError(f"this is not xllamacpp {VERSION}: its parameters begin {list(params.word[:3])}")
        params.word[0] = n_ctx
        self.model = LIB.llama_model_load_from_file(str(path).encode(), LIB.llama_model_default_params())
        if not self.model:
            raise RuntimeError(f"llama.cpp does not load {path}")
        self.context = LIB.llama_init_from_model(self.model, params)
        if not self.context or LIB.llama_n_ctx(self.context) < n_ctx:
            raise RuntimeError(f"llama.cpp makes no context of {n_ctx} for {path}")

    def close(self):
        LIB.llama_free(self.context)
        LIB.llama_model_free(self.model)

    def _decode(self, tokens):
        if LIB.llama_decode(self.context, LIB.llama_batch_get_one(c.addressof(tokens), len(tokens))):
            raise RuntimeError("llama_decode failed")
        LIB.llama_synchronize(self.context)

    def run(self, threads, prompt, n):
        """Seconds for the prompt as one batch, and for n - 1 tokens one after the other."""
        LIB.llama_set_n_threads(self.context, threads, threads)
        LIB.llama_memory_clear(LIB.llama_get_memory(self.context), True)
        batch = (c.c_int32 * prompt)(*(FIRST + i % SPREAD for i in range(prompt)))
        token = (c.c_int32 * 1)(TOKEN)
        marks = [_now()]
        self._decode(batch)
        marks.append(_now())
        for _ in range(n - 1):
            self._decode(token)
        marks.append(_now())
        (prefill, prefill_cpu), (decode, decode_cpu) = (
            [later - earlier for earlier, later in zip(*pair)] for pair in (marks[:2], marks[1:])
        )
        return {"prefill": prefill, "decode": decode, "prefill_cpu": prefill_cpu, "decode_cpu": decode_cpu}
