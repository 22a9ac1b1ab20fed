#include "tools/skim-lsp-server/Positions.h"

#include <algorithm>

namespace skim::lsp {

namespace {

/// UTF-16 code units that a byte of UTF-8 starts: 2 where four bytes make a character, 0 within
/// one.
int unitsAt(char byte) {
  auto code = static_cast<unsigned char>(byte);
  if ((code & 0xC0) == 0x80)
    return 0;
  return code >= 0xF0 ? 2 : 1;
}

} // namespace

llvm::lsp::Position positionOf(llvm::StringRef text, size_t offset) {
  llvm::StringRef before = text.take_front(offset);
  size_t lineStart = before.rfind('\n') + 1; // npos + 1 is 0.
  llvm::lsp::Position position(static_cast<int>(before.count('\n')), 0);
  for (char byte : before.substr(lineStart))
    position.character += unitsAt(byte);
  return position;
}

size_t offsetOf(llvm::StringRef text, const llvm::lsp::Position &position) {
  size_t offset = 0;
  for (int line = 0; line < position.line; ++line) {
    size_t end = text.find('\n', offset);
    if (end == llvm::StringRef::npos)
      return text.size();
    offset = end + 1;
  }
  int units = 0;
  while (offset < text.size() && text[offset] != '\n') {
    units += unitsAt(text[offset]);
    if (units > position.character)
      return offset;
    ++offset;
  }
  return offset;
}

} // namespace skim::lsp
