#include "frontends/text/Parser.h"
#include "frontends/text/ParserImpl.h"
#include "frontends/text/Spelling.h"

#include "llvm/ADT/StringSwitch.h"

namespace skim::text {

namespace {

constexpr llvm::StringLiteral clauseWords[] = {
    "let", "input", "keep", "rest", "skip", "logit", "sink_logit", "dense", "compact", "noncausal"};
constexpr llvm::StringLiteral typeWords[] = {"index", "f32", "bool", "vec", "list"};

std::optional<TypeSyntax::Element> elementNamed(llvm::StringRef word) {
  using Element = TypeSyntax::Element;
  return llvm::StringSwitch<std::optional<Element>>(word)
      .Case("index", Element::Index)
      .Case("f32", Element::F32)
      .Case("bool", Element::Bool)
      .Case("vec", Element::Vec)
      .Case("list", Element::List)
      .Default(std::nullopt);
}

/// The type that a name of another language stands for; empty when none.
llvm::StringRef typeMeant(llvm::StringRef word) {
  return llvm::StringSwitch<llvm::StringRef>(word)
      .Cases({"int", "integer", "int32", "int64", "i32", "i64", "size_t", "usize"}, "index")
      .Cases({"float", "float32", "double", "f64", "f16", "bf16", "fp32", "real"}, "f32")
      .Cases({"boolean", "i1", "mask"}, "bool")
      .Cases({"vector", "tensor"}, "vec")
      .Default(closestSpelling(word, typeWords));
}

} // namespace

llvm::ArrayRef<llvm::StringLiteral> typeNames() { return typeWords; }

// file = { import } pattern { pattern }
File Parser::parseFile() {
  File file;
  while (!token.is(TokenKind::EndOfFile)) {
    if (token.is(TokenKind::KwImport)) {
      parseImport(file);
    } else if (token.is(TokenKind::KwPattern)) {
      file.patterns.push_back(parsePattern());
    } else {
      error(Message::ExpectedPattern, token.range, token.describe());
      advance();
      skipToPattern();
    }
    if (panic)
      skipToPattern();
  }
  return file;
}

// import = "import" STRING
void Parser::parseImport(File &file) {
  Import import;
  llvm::SMLoc start = token.range.Start;
  if (!file.patterns.empty())
    diagnostics.report(Message::ImportAfterPattern, token.range);
  advance();
  import.path = token.text.str();
  import.pathRange = token.range;
  bool terminated = token.range.End.getPointer() > token.text.end();
  if (!expect(TokenKind::String, "a path between '\"'"))
    return;
  import.range = rangeFrom(start);
  if (terminated)
    file.imports.push_back(std::move(import));
}

std::string Parser::parseName(llvm::StringRef what, llvm::SMRange &range) {
  range = token.range;
  if (token.is(TokenKind::Identifier) && token.text != "_") {
    std::string name = token.text.str();
    advance();
    return name;
  }
  if (!token.isKeyword()) {
    error(Message::ExpectedName, token.range, what, token.describe());
    return {};
  }
  // What follows tells whether it was meant as a name or the name is missing.
  bool meant = following.is(TokenKind::Colon) || following.is(TokenKind::Assign) ||
               following.is(TokenKind::LeftParen) || following.is(TokenKind::LeftBrace);
  if (!meant || panic) {
    error(Message::ExpectedName, token.range, what, token.describe());
    return {};
  }
  diagnostics.report(Message::KeywordAsName, token.range, token.text, what);
  std::string name = token.text.str();
  advance();
  return name;
}

// pattern = "pattern" NAME [ "(" [ parameter { "," parameter } ] ")" ] "{" { clause } "}"
std::unique_ptr<Pattern> Parser::parsePattern() {
  auto pattern = std::make_unique<Pattern>();
  llvm::SMLoc start = token.range.Start;
  advance();
  pattern->name = parseName("a pattern", pattern->nameRange);
  if (token.is(TokenKind::LeftParen) || token.is(TokenKind::LeftBrace))
    panic = false;
  if (!panic && token.is(TokenKind::LeftParen)) {
    Token open = token;
    advance();
    parseList(open, TokenKind::RightParen, [&] { parseParameter(*pattern); });
  }
  Token open = token;
  if (expect(TokenKind::LeftBrace, "'{'"))
    parseBody(*pattern, open);
  pattern->range = rangeFrom(start);
  return pattern;
}

// parameter = [ "constexpr" ] NAME ":" type [ "=" expr ]
void Parser::parseParameter(Pattern &pattern) {
  Parameter parameter;
  llvm::SMLoc start = token.range.Start;
  parameter.isConstexpr = accept(TokenKind::KwConstexpr);
  parameter.name = parseName("a parameter", parameter.nameRange);
  if (!panic && !accept(TokenKind::Colon))
    error(Message::ParameterWithoutType, parameter.nameRange, parameter.name);
  if (!panic)
    parameter.type = parseType();
  if (!panic && accept(TokenKind::Assign))
    parameter.defaultValue = parseExpr();
  parameter.range = rangeFrom(start);
  if (!parameter.name.empty())
    pattern.parameters.push_back(std::move(parameter));
}

// type = ( "index" | "f32" | "bool" | "vec" | "list" ) [ "[" expr { "," expr } "]" ]
TypeSyntax Parser::parseType() {
  TypeSyntax type;
  llvm::SMLoc start = token.range.Start;
  std::optional<TypeSyntax::Element> element =
      token.is(TokenKind::Identifier) ? elementNamed(token.text) : std::nullopt;
  if (!element) {
    llvm::StringRef meant =
        token.is(TokenKind::Identifier) ? typeMeant(token.text) : llvm::StringRef();
    if (meant.empty()) {
      error(Message::ExpectedType, token.range, token.describe());
      type.range = token.range;
      return type;
    }
    diagnostics.report(Message::MisspelledType, token.range, token.text, meant)
        .fixIt(token.range, meant);
    element = elementNamed(meant);
  }
  type.element = *element;
  Token word = token;
  advance();
  if (token.is(TokenKind::LeftBracket)) {
    Token open = token;
    advance();
    if (token.is(TokenKind::RightBracket))
      diagnostics.report(Message::EmptyAxes, {open.range.Start, token.range.End});
    parseList(open, TokenKind::RightBracket, [&] { type.axes.push_back(parseExpr()); });
  } else if (*element == TypeSyntax::Element::List) {
    diagnostics.report(Message::ListWithoutAxes, word.range);
  }
  type.range = rangeFrom(start);
  return type;
}

void Parser::parseBody(Pattern &pattern, const Token &open) {
  while (!token.is(TokenKind::RightBrace) && !token.is(TokenKind::EndOfFile) &&
         !token.is(TokenKind::KwPattern) && !token.is(TokenKind::KwImport)) {
    if (!parseItem(pattern))
      reportNoClause();
    if (panic)
      skipToClause();
  }
  expectClose(open, TokenKind::RightBrace);
}

/// Names what stands where a clause should, and moves past it.
void Parser::reportNoClause() {
  Token word = token;
  if (word.is(TokenKind::Identifier) && following.is(TokenKind::Assign)) {
    error(Message::AssignmentWithoutLet, word.range, word.text).fixIt(word.range.Start, "let ");
    return;
  }
  llvm::StringRef meant =
      word.is(TokenKind::Identifier) ? closestSpelling(word.text, clauseWords) : llvm::StringRef();
  if (meant.empty())
    error(Message::ExpectedClause, word.range, word.describe());
  else
    error(Message::MisspelledClause, word.range, word.text, meant).fixIt(word.range, meant);
  advance();
}

bool Parser::parseItem(Pattern &pattern) {
  using Kind = Item::Kind;
  Item item;
  TokenKind keyword = token.kind;
  llvm::SMRange keywordRange = token.range;
  if (!atClause())
    return false;
  advance();
  switch (keyword) {
  case TokenKind::KwLet:
    item.kind = Kind::Let;
    item.name = parseName("a value", item.nameRange);
    if (!panic && expect(TokenKind::Assign, "'=' after the name"))
      item.value = parseExpr();
    break;
  case TokenKind::KwInput:
    item.kind = Kind::Input;
    item.name = parseName("an input", item.nameRange);
    if (!panic && expect(TokenKind::Colon, "':' and the type of the input"))
      item.type = parseType();
    break;
  case TokenKind::KwRest:
    parseRest(item);
    break;
  case TokenKind::KwSkip:
    item.kind = Kind::Skip;
    item.value = parseExpr();
    if (panic)
      break;
    if (isWord("under") && following.is(TokenKind::Identifier) && following.text == "max") {
      advance();
      advance();
    } else {
      error(Message::SkipExpectedUnderMax, token.range, token.describe());
    }
    break;
  case TokenKind::KwDense:
    item.kind = Kind::DenseWhen;
    if (!accept(TokenKind::KwWhen))
      error(Message::DenseExpectedWhen, token.range, token.describe());
    else
      item.value = parseExpr();
    break;
  case TokenKind::KwNoncausal:
    item.kind = Kind::Noncausal;
    break;
  case TokenKind::KwLogit:
    item.kind = Kind::Logit;
    item.value = parseExpr();
    break;
  case TokenKind::KwSinkLogit:
    item.kind = Kind::SinkLogit;
    item.value = parseExpr();
    break;
  case TokenKind::KwCompact:
    item.kind = Kind::Compact;
    item.value = parseExpr();
    break;
  default:
    item.kind = Kind::Keep;
    item.value = parseExpr();
    break;
  }
  item.range = rangeFrom(keywordRange.Start);
  // A clause cut short by an error stays, so that its name is known and no "missing" follows.
  bool needsValue =
      item.kind != Kind::Input && item.kind != Kind::Noncausal && item.kind != Kind::RestDrop;
  if (needsValue && !item.value)
    item.value = std::make_unique<ErrorExpr>(item.range);
  if (item.kind == Kind::RestMean && !item.second)
    item.second = std::make_unique<ErrorExpr>(item.range);
  pattern.items.push_back(std::move(item));
  return true;
}

// rest = "rest" ( "drop" | "mean" "(" expr "," expr ")" )
void Parser::parseRest(Item &item) {
  item.kind = Item::Kind::RestDrop;
  if (isWord("drop")) {
    advance();
    return;
  }
  if (!isWord("mean")) {
    error(Message::RestExpected, token.range, token.describe());
    return;
  }
  item.kind = Item::Kind::RestMean;
  llvm::SMLoc start = token.range.Start;
  advance();
  Token open = token;
  if (!accept(TokenKind::LeftParen)) {
    error(Message::RestMeanAxes, rangeFrom(start));
    return;
  }
  std::vector<ExprPtr> parts;
  parseList(open, TokenKind::RightParen, [&] { parts.push_back(parseExpr()); });
  if (parts.size() != 2) {
    error(Message::RestMeanAxes, rangeFrom(start));
    return;
  }
  item.value = std::move(parts[0]);
  item.second = std::move(parts[1]);
}

} // namespace skim::text
