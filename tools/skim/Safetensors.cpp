#include "tools/skim/Safetensors.h"

#include "tools/skim/Failure.h"
#include "tools/skim/InputFile.h"
#include "tools/skim/OutputFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <optional>

namespace skim::tool {
namespace {

struct TypeRow {
  ElementType type;
  llvm::StringLiteral name;
  int64_t bytes;
};

/// In the order of ElementType.
constexpr TypeRow typeRows[] = {
    {ElementType::Bool, "BOOL", 1},      {ElementType::U8, "U8", 1},
    {ElementType::I8, "I8", 1},          {ElementType::U16, "U16", 2},
    {ElementType::I16, "I16", 2},        {ElementType::F16, "F16", 2},
    {ElementType::BF16, "BF16", 2},      {ElementType::U32, "U32", 4},
    {ElementType::I32, "I32", 4},        {ElementType::F32, "F32", 4},
    {ElementType::U64, "U64", 8},        {ElementType::I64, "I64", 8},
    {ElementType::F64, "F64", 8},        {ElementType::F8E4M3, "F8_E4M3", 1},
    {ElementType::F8E5M2, "F8_E5M2", 1},
};

const TypeRow &rowOf(ElementType type) { return typeRows[static_cast<size_t>(type)]; }

constexpr uint64_t lengthBytes = 8;
/// The format's own limit.
constexpr uint64_t longestHeader = 100'000'000;

using Json = nlohmann::json;

/// Reads the JSON header. A name that stands twice is an error that a parser alone
/// does not see: it keeps the last.
llvm::Expected<Json> parseHeader(llvm::StringRef text) {
  std::vector<llvm::StringSet<>> names;
  std::string twice;
  auto watch = [&](int, Json::parse_event_t event, Json &parsed) {
    if (event == Json::parse_event_t::object_start)
      names.emplace_back();
    if (event == Json::parse_event_t::object_end)
      names.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto &key = parsed.get_ref<const std::string &>();
      if (!names.back().insert(key).second && twice.empty())
        twice = key;
    }
    return true;
  };
  Json header = Json::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
  if (header.is_discarded())
    return wrongInput("the header is not valid JSON");
  if (!twice.empty())
    return wrongInput("the header names '" + twice + "' twice");
  if (!header.is_object())
    return wrongInput("expected the header to be a JSON object");
  return header;
}

/// A list of numbers that fit int64_t and are not negative.
std::optional<std::vector<int64_t>> counts(const Json &value) {
  if (!value.is_array())
    return std::nullopt;
  std::vector<int64_t> result;
  for (const Json &item : value) {
    if (!item.is_number_unsigned() || item.get<uint64_t>() > uint64_t(INT64_MAX))
      return std::nullopt;
    result.push_back(item.get<int64_t>());
  }
  return result;
}

/// One tensor of the header; `data` is its offset until the block is known.
llvm::Expected<Tensor> parseTensor(const std::string &name, const Json &entry, int64_t blockBytes,
                                   const char *block) {
  auto wrong = [&](const llvm::Twine &what) {
    return wrongInput("tensor '" + llvm::Twine(name) + "': " + what);
  };
  if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") ||
      !entry.contains("data_offsets"))
    return wrong("expected an object with dtype, shape and data_offsets");
  if (!entry["dtype"].is_string())
    return wrong("expected dtype to be a string");
  const auto &typeName = entry["dtype"].get_ref<const std::string &>();
  const auto *row = llvm::find_if(typeRows, [&](const TypeRow &r) { return r.name == typeName; });
  if (row == std::end(typeRows))
    return wrong("unknown dtype '" + typeName + "'");
  std::optional<std::vector<int64_t>> shape = counts(entry["shape"]);
  if (!shape)
    return wrong("expected shape to be a list of whole numbers that are not negative");
  std::optional<std::vector<int64_t>> offsets = counts(entry["data_offsets"]);
  if (!offsets || offsets->size() != 2)
    return wrong("expected data_offsets to be two whole numbers that are not negative");

  int64_t begin = (*offsets)[0];
  int64_t end = (*offsets)[1];
  if (begin > end || end > blockBytes)
    return wrong("data_offsets [" + llvm::Twine(begin) + ", " + llvm::Twine(end) +
                 "] lie outside of the " + llvm::Twine(blockBytes) + " bytes of data");
  int64_t bytes = row->bytes;
  // An extent of 0 makes the product 0, however large the others are.
  if (llvm::is_contained(*shape, 0))
    bytes = 0;
  for (int64_t extent : *shape)
    if (bytes != 0 && llvm::MulOverflow(bytes, extent, bytes))
      return wrong("shape " + shapeText(*shape) + " has more elements than can be counted");
  if (bytes != end - begin)
    return wrong("shape " + shapeText(*shape) + " of " + row->name + " takes " +
                 llvm::Twine(bytes) + " bytes but data_offsets hold " + llvm::Twine(end - begin));
  return Tensor{name, row->type, std::move(*shape), block + begin, bytes};
}

/// The tensors must fill the data block, each byte belonging to one.
llvm::Error checkCover(llvm::ArrayRef<Tensor> tensors, const char *block, int64_t blockBytes) {
  std::vector<const Tensor *> order;
  for (const Tensor &tensor : tensors)
    order.push_back(&tensor);
  llvm::sort(order, [](const Tensor *a, const Tensor *b) {
    return std::tie(a->data, a->bytes) < std::tie(b->data, b->bytes);
  });
  const char *end = block;
  const Tensor *previous = nullptr;
  for (const Tensor *tensor : order) {
    if (tensor->data < end)
      return wrongInput("the data of tensor '" + tensor->name + "' overlaps that of '" +
                        previous->name + "'");
    if (tensor->data > end)
      return wrongInput(llvm::Twine(tensor->data - end) + " bytes before the data of tensor '" +
                        tensor->name + "' belong to no tensor");
    end = tensor->data + tensor->bytes;
    previous = tensor;
  }
  if (end != block + blockBytes)
    return wrongInput("the last " + llvm::Twine(block + blockBytes - end) +
                      " bytes of the file belong to no tensor");
  return llvm::Error::success();
}

} // namespace

llvm::StringRef nameOf(ElementType type) { return rowOf(type).name; }
int64_t bytesOf(ElementType type) { return rowOf(type).bytes; }

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  return "[" +
         llvm::join(llvm::map_range(shape, [](int64_t n) { return std::to_string(n); }), ", ") +
         "]";
}

llvm::Expected<SafetensorsFile> SafetensorsFile::open(llvm::StringRef path) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer = readInput(path);
  if (!buffer)
    return buffer.takeError();
  return parse(std::move(*buffer), path);
}

llvm::Expected<SafetensorsFile> SafetensorsFile::parse(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                                       llvm::StringRef path) {
  auto wrong = [&](const llvm::Twine &what) { return wrongInput("'" + path + "': " + what); };
  SafetensorsFile file;
  file.filePath = path.str();
  file.buffer = std::move(buffer);
  llvm::StringRef bytes = file.buffer->getBuffer();
  if (bytes.size() < lengthBytes)
    return wrong("expected the 8 bytes of a safetensors header length but the file has " +
                 llvm::Twine(bytes.size()) + " bytes");
  uint64_t headerBytes = llvm::support::endian::read64le(bytes.data());
  if (headerBytes > longestHeader)
    return wrong("a header of " + llvm::Twine(headerBytes) +
                 " bytes is longer than the 100000000 that the format allows; is this a "
                 "safetensors file?");
  if (headerBytes > bytes.size() - lengthBytes)
    return wrong("expected a header of " + llvm::Twine(headerBytes) + " bytes but only " +
                 llvm::Twine(bytes.size() - lengthBytes) + " follow");

  llvm::Expected<Json> header = parseHeader(bytes.substr(lengthBytes, headerBytes));
  if (!header)
    return wrong(llvm::toString(header.takeError()));
  const char *block = bytes.data() + lengthBytes + headerBytes;
  auto blockBytes = static_cast<int64_t>(bytes.size() - lengthBytes - headerBytes);
  for (auto entry = header->begin(); entry != header->end(); ++entry) {
    if (entry.key() == "__metadata__")
      continue;
    llvm::Expected<Tensor> tensor = parseTensor(entry.key(), entry.value(), blockBytes, block);
    if (!tensor)
      return wrong(llvm::toString(tensor.takeError()));
    file.list.push_back(std::move(*tensor));
  }
  if (llvm::Error error = checkCover(file.list, block, blockBytes))
    return wrong(llvm::toString(std::move(error)));

  for (Tensor &tensor : file.list) {
    if (reinterpret_cast<uintptr_t>(tensor.data) % bytesOf(tensor.type) == 0)
      continue;
    file.aligned.push_back(std::make_unique<char[]>(tensor.bytes));
    std::memcpy(file.aligned.back().get(), tensor.data, tensor.bytes);
    tensor.data = file.aligned.back().get();
  }
  return file;
}

const Tensor *SafetensorsFile::find(llvm::StringRef name) const {
  const auto found = llvm::find_if(list, [&](const Tensor &t) { return t.name == name; });
  return found == list.end() ? nullptr : &*found;
}

llvm::Error writeSafetensors(llvm::StringRef path, llvm::ArrayRef<Tensor> tensors) {
  Json header = Json::object();
  int64_t offset = 0;
  for (const Tensor &tensor : tensors) {
    header[tensor.name] = {{"dtype", nameOf(tensor.type).str()},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, offset + tensor.bytes}}};
    offset += tensor.bytes;
  }
  std::string text = header.dump();
  text.resize(llvm::alignTo<lengthBytes>(text.size()), ' ');
  return writeOutput(path, [&](llvm::raw_ostream &stream) {
    char length[lengthBytes];
    llvm::support::endian::write64le(length, text.size());
    stream.write(length, lengthBytes) << text;
    for (const Tensor &tensor : tensors)
      stream.write(tensor.data, tensor.bytes);
  });
}

} // namespace skim::tool
