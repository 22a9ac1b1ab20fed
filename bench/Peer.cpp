#include "bench/Peer.h"

#include "bench/Embedded.h"

#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace skim::bench {
namespace {

constexpr int kPatienceMilliseconds = 600'000;

Status environment(std::string message) { return {StatusCode::Environment, std::move(message)}; }

std::string textOf(const llvm::json::Object &object, llvm::StringRef key) {
  return object.getString(key).value_or("").str();
}

} // namespace

Expected<std::unique_ptr<Peer>> Peer::torch(const std::string &python, int64_t threads) {
  // A peer that has ended is an error of the next write, not a signal.
  std::signal(SIGPIPE, SIG_IGN);
  int toPeer[2], fromPeer[2];
  if (pipe2(toPeer, O_CLOEXEC) != 0 || pipe2(fromPeer, O_CLOEXEC) != 0)
    return environment(std::string("cannot make a pipe: ") + std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, toPeer[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fromPeer[1], STDOUT_FILENO);
  std::string program = python, option = "-c", script = kTorchPeer, count = std::to_string(threads);
  char *arguments[] = {program.data(), option.data(), script.data(), count.data(), nullptr};
  pid_t process = 0;
  int failure = posix_spawnp(&process, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(toPeer[0]);
  close(fromPeer[1]);
  if (failure != 0) {
    close(toPeer[1]);
    close(fromPeer[0]);
    return environment("cannot run '" + python + "': " + std::strerror(failure));
  }

  std::unique_ptr<Peer> peer(new Peer(process, toPeer[1], fromPeer[0]));
  Expected<llvm::json::Object> greeting = peer->answer();
  if (!greeting)
    return greeting.status();
  if (std::string missing = textOf(*greeting, "missing"); !missing.empty())
    return environment("'" + python + "' cannot import " + missing + " (" +
                       textOf(*greeting, "reason") +
                       "); install it with 'pip install torch' and name its interpreter with "
                       "--python, or run without a peer: --peer none");
  peer->name_ = textOf(*greeting, "name");
  peer->version_ = textOf(*greeting, "version");
  peer->kernel_ = textOf(*greeting, "kernel");
  return peer;
}

Peer::~Peer() {
  // The end of its requests ends the program.
  close(requests);
  close(answers);
  while (waitpid(process, nullptr, 0) < 0 && errno == EINTR)
    ;
}

Status Peer::gone(const std::string &what) const {
  return environment("the " + name_ + " program " + what);
}

Status Peer::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(requests, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return gone(std::string("takes no request: ") + std::strerror(errno));
    bytes.remove_prefix(written);
  }
  return Status::ok();
}

Status Peer::read(char *bytes, size_t size) {
  while (size > 0) {
    pollfd ready{answers, POLLIN, 0};
    int count = poll(&ready, 1, kPatienceMilliseconds);
    if (count < 0 && errno == EINTR)
      continue;
    if (count == 0) {
      kill(process, SIGKILL);
      return gone("gave no answer within ten minutes");
    }
    ssize_t got = ::read(answers, bytes, size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return gone("ended before it answered");
    bytes += got;
    size -= got;
  }
  return Status::ok();
}

Expected<llvm::json::Object> Peer::answer() {
  std::string line;
  for (char byte = 0;; line += byte) {
    if (Status status = read(&byte, 1); !status)
      return status;
    if (byte == '\n')
      break;
  }
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(line);
  if (!value) {
    llvm::consumeError(value.takeError());
    return gone("answered '" + line + "'; expected JSON");
  }
  if (llvm::json::Object *object = value->getAsObject())
    return std::move(*object);
  return gone("answered '" + line + "'; expected an object");
}

Expected<llvm::json::Object> Peer::ask(llvm::json::Object request) {
  std::string line;
  llvm::raw_string_ostream(line) << llvm::json::Value(std::move(request)) << '\n';
  if (Status status = write(line); !status)
    return status;
  return answer();
}

Status Peer::load(const Workload &workload) {
  const Geometry &geometry = workload.geometry();
  llvm::json::Object request{{"request", "load"},
                             {"dtype", dtypeName(workload.dtype())},
                             {"tokens", geometry.tokens},
                             {"query_heads", geometry.queryHeads},
                             {"kv_heads", geometry.kvHeads},
                             {"head_dim", geometry.headDim}};
  std::string message;
  llvm::raw_string_ostream(message) << llvm::json::Value(std::move(request)) << '\n';
  if (Status status = write(message); !status)
    return status;
  for (const std::vector<std::byte> *operand :
       {&workload.queries(), &workload.keys(), &workload.values()})
    if (Status status = write({reinterpret_cast<const char *>(operand->data()), operand->size()});
        !status)
      return status;
  return answer().status();
}

Expected<double> Peer::run() {
  Expected<llvm::json::Object> done = ask(llvm::json::Object{{"request", "run"}});
  if (!done)
    return done.status();
  if (std::optional<double> seconds = done->getNumber("seconds"))
    return *seconds;
  return gone("answered a run without its seconds");
}

Expected<std::vector<float>> Peer::output() {
  Expected<llvm::json::Object> header = ask(llvm::json::Object{{"request", "output"}});
  if (!header)
    return header.status();
  std::optional<int64_t> bytes = header->getInteger("bytes");
  if (!bytes || *bytes < 0 || *bytes % static_cast<int64_t>(sizeof(float)) != 0)
    return gone("answered with an output of no whole number of f32");
  std::vector<float> result(*bytes / sizeof(float));
  if (Status status = read(reinterpret_cast<char *>(result.data()), *bytes); !status)
    return status;
  return result;
}

} // namespace skim::bench
