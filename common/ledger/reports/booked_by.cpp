#include "ledger/reports/booked_by.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "ledger/readers/declarations.hpp"
#include "ledger/store/query.hpp"

namespace shapley::ledger {

namespace {

using accounting::AdjustmentMade;
using nlohmann::json;

// Whether an adjustment restated a run of the job: the facts behind it say so.
Expected<bool> restated(const Ledger& ledger, const AdjustmentMade& made, const json& job) {
  const std::string first =
      "(SELECT seq FROM event_texts WHERE key = 'adjustment_made/" + std::to_string(made.number) + "')";
  SHAPLEY_TRY_ASSIGN(const auto rows,
                     query(ledger, "SELECT 1 FROM event_rows WHERE kind = 2 AND job = " + job["job"].dump() +
                                       " AND anchor >= " + job["submit"].dump() + " AND seq > " + first +
                                       " AND seq <= " + first + " + " + std::to_string(made.facts) + " LIMIT 1"));
  return !rows.empty();
}

// The last adjustment that gave a run of the job to another organization and was not taken back; null: none did.
Expected<json> adjustment_of(const Ledger& ledger, const Moment& moment, const json& job) {
  std::set<std::uint32_t> reversed;
  for (const AdjustmentMade& made : moment.adjustments) reversed.insert(made.reverses);
  for (auto last = moment.adjustments.rbegin(); last != moment.adjustments.rend(); ++last) {
    const AdjustmentMade& made = *last;
    if (made.kind != accounting::AdjustmentKind::attribute || reversed.contains(made.number)) continue;
    SHAPLEY_TRY_ASSIGN(const bool is_of_job, restated(ledger, made, job));
    if (!is_of_job) continue;
    json out{{"by", "adjustment"}, {"number", made.number}, {"reason", made.reason}};
    add_instant(out, "at", made.at);
    return out;
  }
  return json(nullptr);
}

// When it was decided whose the job is: a run stays whose it was when it began.
Instant decided_at(const Moment& moment, const json& job) {
  if (job["begin"].is_number_integer()) return Instant{job["begin"].get<std::int64_t>()};
  return job["state"] == "ended" ? Instant{job["submit"].get<std::int64_t>()} : moment.at;
}

}  // namespace

Expected<json> booked_by(const Ledger& ledger, const Moment& moment, const json& job, const json& rule,
                         const RuleIn& rule_in) {
  const std::string booked = job["organization"];
  const auto leads_there = [&](const json& to) {
    return !to.is_null() && moment.row_name(to["organization"]) == booked;
  };
  if (leads_there(rule)) return json{{"by", "rule"}};
  SHAPLEY_TRY_ASSIGN(json adjustment, adjustment_of(ledger, moment, job));
  if (!adjustment.is_null()) return adjustment;
  SHAPLEY_TRY_ASSIGN(const auto loaded, configuration_behind(ledger, decided_at(moment, job)));
  const RuleFound then = loaded ? rule_in(loaded->text) : RuleFound();
  if (leads_there(then.rule)) {
    json out{{"by", "rule of then"}, {"rule", then.rule}};
    add_instant(out, "loaded", loaded->at);
    return out;
  }
  if (then.rule.is_null() && booked == accounting::k_guests) return json{{"by", "no rule"}};
  const bool may_be_above = std::ranges::any_of(
      then.by_account, [&](const std::string& organization) { return moment.row_name(organization) == booked; });
  return json{{"by", may_be_above ? "account above" : "unknown"}};
}

}  // namespace shapley::ledger
