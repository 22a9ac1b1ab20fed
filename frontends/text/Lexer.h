// Turns the bytes of a `.skim` file into tokens. Wrong characters are reported here, with the
// token that was probably meant handed on, so that the parser can go on.
#ifndef SKIM_FRONTENDS_TEXT_LEXER_H
#define SKIM_FRONTENDS_TEXT_LEXER_H

#include "frontends/text/Diagnostics.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace skim::text {

enum class TokenKind {
  EndOfFile,
  Identifier,
  Number,
  String,
  // Punctuation.
  LeftParen,
  RightParen,
  LeftBrace,
  RightBrace,
  LeftBracket,
  RightBracket,
  Comma,
  Colon,
  Assign,
  Plus,
  Minus,
  Star,
  Slash,
  Percent,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  EqualEqual,
  NotEqual,
  // Keywords, in the order of keywords().
  KwAnd,
  KwCompact,
  KwConstexpr,
  KwDense,
  KwFalse,
  KwImport,
  KwInput,
  KwKeep,
  KwLet,
  KwLogit,
  KwMatch,
  KwNoncausal,
  KwNot,
  KwOr,
  KwPattern,
  KwRest,
  KwSinkLogit,
  KwSkip,
  KwTrue,
  KwWhen,
  KwWhere,
};

struct Token {
  TokenKind kind = TokenKind::EndOfFile;
  /// As written; a string without its quotes.
  llvm::StringRef text;
  llvm::SMRange range;
  double value = 0;               ///< Number.
  std::optional<int64_t> integer; ///< Number without fraction and exponent.

  bool is(TokenKind other) const { return kind == other; }
  bool isKeyword() const { return kind >= TokenKind::KwAnd; }
  /// For "expected X but got Y": `'keep'`, `number '3'`, `the end of the file`.
  std::string describe() const;
};

/// The keywords of the language, in alphabetical order.
llvm::ArrayRef<llvm::StringLiteral> keywords();

class Lexer {
public:
  /// Reads a buffer of `diagnostics.sources()`.
  Lexer(unsigned buffer, Diagnostics &diagnostics);

  Token next();

private:
  /// Skips blanks and comments.
  void skipTrivia();
  void skipBlockComment();
  Token lexNumber();
  Token lexString();
  Token lexWord();
  /// An operator of another language: reported, and read as the one meant.
  Token foreign(unsigned length, TokenKind kind, llvm::StringRef meant);
  /// Reports what can start no token and moves on; a token when one was meant.
  std::optional<Token> lexUnexpected();
  std::optional<Token> lexNonAscii();
  Token make(TokenKind kind, const char *start);

  char peek(unsigned ahead = 0) const {
    return static_cast<size_t>(end - at) > ahead ? at[ahead] : '\0';
  }
  llvm::SMRange rangeFrom(const char *start) const {
    return {llvm::SMLoc::getFromPointer(start), llvm::SMLoc::getFromPointer(at)};
  }

  Diagnostics &diagnostics;
  const char *at;
  const char *end;
};

} // namespace skim::text

#endif // SKIM_FRONTENDS_TEXT_LEXER_H
