#include "tools/skim-lsp-server/Connection.h"

namespace skim::lsp {

namespace {

using llvm::lsp::ErrorCode;

/// LLVM's parser of JSON takes a level of the stack for each bracket.
constexpr unsigned maxNesting = 256;

bool nestsTooDeep(llvm::StringRef json) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < json.size(); ++i) {
    char c = json[i];
    if (inString) {
      if (c == '\\')
        ++i;
      inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > maxNesting)
        return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

/// The document that a message is about; empty when none.
llvm::StringRef documentOf(const llvm::json::Object &message) {
  const llvm::json::Object *params = message.getObject("params");
  if (params == nullptr)
    return {};
  const llvm::json::Object *document = params->getObject("textDocument");
  return (document != nullptr ? document : params)->getString("uri").value_or("");
}

bool isMlirDocument(const llvm::json::Object &opened) {
  const llvm::json::Object *params = opened.getObject("params");
  const llvm::json::Object *document =
      params != nullptr ? params->getObject("textDocument") : nullptr;
  llvm::StringRef language =
      document != nullptr ? document->getString("languageId").value_or("") : "";
  if (language == "mlir" || language == "skim")
    return language == "mlir";
  llvm::StringRef uri = documentOf(opened);
  return uri.ends_with(".mlir") || uri.ends_with(".mlirbc");
}

} // namespace

llvm::LogicalResult ClientInput::readNext(std::string &json) {
  while (!isEndOfInput() && !hasError())
    if (llvm::succeeded(client.readMessage(json)) && isOurs(json))
      return llvm::success();
  return llvm::failure();
}

void ClientInput::refuse(const llvm::json::Object *message, ErrorCode code, llvm::StringRef why) {
  const llvm::json::Value *id = message != nullptr ? message->get("id") : nullptr;
  output.send(llvm::json::Object{
      {"jsonrpc", "2.0"},
      {"id", id != nullptr ? *id : llvm::json::Value(nullptr)},
      {"error", llvm::json::Object{{"code", static_cast<int>(code)}, {"message", why}}}});
}

bool ClientInput::isOurs(llvm::StringRef json) {
  if (nestsTooDeep(json)) {
    refuse(nullptr, ErrorCode::ParseError, "message nests too deep");
    return false;
  }
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(json);
  if (!parsed) {
    refuse(nullptr, ErrorCode::ParseError, llvm::toString(parsed.takeError()));
    return false;
  }
  const llvm::json::Object *message = parsed->getAsObject();
  std::optional<llvm::StringRef> method = message ? message->getString("method") : std::nullopt;
  bool isRequest = message != nullptr && message->get("id") != nullptr;
  if (message == nullptr || message->getString("jsonrpc") != llvm::StringRef("2.0") ||
      (!method && !isRequest)) {
    refuse(message, ErrorCode::InvalidRequest, "expected a message of JSON-RPC 2.0");
    return false;
  }
  if (!method || *method == "exit")
    return true;
  llvm::StringRef wrong;
  if (lifetime.isShutDown)
    wrong = "the server is shut down; expected 'exit'";
  else if (!lifetime.isInitialized && *method != "initialize")
    wrong = "expected 'initialize' first";
  else if (lifetime.isInitialized && *method == "initialize")
    wrong = "the server is initialized already";
  if (!wrong.empty()) {
    if (isRequest)
      refuse(message,
             lifetime.isInitialized ? ErrorCode::InvalidRequest : ErrorCode::ServerNotInitialized,
             wrong);
    return false;
  }
  if (*method == "initialize")
    if (const llvm::json::Value *params = message->get("params"))
      mlir.setInitializeParams(*params);
  if (!isForMlir(*method, *message))
    return true;
  handToMlir(*message, *method);
  return false;
}

bool ClientInput::isForMlir(llvm::StringRef method, const llvm::json::Object &message) {
  llvm::StringRef document = documentOf(message);
  if (method == "textDocument/didOpen" && isMlirDocument(message))
    mlirDocuments.insert(document);
  return method.starts_with("mlir/") || mlirDocuments.contains(document);
}

void ClientInput::handToMlir(const llvm::json::Object &message, llvm::StringRef method) {
  if (method == "textDocument/didClose")
    mlirDocuments.erase(documentOf(message));
  if (mlir.hand(llvm::json::Object(message)))
    return;
  constexpr llvm::StringLiteral ended =
      "the server for MLIR ended; it starts again with the next message";
  if (message.get("id") != nullptr)
    return refuse(&message, ErrorCode::InternalError, ended);
  output.send(llvm::json::Object{
      {"jsonrpc", "2.0"},
      {"method", "window/showMessage"},
      {"params", llvm::json::Object{{"type", static_cast<int>(llvm::lsp::MessageType::Error)},
                                    {"message", ended}}}});
}

} // namespace skim::lsp
