#include "codegen/nvvm/Ptxas.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

namespace skim::nvvm {
namespace {

llvm::Error failure(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// `folder`/bin/ptxas, where it is a program.
std::optional<std::string> inFolder(llvm::StringRef folder) {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, "bin", "ptxas");
  if (llvm::sys::fs::can_execute(path))
    return path.str().str();
  return std::nullopt;
}

/// The package keeps its programs in ENVIRONMENT/lib/pythonX.Y/site-packages/nvidia/PACKAGE/bin.
std::optional<std::string> inPythonEnvironment(llvm::StringRef environment) {
  llvm::SmallString<256> libraries(environment);
  llvm::sys::path::append(libraries, "lib");
  std::error_code error;
  for (llvm::sys::fs::directory_iterator python(libraries, error), end; !error && python != end;
       python.increment(error)) {
    llvm::SmallString<256> packages(python->path());
    llvm::sys::path::append(packages, "site-packages", "nvidia");
    std::error_code none;
    for (llvm::sys::fs::directory_iterator package(packages, none); !none && package != end;
         package.increment(none))
      if (std::optional<std::string> found = inFolder(package->path()))
        return found;
  }
  return std::nullopt;
}

/// A file of its own, removed with the object.
struct TemporaryFile {
  static llvm::Expected<TemporaryFile> create(llvm::StringRef suffix) {
    llvm::SmallString<128> path;
    if (std::error_code error = llvm::sys::fs::createTemporaryFile("skim", suffix, path))
      return failure("a temporary file cannot be made: " + error.message());
    return TemporaryFile{llvm::FileRemover(path), path.str().str()};
  }

  llvm::FileRemover remover;
  std::string path;
};

llvm::Expected<std::string> read(const TemporaryFile &file) {
  auto buffer = llvm::MemoryBuffer::getFile(file.path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return failure(file.path + ": " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

int64_t numberIn(llvm::StringRef text) {
  int64_t number = 0;
  text.getAsInteger(10, number);
  return number;
}

} // namespace

llvm::Expected<std::optional<std::string>> lookForPtxas() {
  if (std::optional<std::string> given = llvm::sys::Process::GetEnv("SKIM_PTXAS")) {
    if (given->empty())
      return std::nullopt;
    if (llvm::sys::fs::can_execute(*given))
      return *given;
    return failure("SKIM_PTXAS: expected a program but got '" + *given + "'");
  }
  if (llvm::ErrorOr<std::string> onPath = llvm::sys::findProgramByName("ptxas"))
    return *onPath;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (std::optional<std::string> folder = llvm::sys::Process::GetEnv(variable))
      if (std::optional<std::string> found = inFolder(*folder))
        return *found;
  if (std::optional<std::string> found = inFolder("/usr/local/cuda"))
    return *found;
  if (std::optional<std::string> environment = llvm::sys::Process::GetEnv("VIRTUAL_ENV"))
    if (std::optional<std::string> found = inPythonEnvironment(*environment))
      return *found;
  return std::nullopt;
}

llvm::Expected<std::string> findPtxas() {
  llvm::Expected<std::optional<std::string>> found = lookForPtxas();
  if (!found)
    return found.takeError();
  if (*found)
    return **found;
  return failure(
      "ptxas was not found: expected it on PATH, in CUDA_HOME, in /usr/local/cuda, in the Python "
      "environment of VIRTUAL_ENV (package nvidia-cuda-nvcc), or named by SKIM_PTXAS");
}

llvm::Expected<std::vector<KernelResources>> readAssemblerLog(llvm::StringRef log) {
  static const llvm::Regex entry("Compiling entry function '([^']+)'");
  static const llvm::Regex frame(
      "([0-9]+) bytes stack frame, ([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads");
  static const llvm::Regex used("Used ([0-9]+) registers");
  static const llvm::Regex shared("([0-9]+) bytes smem");
  // C7508: setmaxnreg ignored. C7510 and up: products made serial, or waits put in.
  static const llvm::Regex slow("\\(C75[0-9][0-9]\\)");

  std::vector<KernelResources> kernels;
  std::string problems;
  llvm::SmallVector<llvm::StringRef> lines;
  log.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) {
    llvm::SmallVector<llvm::StringRef> groups;
    if (slow.match(line))
      problems += "\n  " + line.trim().str();
    if (entry.match(line, &groups))
      kernels.push_back({groups[1].str()});
    if (kernels.empty())
      continue;
    KernelResources &kernel = kernels.back();
    if (frame.match(line, &groups)) {
      kernel.stackBytes = numberIn(groups[1]);
      kernel.spillStoreBytes = numberIn(groups[2]);
      kernel.spillLoadBytes = numberIn(groups[3]);
      if (kernel.stackBytes + kernel.spillStoreBytes + kernel.spillLoadBytes > 0)
        problems += "\n  kernel '" + kernel.symbol + "': " + line.trim().str();
    }
    if (used.match(line, &groups))
      kernel.registers = numberIn(groups[1]);
    if (shared.match(line, &groups))
      kernel.sharedBytes = numberIn(groups[1]);
  }
  if (!problems.empty())
    return failure("the assembler cannot keep the code as it is written:" + problems);
  return kernels;
}

llvm::Expected<Assembly> assemble(llvm::StringRef ptx, llvm::StringRef architecture) {
  llvm::Expected<std::string> program = findPtxas();
  if (!program)
    return program.takeError();
  llvm::Expected<TemporaryFile> input = TemporaryFile::create("ptx");
  if (!input)
    return input.takeError();
  llvm::Expected<TemporaryFile> output = TemporaryFile::create("cubin");
  if (!output)
    return output.takeError();
  llvm::Expected<TemporaryFile> log = TemporaryFile::create("log");
  if (!log)
    return log.takeError();

  std::error_code error;
  {
    llvm::raw_fd_ostream stream(input->path, error);
    if (!error) {
      stream << ptx;
      stream.close();
      error = stream.error();
    }
    if (error) {
      stream.clear_error();
      return failure(input->path + ": " + error.message());
    }
  }
  std::string target = ("--gpu-name=" + architecture).str();
  llvm::SmallVector<llvm::StringRef> arguments = {*program,        target,       "--verbose",
                                                  "--output-file", output->path, input->path};
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), llvm::StringRef(log->path),
                                                llvm::StringRef(log->path)};
  std::string reason;
  int result = llvm::sys::ExecuteAndWait(*program, arguments, std::nullopt, redirects,
                                         /*SecondsToWait=*/300, /*MemoryLimit=*/0, &reason);
  llvm::Expected<std::string> text = read(*log);
  if (!text)
    return text.takeError();
  if (result != 0) {
    // The file is gone when the message is read.
    std::string words = llvm::StringRef(*text).trim().str();
    for (size_t at = words.find(input->path); at != std::string::npos; at = words.find(input->path))
      words.replace(at, input->path.size(), "PTX");
    return failure(*program + " failed for " + architecture + ": " +
                   (reason.empty() ? words : reason));
  }
  llvm::Expected<std::vector<KernelResources>> kernels = readAssemblerLog(*text);
  if (!kernels)
    return kernels.takeError();
  llvm::Expected<std::string> cubin = read(*output);
  if (!cubin)
    return cubin.takeError();
  return Assembly{std::move(*cubin), std::move(*kernels)};
}

} // namespace skim::nvvm
