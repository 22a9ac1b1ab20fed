#include "runtime/LaunchPlan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace skim {

namespace {

constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
/// Shape expressions are small; the limit bounds recursion over trees from outside.
constexpr int kMaxDepth = 64;

Status invalid(const std::string &field, const std::string &expected, const std::string &got) {
  return {StatusCode::InvalidArgument,
          "launch plan: " + field + ": expected " + expected + " but got " + got};
}

Status checkCount(const std::string &field, int64_t value, int64_t least) {
  if (value >= least && value <= kLargest)
    return Status::ok();
  return invalid(field, std::to_string(least) + " to 2^31 - 1", std::to_string(value));
}

bool isFloat(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
}

Status verifySignature(const Signature &signature) {
  const std::pair<const char *, int64_t> counts[] = {{"query_heads", signature.queryHeads},
                                                     {"kv_heads", signature.kvHeads},
                                                     {"head_dim", signature.headDim},
                                                     {"value_dim", signature.valueDim}};
  for (const auto &[name, count] : counts)
    if (Status status = checkCount(name, count, 1); !status)
      return status;
  if (signature.queryHeads % signature.kvHeads != 0)
    return invalid("query_heads", "a multiple of kv_heads " + std::to_string(signature.kvHeads),
                   std::to_string(signature.queryHeads));
  if (!isFloat(signature.operand))
    return invalid("operand", "f32, f16 or bf16", dtypeName(signature.operand));
  if (!isFloat(signature.output))
    return invalid("output", "f32, f16 or bf16", dtypeName(signature.output));
  return checkCount("page_size", signature.pageSize.value_or(0), 0);
}

Status verifyParameter(const std::string &field, const ParameterDescription &parameter,
                       const Signature &signature) {
  if (parameter.type == ParameterType::Bool && (parameter.least || parameter.most))
    return invalid(field, "no bounds of a bool", "some");
  if (parameter.least && parameter.most && !(*parameter.least <= *parameter.most))
    return invalid(field + ".most", "at least " + std::to_string(*parameter.least),
                   std::to_string(*parameter.most));
  const auto count = static_cast<int64_t>(parameter.defaultValues.size());
  if (count > 1 && (!parameter.perHead || count != signature.queryHeads))
    return invalid(field + ".default",
                   parameter.perHead ? "1 or " + std::to_string(signature.queryHeads) + " values"
                                     : "1 value",
                   std::to_string(count));
  for (const double value : parameter.defaultValues) {
    const bool fits = parameter.type == ParameterType::F32
                          ? std::abs(value) <= std::numeric_limits<float>::max()
                      : parameter.type == ParameterType::Index
                          ? std::abs(value) <= std::ldexp(1.0, 40) && value == std::trunc(value)
                          : value == 0 || value == 1;
    if (!fits)
      return invalid(field + ".default", "a value of the parameter's type", std::to_string(value));
  }
  return Status::ok();
}

Status verifyInput(const std::string &field, const InputDescription &input,
                   const InputDescription *previous) {
  if (Status status = checkCount(field + ".query_block", input.queryBlock, 0); !status)
    return status;
  if (Status status = checkCount(field + ".key_block", input.keyBlock, 0); !status)
    return status;
  if (Status status = checkCount(field + ".vector_size", input.vectorSize, 1); !status)
    return status;
  if (input.vectorSize != 1 && input.element != InputElement::Vector)
    return invalid(field + ".vector_size", "1 for an input of scalars",
                   std::to_string(input.vectorSize));
  if (Status status = checkCount(field + ".weight_rows", input.weightRows, 0); !status)
    return status;
  if (input.weightRows > 0 &&
      (input.element != InputElement::Vector || input.queryBlock != 0 || input.keyBlock != 1))
    return invalid(field + ".weight_rows", "0 unless vectors have query_block 0 and key_block 1",
                   std::to_string(input.weightRows));
  if (input.diagonal && input.keyBlock != 1)
    return invalid(field + ".diagonal", "key_block 1", std::to_string(input.keyBlock));
  if (input.element == InputElement::List && input.keyBlock == 0)
    return invalid(field + ".key_block", "at least 1 for a list", "0");
  const bool afterList = previous && previous->element == InputElement::List;
  if (afterList != (input.element == InputElement::ListCounts))
    return invalid(field, "counts exactly after their list",
                   input.element == InputElement::ListCounts ? "counts without a list"
                                                             : "a list without counts");
  if (afterList && (input.name != previous->name + "_counts" || input.head != previous->head ||
                    input.queryBlock != previous->queryBlock || input.keyBlock != 0))
    return invalid(field, "counts named '" + previous->name + "_counts' with the list's axes",
                   "'" + input.name + "'");
  return Status::ok();
}

Status verifyCuda(const std::string &field, const CudaLaunch &launch, const Signature &signature) {
  struct Bound {
    const char *name;
    int64_t value, least, most;
  };
  const int64_t leastBox = launch.tensorMaps ? 1 : 0;
  const int64_t mostBox = launch.tensorMaps ? 256 : 0;
  const Bound bounds[] = {
      {"threads", launch.threads, 1, 1024},
      {"shared_bytes", launch.sharedBytes, 0, int64_t{1} << 20},
      {"blocks_per_multiprocessor", launch.blocksPerMultiprocessor, 1, 64},
      {"rows_per_tile", launch.rowsPerTile, leastBox, mostBox},
      {"keys_per_tile", launch.keysPerTile, 0, mostBox},
  };
  for (const Bound &bound : bounds)
    if (bound.value < bound.least || bound.value > bound.most)
      return invalid(field + "." + bound.name,
                     std::to_string(bound.least) + " to " + std::to_string(bound.most),
                     std::to_string(bound.value));
  if (!launch.tensorMaps)
    return Status::ok();
  if (dtypeSize(signature.operand) != 2)
    return invalid(field + ".tensor_maps", "false for operands that are not of 16 bits", "true");
  if (signature.headDim % 32 != 0 || signature.valueDim % 32 != 0)
    return invalid(field + ".tensor_maps", "false for dimensions that are no multiples of 32",
                   "true");
  return Status::ok();
}

/// A kernel of the runtime writes the norms: the buffer must be what it expects.
Status verifyKeyNorms(const std::string &field, int64_t slot, const LaunchPlan &plan) {
  if (slot < 0 || slot >= static_cast<int64_t>(plan.buffers.size()))
    return invalid(field, "a buffer of the plan", std::to_string(slot));
  const BufferDescription &buffer = plan.buffers[static_cast<size_t>(slot)];
  const Signature &signature = plan.signature;
  const std::array<ShapeExpr, 4> extents = {ShapeSymbol::Requests, signature.kvHeads, 1, 1};
  if (buffer.element != DType::F32 || buffer.cellElements != 1 || !buffer.zeroed ||
      buffer.extents != extents)
    return invalid(field, "a zeroed buffer of one f32 for each request and KV head",
                   "'" + buffer.name + "'");
  if (signature.operand != DType::BF16 || signature.headDim % 8 != 0 || signature.headDim > 256)
    return invalid(field, "null where keys are not up to 256 bf16, a multiple of 8",
                   std::to_string(slot));
  return Status::ok();
}

/// The items of both kernels must be the same.
Status verifyOrder(const std::string &field, size_t kernel, const LaunchPlan &plan) {
  const KernelDescription &ordered = plan.kernels[kernel];
  const int64_t by = *ordered.cuda->orderedBy;
  if (by < 0 || by >= static_cast<int64_t>(kernel))
    return invalid(field, "a kernel before this one", std::to_string(by));
  const KernelDescription &counting = plan.kernels[static_cast<size_t>(by)];
  if (counting.head != ordered.head || counting.axis != ordered.axis ||
      counting.tileSize != ordered.tileSize)
    return invalid(field, "a kernel with the same items", "'" + counting.symbol + "'");
  return Status::ok();
}

/// A kernel of the runtime reads the input and writes the bits.
Status verifyPackedKeys(const std::string &field, const PackedKeys &packed,
                        const LaunchPlan &plan) {
  if (packed.input < 0 || packed.input >= static_cast<int64_t>(plan.inputs.size()))
    return invalid(field + ".input", "an input of the plan", std::to_string(packed.input));
  const InputDescription &input = plan.inputs[static_cast<size_t>(packed.input)];
  if (input.element != InputElement::Bool || input.keyBlock != 1 || input.queryBlock != 0 ||
      input.diagonal)
    return invalid(field + ".input", "a bool for each key, the same for all rows",
                   "'" + input.name + "'");
  if (packed.buffer < 0 || packed.buffer >= static_cast<int64_t>(plan.buffers.size()))
    return invalid(field + ".buffer", "a buffer of the plan", std::to_string(packed.buffer));
  const BufferDescription &buffer = plan.buffers[static_cast<size_t>(packed.buffer)];
  const Signature &signature = plan.signature;
  const int64_t heads = input.head == HeadAxis::None     ? 1
                        : input.head == HeadAxis::KvHead ? signature.kvHeads
                                                         : signature.queryHeads;
  const std::array<ShapeExpr, 4> extents = {ShapeSymbol::Requests, heads, 1,
                                            ShapeExpr::ceilDiv(ShapeSymbol::MaxKvLength, 128)};
  if (buffer.element != DType::U8 || buffer.cellElements != 16 || buffer.perWorker ||
      buffer.extents != extents)
    return invalid(field + ".buffer",
                   "16 bytes for every 128 keys of each request and head of '" + input.name + "'",
                   "'" + buffer.name + "'");
  return Status::ok();
}

Status verifyExpr(const std::string &field, const ShapeExpr &expr, int depth) {
  const bool leaf = expr.kind == ShapeExpr::Kind::Constant || expr.kind == ShapeExpr::Kind::Symbol;
  if (depth > kMaxDepth)
    return invalid(field, "at most " + std::to_string(kMaxDepth) + " nested operations", "more");
  if (expr.operands.size() != (leaf ? 0U : 2U))
    return invalid(field, leaf ? "no operands" : "2 operands",
                   std::to_string(expr.operands.size()));
  for (const ShapeExpr &operand : expr.operands)
    if (Status status = verifyExpr(field, operand, depth + 1); !status)
      return status;
  return Status::ok();
}

/// "parameters[2]".
std::string at(const char *list, size_t i) {
  return std::string(list) + "[" + std::to_string(i) + "]";
}

template <typename Description, typename Name>
Status verifyNames(const char *list, const std::vector<Description> &descriptions, Name name) {
  std::set<std::string> seen;
  for (size_t i = 0; i < descriptions.size(); ++i) {
    const std::string &text = name(descriptions[i]);
    if (text.empty())
      return invalid(at(list, i), "a name", "an empty one");
    if (!seen.insert(text).second)
      return invalid(at(list, i), "a name of its own", "'" + text + "' again");
  }
  return Status::ok();
}

} // namespace

Status verify(const LaunchPlan &plan) {
  if (Status status = verifySignature(plan.signature); !status)
    return status;
  const auto name = [](const auto &description) -> const std::string & { return description.name; };
  if (plan.kernels.empty())
    return invalid("kernels", "at least 1 kernel", "none");
  const auto symbol = [](const auto &kernel) -> const std::string & { return kernel.symbol; };
  if (Status status = verifyNames("parameters", plan.parameters, name); !status)
    return status;
  if (Status status = verifyNames("inputs", plan.inputs, name); !status)
    return status;
  if (Status status = verifyNames("buffers", plan.buffers, name); !status)
    return status;
  if (Status status = verifyNames("kernels", plan.kernels, symbol); !status)
    return status;

  for (size_t i = 0; i < plan.parameters.size(); ++i)
    if (Status status = verifyParameter(at("parameters", i), plan.parameters[i], plan.signature);
        !status)
      return status;
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    if (Status status =
            verifyInput(at("inputs", i), plan.inputs[i], i ? &plan.inputs[i - 1] : nullptr);
        !status)
      return status;
  if (!plan.inputs.empty() && plan.inputs.back().element == InputElement::List)
    return invalid(at("inputs", plan.inputs.size() - 1), "counts exactly after their list",
                   "a list without counts");
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const BufferDescription &buffer = plan.buffers[i];
    if (Status status = checkCount(at("buffers", i) + ".cell_elements", buffer.cellElements, 1);
        !status)
      return status;
    if (buffer.perWorker && (buffer.zeroed || buffer.extents[0] != ShapeExpr(1)))
      return invalid(at("buffers", i) + ".per_worker", "a first extent of 1 that is not zeroed",
                     buffer.zeroed ? "a zeroed buffer" : "another extent");
    for (const ShapeExpr &extent : buffer.extents)
      if (Status status = verifyExpr(at("buffers", i) + ".extents", extent, 0); !status)
        return status;
  }
  for (size_t i = 0; i < plan.kernels.size(); ++i) {
    const KernelDescription &kernel = plan.kernels[i];
    if (Status status = checkCount(at("kernels", i) + ".tile_size", kernel.tileSize, 1); !status)
      return status;
    if (!kernel.cuda)
      continue;
    if (Status status = verifyCuda(at("kernels", i) + ".cuda", *kernel.cuda, plan.signature);
        !status)
      return status;
    if (kernel.cuda->keyNorms)
      if (Status status =
              verifyKeyNorms(at("kernels", i) + ".cuda.key_norms", *kernel.cuda->keyNorms, plan);
          !status)
        return status;
    if (kernel.cuda->orderedBy)
      if (Status status = verifyOrder(at("kernels", i) + ".cuda.ordered_by", i, plan); !status)
        return status;
    for (size_t j = 0; j < kernel.cuda->packedKeys.size(); ++j)
      if (Status status = verifyPackedKeys(at("kernels", i) + at(".cuda.packed_keys", j),
                                           kernel.cuda->packedKeys[j], plan);
          !status)
        return status;
  }
  return Status::ok();
}

} // namespace skim
