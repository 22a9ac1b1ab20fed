#include "frontends/text/Lexer.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace skim::text {

namespace {

bool isWordStart(char c) { return llvm::isAlpha(c) || c == '_'; }
bool isWordPart(char c) { return llvm::isAlnum(c) || c == '_'; }

/// In the order of TokenKind.
constexpr llvm::StringLiteral keywordTable[] = {
    "and",     "compact", "constexpr",  "dense", "false",     "import", "input",
    "keep",    "let",     "logit",      "match", "noncausal", "not",    "or",
    "pattern", "rest",    "sink_logit", "skip",  "true",      "when",   "where"};
static_assert(std::size(keywordTable) ==
              static_cast<size_t>(TokenKind::KwWhere) - static_cast<size_t>(TokenKind::KwAnd) + 1);

TokenKind wordKind(llvm::StringRef word) {
  const auto *found = llvm::lower_bound(keywordTable, word);
  if (found == std::end(keywordTable) || *found != word)
    return TokenKind::Identifier;
  return static_cast<TokenKind>(static_cast<size_t>(TokenKind::KwAnd) +
                                (found - std::begin(keywordTable)));
}

} // namespace

llvm::ArrayRef<llvm::StringLiteral> keywords() { return keywordTable; }

std::string Token::describe() const {
  switch (kind) {
  case TokenKind::EndOfFile:
    return "the end of the file";
  case TokenKind::Number:
    return ("number '" + text + "'").str();
  case TokenKind::String:
    return ("string \"" + text + "\"").str();
  default:
    return ("'" + text + "'").str();
  }
}

Lexer::Lexer(unsigned buffer, Diagnostics &diagnostics) : diagnostics(diagnostics) {
  llvm::StringRef text = diagnostics.sources().getMemoryBuffer(buffer)->getBuffer();
  at = text.begin();
  end = text.end();
}

Token Lexer::make(TokenKind kind, const char *start) {
  Token token;
  token.kind = kind;
  token.text = llvm::StringRef(start, at - start);
  token.range = rangeFrom(start);
  return token;
}

Token Lexer::next() {
  while (true) {
    skipTrivia();
    const char *start = at;
    if (at == end)
      return make(TokenKind::EndOfFile, start);
    char c = peek();
    if (isWordStart(c))
      return lexWord();
    if (llvm::isDigit(c) || (c == '.' && llvm::isDigit(peek(1))))
      return lexNumber();

    auto take = [&](unsigned length, TokenKind kind) {
      at += length;
      return make(kind, start);
    };
    char following = peek(1);
    switch (c) {
    case '"':
      return lexString();
    case '(':
      return take(1, TokenKind::LeftParen);
    case ')':
      return take(1, TokenKind::RightParen);
    case '{':
      return take(1, TokenKind::LeftBrace);
    case '}':
      return take(1, TokenKind::RightBrace);
    case '[':
      return take(1, TokenKind::LeftBracket);
    case ']':
      return take(1, TokenKind::RightBracket);
    case ',':
      return take(1, TokenKind::Comma);
    case ':':
      return take(1, TokenKind::Colon);
    case '+':
      return take(1, TokenKind::Plus);
    case '-':
      return take(1, TokenKind::Minus);
    case '*':
      return take(1, TokenKind::Star);
    case '/':
      return take(1, TokenKind::Slash);
    case '%':
      return take(1, TokenKind::Percent);
    case '<':
      if (following == '>')
        return foreign(2, TokenKind::NotEqual, "!=");
      return following == '=' ? take(2, TokenKind::LessEqual) : take(1, TokenKind::Less);
    case '>':
      return following == '=' ? take(2, TokenKind::GreaterEqual) : take(1, TokenKind::Greater);
    case '=':
      if (following == '<')
        return foreign(2, TokenKind::LessEqual, "<=");
      if (following == '>')
        return foreign(2, TokenKind::GreaterEqual, ">=");
      return following == '=' ? take(2, TokenKind::EqualEqual) : take(1, TokenKind::Assign);
    case '!':
      return following == '=' ? take(2, TokenKind::NotEqual) : foreign(1, TokenKind::KwNot, "not");
    case '&':
      return foreign(following == '&' ? 2 : 1, TokenKind::KwAnd, "and");
    case '|':
      return foreign(following == '|' ? 2 : 1, TokenKind::KwOr, "or");
    case '~':
      return foreign(1, TokenKind::KwNot, "not");
    default:
      if (std::optional<Token> meant = lexUnexpected())
        return *meant;
    }
  }
}

void Lexer::skipTrivia() {
  while (at != end) {
    char c = *at;
    if (llvm::isSpace(c)) {
      ++at;
    } else if (c == '/' && peek(1) == '/') {
      while (at != end && *at != '\n') {
        // A NUL would cut the line short in every tool that prints it.
        if (*at == '\0')
          diagnostics.report(Message::NulByte, {llvm::SMLoc::getFromPointer(at),
                                                llvm::SMLoc::getFromPointer(at + 1)});
        ++at;
      }
    } else if (c == '/' && peek(1) == '*') {
      skipBlockComment();
    } else {
      return;
    }
  }
}

void Lexer::skipBlockComment() {
  const char *start = at;
  at += 2;
  llvm::SMRange opening = rangeFrom(start);
  size_t close = llvm::StringRef(at, end - at).find("*/");
  if (close == llvm::StringRef::npos) {
    diagnostics.report(Message::UnterminatedComment, opening);
    at = end;
    return;
  }
  diagnostics.report(Message::BlockComment, opening);
  at += close + 2;
}

Token Lexer::lexWord() {
  const char *start = at;
  while (at != end && isWordPart(*at))
    ++at;
  Token token = make(TokenKind::Identifier, start);
  token.kind = wordKind(token.text);
  return token;
}

Token Lexer::lexNumber() {
  const char *start = at;
  auto digits = [&] {
    const char *first = at;
    while (at != end && llvm::isDigit(*at))
      ++at;
    return at != first;
  };
  bool isInteger = true;
  bool startsWithDigit = digits();
  if (peek() == '.') {
    isInteger = false;
    ++at;
    digits();
  }
  bool wellFormed = true;
  if ((peek() == 'e' || peek() == 'E') &&
      (llvm::isDigit(peek(1)) || peek(1) == '+' || peek(1) == '-')) {
    isInteger = false;
    ++at;
    if (peek() == '+' || peek() == '-')
      ++at;
    if (!digits()) {
      wellFormed = false;
      diagnostics.report(Message::ExponentWithoutDigits, rangeFrom(start),
                         llvm::StringRef(start, at - start));
    }
  }
  Token token = make(TokenKind::Number, start);
  if (isWordStart(peek())) {
    const char *suffix = at;
    while (at != end && isWordPart(*at))
      ++at;
    diagnostics.report(Message::NumberSuffix, rangeFrom(suffix),
                       llvm::StringRef(suffix, at - suffix), token.text);
  }
  if (!startsWithDigit)
    diagnostics.report(Message::NumberWithoutDigits, token.range, token.text)
        .fixIt(token.range.Start, "0");

  if (isInteger) {
    int64_t integer = 0;
    if (token.text.getAsInteger(10, integer))
      diagnostics.report(Message::IntegerOverflow, token.range, token.text);
    token.integer = integer;
    token.value = static_cast<double>(integer);
  } else if (wellFormed) {
    llvm::APFloat number(llvm::APFloat::IEEEdouble());
    auto status = number.convertFromString(token.text, llvm::APFloat::rmNearestTiesToEven);
    if (!status)
      llvm::consumeError(status.takeError());
    token.value = number.convertToDouble();
    bool losesInfo = false;
    number.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    if (!number.isFinite()) {
      diagnostics.report(Message::FloatOverflow, token.range, token.text);
      token.value = 0;
    }
  }
  return token;
}

Token Lexer::lexString() {
  const char *start = at++;
  while (at != end && *at != '"' && *at != '\n' && *at != '\0')
    ++at;
  bool terminated = peek() == '"' && at != end;
  Token token;
  token.kind = TokenKind::String;
  token.text = llvm::StringRef(start + 1, at - start - 1);
  if (terminated)
    ++at;
  token.range = rangeFrom(start);
  if (!terminated)
    diagnostics.report(Message::UnterminatedString, token.range);
  return token;
}

Token Lexer::foreign(unsigned length, TokenKind kind, llvm::StringRef meant) {
  const char *start = at;
  at += length;
  Token token = make(kind, start);
  diagnostics.report(Message::ForeignOperator, token.range, token.text, meant)
      .fixIt(token.range, meant);
  return token;
}

std::optional<Token> Lexer::lexUnexpected() {
  const char *start = at;
  auto c = static_cast<unsigned char>(*at);
  if (c >= 0x80)
    return lexNonAscii();
  ++at;
  if (c == '\0') {
    diagnostics.report(Message::NulByte, rangeFrom(start));
  } else if (c == ';') {
    diagnostics.report(Message::Semicolon, rangeFrom(start)).fixIt(rangeFrom(start), "");
  } else if (c == '\'') {
    diagnostics.report(Message::SingleQuote, rangeFrom(start));
  } else if (c == '#') {
    diagnostics.report(Message::HashComment, rangeFrom(start)).fixIt(rangeFrom(start), "//");
    while (at != end && *at != '\n')
      ++at;
  } else if (llvm::isPrint(*start)) {
    diagnostics.report(Message::UnexpectedCharacter, rangeFrom(start), *start);
  } else {
    diagnostics.report(Message::InvalidUtf8, rangeFrom(start), llvm::utohexstr(c, false, 2));
  }
  return std::nullopt;
}

std::optional<Token> Lexer::lexNonAscii() {
  const char *start = at;
  const auto *from = reinterpret_cast<const llvm::UTF8 *>(at);
  llvm::UTF32 codePoint = 0;
  if (llvm::convertUTF8Sequence(&from, reinterpret_cast<const llvm::UTF8 *>(end), &codePoint,
                                llvm::strictConversion) != llvm::conversionOK) {
    ++at;
    diagnostics.report(Message::InvalidUtf8, rangeFrom(start),
                       llvm::utohexstr(static_cast<unsigned char>(*start), false, 2));
    return std::nullopt;
  }
  at = reinterpret_cast<const char *>(from);

  struct Lookalike {
    llvm::UTF32 codePoint;
    const char *ascii;
    TokenKind kind;
  };
  static constexpr Lookalike lookalikes[] = {
      {0x2264, "<=", TokenKind::LessEqual}, {0x2265, ">=", TokenKind::GreaterEqual},
      {0x2260, "!=", TokenKind::NotEqual},  {0x2212, "-", TokenKind::Minus},
      {0x2013, "-", TokenKind::Minus},      {0x00D7, "*", TokenKind::Star},
      {0x00F7, "/", TokenKind::Slash},      {0x2227, "and", TokenKind::KwAnd},
      {0x2228, "or", TokenKind::KwOr},      {0x00AC, "not", TokenKind::KwNot},
  };
  // utohexstr keeps no more digits than it is asked for.
  std::string digits = llvm::utohexstr(codePoint, false, codePoint > 0xFFFF ? 0 : 4);
  for (const Lookalike &lookalike : lookalikes) {
    if (lookalike.codePoint != codePoint)
      continue;
    Token token = make(lookalike.kind, start);
    diagnostics.report(Message::NonAsciiOperator, token.range, digits, lookalike.ascii)
        .fixIt(token.range, lookalike.ascii);
    return token;
  }
  // One message for a whole foreign word.
  while (at != end && (static_cast<unsigned char>(*at) >= 0x80 || isWordPart(*at)))
    ++at;
  diagnostics.report(Message::NonAscii, rangeFrom(start), digits);
  return std::nullopt;
}

} // namespace skim::text
