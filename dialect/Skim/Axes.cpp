#include "dialect/Skim/Axes.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace skim::ir;

llvm::StringRef skim::ir::toString(Element element) {
  switch (element) {
  case Element::Vec:
    return "vec";
  case Element::F32:
    return "f32";
  case Element::Index:
    return "index";
  case Element::Bool:
    return "bool";
  }
  return "";
}

std::optional<Element> skim::ir::parseElement(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Element>>(name)
      .Case("vec", Element::Vec)
      .Case("f32", Element::F32)
      .Case("index", Element::Index)
      .Case("bool", Element::Bool)
      .Default(std::nullopt);
}

static std::string blockAxisName(llvm::StringRef position, int64_t block) {
  return block == 1 ? position.str() : (position + " / " + llvm::Twine(block)).str();
}

std::string skim::ir::queryAxisName(int64_t block) { return blockAxisName("q", block); }
std::string skim::ir::keyAxisName(int64_t block) { return blockAxisName("k", block); }

std::string skim::ir::toString(const Axes &axes) {
  llvm::SmallVector<std::string, 4> names;
  if (axes.head != HeadAxis::None)
    names.push_back(axes.head == HeadAxis::Head ? "head" : "kv_head");
  if (axes.query != 0)
    names.push_back(queryAxisName(axes.query));
  if (axes.key != 0)
    names.push_back(keyAxisName(axes.key));
  if (axes.diagonal)
    names.emplace_back("q - k");
  return llvm::join(names, ", ");
}
