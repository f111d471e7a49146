#include "daemon/controllers/controller_record.hpp"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "ledger/store/file_operations.hpp"

namespace shapley::daemon {

namespace {

using nlohmann::json;

json parted_object(const std::optional<ledger::Parted>& parted) {
  if (!parted) return nullptr;
  return {{"events", parted->events}, {"absent", parted->absent}, {"different", parted->different}};
}

std::string text_of(const ControllerRecord& record) {
  json object{{"copying", record.copying}, {"set_aside", json::array()}};
  for (const SetAside& entry : record.set_aside) {
    object["set_aside"].push_back({{"at", entry.at.value},
                                   {"file", entry.file},
                                   {"common", entry.common},
                                   {"parted", parted_object(entry.parted)}});
  }
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

// json::exception: something is not there, or of another type.
ControllerRecord record_of(const json& object) {
  ControllerRecord record{.copying = object.at("copying").get<bool>(), .set_aside = {}};
  for (const json& entry : object.at("set_aside")) {
    SetAside& read = record.set_aside.emplace_back();
    read.at.value = entry.at("at").get<std::int64_t>();
    read.file = entry.at("file").get<std::string>();
    read.common = entry.at("common").get<std::int64_t>();
    const json& parted = entry.at("parted");
    if (parted.is_null()) continue;
    read.parted = ledger::Parted{.events = parted.at("events").get<std::int64_t>(),
                                 .absent = parted.at("absent").get<std::int64_t>(),
                                 .different = parted.at("different").get<std::int64_t>()};
  }
  return record;
}

Expected<void> write_all(const std::filesystem::path& file, const std::string& text) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, ledger::k_live_file_mode);
  if (descriptor < 0) return system_failure(file.string() + ": cannot write it", errno);
  const ssize_t written = ::write(descriptor, text.data(), text.size());
  const int cause = errno;
  ::close(descriptor);
  if (written < 0) return system_failure(file.string() + ": cannot write it", cause);
  if (static_cast<std::size_t>(written) != text.size()) {
    return fail(Errc::no_space, file.string() + ": cannot write all of it; make room on its disk");
  }
  return ledger::sync_file(file);
}

}  // namespace

std::filesystem::path record_file(const std::filesystem::path& ledger) {
  return ledger.string() + ".controller";
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
    return fail(Errc::corrupt,
                "controllers: " + file.string() +
                    ": is not as shapleyd writes it; look at the other controller's shapleyctl status: if this "
                    "one's ledger is a whole one, remove the file");
  }
}

Expected<void> write_record(const std::filesystem::path& file, const ControllerRecord& record) {
  const std::filesystem::path partial = file.string() + ".partial";
  SHAPLEY_TRY(write_all(partial, text_of(record)));
  if (std::rename(partial.c_str(), file.c_str()) != 0) {
    return system_failure("controllers: " + file.string() + ": cannot put it in its place", errno);
  }
  return ledger::sync_file(std::filesystem::absolute(file).parent_path());
}

}  // namespace shapley::daemon
