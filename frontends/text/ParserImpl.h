// The recursive-descent parser; only the sources of the parser include this.
#ifndef SKIM_FRONTENDS_TEXT_PARSERIMPL_H
#define SKIM_FRONTENDS_TEXT_PARSERIMPL_H

#include "frontends/text/Ast.h"
#include "frontends/text/Lexer.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace skim::text {

class Parser {
public:
  Parser(unsigned buffer, Diagnostics &diagnostics);

  // ParsePattern.cpp
  File parseFile();

private:
  void parseImport(File &file);
  std::unique_ptr<Pattern> parsePattern();
  void parseParameter(Pattern &pattern);
  TypeSyntax parseType();
  void parseBody(Pattern &pattern, const Token &open);
  bool parseItem(Pattern &pattern);
  void parseRest(Item &item);
  void reportNoClause();
  /// A name after `what` ("a pattern", "an input"); empty after an error.
  std::string parseName(llvm::StringRef what, llvm::SMRange &range);

  // ParseExpr.cpp
  ExprPtr parseExpr();
  ExprPtr parseOr();
  ExprPtr parseAnd();
  ExprPtr parseNot();
  ExprPtr parseComparison();
  ExprPtr parseSum();
  ExprPtr parseTerm();
  ExprPtr parseUnary();
  /// An operator before its operand, at the operator.
  ExprPtr parsePrefix(UnaryOp op, ExprPtr (Parser::*parseOperand)());
  ExprPtr parsePrimary();
  ExprPtr parseCall(const Token &callee);
  Argument parseArgument(llvm::StringRef &lastLabel);
  ExprPtr parseParenthesis();
  ExprPtr parseMatch();
  void parseArm(std::vector<MatchExpr::Arm> &arms);
  ExprPtr makeBinary(BinaryOp op, llvm::SMLoc opLoc, ExprPtr lhs, ExprPtr rhs);
  /// Sets the height from the children; an ErrorExpr when it is over the limit.
  ExprPtr bounded(ExprPtr expr, unsigned childHeight);
  ExprPtr errorExpr();

  /// Reads `element` separated by commas up to `close`, which it consumes; `open` is the
  /// bracket already consumed.
  void parseList(const Token &open, TokenKind close, llvm::function_ref<void()> element);

  // Parser.cpp: tokens, and the way back after an error.
  void advance();
  bool accept(TokenKind kind);
  /// Reports "expected X but got Y" unless the token is there.
  bool expect(TokenKind kind, llvm::StringRef what);
  bool expectClose(const Token &open, TokenKind close);
  bool isWord(llvm::StringRef word) const {
    return token.is(TokenKind::Identifier) && token.text == word;
  }
  llvm::SMRange rangeFrom(llvm::SMLoc start) const { return {start, previousEnd}; }

  // After an error, further ones are kept back until the parser has found its way again.
  template <typename... Args>
  Diagnostic &error(Message message, llvm::SMRange range, Args &&...args) {
    if (panic || stopped)
      return ignored = {};
    panic = true;
    return diagnostics.report(message, range, std::forward<Args>(args)...);
  }
  bool atClause() const;
  /// Skips to the next clause, the end of the pattern or the next pattern.
  void skipToClause();
  /// Skips to the next pattern or import.
  void skipToPattern();
  /// Skips to a comma, a closing bracket or the next clause.
  void skipInList();
  /// Skips to the brace that closes the arms of a `match`, or the next clause.
  void skipToClose();

  Diagnostics &diagnostics;
  Lexer lexer;
  Token token, following;
  llvm::SMLoc previousEnd;
  Diagnostic ignored;
  unsigned depth = 0;
  bool panic = false;
  /// Enough errors stand; the rest of the file reads as its end.
  bool stopped = false;
};

} // namespace skim::text

#endif // SKIM_FRONTENDS_TEXT_PARSERIMPL_H
