// A directory of its own for a test, removed with everything in it; open to other users, as a daemon's runtime
// directory is.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace shapley {

class TempDirectory {
 public:
  enum class Place {
    disk,
    memory,  // where that is possible: on disk every commit waits for it, and properties commit by the thousand
  };

  explicit TempDirectory(Place place = Place::disk) {
    const std::filesystem::path memory = "/dev/shm";
    const bool in_memory =
        place == Place::memory && std::filesystem::is_directory(memory) && ::access(memory.c_str(), W_OK) == 0;
    std::string pattern =
        ((in_memory ? memory : std::filesystem::temp_directory_path()) / "shapley-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
    path_ = pattern;
    std::filesystem::permissions(path_, std::filesystem::perms(0755));
  }
  ~TempDirectory() {
    std::error_code ignored;  // a test that leaves it read-only has failed already
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace shapley
