#include "ledger/store/file_operations.hpp"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

namespace shapley::ledger {

Expected<void> sync_file(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  const int cause = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (synced) return {};
  return system_failure(file.string() + ": cannot be synced", cause);
}

Expected<void> rename_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return system_failure(to.string() + ": cannot put the copy in its place", errno);
  }
  return sync_file(std::filesystem::absolute(to).parent_path());
}

}  // namespace shapley::ledger
