#include "config/configuration.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/printable.hpp"
#include "config/settings.hpp"
#include "config/yaml_reader.hpp"

namespace shapley::config {

namespace {

using Faults = std::vector<Fault>;

// A configuration of thousands of organizations stays below; a log file given by mistake does not.
constexpr std::size_t k_max_file_bytes = 4U << 20U;

constexpr const char* k_file_remedy = "name a readable file of at most 4 MiB";

tl::unexpected<Faults> whole_file_fault(std::string what, std::string remedy) {
  return tl::unexpected(Faults{{0, std::move(what), std::move(remedy)}});
}

Configuration read_configuration(std::string_view yaml, FaultList& faults, std::vector<std::string>* former) {
  Configuration configuration;
  YamlReader reader(faults, former);
  const auto document = reader.document(yaml);
  const auto file = document ? reader.file(*document, names_of(file_rows())) : std::nullopt;
  if (file) read_rows(reader, *file, file_rows(), configuration);
  return configuration;
}

tl::expected<std::string, Faults> read_file(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    return whole_file_fault("there is no such file", k_file_remedy);
  }
  if (std::filesystem::is_directory(status)) return whole_file_fault("this is a directory", k_file_remedy);
  // Opening a pipe or a device could wait without end.
  if (!error && !std::filesystem::is_regular_file(status)) {
    return whole_file_fault("this is no regular file", k_file_remedy);
  }
  const auto opened = open_to_read(file);
  if (!opened) return whole_file_fault(opened.error().what.substr(file.native().size() + 2), k_file_remedy);
  auto text = read_text(*opened, file, k_max_file_bytes);
  if (text) return *std::move(text);
  return whole_file_fault(
      text.error().code == Errc::invalid_argument ? "the file has more than 4 MiB" : "cannot be read", k_file_remedy);
}

}  // namespace

namespace {

tl::expected<Configuration, Faults> parsed_text(std::string_view yaml, std::vector<std::string>* former) {
  if (yaml.size() > k_max_file_bytes) return whole_file_fault("the file has more than 4 MiB", k_file_remedy);
  try {
    FaultList faults;
    Configuration configuration = read_configuration(yaml, faults, former);
    if (!faults.empty()) return tl::unexpected(faults.take());
    return configuration;
  } catch (const std::exception& error) {
    return whole_file_fault(std::string("cannot be read as a configuration: ") + error.what(), k_file_remedy);
  }
}

}  // namespace

tl::expected<Configuration, Faults> parse(std::string_view yaml) {
  return parsed_text(yaml, nullptr);
}

tl::expected<Recorded, Faults> parse_recorded(std::string_view yaml) {
  Recorded recorded;
  auto configuration = parsed_text(yaml, &recorded.former);
  if (!configuration) return tl::unexpected(std::move(configuration).error());
  recorded.configuration = std::move(*configuration);
  return recorded;
}

tl::expected<Loaded, Faults> load(const std::filesystem::path& file) {
  auto text = read_file(file);
  if (!text) return tl::unexpected(std::move(text).error());
  auto configuration = parse(*text);
  if (!configuration) return tl::unexpected(std::move(configuration).error());
  return Loaded{std::move(*configuration), std::move(*text)};
}

std::string format_faults(const Faults& faults, std::string_view file) {
  std::string text;
  for (const Fault& fault : faults) {
    if (!text.empty()) text += '\n';
    text += printable(file);
    if (fault.line > 0) text += ':' + std::to_string(fault.line);
    text += ": " + printable(fmt::format("{}; {}", fault.what, fault.remedy));
  }
  return text;
}

void FaultList::add(int line, std::string what, std::string remedy) {
  if (full()) return;
  faults_.push_back({line, std::move(what), std::move(remedy)});
  if (full()) {
    faults_.back() = {line, "and more faults after " + std::to_string(k_most - 1), "correct these first"};
  }
}

std::vector<Fault> FaultList::take() {
  std::stable_sort(faults_.begin(), faults_.end(), [](const Fault& a, const Fault& b) { return a.line < b.line; });
  return std::exchange(faults_, {});
}

}  // namespace shapley::config
