#include "tools/skim/eval/Text.h"

#include "tools/skim/InputFile.h"

namespace skim::tool {

Random::Random(uint64_t seed, uint64_t number) {
  std::seed_seq sequence{uint32_t(seed), uint32_t(seed >> 32), uint32_t(number),
                         uint32_t(number >> 32)};
  engine.seed(sequence);
}

llvm::Expected<std::string> readText(llvm::StringRef path) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer = readInput(path);
  if (!buffer)
    return buffer.takeError();
  return (*buffer)->getBuffer().str();
}

llvm::StringRef excerptOf(llvm::StringRef text, int64_t bytes, Random &random) {
  auto places = static_cast<int64_t>(text.size()) - bytes + 1;
  return text.substr(random.below(places), bytes);
}

} // namespace skim::tool
