// What passes between the client and the two servers behind one connection: ours for `.skim`, and
// MLIR's for `.mlir`.
#ifndef SKIM_TOOLS_SKIM_LSP_SERVER_CONNECTION_H
#define SKIM_TOOLS_SKIM_LSP_SERVER_CONNECTION_H

#include "tools/skim-lsp-server/MlirServer.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/LSP/Transport.h"

namespace skim::lsp {

/// How far a client is in the life of the server.
struct Lifetime {
  bool isInitialized = false;
  bool isShutDown = false;
};

/// Reads the messages of the client and gives on those that are for our server. Answers what is
/// no message itself, and hands to MLIR's server what concerns documents of MLIR.
class ClientInput final : public llvm::lsp::JSONTransportInput {
public:
  ClientInput(std::FILE *file, llvm::lsp::JSONStreamStyle style, const Lifetime &lifetime,
              ClientOutput &output, MlirServer &mlir)
      : JSONTransportInput(style), client(file, style), lifetime(lifetime), output(output),
        mlir(mlir) {}

  bool hasError() const override { return client.hasError(); }
  bool isEndOfInput() const override { return client.isEndOfInput(); }
  llvm::LogicalResult readStandardMessage(std::string &json) override { return readNext(json); }
  llvm::LogicalResult readDelimitedMessage(std::string &json) override { return readNext(json); }

private:
  llvm::LogicalResult readNext(std::string &json);
  /// Whether our server takes the message.
  bool isOurs(llvm::StringRef json);
  bool isForMlir(llvm::StringRef method, const llvm::json::Object &message);
  void handToMlir(const llvm::json::Object &message, llvm::StringRef method);
  void refuse(const llvm::json::Object *message, llvm::lsp::ErrorCode code, llvm::StringRef why);

  llvm::lsp::JSONTransportInputOverFile client;
  const Lifetime &lifetime;
  ClientOutput &output;
  MlirServer &mlir;
  /// The documents that MLIR's server has.
  llvm::StringSet<> mlirDocuments;
};

} // namespace skim::lsp

#endif // SKIM_TOOLS_SKIM_LSP_SERVER_CONNECTION_H
