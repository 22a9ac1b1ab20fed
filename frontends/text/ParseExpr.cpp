#include "frontends/text/ParserImpl.h"

#include "llvm/ADT/ScopeExit.h"

#include <algorithm>

namespace skim::text {

namespace {

llvm::StringRef closingText(TokenKind close) {
  switch (close) {
  case TokenKind::RightParen:
    return ")";
  case TokenKind::RightBracket:
    return "]";
  default:
    return "}";
  }
}

std::optional<BinaryOp> comparisonOp(TokenKind kind) {
  switch (kind) {
  case TokenKind::Less:
    return BinaryOp::Lt;
  case TokenKind::LessEqual:
    return BinaryOp::Le;
  case TokenKind::Greater:
    return BinaryOp::Gt;
  case TokenKind::GreaterEqual:
    return BinaryOp::Ge;
  case TokenKind::EqualEqual:
    return BinaryOp::Eq;
  case TokenKind::NotEqual:
    return BinaryOp::Ne;
  default:
    return std::nullopt;
  }
}

} // namespace

ExprPtr Parser::errorExpr() { return std::make_unique<ErrorExpr>(token.range); }

ExprPtr Parser::bounded(ExprPtr expr, unsigned childHeight) {
  expr->height = childHeight + 1;
  if (expr->height <= maxExprHeight)
    return expr;
  error(Message::TooDeep, expr->range, maxExprHeight);
  return std::make_unique<ErrorExpr>(expr->range);
}

ExprPtr Parser::makeBinary(BinaryOp op, llvm::SMLoc opLoc, ExprPtr lhs, ExprPtr rhs) {
  llvm::SMRange range(lhs->range.Start, rhs->range.End);
  unsigned height = std::max(lhs->height, rhs->height);
  return bounded(std::make_unique<BinaryExpr>(range, op, opLoc, std::move(lhs), std::move(rhs)),
                 height);
}

// expr = or { "where" or }
ExprPtr Parser::parseExpr() {
  // Every way down to a nested expression passes here, `parseUnary` or `parseNot`.
  ++depth;
  llvm::scope_exit leave([&] { --depth; });
  if (depth > maxExprHeight) {
    error(Message::TooDeep, token.range, maxExprHeight);
    return errorExpr();
  }
  ExprPtr value = parseOr();
  while (!panic && accept(TokenKind::KwWhere)) {
    ExprPtr set = parseOr();
    llvm::SMRange range(value->range.Start, set->range.End);
    unsigned height = std::max(value->height, set->height);
    value = bounded(std::make_unique<WhereExpr>(range, std::move(value), std::move(set)), height);
  }
  return value;
}

// or = and { "or" and }
ExprPtr Parser::parseOr() {
  ExprPtr lhs = parseAnd();
  while (!panic && token.is(TokenKind::KwOr)) {
    llvm::SMLoc opLoc = token.range.Start;
    advance();
    lhs = makeBinary(BinaryOp::Or, opLoc, std::move(lhs), parseAnd());
  }
  return lhs;
}

// and = not { "and" not }
ExprPtr Parser::parseAnd() {
  ExprPtr lhs = parseNot();
  while (!panic && token.is(TokenKind::KwAnd)) {
    llvm::SMLoc opLoc = token.range.Start;
    advance();
    lhs = makeBinary(BinaryOp::And, opLoc, std::move(lhs), parseNot());
  }
  return lhs;
}

ExprPtr Parser::parsePrefix(UnaryOp op, ExprPtr (Parser::*parseOperand)()) {
  ++depth;
  llvm::scope_exit leave([&] { --depth; });
  if (depth > maxExprHeight) {
    error(Message::TooDeep, token.range, maxExprHeight);
    return errorExpr();
  }
  llvm::SMLoc start = token.range.Start;
  advance();
  ExprPtr operand = (this->*parseOperand)();
  unsigned height = operand->height;
  return bounded(
      std::make_unique<UnaryExpr>(llvm::SMRange(start, operand->range.End), op, std::move(operand)),
      height);
}

// not = "not" not | comparison
ExprPtr Parser::parseNot() {
  return token.is(TokenKind::KwNot) ? parsePrefix(UnaryOp::Not, &Parser::parseNot)
                                    : parseComparison();
}

// comparison = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum ]
ExprPtr Parser::parseComparison() {
  ExprPtr lhs = parseSum();
  bool assignment = !panic && token.is(TokenKind::Assign);
  if (assignment)
    diagnostics.report(Message::AssignmentInExpression, token.range).fixIt(token.range, "==");
  std::optional<BinaryOp> op = assignment ? BinaryOp::Eq : comparisonOp(token.kind);
  if (panic || !op)
    return lhs;
  Token opToken = token;
  advance();
  ExprPtr comparison = makeBinary(*op, opToken.range.Start, std::move(lhs), parseSum());
  if (!panic && comparisonOp(token.kind))
    error(Message::ChainedComparison, token.range, opToken.text, token.text);
  return comparison;
}

// sum = term { ( "+" | "-" ) term }
ExprPtr Parser::parseSum() {
  ExprPtr lhs = parseTerm();
  while (!panic && (token.is(TokenKind::Plus) || token.is(TokenKind::Minus))) {
    BinaryOp op = token.is(TokenKind::Plus) ? BinaryOp::Add : BinaryOp::Sub;
    llvm::SMLoc opLoc = token.range.Start;
    advance();
    lhs = makeBinary(op, opLoc, std::move(lhs), parseTerm());
  }
  return lhs;
}

// term = unary { ( "*" | "/" | "%" ) unary }
ExprPtr Parser::parseTerm() {
  ExprPtr lhs = parseUnary();
  while (!panic && (token.is(TokenKind::Star) || token.is(TokenKind::Slash) ||
                    token.is(TokenKind::Percent))) {
    BinaryOp op = token.is(TokenKind::Star)    ? BinaryOp::Mul
                  : token.is(TokenKind::Slash) ? BinaryOp::Div
                                               : BinaryOp::Mod;
    llvm::SMLoc opLoc = token.range.Start;
    advance();
    lhs = makeBinary(op, opLoc, std::move(lhs), parseUnary());
  }
  return lhs;
}

// unary = "-" unary | primary
ExprPtr Parser::parseUnary() {
  return token.is(TokenKind::Minus) ? parsePrefix(UnaryOp::Negate, &Parser::parseUnary)
                                    : parsePrimary();
}

// primary = NUMBER | "true" | "false" | NAME | call | "(" expr { "," expr } ")" | match
ExprPtr Parser::parsePrimary() {
  Token first = token;
  switch (token.kind) {
  case TokenKind::Number:
    advance();
    return std::make_unique<NumberExpr>(first.range, first.value, first.integer);
  case TokenKind::KwTrue:
  case TokenKind::KwFalse:
    advance();
    return std::make_unique<BoolExpr>(first.range, first.is(TokenKind::KwTrue));
  case TokenKind::Identifier:
    advance();
    if (token.is(TokenKind::LeftParen))
      return parseCall(first);
    return std::make_unique<NameExpr>(first.range, first.text.str());
  case TokenKind::LeftParen:
    return parseParenthesis();
  case TokenKind::KwMatch:
    return parseMatch();
  default:
    error(Message::ExpectedExpression, token.range, token.describe());
    return errorExpr();
  }
}

void Parser::parseList(const Token &open, TokenKind close, llvm::function_ref<void()> element) {
  if (!token.is(close)) {
    do {
      element();
      if (!panic && !token.is(TokenKind::Comma) && !token.is(close))
        expectClose(open, close);
      if (panic)
        skipInList();
      if (token.is(TokenKind::Comma) || token.is(close))
        panic = false;
    } while (!panic && accept(TokenKind::Comma));
  }
  expectClose(open, close);
}

bool Parser::expectClose(const Token &open, TokenKind close) {
  if (accept(close))
    return true;
  error(Message::UnclosedBracket, token.range, closingText(close), token.describe())
      .note(Message::OpenedHere, open.range, open.text);
  return false;
}

// call = NAME "(" [ argument { "," argument } ] ")"
ExprPtr Parser::parseCall(const Token &callee) {
  Token open = token;
  advance();
  std::vector<Argument> arguments;
  llvm::StringRef lastLabel;
  unsigned height = 0;
  parseList(open, TokenKind::RightParen, [&] {
    arguments.push_back(parseArgument(lastLabel));
    height = std::max(height, arguments.back().value->height);
  });
  return bounded(std::make_unique<CallExpr>(rangeFrom(callee.range.Start), callee.text.str(),
                                            callee.range, std::move(arguments)),
                 height);
}

// argument = [ NAME ":" ] expr
Argument Parser::parseArgument(llvm::StringRef &lastLabel) {
  Argument argument;
  bool named = token.is(TokenKind::Identifier) || token.isKeyword();
  if (named && (following.is(TokenKind::Colon) || following.is(TokenKind::Assign))) {
    if (following.is(TokenKind::Assign))
      diagnostics
          .report(Message::AssignmentInCall, {token.range.Start, following.range.End}, token.text)
          .fixIt({token.range.End, following.range.End}, ":");
    argument.label = token.text.str();
    argument.labelRange = token.range;
    lastLabel = token.text;
    advance();
    advance();
  } else if (!lastLabel.empty()) {
    diagnostics.report(Message::PositionalAfterNamed, token.range, lastLabel);
  }
  argument.value = parseExpr();
  return argument;
}

ExprPtr Parser::parseParenthesis() {
  Token open = token;
  advance();
  std::vector<ExprPtr> elements;
  unsigned height = 0;
  auto element = [&] {
    elements.push_back(parseExpr());
    height = std::max(height, elements.back()->height);
  };
  if (token.is(TokenKind::RightParen))
    element(); // Reports that an expression is missing.
  parseList(open, TokenKind::RightParen, element);
  if (elements.size() == 1)
    return std::move(elements.front());
  return bounded(std::make_unique<TupleExpr>(rangeFrom(open.range.Start), std::move(elements)),
                 height);
}

// match = "match" or "{" { label ":" expr [ "," ] } "}"
ExprPtr Parser::parseMatch() {
  llvm::SMLoc start = token.range.Start;
  llvm::SMRange keyword = token.range;
  advance();
  ExprPtr selector = parseOr();
  Token open = token;
  std::vector<MatchExpr::Arm> arms;
  if (expect(TokenKind::LeftBrace, "'{' and the arms of 'match'")) {
    while (!panic && !token.is(TokenKind::RightBrace) && !token.is(TokenKind::EndOfFile) &&
           !atClause()) {
      parseArm(arms);
      accept(TokenKind::Comma);
    }
    if (panic)
      skipToClose();
    expectClose(open, TokenKind::RightBrace);
    if (!panic && arms.empty())
      diagnostics.report(Message::MatchWithoutArms, keyword);
    else if (!panic && llvm::none_of(arms, [](const MatchExpr::Arm &arm) { return arm.label; }))
      diagnostics.report(Message::MatchWithoutLabel, arms.front().labelRange);
  }
  unsigned height = selector->height;
  for (const MatchExpr::Arm &arm : arms)
    height = std::max(height, arm.value->height);
  return bounded(
      std::make_unique<MatchExpr>(rangeFrom(start), std::move(selector), std::move(arms)), height);
}

void Parser::parseArm(std::vector<MatchExpr::Arm> &arms) {
  MatchExpr::Arm arm;
  if (token.is(TokenKind::Minus) && following.is(TokenKind::Number)) {
    diagnostics.report(Message::NegativeLabel, {token.range.Start, following.range.End});
    advance();
  }
  arm.labelRange = token.range;
  if (token.is(TokenKind::Number) && token.integer) {
    arm.label = token.integer;
  } else if (!isWord("_")) {
    error(Message::ExpectedLabel, token.range, token.describe());
    return;
  }
  advance();
  expect(TokenKind::Colon, "':' after the label");
  arm.value = parseExpr();
  arms.push_back(std::move(arm));
}

} // namespace skim::text
