#include "frontends/text/Checker.h"

#include "frontends/text/Spelling.h"

#include <cmath>
#include <limits>

namespace skim::text {

namespace {

/// Parameters and inputs of a pattern, those of called patterns included: each becomes an argument
/// of every kernel.
constexpr unsigned maxDeclarations = 1024;

llvm::StringRef clauseName(Item::Kind kind) {
  switch (kind) {
  case Item::Kind::Let:
    return "let";
  case Item::Kind::Input:
    return "input";
  case Item::Kind::Keep:
    return "keep";
  case Item::Kind::RestDrop:
  case Item::Kind::RestMean:
    return "rest";
  case Item::Kind::Skip:
    return "skip";
  case Item::Kind::Logit:
    return "logit";
  case Item::Kind::SinkLogit:
    return "sink_logit";
  case Item::Kind::DenseWhen:
    return "dense when";
  case Item::Kind::Compact:
    return "compact";
  case Item::Kind::Noncausal:
    break;
  }
  return "noncausal";
}

bool declaresName(const Item &item) {
  return item.kind == Item::Kind::Let || item.kind == Item::Kind::Input;
}

llvm::StringRef describe(Entity::Kind kind) {
  switch (kind) {
  case Entity::Kind::Parameter:
    return "parameter";
  case Entity::Kind::Let:
    return "value";
  case Entity::Kind::Input:
    break;
  }
  return "input";
}

Constant::Type constantType(TypeSyntax::Element element) {
  switch (element) {
  case TypeSyntax::Element::Index:
    return Constant::Type::Index;
  case TypeSyntax::Element::F32:
    return Constant::Type::F32;
  default:
    return Constant::Type::Bool;
  }
}

ir::Element irElement(TypeSyntax::Element element) {
  switch (element) {
  case TypeSyntax::Element::Index:
    return ir::Element::Index;
  case TypeSyntax::Element::F32:
    return ir::Element::F32;
  case TypeSyntax::Element::Vec:
    return ir::Element::Vec;
  default:
    return ir::Element::Bool;
  }
}

/// `value` as a constant of `type`; nothing when it is none.
std::optional<Constant> fromNumber(double value, Constant::Type type) {
  switch (type) {
  case Constant::Type::Index:
    // Beyond 2^53 not every integer is a double.
    if (value != std::floor(value) || std::fabs(value) > 9007199254740992.0)
      return std::nullopt;
    return Constant::index(static_cast<int64_t>(value));
  case Constant::Type::F32:
    if (!(std::fabs(value) <= std::numeric_limits<float>::max()))
      return std::nullopt;
    return Constant::f32(value);
  case Constant::Type::Bool:
    if (value != 0 && value != 1)
      return std::nullopt;
    return Constant::boolean(value != 0);
  }
  return std::nullopt;
}

} // namespace

void Checker::checkEntry(const Pattern &pattern, const BuildOptions &options) {
  Scope entry{pattern, nullptr, {}, {}, false, {}, {}};
  scope = &entry;
  types = options.types;
  checkOptions(pattern, options);
  declareParameters(options);
  declareNames();
  checkClauses();
  checkItems();
  warnOfUnused();
  scope = nullptr;
}

void Checker::checkOptions(const Pattern &pattern, const BuildOptions &options) {
  llvm::SmallVector<llvm::StringRef> candidates;
  for (const Parameter &parameter : pattern.parameters)
    candidates.push_back(parameter.name);
  for (const auto &[name, value] : options.constants) {
    const Parameter *found = nullptr;
    for (const Parameter &parameter : pattern.parameters)
      if (parameter.name == name)
        found = &parameter;
    if (found != nullptr && !found->isConstexpr)
      diagnostics.report(Message::SetOfLaunchArgument, found->nameRange, name);
    if (found != nullptr)
      continue;
    llvm::StringRef meant = closestSpelling(name, candidates);
    if (meant.empty())
      diagnostics.report(Message::UnknownParameter, pattern.nameRange, pattern.name, name);
    else
      diagnostics.report(Message::MisspelledParameter, pattern.nameRange, pattern.name, name,
                         meant);
  }
}

bool Checker::checkParameterType(const Parameter &parameter) {
  const TypeSyntax &type = parameter.type;
  if (type.element == TypeSyntax::Element::Vec || type.element == TypeSyntax::Element::List) {
    diagnostics.report(Message::ParameterElement, type.range,
                       type.element == TypeSyntax::Element::Vec ? "vec" : "list", parameter.name);
    return false;
  }
  if (type.axes.empty())
    return true;
  const auto *only = llvm::dyn_cast<NameExpr>(type.axes.front().get());
  if (type.axes.size() > 1 || only == nullptr || only->name != "head") {
    diagnostics.report(Message::ParameterAxes, type.range, parameter.name);
    return false;
  }
  if (parameter.isConstexpr)
    diagnostics.report(Message::ConstexprPerHead, type.range);
  return !parameter.isConstexpr;
}

std::optional<Constant> Checker::defaultOf(const Parameter &parameter) {
  const Expr &expr = *parameter.defaultValue;
  Folded folded = fold(expr);
  if (folded.state == Folded::State::Failed)
    return std::nullopt;
  if (!folded.isConstant()) {
    diagnostics.report(Message::DefaultNotConstant, expr.range, parameter.name);
    return std::nullopt;
  }
  Constant::Type type = constantType(parameter.type.element);
  if (folded.value.type == type)
    return folded.value;
  if (type == Constant::Type::F32 && folded.value.isIndex())
    return Constant::f32(folded.value.number());
  diagnostics.report(Message::DefaultType, expr.range, parameter.name, typeName(type),
                     typeName(folded.value.type));
  return std::nullopt;
}

bool Checker::countDeclaration(llvm::SMRange range) {
  if (++declarations == maxDeclarations + 1)
    diagnostics.report(Message::TooManyDeclarations, range, maxDeclarations);
  return declarations <= maxDeclarations;
}

Value Checker::launchArgument(const Parameter &parameter) {
  if (!countDeclaration(parameter.nameRange))
    return {};
  mlir::TypedAttr attribute;
  if (parameter.defaultValue) {
    std::optional<Constant> value = defaultOf(parameter);
    if (!value)
      return {};
    attribute = value->isIndex() ? builder.indexAttr(value->integer)
                : value->isF32() ? builder.f32Attr(value->real)
                                 : builder.boolAttr(value->integer != 0);
  }
  return Value::of(builder.parameter(locationOf(parameter.nameRange), parameter.name,
                                     irElement(parameter.type.element), attribute,
                                     !parameter.type.axes.empty()));
}

Value Checker::constexprValue(const Parameter &parameter, const BuildOptions &options) {
  auto given = options.constants.find(parameter.name);
  if (given == options.constants.end()) {
    if (parameter.defaultValue) {
      std::optional<Constant> value = defaultOf(parameter);
      return value ? Value::of(*value) : Value();
    }
    diagnostics.report(Message::ConstexprWithoutValue, parameter.nameRange, parameter.name);
    return {};
  }
  Constant::Type type = constantType(parameter.type.element);
  if (std::optional<Constant> value = fromNumber(given->second, type))
    return Value::of(*value);
  diagnostics.report(Message::SetType, parameter.nameRange, parameter.name, typeName(type),
                     numberText(given->second));
  return {};
}

void Checker::declare(llvm::StringRef name, Entity entity, llvm::StringRef what) {
  if (name.empty())
    return;
  if (isBuiltinValue(name) || findFunction(name) != nullptr) {
    diagnostics.report(Message::ReservedName, entity.nameRange, name, what);
    return;
  }
  if (entity.kind == Entity::Kind::Input && isOperandArray(name)) {
    diagnostics.report(Message::ReservedInput, entity.nameRange, name);
    return;
  }
  auto [it, isNew] = scope->entities.insert({name, entity});
  if (!isNew)
    diagnostics.report(Message::DuplicateName, entity.nameRange, name)
        .note(Message::FirstHere, it->second.nameRange);
}

void Checker::declareParameters(const BuildOptions &options) {
  for (const Parameter &parameter : scope->pattern.parameters) {
    Value value;
    // A name that stands twice is reported once, by declare.
    if (scope->find(parameter.name) == nullptr && checkParameterType(parameter))
      value =
          parameter.isConstexpr ? constexprValue(parameter, options) : launchArgument(parameter);
    declare(parameter.name,
            {Entity::Kind::Parameter, parameter.nameRange, value, &parameter, false},
            "a parameter");
    if (Entity *entity = scope->find(parameter.name))
      noteType(*entity);
  }
}

void Checker::declareNames() {
  for (const Item &item : scope->pattern.items) {
    if (!declaresName(item))
      continue;
    bool isLet = item.kind == Item::Kind::Let;
    declare(item.name,
            {isLet ? Entity::Kind::Let : Entity::Kind::Input, item.nameRange, {}, nullptr, false},
            isLet ? "a value" : "an input");
  }
}

void Checker::checkClauses() {
  bool isCalled = scope->caller != nullptr;
  const Pattern &pattern = scope->pattern;
  llvm::StringMap<llvm::SMRange> seen;
  for (const Item &item : pattern.items) {
    if (declaresName(item))
      continue;
    llvm::StringRef name = clauseName(item.kind);
    if (isCalled && item.kind != Item::Kind::Keep && item.kind != Item::Kind::DenseWhen)
      diagnostics.report(Message::ClauseOfCalled, item.range, name, pattern.name)
          .note(Message::CalledHere, scope->callRange);
    auto [first, isNew] = seen.try_emplace(name, item.range);
    if (!isNew)
      diagnostics
          .report(item.kind == Item::Kind::Keep ? Message::DuplicateKeep : Message::DuplicateClause,
                  item.range, name)
          .note(Message::FirstHere, first->second);
  }
  if (!seen.contains("keep"))
    diagnostics.report(Message::MissingKeep, pattern.nameRange, pattern.name);
}

void Checker::checkItems() {
  llvm::StringMap<bool> seen;
  for (const Item &item : scope->pattern.items) {
    if (!countExpression(item.range))
      return;
    if (!declaresName(item)) {
      // A second clause of a kind was reported.
      if (seen.try_emplace(clauseName(item.kind)).second)
        checkClause(item);
      continue;
    }
    Entity *entity = scope->find(item.name);
    // A second declaration of a name was reported.
    if (entity == nullptr || entity->nameRange.Start != item.nameRange.Start)
      continue;
    if (item.kind == Item::Kind::Input) {
      checkInput(item);
      noteType(*entity);
      continue;
    }
    entity->value = value(*item.value);
    noteType(*entity);
  }
}

void Checker::checkInput(const Item &item) {
  Entity *entity = scope->find(item.name);
  entity->value = Value();
  std::optional<ir::Axes> axes = inputAxes(item.type);
  if (!axes || !countDeclaration(item.nameRange))
    return;
  mlir::Location loc = locationOf(item.nameRange);
  if (item.type.element != TypeSyntax::Element::List) {
    entity->value = Value::of(builder.input(loc, item.name, irElement(item.type.element), *axes));
    return;
  }
  if (axes->key == 0) {
    diagnostics.report(Message::ListWithoutKeys, item.type.range);
    return;
  }
  entity->value = Value::of(builder.inputList(loc, item.name, *axes));
}

void Checker::checkClause(const Item &item) {
  mlir::Location loc = locationOf(item.value ? item.value->range : item.range);
  bool isCalled = scope->caller != nullptr;
  switch (item.kind) {
  case Item::Kind::Keep:
    scope->kept = set(*item.value);
    if (!isCalled && scope->kept)
      builder.keep(loc, scope->kept);
    return;
  case Item::Kind::DenseWhen:
    scope->dense = set(*item.value);
    if (!isCalled && scope->dense)
      builder.denseWhen(loc, scope->dense);
    return;
  default:
    break;
  }
  // The rest stands in the pattern that is built only.
  if (isCalled)
    return;
  switch (item.kind) {
  case Item::Kind::RestMean:
    checkRest(item);
    break;
  case Item::Kind::Skip:
    builder.skip(loc, map(*item.value));
    break;
  case Item::Kind::Logit:
    scope->inLogit = true;
    builder.logit(loc, map(*item.value));
    scope->inLogit = false;
    break;
  case Item::Kind::SinkLogit:
    builder.sinkLogit(loc, map(*item.value));
    break;
  case Item::Kind::Compact:
    builder.compact(loc, set(*item.value));
    break;
  case Item::Kind::Noncausal:
    builder.noncausal(loc);
    break;
  default:
    break;
  }
}

void Checker::checkRest(const Item &item) {
  std::optional<int64_t> keyBlock = blockSize(*item.value);
  std::optional<AxisSyntax> tile = axis(*item.second);
  if (tile && tile->kind != AxisSyntax::Kind::Query) {
    diagnostics.report(Message::RestQueryAxis, item.second->range);
    return;
  }
  if (keyBlock && tile)
    builder.restMean(locationOf(item.range), *keyBlock, tile->block);
}

void Checker::warnOfUnused() {
  if (diagnostics.errorCount() != errorsBefore)
    return;
  for (const auto &[name, entity] : scope->entities)
    if (!entity.isUsed)
      diagnostics.report(Message::Unused, entity.nameRange, describe(entity.kind), name);
}

} // namespace skim::text
