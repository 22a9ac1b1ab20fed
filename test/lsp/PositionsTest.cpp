// Lines and UTF-16 units of the protocol, to bytes of a text and back.
#include "tools/skim-lsp-server/Positions.h"

#include <gtest/gtest.h>

namespace skim::lsp {
namespace {

using llvm::lsp::Position;

// Of 1, 2, 3 and 4 bytes; the last takes two UTF-16 units.
constexpr llvm::StringLiteral text = "a\xC3\xA4\xE2\x82\xAC\xF0\x9D\x84\x9Ez\nsecond\n";

TEST(Positions, CountsUtf16Units) {
  EXPECT_EQ(positionOf(text, 0), Position(0, 0));
  EXPECT_EQ(positionOf(text, 1), Position(0, 1));
  EXPECT_EQ(positionOf(text, 3), Position(0, 2));
  EXPECT_EQ(positionOf(text, 6), Position(0, 3));
  EXPECT_EQ(positionOf(text, 10), Position(0, 5));
  EXPECT_EQ(positionOf(text, 12), Position(1, 0));
  EXPECT_EQ(positionOf(text, 15), Position(1, 3));
}

TEST(Positions, LeadsBackToTheByte) {
  for (size_t offset : {0, 1, 3, 6, 10, 11, 12, 15, 18, 19})
    EXPECT_EQ(offsetOf(text, positionOf(text, offset)), offset);
}

TEST(Positions, StaysInsideTheText) {
  EXPECT_EQ(offsetOf(text, Position(0, 1000)), 11U);
  EXPECT_EQ(offsetOf(text, Position(1, 1000)), 18U);
  EXPECT_EQ(offsetOf(text, Position(1000, 5)), text.size());
  EXPECT_EQ(offsetOf(text, Position(-3, -7)), 0U);
  EXPECT_EQ(offsetOf("", Position(2, 2)), 0U);
  EXPECT_EQ(positionOf(text, 1000), Position(2, 0));
}

TEST(Positions, TakesTheCharacterThatAnOffsetLiesIn) {
  // Between the two units of a character is its start.
  EXPECT_EQ(offsetOf(text, Position(0, 4)), 6U);
}

TEST(Positions, CountsBytesThatAreNoUtf8) {
  llvm::StringRef broken("\xFF\x80q", 3);
  EXPECT_LE(offsetOf(broken, positionOf(broken, 2)), 3U);
}

} // namespace
} // namespace skim::lsp
