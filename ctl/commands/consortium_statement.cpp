#include "ctl/commands/consortium_statement.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/printable.hpp"
#include "ctl/commands/board.hpp"
#include "ctl/commands/consortium_tables.hpp"
#include "ledger/readers/past_books.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

namespace {

using accounting::ConsortiumDeclared;
using nlohmann::json;
using tables::Table;

// What a ledger says last of its cluster's name and of its consortium, and up to when it is known.
struct Membership {
  std::string cluster;
  std::optional<ConsortiumDeclared> consortium;
  Instant until;
};

// `has_end`: the question names the end of its time; without one, an imported ledger is known to the end of its export.
Expected<Membership> membership_of(const std::string& file, bool has_end) {
  return answers::from_ledger(file, [has_end](const ledger::Ledger& ledger) -> Expected<Membership> {
    SHAPLEY_TRY_ASSIGN(const ledger::Recovered books, ledger.recover());
    Membership membership;
    if (const auto* named = books.state.cluster()) membership.cluster = named->cluster;
    if (const auto* declared = books.state.consortium()) membership.consortium = *declared;
    SHAPLEY_TRY_ASSIGN(membership.until, has_end ? ledger::last_recorded(ledger) : ledger::last_known(ledger));
    return membership;
  });
}

// What a member did on one cluster, and its standing at the end as an amount.
struct OnCluster {
  CpuTime given, got, settled, standing;
  Utility balance;  // phi - psi, of which the standing is
};

// What all amounts are counted in; of clusters that count in different ones, which counts in which.
ledger::AmountUnit unit_of(const std::vector<accounting::ClusterWeight>& clusters,
                           const std::vector<ledger::AmountUnit>& units) {
  const ledger::AmountUnit& first = units.front();
  const auto is_as_first = [&first](const ledger::AmountUnit& in) {
    return in.unit == first.unit && in.changes == first.changes;
  };
  if (std::ranges::all_of(units, is_as_first)) return first;
  ledger::AmountUnit all{.unit = "charged-hours"};
  for (std::size_t i = 0; i < clusters.size(); ++i)
    all.changes += fmt::format("{}{}: {}", i == 0 ? "" : "; ", clusters[i].cluster, units[i].in_full());
  return all;
}

class Joining {
 public:
  // `only`: the members that are asked for; empty: all.
  Joining(const Membership& first, const std::vector<std::string>& only)
      : own_(first.cluster), declared_(*first.consortium), only_(only) {}

  Expected<void> add(const std::string& cluster, ledger::AccountReport report, Balances balances) {
    const accounting::OtherCluster* other = accounting::find_cluster(declared_, cluster);
    if (cluster != own_ && other == nullptr) {
      return fail(Errc::invalid_argument,
                  fmt::format("it is of the cluster '{}', which is not in the consortium '{}' of the first ledger",
                              cluster, declared_.consortium));
    }
    if (!seen_.insert(cluster).second)
      return fail(Errc::invalid_argument, fmt::format("a ledger of the cluster '{}' was given already", cluster));
    joined_.clusters.push_back({cluster, cluster == own_ ? declared_.weight : other->weight});
    joined_.of.push_back(report.of);
    joined_.exact = joined_.exact && report.exact;
    const auto rename = [&](std::string& name) { name = name_here(cluster, other, name); };
    for (ledger::PeriodPart& part : report.periods) {
      for (ledger::PeriodRow& row : part.organizations) rename(row.name);
    }
    for (ledger::AccountRow& row : report.organizations) {
      rename(row.name);
      for (ledger::LentPair& pair : row.lent_to) rename(pair.organization);
    }
    add_renamed(report);
    const auto is_other = [this](const auto& row) { return !is_asked(row.name); };
    std::erase_if(report.organizations, is_other);
    for (ledger::PeriodPart& part : report.periods) std::erase_if(part.organizations, is_other);
    joined_.decimals = std::min(joined_.decimals, PaperAmounts(report, largest_amount_of(balances.rows)).decimals());
    balances_in_.push_back(balances.in);
    for (BalanceRow& row : balances.rows) {
      rename(row.organization);
      row.cluster = cluster;
      if (is_asked(row.organization)) joined_.additions.balances.rows.push_back(std::move(row));
    }
    return {};
  }

  // Errc::invalid_argument: one of those that are asked for is in none of the ledgers.
  [[nodiscard]] Expected<void> check_asked() const {
    std::vector<std::string> known;
    for (const auto& [name, clusters] : members_) known.push_back(name);
    for (const std::string& name : only_) {
      if (!members_.contains(name)) return ledger::unknown_organization(name, known);
    }
    return {};
  }

  ConsortiumStatement finish() && {
    joined_.consortium = declared_.consortium;
    joined_.additions.balances.in = unit_of(joined_.clusters, balances_in_);
    if (!seen_.contains(own_)) joined_.missing.push_back(own_);
    for (const accounting::OtherCluster& other : declared_.clusters) {
      if (!seen_.contains(other.cluster)) joined_.missing.push_back(other.cluster);
    }
    for (const auto& [name, clusters] : members_) {
      if (!is_asked(name)) continue;
      OnCluster sum;
      for (const auto& [index, on] : clusters) {
        add_row(name, joined_.clusters[index].cluster, on, true);
        for (CpuTime OnCluster::*const work :
             {&OnCluster::given, &OnCluster::got, &OnCluster::settled, &OnCluster::standing})
          sum.*work += joined_.in_first(on.*work, index);
        sum.balance +=
            accounting::weighted({on.balance, {}, {}}, joined_.clusters[index].weight, joined_.clusters.front().weight)
                .balance;
      }
      if (joined_.has_sums()) add_row(name, "", sum, period_begins_.size() <= 1);
    }
    for (const auto& [pair, work] : lent_) {
      const auto& [owner, borrower, index] = pair;
      if (is_asked(owner) || is_asked(borrower))
        joined_.lent.push_back({owner, borrower, joined_.clusters[index].cluster, {work}});
    }
    const auto place = [this](const UserOnCluster& user) {
      return std::tuple(user.organization, cluster_number(joined_, user.cluster));
    };
    std::ranges::stable_sort(joined_.users, {}, place);
    std::ranges::stable_sort(joined_.additions.balances.rows, {},
                             &BalanceRow::organization);  // then by cluster, as they came
    return std::move(joined_);
  }

 private:
  [[nodiscard]] std::string name_here(const std::string& cluster, const accounting::OtherCluster* other,
                                      const std::string& there) const {
    if (cluster == own_) return there;
    const std::string* here = accounting::name_here(*other, there);
    return here == nullptr ? fmt::format("{} ({})", there, cluster) : *here;
  }

  void add_renamed(const ledger::AccountReport& report) {
    const std::size_t index = joined_.clusters.size() - 1;
    for (const ledger::AccountRow& row : report.organizations) {
      OnCluster& on = members_[row.name][index];
      on.given += row.given.work;
      on.got += row.got.work;
      on.settled += row.settled.work;
      for (const ledger::LentPair& pair : row.lent_to) lent_[{row.name, pair.organization, index}] += pair.work;
      if (!is_asked(row.name)) continue;
      for (const ledger::UserRow& user : row.users)
        joined_.users.push_back({row.name, joined_.clusters.back().cluster, user});
    }
    if (report.periods.empty()) return;
    period_begins_.insert(report.periods.back().period_begin.value);
    for (const ledger::PeriodRow& row : report.periods.back().organizations) {
      OnCluster& on = members_[row.name][index];
      on.standing += work_of(row.closing.standing_core_hours);
      on.balance += row.closing.phi_minus_psi;
    }
  }

  [[nodiscard]] bool is_asked(const std::string& name) const {
    return only_.empty() || std::ranges::find(only_, name) != only_.end();
  }

  void add_row(const std::string& name, const std::string& cluster, const OnCluster& on, bool with_standing) {
    MemberOnCluster& row =
        joined_.members.emplace_back(MemberOnCluster{.organization = name,
                                                     .cluster = cluster,
                                                     .got = {on.got},
                                                     .given = {on.given},
                                                     .settled = {on.settled},
                                                     .difference = {on.given - on.got + on.settled}});
    if (!with_standing) return;
    row.standing_core_hours = ledger::core_hours(on.standing);
    row.phi_minus_psi = on.balance;
  }

  std::string own_;
  ConsortiumDeclared declared_;
  std::vector<std::string> only_;
  std::set<std::string> seen_;
  std::map<std::string, std::map<std::size_t, OnCluster>> members_;            // by the number of the cluster
  std::map<std::tuple<std::string, std::string, std::size_t>, CpuTime> lent_;  // by owner, borrower, cluster
  std::set<std::int64_t> period_begins_;                                       // of the clusters' last periods
  std::vector<ledger::AmountUnit> balances_in_;                                // of each cluster
  ConsortiumStatement joined_;
};

constexpr const char* k_guests_apart =
    "guests: jobs of no organization of a cluster. What they owe on one cluster counts in the ranks of no other.\n";

}  // namespace

bool has_guests(const ConsortiumStatement& statement) {
  return std::ranges::any_of(statement.members, [](const MemberOnCluster& row) {
    return row.organization == accounting::k_guests && row.got.work.value != 0;
  });
}

std::size_t cluster_number(const ConsortiumStatement& statement, const std::string& cluster) {
  const auto found = std::ranges::find(statement.clusters, cluster, &accounting::ClusterWeight::cluster);
  return static_cast<std::size_t>(found - statement.clusters.begin());
}

ledger::AmountUnit ConsortiumFigures::in() const {
  std::vector<ledger::AmountUnit> units;
  for (const ledger::IntervalHeading& each : of) units.push_back(each.in);
  return unit_of(clusters, units);
}

Units ConsortiumFigures::sum_in_first(std::span<const Units> of_clusters) const {
  Int128 sum = 0;
  for (std::size_t i = 0; i < of_clusters.size(); ++i) sum += of_clusters[i] * clusters[i].weight;
  return nearest_of_quotient(sum, clusters.front().weight);
}

bool standings_have_sums(const ConsortiumStatement& statement) {
  return std::ranges::all_of(statement.members,
                             [](const MemberOnCluster& row) { return row.standing_core_hours.has_value(); });
}

std::string missing_line(const ConsortiumStatement& statement) {
  if (statement.has_sums()) return {};
  std::string names;
  for (const std::string& cluster : statement.missing) names += (names.empty() ? "" : ", ") + cluster;
  return "There is no sum, because the ledgers of these clusters of the consortium were not given: " + names;
}

std::string consortium_text(const ConsortiumStatement& statement, const StatementTables& tables) {
  std::string text = fmt::format("Consortium {}: {} to {}; amounts in {}\n", printable(statement.consortium),
                                 statement.of.front().since.utc(), statement.of.front().until.utc(),
                                 printable(statement.in().in_full()));
  for (std::size_t i = 0; i < statement.clusters.size(); ++i) {
    const ledger::IntervalHeading& of = statement.of[i];
    text += fmt::format("Cluster {}: a processor is worth {}; contribution {}\n{}",
                        printable(statement.clusters[i].cluster), format_micro(statement.clusters[i].weight),
                        printable(of.contribution), recorded_line(of));
  }
  const Table members = members_table(statement);
  const bool has_settled =
      std::ranges::find(members.columns, "settled", &tables::Column::name) != members.columns.end();
  text += fmt::format(
      "\n{}\nDifference: work given less work got in that time{}. Standing: at its end, on average over each "
      "cluster's\nperiod so far.",
      people_text(members), has_settled ? ", and what was settled" : "");
  if (statement.has_sums()) {
    text += fmt::format(" (sum): over clusters, in processors of {}.", printable(statement.clusters.front().cluster));
    if (!standings_have_sums(statement)) text += " The clusters' periods differ, so standings have none.";
  }
  text += '\n' + (statement.has_sums() ? "" : printable(missing_line(statement)) + ".\n");
  if (has_guests(statement)) text += k_guests_apart;
  if (!statement.additions.balances.rows.empty()) {
    text += '\n' + balance_text(statement.additions.balances, balance_table(statement),
                                PaperAmounts::with_decimals(statement.decimals), statement.has_sums());
  }
  const auto add = [&text](const Table& table) {
    if (!table.rows.empty()) text += '\n' + people_text(table);
  };
  if (tables.pairs) add(lent_table(statement));
  if (tables.users) add(users_table(statement));
  return text +
         (statement.exact ? "" : "\nBooks:   NOT EXACT: what was held is not what was booked; run shapleyctl audit\n");
}

namespace {

// Up to when the ledgers are known.
struct Known {
  Instant first;
  Instant last;
};

// The statement of one cluster, whose ledger is known until `known`: up to where all ledgers are, or up to the end that
// is asked for, if that is earlier.
Expected<ledger::AccountReport> report_of_known(const IntervalArguments& interval, Instant known, const Known& all,
                                                bool as_of_now) {
  SHAPLEY_TRY_ASSIGN(IntervalQuestion question, interval_question(interval));
  const Instant asked = question.of.until.value_or(all.last);
  // One that ends before the time begins says so itself.
  const bool begins = !question.of.since || *question.of.since < all.first;
  if (known > all.first && begins) question.of.until = std::min(asked, all.first);
  const ledger::StatementRequest request{.of = question.of,
                                         .as_of = as_of_now ? ledger::AsOf::now : ledger::AsOf::then};
  SHAPLEY_TRY_ASSIGN(ledger::AccountReport report, answers::answer(request, question.file));
  if (known < asked) report.of.recorded_until = known;
  name_users(report);
  return report;
}

}  // namespace

namespace {

enum class WithoutBooks { refused, missing };

// `without_books`: what becomes of a ledger that has no books of the time.
Expected<ConsortiumStatement> joined(const std::vector<std::string>& ledgers, IntervalArguments interval,
                                     bool as_of_now, const BalanceArguments& balance, WithoutBooks without_books) {
  SHAPLEY_TRY_ASSIGN(const Rates rates, Rates::parse(balance.rates));
  const std::vector<std::string> only = std::exchange(interval.organizations, {});  // others may have other names there
  std::vector<Membership> members;
  for (const std::string& file : ledgers) {
    SHAPLEY_TRY_ASSIGN(members.emplace_back(), membership_of(file, !interval.until.empty()));
    interval.ledger = file;
    SHAPLEY_TRY_ASSIGN(const IntervalQuestion question, interval_question(interval));
    members.back().until = std::max(members.back().until, question.file.known_until.value_or(k_beginning_of_time));
  }
  const Membership& first = members.front();
  if (!first.consortium || first.consortium->consortium.empty())
    return fail(Errc::invalid_argument, ledgers.front() + ": its cluster is in no consortium by its last declaration");
  const auto [least, most] = std::ranges::minmax(members, {}, &Membership::until);
  Joining joining(first, only);
  bool has_any = false;
  for (std::size_t i = 0; i < ledgers.size(); ++i) {
    interval.ledger = ledgers[i];
    auto of_cluster = report_of_known(interval, members[i].until, {least.until, most.until}, as_of_now);
    if (!of_cluster && of_cluster.error().code == Errc::invalid_argument && without_books == WithoutBooks::missing)
      continue;
    SHAPLEY_TRY_ASSIGN(ledger::AccountReport report, std::move(of_cluster));
    Balances balances;
    if (balance.is_asked()) {
      IntervalArguments same = interval;
      if (members[i].until > least.until) same.until = report.of.until.utc();
      SHAPLEY_TRY_ASSIGN(balances, balance_rows(report.of, same, {}));
      // Clusters may count in different units: each has its own rate.
      if (!balance.rates.empty()) SHAPLEY_TRY(check_rate_unit(balances.in));
    }
    if (auto added = joining.add(members[i].cluster, std::move(report), std::move(balances)); !added)
      return with_context(ledgers[i], std::move(added).error());
    has_any = true;
  }
  if (!has_any) return ConsortiumStatement{};
  if (without_books == WithoutBooks::refused) SHAPLEY_TRY(joining.check_asked());
  ConsortiumStatement statement = std::move(joining).finish();
  statement.additions.balances.by_month = balance.is_by_month();
  if (balance.rates.empty()) return statement;
  std::vector<std::string> known;
  for (const accounting::ClusterWeight& cluster : statement.clusters) known.push_back(cluster.cluster);
  SHAPLEY_TRY(rates.check_clusters(known));
  SHAPLEY_TRY_ASSIGN(statement.additions.balances.invoice, invoice_rows(statement.additions.balances.rows, rates));
  return statement;
}

}  // namespace

Expected<ConsortiumStatement> consortium_statement(const std::vector<std::string>& ledgers, IntervalArguments interval,
                                                   bool as_of_now, const BalanceArguments& balance) {
  return joined(ledgers, std::move(interval), as_of_now, balance, WithoutBooks::refused);
}

Expected<std::optional<ConsortiumStatement>> earlier_statement(const std::vector<std::string>& ledgers,
                                                               const IntervalArguments& interval) {
  SHAPLEY_TRY_ASSIGN(ConsortiumStatement statement, joined(ledgers, interval, false, {}, WithoutBooks::missing));
  return statement.clusters.empty() ? std::nullopt : std::optional(std::move(statement));
}

Expected<ExitCode> run_consortium_statement(const StatementArguments& arguments, const Environment& environment) {
  IntervalArguments interval = arguments.interval;
  SHAPLEY_TRY(take_month(arguments.month, interval));
  SHAPLEY_TRY(take_year(arguments.balance, interval));
  SHAPLEY_TRY_ASSIGN(const ConsortiumStatement statement,
                     consortium_statement(arguments.consortium, interval, arguments.as_of == "now", arguments.balance));
  std::optional<Board> board;
  if (arguments.tables.board) {
    SHAPLEY_TRY_ASSIGN(board, board_of(arguments.consortium, interval, statement));
  }
  if (interval.json) {
    json values = json_of(static_cast<const ConsortiumFigures&>(statement));
    add_to_json(values, statement.additions);
    if (board) values["board"] = board_values(*board);
    environment.out << tables::json_text(values);
  } else if (interval.csv || arguments.parsable) {
    Table table = exact_consortium(statement);
    if (board) add_exact(table, statement, *board);
    environment.out << (arguments.parsable ? parsable_text(table, !arguments.no_header) : csv_text(table));
  } else {
    environment.out << consortium_text(statement, arguments.tables) << (board ? board_text(statement, *board) : "");
  }
  if (!statement.exact) return ExitCode::findings;
  if (statement.has_sums()) return ExitCode::success;
  environment.err << "shapleyctl: " << printable(missing_line(statement)) << '\n';
  return ExitCode::incomplete;
}

}  // namespace shapley::ctl
