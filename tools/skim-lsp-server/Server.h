// The server for `.skim` documents: what it does for each message of the protocol.
#ifndef SKIM_TOOLS_SKIM_LSP_SERVER_SERVER_H
#define SKIM_TOOLS_SKIM_LSP_SERVER_SERVER_H

#include "tools/skim-lsp-server/Connection.h"
#include "tools/skim-lsp-server/Document.h"

#include <map>

namespace skim::lsp {

class Server {
public:
  Server(llvm::lsp::JSONTransport &transport, Lifetime &lifetime);

  /// Serves until the client leaves. An error when it went without saying so.
  llvm::Error run() { return transport.run(handler); }

private:
  template <typename T> using Reply = llvm::lsp::Callback<T>;

  void initialize(const llvm::lsp::InitializeParams &params, Reply<llvm::json::Value> reply);
  void initialized(const llvm::lsp::InitializedParams &params) {}
  void shutdown(const llvm::lsp::NoParams &params, Reply<std::nullptr_t> reply);
  void didOpen(const llvm::lsp::DidOpenTextDocumentParams &params);
  void didChange(const llvm::lsp::DidChangeTextDocumentParams &params);
  void didClose(const llvm::lsp::DidCloseTextDocumentParams &params);
  void hover(const llvm::lsp::TextDocumentPositionParams &params, Reply<llvm::json::Value> reply);
  void definition(const llvm::lsp::TextDocumentPositionParams &params,
                  Reply<std::vector<llvm::lsp::Location>> reply);
  void references(const llvm::lsp::ReferenceParams &params,
                  Reply<std::vector<llvm::lsp::Location>> reply);
  void completion(const llvm::lsp::CompletionParams &params,
                  Reply<llvm::lsp::CompletionList> reply);
  void symbols(const llvm::lsp::DocumentSymbolParams &params,
               Reply<std::vector<llvm::lsp::DocumentSymbol>> reply);
  void codeAction(const llvm::lsp::CodeActionParams &params,
                  Reply<std::vector<llvm::lsp::CodeAction>> reply);

  struct Open {
    llvm::lsp::URIForFile uri;
    std::string text;
    int64_t version = 0;
    std::unique_ptr<Document> document;
  };

  /// An error for a document that is not open.
  llvm::Expected<const Document *> find(const llvm::lsp::URIForFile &uri) const;
  /// Analyzes a document anew, and those open ones that import it, and publishes what is found.
  void update(llvm::StringRef path);
  void publish(const Open &open);
  /// The files of the disk, with the open documents in place of what is saved.
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files() const;

  llvm::lsp::JSONTransport &transport;
  llvm::lsp::MessageHandler handler;
  Lifetime &lifetime;
  llvm::lsp::OutgoingNotification<llvm::lsp::PublishDiagnosticsParams> publishDiagnostics;
  std::map<std::string, Open, std::less<>> documents; ///< By path.
};

} // namespace skim::lsp

#endif // SKIM_TOOLS_SKIM_LSP_SERVER_SERVER_H
