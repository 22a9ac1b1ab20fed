// Another implementation of attention, served by a program over pipes, so that its runs and
// ours can take turns.
#ifndef SKIM_BENCH_PEER_H
#define SKIM_BENCH_PEER_H

#include "bench/Workload.h"

#include <skim/Status.h>

#include "llvm/Support/JSON.h"

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace skim::bench {

/// A peer that does not answer within ten minutes, or ends, fails the call with Environment.
class Peer {
public:
  /// PyTorch's scaled_dot_product_attention (bench/peers/torch_sdpa.py) on `threads` threads,
  /// in the Python interpreter `python`.
  static Expected<std::unique_ptr<Peer>> torch(const std::string &python, int64_t threads);

  Peer(const Peer &) = delete;
  Peer &operator=(const Peer &) = delete;
  /// Ends the program.
  ~Peer();

  const std::string &name() const { return name_; }
  const std::string &version() const { return version_; }
  const std::string &kernel() const { return kernel_; }

  /// What the runs that follow attend over.
  Status load(const Workload &workload);
  /// Causal attention once: seconds, as the program itself measures them.
  Expected<double> run();
  /// The result of the last run, [tokens, heads, head dim].
  Expected<std::vector<float>> output();

private:
  Peer(pid_t process, int requests, int answers)
      : process(process), requests(requests), answers(answers) {}

  Status write(std::string_view bytes);
  Status read(char *bytes, size_t size);
  /// One line, as JSON.
  Expected<llvm::json::Object> answer();
  Expected<llvm::json::Object> ask(llvm::json::Object request);
  Status gone(const std::string &what) const;

  pid_t process;
  int requests, answers;
  std::string name_ = "peer", version_, kernel_;
};

} // namespace skim::bench

#endif // SKIM_BENCH_PEER_H
