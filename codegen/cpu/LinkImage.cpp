#include "codegen/cpu/LinkImage.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/ExecutionEngine/JITLink/aarch64.h"
#include "llvm/ExecutionEngine/JITLink/x86_64.h"

using namespace llvm;
using namespace llvm::jitlink;
using llvm::orc::ExecutorAddr;
using llvm::orc::MemProt;
using skim::CodeImage;

namespace {

/// Out of reach of all relative addresses, so that what is imported goes through a pointer in the
/// table of the image.
constexpr uint64_t kImported = uint64_t(1) << 46;
constexpr uint64_t kPage = 4096;

/// Lays all sections out one after another in the bytes of an image that stands at `base`.
class ImageMemory : public JITLinkMemoryManager {
public:
  ImageMemory(std::vector<std::byte> &image, uint64_t base) : image(image), base(base) {}

  void allocate(const JITLinkDylib *, LinkGraph &graph, OnAllocatedFunction done) override {
    BasicLayout layout(graph);
    uint64_t size = 0;
    for (auto &[group, segment] : layout.segments()) {
      if ((group.getMemProt() & MemProt::Write) != MemProt::None)
        return done(createStringError("the code has data that is written"));
      if (segment.Alignment.value() > kPage)
        return done(createStringError("the code needs an alignment of more than a page"));
      size = alignTo(size, segment.Alignment);
      segment.Addr = ExecutorAddr(base + size);
      size += segment.ContentSize + segment.ZeroFillSize;
    }
    image.assign(size, std::byte{0});
    for (auto &[group, segment] : layout.segments())
      segment.WorkingMem =
          reinterpret_cast<char *>(image.data()) + (segment.Addr.getValue() - base);
    if (Error error = layout.apply())
      return done(std::move(error));
    done(std::make_unique<Allocation>(base));
  }

  void deallocate(std::vector<FinalizedAlloc> allocations, OnDeallocatedFunction done) override {
    for (FinalizedAlloc &allocation : allocations)
      allocation.release();
    done(Error::success());
  }

private:
  struct Allocation : InFlightAlloc {
    explicit Allocation(uint64_t base) : base(base) {}
    void abandon(OnAbandonedFunction done) override { done(Error::success()); }
    void finalize(OnFinalizedFunction done) override { done(FinalizedAlloc(ExecutorAddr(base))); }
    uint64_t base;
  };

  std::vector<std::byte> &image;
  uint64_t base;
};

/// One link of an object, at `base`.
class Link : public JITLinkContext {
public:
  struct Result {
    CodeImage image;
    Error error = Error::success();
  };

  Link(Result &result, ArrayRef<std::string> kernels, uint64_t base)
      : JITLinkContext(nullptr), result(result), kernels(kernels), base(base),
        memory(result.image.bytes, base) {}

  JITLinkMemoryManager &getMemoryManager() override { return memory; }
  void notifyFailed(Error error) override {
    result.error = joinErrors(std::move(result.error), std::move(error));
  }
  void lookup(const LookupMap &symbols,
              std::unique_ptr<JITLinkAsyncLookupContinuation> next) override {
    AsyncLookupResult found;
    for (const auto &[name, flags] : symbols)
      found[name] = {ExecutorAddr(kImported), JITSymbolFlags::Exported};
    next->run(std::move(found));
  }
  Error notifyResolved(LinkGraph &) override { return Error::success(); }
  void notifyFinalized(JITLinkMemoryManager::FinalizedAlloc allocation) override {
    allocation.release();
  }
  Error modifyPassConfig(LinkGraph &, PassConfiguration &passes) override {
    // After the pass that makes the table of pointers and the jumps through it.
    passes.PostPrunePasses.push_back([](LinkGraph &graph) { return orderImports(graph); });
    // After the last pass that changes edges.
    passes.PreFixupPasses.push_back([this](LinkGraph &graph) { return describe(graph); });
    return Error::success();
  }

private:
  /// What a block of the table, or a jump through it, is for.
  static StringRef importedName(const Block &block) {
    const Symbol &target = block.edges().begin()->getTarget();
    return target.isExternal() ? *target.getName() : importedName(target.getBlock());
  }

  /// Blocks that are made have no place yet and are kept by address in memory: without this they
  /// would be laid out in another order each time.
  static Error orderImports(LinkGraph &graph) {
    for (StringRef name : {"$__GOT", "$__STUBS"}) {
      Section *section = graph.findSectionByName(name);
      if (!section)
        continue;
      std::vector<Block *> blocks(section->blocks().begin(), section->blocks().end());
      llvm::sort(blocks, [](const Block *a, const Block *b) {
        return importedName(*a) < importedName(*b);
      });
      uint64_t place = 0;
      for (Block *block : blocks) {
        block->setAddress(ExecutorAddr(place));
        place += block->getSize();
      }
    }
    return Error::success();
  }

  int64_t offsetOf(ExecutorAddr address) const { return int64_t(address.getValue() - base); }

  Error describe(LinkGraph &graph) {
    const std::vector<std::string> importable = skim::importableFunctions();
    for (Block *block : graph.blocks())
      for (const Edge &edge : block->edges()) {
        if (!edge.isRelocation() || !edge.getTarget().isExternal())
          continue;
        std::string name = (*edge.getTarget().getName()).str();
        static_assert(x86_64::Pointer64 == +aarch64::Pointer64);
        if (edge.getKind() != x86_64::Pointer64 || edge.getAddend() != 0)
          return createStringError("the code refers to '" + name + "' by " +
                                   graph.getEdgeKindName(edge.getKind()));
        if (!is_contained(importable, name))
          return createStringError("the code calls '" + name +
                                   "', which the runtime does not have");
        result.image.layout.imports.push_back({offsetOf(block->getFixupAddress(edge)), name});
      }
    llvm::sort(result.image.layout.imports,
               [](const auto &a, const auto &b) { return a.offset < b.offset; });
    for (const std::string &kernel : kernels) {
      Symbol *symbol = graph.findDefinedSymbolByName(graph.intern(kernel));
      if (!symbol)
        return createStringError("the code does not define '" + kernel + "'");
      result.image.layout.entryPoints.push_back(offsetOf(symbol->getAddress()));
    }
    return Error::success();
  }

  Result &result;
  ArrayRef<std::string> kernels;
  uint64_t base;
  ImageMemory memory;
};

llvm::Expected<CodeImage> linkAt(ArrayRef<char> object, ArrayRef<std::string> kernels,
                                 uint64_t base) {
  // Outlives the names that the link's own maps hold.
  auto names = std::make_shared<orc::SymbolStringPool>();
  auto graph =
      createLinkGraphFromObject(MemoryBufferRef({object.data(), object.size()}, "kernels"), names);
  if (!graph)
    return graph.takeError();
  Link::Result result;
  link(std::move(*graph), std::make_unique<Link>(result, kernels, base));
  if (result.error)
    return std::move(result.error);
  // What the table holds is for the runtime to fill.
  for (const skim::CodeImport &import : result.image.layout.imports)
    std::fill_n(result.image.bytes.begin() + import.offset, sizeof(uint64_t), std::byte{0});
  return std::move(result.image);
}

} // namespace

llvm::Expected<CodeImage> skim::cpu::linkImage(ArrayRef<char> object,
                                               ArrayRef<std::string> kernels) {
  llvm::Expected<CodeImage> image = linkAt(object, kernels, 256 * kPage);
  if (!image)
    return image;
  // Code without absolute addresses is the same wherever it is linked.
  llvm::Expected<CodeImage> elsewhere = linkAt(object, kernels, 1021 * kPage);
  if (!elsewhere)
    return elsewhere;
  if (image->bytes != elsewhere->bytes || image->layout != elsewhere->layout)
    return createStringError("the code depends on where it lies in memory");
  return image;
}
