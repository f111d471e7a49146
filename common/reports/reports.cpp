// The functions of the report types: words of enumerations, forms of their own in JSON, what is looked up in one.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/adjustments.hpp"
#include "reports/explain.hpp"
#include "reports/jobs.hpp"
#include "reports/status.hpp"

namespace shapley::ledger {

namespace {

using nlohmann::json;

bool is_pair(const json& value) {
  const auto fits = [](const json& item) {
    return item.is_number_unsigned() && std::in_range<std::uint32_t>(item.get<std::uint64_t>());
  };
  return value.is_array() && value.size() == 2 && fits(value[0]) && fits(value[1]);
}

}  // namespace

std::string_view name_of(JobTurn turn) {
  switch (turn) {
    case JobTurn::running:
      return "running";
    case JobTurn::waiting:
      return "waiting";
    case JobTurn::suspended:
      return "suspended";
    case JobTurn::ended:
      return "ended";
    case JobTurn::not_submitted:
      return "not submitted";
    case JobTurn::hypothetical:
      return "hypothetical";
    case JobTurn::blocked:
      break;
  }
  return "blocked";
}

std::string_view name_of(Because because) {
  if (because == Because::guests) return "guests";
  if (because == Because::guarantee) return "guarantee";
  return because == Because::key ? "key" : "order";
}

std::string_view name_of(BookedWay way) {
  switch (way) {
    case BookedWay::rule:
      return "rule";
    case BookedWay::adjustment:
      return "adjustment";
    case BookedWay::rule_of_then:
      return "rule of then";
    case BookedWay::no_rule:
      return "no rule";
    case BookedWay::account_above:
      return "account above";
    case BookedWay::unknown:
      break;
  }
  return "unknown";
}

json json_value(const ArrayTask& task) {
  return {task.array, task.task};
}

bool take_json_value(const json& value, ArrayTask& task) {
  if (!is_pair(value)) return false;
  task = {value[0].get<std::uint32_t>(), value[1].get<std::uint32_t>()};
  return true;
}

json json_value(const HetPart& part) {
  return {part.het_job, part.part};
}

bool take_json_value(const json& value, HetPart& part) {
  if (!is_pair(value)) return false;
  part = {value[0].get<std::uint32_t>(), value[1].get<std::uint32_t>()};
  return true;
}

std::string AdjustmentRow::sentence() const {
  return what + (kind == accounting::AdjustmentKind::attribute ? fmt::format(" are {}'s", into) : "");
}

const OrganizationRow* StatusReport::find(const std::string& organization) const {
  const auto row =
      std::ranges::find_if(organizations, [&](const OrganizationRow& r) { return r.is.name == organization; });
  return row == organizations.end() ? nullptr : &*row;
}

}  // namespace shapley::ledger
