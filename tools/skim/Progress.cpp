#include "tools/skim/Progress.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Process.h"

#include <algorithm>
#include <optional>

#include <sys/ioctl.h>
#include <unistd.h>

namespace skim::tool {

namespace {

using namespace std::chrono_literals;

constexpr auto interval = 250ms;
constexpr llvm::StringLiteral clearLine = "\r\033[K";

/// The one that draws; pieces of work start and end on one thread.
Progress *current = nullptr;

/// How long work takes of which nothing is shown; none where nothing ever is.
std::optional<std::chrono::milliseconds> shownAfter() {
  std::optional<std::string> given = llvm::sys::Process::GetEnv("SKIM_PROGRESS");
  if (given && *given == "off")
    return std::nullopt;
  unsigned milliseconds = 1000;
  if (given && llvm::StringRef(*given).getAsInteger(10, milliseconds))
    milliseconds = 1000;
  return std::chrono::milliseconds(milliseconds);
}

bool canDraw() {
  // Of a terminal without colours it is not known that it can clear a line.
  return shownAfter() && llvm::sys::Process::StandardErrIsDisplayed() &&
         llvm::sys::Process::StandardErrHasColors();
}

/// LLVM's function for it asks the environment alone.
unsigned columns() {
  winsize size = {};
  bool isKnown = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return isKnown ? size.ws_col : 80;
}

/// Not through the stream of LLVM, which the thread that works may be writing to.
void write(const std::string &bytes) {
  // A line that cannot be shown is no failure of the work.
  (void)!::write(STDERR_FILENO, bytes.data(), bytes.size());
}

} // namespace

Progress::Progress(const llvm::Twine &what)
    : isActive(current == nullptr && canDraw()), delay(shownAfter().value_or(0ms)),
      text(what.str()) {
  if (!isActive)
    return;
  current = this;
  // Without a delay each line is there, however short the work is.
  if (delay == 0ms)
    draw();
  drawer = std::thread([this] { drawAgainAndAgain(); });
}

Progress::~Progress() {
  if (!isActive)
    return;
  {
    std::lock_guard lock(mutex);
    isDone = true;
  }
  change.notify_one();
  drawer.join();
  clear();
  current = nullptr;
}

void Progress::show(const llvm::Twine &what) {
  if (!isActive)
    return;
  std::lock_guard lock(mutex);
  text = what.str();
  if (delay == 0ms)
    draw();
}

void Progress::drawAgainAndAgain() {
  std::unique_lock lock(mutex);
  std::chrono::milliseconds wait = delay;
  while (!change.wait_for(lock, wait, [this] { return isDone; })) {
    wait = interval;
    if (isPaused) {
      isPaused = false;
      continue;
    }
    draw();
  }
}

void Progress::draw() {
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start).count();
  std::string line = text + ", " + std::to_string(seconds) + " s";
  // A line that wraps could not be taken back.
  line.resize(std::min<size_t>(line.size(), columns() - 1));
  write(clearLine.str() + line);
  isDrawn = true;
}

void Progress::clear() {
  std::lock_guard lock(mutex);
  if (isDrawn)
    write(clearLine.str());
  isDrawn = false;
  isPaused = true;
}

llvm::raw_ostream &messages() {
  if (current != nullptr)
    current->clear();
  return llvm::errs();
}

} // namespace skim::tool
