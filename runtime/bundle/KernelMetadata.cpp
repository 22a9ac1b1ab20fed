#include "runtime/bundle/KernelMetadata.h"

#include "runtime/JsonReader.h"

namespace skim {
namespace {

using Json = nlohmann::json;

class Reader : public JsonReader<Reader> {
public:
  using JsonReader::read;

  Reader() : JsonReader("metadata") {}

  void read(const std::string &path, const Json &json, ConstantValue &value) {
    object(path, json, "name", value.name, "value", value.value);
  }
  void read(const std::string &path, const Json &json, Invariance &value) {
    object(path, json, "chunk_multiple", value.chunkMultiple, "broken_by", value.brokenBy);
  }
  void read(const std::string &path, const Json &json, CodeImport &value) {
    object(path, json, "offset", value.offset, "function", value.function);
  }
  void read(const std::string &path, const Json &json, CodeImageLayout &value) {
    object(path, json, "entry_points", value.entryPoints, "imports", value.imports);
  }
  void read(const std::string &path, const Json &json, KernelMetadata &value) {
    object(path, json, "skim_version", value.skimVersion, "llvm_version", value.llvmVersion,
           "constants", value.constants, "invariance", value.invariance, "warnings", value.warnings,
           "cpu_image", value.cpuImage);
  }
};

} // namespace

std::string toJson(const KernelMetadata &metadata) {
  Json constants = Json::array();
  for (const ConstantValue &constant : metadata.constants)
    constants.push_back({{"name", constant.name}, {"value", constant.value}});
  const std::optional<int64_t> &multiple = metadata.invariance.chunkMultiple;
  Json image = nullptr;
  if (metadata.cpuImage) {
    Json imports = Json::array();
    for (const CodeImport &import : metadata.cpuImage->imports)
      imports.push_back({{"offset", import.offset}, {"function", import.function}});
    image = {{"entry_points", metadata.cpuImage->entryPoints}, {"imports", std::move(imports)}};
  }
  const Json json = {{"skim_version", metadata.skimVersion},
                     {"llvm_version", metadata.llvmVersion},
                     {"constants", std::move(constants)},
                     {"invariance",
                      {{"chunk_multiple", multiple ? Json(*multiple) : Json(nullptr)},
                       {"broken_by", metadata.invariance.brokenBy}}},
                     {"warnings", metadata.warnings},
                     {"cpu_image", std::move(image)}};
  return json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

Expected<KernelMetadata> kernelMetadataFromJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    return Status(StatusCode::Corrupt, "metadata: expected JSON but got text that is not");
  KernelMetadata metadata;
  Reader reader;
  reader.read("", json, metadata);
  if (reader.failed())
    return reader.status();
  return metadata;
}

} // namespace skim
