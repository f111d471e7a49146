#include "ledger/adjustments/adjustment.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "accounting/events/event_check.hpp"
#include "base/calendar.hpp"
#include "base/nearest.hpp"
#include "base/slurm_text.hpp"
#include "ledger/adjustments/attribution.hpp"
#include "ledger/encoding/event_reader.hpp"
#include "ledger/readers/declarations.hpp"
#include "ledger/store/rows.hpp"

namespace shapley::ledger {

namespace {

using accounting::AdjustmentKind;
using accounting::AdjustmentMade;
using accounting::Event;
using accounting::OwnershipStated;
using accounting::State;
using accounting::WorkSettled;

std::string in_time(const std::optional<Instant>& since, const std::optional<Instant>& until) {
  std::string text;
  if (since) text += ", since " + format_instant(*since);
  if (until) text += ", until " + format_instant(*until);
  return text;
}

// A user by the name in the books, too, by which people who read the list know them.
std::string words_of_asked(const AttributionAsked& asked, const accounting::UserNames& names) {
  std::string whose;
  if (asked.job && asked.task) {
    whose = fmt::format("job {}_{}", asked.job->value, *asked.task);
  } else if (asked.job && asked.part) {
    whose = fmt::format("job {}+{}", asked.job->value, *asked.part);
  } else if (asked.job) {
    whose = "job " + std::to_string(asked.job->value);
  } else if (asked.account) {
    whose = "account " + *asked.account;
  } else {
    const std::uint32_t number = asked.user_id.value_or(0);
    const auto name = names.find(number);
    whose = name == names.end() ? fmt::format("user {}", number) : fmt::format("user {} ({})", name->second, number);
  }
  return fmt::format("runs of {}{}", whose, in_time(asked.since, asked.until));
}

std::string percent_text(std::int64_t parts_per_million) {
  std::string text = std::to_string(parts_per_million / 10'000);
  std::string rest = std::to_string(10'000 + parts_per_million % 10'000).substr(1);
  while (rest.ends_with('0')) rest.pop_back();
  return text + (rest.empty() ? "" : "." + rest) + "%";
}

std::string words_of_asked(const OwnershipAsked& asked, Instant until) {
  std::string owners;
  for (const accounting::OwnerPart& part : asked.owners) {
    owners +=
        fmt::format("{}{} {}", owners.empty() ? "" : ", ", part.organization, percent_text(part.parts_per_million));
  }
  return fmt::format("nodes {} of {}{}", asked.nodes, owners.empty() ? "no organization" : owners,
                     in_time(asked.since, until));
}

// "500 core-hours given by physics to biology as of 2026-11-01T00:00:00Z", exactly.
std::string words_of_asked(const SettlementAsked& asked, const State& books) {
  constexpr Int128 k_hour_s = 3600;
  const bool is_hours = asked.work.value % k_hour_s == 0;
  const std::string amount = format_micro(is_hours ? asked.work.value / k_hour_s : asked.work.value);
  const std::string hours = unit_of(books.charges(), asked.at, asked.at).word();
  const std::string of = hours.substr(0, hours.find('-'));
  return amount + ' ' + of + (is_hours ? "-hour" : "-second") + (amount == "1" ? "" : "s") + " given by " + asked.from +
         " to " + asked.to + " as of " + format_instant(asked.at);
}

std::string adjustment_named(std::uint32_t number) {
  return "adjustment " + std::to_string(number);
}

bool is_in_force(const State& books, std::uint32_t number) {
  const auto all = books.adjustments();
  return std::none_of(all.begin(), all.end(), [&](const AdjustmentMade& made) { return made.reverses == number; });
}

// The adjustment in force by which the organization is a part of another one. REQUIRES: there is one.
std::uint32_t joined_by(const State& books, const std::string& organization) {
  std::uint32_t number = 0;
  for (const AdjustmentMade& made : books.adjustments()) {
    if (made.organization == organization && is_in_force(books, made.number)) number = made.number;
  }
  return number;
}

std::vector<std::string> rows_of(const State& books) {
  std::vector<std::string> names;
  for (const OrgId id : books.configured_order()) {
    const std::string& name = books.organizations()[id.value];
    if (name != accounting::k_commons) names.push_back(name);
  }
  return names;
}

// Checks that the organization has a row of its own.
Expected<void> check_row(const State& books, const std::string& name) {
  const auto row = books.find_organization(name);
  if (!row) {
    const std::vector<std::string> known = rows_of(books);
    std::string names;
    for (const std::string& each : known) names += (names.empty() ? "" : ", ") + each;
    return fail(Errc::invalid_argument, fmt::format("the books know no organization '{}'{}; they know {}", name,
                                                    did_you_mean(name, known), names));
  }
  const std::string& today = books.organizations()[row->value];
  if (today == name) return {};
  return fail(Errc::invalid_argument, fmt::format("'{}' is a part of {} by {}; write {}", name, today,
                                                  adjustment_named(joined_by(books, name)), today));
}

class AdjustmentPlanner {
 public:
  AdjustmentPlanner(const Ledger& ledger, const State& books, const AdjustmentAsked& asked, Instant now)
      : ledger_(ledger), books_(books), now_(now) {
    const auto all = books.adjustments();
    plan_.made.number = all.empty() ? 1 : all.back().number + 1;
    plan_.made.at = now;
    plan_.made.author = asked.author;
    plan_.made.reason = asked.reason;
  }

  Expected<void> plan(const AttributionAsked& asked) {
    const int ways = (asked.job ? 1 : 0) + (asked.account ? 1 : 0) + (asked.user_id || asked.user ? 1 : 0);
    if (ways != 1) return fail(Errc::invalid_argument, "name one of a job, an account and a user");
    if (asked.task && asked.part) return fail(Errc::invalid_argument, "name a task of an array, or a part of a job");
    if (!asked.job && (!asked.since || !asked.until)) {
      return fail(Errc::invalid_argument, "the runs of an account or a user are corrected for a time: since and until");
    }
    SHAPLEY_TRY(check_time(asked.since, asked.until));
    if (asked.into == accounting::k_commons) {
      return fail(Errc::invalid_argument, "commons runs nothing; runs of no organization belong to guests");
    }
    SHAPLEY_TRY(check_row(books_, asked.into));
    SHAPLEY_TRY_ASSIGN(const AttributionAsked meant, with_user_of_books(asked));
    SHAPLEY_TRY_ASSIGN(Restated restated, attribute_runs(ledger_, meant, now_));
    plan_.made.kind = AdjustmentKind::attribute;
    plan_.made.into = asked.into;
    plan_.made.what = words_of_asked(meant, books_.user_names());
    if (restated.runs == 0) {
      return fail(Errc::invalid_argument,
                  fmt::format("there are no {} that are not booked under {} already", plan_.made.what, asked.into));
    }
    take(std::move(restated));
    return {};
  }

  Expected<void> plan(const OwnershipAsked& asked) {
    const Instant until = asked.until.value_or(now_);
    SHAPLEY_TRY(check_time(asked.since, until));
    if (until > now_) {
      return fail(Errc::invalid_argument,
                  "ownership is corrected for times that are past; until lies in the future, which the configuration "
                  "says");
    }
    if (asked.since.value <= 0) return fail(Errc::invalid_argument, "since is a time after 1970-01-01");
    for (const accounting::OwnerPart& part : asked.owners) {
      if (part.organization != accounting::k_commons) SHAPLEY_TRY(check_row(books_, part.organization));
    }
    auto nodes = expand_brackets(asked.nodes);
    if (!nodes) return fail(Errc::invalid_argument, "nodes: " + nodes.error().what);
    const std::set<std::string> each(nodes->begin(), nodes->end());
    SHAPLEY_TRY(read_statements());
    const auto known = books_.nodes();
    for (const std::string& node : each) {
      if (std::find(known.begin(), known.end(), node) == known.end()) {
        return fail(Errc::invalid_argument, fmt::format("the books know no node '{}'", node));
      }
      take(revise_ownership(node, statements_[node], asked.owners, asked.since, until, plan_.made.number));
    }
    plan_.made.kind = AdjustmentKind::own;
    plan_.made.what = words_of_asked(asked, until);
    return {};
  }

  Expected<void> plan(const JoinAsked& asked) {
    SHAPLEY_TRY(check_row(books_, asked.organization));
    SHAPLEY_TRY(check_row(books_, asked.into));
    for (const std::string& name : {asked.organization, asked.into}) {
      if (name == accounting::k_guests || name == accounting::k_commons) {
        return fail(Errc::invalid_argument, name + " is always there, under this name");
      }
    }
    if (asked.organization == asked.into) {
      return fail(Errc::invalid_argument, "an organization cannot become a part of itself");
    }
    SHAPLEY_TRY(check_configured(asked));
    plan_.made.kind = asked.kind;
    plan_.made.organization = asked.organization;
    plan_.made.into = asked.into;
    plan_.made.what =
        asked.organization + (asked.kind == AdjustmentKind::rename ? " is called " : " is a part of ") + asked.into;
    return {};
  }

  Expected<void> plan(const SettlementAsked& asked) {
    SHAPLEY_TRY(check_row(books_, asked.from));
    SHAPLEY_TRY(check_row(books_, asked.to));
    if (asked.at > now_)
      return fail(Errc::invalid_argument, "what will be settled later is booked then; at lies in the future");
    // It would count for its whole age, of which the books know nothing.
    if (asked.at < books_.begin()) {
      const std::string begin = format_instant(books_.begin());
      return fail(
          Errc::invalid_argument,
          fmt::format("at lies before the books begin, at {}; date what is older to the begin: at {}", begin, begin));
    }
    if (asked.work.value < 0) {
      return fail(Errc::invalid_argument,
                  fmt::format("an amount is more than nothing; what {} gave, write as from {}", asked.to, asked.to));
    }
    plan_.made.kind = AdjustmentKind::settle;
    plan_.made.organization = asked.from;
    plan_.made.into = asked.to;
    plan_.made.what = words_of_asked(asked, books_);
    plan_.facts.emplace_back(WorkSettled{plan_.made.number, asked.at, asked.from, asked.to, asked.work});
    return {};
  }

  Expected<void> plan(const ReversalAsked& asked) {
    SHAPLEY_TRY_ASSIGN(const AdjustmentMade made, reversible(asked.number));
    plan_.made.kind = AdjustmentKind::reverse;
    plan_.made.reverses = made.number;
    plan_.made.what = fmt::format("{} ({}) does not hold", adjustment_named(made.number), made.what);
    if (made.kind == AdjustmentKind::rename || made.kind == AdjustmentKind::merge) return {};
    SHAPLEY_TRY_ASSIGN(const std::vector<Event> facts, facts_of(made));
    if (made.kind == AdjustmentKind::attribute) {
      SHAPLEY_TRY_ASSIGN(Restated restated, restore_runs(ledger_, facts, made.into, now_));
      take(std::move(restated));
      return {};
    }
    if (made.kind == AdjustmentKind::settle) {
      take_back(facts);
      return {};
    }
    return restore_nodes(made, facts);
  }

  Expected<AdjustmentPlan> take() && {
    plan_.made.facts = static_cast<std::int64_t>(plan_.facts.size());
    for (const Event& event : plan_.events()) {
      auto sound = accounting::check_fact(event);
      if (!sound) return with_context(plan_.made.what, std::move(sound).error());
    }
    SHAPLEY_TRY(check_open());
    return std::move(plan_);
  }

 private:
  // With the number of a user that is named.
  [[nodiscard]] Expected<AttributionAsked> with_user_of_books(AttributionAsked asked) const {
    if (!asked.user) return asked;
    SHAPLEY_TRY_ASSIGN(const std::vector<std::uint32_t> numbers,
                       numbers_of_user(books_.user_names(), *asked.user, asked.user_id));
    if (numbers.size() > 1) {
      return fail(Errc::invalid_argument, "the books know " + std::to_string(numbers.size()) + " users '" +
                                              *asked.user + "'; give the user's number");
    }
    asked.user_id = numbers.front();
    return asked;
  }

  Expected<void> check_time(const std::optional<Instant>& since, const std::optional<Instant>& until) const {
    if (since && *since > now_) return fail(Errc::invalid_argument, "since lies in the future");
    if (since && until && *until <= *since) return fail(Errc::invalid_argument, "until is not after since");
    return {};
  }

  // From now on jobs and nodes are assigned by the configuration, which must not have the old name any more.
  Expected<void> check_configured(const JoinAsked& asked) {
    SHAPLEY_TRY_ASSIGN(const std::set<std::string> names, configured_organizations(ledger_));
    if (names.contains(asked.organization)) {
      return fail(
          Errc::conflict,
          fmt::format(
              "the configuration in force still has {}: give its rules and nodes to {} there, and reload, first",
              asked.organization, asked.into));
    }
    if (names.contains(asked.into)) return {};
    return fail(
        Errc::conflict,
        fmt::format("the configuration in force does not have {}: name it there, and reload, first", asked.into));
  }

  Expected<AdjustmentMade> reversible(std::uint32_t number) const {
    const auto all = books_.adjustments();
    const auto made = std::find_if(all.begin(), all.end(), [&](const auto& a) { return a.number == number; });
    if (made == all.end()) {
      return fail(Errc::invalid_argument,
                  fmt::format("there is no {}; shapleyctl adjust --list has them", adjustment_named(number)));
    }
    if (made->kind == AdjustmentKind::reverse) {
      return fail(Errc::invalid_argument, fmt::format("{} reverses {} itself; make that one again",
                                                      adjustment_named(number), adjustment_named(made->reverses)));
    }
    for (const AdjustmentMade& later : all) {
      if (later.reverses == number) {
        return fail(Errc::conflict, fmt::format("{} was reversed by {} already", adjustment_named(number),
                                                adjustment_named(later.number)));
      }
    }
    return *made;
  }

  // The events that follow the adjustment.
  Expected<std::vector<Event>> facts_of(const AdjustmentMade& made) {
    SHAPLEY_TRY_ASSIGN(const std::optional<std::int64_t> sequence, adjustment_event(ledger_, made));
    if (!sequence) {
      return fail(Errc::denied, adjustment_named(made.number) +
                                    " is in an archive, with what it was made of; correct what is "
                                    "wrong about it by another adjustment");
    }
    SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(ledger_.rows().database()));
    std::vector<Event> facts;
    SHAPLEY_TRY(reader.visit(*sequence, *sequence + made.facts, [&](const StoredEvent& stored) {
      facts.push_back(stored.event);
      return Expected<void>{};
    }));
    return facts;
  }

  Expected<void> read_statements() {
    SHAPLEY_TRY_ASSIGN(const auto events, declarations(ledger_));
    for (const Event& event : events) {
      if (const auto* statement = std::get_if<OwnershipStated>(&event))
        statements_[statement->node].push_back(*statement);
    }
    return {};
  }

  Expected<void> restore_nodes(const AdjustmentMade& made, const std::vector<Event>& facts) {
    SHAPLEY_TRY(read_statements());
    std::set<std::string> nodes;
    for (const Event& fact : facts) {
      if (const auto* statement = std::get_if<OwnershipStated>(&fact)) nodes.insert(statement->node);
    }
    const auto all = books_.adjustments();
    for (const std::string& node : nodes) {
      for (const AdjustmentMade& later : all) {
        if (later.number <= made.number || later.kind != AdjustmentKind::own || !is_in_force(books_, later.number))
          continue;
        const bool is_of_node = std::any_of(statements_[node].begin(), statements_[node].end(),
                                            [&](const auto& statement) { return statement.revision == later.number; });
        if (is_of_node) {
          return fail(Errc::conflict, fmt::format("node {} was corrected again by {}: reverse that first", node,
                                                  adjustment_named(later.number)));
        }
      }
      take(restore_ownership(statements_[node], made.number, plan_.made.number));
    }
    return {};
  }

  void take_back(const std::vector<Event>& facts) {
    for (const Event& fact : facts) {
      const auto& settled = std::get<WorkSettled>(fact);
      plan_.facts.emplace_back(WorkSettled{plan_.made.number, settled.at, settled.from, settled.to, -settled.work});
    }
  }

  // Checks that everything of it can be booked; otherwise nothing is.
  Expected<void> check_open() {
    const auto archived = ledger_.archived_before();
    if (!archived || !*archived) return {};
    for (const Event& event : plan_.facts) {
      SHAPLEY_TRY_ASSIGN(const bool closed, reaches_archive(event, **archived));
      if (!closed) continue;
      return fail(Errc::denied,
                  fmt::format("{}: that changes books that are archived; they can be corrected back to {} only",
                              plan_.made.what, format_instant(**archived)));
    }
    return {};
  }

  Expected<bool> reaches_archive(const Event& event, Instant before) {
    Projector projector(ledger_.rows().database(), "main");
    return projector.reaches_before(event, before);
  }

  void take(Restated restated) {
    plan_.facts = std::move(restated.facts);
    plan_.made.runs = restated.runs;
    plan_.work = restated.work;
  }
  void take(OwnershipStatements statements) {
    for (OwnershipStated& statement : statements) plan_.facts.emplace_back(std::move(statement));
  }

  const Ledger& ledger_;
  const State& books_;
  Instant now_;
  std::map<std::string, OwnershipStatements> statements_;  // by node
  AdjustmentPlan plan_;
};

}  // namespace

std::vector<Event> AdjustmentPlan::events() const {
  std::vector<Event> events{made};
  events.insert(events.end(), facts.begin(), facts.end());
  return events;
}

Expected<AdjustmentPlan> plan_adjustment(const Ledger& ledger, const State& books, const AdjustmentAsked& asked,
                                         Instant now) {
  if (asked.reason.empty())
    return fail(Errc::invalid_argument, "an adjustment needs a reason, which stays in the ledger");
  AdjustmentPlanner planner(ledger, books, asked, now);
  SHAPLEY_TRY(std::visit([&](const auto& what) { return planner.plan(what); }, asked.what));
  return std::move(planner).take();
}

}  // namespace shapley::ledger
