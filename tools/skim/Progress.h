// One line on a terminal that says how far a long piece of work is. It comes after a second, or
// after the milliseconds that SKIM_PROGRESS says (`off`: never), counts the time, and is gone when
// the work is done. Nothing is written where the standard error is no
// terminal, or one that cannot take a line back.
#ifndef SKIM_TOOLS_SKIM_PROGRESS_H
#define SKIM_TOOLS_SKIM_PROGRESS_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace skim::tool {

class Progress {
public:
  /// Within the life of another one it says nothing: the outer piece of work is the one to watch.
  explicit Progress(const llvm::Twine &what);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// What is being done now.
  void show(const llvm::Twine &what);

private:
  friend llvm::raw_ostream &messages();
  using Clock = std::chrono::steady_clock;

  void drawAgainAndAgain();
  void draw();
  void clear();

  bool isActive;
  std::chrono::milliseconds delay;
  std::mutex mutex;
  std::condition_variable change;
  std::string text;
  bool isDrawn = false, isDone = false;
  /// Something else is being written.
  bool isPaused = false;
  Clock::time_point start = Clock::now();
  std::thread drawer;
};

/// The standard error, with the line of progress taken away: for what is said while there may be
/// one.
llvm::raw_ostream &messages();

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_PROGRESS_H
