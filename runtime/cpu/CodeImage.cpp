#include "runtime/cpu/CodeImage.h"

#include "runtime/cpu/Selection.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <string_view>
#include <sys/mman.h>
#include <utility>

namespace skim {
namespace {

struct Function {
  std::string_view name;
  void *address;
};

template <typename Result, typename... Arguments>
void *addressOf(Result (*function)(Arguments...)) {
  return reinterpret_cast<void *>(function);
}

/// Beside the runtime's own, those of the C library that a code generator may call for plain loops,
/// and the functions of f64 by which numbers from inputs are rounded once.
std::span<const Function> functions() {
  static const Function table[] = {
      {"skim_select_top_k", addressOf(skim_select_top_k)},
      {"skim_select_top_p", addressOf(skim_select_top_p)},
      {"exp", addressOf<double, double>(std::exp)},
      {"log", addressOf<double, double>(std::log)},
      {"tanh", addressOf<double, double>(std::tanh)},
      {"memcpy", addressOf<void *, void *, const void *, size_t>(std::memcpy)},
      {"memmove", addressOf<void *, void *, const void *, size_t>(std::memmove)},
      {"memset", addressOf<void *, void *, int, size_t>(std::memset)},
  };
  return table;
}

Status corrupt(std::string message) { return {StatusCode::Corrupt, std::move(message)}; }

Status outside(const std::string &what, int64_t offset, size_t bytes) {
  return corrupt(what + ": expected an offset within the " + std::to_string(bytes) +
                 " bytes of the code but got " + std::to_string(offset));
}

} // namespace

std::vector<std::string> importableFunctions() {
  std::vector<std::string> names;
  for (const Function &function : functions())
    names.emplace_back(function.name);
  return names;
}

Expected<CodeMemory> CodeMemory::allocate(uint64_t bytes) {
  if (bytes == 0)
    return corrupt("expected code but got none");
  void *start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED)
    return Status(StatusCode::Environment, "cannot get " + std::to_string(bytes) +
                                               " bytes for code: " + std::strerror(errno));
  return CodeMemory(static_cast<std::byte *>(start), bytes);
}

CodeMemory::CodeMemory(CodeMemory &&other) noexcept
    : start_(std::exchange(other.start_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

CodeMemory &CodeMemory::operator=(CodeMemory &&other) noexcept {
  std::swap(start_, other.start_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

CodeMemory::~CodeMemory() {
  if (start_)
    ::munmap(start_, bytes_);
}

Expected<std::vector<skim_cpu_kernel>> CodeMemory::finish(const CodeImageLayout &layout) {
  const auto bytes = static_cast<int64_t>(bytes_);
  for (const CodeImport &import : layout.imports) {
    constexpr int64_t kSize = sizeof(void *);
    if (import.offset < 0 || import.offset > bytes - kSize || import.offset % kSize != 0)
      return outside("import of '" + import.function + "'", import.offset, bytes_);
    const auto found = std::ranges::find(functions(), import.function, &Function::name);
    if (found == functions().end())
      return Status(StatusCode::Unsupported,
                    "the code calls '" + import.function + "', which this runtime does not have");
    std::memcpy(start_ + import.offset, &found->address, kSize);
  }
  std::vector<skim_cpu_kernel> kernels;
  for (const int64_t offset : layout.entryPoints) {
    if (offset < 0 || offset >= bytes)
      return outside("entry point", offset, bytes_);
    kernels.push_back(reinterpret_cast<skim_cpu_kernel>(start_ + offset));
  }
  if (::mprotect(start_, bytes_, PROT_READ | PROT_EXEC) != 0)
    return Status(StatusCode::Environment,
                  std::string("cannot make code executable: ") + std::strerror(errno));
  __builtin___clear_cache(reinterpret_cast<char *>(start_),
                          reinterpret_cast<char *>(start_) + bytes_);
  return kernels;
}

} // namespace skim
