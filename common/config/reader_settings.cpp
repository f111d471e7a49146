#include "config/reader_settings.hpp"

#include <exception>
#include <utility>

#include "config/rows.hpp"

namespace shapley::config {

namespace {

void read_hosts(YamlReader& reader, const Value& value, std::vector<Endpoint>& into) {
  constexpr const char* k_remedy = "write NAME:PORT, or a list of such";
  const auto host = scalar<Endpoint>("", "write NAME:PORT", or_fault(parse_endpoint, " is no place to connect"));
  if (!value.node.IsSequence()) return host.read(reader, value, into.emplace_back());
  const auto hosts = reader.list(value, k_remedy);
  if (hosts && hosts->empty()) reader.fault(value, "the list is empty", k_remedy);
  if (!hosts) return;
  for (const Value& each : *hosts) host.read(reader, each, into.emplace_back());
}

OrFault<std::string> any_user(const std::string& text) {
  return text;
}

const Rows<ReaderSettings>& reader_rows() {
  static const Rows<ReaderSettings> rows{
      key("host", &ReaderSettings::hosts, {"", read_hosts}, ""),
      key("munge_socket", &ReaderSettings::munge_socket, path(""), ""),
      key("slurm_user", &ReaderSettings::slurm_user, scalar<std::string>("", "write a login name", any_user), ""),
  };
  return rows;
}

}  // namespace

tl::expected<ReaderSettings, std::vector<Fault>> parse_reader_settings(std::string_view text) {
  FaultList faults;
  ReaderSettings settings;
  try {
    YamlReader reader(faults);
    const auto document = reader.document(text);
    const auto file = document ? reader.mapping(*document, names_of(reader_rows())) : std::nullopt;
    if (file && file->find("host") == nullptr) {
      faults.add(document->line, "host is missing", "write host: NAME:PORT, where shapleyd has `listen`");
    }
    if (file) read_rows(reader, *file, reader_rows(), settings);
  } catch (const std::exception& error) {
    faults.add(0, std::string("cannot be read: ") + error.what(), "write it as docs/reference/shapleyctl.md says");
  }
  if (!faults.empty()) return tl::unexpected(faults.take());
  return settings;
}

}  // namespace shapley::config
