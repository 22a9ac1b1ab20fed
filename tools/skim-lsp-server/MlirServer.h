// MLIR's own language server, as a process of its own: its library offers nothing but its main
// function, which owns the standard streams.
#ifndef SKIM_TOOLS_SKIM_LSP_SERVER_MLIRSERVER_H
#define SKIM_TOOLS_SKIM_LSP_SERVER_MLIRSERVER_H

#include "llvm/Support/JSON.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <memory>
#include <string>

#include <sys/types.h>

namespace skim::lsp {

/// Writes messages to the client.
class ClientOutput {
public:
  ClientOutput(llvm::raw_ostream &stream, bool isPretty) : stream(stream), isPretty(isPretty) {}
  void send(const llvm::json::Value &message);

private:
  llvm::raw_ostream &stream;
  bool isPretty;
};

class MlirServer {
public:
  /// `program` is this program, which serves MLIR when `mlirFlag` is its argument.
  MlirServer(std::string program, ClientOutput &output)
      : program(std::move(program)), output(output) {}
  ~MlirServer() { stop(); }
  MlirServer(const MlirServer &) = delete;
  MlirServer &operator=(const MlirServer &) = delete;

  /// What the client said of itself.
  void setInitializeParams(llvm::json::Value params) { initializeParams = std::move(params); }
  /// Hands over a message of the client, and to the client all that comes of it. Starts the
  /// process when there is none. False when it could not be started or ended without an answer.
  bool hand(const llvm::json::Value &message);

private:
  bool start();
  void stop();
  void write(const llvm::json::Value &message);
  /// Reads up to the answer to `id`; what comes before it goes to the client.
  bool readUntilAnswer(llvm::StringRef id);

  std::string program;
  ClientOutput &output;
  llvm::json::Value initializeParams = llvm::json::Object{{"capabilities", llvm::json::Object{}}};
  pid_t process = 0;
  std::unique_ptr<llvm::raw_fd_ostream> toServer;
  std::FILE *fromServer = nullptr;
};

inline constexpr llvm::StringLiteral mlirFlag = "--mlir";

/// The main function of that process: MLIR's server with the dialects of this project.
llvm::LogicalResult serveMlir(const char *program);

} // namespace skim::lsp

#endif // SKIM_TOOLS_SKIM_LSP_SERVER_MLIRSERVER_H
