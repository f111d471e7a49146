#include "ctl/commands/utilization.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "base/contract.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/paper.hpp"

namespace shapley::ctl {

namespace {

using ledger::GpuTime;
using ledger::UtilizationRow;
using ledger::WaitedRow;
using nlohmann::json;
using tables::Field;
using tables::left;
using tables::Table;

constexpr const char* k_not_known = "not known";

constexpr Field k_use_fields[] = {
    left({"begin", "Begin"}),
    left({"organization", "Organization"}),
    {"capacity", "Capacity"},
    {"own", "Own"},
    {"lent", "Lent"},
    {"wanted", "IdleWanted"},
    {"unwanted", "IdleNotWanted"},
    {"down", "Down"},
    {"rounding", k_rounding},
};
constexpr AmountField k_use_amounts[] = {{"capacity"}, {"own"},  {"lent"},          {"wanted"},
                                         {"unwanted"}, {"down"}, {"rounding", true}};

constexpr Field k_gpu_fields[] = {
    left({"begin", "Begin"}), left({"organization", "Organization"}),
    {"capacity", "GpuHours"}, {"own", "Own"},
    {"lent", "Lent"},         {"unused", "Unused"},
    {"rounding", k_rounding}, {"borrowed", "Borrowed"},
};
constexpr AmountField k_gpu_amounts[] = {{"capacity"}, {"own"}, {"lent"}, {"unused"}, {"rounding", true}, {"borrowed"}};

std::string wait_text(const json& seconds) {
  return short_duration(seconds.get<std::int64_t>());
}

constexpr Field k_wait_fields[] = {
    left({"begin", "Begin", {}, "begin_utc"}),
    left({"partition", "Partition"}),
    {"cpus", "CPUs"},
    {"started", "Started"},
    {"not_known", "NotKnown"},
    {"median", "Median", {}, "median_s", wait_text},
    {"most_of_90_percent", "90 %", {}, "most_of_90_percent_s", wait_text},
    {"longest", "Longest", {}, "longest_s", wait_text},
};

constexpr Field k_exact_use_fields[] = {{"begin_utc"}, {"end_utc"}, {"organization"}, {"item"}, {"partition"},
                                        {"cpus"},      {"hours"},   {"exact"},        {"unit"}};

const ledger::UtilizationReport& use_of(const ledger::HistoryReport& report) {
  SHAPLEY_REQUIRE(report.utilization.has_value());
  return *report.utilization;
}

// The rows of one interval after the other, from the first of each on.
std::vector<std::span<const UtilizationRow>> intervals_of(const std::vector<UtilizationRow>& rows) {
  std::vector<std::span<const UtilizationRow>> intervals;
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t next = first;
    while (next < rows.size() && rows[next].begin == rows[first].begin) ++next;
    intervals.push_back(std::span(rows).subspan(first, next - first));
    first = next;
  }
  return intervals;
}

// An owner's line, or that of all.
struct UseWorks {
  CpuTime capacity = {}, own = {}, lent = {}, wanted = {}, unwanted = {}, down = {};
  bool is_known = true;  // capacity and down

  UseWorks() = default;
  explicit UseWorks(const UtilizationRow& row)
      : capacity(row.capacity.value_or(ledger::Amount{}).work),
        own(row.own.work),
        lent(row.lent.work),
        wanted(row.idle_wanted.work),
        unwanted(row.idle_unwanted.work),
        down(row.down.value_or(ledger::Amount{}).work),
        is_known(row.capacity && row.down) {}
  UseWorks& operator+=(const UseWorks& other) {
    for (CpuTime UseWorks::*const work : {&UseWorks::capacity, &UseWorks::own, &UseWorks::lent, &UseWorks::wanted,
                                          &UseWorks::unwanted, &UseWorks::down})
      this->*work += other.*work;
    is_known = is_known && other.is_known;
    return *this;
  }
  [[nodiscard]] CpuTime all() const { return own + lent + wanted + unwanted + down; }
};

std::array<Units, 7> use_line(const UseWorks& works, const PaperAmounts& amounts) {
  const std::array parts{works.own, works.lent, works.wanted, works.unwanted, works.down};
  return {amounts.nearest(works.capacity),
          amounts.nearest(works.own),
          amounts.nearest(works.lent),
          amounts.nearest(works.wanted),
          amounts.nearest(works.unwanted),
          amounts.nearest(works.down),
          works.is_known ? amounts.left_over(parts) : 0};
}

// `is_rest`: of the row of what rounding leaves.
void mark_use_unknown(json& row, bool is_rest) {
  for (const char* column : {"capacity", "down"}) row[column] = is_rest ? "" : k_not_known;
}

std::array<Units, 6> use_line(const ledger::GpuUse& use, const PaperAmounts& amounts) {
  return {amounts.nearest(use.capacity.time),
          amounts.nearest(use.own.time),
          amounts.nearest(use.lent.time),
          amounts.nearest(use.unused.time),
          amounts.left_over(std::array{use.own.time, use.lent.time, use.unused.time}),
          amounts.nearest(use.borrowed.time)};
}

json use_words(const UtilizationRow& row, const std::string& organization) {
  return {{"begin", row.begin.utc()}, {"organization", organization}};
}

bool has_gpus(const ledger::UtilizationReport& report) {
  return std::ranges::any_of(report.rows, [](const UtilizationRow& row) {
    return row.gpus && (row.gpus->capacity.time != CpuTime{} || row.gpus->borrowed.time != CpuTime{});
  });
}

PaperAmounts use_amounts(const ledger::UtilizationReport& report) {
  CpuTime largest;
  for (const UtilizationRow& row : report.rows) largest = std::max(largest, UseWorks(row).all());
  return PaperAmounts(largest);
}

Table use_table(const ledger::HistoryReport& history) {
  const ledger::UtilizationReport& report = use_of(history);
  const PaperAmounts amounts = use_amounts(report);
  Table table{.name = "Utilization", .columns = columns_of(k_use_fields)};
  bool has_rounding = false;
  for (const auto interval : intervals_of(report.rows)) {
    AmountRows rows(amounts, k_use_amounts);
    std::vector<bool> is_known;
    UseWorks all;
    for (const UtilizationRow& row : interval) {
      const UseWorks works(row);
      all += works;
      if (works.all() == CpuTime{} && works.is_known) continue;
      rows.add(use_words(row, row.organization), use_line(works, amounts));
      is_known.push_back(works.is_known);
    }
    rows.finish(use_words(interval.front(), k_rounding), use_words(interval.front(), k_sum), use_line(all, amounts));
    has_rounding = has_rounding || rows.has("rounding");
    json lines = std::move(rows).take();
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (i < is_known.size() ? !is_known[i] : !all.is_known)
        mark_use_unknown(lines[i], lines[i]["organization"] == k_rounding);
      table.rows.push_back(std::move(lines[i]));
    }
  }
  if (!has_rounding) drop_column(table, "rounding");
  for (const std::string& column : report.not_known) {
    table.columns.push_back({.name = column, .title = column});
    table.columns.back().title[0] = static_cast<char>(table.columns.back().title[0] - 'a' + 'A');
    for (json& row : table.rows) row[column] = row["organization"] == k_rounding ? "" : k_not_known;
  }
  return table;
}

Table gpu_table(const ledger::UtilizationReport& report) {
  CpuTime largest;
  for (const UtilizationRow& row : report.rows) {
    if (row.gpus) largest = std::max({largest, row.gpus->capacity.time, row.gpus->borrowed.time});
  }
  const PaperAmounts amounts(largest);
  Table table{.name = "GPU hours", .columns = columns_of(k_gpu_fields)};
  bool has_rounding = false;
  for (const auto interval : intervals_of(report.rows)) {
    AmountRows rows(amounts, k_gpu_amounts);
    ledger::GpuUse all;
    std::vector<std::string> not_known;
    for (const UtilizationRow& row : interval) {
      if (!row.gpus) {
        not_known.push_back(row.organization);
        continue;
      }
      if (row.gpus->capacity.time == CpuTime{} && row.gpus->borrowed.time == CpuTime{}) continue;
      rows.add(use_words(row, row.organization), use_line(*row.gpus, amounts));
      for (GpuTime ledger::GpuUse::*const part :
           {&ledger::GpuUse::capacity, &ledger::GpuUse::own, &ledger::GpuUse::lent, &ledger::GpuUse::unused,
            &ledger::GpuUse::borrowed})
        (all.*part).time += ((*row.gpus).*part).time;
    }
    // What is not known has no sum.
    if (not_known.empty())
      rows.finish(use_words(interval.front(), k_rounding), use_words(interval.front(), k_sum), use_line(all, amounts));
    has_rounding = has_rounding || rows.has("rounding");
    for (json& row : std::move(rows).take()) table.rows.push_back(std::move(row));
    for (const std::string& organization : not_known) {
      json row = use_words(interval.front(), organization);
      for (const AmountField& field : k_gpu_amounts) row[std::string(field.name)] = k_not_known;
      row["rounding"] = "";
      table.rows.push_back(std::move(row));
    }
  }
  if (!has_rounding) drop_column(table, "rounding");
  return table;
}

Table wait_table(const ledger::UtilizationReport& report) {
  Table table{.name = "Waits of runs that began", .columns = columns_of(k_wait_fields)};
  for (const WaitedRow& row : report.waits) {
    table.rows.push_back(json_of(row));
    if (row.cpus == ledger::k_all_sizes) table.rows.back()["partition"] = "(all)";
  }
  return table;
}

// The rows of exact_utilization, by view.
class ExactUse {
 public:
  static json of_use(const ledger::UtilizationReport& report) {
    json rows = json::array();
    for (const UtilizationRow& row : report.rows) {
      add(rows, row, "capacity", row.capacity);
      add(rows, row, "own", row.own);
      add(rows, row, "lent", row.lent);
      add(rows, row, "idle_wanted", row.idle_wanted);
      add(rows, row, "idle_unwanted", row.idle_unwanted);
      add(rows, row, "down", row.down);
      for (const std::string& item : report.not_known) add(rows, row, item, std::optional<ledger::Amount>());
    }
    return rows;
  }
  static json of_gpus(const ledger::UtilizationReport& report) {
    json rows = json::array();
    for (const UtilizationRow& row : report.rows) {
      const auto add_gpus = [&](const char* item, GpuTime ledger::GpuUse::*part) {
        const std::optional<CpuTime> time = row.gpus ? std::optional(((*row.gpus).*part).time) : std::nullopt;
        add(rows, row, item, time, "gpu_seconds");
      };
      add_gpus("gpu_capacity", &ledger::GpuUse::capacity);
      add_gpus("gpu_own", &ledger::GpuUse::own);
      add_gpus("gpu_lent", &ledger::GpuUse::lent);
      add_gpus("gpu_unused", &ledger::GpuUse::unused);
      add_gpus("gpu_borrowed", &ledger::GpuUse::borrowed);
    }
    return rows;
  }
  static json of_waits(const ledger::UtilizationReport& report) {
    json rows = json::array();
    for (const WaitedRow& row : report.waits) {
      const auto add_count = [&](const char* item, std::int64_t runs) {
        rows.push_back(line(row, "", item));
        rows.back().update({{"exact", runs}, {"unit", "runs"}});
      };
      const auto add_wait = [&](const char* item, std::optional<std::int64_t> seconds) {
        rows.push_back(line(row, "", item));
        rows.back()["unit"] = "seconds";
        if (seconds) rows.back().update({{"hours", static_cast<double>(*seconds) / 3600}, {"exact", *seconds}});
      };
      const std::size_t first = rows.size();
      add_count("started", row.started);
      add_count("wait_not_known", row.not_known);
      add_wait("wait_median", row.median_s);
      add_wait("wait_of_90_percent", row.most_of_90_percent_s);
      add_wait("wait_longest", row.longest_s);
      for (std::size_t i = first; i < rows.size(); ++i)
        rows[i].update({{"partition", row.partition}, {"cpus", row.cpus}});
    }
    return rows;
  }

 private:
  template <typename Row>
  static json line(const Row& row, const std::string& organization, const std::string& item) {
    return {{"begin_utc", row.begin.utc()}, {"end_utc", row.end.utc()}, {"organization", organization}, {"item", item}};
  }
  static void add(json& rows, const UtilizationRow& row, const std::string& item, std::optional<CpuTime> time,
                  const char* unit) {
    rows.push_back(line(row, row.organization, item));
    rows.back()["unit"] = unit;
    if (time) rows.back().update({{"hours", ledger::core_hours(*time)}, {"exact", format_micro(time->value)}});
  }
  static void add(json& rows, const UtilizationRow& row, const std::string& item,
                  const std::optional<ledger::Amount>& amount) {
    add(rows, row, item, amount ? std::optional(amount->work) : std::nullopt, "processor_seconds");
  }
};

Table exact_use_table(json rows) {
  return {.columns = columns_of(k_exact_use_fields), .rows = std::move(rows)};
}

}  // namespace

std::vector<UtilizationView> utilization_views(const ledger::HistoryReport& history) {
  const ledger::UtilizationReport& report = use_of(history);
  std::vector<UtilizationView> views{{"utilization", use_table(history), exact_use_table(ExactUse::of_use(report))}};
  if (has_gpus(report)) views.push_back({"gpus", gpu_table(report), exact_use_table(ExactUse::of_gpus(report))});
  if (!report.waits.empty())
    views.push_back({"waits", wait_table(report), exact_use_table(ExactUse::of_waits(report))});
  return views;
}

Table exact_utilization(const ledger::HistoryReport& history) {
  Table table = exact_use_table(json::array());
  for (UtilizationView& view : utilization_views(history))
    table.rows.insert(table.rows.end(), view.values.rows.begin(), view.values.rows.end());
  return table;
}

std::string utilization_notes(const ledger::HistoryReport& history) {
  const ledger::UtilizationReport& report = use_of(history);
  std::string text =
      "Capacity: what its nodes are worth. Own and Lent: what its own and others' jobs ran there. IdleWanted: idle "
      "while\nstartable jobs asked for as much. Down: of nodes that are down or drained, or that Slurm no longer has; "
      "the ledger does\nnot record which. What reservations kept idle is in the idle columns.\n";
  if (has_gpus(report)) text += "GPU hours: of all types; Unused: idle or down.\n";
  if (report.is_private) text += "Waits are private here (PrivateData in slurm.conf).\n";
  if (!report.waits.empty())
    text +=
        "Waits: of the runs that began, from when Slurm could have started them. NotKnown: runs for which that is "
        "not recorded.\n";
  return text;
}

std::string utilization_text(const ledger::HistoryReport& history) {
  std::string text;
  for (const UtilizationView& view : utilization_views(history)) text += people_text(view.table) + '\n';
  return text + utilization_notes(history);
}

}  // namespace shapley::ctl
