"""Builds and runs a project against the installed package: outside.py PROJECT SOURCES PREFIX FOLDER"""

import os
import re
import shutil
import subprocess
import sys

project, sources, prefix, folder = sys.argv[1:]
skim = os.path.join(prefix, "bin", "skim")
LARGEST_RUNTIME = 2 * 1000 * 1000
CPUS = "x86-64-v2,x86-64-v3,x86-64-v4,aarch64"


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if result.returncode:
        sys.exit(f"{' '.join(command)}\nended with {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def run_on_gpu(expected, *command):
    """What runs on a GPU, or, where there is none, says so."""
    result = subprocess.run(command, capture_output=True, text=True, check=False,
                            env=dict(os.environ, SKIM_CACHE_DIR=""))
    missing = re.search(r"cuda: (the driver's library cannot be loaded|.*CUDA_ERROR_NO_DEVICE)", result.stderr)
    print(f"no GPU: {result.stderr.strip()}" if missing else result.stdout)
    assert missing or (result.returncode == 0 and expected in result.stdout), result.stdout + result.stderr


def build_by_cmake(name):
    """An example, copied away from the tree, built by CMake."""
    copy = os.path.join(folder, "source")
    shutil.copytree(os.path.join(sources, "examples", name), copy)
    run("cmake", "-S", copy, "-B", os.path.join(folder, "build"), "-G", "Ninja",
        f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release")
    run("cmake", "--build", os.path.join(folder, "build"))
    return os.path.join(folder, "build", name)


def build_by_pkg_config(name, package):
    """A C99 program, built by the C compiler and pkg-config alone."""
    program = os.path.join(folder, name)
    source = os.path.join(sources, "test", "package", f"{name}.c")
    run("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", source, "-o", program,
        *flags_of(package).split())
    return program


def flags_of(package):
    libraries = subprocess.run(["find", prefix, "-name", "pkgconfig"], capture_output=True, text=True, check=True)
    environment = dict(os.environ, PKG_CONFIG_PATH=libraries.stdout.strip())
    return run("pkg-config", "--cflags", "--libs", package, env=environment)


def check_headers(package):
    """Each header for C stands alone, in C99 and in C++."""
    folder_of_headers = os.path.join(prefix, "include", "skim")
    names = [name for name in sorted(os.listdir(folder_of_headers)) if 'extern "C"' in read(folder_of_headers, name)]
    assert names == ["abi.h", "skim.h", "skim_compiler.h", "skim_serving.h"], names
    for name in names:
        path = os.path.join(folder, "header.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#include <skim/{name}>\nint nothing;\n")
        for compiler in (["cc", "-std=c99", "-Wstrict-prototypes"], ["c++", "-x", "c++", "-std=c++11"]):
            run(*compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", path,
                *flags_of(package).split())


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def check_runtime_alone(program):
    """Small, and without LLVM, also where nothing of it is called."""
    needed = run("ldd", program)
    assert "pthreadpool" in needed and "LLVM" not in needed and "MLIR" not in needed, needed
    run("strip", program)
    size = os.path.getsize(program)
    print(f"{project}: {size} bytes")
    assert size < LARGEST_RUNTIME, size


def bundle(dtype, targets):
    path = os.path.join(folder, "streaming.skimb")
    run(skim, "compile", os.path.join(sources, "examples", "patterns", "streaming.skim"), "--emit", "bundle",
        "--query-heads", "8", "--kv-heads", "2", "--head-dim", "64", "--dtype", dtype, "-o", path,
        "--target", targets)
    return path


shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
pattern = os.path.join(sources, "examples", "patterns", "streaming.skim")
if project == "aot":
    program = build_by_cmake("aot")
    check_runtime_alone(program)
    # 64 sinks and 128 of up to 1000 keys.
    path = bundle("bf16", f"{CPUS},sm_90a")
    text = run(program, path, "128")
    assert text.startswith("density 0.347, key tiles visited "), text
    run_on_gpu("largest difference from plain loops ", program, path, "128", "cuda")
elif project == "jit_host":
    program = build_by_cmake("jit_host")
    environment = dict(os.environ, SKIM_CACHE_DIR=os.path.join(folder, "cache"))
    for came in ["compiled", "found in the cache"]:
        text = run(program, pattern, env=environment)
        assert text.startswith(f"kernel {came} after "), text
        assert "300 rows of 2 requests, density 1.000" in text, text
    run_on_gpu("300 rows of 2 requests", program, pattern, "cuda")
    assert [name.endswith(".skimb") for name in os.listdir(os.path.join(folder, "cache"))] == [True, True]
elif project == "c_runtime":
    program = build_by_pkg_config("c_runtime", "skim-runtime")
    check_runtime_alone(program)
    print(run(program, bundle("f32", CPUS)))
elif project == "c_compiler":
    print(run(build_by_pkg_config("c_compiler", "skim-compiler"), pattern))
elif project == "tools":
    share = os.path.join(prefix, "share")
    for shell, path in {"bash": "bash-completion/completions/skim", "zsh": "zsh/site-functions/_skim",
                        "fish": "fish/vendor_completions.d/skim.fish"}.items():
        with open(os.path.join(share, path), encoding="utf-8") as script:
            assert script.read() == run(skim, "completion", shell), path
    for plugin in ["vim/vimfiles", "nvim/site"]:
        assert os.path.exists(os.path.join(share, plugin, "syntax", "skim.vim")), plugin
    for program in ["skim-opt", "skim-lsp-server"]:
        assert "LLVM" in run(os.path.join(prefix, "bin", program), "--version"), program
else:
    check_headers("skim-compiler")
    print(run(build_by_pkg_config("c_serving", "skim-compiler")))
