#include "tools/skim/HostBatch.h"

#include "tools/skim/Failure.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace skim::tool {
namespace {

llvm::Error wrongTensor(const SafetensorsFile &file, llvm::StringRef name,
                        const llvm::Twine &what) {
  return wrongInput("'" + file.path() + "': " + name + ": " + what);
}

/// A tensor of queries, keys or values.
struct Floats {
  const Tensor *tensor;
  DType type;

  TensorView view() const { return TensorView::contiguous(tensor->data, type, tensor->shape); }
};

/// A tensor of floats with `rank` axes; what its axes are goes into the message.
llvm::Expected<Floats> findFloats(const SafetensorsFile &file, llvm::StringRef name, size_t rank,
                                  llvm::StringRef axes) {
  const Tensor *tensor = file.find(name);
  if (!tensor)
    return wrongInput("'" + file.path() + "': expected a tensor '" + name + "' " + axes);
  DType type = runtimeType(tensor->type).value_or(DType::U8);
  if (type != DType::F32 && type != DType::F16 && type != DType::BF16)
    return wrongTensor(file, name, "expected BF16, F16 or F32 but got " + nameOf(tensor->type));
  if (tensor->shape.size() != rank)
    return wrongTensor(file, name, "expected " + axes + " but got " + shapeText(tensor->shape));
  return Floats{tensor, type};
}

/// The elements of an I32 or I64 tensor that all fit 32 bits.
llvm::Expected<std::vector<int32_t>> readIndices(const SafetensorsFile &file,
                                                 const Tensor &tensor) {
  if (tensor.type == ElementType::I32)
    return tensor.as<int32_t>().vec();
  if (tensor.type != ElementType::I64)
    return wrongTensor(file, tensor.name, "expected I32 or I64 but got " + nameOf(tensor.type));
  std::vector<int32_t> values;
  values.reserve(tensor.elements());
  for (int64_t value : tensor.as<int64_t>()) {
    if (value != static_cast<int32_t>(value))
      return wrongTensor(file, tensor.name,
                         "element " + llvm::Twine(values.size()) + " is " + llvm::Twine(value) +
                             " and does not fit 32 bits");
    values.push_back(static_cast<int32_t>(value));
  }
  return values;
}

std::vector<int32_t> prefixSums(llvm::ArrayRef<int32_t> lengths) {
  std::vector<int32_t> sums(lengths.size() + 1);
  std::partial_sum(lengths.begin(), lengths.end(), sums.begin() + 1);
  return sums;
}

} // namespace

std::optional<DType> runtimeType(ElementType type) {
  switch (type) {
  case ElementType::Bool:
  case ElementType::U8:
    return DType::U8;
  case ElementType::F16:
    return DType::F16;
  case ElementType::BF16:
    return DType::BF16;
  case ElementType::F32:
    return DType::F32;
  case ElementType::I32:
    return DType::I32;
  case ElementType::I64:
    return DType::I64;
  default:
    return std::nullopt;
  }
}

llvm::Expected<HostBatch> HostBatch::read(llvm::StringRef qkvPath, llvm::StringRef inputsPath,
                                          int64_t tokens) {
  HostBatch batch;
  for (llvm::StringRef path : {qkvPath, inputsPath})
    if (llvm::Error error = batch.openInputs(path))
      return error;
  const SafetensorsFile &file = batch.files.front();
  if (llvm::Error error = batch.readOperands(file))
    return error;
  if (llvm::Error error = batch.readLengths(file))
    return error;
  if (tokens > 0)
    if (llvm::Error error = batch.cutTo(tokens))
      return error;
  return batch;
}

llvm::Expected<HostBatch> HostBatch::zeros(int64_t queryLength, int64_t kvLength,
                                           int64_t queryHeads, int64_t kvHeads,
                                           llvm::StringRef inputsPath) {
  HostBatch batch;
  if (llvm::Error error = batch.openInputs(inputsPath))
    return error;
  constexpr int64_t dim = 16;
  batch.queryHeads = queryHeads;
  batch.kvHeads = kvHeads;
  batch.headDim = batch.valueDim = dim;
  constexpr int64_t mostVectors = (int64_t(1) << 30) / (dim * sizeof(float));
  int64_t queries = 0, keys = 0;
  if (llvm::MulOverflow(queryLength, queryHeads, queries) || queries > mostVectors)
    return wrongInput("the queries of " + llvm::Twine(queryHeads) + " heads and " +
                      llvm::Twine(queryLength) + " tokens take more than 1 GiB; use fewer tokens");
  if (llvm::MulOverflow(kvLength, kvHeads, keys) || keys > mostVectors)
    return wrongInput("the keys of " + llvm::Twine(kvHeads) + " KV heads and " +
                      llvm::Twine(kvLength) + " tokens take more than 1 GiB; use fewer tokens");
  batch.storage.emplace_back(std::max(queries, keys) * dim * sizeof(float));
  const char *data = batch.storage.back().data();
  batch.q = TensorView::contiguous(data, DType::F32, {queryLength, queryHeads, dim});
  batch.k = batch.v = TensorView::contiguous(data, DType::F32, {kvLength, kvHeads, dim});
  batch.kvLens = {static_cast<int32_t>(kvLength)};
  batch.cuSeqlensKv = {0, static_cast<int32_t>(kvLength)};
  batch.cuSeqlensQ = {0, static_cast<int32_t>(queryLength)};
  return batch;
}

llvm::Expected<HostBatch> HostBatch::over(const TensorView &q, const TensorView &k,
                                          const TensorView &v, llvm::StringRef inputsPath) {
  HostBatch batch;
  if (llvm::Error error = batch.openInputs(inputsPath))
    return error;
  batch.queryHeads = q.shape[1];
  batch.kvHeads = k.shape[1];
  batch.headDim = k.shape[2];
  batch.valueDim = v.shape[2];
  batch.dtype = q.dtype;
  batch.q = q;
  batch.k = k;
  batch.v = v;
  batch.kvLens = {static_cast<int32_t>(k.shape[0])};
  batch.cuSeqlensKv = {0, static_cast<int32_t>(k.shape[0])};
  batch.cuSeqlensQ = {0, static_cast<int32_t>(q.shape[0])};
  return batch;
}

/// An empty path opens nothing.
llvm::Error HostBatch::openInputs(llvm::StringRef path) {
  if (path.empty())
    return llvm::Error::success();
  llvm::Expected<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.takeError();
  files.push_back(std::move(*file));
  return llvm::Error::success();
}

llvm::Error HostBatch::readOperands(const SafetensorsFile &file) {
  bool paged = file.find("block_table") != nullptr;
  llvm::StringRef keyAxes = paged ? "[pages, page, kv_heads, dim]" : "[tokens, kv_heads, dim]";
  size_t keyRank = paged ? 4 : 3;
  llvm::Expected<Floats> query = findFloats(file, "q", 3, "[tokens, heads, dim]");
  if (!query)
    return query.takeError();
  llvm::Expected<Floats> key = findFloats(file, "k", keyRank, keyAxes);
  if (!key)
    return key.takeError();
  llvm::Expected<Floats> value = findFloats(file, "v", keyRank, keyAxes);
  if (!value)
    return value.takeError();
  const Tensor &queries = *query->tensor;
  const Tensor &keys = *key->tensor;
  const Tensor &values = *value->tensor;

  for (const Tensor *other : {&keys, &values})
    if (other->type != queries.type)
      return wrongTensor(file, other->name,
                         "expected " + nameOf(queries.type) + ", as q is, but got " +
                             nameOf(other->type));
  queryHeads = queries.shape[1];
  kvHeads = keys.shape[keyRank - 2];
  headDim = queries.shape[2];
  valueDim = values.shape.back();
  if (headDim != keys.shape.back())
    return wrongTensor(file, "k",
                       "expected a last extent of " + llvm::Twine(headDim) +
                           ", the head dimension of q, but got " + shapeText(keys.shape));
  std::vector<int64_t> expected = keys.shape;
  expected.back() = valueDim;
  if (values.shape != expected)
    return wrongTensor(file, "v",
                       "expected " + shapeText(expected) + ", as k has, but got " +
                           shapeText(values.shape));
  if (queryHeads == 0 || kvHeads == 0 || queryHeads % kvHeads != 0)
    return wrongTensor(file, "q",
                       "expected a multiple of the " + llvm::Twine(kvHeads) + " KV heads but got " +
                           llvm::Twine(queryHeads) + " heads");
  if (headDim == 0 || valueDim == 0)
    return wrongTensor(file, headDim == 0 ? "q" : "v", "expected vectors but the last extent is 0");
  // Lengths and page numbers are 32-bit everywhere.
  for (const Tensor *tensor : {&queries, &keys})
    if (tensor->shape[0] > std::numeric_limits<int32_t>::max())
      return wrongTensor(file, tensor->name, "expected at most 2147483647 tokens or pages");
  if (paged) {
    pageSize = keys.shape[1];
    if (pageSize == 0)
      return wrongTensor(file, "k", "expected pages of at least one token");
  }
  dtype = query->type;
  q = query->view();
  k = key->view();
  v = value->view();
  return llvm::Error::success();
}

llvm::Error HostBatch::readLengths(const SafetensorsFile &file) {
  cuSeqlensQ = {0, static_cast<int32_t>(q.shape[0])};
  if (const Tensor *tensor = file.find("cu_seqlens_q")) {
    llvm::Expected<std::vector<int32_t>> values = readIndices(file, *tensor);
    if (!values)
      return values.takeError();
    if (tensor->shape.size() != 1 || values->empty())
      return wrongTensor(file, "cu_seqlens_q",
                         "expected [requests + 1] but got " + shapeText(tensor->shape));
    if (values->front() != 0 || !llvm::is_sorted(*values) || values->back() != q.shape[0])
      return wrongTensor(file, "cu_seqlens_q",
                         "expected values that rise from 0 to the " + llvm::Twine(q.shape[0]) +
                             " tokens of q");
    cuSeqlensQ = std::move(*values);
  }
  auto batchSize = static_cast<int64_t>(cuSeqlensQ.size()) - 1;

  if (const Tensor *tensor = file.find("kv_lens")) {
    llvm::Expected<std::vector<int32_t>> values = readIndices(file, *tensor);
    if (!values)
      return values.takeError();
    if (tensor->shape != std::vector<int64_t>{batchSize})
      return wrongTensor(file, "kv_lens",
                         "expected [" + llvm::Twine(batchSize) +
                             "], one length for each request, but got " + shapeText(tensor->shape));
    if (llvm::any_of(*values, [](int32_t length) { return length < 0; }))
      return wrongTensor(file, "kv_lens", "expected lengths that are not negative");
    kvLens = std::move(*values);
  } else if (file.find("block_table")) {
    return wrongInput("'" + file.path() + "': expected a tensor 'kv_lens' beside 'block_table'");
  } else if (batchSize == 1) {
    kvLens = {static_cast<int32_t>(k.shape[0])};
  } else {
    for (int64_t request = 0; request < batchSize; ++request)
      kvLens.push_back(static_cast<int32_t>(queryLength(request)));
  }
  int64_t total = std::accumulate(kvLens.begin(), kvLens.end(), int64_t(0));
  if (total > std::numeric_limits<int32_t>::max())
    return wrongTensor(file, "kv_lens", "expected at most 2147483647 tokens in all");
  cuSeqlensKv = prefixSums(kvLens);
  if (const Tensor *table = file.find("block_table"))
    return readBlockTable(*table);
  if (total != k.shape[0])
    return wrongInput("'" + file.path() + "': the requests have " + llvm::Twine(total) +
                      " keys but k has " + llvm::Twine(k.shape[0]) + " tokens");
  return llvm::Error::success();
}

llvm::Error HostBatch::readBlockTable(const Tensor &table) {
  const SafetensorsFile &file = files.front();
  llvm::Expected<std::vector<int32_t>> values = readIndices(file, table);
  if (!values)
    return values.takeError();
  if (table.shape.size() != 2 || table.shape[0] != requests())
    return wrongTensor(file, "block_table",
                       "expected [" + llvm::Twine(requests()) +
                           ", pages of the longest request] but got " + shapeText(table.shape));
  blockTable = std::move(*values);
  maxPages = table.shape[1];
  for (int64_t request = 0; request < requests(); ++request) {
    int64_t pages = (kvLens[request] + pageSize - 1) / pageSize;
    if (pages > maxPages)
      return wrongTensor(file, "block_table",
                         "request " + llvm::Twine(request) + " has " +
                             llvm::Twine(kvLens[request]) + " keys in " + llvm::Twine(pages) +
                             " pages but the table holds " + llvm::Twine(maxPages));
    for (int64_t i = 0; i < pages; ++i) {
      int32_t page = blockTable[request * maxPages + i];
      if (page < 0 || page >= k.shape[0])
        return wrongTensor(file, "block_table",
                           "request " + llvm::Twine(request) + " names page " + llvm::Twine(page) +
                               " but k has " + llvm::Twine(k.shape[0]) + " pages");
    }
  }
  return llvm::Error::success();
}

llvm::Error HostBatch::cutTo(int64_t tokens) {
  if (requests() != 1 || isPaged() || q.shape[0] != k.shape[0])
    return wrongUsage(
        "--tokens needs a file of one contiguous request with as many keys as queries");
  if (tokens > q.shape[0])
    return wrongUsage("--tokens: expected at most the " + llvm::Twine(q.shape[0]) +
                      " tokens of the file but got " + llvm::Twine(tokens));
  q.shape[0] = k.shape[0] = v.shape[0] = tokens;
  kvLens = {static_cast<int32_t>(tokens)};
  cuSeqlensQ = cuSeqlensKv = {0, static_cast<int32_t>(tokens)};
  return llvm::Error::success();
}

int64_t HostBatch::longestKv() const {
  return kvLens.empty() ? 0 : *std::max_element(kvLens.begin(), kvLens.end());
}

Operands HostBatch::operands() const {
  Operands operands;
  operands.q = q;
  operands.k = k;
  operands.v = v;
  operands.cuSeqlensQ = TensorView::contiguous(cuSeqlensQ.data(), DType::I32, {requests() + 1});
  operands.kvLens = TensorView::contiguous(kvLens.data(), DType::I32, {requests()});
  if (isPaged()) {
    operands.kvLayout = KvLayout::PagedNhd;
    operands.blockTable =
        TensorView::contiguous(blockTable.data(), DType::I32, {requests(), maxPages});
  } else {
    operands.cuSeqlensKv = TensorView::contiguous(cuSeqlensKv.data(), DType::I32, {requests() + 1});
  }
  return operands;
}

std::map<std::string, std::vector<int64_t>> HostBatch::shapes() const {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const SafetensorsFile &file : files)
    for (const Tensor &tensor : file.tensors())
      shapes.try_emplace(tensor.name, tensor.shape);
  return shapes;
}

llvm::Expected<std::optional<NamedTensor>> HostBatch::input(llvm::StringRef name) {
  const Tensor *tensor = nullptr;
  const SafetensorsFile *holder = nullptr;
  for (const SafetensorsFile &file : files)
    if (const Tensor *found = file.find(name); found && !tensor) {
      tensor = found;
      holder = &file;
    }
  if (!tensor)
    return std::nullopt;
  if (tensor->shape.size() > size_t(TensorView::kMaxRank))
    return wrongTensor(*holder, name,
                       "expected at most 6 axes but got " + shapeText(tensor->shape));

  auto keep = [&](auto &&values, DType type) {
    auto bytes = llvm::ArrayRef(reinterpret_cast<const char *>(values.data()),
                                values.size() * sizeof(values[0]));
    storage.emplace_back(bytes.begin(), bytes.end());
    return NamedTensor{name.str(),
                       TensorView::contiguous(storage.back().data(), type, tensor->shape)};
  };
  std::optional<DType> type = runtimeType(tensor->type);
  if (!type)
    return wrongTensor(*holder, name,
                       "expected BOOL, U8, I32, I64, F32, F16 or BF16 but got " +
                           nameOf(tensor->type));
  if (*type == DType::I64) {
    llvm::Expected<std::vector<int32_t>> values = readIndices(*holder, *tensor);
    if (!values)
      return values.takeError();
    return keep(*values, DType::I32);
  }
  if (*type == DType::F16 || *type == DType::BF16) {
    std::vector<float> values;
    values.reserve(tensor->elements());
    for (uint16_t bits : tensor->as<uint16_t>())
      values.push_back(*type == DType::F16 ? f16ToF32(bits) : bf16ToF32(bits));
    return keep(values, DType::F32);
  }
  return NamedTensor{name.str(), TensorView::contiguous(tensor->data, *type, tensor->shape)};
}

} // namespace skim::tool
