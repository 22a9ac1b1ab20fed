// The cache of kernels on disk: what is found, what is refused, many processes, and file systems
// that cannot be written.
#include "codegen/cache/KernelCache.h"

#include <skim/Compiler.h>
#include <skim/Metrics.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace skim {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const char *kText = "pattern streaming(window: index = 64) { keep q - k < window }\n";
/// Its warning stands where the text has it.
const char *kCostly = "pattern costly { keep top_k(dot(Q, K), 8) }\n";

CompileOptions ofDimension(int64_t headDim) {
  CompileOptions options;
  options.queryHeads = 4;
  options.kvHeads = 2;
  options.headDim = headDim;
  return options;
}

class CacheTest : public testing::Test {
protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "skim-cache-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override {
    fs::permissions(folder, fs::perms::owner_all);
    fs::remove_all(folder);
  }

  CompilerOptions options() { return {folder.string(), {}, &metrics}; }

  /// The warnings, or the message of the failure.
  std::string compile(const std::string &text, const CompilerOptions &compilerOptions,
                      int64_t headDim = 32) {
    std::string warnings;
    const Expected<Kernel> kernel =
        Compiler(compilerOptions).compile(Pattern::fromText(text), ofDimension(headDim), &warnings);
    return kernel ? warnings : kernel.status().message();
  }
  std::string compile(const std::string &text) { return compile(text, options()); }

  int64_t hits() { return metrics.snapshot().compile.cacheHits; }
  int64_t misses() { return metrics.snapshot().compile.cacheMisses; }

  std::vector<fs::path> files() {
    std::vector<fs::path> paths;
    for (const auto &file : fs::directory_iterator(folder))
      paths.push_back(file.path());
    return paths;
  }

  fs::path folder;
  Metrics metrics;
};

TEST_F(CacheTest, FindsTheTextAndThenTheIr) {
  EXPECT_EQ(compile(kText), "");
  EXPECT_EQ(misses(), 1);
  EXPECT_EQ(compile(kText), "");
  EXPECT_EQ(hits(), 1);
  // Other words, the same IR.
  EXPECT_EQ(compile(std::string("// A window.\n") + kText), "");
  EXPECT_EQ(hits(), 2);
  EXPECT_EQ(compile("pattern streaming(window: index = 65) { keep q - k < window }\n"), "");
  EXPECT_EQ(compile(kText, options(), 64), "");
  EXPECT_EQ(misses(), 3);
  EXPECT_EQ(files().size(), 7U); // two keys each, and one more for the other words
}

TEST_F(CacheTest, WrongTextIsNotKept) {
  EXPECT_THAT(compile("pattern p { keep k < }"), HasSubstr("error"));
  EXPECT_TRUE(files().empty());
}

TEST_F(CacheTest, WarningsAreThoseOfTheText) {
  const std::string said = compile(kCostly);
  ASSERT_THAT(said, HasSubstr("pattern.skim:1:"));
  EXPECT_EQ(compile(kCostly), said);
  EXPECT_EQ(hits(), 1);
  EXPECT_THAT(compile(std::string("\n\n") + kCostly), HasSubstr("pattern.skim:3:"));
}

TEST_F(CacheTest, ImportsArePartsOfTheKey) {
  const fs::path imported = folder / "window.skim";
  const auto write = [&](int window) {
    std::ofstream(imported) << "pattern near { keep q - k < " << window << " }\n";
  };
  const Pattern pattern = Pattern::fromText("import \"window.skim\"\npattern p { keep near() }\n",
                                            (folder / "p.skim").string());
  for (const int window : {8, 9, 9}) {
    write(window);
    ASSERT_TRUE(Compiler(options()).compile(pattern, ofDimension(32)));
  }
  EXPECT_EQ(misses(), 2);
  EXPECT_EQ(hits(), 1);
}

TEST_F(CacheTest, DamagedFilesAreCompiledAnew) {
  compile(kText);
  for (const fs::path &file : files())
    fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_EQ(compile(kText), "");
  EXPECT_EQ(misses(), 2);
  EXPECT_EQ(compile(kText), "");
  EXPECT_EQ(hits(), 1);
}

TEST_F(CacheTest, TheOldestLeaveFirst) {
  compile(kText);
  int64_t bytes = 0;
  for (const fs::path &file : files())
    bytes += static_cast<int64_t>(fs::file_size(file));
  for (const fs::path &file : files())
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(2));
  CompilerOptions bounded = options();
  bounded.cacheBytes = bytes * 5 / 2; // room for two kernels
  compile(kText, bounded, 64);
  for (const fs::path &file : files())
    fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(1));
  compile(kText, bounded); // used now
  ASSERT_EQ(hits(), 1);
  compile(kText, bounded, 48);
  EXPECT_GT(metrics.snapshot().compile.cacheEvictions, 0);
  compile(kText, bounded);
  EXPECT_EQ(hits(), 2) << "what was used last is still there";
  int64_t left = 0;
  for (const fs::path &file : files())
    left += static_cast<int64_t>(fs::file_size(file));
  EXPECT_LE(left, *bounded.cacheBytes);
}

TEST_F(CacheTest, EightProcessesShareIt) {
  std::vector<pid_t> children;
  for (int child = 0; child < 8; ++child) {
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      int wrong = 0;
      for (int i = 0; i < 4; ++i)
        wrong += compile(kText, options(), 16 * (1 + (i + child) % 4)) != "";
      ::_exit(wrong);
    }
    children.push_back(pid);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  EXPECT_EQ(files().size(), 8U) << "two keys for each of four kernels, and nothing unfinished";
  for (int i = 0; i < 4; ++i)
    compile(kText, options(), 16 * (1 + i));
  EXPECT_EQ(hits(), 4);
}

/// Every call is a hit or a miss, and every miss one compilation, whoever comes first.
TEST_F(CacheTest, ThreadsShareACompilerAndEveryCallIsCountedOnce) {
  const Compiler compiler(options());
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 4; ++i)
        failed +=
            !compiler.compile(Pattern::fromText(kText), ofDimension(16 * (1 + (i + thread) % 4)));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failed, 0);
  const CompileTotals totals = metrics.snapshot().compile;
  EXPECT_EQ(totals.cacheHits + totals.cacheMisses, 32);
  EXPECT_GE(totals.cacheMisses, 4);
  EXPECT_EQ(totals.seconds.count(), totals.cacheMisses);
  EXPECT_EQ(totals.cacheEvictions, 0);
  EXPECT_EQ(files().size(), 8U);
}

TEST_F(CacheTest, WithoutACacheCompilationsAloneAreCounted) {
  CompilerOptions none = options();
  none.cacheDirectory = "";
  compile(kText, none);
  compile(kText, none);
  compile("pattern p { keep k < }", none);
  const CompileTotals totals = metrics.snapshot().compile;
  EXPECT_EQ(totals.seconds.count(), 2);
  EXPECT_GT(totals.seconds.sum(), 0);
  EXPECT_EQ(totals.cacheHits + totals.cacheMisses, 0);
}

TEST_F(CacheTest, AKilledWriterLeavesNothingHalf) {
  // Writers of large files, killed while they write.
  for (int i = 0; i < 8; ++i) {
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      const std::shared_ptr<KernelCache> cache = KernelCache::open(options());
      const std::string large(8 << 20, 'x');
      for (int64_t key = 0;; ++key)
        cache->publish(std::to_string(key % 4), large);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(15 + 7 * i));
    ASSERT_EQ(::kill(pid, SIGKILL), 0);
    ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  }
  for (const fs::path &file : files()) {
    if (file.extension() == ".skimb") {
      EXPECT_EQ(fs::file_size(file), size_t(8) << 20) << file;
    } else {
      // What was being written goes when it is an hour old.
      EXPECT_EQ(file.extension(), ".tmp");
      fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(2));
    }
  }
  EXPECT_EQ(compile(kText), "");
  for (const fs::path &file : files())
    EXPECT_EQ(file.extension(), ".skimb");
}

TEST_F(CacheTest, FoldersThatCannotBeMadeGiveOneWarning) {
  std::ofstream(folder / "file") << "in the way";
  CompilerOptions blocked = options();
  blocked.cacheDirectory = (folder / "file" / "cache").string();
  const Compiler compiler(blocked);
  for (const char *expected : {"warning: cannot write to the cache of kernels", ""}) {
    std::string warnings;
    EXPECT_TRUE(compiler.compile(Pattern::fromText(kText), ofDimension(32), &warnings));
    EXPECT_THAT(warnings, testing::StartsWith(expected));
    EXPECT_EQ(warnings.empty(), *expected == '\0');
  }
}

/// A limit on the size of files stands for a full file system: writing fails half way.
TEST_F(CacheTest, FullFileSystemsLeaveNothing) {
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {2000, 2000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string said = compile(kText);
    ::_exit(said.find("warning: cannot write to the cache of kernels") == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(files().empty());
}

TEST_F(CacheTest, FoldersOfEverybodyAreNotUsed) {
  compile(kText);
  fs::permissions(folder, fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(compile(kText), HasSubstr("Operation not permitted"));
  EXPECT_EQ(hits(), 0);
}

TEST_F(CacheTest, ReadOnlyFoldersAreRead) {
  compile(kText);
  fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(compile(kText), "");
  EXPECT_EQ(hits(), 1);
  if (::geteuid() != 0) { // root writes everywhere
    EXPECT_THAT(compile(kText, options(), 64), HasSubstr("Permission denied"));
  }
}

TEST_F(CacheTest, TheEnvironmentSaysWhere) {
  ::setenv("SKIM_CACHE_DIR", "", 1);
  EXPECT_EQ(KernelCache::open({}), nullptr);
  ::setenv("SKIM_CACHE_DIR", (folder / "asked").c_str(), 1);
  EXPECT_EQ(compile(kText, {}), "");
  EXPECT_TRUE(fs::exists(folder / "asked"));
  ::unsetenv("SKIM_CACHE_DIR");
  ::setenv("XDG_CACHE_HOME", (folder / "caches").c_str(), 1);
  EXPECT_EQ(compile(kText, {}), "");
  EXPECT_TRUE(fs::exists(folder / "caches" / "skim"));
  ::setenv("SKIM_CACHE_BYTES", "0", 1);
  EXPECT_EQ(KernelCache::open({}), nullptr);
  ::setenv("SKIM_CACHE_BYTES", "many", 1);
  const Compiler compiler;
  for (const char *expected : {"warning: SKIM_CACHE_BYTES: expected a number of bytes", ""}) {
    std::string warnings;
    EXPECT_TRUE(compiler.compile(Pattern::fromText(kText), ofDimension(32), &warnings));
    EXPECT_THAT(warnings, testing::StartsWith(expected));
    EXPECT_EQ(warnings.empty(), *expected == '\0');
  }
  ::unsetenv("SKIM_CACHE_BYTES");
  EXPECT_EQ(KernelCache::open({.cacheBytes = 0}), nullptr);
}

/// Bar: 30 ms in a process that runs. The median of 11.
TEST_F(CacheTest, FindsWithinThirtyMilliseconds) {
  const std::string path = std::string(SKIM_EXAMPLES) + "/flash_prefill.skim";
  const Expected<Pattern> pattern = Pattern::load(path);
  ASSERT_TRUE(pattern);
  const Compiler compiler(options());
  ASSERT_TRUE(compiler.compile(*pattern, ofDimension(128)));
  std::vector<double> milliseconds;
  for (int i = 0; i < 11; ++i) {
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(compiler.compile(*pattern, ofDimension(128)));
    milliseconds.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::ranges::nth_element(milliseconds, milliseconds.begin() + 5);
  std::printf("a kernel from the cache takes %.3f ms\n", milliseconds[5]);
  EXPECT_EQ(hits(), 11);
  EXPECT_LE(milliseconds[5], 30);
}

} // namespace
} // namespace skim
