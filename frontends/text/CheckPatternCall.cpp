#include "frontends/text/Checker.h"

#include "frontends/text/Spelling.h"

namespace skim::text {

Value Checker::callPattern(const CallExpr &expr, const Pattern &pattern) {
  if (reportRecursion(expr, pattern))
    return {};
  // Arguments are values of the caller; names inside are those of the called pattern.
  Scope callee{pattern, scope, expr.range, {}, false, {}, {}};
  bindArguments(expr, callee);
  Scope *caller = scope;
  scope = &callee;
  declareNames();
  checkClauses();
  checkItems();
  warnOfUnused();
  scope = caller;

  bool hasDense = llvm::any_of(pattern.items,
                               [](const Item &item) { return item.kind == Item::Kind::DenseWhen; });
  if (!callee.kept || (hasDense && !callee.dense))
    return {};
  if (!hasDense)
    return Value::of(callee.kept);
  // Where its `dense when` holds, a pattern keeps everything.
  return Value::of(builder.disjunction(locationOf(expr), {callee.kept, callee.dense}));
}

bool Checker::reportRecursion(const CallExpr &expr, const Pattern &pattern) {
  bool isRecursive = false;
  for (const Scope *at = scope; at != nullptr && !isRecursive; at = at->caller)
    isRecursive = &at->pattern == &pattern;
  if (!isRecursive)
    return false;
  Diagnostic &diagnostic = diagnostics.report(Message::Recursion, expr.range, pattern.name);
  for (const Scope *at = scope; &at->pattern != &pattern; at = at->caller)
    diagnostic.note(Message::CalledHere, at->callRange);
  return true;
}

void Checker::bindArguments(const CallExpr &expr, Scope &callee) {
  const Pattern &pattern = callee.pattern;
  llvm::SmallVector<llvm::StringRef> names;
  for (const Parameter &parameter : pattern.parameters)
    names.push_back(parameter.name);

  llvm::StringMap<const Argument *> given;
  size_t position = 0;
  for (const Argument &argument : expr.arguments) {
    llvm::StringRef name = argument.label;
    if (name.empty()) {
      if (position == names.size()) {
        diagnostics.report(Message::TooManyArguments, argument.value->range, pattern.name,
                           names.size(), names.size() == 1 ? "" : "s");
        break;
      }
      name = names[position++];
    }
    if (!llvm::is_contained(names, name)) {
      llvm::StringRef meant = closestSpelling(name, names);
      if (meant.empty())
        diagnostics.report(Message::NoSuchParameter, argument.labelRange, pattern.name, name)
            .note(Message::DeclaredHere, pattern.nameRange, pattern.name);
      else
        diagnostics
            .report(Message::MisspelledArgument, argument.labelRange, pattern.name, name, meant)
            .fixIt(argument.labelRange, meant);
      continue;
    }
    auto [first, isNew] = given.try_emplace(name, &argument);
    if (!isNew)
      diagnostics.report(Message::DuplicateArgument, argument.value->range, name)
          .note(Message::FirstHere, first->second->value->range);
  }

  for (const Parameter &parameter : pattern.parameters) {
    Value bound;
    auto argument = given.find(parameter.name);
    if (checkParameterType(parameter)) {
      if (argument != given.end()) {
        bound = argumentFor(parameter, *argument->second->value);
      } else if (parameter.defaultValue) {
        // A default may name the constants among the parameters before it.
        Scope *caller = scope;
        scope = &callee;
        if (std::optional<Constant> value = defaultOf(parameter))
          bound = Value::of(*value);
        scope = caller;
      } else {
        diagnostics.report(Message::MissingArgument, expr.range, parameter.name, pattern.name)
            .note(Message::DeclaredHere, parameter.nameRange, parameter.name);
      }
    }
    Scope *caller = scope;
    scope = &callee;
    declare(parameter.name,
            {Entity::Kind::Parameter, parameter.nameRange, bound, &parameter, false},
            "a parameter");
    scope = caller;
  }
}

Value Checker::argumentFor(const Parameter &parameter, const Expr &expr) {
  Value found = value(expr);
  if (found.isError())
    return {};
  auto element = parameter.type.element;
  bool wantsF32 = element == TypeSyntax::Element::F32;
  llvm::StringRef wanted = wantsF32                                ? "f32"
                           : element == TypeSyntax::Element::Index ? "index"
                                                                   : "bool";
  if (found.constant) {
    if (wantsF32 && found.constant->isIndex())
      return Value::of(Constant::f32(found.constant->number()));
    if (typeName(found.constant->type) == wanted)
      return found;
    diagnostics.report(Message::ArgumentType, expr.range, parameter.name, wanted,
                       typeName(found.constant->type));
    return {};
  }
  if (parameter.isConstexpr) {
    diagnostics.report(Message::ArgumentNotConstant, expr.range, parameter.name)
        .note(Message::DeclaredHere, parameter.nameRange, parameter.name);
    return {};
  }
  auto type = llvm::dyn_cast<ir::MapType>(found.ir.getType());
  if (!type || !type.isUniform()) {
    diagnostics.report(Message::ArgumentNotUniform, expr.range, parameter.name);
    return {};
  }
  if (wantsF32 && type.isIndex())
    return Value::of(builder.toF32(locationOf(expr), found.ir));
  if (toString(type.getElement()) == wanted)
    return found;
  diagnostics.report(Message::ArgumentType, expr.range, parameter.name, wanted,
                     toString(type.getElement()));
  return {};
}

} // namespace skim::text
