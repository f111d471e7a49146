#include "ctl/commands/consortium_tables.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "ctl/commands/balance_line.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/paper.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using tables::Field;
using tables::left;
using tables::Table;

constexpr Field k_member_fields[] = {
    left({"organization", "Organization"}),
    left({"cluster", "Cluster"}),
    {"given", "Given"},
    {"got", "Got"},
    {"settled", "Settled"},
    {"rounding", k_rounding},
    {"difference", "Difference"},
    {"standing", "Standing"},
};
constexpr Field k_member_balance_fields[] = {
    left({"organization", "Organization"}),
    left({"cluster", "Cluster"}),
    {"before", "Before"},
    {"given", "Given"},
    {"got", "Got"},
    {"settled", "Settled"},
    {"rounding", k_rounding},
    {"after", "After"},
};
constexpr Field k_standings_before_fields[] = {
    left({"organization", "Organization"}),
    left({"cluster", "Cluster"}),
    {"standing", "Standing"},
    {"earlier", "MonthBefore"},
};
constexpr Field k_lent_fields[] = {
    left({"owner", "Lent by"}),
    left({"borrower", "Borrowed by"}),
    left({"cluster", "Cluster"}),
    {"core_hours", "CoreHours"},
};
constexpr Field k_cluster_user_fields[] = {
    left({"organization", "Organization"}),
    left({"cluster", "Cluster"}),
    left({"account", "Account"}),
    left({"user", "User"}),
    {"got", "Got"},
    {"own", "Own"},
    {"borrowed", "Borrowed"},
    {"rounding", k_rounding},
};
constexpr Field k_exact_consortium_fields[] = {{"begin_utc"}, {"end_utc"}, {"organization"}, {"cluster"},
                                               {"item"},      {"other"},   {"core_hours"},   {"exact"},
                                               {"unit"},      {"account"}, {"user"}};

constexpr AmountField k_member_amounts[] = {
    {"given"}, {"got"}, {"settled", true}, {"rounding", true}, {"difference", true}, {"standing", true}};
constexpr AmountField k_standings_before_amounts[] = {{"standing", true}, {"earlier", true}};
constexpr AmountField k_lent_amounts[] = {{"core_hours"}};
constexpr AmountField k_cluster_user_amounts[] = {{"got"}, {"own"}, {"borrowed"}, {"rounding", true}};

// The work of one row: of a member given, got, settled, and its standing as an amount; of a pair what was lent.
using Works = std::vector<CpuTime>;

void add_to(Works& sum, const Works& part) {
  sum.resize(std::max(sum.size(), part.size()));
  for (std::size_t i = 0; i < part.size(); ++i) sum[i] += part[i];
}

json words_on(json words, const std::string& cluster) {
  words["cluster"] = cluster;
  return words;
}

// A table's rows: of each subject one for each of its clusters, then, unless a ledger is missing, what rounding leaves
// of the sum over clusters, and that sum; last the same of all subjects.
class ByCluster {
 public:
  // `line_of`: the printed amounts of works; the first `summed` of them have a sum over clusters. REQUIRES: the
  // arguments outlive it.
  using LineOf = std::function<std::vector<Units>(const Works&)>;
  ByCluster(const ConsortiumStatement& statement, const PaperAmounts& amounts, std::span<const AmountField> fields,
            std::size_t summed, LineOf line_of)
      : statement_(statement),
        summed_(summed),
        line_of_(std::move(line_of)),
        rows_(amounts, fields),
        of_cluster_(statement.clusters.size()),
        none_(fields.size()) {}

  // `words`: the members of a row that are no amounts. `clusters`: by the number of the cluster.
  void add(const json& words, const std::map<std::size_t, Works>& clusters) {
    ++subjects_;
    std::vector<std::vector<Units>> printed(statement_.clusters.size(), none_);
    Works sum;
    for (const auto& [number, works] : clusters) {
      printed[number] = line_of_(works);
      rows_.note(words_on(words, statement_.clusters[number].cluster), printed[number]);
      of_cluster_[number].add(printed[number]);
      add_to(all_[number], works);
      Works weighed;
      for (const CpuTime work : works) weighed.push_back(statement_.in_first(work, number));
      add_to(sum, weighed);
    }
    if (!statement_.has_sums()) return;
    add_sum(words, printed, line_of_(sum));
    of_sum_.add(line_of_(sum));
    add_to(sum_, sum);
  }

  // The rows of all subjects, if there are several.
  AmountRows finish(const json& rest_words, const json& sum_words) && {
    if (subjects_ < 2) return std::move(rows_);
    std::vector<std::vector<Units>> printed(statement_.clusters.size(), none_);
    for (const auto& [number, works] : all_) {
      printed[number] = line_of_(works);
      rows_.note_rest(words_on(rest_words, statement_.clusters[number].cluster),
                      of_cluster_[number].rest(printed[number]));
    }
    if (statement_.has_sums()) note_rest(words_on(rest_words, k_sum), of_sum_.rest(line_of_(sum_)));
    for (const auto& [number, works] : all_)
      rows_.note(words_on(sum_words, statement_.clusters[number].cluster), printed[number]);
    if (statement_.has_sums()) add_sum(sum_words, printed, line_of_(sum_));
    return std::move(rows_);
  }

 private:
  // `printed`: the lines of the clusters, by their number.
  void add_sum(const json& words, const std::vector<std::vector<Units>>& printed, const std::vector<Units>& sum) {
    std::vector<Units> rest = sum;
    for (std::size_t k = 0; k < rest.size(); ++k) {
      std::vector<Units> of_clusters;
      for (const std::vector<Units>& line : printed) of_clusters.push_back(line[k]);
      rest[k] -= statement_.sum_in_first(of_clusters);
    }
    note_rest(words_on(words, k_rounding), std::move(rest));
    rows_.note(words_on(words, k_sum), sum);
  }

  // Of a sum over clusters.
  void note_rest(json words, std::vector<Units> rest) {
    std::fill(rest.begin() + static_cast<std::ptrdiff_t>(summed_), rest.end(), Units{0});
    rows_.note_rest(std::move(words), rest);
  }

  const ConsortiumStatement& statement_;
  std::size_t summed_;
  LineOf line_of_;
  AmountRows rows_;
  std::vector<ColumnSums> of_cluster_;
  ColumnSums of_sum_;
  std::map<std::size_t, Works> all_;
  Works sum_;
  std::vector<Units> none_;
  std::size_t subjects_ = 0;
};

Table cluster_table(const std::string& name, std::span<const Field> fields, AmountRows rows) {
  Table table{.name = name, .columns = columns_of(fields)};
  for (const char* only_if_any : {"settled", "rounding"}) {
    if (!rows.has(only_if_any)) drop_column(table, only_if_any);
  }
  table.rows = std::move(rows).take();
  return table;
}

PaperAmounts paper_amounts(const ConsortiumStatement& statement) {
  return PaperAmounts::with_decimals(statement.decimals);
}

}  // namespace

Table members_table(const ConsortiumStatement& statement) {
  const PaperAmounts amounts = paper_amounts(statement);
  const auto line_of = [&amounts](const Works& works) {
    const std::array difference{works[0], -works[1], works[2]};
    return std::vector<Units>{amounts.nearest(works[0]),
                              amounts.nearest(works[1]),
                              amounts.nearest(works[2]),
                              amounts.left_over(difference),
                              amounts.nearest(works[0] - works[1] + works[2]),
                              amounts.nearest(works[3])};
  };
  const std::size_t summed = std::size(k_member_amounts) - (standings_have_sums(statement) ? 0 : 1);
  ByCluster rows(statement, amounts, k_member_amounts, summed, line_of);
  std::map<std::string, std::map<std::size_t, Works>> members;
  for (const MemberOnCluster& row : statement.members) {
    if (row.cluster.empty()) continue;
    members[row.organization][cluster_number(statement, row.cluster)] = {row.given.work, row.got.work, row.settled.work,
                                                                         work_of(row.standing_core_hours.value_or(0))};
  }
  for (const auto& [name, clusters] : members) rows.add({{"organization", name}}, clusters);
  Table table = cluster_table("Members by cluster", k_member_fields,
                              std::move(rows).finish({{"organization", k_rounding}}, {{"organization", k_sum}}));
  if (standings_have_sums(statement)) return table;
  for (json& row : table.rows) {
    if (row["cluster"] == k_sum || row["cluster"] == k_rounding) row["standing"] = "";
  }
  return table;
}

Table standings_table(const ConsortiumStatement& statement, const ConsortiumStatement* earlier) {
  const PaperAmounts amounts = paper_amounts(statement);
  const auto line_of = [&amounts](const Works& works) {
    return std::vector<Units>{amounts.nearest(works[0]), amounts.nearest(works[1])};
  };
  const bool has_sum = standings_have_sums(statement);
  const bool has_earlier_sum = earlier != nullptr && earlier->has_sums() && standings_have_sums(*earlier);
  ByCluster rows(statement, amounts, k_standings_before_amounts, !has_sum ? 0 : has_earlier_sum ? 2 : 1, line_of);
  std::map<std::string, std::map<std::size_t, Works>> members;
  std::set<std::pair<std::string, std::string>> known;  // earlier ones, by organization and cluster
  for (const MemberOnCluster& row : statement.members) {
    if (row.cluster.empty()) continue;
    members[row.organization][cluster_number(statement, row.cluster)] = {work_of(row.standing_core_hours.value_or(0)),
                                                                         CpuTime{}};
  }
  for (const MemberOnCluster& row : earlier == nullptr ? std::vector<MemberOnCluster>{} : earlier->members) {
    const auto member = members.find(row.organization);
    if (row.cluster.empty() || member == members.end()) continue;
    const auto on = member->second.find(cluster_number(statement, row.cluster));
    if (on == member->second.end()) continue;
    on->second[1] = work_of(row.standing_core_hours.value_or(0));
    for (const std::string& whose : {row.organization, std::string(k_sum), std::string(k_rounding)})
      known.emplace(whose, row.cluster);
  }
  for (const auto& [name, clusters] : members) rows.add({{"organization", name}}, clusters);
  Table table = cluster_table("Standings, and a month before", k_standings_before_fields,
                              std::move(rows).finish({{"organization", k_rounding}}, {{"organization", k_sum}}));
  for (json& row : table.rows) {
    const std::string cluster = row["cluster"];
    const bool is_sum = cluster == k_sum || cluster == k_rounding;
    if (is_sum && !has_sum) row["standing"] = "";
    if (is_sum ? !has_sum || !has_earlier_sum : !known.contains({row["organization"], cluster})) row["earlier"] = "-";
  }
  return table;
}

Table balance_table(const ConsortiumStatement& statement) {
  const PaperAmounts amounts = paper_amounts(statement);
  const auto line_of = [&amounts](const Works& works) {
    const auto line = balance_line({works[0], works[1], works[2], works[3]}, amounts);
    return std::vector<Units>(line.begin(), line.end());
  };
  ByCluster rows(statement, amounts, k_balance_amounts, std::size(k_balance_amounts), line_of);
  std::map<std::string, std::map<std::size_t, Works>> members;
  for (const BalanceRow& row : statement.additions.balances.rows) {
    members[row.organization][cluster_number(statement, row.cluster)] = {row.before.work, row.given.work, row.got.work,
                                                                         row.settled.work};
  }
  for (const auto& [name, clusters] : members) rows.add({{"organization", name}}, clusters);
  return cluster_table("Balance by cluster", k_member_balance_fields,
                       std::move(rows).finish({{"organization", k_rounding}}, {{"organization", k_sum}}));
}

Table lent_table(const ConsortiumStatement& statement) {
  const PaperAmounts amounts = paper_amounts(statement);
  ByCluster rows(statement, amounts, k_lent_amounts, std::size(k_lent_amounts),
                 [&amounts](const Works& works) { return std::vector<Units>{amounts.nearest(works.front())}; });
  std::map<std::pair<std::string, std::string>, std::map<std::size_t, Works>> pairs;
  for (const LentOnCluster& row : statement.lent)
    add_to(pairs[{row.owner, row.borrower}][cluster_number(statement, row.cluster)], {row.amount.work});
  const auto words = [](const std::string& owner, const std::string& borrower) {
    return json{{"owner", owner}, {"borrower", borrower}};
  };
  for (const auto& [pair, clusters] : pairs) rows.add(words(pair.first, pair.second), clusters);
  Table table = cluster_table("Lending by cluster", k_lent_fields,
                              std::move(rows).finish(words(k_rounding, ""), words(k_sum, "")));
  name_unit(table, statement.in());
  return table;
}

Table users_table(const ConsortiumStatement& statement) {
  const PaperAmounts amounts = paper_amounts(statement);
  AmountRows rows(amounts, k_cluster_user_amounts);
  for (auto user = statement.users.begin(); user != statement.users.end();) {
    const std::string& organization = user->organization;
    const std::string& cluster = user->cluster;
    const auto add = [&](const json& account, const std::string& name) {
      return json{{"organization", organization}, {"cluster", cluster}, {"account", account}, {"user", name}};
    };
    const auto line_of = [&amounts](CpuTime own, CpuTime borrowed) {
      return std::array<Units, 4>{amounts.nearest(own + borrowed), amounts.nearest(own), amounts.nearest(borrowed),
                                  amounts.left_over(std::array{own, borrowed})};
    };
    ColumnSums printed;
    CpuTime own;
    CpuTime borrowed;
    for (; user != statement.users.end() && user->organization == organization && user->cluster == cluster; ++user) {
      const std::array<Units, 4> line = line_of(user->is.own.work, user->is.borrowed.work);
      own += user->is.own.work;
      borrowed += user->is.borrowed.work;
      printed.add(line);
      if (line != std::array<Units, 4>{}) rows.note(add(json_of(user->is.account), user->is.user), line);
    }
    const std::array<Units, 4> sum = line_of(own, borrowed);
    rows.note_rest(add("", k_rounding), printed.rest(sum));
    rows.note(add("", k_sum), sum);
  }
  return cluster_table("Users by cluster", k_cluster_user_fields, std::move(rows));
}

namespace {

json exact_row(const ConsortiumStatement& statement, const std::string& organization, const std::string& cluster,
               const char* item, const ledger::Amount& amount) {
  return {{"begin_utc", statement.of.front().since.utc()},
          {"end_utc", statement.of.front().until.utc()},
          {"organization", organization},
          {"cluster", cluster},
          {"item", item},
          {"core_hours", amount.core_hours()},
          {"exact", format_micro(amount.work.value)},
          {"unit", "processor_seconds"}};
}

}  // namespace

Table exact_consortium(const ConsortiumStatement& statement) {
  Table table{.columns = columns_of(k_exact_consortium_fields)};
  name_unit(table, statement.additions.balances.unit_beside(statement.in()));
  for (const MemberOnCluster& row : statement.members) {
    const auto add = [&](const char* item, const ledger::Amount& amount) {
      table.rows.push_back(exact_row(statement, row.organization, row.cluster, item, amount));
    };
    add("given", row.given);
    add("got", row.got);
    if (row.settled.work != CpuTime{}) add("settled", row.settled);
    add("difference", row.difference);
    if (!row.standing_core_hours) continue;
    add("standing", {});
    table.rows.back().update({{"core_hours", *row.standing_core_hours},
                              {"exact", format_micro(row.phi_minus_psi.value_or(Utility{}).value)},
                              {"unit", "processor_seconds_squared"}});
  }
  for (const LentOnCluster& row : statement.lent) {
    table.rows.push_back(exact_row(statement, row.owner, row.cluster, "lent_to", row.amount));
    table.rows.back()["other"] = row.borrower;
  }
  const ledger::IntervalHeading& of = statement.of.front();
  for (const json& rows : {exact_consortium_users(statement).rows, exact_balances(statement.additions.balances, of)})
    table.rows.insert(table.rows.end(), rows.begin(), rows.end());
  return table;
}

Table exact_consortium_users(const ConsortiumStatement& statement) {
  Table table{.columns = columns_of(k_exact_consortium_fields)};
  name_unit(table, statement.in());
  for (const UserOnCluster& row : statement.users) {
    for (const auto& [item, amount] :
         {std::pair("user_own", row.is.own), std::pair("user_borrowed", row.is.borrowed)}) {
      table.rows.push_back(exact_row(statement, row.organization, row.cluster, item, amount));
      table.rows.back().update({{"account", json_of(row.is.account)}, {"user", row.is.user}});
    }
  }
  return table;
}

}  // namespace shapley::ctl
