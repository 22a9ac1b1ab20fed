#include "CaseShape.h"

#include "reference/Request.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace skim::numerics {

using reference::Axes;
using reference::HeadAxis;
using reference::InputValue;
using reference::Problem;
using reference::Request;
using reference::Tokens;

/// Multiply-adds of dense attention that a case may cost at most.
constexpr int64_t maxWork = 60'000'000;

/// The nearest number of `bits` significant bits; ample exponents.
static double roundTo(double value, int bits) {
  if (value == 0)
    return 0;
  double spacing = std::ldexp(1.0, std::ilogb(value) - (bits - 1));
  return std::nearbyint(value / spacing) * spacing;
}

static double exactIn(OperandType type, double value) {
  switch (type) {
  case OperandType::f32:
    return static_cast<float>(value);
  case OperandType::bf16:
    return roundTo(value, 8);
  case OperandType::f16:
    // Subnormal below 2^-14.
    return std::abs(value) < 0x1p-14 ? 0 : roundTo(value, 11);
  }
  return value;
}

void drawOperands(Case &result, Random &random) {
  Problem &problem = result.problem;
  for (Tokens *operand : {&problem.q, &problem.k, &problem.v}) {
    operand->data.resize(operand->tokens * operand->heads * operand->dim);
    for (double &x : operand->data)
      x = exactIn(result.operand, random.normal());
  }
}

static int64_t drawLength(Random &random, int64_t longest) {
  if (random.chance(0.08))
    return 0;
  if (random.chance(0.1))
    return random.pick<int64_t>({1, 2, 63, 64, 65, 127, 128, 129});
  return random.between(1, longest);
}

void drawShape(Case &result, Random &random) {
  bool onGpu = result.profile == Profile::hopper;
  result.operand = onGpu ? random.pick({OperandType::bf16, OperandType::bf16, OperandType::f16})
                         : random.pick({OperandType::f32, OperandType::bf16, OperandType::f16});
  result.pageSize = onGpu ? random.pick<int64_t>({0, 0, 0, 1, 8, 16, 32, 64, 128, 256})
                          : random.pick<int64_t>({0, 0, 1, 2, 7, 16, 32, 48, 64, 128});
  Problem &problem = result.problem;
  int64_t ratio = random.pick<int64_t>({1, 1, 2, 3, 4, 5, 6, 7, 7, 8});
  int64_t kvHeads = random.between(1, ratio > 4 ? 2 : 3);
  int64_t dim =
      onGpu ? random.pick<int64_t>({32, 64, 64, 96, 96, 128, 128, 128, 160, 192, 256})
            : random.pick<int64_t>({32, 32, 48, 64, 64, 80, 96, 112, 128, 128, 160, 192, 256});
  int64_t valueDim = dim;
  if (onGpu && dim == 192)
    valueDim = random.pick<int64_t>({128, 192});
  else if (onGpu && random.chance(0.15))
    valueDim = random.pick<int64_t>({32, 64, 96, 128, 224, 256});
  else if (!onGpu && random.chance(0.25))
    valueDim = random.pick<int64_t>({32, 48, 64, 80, 96, 128, 256});
  int64_t longest = random.pick<int64_t>({40, 150, 300, 700});
  int64_t requests = random.pick<int64_t>({1, 1, 2, 3, 4});

  int64_t work = 0, tokens = 0, keys = 0;
  for (int64_t i = 0; i < requests; ++i) {
    int64_t kvLen = drawLength(random, longest), qLen = kvLen;
    if (random.chance(0.35))
      qLen = kvLen ? random.between(1, kvLen) : 0;
    else if (random.chance(0.15))
      qLen = kvLen + random.between(1, 40);
    else if (random.chance(0.08))
      qLen = 0;
    work += qLen * kvLen * kvHeads * ratio * (dim + valueDim);
    if (work > maxWork)
      qLen = std::min<int64_t>(qLen, 17);
    tokens += qLen;
    keys += kvLen;
    problem.cuSeqlensQ.push_back(tokens);
    problem.kvLens.push_back(kvLen);
  }
  problem.layer = random.between(0, 5);
  if (random.chance(0.2))
    problem.softmaxScale = static_cast<float>(random.pick({0.0625, 0.1, 0.25}));
  problem.q = {tokens, kvHeads * ratio, dim, {}};
  problem.k = {keys, kvHeads, dim, {}};
  problem.v = {keys, kvHeads, valueDim, {}};
}

namespace {

/// The cells of an input's axes over the whole batch.
struct Extents {
  bool hasRequests = false;
  int64_t requests = 1, heads = 1, queries = 1, keys = 1;
  int64_t longest = 0; ///< The longest kv_len.
};

Extents extentsOf(const Problem &problem, Random &random, const InputAxes &axes) {
  Extents extents;
  extents.requests = problem.kvLens.size();
  extents.hasRequests = extents.requests != 1 || random.chance(0.5);
  Request request;
  request.queryHeads = problem.q.heads;
  request.kvHeads = problem.k.heads;
  Axes cells{axes.head == InputAxes::Head::None     ? HeadAxis::None
             : axes.head == InputAxes::Head::KvHead ? HeadAxis::KvHead
                                                    : HeadAxis::Head,
             axes.query, axes.key, axes.diagonal};
  extents.heads = request.headCount(cells.head);
  int64_t queries = 0, keys = 0;
  for (int64_t i = 0; i < extents.requests; ++i) {
    request.qLen = problem.cuSeqlensQ[i + 1] - problem.cuSeqlensQ[i];
    request.kvLen = problem.kvLens[i];
    queries = std::max(queries, request.queryCells(axes.query));
    // Distances are those of all keys, also where no row has them.
    keys = std::max({keys, request.keyCells(cells), axes.diagonal ? request.kvLen : 0});
    extents.longest = std::max(extents.longest, request.kvLen);
  }
  // More room than the longest request needs is allowed.
  int64_t slack = random.chance(0.2) ? 2 : 0;
  extents.queries = axes.query ? queries + slack : 1;
  extents.keys = cells.hasKeyLike() ? keys + slack : 1;
  return extents;
}

std::vector<int64_t> shapeOf(const Extents &extents, const InputAxes &axes) {
  std::vector<int64_t> shape;
  if (extents.hasRequests)
    shape.push_back(extents.requests);
  if (axes.head != InputAxes::Head::None)
    shape.push_back(extents.heads);
  if (axes.query)
    shape.push_back(extents.queries);
  return shape;
}

/// Multiples of 1/8, so that sums and products are exact in f32 and ties occur.
double drawF32(Random &random, bool withNan) {
  if (withNan && random.chance(0.05))
    return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(random.between(-32, 32)) / 8;
}

double drawIndex(Random &random, IndexRange range, int64_t longest) {
  switch (range) {
  case IndexRange::Positions:
    return static_cast<double>(random.between(-4, longest + 4));
  case IndexRange::Small:
    return static_cast<double>(random.between(0, 5));
  case IndexRange::Labels:
    return static_cast<double>(random.between(0, random.chance(0.1) ? 4 : 2));
  }
  return 0;
}

void drawList(Case &result, Random &random, const std::string &name, const InputAxes &axes,
              const Extents &extents) {
  int64_t rows = extents.requests * extents.heads * extents.queries;
  int64_t capacity =
      random.chance(0.05) ? 0 : random.between(1, std::min<int64_t>(12, extents.keys + 2));
  bool wild = random.chance(0.3);
  InputValue entries{shapeOf(extents, axes), {}};
  entries.shape.push_back(capacity);
  for (int64_t i = 0; i < rows * capacity; ++i) {
    int64_t entry = random.between(0, std::max<int64_t>(extents.keys - 1, 0));
    if (random.chance(0.15))
      entry = -1;
    else if (wild && random.chance(0.2))
      entry =
          random.pick<int64_t>({-2, -1000, extents.keys, extents.keys + 3, INT32_MAX, INT32_MIN});
    entries.data.push_back(static_cast<double>(entry));
  }
  if (random.chance(0.6)) {
    InputValue counts{shapeOf(extents, axes), {}};
    for (int64_t i = 0; i < rows; ++i) {
      bool outside = wild && random.chance(0.05);
      counts.data.push_back(
          static_cast<double>(outside ? random.pick<int64_t>({-1, capacity + 1, INT32_MAX})
                                      : random.between(0, capacity)));
    }
    result.problem.inputs[name + "_counts"] = std::move(counts);
    result.inputElements[name + "_counts"] = "index";
  }
  result.problem.inputs[name] = std::move(entries);
  result.inputElements[name] = "list";
}

} // namespace

void drawInput(Case &result, Random &random, const std::string &name, InputElement element,
               const InputAxes &axes, IndexRange range, int64_t vectorSize) {
  Extents extents = extentsOf(result.problem, random, axes);
  if (element == InputElement::List)
    return drawList(result, random, name, axes, extents);
  InputValue value{shapeOf(extents, axes), {}};
  if (axes.key || axes.diagonal)
    value.shape.push_back(extents.keys);
  int64_t size = extents.requests * extents.heads * extents.queries * extents.keys;
  if (element == InputElement::Vec) {
    value.shape.push_back(vectorSize);
    size *= vectorSize;
  }
  bool withNan = random.chance(0.25);
  double density = random.pick({0.1, 0.5, 0.9});
  value.data.reserve(size);
  for (int64_t i = 0; i < size; ++i) {
    switch (element) {
    case InputElement::Bool:
      value.data.push_back(random.chance(density));
      break;
    case InputElement::Index:
      value.data.push_back(drawIndex(random, range, extents.longest));
      break;
    default:
      value.data.push_back(drawF32(random, withNan && element == InputElement::F32));
      break;
    }
  }
  result.problem.inputs[name] = std::move(value);
  result.inputElements[name] = element == InputElement::Bool    ? "bool"
                               : element == InputElement::Index ? "index"
                               : element == InputElement::F32   ? "f32"
                                                                : "vec";
}

void drawWeight(Case &result, Random &random, const std::string &name, bool perHead, int64_t out,
                int64_t in) {
  InputValue value{{out, in}, {}};
  int64_t heads = perHead ? result.problem.q.heads : 1;
  if (perHead)
    value.shape.insert(value.shape.begin(), heads);
  // Of a size that keeps products as large as the vectors are.
  double unit = 1 / std::sqrt(static_cast<double>(in));
  for (int64_t i = 0; i < heads * out * in; ++i)
    value.data.push_back(static_cast<float>(random.normal() * unit));
  result.problem.inputs[name] = std::move(value);
  result.inputElements[name] = "vec";
}

} // namespace skim::numerics
