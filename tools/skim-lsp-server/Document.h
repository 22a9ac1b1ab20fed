// One open `.skim` document: what its text means, in the terms of the protocol.
#ifndef SKIM_TOOLS_SKIM_LSP_SERVER_DOCUMENT_H
#define SKIM_TOOLS_SKIM_LSP_SERVER_DOCUMENT_H

#include "tools/skim-lsp-server/Resolve.h"

#include "llvm/Support/LSP/Protocol.h"

namespace skim::lsp {

class Document {
public:
  Document(llvm::lsp::URIForFile uri, llvm::StringRef text, llvm::vfs::FileSystem &files);

  /// Whether the document depends on a file, directly or not.
  bool imports(llvm::StringRef path) const;
  /// Errors and warnings, in the order they were found. Those about an imported file stand at the
  /// import, or at the call that reaches them, with the place as related information.
  std::vector<llvm::lsp::Diagnostic> diagnostics() const;
  std::optional<llvm::lsp::Hover> hover(const llvm::lsp::Position &position) const;
  std::vector<llvm::lsp::Location> definition(const llvm::lsp::Position &position) const;
  std::vector<llvm::lsp::Location> references(const llvm::lsp::Position &position) const;
  std::vector<llvm::lsp::DocumentSymbol> symbols() const;
  /// Repairs of the diagnostics that touch a range.
  std::vector<llvm::lsp::CodeAction> repairs(const llvm::lsp::Range &range) const;
  /// Completion.cpp: names in scope and words of the language that may stand at a place.
  llvm::lsp::CompletionList completion(const llvm::lsp::Position &position) const;

private:
  std::optional<Meaning> meaningAt(const llvm::lsp::Position &position) const;
  size_t offsetIn(llvm::SMLoc location) const {
    return location.getPointer() - analysis->text().data();
  }
  llvm::lsp::Range rangeOf(llvm::SMRange range) const;
  bool isHere(llvm::SMLoc location) const {
    return analysis->fileOf(location) == &analysis->file();
  }
  /// Nothing for a file whose path is no address.
  std::optional<llvm::lsp::Location> locationOf(llvm::SMRange range) const;
  /// Where a diagnostic is shown in this document.
  llvm::SMRange shownAt(const text::Diagnostic &diagnostic) const;
  llvm::SMRange importOf(const text::SourceFile &file) const;
  llvm::lsp::Diagnostic convert(const text::Diagnostic &diagnostic) const;
  llvm::lsp::Diagnostic convert(const AssumedValue &assumed) const;

  llvm::lsp::URIForFile uri;
  std::unique_ptr<Analysis> analysis;
};

} // namespace skim::lsp

#endif // SKIM_TOOLS_SKIM_LSP_SERVER_DOCUMENT_H
