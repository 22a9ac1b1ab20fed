// A language server for `.skim` patterns and for `.mlir` files with the dialects of this project,
// over the standard streams.
#include "tools/skim-lsp-server/Server.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"

#include <csignal>

namespace {

using llvm::lsp::JSONStreamStyle;
using llvm::lsp::Logger;
namespace cl = llvm::cl;

/// Not global: MLIR's server has options of its own, some of the same names.
struct ServerOptions {
  cl::OptionCategory category{"Options"};
  cl::opt<Logger::Level> logLevel{
      "log", cl::desc("what is written to the standard error (default: error)"),
      cl::values(clEnumValN(Logger::Level::Error, "error", "what went wrong"),
                 clEnumValN(Logger::Level::Info, "info", "each message, by its name"),
                 clEnumValN(Logger::Level::Debug, "verbose", "each message whole")),
      cl::init(Logger::Level::Error), cl::cat(category)};
  cl::opt<JSONStreamStyle> inputStyle{
      "input-style", cl::desc("how messages arrive (default: standard)"),
      cl::values(
          clEnumValN(JSONStreamStyle::Standard, "standard", "each behind a header with its length"),
          clEnumValN(JSONStreamStyle::Delimited, "delimited", "lines of '// -----' between them")),
      cl::init(JSONStreamStyle::Standard), cl::cat(category)};
  cl::opt<bool> pretty{"pretty", cl::desc("write messages over several lines (default: off)"),
                       cl::cat(category)};
  cl::opt<bool> litTest{"lit-test",
                        cl::desc("as --input-style=delimited --pretty, and with addresses of the "
                                 "scheme 'test' (default: off)"),
                        cl::cat(category)};
  cl::opt<bool> standardStreams{"stdio",
                                cl::desc("talk over the standard streams, as always (default: on)"),
                                cl::init(true), cl::cat(category)};
  cl::opt<bool> mlirAlone{"mlir",
                          cl::desc("as the only option: be MLIR's server, for .mlir alone "
                                   "(default: off)"),
                          cl::cat(category)};
};

void printVersion(llvm::raw_ostream &os) {
  os << "skim-lsp-server " SKIM_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  if (argc == 2 && argv[1] == skim::lsp::mlirFlag)
    return llvm::succeeded(skim::lsp::serveMlir(argv[0])) ? 0 : 1;
  ServerOptions options;
  cl::HideUnrelatedOptions(options.category);
  cl::SetVersionPrinter(printVersion);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Language server for .skim patterns and .mlir files, over the standard streams.\n");
  // A process that has ended is noticed where its answer is missing.
  std::signal(SIGPIPE, SIG_IGN);
  JSONStreamStyle inputStyle = options.inputStyle;
  bool pretty = options.pretty;
  if (options.mlirAlone) {
    llvm::errs() << "skim-lsp-server: --mlir stands alone\n";
    return 2;
  }
  if (options.litTest) {
    inputStyle = JSONStreamStyle::Delimited;
    pretty = true;
    llvm::lsp::URIForFile::registerSupportedScheme("test");
  }
  Logger::setLogLevel(options.logLevel);
  skim::lsp::Lifetime lifetime;
  skim::lsp::ClientOutput output(llvm::outs(), pretty);
  skim::lsp::MlirServer mlir(
      llvm::sys::fs::getMainExecutable(argv[0], reinterpret_cast<void *>(&printVersion)), output);
  llvm::lsp::JSONTransport transport(
      std::make_unique<skim::lsp::ClientInput>(stdin, inputStyle, lifetime, output, mlir),
      llvm::outs(), pretty);
  skim::lsp::Server server(transport, lifetime);
  if (llvm::Error error = server.run()) {
    std::string message = llvm::toString(std::move(error));
    if (!lifetime.isShutDown)
      Logger::error("the client left: {0}", message);
  }
  return lifetime.isShutDown ? 0 : 1;
}
