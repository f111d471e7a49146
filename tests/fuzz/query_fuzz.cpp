// A reader's request to a daemon with a few jobs in its books.
#include <memory>

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "../daemon/records.hpp"
#include "accounting/events/event_check.hpp"
#include "base/json.hpp"
#include "daemon/requests/queries.hpp"
#include "daemon/service.hpp"
#include "fuzz.hpp"
#include "ledger/adjustments/adjustment.hpp"
#include "ledger/reports/adjustment_report.hpp"
#include "reports/requests.hpp"
#include "tests/support/temp_directory.hpp"

namespace {

using shapley::fuzz::require;
using namespace shapley::daemon;
namespace protocol = shapley::protocol;

constexpr shapley::Instant k_now{1'700'000'000};

class Daemon {
 public:
  Daemon() {
    spdlog::set_level(spdlog::level::off);
    auto started = Service::start(site_in(directory_), {}, k_now);
    require(started.has_value(), "the daemon starts");
    service_ = std::move(*started);
    service_->begin_session(feeder_hello(), k_now);
    protocol::Observations o;
    o.sequence = 1;
    o.observed_at = k_now.value;
    o.nodes = {node_record("n1"), node_record("n2")};
    o.jobs = {running({.id = 1, .start = k_now.value - 100}),
              ended({.id = 2, .account = "chem", .start = k_now.value - 90}, k_now.value - 10),
              waiting({.id = 3, .start = k_now.value - 50})};
    o.jobs.front().name = "not \xff UTF-8";
    service_->receive(std::move(o), k_now);
    require(service_->process(k_now), "the records are booked");
  }
  // From the ledger's tables, too, as the reading thread does it; but no program is started for a report.
  // As it would be corrected: planned, not booked, so that every input finds the same books.
  void plan(const nlohmann::json& request) {
    const auto members = shapley::request_from<shapley::ledger::AdjustRequest>(request);
    if (!members) return;
    auto asked = shapley::ledger::adjustment_asked(*members);
    if (!asked) return;
    asked->author = "uid 0";
    const auto planned =
        shapley::ledger::plan_adjustment(service_->books().ledger(), service_->books().state(), *asked, k_now);
    if (!planned) return;
    for (const auto& event : planned->events()) require(shapley::accounting::check(event).has_value(), "a sound event");
  }
  [[nodiscard]] std::string ask(std::string_view request) {
    Answer answered = answer(*service_, parse_request(request), k_now);
    if (const auto* text = std::get_if<std::string>(&answered)) return *text;
    if (parse_request(request).lane == Lane::report) return "{}";
    ReadingThread::Connection reader(service_->site().configuration.ledger);
    return std::get<ReadingThread::Question>(answered)(reader, {});
  }

 private:
  shapley::TempDirectory directory_;
  std::unique_ptr<Service> service_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Daemon daemon;
  const std::string reply = daemon.ask(shapley::fuzz::text_of(data, size));
  const auto parsed = nlohmann::json::parse(reply, nullptr, false);
  // What the parser of requests refuses never gets there: nesting, above all.
  const auto request = shapley::parse_json(shapley::fuzz::text_of(data, size));
  if (request.is_object() && request.contains("reason")) daemon.plan(request);
  require(parsed.is_object(), "every request is answered with an object");
  return 0;
}
