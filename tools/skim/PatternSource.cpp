#include "tools/skim/PatternSource.h"

#include "tools/skim/Failure.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

namespace skim::tool {
namespace {

using Kind = text::Item::Kind;

bool has(const text::Pattern &pattern, Kind kind) {
  return llvm::any_of(pattern.items, [&](const text::Item &item) { return item.kind == kind; });
}

/// Clauses that a variant leaves out.
bool isDropped(Kind kind, Variant variant) {
  switch (kind) {
  case Kind::RestMean:
    return variant != Variant::Asked;
  case Kind::SinkLogit:
    return variant == Variant::KeysAlone || variant == Variant::DenseKeysAlone;
  case Kind::Skip:
  case Kind::DenseWhen:
  case Kind::Compact:
    return variant == Variant::Dense || variant == Variant::DenseKeysAlone;
  default:
    return false;
  }
}

/// The patterns that `expr` calls; it may be null.
void addCallees(const text::Expr *expr, const text::Program &program,
                llvm::SetVector<const text::Pattern *> &callees) {
  if (!expr)
    return;
  auto add = [&](const text::ExprPtr &part) { addCallees(part.get(), program, callees); };
  if (const auto *unary = llvm::dyn_cast<text::UnaryExpr>(expr)) {
    add(unary->operand);
  } else if (const auto *binary = llvm::dyn_cast<text::BinaryExpr>(expr)) {
    add(binary->lhs);
    add(binary->rhs);
  } else if (const auto *where = llvm::dyn_cast<text::WhereExpr>(expr)) {
    add(where->value);
    add(where->set);
  } else if (const auto *match = llvm::dyn_cast<text::MatchExpr>(expr)) {
    add(match->selector);
    for (const text::MatchExpr::Arm &arm : match->arms)
      add(arm.value);
  } else if (const auto *call = llvm::dyn_cast<text::CallExpr>(expr)) {
    for (const text::Argument &argument : call->arguments)
      add(argument.value);
    if (const text::Pattern *callee = program.find(call->callee))
      callees.insert(callee);
  }
}

} // namespace

llvm::Expected<std::unique_ptr<PatternSource>> PatternSource::load(llvm::StringRef path,
                                                                   llvm::StringRef name) {
  auto source = std::make_unique<PatternSource>();
  source->program = text::loadFile(path, source->diagnostics);
  if (llvm::Error error = source->findEntry(name))
    return error;
  return source;
}

llvm::Expected<std::unique_ptr<PatternSource>> PatternSource::parse(llvm::StringRef text,
                                                                    llvm::StringRef path) {
  auto source = std::make_unique<PatternSource>();
  source->program =
      text::loadBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, path), source->diagnostics);
  if (llvm::Error error = source->findEntry(""))
    return error;
  return source;
}

llvm::Error PatternSource::findEntry(llvm::StringRef name) {
  if (!diagnostics.hasErrors())
    pattern = text::findEntry(program, name, diagnostics);
  if (diagnostics.hasErrors() || !pattern) {
    diagnostics.print(llvm::errs(), llvm::errs().has_colors());
    return alreadyReported();
  }
  unsigned buffer = diagnostics.sources().FindBufferContainingLoc(pattern->range.Start);
  const llvm::MemoryBuffer *memory = diagnostics.sources().getMemoryBuffer(buffer);
  source = memory->getBuffer();
  path = memory->getBufferIdentifier().str();
  return llvm::Error::success();
}

bool PatternSource::isCausal() const { return !has(*pattern, Kind::Noncausal); }
bool PatternSource::hasLogit() const { return has(*pattern, Kind::Logit); }

std::map<std::string, DType> PatternSource::inputTypes() const {
  using Element = text::TypeSyntax::Element;
  std::map<std::string, DType> types;
  for (const auto &file : program.files)
    for (const auto &each : file->tree.patterns)
      for (const text::Item &item : each->items) {
        if (item.kind != Kind::Input)
          continue;
        Element element = item.type.element;
        types[item.name] = element == Element::Bool                             ? DType::U8
                           : element == Element::F32 || element == Element::Vec ? DType::F32
                                                                                : DType::I32;
        if (element == Element::List)
          types[item.name + "_counts"] = DType::I32;
      }
  return types;
}

std::set<std::string> PatternSource::inputNames() const {
  std::set<std::string> names;
  llvm::SetVector<const text::Pattern *> reached;
  reached.insert(pattern);
  for (size_t next = 0; next != reached.size(); ++next)
    for (const text::Item &item : reached[next]->items) {
      if (item.kind == Kind::Input)
        names.insert(item.name);
      addCallees(item.value.get(), program, reached);
    }
  return names;
}

Pattern PatternSource::variant(Variant variant) const {
  bool dense = variant == Variant::Dense || variant == Variant::DenseKeysAlone;
  std::string edited;
  const char *done = source.begin();
  auto replace = [&](llvm::SMRange range, llvm::StringRef by) {
    edited.append(done, range.Start.getPointer());
    edited.append(by);
    done = range.End.getPointer();
  };
  // The items stand in the order of the source.
  for (const text::Item &item : pattern->items) {
    if (isDropped(item.kind, variant))
      replace(item.range, "");
    else if (item.kind == Kind::Keep && dense)
      replace(item.value->range, "true");
  }
  edited.append(done, source.end());
  return Pattern::fromText(std::move(edited), path);
}

bool PatternSource::isSame(Variant variant, Variant base) const {
  auto kept = [](Variant v) { return v == Variant::Dense || v == Variant::DenseKeysAlone; };
  if (kept(variant) != kept(base))
    return false;
  return llvm::none_of(pattern->items, [&](const text::Item &item) {
    return isDropped(item.kind, variant) != isDropped(item.kind, base);
  });
}

llvm::Expected<Sources> loadSources(llvm::ArrayRef<std::string> paths, llvm::StringRef name) {
  Sources sources;
  for (const std::string &path : paths) {
    auto source = PatternSource::load(path, name);
    if (!source)
      return source.takeError();
    sources.push_back(std::move(*source));
  }
  return sources;
}

} // namespace skim::tool
