import os
import sys

import lit.formats
import lit.util

config.name = "skim"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.skim_binary, "test")

path = [config.skim_tools, config.llvm_tools, config.environment["PATH"]]
config.environment["PATH"] = os.pathsep.join(path)
if not config.ptxas.endswith("-NOTFOUND"):
    config.environment["SKIM_PTXAS"] = config.ptxas
# A library that is built with sanitizers cannot be loaded into a program that is not.
if config.sanitizers:
    config.available_features.add("sanitizers")
# Tests compile anew, and leave the user's cache of kernels alone.
config.environment["SKIM_CACHE_DIR"] = ""
config.substitutions.append(("%examples", os.path.join(config.skim_source, "examples")))
config.substitutions.append(("%python", sys.executable))
# `%exits CODE COMMAND...` fails unless the command ends with this exit code; its standard error joins its output.
seconds = 1200 if config.sanitizers else 120
config.substitutions.append(("%exits", f"{sys.executable} {os.path.join(config.test_source_root, 'exits.py')} {seconds}"))
