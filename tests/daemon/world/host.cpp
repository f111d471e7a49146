#include "host.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "daemon/requests/queries.hpp"
#include "tests/support/must.hpp"
#include "tests/support/waiting.hpp"

namespace shapley::daemon {

std::string Booked::text() const {
  std::string text = std::to_string(job) + ' ' + organization + ' ' + std::to_string(begin) + '-';
  if (end) text += std::to_string(*end);
  if (end && reason != "ended") text += " (" + reason + ')';
  return text;
}

void Host::start() {
  service.reset();
  options.read_clock = [this] { return clock.reading(); };
  options.boot = "boot" + std::to_string(boots_);
  options.steady_clock = [this] { return std::chrono::milliseconds(1000 * (clock.truth - clock.booted)); };
  service = must(Service::start(site, options, Instant{clock.wall()}));
}

void Host::boot() {
  ++boots_;
  clock.booted = clock.truth - 30;
  start();
}

bool Host::checkpoint_ends() {
  return test::eventually([&] {
    service->tick(now());
    return !service->books().is_saving_checkpoint();
  });
}

void Host::forget_the_past() {
  clock.pass(21 * k_day);
  service->tick(now());
  if (!checkpoint_ends()) throw std::runtime_error("the checkpoint does not end");
  service->stop(now());
  if (service->books().state().memory_horizon() <= Instant{k_begin}) throw std::runtime_error("nothing is forgotten");
  start();
}

std::vector<Booked> Host::booked(const std::string& kind) const {
  std::vector<Booked> all;
  std::string last_anchor;
  for (const auto& row :
       query("SELECT job, organization, begin, end, reason, processors / 1000000, anchor FROM segments "
             "WHERE kind = '" +
             kind +
             "' AND retracted IS NULL AND (end IS NULL OR end > begin) "
             "ORDER BY job, anchor, begin, ordinal")) {
    Booked next{.job = static_cast<std::uint32_t>(std::stoul(row[0])),
                .organization = row[1],
                .begin = std::stoll(row[2]) - k_scene_zero,
                .end = {},
                .reason = row[4],
                .processors = row[5]};
    if (!row[3].empty()) next.end = std::stoll(row[3]) - k_scene_zero;
    const bool goes_on = !all.empty() && all.back().job == next.job && last_anchor == row[6] &&
                         all.back().end == next.begin && all.back().processors == next.processors;
    last_anchor = row[6];
    if (goes_on) {
      all.back().end = next.end;
      all.back().reason = next.reason;
    } else {
      all.push_back(std::move(next));
    }
  }
  std::ranges::stable_sort(all, {}, [](const Booked& each) { return std::tuple(each.job, each.begin); });
  return all;
}

std::vector<BookedGap> Host::gaps() const {
  std::vector<BookedGap> all;
  for (const auto& row : query("SELECT json_extract(payload, '$.begin'), json_extract(payload, '$.end'), "
                               "json_extract(payload, '$.cause') FROM events WHERE kind = 'observation_gap' "
                               "ORDER BY 1, 2")) {
    const BookedGap next{std::stoll(row[0]) - k_scene_zero, std::stoll(row[1]) - k_scene_zero, row[2]};
    if (!all.empty() && all.back().end == next.begin && all.back().cause == next.cause) {
      all.back().end = next.end;
    } else {
      all.push_back(next);
    }
  }
  return all;
}

std::vector<std::vector<std::string>> Host::query(const std::string& sql) const {
  return must(ledger::query(service->books().ledger(), sql));
}

std::string Host::text_of(const std::string& request) const {
  Answer answered = answer(*service, parse_request(request), service->now(), Asker::administrator, 0);
  if (const auto* text = std::get_if<std::string>(&answered)) return *text;
  ReadingThread::Connection reader(site.configuration.ledger);
  return std::get<ReadingThread::Question>(answered)(reader, {});
}

void Host::put_on_lossy_disk() {
  disk.reset();
  disk = std::make_unique<LossyDisk>(folder());
}

void Host::die(Rng& rng) {
  const std::filesystem::path before = folder();
  const std::filesystem::path image = directory / ("files" + std::to_string(++deaths_));
  std::filesystem::create_directory(image);
  if (has_lost_power()) {
    service.reset();
    std::array<std::uint64_t, k_fates> fates{};
    disk->surviving_image(image, rng, fates);
    ++boots_;
    clock.booted = clock.truth;
  } else {
    // Before SQLite closes the files, which folds the log into the ledger.
    for (const auto& entry : std::filesystem::directory_iterator(before)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("ledger.db") && !name.ends_with(".lock") && !name.ends_with("-shm"))
        std::filesystem::copy_file(entry.path(), image / name);
    }
    service.reset();
  }
  disk.reset();
  if (before != directory.path()) std::filesystem::remove_all(before);
  site.configuration.ledger = image / "ledger.db";
}

}  // namespace shapley::daemon
