#include "frontends/text/Loader.h"

#include "frontends/text/Parser.h"
#include "frontends/text/Spelling.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

namespace skim::text {

namespace {

/// Longer chains of imports are refused.
constexpr unsigned maxImportDepth = 64;

/// Null, with an error at `range`, where there is no regular file of a size that is allowed:
/// a device or a pipe could be read without end.
std::unique_ptr<llvm::MemoryBuffer> readFile(llvm::StringRef path, llvm::SMRange range,
                                             Diagnostics &diagnostics,
                                             llvm::vfs::FileSystem &files) {
  llvm::ErrorOr<llvm::vfs::Status> status = files.status(path);
  if (!status) {
    diagnostics.report(Message::CannotRead, range, path, status.getError().message());
    return nullptr;
  }
  if (!status->isRegularFile()) {
    diagnostics.report(Message::NotRegularFile, range, path);
    return nullptr;
  }
  if (status->getSize() > maxFileBytes) {
    diagnostics.report(Message::CannotReadTooLarge, range, path, status->getSize(), maxFileBytes);
    return nullptr;
  }
  auto memory = files.getBufferForFile(path, /*FileSize=*/-1, /*RequiresNullTerminator=*/true);
  if (!memory) {
    diagnostics.report(Message::CannotRead, range, path, memory.getError().message());
    return nullptr;
  }
  return std::move(*memory);
}

class Loader {
public:
  Loader(Diagnostics &diagnostics, llvm::vfs::FileSystem &files)
      : diagnostics(diagnostics), files(files) {}

  void load(std::unique_ptr<llvm::MemoryBuffer> memory) {
    std::string identity = identityOf(memory->getBufferIdentifier());
    visit(std::move(memory), identity, {});
  }

  Program finish() {
    llvm::StringMap<const Pattern *> seen;
    for (const auto &file : program.files)
      for (const auto &pattern : file->tree.patterns) {
        if (pattern->name.empty())
          continue;
        auto [it, isNew] = seen.try_emplace(pattern->name, pattern.get());
        if (!isNew)
          diagnostics.report(Message::DuplicatePattern, pattern->nameRange, pattern->name)
              .note(Message::FirstHere, it->second->nameRange);
      }
    return std::move(program);
  }

private:
  /// One spelling for all paths to a file.
  std::string identityOf(llvm::StringRef path) {
    llvm::SmallString<128> real;
    if (!files.getRealPath(path, real) && !real.empty())
      return real.str().str();
    llvm::SmallString<128> absolute(path);
    if (files.makeAbsolute(absolute)) // Without a working directory the path stays as it is.
      absolute = path;
    llvm::sys::path::remove_dots(absolute, /*remove_dot_dot=*/true);
    return absolute.str().str();
  }

  void visit(std::unique_ptr<llvm::MemoryBuffer> memory, const std::string &identity,
             llvm::SMRange importedAt) {
    auto file = std::make_unique<SourceFile>();
    file->path = memory->getBufferIdentifier().str();
    // Without a parent: each message would list all importing files above it.
    file->buffer = diagnostics.sources().AddNewSourceBuffer(std::move(memory), llvm::SMLoc());
    unsigned errorsBefore = diagnostics.errorCount();
    file->tree = parse(file->buffer, diagnostics);
    llvm::SMLoc start = llvm::SMLoc::getFromPointer(
        diagnostics.sources().getMemoryBuffer(file->buffer)->getBufferStart());
    if (file->tree.patterns.empty() && file->tree.imports.empty() &&
        diagnostics.errorCount() == errorsBefore)
      diagnostics.report(Message::NoPattern, {start, start});

    SourceFile &loaded = *file;
    program.files.push_back(std::move(file));
    open.push_back({identity, importedAt});
    states[identity] = State::Open;
    visitImports(loaded);
    states[identity] = State::Done;
    open.pop_back();
  }

  void visitImports(const SourceFile &file) {
    llvm::StringMap<llvm::SMRange> importedHere;
    for (const Import &import : file.tree.imports) {
      llvm::SmallString<128> path(import.path);
      if (llvm::sys::path::is_relative(path)) {
        path = llvm::sys::path::parent_path(file.path);
        llvm::sys::path::append(path, import.path);
      }
      std::string identity = identityOf(path);
      auto [first, isNew] = importedHere.try_emplace(identity, import.pathRange);
      if (!isNew) {
        diagnostics.report(Message::DuplicateImport, import.pathRange, import.path)
            .note(Message::FirstHere, first->second);
        continue;
      }
      visitImport(path, identity, import);
    }
  }

  void visitImport(llvm::StringRef path, const std::string &identity, const Import &import) {
    auto state = states.find(identity);
    if (state != states.end()) {
      if (state->second == State::Open)
        reportCycle(identity, import);
      return;
    }
    if (open.size() >= maxImportDepth) {
      diagnostics.report(Message::ImportsTooDeep, import.pathRange, maxImportDepth);
      return;
    }
    auto memory = readFile(path, import.pathRange, diagnostics, files);
    if (!memory) {
      states[identity] = State::Done;
      return;
    }
    visit(std::move(memory), identity, import.pathRange);
  }

  void reportCycle(const std::string &identity, const Import &import) {
    Diagnostic &diagnostic =
        diagnostics.report(Message::ImportCycle, import.pathRange, import.path);
    bool inCycle = false;
    for (const OpenFile &file : open) {
      if (inCycle)
        diagnostic.note(Message::ImportedHere, file.importedAt);
      inCycle |= file.identity == identity;
    }
  }

  enum class State { Open, Done };
  struct OpenFile {
    std::string identity;
    llvm::SMRange importedAt;
  };

  Diagnostics &diagnostics;
  llvm::vfs::FileSystem &files;
  Program program;
  llvm::StringMap<State> states;
  /// From the first file down to the one being read.
  std::vector<OpenFile> open;
};

} // namespace

const Pattern *Program::find(llvm::StringRef name) const {
  for (const auto &file : files)
    for (const auto &pattern : file->tree.patterns)
      if (pattern->name == name)
        return pattern.get();
  return nullptr;
}

std::vector<llvm::StringRef> Program::names() const {
  std::vector<llvm::StringRef> names;
  for (const auto &file : files)
    for (const auto &pattern : file->tree.patterns)
      names.push_back(pattern->name);
  return names;
}

Program loadFile(llvm::StringRef path, Diagnostics &diagnostics, llvm::vfs::FileSystem &files) {
  auto memory = readFile(path, {}, diagnostics, files);
  if (!memory)
    return {};
  return loadBuffer(std::move(memory), diagnostics, files);
}

Program loadBuffer(std::unique_ptr<llvm::MemoryBuffer> buffer, Diagnostics &diagnostics,
                   llvm::vfs::FileSystem &files) {
  Loader loader(diagnostics, files);
  loader.load(std::move(buffer));
  return loader.finish();
}

const Pattern *findEntry(const Program &program, llvm::StringRef name, Diagnostics &diagnostics) {
  if (!name.empty()) {
    if (const Pattern *pattern = program.find(name))
      return pattern;
    llvm::StringRef meant = closestSpelling(name, program.names());
    if (meant.empty())
      diagnostics.report(Message::NoSuchEntry, {}, name);
    else
      diagnostics.report(Message::MisspelledEntry, {}, name, meant);
    return nullptr;
  }
  if (!program.files.empty() && !program.files.front()->tree.patterns.empty())
    return program.files.front()->tree.patterns.back().get();
  if (!program.files.empty() && !diagnostics.hasErrors())
    diagnostics.report(Message::OnlyImports, {}, program.files.front()->path);
  return nullptr;
}

} // namespace skim::text
