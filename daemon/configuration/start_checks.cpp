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

Expected<std::vector<std::string>> protect_ledger_files(const std::filesystem::path& ledger) {
  SHAPLEY_TRY(only_refusals(check_directory(ledger.parent_path(), "ledger")));
  // The other files are beside the ledger itself, not beside a link to it.
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(ledger, error);
  const std::filesystem::path& itself = error ? ledger : resolved;
  SHAPLEY_TRY(only_refusals(check_directory(itself.parent_path(), "ledger")));
  std::vector<std::string> warnings;
  // SQLite's log and index hold the newest pages: whoever writes them writes the ledger. Whoever can open any of these
  // files, though only to read, can hold a lock on it that keeps the daemon from committing, or from starting.
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
    const std::filesystem::path file = itself.string() + suffix;
    const auto mode_before = make_private(file, "ledger");
    if (!mode_before && mode_before.error().code == Errc::denied) return tl::unexpected<Error>(mode_before.error());
    if (!mode_before || !*mode_before) continue;
    warnings.push_back(
        "ledger: " + file.string() + " had mode " + **mode_before +
        ", so that others could read it and hold up commits by a lock on it; its mode is 0600 now. "
        "Auditors get copies (shapleyctl backup) or ask shapleyd; who has it open still should close it");
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
