// A directory of its own for a test, removed with everything in it; open to other users, as a daemon's runtime
// directory is.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <sys/stat.h>

namespace shapley::daemon {

class TempDirectory {
 public:
  TempDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "shapley-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
    std::filesystem::permissions(path_, std::filesystem::perms(0755));
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace shapley::daemon
