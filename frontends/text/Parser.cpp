#include "frontends/text/Parser.h"

#include "frontends/text/ParserImpl.h"

#include "llvm/Support/MemoryBuffer.h"

namespace skim::text {

File parse(unsigned buffer, Diagnostics &diagnostics) {
  const llvm::MemoryBuffer *memory = diagnostics.sources().getMemoryBuffer(buffer);
  if (memory->getBufferSize() > maxFileBytes) {
    llvm::SMLoc start = llvm::SMLoc::getFromPointer(memory->getBufferStart());
    diagnostics.report(Message::FileTooLarge, {start, start}, memory->getBufferSize(),
                       maxFileBytes);
    return {};
  }
  constexpr llvm::StringLiteral byteOrderMark = "\xEF\xBB\xBF";
  if (memory->getBuffer().starts_with(byteOrderMark)) {
    llvm::SMLoc start = llvm::SMLoc::getFromPointer(memory->getBufferStart());
    diagnostics.report(Message::ByteOrderMark, {start, start});
    return {};
  }
  return Parser(buffer, diagnostics).parseFile();
}

Parser::Parser(unsigned buffer, Diagnostics &diagnostics)
    : diagnostics(diagnostics), lexer(buffer, diagnostics) {
  token = lexer.next();
  following = lexer.next();
  previousEnd = token.range.Start;
}

void Parser::advance() {
  previousEnd = token.range.End;
  if (diagnostics.limitReached() && !stopped) {
    stopped = true;
    token.kind = following.kind = TokenKind::EndOfFile;
  }
  if (stopped)
    return;
  token = following;
  if (!token.is(TokenKind::EndOfFile))
    following = lexer.next();
}

bool Parser::accept(TokenKind kind) {
  if (!token.is(kind))
    return false;
  advance();
  return true;
}

bool Parser::expect(TokenKind kind, llvm::StringRef what) {
  if (accept(kind))
    return true;
  error(Message::ExpectedToken, token.range, what, token.describe());
  return false;
}

bool Parser::atClause() const {
  switch (token.kind) {
  case TokenKind::KwCompact:
  case TokenKind::KwDense:
  case TokenKind::KwInput:
  case TokenKind::KwKeep:
  case TokenKind::KwLet:
  case TokenKind::KwLogit:
  case TokenKind::KwNoncausal:
  case TokenKind::KwRest:
  case TokenKind::KwSinkLogit:
  case TokenKind::KwSkip:
  // The start of another pattern ends a clause as well.
  case TokenKind::KwPattern:
  case TokenKind::KwImport:
    return true;
  default:
    return false;
  }
}

void Parser::skipToClause() {
  unsigned braces = 0;
  while (!token.is(TokenKind::EndOfFile) && !atClause()) {
    if (token.is(TokenKind::LeftBrace))
      ++braces;
    if (token.is(TokenKind::RightBrace) && braces-- == 0)
      break;
    advance();
  }
  panic = false;
}

void Parser::skipToPattern() {
  while (!token.is(TokenKind::EndOfFile) && !token.is(TokenKind::KwPattern) &&
         !token.is(TokenKind::KwImport))
    advance();
  panic = false;
}

void Parser::skipToClose() {
  while (!token.is(TokenKind::EndOfFile) && !atClause() && !token.is(TokenKind::RightBrace)) {
    skipInList();
    panic = !token.is(TokenKind::RightBrace);
    if (panic)
      advance();
  }
}

void Parser::skipInList() {
  unsigned brackets = 0;
  while (!token.is(TokenKind::EndOfFile) && !atClause()) {
    switch (token.kind) {
    case TokenKind::LeftParen:
    case TokenKind::LeftBracket:
    case TokenKind::LeftBrace:
      ++brackets;
      break;
    case TokenKind::RightParen:
    case TokenKind::RightBracket:
    case TokenKind::RightBrace:
      if (brackets-- == 0)
        return;
      break;
    case TokenKind::Comma:
      if (brackets == 0)
        return;
      break;
    default:
      break;
    }
    advance();
  }
}

} // namespace skim::text
