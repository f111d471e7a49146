// A munged of the test's own: a key that no other one has, its socket in a directory. REQUIRES: root.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/child.hpp"
#include "tests/support/waiting.hpp"

namespace shapley::test {

class PrivateMunge {
 public:
  // `directory` is made, open to all users. Another one's key: that of another host of the same cluster, whose clock is
  // so many seconds ahead by `clock` (tests/faults/stepped_clock.c, built), if it is given.
  explicit PrivateMunge(std::filesystem::path directory, const PrivateMunge* key_of = nullptr,
                        const std::string& clock = {}, int ahead = 0)
      : directory_(std::move(directory)) {
    std::filesystem::create_directories(directory_);
    ::chmod(directory_.c_str(), 0755);
    key_ = key_of == nullptr ? make_key() : key_of->key_;
    const std::string key = "--key-file=" + key_;
    const std::string at = "--socket=" + socket().string();
    const std::string pid = "--pid-file=" + (directory_ / "pid").string();
    const std::string log = "--log-file=" + (directory_ / "log").string();
    const std::string seed = "--seed-file=" + (directory_ / "seed").string();
    const std::string step = directory_ / "ahead";
    std::ofstream(step) << ahead;
    child_ = std::make_unique<Child>("munged", [&] {
      if (!clock.empty()) {
        ::setenv("LD_PRELOAD", clock.c_str(), 1);
        ::setenv("SHAPLEY_STEPPED_CLOCK", step.c_str(), 1);
      }
      const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
      ::dup2(nowhere, STDERR_FILENO);
      ::execlp("munged", "munged", "-F", "--force", key.c_str(), at.c_str(), pid.c_str(), log.c_str(), seed.c_str(),
               static_cast<char*>(nullptr));
    });
    EXPECT_TRUE(eventually([&] { return std::filesystem::exists(socket()); })) << "is munge installed?";
  }
  [[nodiscard]] pid_t pid() const { return child_->pid(); }
  [[nodiscard]] std::filesystem::path socket() const { return directory_ / "socket"; }

 private:
  [[nodiscard]] std::string make_key() const {
    const std::string file = directory_ / "key";
    std::random_device random;
    std::ofstream out(file, std::ios::binary);
    constexpr int k_bytes = 1024;
    for (int i = 0; i < k_bytes; ++i) out.put(static_cast<char>(random()));
    out.close();
    ::chmod(file.c_str(), 0600);
    return file;
  }

  std::filesystem::path directory_;
  std::string key_;
  std::unique_ptr<Child> child_;
};

}  // namespace shapley::test
