#include "tools/skim-lsp-server/Server.h"

#include "llvm/Support/MemoryBuffer.h"

namespace skim::lsp {

namespace {

namespace lsp = llvm::lsp;
using llvm::json::Array;
using llvm::json::Object;

bool isSkim(const lsp::TextDocumentItem &document) {
  return document.languageId == "skim" || document.uri.file().ends_with(".skim");
}

} // namespace

Server::Server(lsp::JSONTransport &transport, Lifetime &lifetime)
    : transport(transport), handler(transport), lifetime(lifetime),
      publishDiagnostics(handler.outgoingNotification<lsp::PublishDiagnosticsParams>(
          "textDocument/publishDiagnostics")) {
  handler.method("initialize", this, &Server::initialize);
  handler.notification("initialized", this, &Server::initialized);
  handler.method("shutdown", this, &Server::shutdown);
  handler.notification("textDocument/didOpen", this, &Server::didOpen);
  handler.notification("textDocument/didChange", this, &Server::didChange);
  handler.notification("textDocument/didClose", this, &Server::didClose);
  handler.method("textDocument/hover", this, &Server::hover);
  handler.method("textDocument/definition", this, &Server::definition);
  handler.method("textDocument/references", this, &Server::references);
  handler.method("textDocument/completion", this, &Server::completion);
  handler.method("textDocument/documentSymbol", this, &Server::symbols);
  handler.method("textDocument/codeAction", this, &Server::codeAction);
}

// What MLIR's server says of itself, and what ours does for `.skim`: a client hears one answer for
// both. Every change brings the whole text.
void Server::initialize(const lsp::InitializeParams &params, Reply<llvm::json::Value> reply) {
  lifetime.isInitialized = true;
  Object capabilities{
      {"textDocumentSync", Object{{"openClose", true},
                                  {"change", static_cast<int>(lsp::TextDocumentSyncKind::Full)},
                                  {"save", true}}},
      {"completionProvider", Object{{"resolveProvider", false},
                                    {"triggerCharacters", Array{".", "%", "^", "!", "#", "(", ",",
                                                                "<", ":", "[", "\""}}}},
      {"hoverProvider", true},
      {"definitionProvider", true},
      {"referencesProvider", true},
      {"codeActionProvider", true},
      // Flat lists of symbols are not made.
      {"documentSymbolProvider", params.capabilities.hierarchicalDocumentSymbol}};
  reply(Object{{"serverInfo", Object{{"name", "skim-lsp-server"}, {"version", SKIM_VERSION}}},
               {"capabilities", std::move(capabilities)}});
}

void Server::shutdown(const lsp::NoParams &params, Reply<std::nullptr_t> reply) {
  lifetime.isShutDown = true;
  reply(nullptr);
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Server::files() const {
  auto opened = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (const auto &[path, open] : documents)
    opened->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(open.text, path));
  auto overlay =
      llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(llvm::vfs::getRealFileSystem());
  overlay->pushOverlay(opened);
  return overlay;
}

void Server::publish(const Open &open) {
  lsp::PublishDiagnosticsParams params(open.uri, open.version);
  params.diagnostics = open.document->diagnostics();
  publishDiagnostics(params);
}

void Server::update(llvm::StringRef path) {
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> current = files();
  auto analyzeOne = [&](Open &open) {
    open.document = std::make_unique<Document>(open.uri, open.text, *current);
    publish(open);
  };
  auto changed = documents.find(path);
  if (changed != documents.end())
    analyzeOne(changed->second);
  for (auto &[otherPath, open] : documents)
    if (otherPath != path && open.document->imports(path))
      analyzeOne(open);
}

void Server::didOpen(const lsp::DidOpenTextDocumentParams &params) {
  const lsp::TextDocumentItem &document = params.textDocument;
  if (!isSkim(document)) {
    lsp::Logger::error("'{0}' is no document of Skim or MLIR", document.uri.uri());
    return;
  }
  documents[document.uri.file().str()] = {document.uri, document.text, document.version, nullptr};
  update(document.uri.file());
}

void Server::didChange(const lsp::DidChangeTextDocumentParams &params) {
  auto open = documents.find(params.textDocument.uri.file());
  if (open == documents.end()) {
    lsp::Logger::error("'{0}' changed but is not open", params.textDocument.uri.uri());
    return;
  }
  std::string text = open->second.text;
  if (llvm::failed(lsp::TextDocumentContentChangeEvent::applyTo(params.contentChanges, text))) {
    lsp::Logger::error("changes of '{0}' do not fit its text", params.textDocument.uri.uri());
    return;
  }
  open->second.text = std::move(text);
  open->second.version = params.textDocument.version;
  update(params.textDocument.uri.file());
}

void Server::didClose(const lsp::DidCloseTextDocumentParams &params) {
  auto open = documents.find(params.textDocument.uri.file());
  if (open == documents.end())
    return;
  publishDiagnostics(lsp::PublishDiagnosticsParams(open->second.uri, open->second.version));
  documents.erase(open);
  update(params.textDocument.uri.file());
}

llvm::Expected<const Document *> Server::find(const lsp::URIForFile &uri) const {
  auto open = documents.find(uri.file());
  if (open != documents.end())
    return open->second.document.get();
  return llvm::make_error<lsp::LSPError>("'" + uri.uri().str() + "' is not open",
                                         lsp::ErrorCode::InvalidParams);
}

void Server::hover(const lsp::TextDocumentPositionParams &params, Reply<llvm::json::Value> reply) {
  llvm::Expected<const Document *> document = find(params.textDocument.uri);
  if (!document)
    return reply(document.takeError());
  std::optional<lsp::Hover> found = (*document)->hover(params.position);
  reply(found ? toJSON(*found) : llvm::json::Value(nullptr));
}

void Server::definition(const lsp::TextDocumentPositionParams &params,
                        Reply<std::vector<lsp::Location>> reply) {
  llvm::Expected<const Document *> document = find(params.textDocument.uri);
  if (!document)
    return reply(document.takeError());
  reply((*document)->definition(params.position));
}

void Server::references(const lsp::ReferenceParams &params,
                        Reply<std::vector<lsp::Location>> reply) {
  llvm::Expected<const Document *> document = find(params.textDocument.uri);
  if (!document)
    return reply(document.takeError());
  reply((*document)->references(params.position));
}

void Server::completion(const lsp::CompletionParams &params, Reply<lsp::CompletionList> reply) {
  llvm::Expected<const Document *> document = find(params.textDocument.uri);
  if (!document)
    return reply(document.takeError());
  reply((*document)->completion(params.position));
}

void Server::symbols(const lsp::DocumentSymbolParams &params,
                     Reply<std::vector<lsp::DocumentSymbol>> reply) {
  llvm::Expected<const Document *> document = find(params.textDocument.uri);
  if (!document)
    return reply(document.takeError());
  reply((*document)->symbols());
}

void Server::codeAction(const lsp::CodeActionParams &params,
                        Reply<std::vector<lsp::CodeAction>> reply) {
  llvm::Expected<const Document *> document = find(params.textDocument.uri);
  if (!document)
    return reply(document.takeError());
  reply((*document)->repairs(params.range));
}

} // namespace skim::lsp
