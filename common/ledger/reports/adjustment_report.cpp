#include "ledger/reports/adjustment_report.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "accounting/events/event_check.hpp"
#include "base/calendar.hpp"
#include "ledger/readers/past_files.hpp"
#include "ledger/reports/moment.hpp"
#include "ledger/reports/report.hpp"

namespace shapley::ledger {

namespace {

using accounting::AdjustmentKind;
using accounting::AdjustmentMade;
using accounting::Event;
using accounting::State;
using nlohmann::json;

tl::unexpected<Error> must_be(const char* member, const char* what) {
  return fail(Errc::invalid_argument, std::string("adjust: ") + member + " is " + what);
}

Expected<std::string> text_of(const json& object, const char* member) {
  const auto found = object.find(member);
  if (found == object.end() || !found->is_string() || found->get_ref<const std::string&>().empty()) {
    return must_be(member, "a text that is not empty");
  }
  return found->get<std::string>();
}

// nullopt: it is not there.
Expected<std::optional<std::int64_t>> number_of(const json& object, const char* member, std::int64_t most) {
  const auto found = object.find(member);
  if (found == object.end() || found->is_null()) return std::nullopt;
  const bool fits = found->is_number_integer() && found->get<std::int64_t>() >= 0 && found->get<std::int64_t>() <= most;
  if (!fits) return must_be(member, "a whole number that is not negative");
  return found->get<std::int64_t>();
}

Expected<std::optional<std::uint32_t>> small_number(const json& object, const char* member) {
  SHAPLEY_TRY_ASSIGN(const auto number, number_of(object, member, std::numeric_limits<std::uint32_t>::max()));
  return number ? std::optional(static_cast<std::uint32_t>(*number)) : std::nullopt;
}

Expected<std::optional<Instant>> instant_of(const json& object, const char* member) {
  SHAPLEY_TRY_ASSIGN(const auto number, number_of(object, member, accounting::k_last_instant.value));
  return number ? std::optional(Instant{*number}) : std::nullopt;
}

Expected<AttributionAsked> parse_attribution(const json& object) {
  AttributionAsked asked;
  SHAPLEY_TRY_ASSIGN(const auto job, small_number(object, "job"));
  if (job) asked.job = JobId{*job};
  SHAPLEY_TRY_ASSIGN(asked.task, small_number(object, "task"));
  SHAPLEY_TRY_ASSIGN(asked.part, small_number(object, "part"));
  SHAPLEY_TRY_ASSIGN(asked.user_id, small_number(object, "user_id"));
  if (object.contains("account")) {
    SHAPLEY_TRY_ASSIGN(asked.account, text_of(object, "account"));
  }
  SHAPLEY_TRY_ASSIGN(asked.since, instant_of(object, "since"));
  SHAPLEY_TRY_ASSIGN(asked.until, instant_of(object, "until"));
  SHAPLEY_TRY_ASSIGN(asked.into, text_of(object, "into"));
  return asked;
}

Expected<OwnershipAsked> parse_ownership(const json& object) {
  OwnershipAsked asked;
  SHAPLEY_TRY_ASSIGN(asked.nodes, text_of(object, "nodes"));
  SHAPLEY_TRY_ASSIGN(const auto since, instant_of(object, "since"));
  if (!since) return must_be("since", "a time");
  asked.since = *since;
  SHAPLEY_TRY_ASSIGN(asked.until, instant_of(object, "until"));
  const auto owners = object.find("owners");
  if (owners == object.end() || !owners->is_array()) return must_be("owners", "a list");
  for (const json& owner : *owners) {
    if (!owner.is_object()) return must_be("owners", "a list of objects");
    accounting::OwnerPart part;
    SHAPLEY_TRY_ASSIGN(part.organization, text_of(owner, "organization"));
    SHAPLEY_TRY_ASSIGN(const auto parts, number_of(owner, "parts_per_million", accounting::k_whole_node));
    part.parts_per_million = parts.value_or(0);
    asked.owners.push_back(std::move(part));
  }
  return asked;
}

Expected<JoinAsked> parse_join(const json& object, AdjustmentKind kind) {
  JoinAsked asked{.kind = kind, .organization = {}, .into = {}};
  SHAPLEY_TRY_ASSIGN(asked.organization, text_of(object, "organization"));
  SHAPLEY_TRY_ASSIGN(asked.into, text_of(object, "into"));
  return asked;
}

// What organizations are owed at the instant, by name.
std::map<std::string, double> standings_of(State& books, Instant t, accounting::EstimatorId estimator) {
  std::map<std::string, double> standings;
  const json report = status_report(books, t, estimator);
  for (const json& row : report["organizations"]) {
    standings[row["name"]] = row["standing_core_hours"];
  }
  return standings;
}

// nullopt: some of it is from before these books remember.
Expected<std::optional<State>> applied_to(State books, const std::vector<Event>& events) {
  for (const Event& event : events) {
    SHAPLEY_TRY_ASSIGN(const accounting::Applied applied, books.apply(event));
    if (applied == accounting::Applied::needs_replay) return std::nullopt;
  }
  return books;
}

// The books of all events of the ledger and of these, in the order of time.
Expected<State> books_with(const Ledger& ledger, const std::vector<Event>& events) {
  SHAPLEY_TRY_ASSIGN(Recovered books, ledger.opening());
  std::vector<Event> all;
  SHAPLEY_TRY(ledger.for_each_event(books.last_sequence, [&](const StoredEvent& stored) {
    all.push_back(stored.event);
    return Expected<void>{};
  }));
  all.insert(all.end(), events.begin(), events.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const Event& a, const Event& b) { return accounting::time_of(a) < accounting::time_of(b); });
  for (const Event& event : all) SHAPLEY_TRY(apply_told(books.state, event));
  return std::move(books.state);
}

}  // namespace

Expected<AdjustmentAsked> parse_adjustment(const json& request) {
  AdjustmentAsked asked;
  int ways = 0;
  for (const char* way : {"attribute", "own", "rename", "merge"}) {
    if (!request.contains(way)) continue;
    ++ways;
    if (!request[way].is_object()) return must_be(way, "an object");
  }
  ways += request.contains("reverse") ? 1 : 0;
  if (ways != 1) return fail(Errc::invalid_argument, "adjust: name one of attribute, own, rename, merge and reverse");
  if (request.contains("attribute")) {
    SHAPLEY_TRY_ASSIGN(asked.what, parse_attribution(request["attribute"]));
  } else if (request.contains("own")) {
    SHAPLEY_TRY_ASSIGN(asked.what, parse_ownership(request["own"]));
  } else if (request.contains("rename")) {
    SHAPLEY_TRY_ASSIGN(asked.what, parse_join(request["rename"], AdjustmentKind::rename));
  } else if (request.contains("merge")) {
    SHAPLEY_TRY_ASSIGN(asked.what, parse_join(request["merge"], AdjustmentKind::merge));
  } else {
    SHAPLEY_TRY_ASSIGN(const auto number, small_number(request, "reverse"));
    asked.what = ReversalAsked{.number = number.value_or(0)};
  }
  const auto reason = request.find("reason");
  if (reason != request.end() && reason->is_string()) asked.reason = reason->get<std::string>();
  return asked;
}

json adjustment_object(const AdjustmentMade& made) {
  return {{"number", made.number},
          {"at", made.at.value},
          {"at_utc", format_instant(made.at)},
          {"kind", name_of(made.kind)},
          {"what", made.what},
          {"organization", made.organization},
          {"into", made.into},
          {"runs", made.runs},
          {"facts", made.facts},
          {"reverses", made.reverses == 0 ? json(nullptr) : json(made.reverses)},
          {"author", made.author},
          {"reason", made.reason}};
}

json adjustments_of(const std::vector<PastAdjustment>& all, Instant since, Instant until) {
  json rows = json::array();
  for (const PastAdjustment& adjustment : all) {
    if (!adjustment.concerns(since, until)) continue;
    json row = adjustment_object(adjustment.made);
    row["reversed_by"] = nullptr;
    for (const PastAdjustment& other : all) {
      if (other.made.reverses == adjustment.made.number) row["reversed_by"] = other.made.number;
    }
    row["later"] = adjustment.made_after(until);
    row["work"] = adjustment.work ? json{{"core_hours", core_hours(*adjustment.work)},
                                         {"processor_seconds", format_micro(adjustment.work->value)}}
                                  : json(nullptr);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> booked_names(const State& books, const std::vector<std::string>& organizations) {
  std::vector<std::string> names;
  for (const std::string& name : books.organizations()) {
    const auto is_of = [&](const std::string& organization) {
      return books.find_organization(organization) == books.find_organization(name);
    };
    if (std::any_of(organizations.begin(), organizations.end(), is_of)) names.push_back(name);
  }
  return names;
}

json adjustments_report(const State& books) {
  const std::vector<AdjustmentMade> all = books.adjustments();
  json rows = json::array();
  for (const AdjustmentMade& made : all) {
    json row = adjustment_object(made);
    row["reversed_by"] = nullptr;
    for (const AdjustmentMade& later : all) {
      if (later.reverses == made.number) row["reversed_by"] = later.number;
    }
    rows.push_back(std::move(row));
  }
  return {{"report_version", k_report_version}, {"adjustments", std::move(rows)}};
}

Expected<json> preview_report(const Ledger& ledger, const AdjustmentAsked& asked, Instant now) {
  SHAPLEY_TRY_ASSIGN(Recovered recovered, ledger.recover());
  const accounting::EstimatorId estimator = ranking_estimator(recovered.state);
  SHAPLEY_TRY_ASSIGN(const AdjustmentPlan plan, plan_adjustment(ledger, recovered.state, asked, now));
  const Instant t = std::max(now, recovered.state.now());
  const std::map<std::string, double> before = standings_of(recovered.state, t, estimator);
  const std::vector<Event> events = plan.events();
  SHAPLEY_TRY_ASSIGN(std::optional<State> with, applied_to(std::move(recovered.state), events));
  if (!with) {
    SHAPLEY_TRY_ASSIGN(with, books_with(ledger, events));
  }
  const std::map<std::string, double> after = standings_of(*with, t, estimator);
  json rows = json::array();
  for (const auto& [name, standing] : before) {
    const auto found = after.find(name);
    rows.push_back({{"name", name},
                    {"standing_core_hours_before", standing},
                    {"standing_core_hours_after", found == after.end() ? json(nullptr) : json(found->second)}});
  }
  return json{{"report_version", k_report_version},
              {"adjustment", adjustment_object(plan.made)},
              {"core_hours", core_hours(plan.work)},
              {"contribution", accounting::name_of(estimator)},
              {"organizations", std::move(rows)}};
}

}  // namespace shapley::ledger
