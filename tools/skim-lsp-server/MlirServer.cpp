#include "tools/skim-lsp-server/MlirServer.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/LSP/Transport.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace skim::lsp {

namespace {

constexpr llvm::StringLiteral initializeId = "skim/initialize";
constexpr llvm::StringLiteral barrierId = "skim/barrier";

llvm::json::Value request(llvm::StringRef id, llvm::StringRef method, llvm::json::Value params) {
  return llvm::json::Object{
      {"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
}

} // namespace

void ClientOutput::send(const llvm::json::Value &message) {
  std::string text =
      isPretty ? llvm::formatv("{0:2}\n", message).str() : llvm::formatv("{0}", message).str();
  stream << "Content-Length: " << text.size() << "\r\n\r\n" << text;
  stream.flush();
}

bool MlirServer::start() {
  int in[2];
  int out[2];
  if (pipe2(in, O_CLOEXEC) != 0)
    return false;
  if (pipe2(out, O_CLOEXEC) != 0) {
    close(in[0]);
    close(in[1]);
    return false;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  std::string flag = mlirFlag.str();
  char *arguments[] = {program.data(), flag.data(), nullptr};
  bool started = posix_spawn(&process, program.c_str(), &actions, nullptr, arguments, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  toServer = std::make_unique<llvm::raw_fd_ostream>(in[1], /*shouldClose=*/true);
  fromServer = fdopen(out[0], "r");
  if (!started || fromServer == nullptr) {
    process = started ? process : 0;
    stop();
    return false;
  }
  write(request(initializeId, "initialize", initializeParams));
  if (!readUntilAnswer(initializeId)) {
    stop();
    return false;
  }
  write(llvm::json::Object{
      {"jsonrpc", "2.0"}, {"method", "initialized"}, {"params", llvm::json::Object{}}});
  return true;
}

void MlirServer::stop() {
  if (toServer) {
    write(llvm::json::Object{{"jsonrpc", "2.0"}, {"method", "exit"}});
    // What could not be written has no reader any more.
    toServer->clear_error();
    toServer.reset();
  }
  if (fromServer != nullptr)
    std::fclose(fromServer);
  fromServer = nullptr;
  if (process > 0)
    waitpid(process, nullptr, 0);
  process = 0;
}

void MlirServer::write(const llvm::json::Value &message) {
  std::string text = llvm::formatv("{0}", message).str();
  *toServer << "Content-Length: " << text.size() << "\r\n\r\n" << text;
  toServer->flush();
  toServer->clear_error();
}

bool MlirServer::readUntilAnswer(llvm::StringRef id) {
  llvm::lsp::JSONTransportInputOverFile input(fromServer);
  std::string json;
  while (!input.isEndOfInput() && !input.hasError()) {
    if (llvm::failed(input.readMessage(json)))
      continue;
    llvm::Expected<llvm::json::Value> message = llvm::json::parse(json);
    if (!message) {
      llvm::consumeError(message.takeError());
      continue;
    }
    const llvm::json::Object *object = message->getAsObject();
    if (object != nullptr && object->getString("id") == id)
      return true;
    output.send(*message);
  }
  return false;
}

bool MlirServer::hand(const llvm::json::Value &message) {
  if (process == 0 && !start())
    return false;
  // MLIR's server answers messages in their order: once it has refused a request that it does not
  // know, all that the message caused has been said.
  write(message);
  write(request(barrierId, barrierId, llvm::json::Object{}));
  if (readUntilAnswer(barrierId))
    return true;
  stop();
  return false;
}

} // namespace skim::lsp
