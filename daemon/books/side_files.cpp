#include "daemon/books/side_files.hpp"

#include <utility>

#include "base/files.hpp"
#include "base/json.hpp"
#include "ledger/file/files.hpp"

namespace shapley::daemon {

template <typename Value>
SideFile<Value>::SideFile(const std::filesystem::path& ledger) : path_(path_of(ledger)) {
  const auto text = read_text_file(path_, k_max_document);
  if (!text) return;
  if (auto value = from_json<Value>(parse_json(*text))) value_ = *std::move(value);
}

template <typename Value>
Expected<void> SideFile<Value>::write() {
  if (is_written_) return {};
  SHAPLEY_TRY(
      shapley::replace_file(path_, shapley::text_of(shapley::json_of(*value_)) + '\n', shapley::Readers::owner));
  is_written_ = true;
  return {};
}

template class SideFile<Upkeep>;
template class SideFile<KeptPrivacy>;
template class SideFile<KeptClock>;
template class SideFile<KeptLook>;
template class SideFile<KeptFeeder>;

}  // namespace shapley::daemon
