// The launch plan as JSON. Every field is written; a reader accepts exactly these fields,
// so that a damaged or foreign file is an error and never a plan with defaults.
#include "runtime/JsonReader.h"
#include "runtime/LaunchPlan.h"

#include <cstdint>

namespace skim {

namespace {

using Json = nlohmann::json;

constexpr const char *kFormat = "skim launch plan";
constexpr int64_t kVersion = 6;
constexpr int kMaxDepth = 64;

// Enumerations and their names.
constexpr std::pair<HeadAxis, const char *> kHeadAxes[] = {
    {HeadAxis::None, "none"}, {HeadAxis::KvHead, "kv_head"}, {HeadAxis::QueryHead, "head"}};
constexpr std::pair<ParameterType, const char *> kParameterTypes[] = {
    {ParameterType::Index, "index"}, {ParameterType::F32, "f32"}, {ParameterType::Bool, "bool"}};
constexpr std::pair<InputElement, const char *> kInputElements[] = {
    {InputElement::Bool, "bool"}, {InputElement::Index, "index"},
    {InputElement::F32, "f32"},   {InputElement::Vector, "vec"},
    {InputElement::List, "list"}, {InputElement::ListCounts, "list_counts"}};
constexpr std::pair<ItemAxis, const char *> kItemAxes[] = {
    {ItemAxis::None, "none"}, {ItemAxis::Queries, "queries"}, {ItemAxis::Keys, "keys"}};
constexpr std::pair<DType, const char *> kDTypes[] = {
    {DType::F32, "f32"}, {DType::F16, "f16"}, {DType::BF16, "bf16"}, {DType::U8, "u8"},
    {DType::I32, "i32"}, {DType::I64, "i64"}, {DType::F64, "f64"}};
constexpr std::pair<ShapeExpr::Kind, const char *> kOperations[] = {
    {ShapeExpr::Kind::Add, "add"},         {ShapeExpr::Kind::Mul, "mul"},
    {ShapeExpr::Kind::CeilDiv, "ceildiv"}, {ShapeExpr::Kind::FloorDiv, "floordiv"},
    {ShapeExpr::Kind::Max, "max"},         {ShapeExpr::Kind::Min, "min"}};

template <typename Enum, size_t n>
const char *nameOf(const std::pair<Enum, const char *> (&names)[n], Enum value) {
  for (const auto &[candidate, name] : names)
    if (candidate == value)
      return name;
  return "";
}

// Writing.

Json write(const ShapeExpr &expr) {
  if (expr.kind == ShapeExpr::Kind::Constant)
    return expr.constant;
  if (expr.kind == ShapeExpr::Kind::Symbol)
    return shapeSymbolName(expr.symbol);
  Json json = Json::array({nameOf(kOperations, expr.kind)});
  for (const ShapeExpr &operand : expr.operands)
    json.push_back(write(operand));
  return json;
}

Json write(const Signature &signature) {
  return {{"query_heads", signature.queryHeads},
          {"kv_heads", signature.kvHeads},
          {"head_dim", signature.headDim},
          {"value_dim", signature.valueDim},
          {"operand", nameOf(kDTypes, signature.operand)},
          {"output", nameOf(kDTypes, signature.output)},
          {"page_size", signature.pageSize ? Json(*signature.pageSize) : Json(nullptr)},
          {"noncausal", signature.noncausal},
          {"writes_kept", signature.writesKept},
          {"compact_heads", signature.compactHeads
                                ? Json(nameOf(kHeadAxes, *signature.compactHeads))
                                : Json(nullptr)}};
}

Json write(const ParameterDescription &parameter) {
  return {{"name", parameter.name},
          {"type", nameOf(kParameterTypes, parameter.type)},
          {"per_head", parameter.perHead},
          {"default", parameter.defaultValues},
          {"allowed", parameter.allowed},
          {"least", parameter.least ? Json(*parameter.least) : Json(nullptr)},
          {"most", parameter.most ? Json(*parameter.most) : Json(nullptr)}};
}

Json write(const InputDescription &input) {
  return {{"name", input.name},
          {"element", nameOf(kInputElements, input.element)},
          {"head", nameOf(kHeadAxes, input.head)},
          {"query_block", input.queryBlock},
          {"key_block", input.keyBlock},
          {"diagonal", input.diagonal},
          {"vector_size", input.vectorSize},
          {"weight_rows", input.weightRows}};
}

Json write(const BufferDescription &buffer) {
  Json extents = Json::array();
  for (const ShapeExpr &extent : buffer.extents)
    extents.push_back(write(extent));
  return {{"name", buffer.name},
          {"element", nameOf(kDTypes, buffer.element)},
          {"cell_elements", buffer.cellElements},
          {"extents", std::move(extents)},
          {"zeroed", buffer.zeroed},
          {"per_worker", buffer.perWorker}};
}

Json write(const CudaLaunch &launch) {
  Json packed = Json::array();
  for (const PackedKeys &keys : launch.packedKeys)
    packed.push_back({{"input", keys.input}, {"buffer", keys.buffer}});
  return {{"threads", launch.threads},
          {"shared_bytes", launch.sharedBytes},
          {"blocks_per_multiprocessor", launch.blocksPerMultiprocessor},
          {"tensor_maps", launch.tensorMaps},
          {"rows_per_tile", launch.rowsPerTile},
          {"keys_per_tile", launch.keysPerTile},
          {"key_norms", launch.keyNorms ? Json(*launch.keyNorms) : Json(nullptr)},
          {"ordered_by", launch.orderedBy ? Json(*launch.orderedBy) : Json(nullptr)},
          {"packed_keys", std::move(packed)}};
}

Json write(const KernelDescription &kernel) {
  return {{"symbol", kernel.symbol},
          {"head", nameOf(kHeadAxes, kernel.head)},
          {"axis", nameOf(kItemAxes, kernel.axis)},
          {"tile_size", kernel.tileSize},
          {"key_tile", kernel.keyTile},
          {"cuda", kernel.cuda ? write(*kernel.cuda) : Json(nullptr)}};
}

template <typename T> Json writeList(const std::vector<T> &list) {
  Json json = Json::array();
  for (const T &element : list)
    json.push_back(write(element));
  return json;
}

// Reading.

class Reader : public JsonReader<Reader> {
public:
  using JsonReader::read;

  Reader() : JsonReader("launch plan") {}

  void read(const std::string &path, const Json &json, DType &value) {
    readName(path, json, kDTypes, value);
  }
  void read(const std::string &path, const Json &json, HeadAxis &value) {
    readName(path, json, kHeadAxes, value);
  }
  void read(const std::string &path, const Json &json, ParameterType &value) {
    readName(path, json, kParameterTypes, value);
  }
  void read(const std::string &path, const Json &json, InputElement &value) {
    readName(path, json, kInputElements, value);
  }
  void read(const std::string &path, const Json &json, ItemAxis &value) {
    readName(path, json, kItemAxes, value);
  }

  void read(const std::string &path, const Json &json, ShapeExpr &value) {
    readExpr(path, json, value, 0);
  }

  void read(const std::string &path, const Json &json, Signature &value) {
    object(path, json, "query_heads", value.queryHeads, "kv_heads", value.kvHeads, "head_dim",
           value.headDim, "value_dim", value.valueDim, "operand", value.operand, "output",
           value.output, "page_size", value.pageSize, "noncausal", value.noncausal, "writes_kept",
           value.writesKept, "compact_heads", value.compactHeads);
  }
  void read(const std::string &path, const Json &json, ParameterDescription &value) {
    object(path, json, "name", value.name, "type", value.type, "per_head", value.perHead, "default",
           value.defaultValues, "allowed", value.allowed, "least", value.least, "most", value.most);
  }
  void read(const std::string &path, const Json &json, InputDescription &value) {
    object(path, json, "name", value.name, "element", value.element, "head", value.head,
           "query_block", value.queryBlock, "key_block", value.keyBlock, "diagonal", value.diagonal,
           "vector_size", value.vectorSize, "weight_rows", value.weightRows);
  }
  void read(const std::string &path, const Json &json, BufferDescription &value) {
    object(path, json, "name", value.name, "element", value.element, "cell_elements",
           value.cellElements, "extents", value.extents, "zeroed", value.zeroed, "per_worker",
           value.perWorker);
  }
  void read(const std::string &path, const Json &json, PackedKeys &value) {
    object(path, json, "input", value.input, "buffer", value.buffer);
  }
  void read(const std::string &path, const Json &json, CudaLaunch &value) {
    object(path, json, "threads", value.threads, "shared_bytes", value.sharedBytes,
           "blocks_per_multiprocessor", value.blocksPerMultiprocessor, "tensor_maps",
           value.tensorMaps, "rows_per_tile", value.rowsPerTile, "keys_per_tile", value.keysPerTile,
           "key_norms", value.keyNorms, "ordered_by", value.orderedBy, "packed_keys",
           value.packedKeys);
  }
  void read(const std::string &path, const Json &json, KernelDescription &value) {
    object(path, json, "symbol", value.symbol, "head", value.head, "axis", value.axis, "tile_size",
           value.tileSize, "key_tile", value.keyTile, "cuda", value.cuda);
  }
  void read(const std::string &path, const Json &json, LaunchPlan &value) {
    std::string format;
    int64_t version = 0;
    object(path, json, "format", format, "version", version, "pattern", value.pattern, "signature",
           value.signature, "parameters", value.parameters, "inputs", value.inputs, "buffers",
           value.buffers, "kernels", value.kernels, "allowed_layers", value.allowedLayers);
  }

private:
  void readExpr(const std::string &path, const Json &json, ShapeExpr &value, int depth) {
    if (depth > kMaxDepth)
      return fail(path, "at most " + std::to_string(kMaxDepth) + " nested operations", "more");
    value = ShapeExpr();
    if (json.is_number())
      return read(path, json, value.constant);
    if (json.is_string()) {
      const auto symbol = parseShapeSymbol(json.get_ref<const std::string &>());
      if (!symbol)
        return fail(path, "a shape symbol", json);
      value = ShapeExpr(*symbol);
      return;
    }
    if (!json.is_array() || json.size() != 3)
      return fail(path, "a size: an integer, a symbol or [operation, size, size]", json);
    readName(path + "[0]", json[0], kOperations, value.kind);
    value.operands.resize(2);
    for (size_t i = 0; i < 2 && !failed(); ++i)
      readExpr(path + "[" + std::to_string(i + 1) + "]", json[i + 1], value.operands[i], depth + 1);
  }
};

/// Tells a plan of another version from a damaged one.
Status checkHeader(const Json &json) {
  Reader reader;
  if (!json.is_object()) {
    reader.fail("", "an object", json);
    return reader.status();
  }
  const auto check = [&](const char *field, const Json &expected) {
    const auto found = json.find(field);
    if (found == json.end())
      reader.fail(field, expected.dump(), nullptr);
    else if (*found != expected)
      reader.fail(field, expected.dump(), *found);
  };
  check("format", kFormat);
  check("version", kVersion);
  return reader.status();
}

} // namespace

const char *parameterTypeName(ParameterType type) { return nameOf(kParameterTypes, type); }
const char *inputElementName(InputElement element) { return nameOf(kInputElements, element); }

std::string toJson(const LaunchPlan &plan) {
  const Json json = {{"format", kFormat},
                     {"version", kVersion},
                     {"pattern", plan.pattern},
                     {"signature", write(plan.signature)},
                     {"parameters", writeList(plan.parameters)},
                     {"inputs", writeList(plan.inputs)},
                     {"buffers", writeList(plan.buffers)},
                     {"kernels", writeList(plan.kernels)},
                     {"allowed_layers", plan.allowedLayers}};
  return json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

Expected<LaunchPlan> launchPlanFromJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    return Status(StatusCode::Corrupt, "launch plan: expected JSON but got text that is not");
  if (Status status = checkHeader(json); !status)
    return status;
  LaunchPlan plan;
  Reader reader;
  reader.read("", json, plan);
  if (reader.failed())
    return reader.status();
  if (Status status = verify(plan); !status)
    return Status(StatusCode::Corrupt, status.message());
  return plan;
}

} // namespace skim
