#include "daemon/configuration/start_checks.hpp"

#include "base/file_trust.hpp"

namespace shapley::daemon {

namespace {

// A fault that the check is about; that something is not there, or cannot be looked at, is for whoever opens it to say.
Expected<void> only_refusals(Expected<void> checked) {
  if (!checked && checked.error().code == Errc::denied) return checked;
  return {};
}

}  // namespace

Expected<void> check_configuration_file(const std::filesystem::path& file) {
  SHAPLEY_TRY(only_refusals(check_unwritable(file, "configuration")));
  return only_refusals(check_directory(file.parent_path(), "configuration"));
}

Expected<std::vector<std::string>> check_ledger_files(const std::filesystem::path& ledger) {
  SHAPLEY_TRY(only_refusals(check_directory(ledger.parent_path(), "ledger")));
  std::vector<std::string> warnings;
  // SQLite's log and index hold the newest pages: whoever writes them writes the ledger.
  for (const char* suffix : {"", "-wal", "-shm"}) {
    const std::filesystem::path file = ledger.string() + suffix;
    SHAPLEY_TRY(only_refusals(check_unwritable(file, "ledger")));
    if (readable_by_others(file).value_or(false)) {
      warnings.push_back(
          "ledger: " + file.string() +
          " can be read by every user, job names included; to let its group alone read it, run: chmod o-r " +
          file.string());
    }
  }
  return warnings;
}

Expected<std::vector<std::string>> check_socket_place(const std::filesystem::path& socket) {
  const std::filesystem::path directory = socket.parent_path();
  SHAPLEY_TRY(only_refusals(check_directory(directory, "socket", Sticky::allowed)));
  if (only_refusals(check_directory(directory, "socket"))) return std::vector<std::string>{};
  return std::vector<std::string>{
      "socket: every user can write to " + directory.string() +
      ": whenever shapleyd is down, another program can listen on " + socket.string() +
      " and tell shapleyctl anything; put it into a directory of its own, such as /run/shapley"};
}

}  // namespace shapley::daemon
