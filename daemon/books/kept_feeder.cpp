#include "daemon/books/kept_feeder.hpp"

#include <fstream>

#include "daemon/small_file.hpp"

namespace shapley::daemon {

std::filesystem::path feeder_file_of(const std::filesystem::path& ledger) {
  return ledger.string() + ".feeder";
}

std::optional<KeptFeeder> read_feeder_file(const std::filesystem::path& file) {
  std::ifstream in(file);
  KeptFeeder kept;
  if (!std::getline(in, kept.state_location_id) || !std::getline(in, kept.state_location)) return std::nullopt;
  return kept;
}

Expected<void> write_feeder_file(const std::filesystem::path& file, const KeptFeeder& feeder) {
  return replace_file(file, feeder.state_location_id + '\n' + feeder.state_location + '\n');
}

}  // namespace shapley::daemon
