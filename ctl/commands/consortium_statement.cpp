#include "ctl/commands/consortium_statement.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/printable.hpp"
#include "tables/table.hpp"

namespace shapley::ctl {

namespace {

using accounting::ConsortiumDeclared;
using nlohmann::json;
using tables::Field;
using tables::left;
using tables::Table;

// What a ledger says last of its cluster's name and of its consortium.
struct Membership {
  std::string cluster;
  std::optional<ConsortiumDeclared> consortium;
};

Expected<Membership> membership_of(const std::string& file) {
  return answers::from_ledger(file, [](const ledger::Ledger& ledger) -> Expected<Membership> {
    SHAPLEY_TRY_ASSIGN(const ledger::Recovered books, ledger.recover());
    Membership membership;
    if (const auto* named = books.state.cluster()) membership.cluster = named->cluster;
    if (const auto* declared = books.state.consortium()) membership.consortium = *declared;
    return membership;
  });
}

class Joining {
 public:
  // `only`: the members that are asked for; empty: all.
  Joining(const Membership& first, const std::vector<std::string>& only)
      : own_(first.cluster), declared_(*first.consortium), only_(only) {}

  Expected<void> add(const std::string& cluster, const ledger::AccountReport& report) {
    const accounting::OtherCluster* other = accounting::find_cluster(declared_, cluster);
    if (cluster != own_ && other == nullptr) {
      return fail(Errc::invalid_argument, "it is of the cluster '" + cluster + "', which is not in the consortium '" +
                                              declared_.consortium + "' of the first ledger");
    }
    if (!seen_.insert(cluster).second)
      return fail(Errc::invalid_argument, "a ledger of the cluster '" + cluster + "' was given already");
    const std::int64_t weight = cluster == own_ ? declared_.weight : other->weight;
    const auto name_here = [&](const std::string& there) {
      if (cluster == own_) return there;
      const std::string* here = accounting::name_here(*other, there);
      return here == nullptr ? there + " (" + cluster + ")" : *here;
    };
    joined_.clusters.push_back({cluster, weight});
    joined_.of.push_back(report.of);
    joined_.exact = joined_.exact && report.exact;
    ledger::AccountReport asked = report;
    const auto is_other = [&](const auto& row) { return !is_asked(name_here(row.name)); };
    std::erase_if(asked.organizations, is_other);
    for (ledger::PeriodPart& part : asked.periods) std::erase_if(part.organizations, is_other);
    joined_.decimals = std::min(joined_.decimals, PaperAmounts(asked).decimals());
    for (const ledger::AccountRow& row : report.organizations) {
      Works& works = members_[name_here(row.name)][joined_.clusters.size() - 1];
      // What was settled is on the side that it adds to.
      const CpuTime settled = row.settled.work;
      works.got += row.got.work - std::min(settled, CpuTime{});
      works.given += row.given.work + std::max(settled, CpuTime{});
      for (const ledger::LentPair& pair : row.lent_to)
        lent_[{name_here(row.name), name_here(pair.organization), joined_.clusters.size() - 1}] += pair.work;
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
    for (const auto& [name, clusters] : members_) {
      if (!is_asked(name)) continue;
      Works sum;
      for (const auto& [index, works] : clusters) {
        add_row(name, joined_.clusters[index].cluster, works);
        sum.got += joined_.in_first(works.got, index);
        sum.given += joined_.in_first(works.given, index);
      }
      add_row(name, "", sum);
    }
    for (const auto& [pair, work] : lent_) {
      const auto& [owner, borrower, index] = pair;
      if (is_asked(owner) || is_asked(borrower))
        joined_.lent.push_back({owner, borrower, joined_.clusters[index].cluster, {work}});
    }
    return std::move(joined_);
  }

 private:
  struct Works {
    CpuTime got, given;
  };

  [[nodiscard]] bool is_asked(const std::string& name) const {
    return only_.empty() || std::ranges::find(only_, name) != only_.end();
  }

  void add_row(const std::string& name, const std::string& cluster, const Works& works) {
    joined_.members.push_back({name, cluster, {works.got}, {works.given}, {works.given - works.got}});
  }

  std::string own_;
  ConsortiumDeclared declared_;
  std::vector<std::string> only_;
  std::set<std::string> seen_;
  std::map<std::string, std::map<std::size_t, Works>> members_;                // by the number of the cluster
  std::map<std::tuple<std::string, std::string, std::size_t>, CpuTime> lent_;  // by owner, borrower, cluster
  ConsortiumStatement joined_;
};

constexpr Field k_member_fields[] = {
    left({"organization", "Organization"}),
    left({"cluster", "Cluster"}),
    {"given", "Given"},
    {"got", "Got"},
    {"rounding", k_rounding},
    {"difference", "Given-Got"},
};
constexpr const char* k_sum = "(sum)";
constexpr Field k_lent_fields[] = {
    left({"owner", "Lent by"}),
    left({"borrower", "Borrowed by"}),
    left({"cluster", "Cluster"}),
    {"core_hours", "CoreHours"},
};
constexpr Field k_exact_consortium_fields[] = {{"begin_utc"}, {"end_utc"},    {"organization"}, {"cluster"}, {"item"},
                                               {"other"},     {"core_hours"}, {"exact"},        {"unit"}};

// The amounts of a line of the members' table: given, got, what these two lack to their difference, the difference.
using MemberLine = std::array<Units, 4>;

MemberLine line_of(const MemberOnCluster& row, const PaperAmounts& amounts) {
  return {amounts.nearest(row.given.work), amounts.nearest(row.got.work),
          amounts.left_over(std::array{row.given.work, -row.got.work}), amounts.nearest(row.difference.work)};
}

// What a member's lines lack to its sum.
MemberLine left_of(const MemberLine& sum, const std::vector<MemberLine>& lines, const ConsortiumStatement& statement) {
  MemberLine rest{};
  for (std::size_t k = 0; k < rest.size(); ++k) {
    std::vector<Units> units;
    for (const MemberLine& line : lines) units.push_back(line[k]);
    rest[k] = sum[k] - statement.sum_in_first(units);
  }
  return rest;
}

constexpr const char* k_guests_apart =
    "guests: jobs of no organization of a cluster. What they owe on one cluster counts in the ranks of no other.\n";

std::string members_text(const ConsortiumStatement& statement, const PaperAmounts& amounts) {
  Table table{.columns = columns_of(k_member_fields)};
  bool with_rounding = false;
  const auto add = [&](const std::string& organization, const std::string& cluster, const MemberLine& line) {
    const bool is_rest = cluster == k_rounding;
    with_rounding = with_rounding || line[2] != 0;
    table.rows.push_back({{"organization", organization},
                          {"cluster", cluster},
                          {"given", is_rest ? amounts.signed_text(line[0]) : amounts.text(line[0])},
                          {"got", is_rest ? amounts.signed_text(line[1]) : amounts.text(line[1])},
                          {"rounding", amounts.signed_text(line[2])},
                          {"difference", amounts.signed_text(line[3])}});
  };
  std::vector<MemberLine> lines(statement.clusters.size());  // of the member's clusters so far
  for (const MemberOnCluster& row : statement.members) {
    const MemberLine line = line_of(row, amounts);
    if (!row.cluster.empty()) {
      lines[cluster_number(statement, row.cluster)] = line;
      add(row.organization, row.cluster, line);
      continue;
    }
    const MemberLine rest = left_of(line, lines, statement);
    if (rest != MemberLine{}) add(row.organization, k_rounding, rest);
    add(row.organization, k_sum, line);
    lines.assign(statement.clusters.size(), {});
  }
  if (!with_rounding) drop_column(table, "rounding");
  return people_text(table);
}

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

Units ConsortiumStatement::sum_in_first(std::span<const Units> of_clusters) const {
  Int128 sum = 0;
  for (std::size_t i = 0; i < of_clusters.size(); ++i) sum += of_clusters[i] * clusters[i].weight;
  return nearest_of_quotient(sum, clusters.front().weight);
}

PaperAmounts paper_amounts(const ConsortiumStatement& statement) {
  return PaperAmounts::with_decimals(statement.decimals);
}

std::string consortium_text(const ConsortiumStatement& statement) {
  std::string text = "Consortium " + printable(statement.consortium) + ": " + statement.of.front().since.utc() +
                     " to " + statement.of.front().until.utc() + "; amounts in core-hours\n";
  for (std::size_t i = 0; i < statement.clusters.size(); ++i) {
    const ledger::IntervalHeading& of = statement.of[i];
    text += "Cluster " + printable(statement.clusters[i].cluster) + ": a processor is worth " +
            format_micro(statement.clusters[i].weight) + "; contribution " + printable(of.contribution) + "\n" +
            recorded_line(of);
  }
  const PaperAmounts amounts = paper_amounts(statement);
  text += '\n' + members_text(statement, amounts) +
          "\nGiven-Got: work given less work got in that time. (sum): over clusters, in processors of " +
          printable(statement.clusters.front().cluster) + ".\n" + (has_guests(statement) ? k_guests_apart : "");
  Table lent{.columns = columns_of(k_lent_fields)};
  for (const LentOnCluster& row : statement.lent) {
    lent.rows.push_back({{"owner", row.owner},
                         {"borrower", row.borrower},
                         {"cluster", row.cluster},
                         {"core_hours", amounts.text(row.amount.work)}});
  }
  if (!lent.rows.empty()) text += '\n' + people_text(lent);
  return text +
         (statement.exact ? "" : "\nBooks:   NOT EXACT: what was held is not what was booked; run shapleyctl audit\n");
}

Table exact_consortium(const ConsortiumStatement& statement) {
  Table table{.columns = columns_of(k_exact_consortium_fields)};
  const auto add = [&](const std::string& organization, const std::string& cluster, const char* item,
                       const std::string& other, const ledger::Amount& amount) {
    table.rows.push_back({{"begin_utc", statement.of.front().since.utc()},
                          {"end_utc", statement.of.front().until.utc()},
                          {"organization", organization},
                          {"cluster", cluster},
                          {"item", item},
                          {"other", other},
                          {"core_hours", amount.core_hours()},
                          {"exact", format_micro(amount.work.value)},
                          {"unit", "processor_seconds"}});
  };
  for (const MemberOnCluster& row : statement.members) {
    add(row.organization, row.cluster, "given", "", row.given);
    add(row.organization, row.cluster, "got", "", row.got);
    add(row.organization, row.cluster, "difference", "", row.difference);
  }
  for (const LentOnCluster& row : statement.lent) add(row.owner, row.cluster, "lent_to", row.borrower, row.amount);
  return table;
}

Expected<ConsortiumStatement> consortium_statement(const std::vector<std::string>& ledgers, IntervalArguments interval,
                                                   bool as_of_now) {
  const std::vector<std::string> only = std::exchange(interval.organizations, {});  // others may have other names there
  std::optional<Joining> joining;
  for (const std::string& file : ledgers) {
    SHAPLEY_TRY_ASSIGN(const Membership membership, membership_of(file));
    if (!joining) {
      if (!membership.consortium || membership.consortium->consortium.empty())
        return fail(Errc::invalid_argument, file + ": its cluster is in no consortium by its last declaration");
      joining.emplace(membership, only);
    }
    interval.ledger = file;
    SHAPLEY_TRY_ASSIGN(const IntervalQuestion question, interval_question(interval));
    const ledger::StatementRequest request{.of = question.of,
                                           .as_of = as_of_now ? ledger::AsOf::now : ledger::AsOf::then};
    SHAPLEY_TRY_ASSIGN(const ledger::AccountReport report, answers::answer(request, question.file));
    if (auto added = joining->add(membership.cluster, report); !added)
      return with_context(file, std::move(added).error());
  }
  SHAPLEY_TRY(joining->check_asked());
  return (*std::move(joining)).finish();
}

Expected<ExitCode> run_consortium_statement(const StatementArguments& arguments, const Environment& environment) {
  IntervalArguments interval = arguments.interval;
  SHAPLEY_TRY(take_month(arguments.month, interval));
  SHAPLEY_TRY_ASSIGN(const ConsortiumStatement statement,
                     consortium_statement(arguments.consortium, interval, arguments.as_of == "now"));
  if (interval.json) {
    environment.out << tables::json_text(json_of(statement));
  } else {
    environment.out << (interval.csv ? csv_text(exact_consortium(statement)) : consortium_text(statement));
  }
  return statement.exact ? ExitCode::success : ExitCode::findings;
}

}  // namespace shapley::ctl
