// The C++ front end: writes patterns as C++ calls.
//
// A pattern is a relation between query positions q and key positions k. `PatternBuilder` has one
// function for each thing that the language can say; each checks the type rules, adds one operation
// to the pattern, and returns its value:
//
//   // Attention sinks and a sliding window.
//   PatternBuilder p(module, loc, "streaming");
//   Value sink = p.parameter(loc, "sink", Element::Index, p.indexAttr(64));
//   Value window = p.parameter(loc, "window", Element::Index, p.indexAttr(4096));
//   Value q = p.queryPosition(loc), k = p.keyPosition(loc);
//   p.keep(loc, p.disjunction(loc, {p.compare(loc, Comparison::Lt, k, sink),
//                                   p.compare(loc, Comparison::Lt, p.sub(loc, q, k), window)}));
//   FailureOr<ir::PatternOp> pattern = p.finish(loc);
//
// Values. A value is a *map* (a function of axes: positions, blocks of positions, heads) or a *set*
// of pairs (q, k); its MLIR type, `!skim.map<head, q / 128, k : f32>` or `!skim.set<q - k>`, says
// which, with its axes and element type. Numbers, parameters and lengths are maps without position
// axes, *uniform* values. Where a set is expected, a bool map is taken as the pairs at which it is
// true; where f32 is expected, index is converted; where index is expected, f32 is an error.
//
// Axes. Two maps meet when each axis is equal or absent on one side; an absent axis broadcasts.
// Different block sizes of one axis are an error: `reduce` one side into the blocks of the other.
// Sets of any granularity combine.
//
// Positions. `queryPosition` and `keyPosition` are q and k. They take `add`, `sub`, and `mul`,
// `div` (floors) and `mod` (never negative) by constants. Comparisons of such expressions with each
// other and with uniform index values, run-time parameters included, become exact integer sets that
// the compiler solves in closed form.
//
// Errors. A wrong call reports at its location, through the MLIR context's diagnostic engine, with
// a note that suggests a repair, and returns a null value. A null operand gives a null result
// without a further report, so one run reports every independent error. `finish` fails when
// anything was reported.
#ifndef SKIM_FRONTENDS_CPP_BUILDER_H
#define SKIM_FRONTENDS_CPP_BUILDER_H

#include "dialect/Skim/IndexBounds.h"
#include "dialect/Skim/SkimOps.h"
#include "dialect/Skim/TypeRules.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <initializer_list>

namespace skim {

/// An axis, as `over:` and `into:` name it.
struct Axis {
  enum class Kind {
    Query,    ///< q, or q / block
    Key,      ///< k, or k / block
    Diagonal, ///< q - k
    Group,    ///< the query heads of one KV head
    Heads,    ///< all heads
  };

  static Axis query(int64_t block = 1) { return {Kind::Query, block}; }
  static Axis key(int64_t block = 1) { return {Kind::Key, block}; }
  static Axis diagonal() { return {Kind::Diagonal, 1}; }
  static Axis group() { return {Kind::Group, 1}; }
  static Axis heads() { return {Kind::Heads, 1}; }

  Kind kind;
  /// Positions in a block, at least 1.
  int64_t block = 1;
};

class PatternBuilder {
public:
  using Value = mlir::Value;
  using Location = mlir::Location;
  using ValueList = llvm::ArrayRef<mlir::Value>;
  using AxisList = llvm::ArrayRef<Axis>;

  /// Starts a pattern at the end of `module`, whose context must have the `skim` dialect loaded.
  /// The caller sees to it that the name is new in the module.
  PatternBuilder(mlir::ModuleOp module, Location loc, llvm::StringRef name);
  /// Erases the pattern unless it was finished.
  ~PatternBuilder();
  PatternBuilder(const PatternBuilder &) = delete;
  PatternBuilder &operator=(const PatternBuilder &) = delete;

  //===-- Values that the caller gives
  //----------------------------------------------------------===//

  /// A launch-time parameter: index, f32 or bool, one value or one for each query head. Without a
  /// default (null) each launch must give it; a default holds for all heads.
  Value parameter(Location loc, llvm::StringRef name, ir::Element element,
                  mlir::TypedAttr defaultValue = {}, bool perHead = false);
  mlir::TypedAttr indexAttr(int64_t value) { return builder.getIndexAttr(value); }
  mlir::TypedAttr f32Attr(double value) {
    return builder.getF32FloatAttr(static_cast<float>(value));
  }
  mlir::TypedAttr boolAttr(bool value) { return builder.getBoolAttr(value); }

  /// An array of `element` over `axes`. Inputs of one name must agree in type and are one array.
  Value input(Location loc, llvm::StringRef name, ir::Element element, const ir::Axes &axes);
  /// Lists of key-block indices, one for each value of the other axes: a set.
  Value inputList(Location loc, llvm::StringRef name, const ir::Axes &axes);

  //===-- Leaves
  //--------------------------------------------------------------------------------===//

  Value constant(Location loc, mlir::TypedAttr value);
  Value indexConstant(Location loc, int64_t value) { return constant(loc, indexAttr(value)); }
  Value f32Constant(Location loc, double value) { return constant(loc, f32Attr(value)); }
  Value boolConstant(Location loc, bool value) { return constant(loc, boolAttr(value)); }
  /// q and k.
  Value queryPosition(Location loc);
  Value keyPosition(Location loc);
  /// `q_len`, `kv_len`, `layer`, `head`, `kv_head`.
  Value uniform(Location loc, ir::UniformKind kind);
  /// `Q`, `K`, `V`.
  Value operand(Location loc, ir::OperandKind kind);
  /// The scaled product of a pair: the s of a `logit` expression, and of nothing else.
  Value score(Location loc);

  //===-- Arithmetic
  //----------------------------------------------------------------------------===//
  // On positions (see above), index, f32 and vectors; index beside f32 becomes f32, a number beside
  // a vector meets each element. Constants are evaluated at once.

  Value add(Location loc, Value lhs, Value rhs);
  Value sub(Location loc, Value lhs, Value rhs);
  Value mul(Location loc, Value lhs, Value rhs);
  /// Rounds down on index.
  Value div(Location loc, Value lhs, Value rhs);
  /// Index only; not negative.
  Value mod(Location loc, Value lhs, Value rhs);
  Value minimum(Location loc, Value lhs, Value rhs);
  Value maximum(Location loc, Value lhs, Value rhs);
  Value neg(Location loc, Value value);
  Value abs(Location loc, Value value);
  Value relu(Location loc, Value value);
  /// Index operands become f32.
  Value exp(Location loc, Value value);
  Value log(Location loc, Value value);
  Value tanh(Location loc, Value value);
  /// Index to f32; f32 as it is.
  Value toF32(Location loc, Value value);

  //===-- Maps
  //----------------------------------------------------------------------------------===//

  /// The last `count` rows of the call; the others are undefined.
  Value last(Location loc, Value map, Value count);
  /// Contracts vectors; `scale` null means the softmax scale of the call.
  Value dot(Location loc, Value lhs, Value rhs, Value scale = {},
            ir::Visibility visible = ir::Visibility::All);
  /// `scale` for fp8 only, 1 when null.
  Value cast(Location loc, ir::CastKind kind, Value map, Value scale = {});
  /// `weight` is an input of vectors without position axes: a matrix with one more extent in front,
  /// the output dimension.
  Value linear(Location loc, Value map, Value weight);
  Value softmax(Location loc, Value map, Axis over);
  /// Centred mean of `width` (odd) cells along the key axis.
  Value smooth(Location loc, Value map, Value width);
  /// `over` removes axes, `into` coarsens them or gathers diagonals; all at once.
  Value reduce(Location loc, ir::ReduceKind kind, Value map, AxisList over, AxisList into);
  /// Leaves the cells outside `set` undefined.
  Value where(Location loc, Value map, Value set);

  //===-- Sets
  //----------------------------------------------------------------------------------===//

  Value compare(Location loc, ir::Comparison predicate, Value lhs, Value rhs);
  /// The n cells with the largest values along the selection axis: the key axis, else `q - k`.
  /// `count` is a uniform index or f32.
  Value topK(Location loc, Value map, Value count);
  /// The fewest largest cells that hold the share `mass` of the sum.
  Value topP(Location loc, Value map, Value mass);
  /// Whole blocks of `queryBlock` x `keyBlock` positions that hold a visible pair of `set`; without
  /// a query block each row decides for itself.
  Value cover(Location loc, Value set, std::optional<int64_t> queryBlock, int64_t keyBlock);
  /// `and`, `or`, `not`.
  Value conjunction(Location loc, ValueList sets);
  Value disjunction(Location loc, ValueList sets);
  Value complement(Location loc, Value set);
  /// The arm whose label equals `selector` (uniform or per head), else `otherwise` (may be null:
  /// `hasOtherwise` false).
  Value match(Location loc, Value selector, llvm::ArrayRef<int64_t> labels, ValueList arms,
              Value otherwise = {});
  /// A set as it is, a bool map as the pairs at which it is true; anything else is an error.
  Value toSet(Location loc, Value value);

  //===-- Clauses
  //-------------------------------------------------------------------------------===//
  // Each at most once, except that several `denseWhen` hold where any of them does.

  void keep(Location loc, Value set);
  /// Key blocks of which no row of a query tile keeps anything enter as means.
  void restMean(Location loc, int64_t keyBlock, int64_t queryTile);
  /// Permission to drop tiles that lie `threshold` nats under the row's maximum.
  void skip(Location loc, Value threshold);
  void logit(Location loc, Value value);
  void sinkLogit(Location loc, Value value);
  void denseWhen(Location loc, Value condition);
  void compact(Location loc, Value set);
  void noncausal(Location loc);

  /// Ends the pattern: checks what concerns the whole of it, warns of what is legal and costly, and
  /// gives up the pattern when anything was reported.
  mlir::FailureOr<ir::PatternOp> finish(Location loc);

  //===-- Constants
  //-----------------------------------------------------------------------------===//
  // The value of a constant expression, for block sizes and labels; nothing for any other value.

  static std::optional<int64_t> getConstantIndex(Value value);
  static std::optional<double> getConstantF32(Value value);
  static std::optional<bool> getConstantBool(Value value);

private:
  // Each reports, marks the pattern as wrong, and returns null.
  Value fail(Location loc, const llvm::Twine &message, const llvm::Twine &suggestion = "");
  Value fail(Location loc, const ir::RuleViolation &why);

  Value failTooLarge(Location loc);
  Value failTooLong(Location loc);

  // `what` says in a report what was expected. Each returns null after a report, and for a null
  // value.
  ir::MapType asMap(Location loc, Value value, llvm::StringRef what);
  ir::MapType asVectors(Location loc, Value value, llvm::StringRef function);
  Value toReal(Location loc, Value value, llvm::StringRef what);
  Value toRealOrVectors(Location loc, Value value, llvm::StringRef what);
  Value toUniform(Location loc, Value value, ir::Element element, llvm::StringRef what);
  /// Converts the index side of an index and an f32.
  mlir::LogicalResult unify(Location loc, Value &lhs, Value &rhs);

  Value declareInput(Location loc, llvm::StringRef name, mlir::Type type,
                     llvm::function_ref<Value()> create);
  Value position(Location loc, mlir::AffineExprKind kind, mlir::AffineExpr lhs,
                 mlir::AffineExpr rhs, ValueList symbols);
  template <typename OpT> Value arithmetic(Location loc, Value lhs, Value rhs);
  template <typename OpT> Value unary(Location loc, Value value, bool onIndex);
  bool checkAxis(Location loc, const ir::Axes &axes, const Axis &axis);
  std::optional<ir::Axes> getReducedAxes(Location loc, const ir::Axes &axes, AxisList over,
                                         AxisList into);
  Value compareCases(Location loc, ir::Comparison predicate, Value lhs, Value rhs);
  Value compareAffine(Location loc, ir::Comparison predicate, Value lhs, Value rhs);
  Value combine(Location loc, ValueList sets, bool isAnd);
  /// Reports a second clause of a kind.
  template <typename ClauseT> bool isFirst(Location loc, llvm::StringRef name);

  mlir::OpBuilder builder;
  ir::IndexBounds bounds;
  ir::PatternOp pattern;
  mlir::Value denseCondition;
  bool finished = false;
  bool hasErrors = false;
  bool keepWasGiven = false;
};

} // namespace skim

#endif // SKIM_FRONTENDS_CPP_BUILDER_H
