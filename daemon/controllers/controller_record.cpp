#include "daemon/controllers/controller_record.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <utility>

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "base/counted.hpp"
#include "daemon/small_file.hpp"

namespace shapley::daemon {

namespace {

using nlohmann::json;

// json::exception: something is not there, or of another type.
ControllerRecord record_of(const json& object) {
  ControllerRecord record{.copying = object.at("copying").get<bool>(), .set_aside = {}};
  for (const json& entry : object.at("set_aside")) {
    SetAside& read = record.set_aside.emplace_back();
    read.at.value = entry.at("at").get<std::int64_t>();
    read.file = entry.at("file").get<std::string>();
    read.common = entry.at("common").get<std::int64_t>();
    if (entry.at("events").is_null()) continue;
    read.parted = ledger::Parted{.events = entry.at("events").get<std::int64_t>(),
                                 .absent = entry.at("absent").get<std::int64_t>(),
                                 .different = entry.at("different").get<std::int64_t>()};
  }
  return record;
}

}  // namespace

std::filesystem::path record_file(const std::filesystem::path& ledger) {
  return ledger.string() + ".controller";
}

json json_of(const std::vector<SetAside>& entries) {
  json list = json::array();
  for (const SetAside& entry : entries) {
    const auto count = [&](std::int64_t ledger::Parted::*of) {
      return entry.parted ? json(*entry.parted.*of) : json();
    };
    list.push_back({{"at", entry.at.value},
                    {"file", entry.file},
                    {"common", entry.common},
                    {"events", count(&ledger::Parted::events)},
                    {"absent", count(&ledger::Parted::absent)},
                    {"different", count(&ledger::Parted::different)}});
  }
  return list;
}

Expected<ControllerRecord> read_record(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) {
    if (errno == ENOENT) return ControllerRecord{};
    return system_failure("controllers: " + file.string() + ": cannot read it", errno);
  }
  const std::string text(std::istreambuf_iterator<char>(in), {});
  try {
    return record_of(json::parse(text));
  } catch (const json::exception&) {
    return fail(Errc::corrupt, "controllers: " + file.string() +
                                   ": is not as shapleyd writes it; look at the other controller's shapleyctl status: "
                                   "if this one's ledger is a whole one, remove the file");
  }
}

Expected<void> write_record(const std::filesystem::path& file, const ControllerRecord& record) {
  const json object{{"copying", record.copying}, {"set_aside", json_of(record.set_aside)}};
  return replace_file(file, object.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

Expected<void> set_ledger_aside(const std::filesystem::path& ledger, const Parting& parting, Instant now) {
  SHAPLEY_TRY_ASSIGN(ControllerRecord record, read_record(record_file(ledger)));
  SHAPLEY_TRY_ASSIGN(const std::filesystem::path aside, ledger::set_aside(ledger, now));
  spdlog::warn("controllers: the ledger that was continued elsewhere is kept as {}, with {} of its own after event {}",
               aside.string(), counted(parting.own, "event"), parting.common);
  record.set_aside.push_back({.at = now, .file = aside.string(), .common = parting.common, .parted = std::nullopt});
  if (record.set_aside.size() > k_max_set_aside) record.set_aside.erase(record.set_aside.begin());
  return write_record(record_file(ledger), record);
}

}  // namespace shapley::daemon
