// The C interface. Only return values may leave it: an exception in slurmctld would end slurmctld, so each body catches
// everything and returns "no change".
#include "plugin/client/shapley_client.h"

#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/client/client.hpp"
#include "plugin/client/scan/records.hpp"

namespace shapley::client {

namespace {

std::string_view view(const char* value) {
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// Runs the body, if there is a client at all; `fallback` after an exception.
template <typename Result, typename Body>
Result guarded(const shapley_client_t* client, Result fallback, Body body) noexcept {
  if (client == nullptr) return fallback;
  try {
    return body();
  } catch (...) {
    return fallback;
  }
}

template <typename Body>
bool scanning(shapley_client_t* client, Body body) noexcept {
  if (client == nullptr) return false;
  try {
    return body(client->scanner);
  } catch (...) {
    client->scanner.give_up();
    return false;
  }
}

protocol::JobTraits traits_of(const shapley_job_traits_t& traits) {
  return {.account = view(traits.account),
          .account_ancestors = std::span(traits.account_ancestors, traits.account_ancestors_count),
          .partition = view(traits.partition),
          .qos = view(traits.qos),
          .user_id = traits.user_id,
          .group_id = traits.group_id};
}

template <typename Body>
bool placing(shapley_client_t* client, Body body) noexcept {
  if (client == nullptr) return false;
  try {
    return body(client->places);
  } catch (...) {
    client->places_failed = true;
    return false;
  }
}

// Identifies one life of the plugin. 63 bits, so that it also fits where integers are signed.
std::uint64_t draw_instance() {
  std::uint64_t instance = 0;
  if (::getrandom(&instance, sizeof instance, GRND_NONBLOCK) != sizeof instance) {
    instance = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) ^
               (static_cast<std::uint64_t>(::getpid()) << 40U);
  }
  return (instance >> 1U) | 1U;
}

protocol::Hello hello_from(const shapley_client_options_t& options) {
  protocol::Hello hello;
  hello.role = protocol::Role::feeder;
  hello.program = text_or_empty(options.program);
  hello.cluster = text_or_empty(options.cluster);
  hello.slurm_version = text_or_empty(options.slurm_version);
  hello.instance = draw_instance();
  hello.min_job_age_s = options.min_job_age_s;
  hello.interval_ms = options.interval_ms;
  // The first scan follows at once, and slurmctld starts no job before it has begun.
  hello.observing_since = std::time(nullptr);
  hello.controller_ran_at = options.state_saved_at;
  const std::filesystem::path location = std::filesystem::path(text_or_empty(options.spool_path)).parent_path();
  hello.state_location = location.string().substr(0, protocol::k_max_location);
  struct stat directory {};
  if (::stat(location.c_str(), &directory) == 0) {
    hello.state_location_id = std::to_string(directory.st_dev) + ':' + std::to_string(directory.st_ino);
  }
  return hello;
}

}  // namespace

shapley_client_t* create(const shapley_client_options_t& options, const Timings& timings) noexcept {
  const Log log(options.log);
  try {
    FeederOptions feeder_options{.socket_path = text_or_empty(options.socket_path),
                                 .spool_path = text_or_empty(options.spool_path),
                                 .spool_max_bytes = options.spool_max_bytes,
                                 .hello = hello_from(options),
                                 .timings = timings};
    auto client = std::make_unique<shapley_client>(std::move(feeder_options), log);
    Expected<void> started =
        client->event.is_open() ? client->feeder.start() : fail(Errc::unavailable, "no file descriptor is left");
    if (started) return client.release();
    log.error("client: " + started.error().what + "; jobs are neither observed nor ranked");
  } catch (...) {
    if (options.log != nullptr)
      options.log(SHAPLEY_LOG_ERROR, "client: out of memory; jobs are neither observed nor ranked");
  }
  return nullptr;
}

}  // namespace shapley::client

using shapley::client::guarded;
using shapley::client::placing;
using shapley::client::scanning;
using shapley::client::traits_of;
using shapley::client::view;

extern "C" {

shapley_client_t* shapley_client_create(const shapley_client_options_t* options) {
  return options == nullptr ? nullptr : shapley::client::create(*options, shapley::client::Timings());
}

void shapley_client_destroy(shapley_client_t* client) {
  if (client == nullptr) return;
  client->wake_up.stop();
  delete client;
}

void shapley_client_scan_begin(shapley_client_t* client, int64_t now) {
  scanning(client, [&](auto& scanner) {
    if (auto rule = client->board.take_charge_rule()) client->requests.set_rule(*std::move(rule));
    return scanner.begin(now), true;
  });
}

bool shapley_client_scan_begin_runs(shapley_client_t* client, int64_t now, int64_t now_ms) {
  return scanning(client, [&](auto& scanner) {
    if (!scanner.begin_runs(now)) return false;
    placing(client,
            [&](auto& places) { return places.begin_runs(scanner.number(), client->board.ranking(), now_ms), true; });
    return true;
  });
}

bool shapley_client_scan_quick_hash(shapley_client_t* client, uint32_t job_id, uint64_t quick_hash) {
  return scanning(client, [&](auto& scanner) { return scanner.same_quick_hash(job_id, quick_hash); });
}

bool shapley_client_scan_job(shapley_client_t* client, uint32_t job_id, uint64_t fingerprint, uint64_t quick_hash) {
  return scanning(client, [&](auto& scanner) { return scanner.job_changed(job_id, fingerprint, quick_hash); });
}

void shapley_client_scan_record(shapley_client_t* client, const shapley_job_t* job) {
  if (job != nullptr) scanning(client, [&](auto& scanner) { return scanner.add(*job), true; });
}

bool shapley_client_scan_node(shapley_client_t* client, uint32_t index, uint64_t fingerprint) {
  return scanning(client, [&](auto& scanner) { return scanner.node_changed(index, fingerprint); });
}

void shapley_client_scan_node_record(shapley_client_t* client, uint32_t index, const shapley_node_t* node) {
  if (node != nullptr) scanning(client, [&](auto& scanner) { return scanner.add(index, *node), true; });
}

void shapley_client_scan_closed_partition(shapley_client_t* client, const char* name) {
  if (name != nullptr) scanning(client, [&](auto& scanner) { return scanner.note_closed(name), true; });
}

void shapley_client_scan_privacy(shapley_client_t* client, const shapley_privacy_t* privacy) {
  if (privacy != nullptr) scanning(client, [&](auto& scanner) { return scanner.note_privacy(*privacy), true; });
}

void shapley_client_scan_end(shapley_client_t* client, bool complete) {
  scanning(client, [&](auto& scanner) {
    if (scanner.is_of_runs()) placing(client, [](auto& places) { return places.end_runs(), true; });
    return scanner.end(complete), true;
  });
}

shapley_order_t shapley_client_order(shapley_client_t* client) {
  return guarded(client, shapley_order_t{}, [&] { return client->board.order(); });
}

uint32_t shapley_client_rank(shapley_client_t* client, const shapley_job_traits_t* traits) {
  if (traits == nullptr) return 0;
  return guarded(client, std::uint32_t{0}, [&] { return client->board.rank(traits_of(*traits)); });
}

uint32_t shapley_client_organization(shapley_client_t* client, const shapley_job_traits_t* traits) {
  if (traits == nullptr) return 0;
  return guarded(client, std::uint32_t{0}, [&] { return client->board.organization(traits_of(*traits)); });
}

uint32_t shapley_client_level(shapley_client_t* client, uint32_t job_id) {
  return guarded(client, std::uint32_t{0}, [&] { return client->board.level(job_id); });
}

void shapley_client_places_begin(shapley_client_t* client, uint32_t labels, int64_t reach, int64_t now_ms) {
  placing(client, [&](auto& places) {
    client->places_failed = false;
    return places.begin(client->scanner.number(), client->board.ranking(), labels, reach, now_ms), true;
  });
}

void shapley_client_place(shapley_client_t* client, const shapley_waiting_t* waiting) {
  if (waiting != nullptr) placing(client, [&](auto& places) { return places.add(*waiting), true; });
}

bool shapley_client_place_again(shapley_client_t* client, uint32_t job_id, int64_t own_order, uint32_t level,
                                uint32_t label) {
  return placing(client, [&](auto& places) { return places.add_again(job_id, own_order, level, label); });
}

void shapley_client_hold(shapley_client_t* client, uint32_t job_id, uint32_t organization) {
  placing(client, [&](auto& places) { return places.hold(job_id, organization), true; });
}

shapley_decisions_t shapley_client_places_decide(shapley_client_t* client, bool complete) {
  shapley_decisions_t decided{};
  placing(client, [&](auto& places) {
    const bool is_whole = complete && !client->places_failed;
    const auto& decisions = client->scanner.is_of_runs() ? places.decide_by_runs() : places.end(is_whole);
    decided = {.labels = decisions.labels.data(),
               .labels_count = decisions.labels.size(),
               .splits = decisions.splits.data(),
               .splits_count = decisions.splits.size(),
               .in_line = decisions.in_line,
               .looked_at = decisions.looked_at,
               .events = decisions.events,
               .cut = decisions.cut};
    return true;
  });
  return decided;
}

bool shapley_client_places_due(shapley_client_t* client, int64_t now_ms) {
  return placing(client, [&](auto& places) { return places.is_due(now_ms); });
}

void shapley_client_hint(shapley_client_t* client) {
  guarded(client, 0, [&] { return client->wake_up.hint(), 0; });
}

enum shapley_wake shapley_client_wait(shapley_client_t* client, uint32_t timeout_ms) {
  // Without a client a caller that loops must end, not spin.
  return guarded(client, SHAPLEY_WAKE_STOP,
                 [&] { return client->wake_up.wait(std::chrono::milliseconds(timeout_ms)); });
}

void shapley_client_stop(shapley_client_t* client) {
  guarded(client, 0, [&] { return client->wake_up.stop(), 0; });
}
}
