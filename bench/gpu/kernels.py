"""Skim's kernels on PyTorch's tensors and streams, through ctypes.

A kernel is a launch plan (`skim compile --emit plan`) and its PTX (`--emit ptx`), NAME.json and NAME.ptx of one folder.
"""

import ctypes
import json
import pathlib

import torch

MAX_RANK = 6
DTYPES = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2, torch.uint8: 3, torch.int32: 4}
LAYOUTS = {"contiguous": 0, "nhd": 1, "hnd": 2}


class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("data", ctypes.c_void_p), ("dtype", ctypes.c_int64), ("rank", ctypes.c_int64),
                ("shape", ctypes.c_int64 * MAX_RANK), ("strides", ctypes.c_int64 * MAX_RANK)]

    @classmethod
    def of(cls, name, tensor):
        result = cls(name=name.encode(), data=tensor.data_ptr(), dtype=DTYPES[tensor.dtype], rank=tensor.dim())
        result.shape[:tensor.dim()] = tensor.shape
        result.strides[:tensor.dim()] = tensor.stride()
        return result


class Parameter(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("is_index", ctypes.c_int64), ("value", ctypes.c_double)]


class Run(ctypes.Structure):
    _fields_ = [("tensors", ctypes.POINTER(Tensor)), ("tensor_count", ctypes.c_int64),
                ("parameters", ctypes.POINTER(Parameter)), ("parameter_count", ctypes.c_int64),
                ("kv_layout", ctypes.c_int64), ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_int64),
                ("stream", ctypes.c_void_p)]


class Library:
    """`libskim_bench_runtime.so`."""

    def __init__(self, path):
        self.functions = ctypes.CDLL(str(path))
        pointer, integer = ctypes.c_void_p, ctypes.c_int64
        for name, result, arguments in (
                ("message", ctypes.c_char_p, ()), ("load", pointer, (ctypes.c_char_p, ctypes.c_char_p, integer)),
                ("unload", None, (pointer,)), ("plan", pointer, (pointer, ctypes.POINTER(integer))),
                ("workspace_bytes", integer, (pointer,)), ("forget", None, (pointer,)),
                ("run", ctypes.c_int, (pointer, pointer, ctypes.POINTER(Run))),
                ("status", ctypes.c_int, (pointer, pointer))):
            function = getattr(self.functions, "skim_bench_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def fail(self):
        raise RuntimeError(self.message().decode())


class Call:
    """One kernel with its operands, to be run again and again."""

    def __init__(self, library, folder, name, operands, shape, layout="contiguous", parameters=None):
        torch.cuda.init()
        torch.zeros(1, device="cuda")  # the process's context is PyTorch's
        folder = pathlib.Path(folder)
        plan = (folder / (name + ".json")).read_bytes()
        output = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[json.loads(plan)["signature"]["output"]]
        operands["out"] = operands["out"].to(output)
        image = (folder / (name + ".ptx")).read_bytes()
        self.library = library
        self.kernel = library.load(plan, image, len(image)) or library.fail()
        self.plan = library.plan(self.kernel, (ctypes.c_int64 * 4)(*shape)) or library.fail()
        size = library.workspace_bytes(self.plan)
        self.workspace = torch.empty(size, dtype=torch.uint8, device="cuda")
        self.operands = operands  # keeps them alive
        tensors = (Tensor * len(operands))(*(Tensor.of(*item) for item in operands.items()))
        given = (parameters or {}).items()
        values = (Parameter * len(given))(*(Parameter(n.encode(), isinstance(v, int), v) for n, v in given))
        self.arguments = Run(tensors, len(operands), values, len(given), LAYOUTS[layout],
                             self.workspace.data_ptr(), size, None)

    def __call__(self):
        self.arguments.stream = torch.cuda.current_stream().cuda_stream
        if self.library.run(self.kernel, self.plan, ctypes.byref(self.arguments)):
            self.library.fail()

    def check(self):
        """Waits for the stream; fails where the runs met values out of range."""
        if self.library.status(self.kernel, torch.cuda.current_stream().cuda_stream):
            self.library.fail()

    def close(self):
        self.library.forget(self.plan)
        self.library.unload(self.kernel)
