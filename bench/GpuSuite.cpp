#include "bench/GpuSuite.h"

#include "bench/Embedded.h"
#include "bench/GpuKernels.h"
#include "runtime/cuda/Device.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace skim::bench {
namespace {

/// Says on the standard error why an interpreter cannot run the suite, and fails.
constexpr const char *kCheckScript = R"python(import sys
try:
    import torch
except (ImportError, OSError) as error:
    sys.exit(f"cannot import torch ({error}); install it with 'pip install torch' and name its interpreter with --python")
if torch.version.cuda is None:
    sys.exit(f"has a PyTorch that was built without CUDA ({torch.__version__})")
)python";

constexpr std::pair<const char *, const char *const *> kScripts[] = {
    {"suite.py", &kGpuSuiteScript},
    {"rows.py", &kGpuRowsScript},
    {"timing.py", &kGpuTimingScript},
    {"kernels.py", &kGpuKernelsScript},
    {"startup.py", &kGpuStartupScript},
    {"torch_gpu.py", &kTorchGpuPeer},
    {"flashinfer_gpu.py", &kFlashInferGpuPeer},
};

Status environment(const llvm::Twine &message) { return {StatusCode::Environment, message.str()}; }

Status write(llvm::StringRef folder, const llvm::Twine &name, llvm::StringRef text) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream << text;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  return error ? environment("cannot write '" + path + "': " + error.message()) : Status::ok();
}

struct Ended {
  int code = 0;
  std::string problem; ///< Where a signal ended the program.
};

/// `errors` is where the standard error goes; without, all streams are those of this process.
Expected<Ended> runPython(const std::string &python, llvm::ArrayRef<llvm::StringRef> arguments,
                          std::optional<llvm::StringRef> errors = std::nullopt) {
  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName(python);
  if (!program)
    return environment("cannot run '" + llvm::Twine(python) + "': " + program.getError().message());
  llvm::SmallVector<llvm::StringRef> all{python};
  llvm::append_range(all, arguments);
  llvm::SmallVector<std::optional<llvm::StringRef>, 3> redirects;
  if (errors)
    redirects = {"", "", errors};
  Ended ended;
  ended.code = llvm::sys::ExecuteAndWait(*program, all, /*Env=*/std::nullopt, redirects,
                                         /*SecondsToWait=*/0, /*MemoryLimit=*/0, &ended.problem);
  if (ended.code == -1)
    return environment("cannot run '" + llvm::Twine(python) + "': " + ended.problem);
  return ended;
}

std::string describe(const Ended &ended) {
  return ended.problem.empty() ? "ended with exit code " + std::to_string(ended.code)
                               : "failed: " + ended.problem;
}

/// Of a file; empty where there is none.
std::string lastLine(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return "";
  const llvm::StringRef text = (*buffer)->getBuffer().trim();
  return text.drop_front(text.rfind('\n') + 1).str();
}

} // namespace

Status checkGpuSuite(const GpuSuiteOptions &options) {
  llvm::SmallString<128> errors;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("skim-bench", "txt", errors))
    return environment("cannot make a temporary file: " + error.message());
  llvm::FileRemover remover(errors);
  Expected<Ended> ended = runPython(options.python, {"-c", kCheckScript}, errors);
  if (!ended)
    return ended.status();
  if (ended->code != 0) {
    const std::string said = lastLine(errors);
    return environment("'" + options.python + "' " + (said.empty() ? describe(*ended) : said));
  }
  return cuda::Device::open().status();
}

Expected<PreparedGpuSuite> prepareGpuSuite(const std::string &folder,
                                           const GpuSuiteOptions &options) {
  std::error_code error = llvm::sys::fs::create_directories(folder);
  if (!error && !llvm::sys::fs::is_directory(folder))
    error = std::make_error_code(std::errc::not_a_directory);
  if (error)
    return environment("cannot make the folder '" + folder + "': " + error.message());
  PreparedGpuSuite prepared;
  const Compiler compiler;
  for (const GpuKernel &kernel : gpuKernels()) {
    if (options.progress)
      options.progress(std::string("compiling ") + kernel.name);
    Expected<GpuKernelText> text = compileGpuKernel(compiler, kernel);
    if (!text) {
      prepared.refused.push_back(
          (kernel.name + (": " + llvm::StringRef(text.status().message()).split('\n').first))
              .str());
      continue;
    }
    if (Status status = write(folder, llvm::Twine(kernel.name) + ".json", text->plan); !status)
      return status;
    if (Status status = write(folder, llvm::Twine(kernel.name) + ".ptx", text->ptx); !status)
      return status;
    ++prepared.kernels;
  }
  for (const auto &[name, text] : kScripts)
    if (Status status = write(folder, name, *text); !status)
      return status;
  llvm::SmallString<128> library(folder);
  llvm::sys::path::append(library, kGpuRuntimeLibrary);
  error = llvm::sys::fs::copy_file(options.library, library);
  if (error)
    return environment("cannot copy '" + options.library + "' to '" + library +
                       "': " + error.message());
  return prepared;
}

Status runGpuSuite(const std::string &folder, const GpuSuiteOptions &options) {
  llvm::SmallString<128> suite(folder), library(folder);
  llvm::sys::path::append(suite, "suite.py");
  llvm::sys::path::append(library, kGpuRuntimeLibrary);
  const std::string rounds = std::to_string(options.rounds);
  llvm::SmallVector<llvm::StringRef> arguments{suite,  folder,   library,        "--rounds",
                                               rounds, "--skim", options.program};
  if (!options.rows.empty())
    arguments.append({"--rows", options.rows});
  if (!options.peers)
    arguments.push_back("--no-peers");
  if (options.json)
    arguments.append({"--json", "-"});
  llvm::outs().flush();
  Expected<Ended> ended = runPython(options.python, arguments);
  if (!ended)
    return ended.status();
  if (ended->code == 1)
    return environment("the GPU suite has rows that failed or whose results are wrong; its output "
                       "says which");
  return ended->code == 0 ? Status::ok() : environment("the GPU suite " + describe(*ended));
}

} // namespace skim::bench
