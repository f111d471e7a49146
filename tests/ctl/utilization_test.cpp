// What nodes were used for, on every paper, against a second computation: the list of nodes and runs, looked at every
// ten minutes.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "calculator_fixture.hpp"

namespace shapley::ctl {
namespace {

using namespace accounting;
using nlohmann::json;

constexpr std::int64_t k_look_step = 600;
constexpr std::int64_t k_cpus = 16;
constexpr std::int64_t k_gpus = 4;

// A node of 16 CPUs. Parts are in millionths, and what they leave belongs to commons.
struct SiteNode {
  std::string name;
  std::int64_t gpus = 0;
  std::map<std::string, std::int64_t> parts = {}, parts_since_september = {};
  std::vector<std::pair<Instant, Instant>> downs = {};  // down, drained or gone

  [[nodiscard]] std::map<std::string, std::int64_t> parts_at(Instant t) const {
    std::map<std::string, std::int64_t> all = t < k_september ? parts : parts_since_september;
    std::int64_t left = k_whole_node;
    for (const auto& [owner, part] : all) left -= part;
    if (left > 0) all["commons"] = left;
    return all;
  }
  [[nodiscard]] bool is_down(Instant t) const {
    return std::ranges::any_of(downs, [&](const auto& down) { return down.first <= t && t < down.second; });
  }
};

struct SiteRun {
  std::string organization, node, partition;
  std::int64_t cpus = 0, gpus = 0;
  Instant released, begin, end;
  bool is_release_known = true;
};

// Months' begins as pages write them.
std::vector<CellsByHead> in_words(std::vector<CellsByHead> rows) {
  constexpr std::array k_months{"January", "February", "March",     "April",   "May",      "June",
                                "July",    "August",   "September", "October", "November", "December"};
  for (CellsByHead& row : rows) {
    std::string& begin = row.at("Begin");
    if (!begin.ends_with("-01T00:00:00Z")) continue;
    const auto month = static_cast<std::size_t>(std::stoi(begin.substr(5, 2)));
    begin = std::string("1 ") + k_months.at(month - 1) + ' ' + begin.substr(0, 4) + ", 00:00 UTC";
  }
  return rows;
}

struct Waited {
  std::vector<std::int64_t> seconds;
  std::int64_t not_known = 0;
};

// What happened in [lo, hi).
struct Used {
  ByName capacity, own, lent, wanted, unwanted, down, gpu_capacity, gpu_own, gpu_lent, gpu_borrowed;
  std::map<std::pair<std::string, std::string>, Waited> waits;  // by partition and CPUs
};

struct UsedSite {
  std::mt19937_64 random;
  std::vector<SiteNode> nodes = {};
  std::vector<SiteRun> runs = {};

  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); }

  UsedSite& make() {
    nodes = {
        {.name = "n1", .gpus = 0, .parts = {{"astro", 1'000'000}}, .parts_since_september = {{"bio", 1'000'000}}},
        {.name = "n2",
         .gpus = k_gpus,
         .parts = {{"astro", 500'000}, {"bio", 500'000}},
         .parts_since_september = {{"astro", 250'000}, {"bio", 250'000}}},
        {.name = "n3", .gpus = k_gpus, .parts = {{"bio", 1'000'000}}, .parts_since_september = {{"bio", 1'000'000}}}};
    for (SiteNode& node : nodes) {
      for (Instant t = k_books_begin + Duration{k_look_step * (1 + below(2'000))}; t < k_books_end;
           t = node.downs.back().second + Duration{k_look_step * (1 + below(2'000))})
        node.downs.emplace_back(t, t + Duration{k_look_step * (1 + below(400))});
      // Jobs one after the other in each half of the node.
      for (int half = 0; half < 2; ++half) {
        for (Instant free = k_books_begin; free < k_books_end - Duration{600'000};) {
          SiteRun run{.node = node.name};
          run.organization = std::array{"astro", "bio", "guests"}[static_cast<std::size_t>(below(3))];
          run.partition = below(2) == 0 ? "batch" : "gpu";
          run.cpus = std::array{1, 2, 8}[static_cast<std::size_t>(below(3))];
          run.gpus = node.gpus == 0 ? 0 : below(k_gpus / 2 + 1);
          run.begin = free + Duration{k_look_step * below(300)};
          run.released = run.begin - Duration{k_look_step * below(200)};
          run.is_release_known = below(5) != 0;
          // Some begin with a month, and some last no time.
          for (const Instant edge : {k_august, k_september, k_october}) {
            if (run.begin < edge && edge < run.begin + Duration{30'000}) run.begin = edge;
          }
          run.end = run.begin + Duration{k_look_step * below(600)};
          free = run.end;
          runs.push_back(run);
        }
      }
    }
    return *this;
  }

  [[nodiscard]] Used used(Instant lo, Instant hi) const {
    Used used;
    for (Instant t = lo; t < hi; t = t + Duration{k_look_step}) add_step(used, t);
    for (const SiteRun& run : runs) {
      if (run.begin < lo || run.begin >= hi) continue;
      const std::string cpus = run.cpus == 1 ? "1" : "2-8";
      for (const auto& key : {std::pair(run.partition, cpus), std::pair(std::string(), std::string("all"))}) {
        Waited& waited = used.waits[key];
        if (run.is_release_known)
          waited.seconds.push_back((run.begin - run.released).value);
        else
          ++waited.not_known;
      }
    }
    return used;
  }

  void write(const std::filesystem::path& file) const {
    std::vector<Event> events{OrganizationsDeclared{k_books_begin, {"astro", "bio"}},
                              PeriodDeclared{k_books_begin, Period::monthly}};
    const auto owners = [](const std::map<std::string, std::int64_t>& parts) {
      std::vector<OwnerPart> list;
      for (const auto& [name, part] : parts) list.push_back({name, part});
      return list;
    };
    for (const SiteNode& node : nodes) {
      events.emplace_back(
          OwnershipStated{node.name,
                          k_books_begin,
                          {{k_books_begin, owners(node.parts)}, {k_september, owners(node.parts_since_september)}}});
      CapacityChanged capacity{.node = node.name,
                               .at = k_books_begin,
                               .processors = {k_cpus * k_micro},
                               .whole = {k_cpus * k_micro},
                               .cpus = k_cpus};
      if (node.gpus > 0) capacity.gres = {{"gres/gpu", node.gpus}};
      events.emplace_back(capacity);
      for (const auto& [begin, end] : node.downs) {
        capacity.at = begin;
        capacity.processors = {};
        events.emplace_back(capacity);
        capacity.at = end;
        capacity.processors = capacity.whole;
        events.emplace_back(capacity);
      }
    }
    for (std::uint32_t i = 0; i < runs.size(); ++i) add_run(events, i);
    ledger::Ledger ledger = ledger::testing::writer(file);
    ledger::testing::must(ledger.append(events, k_books_end));
  }

 private:
  void add_step(Used& used, Instant t) const {
    ByName idle;
    Int128 waiting = 0;
    for (const SiteNode& node : nodes) {
      std::int64_t running = 0;
      const auto parts = node.parts_at(t);
      for (const SiteRun& run : runs) {
        if (run.node != node.name || run.begin > t || t >= run.end) continue;
        running += run.cpus;
        for (const auto& [owner, part] : parts) {
          const bool is_own = owner == run.organization;
          (is_own ? used.own : used.lent)[owner] += Int128{run.cpus} * part * k_look_step;
          (is_own ? used.gpu_own : used.gpu_lent)[owner] += Int128{run.gpus} * part * k_look_step;
          if (!is_own) used.gpu_borrowed[run.organization] += Int128{run.gpus} * part * k_look_step;
        }
      }
      const std::int64_t offered = node.is_down(t) ? running : k_cpus;
      for (const auto& [owner, part] : parts) {
        used.capacity[owner] += Int128{k_cpus} * part * k_look_step;
        used.down[owner] += Int128{k_cpus - offered} * part * k_look_step;
        used.gpu_capacity[owner] += Int128{node.gpus} * part * k_look_step;
        idle[owner] += Int128{offered - running} * part;
      }
    }
    for (const SiteRun& run : runs) {
      if (run.is_release_known && run.released <= t && t < run.begin) waiting += run.cpus * k_micro;
    }
    const Int128 all = total_of(idle);
    for (const auto& [owner, processors] : idle) {
      const Int128 wanted = all == 0 ? Int128{0} : processors * std::min(all, waiting) / all;
      used.wanted[owner] += wanted * k_look_step;
      used.unwanted[owner] += (processors - wanted) * k_look_step;
    }
  }

  void add_run(std::vector<Event>& events, std::uint32_t i) const {
    const SiteRun& run = runs[i];
    const JobId job{i + 1};
    JobDescribed described;
    described.job = job;
    described.submit = run.released;
    described.organization = run.organization;
    // It is submitted to both partitions, and runs in one of them.
    described.partition = "batch,gpu";
    events.emplace_back(described);
    described.partition = run.partition;
    events.emplace_back(change_to(described, run.begin));
    const ProcessorMillionths cores{run.cpus * k_micro};
    if (run.is_release_known && run.begin > run.released) {
      const SegmentKey wait{SegmentKind::wait, job, run.released, 0};
      events.emplace_back(SegmentOpened{
          .key = wait, .organization = run.organization, .begin = run.released, .processors = cores, .nodes = {}});
      events.emplace_back(SegmentClosed{wait, run.begin, CloseReason::started, ""});
    }
    NodeShare share{.node = run.node, .processors = cores, .cpus = static_cast<std::uint32_t>(run.cpus)};
    if (run.gpus > 0) share.gres = {{"gres/gpu", run.gpus}};
    SegmentOpened opened{.key = {SegmentKind::run, job, run.begin, 0},
                         .organization = run.organization,
                         .begin = run.begin,
                         .processors = cores,
                         .nodes = {share}};
    if (run.is_release_known) opened.released = run.released;
    events.emplace_back(opened);
    events.emplace_back(SegmentClosed{opened.key, run.end, CloseReason::ended, ""});
  }
};

std::int64_t percentile(std::vector<std::int64_t> seconds, std::size_t percent) {
  std::ranges::sort(seconds);
  // Counts how many are as long or shorter, until they are enough.
  for (const std::int64_t wait : seconds) {
    const auto as_long = static_cast<std::size_t>(std::ranges::upper_bound(seconds, wait) - seconds.begin());
    if (100 * as_long >= percent * seconds.size()) return wait;
  }
  return -1;
}

ByName hours_of(const Rows& rows, const std::string& item) {
  ByName amounts;
  for (const auto& row : rows) {
    if (row.at("item") != item) continue;
    const std::int64_t micro = static_cast<std::int64_t>(*parse_micro(row.at("exact")));
    amounts[row.at("organization")] += micro;
    EXPECT_NEAR(std::stod(row.at("hours")), static_cast<double>(micro) / 3.6e9, 1e-6);
  }
  return amounts;
}

class Utilization : public Calculator {
 protected:
  static constexpr std::array k_months{std::pair(k_books_begin, k_august), std::pair(k_august, k_september),
                                       std::pair(k_september, k_october), std::pair(k_october, k_books_end)};

  static void check_report(const json& report, const UsedSite& site) {
    std::size_t rows = 0;
    for (const auto& [lo, hi] : k_months) {
      const Used used = site.used(lo, hi);
      const std::map<std::string, const ByName*> members{
          {"capacity", &used.capacity},  {"own", &used.own},   {"lent", &used.lent},
          {"idle_wanted", &used.wanted}, {"down", &used.down}, {"idle_unwanted", &used.unwanted}};
      const std::map<std::string, const ByName*> gpus{{"capacity", &used.gpu_capacity},
                                                      {"own", &used.gpu_own},
                                                      {"lent", &used.gpu_lent},
                                                      {"borrowed", &used.gpu_borrowed}};
      for (const json& row : report["rows"]) {
        if (row["begin"] != lo.value) continue;
        ++rows;
        const std::string name = row["organization"];
        Int128 parts = 0;
        for (const auto& [member, amounts] : members) {
          EXPECT_EQ(row[member]["processor_seconds"], format_micro(amount_by(*amounts, name))) << name << ' ' << member;
          if (member != "capacity") parts += *parse_micro(row[member]["processor_seconds"].get<std::string>());
        }
        EXPECT_EQ(row["capacity"]["processor_seconds"], format_micro(parts)) << name;
        for (const auto& [member, amounts] : gpus)
          EXPECT_EQ(row["gpus"][member]["gpu_seconds"], format_micro(amount_by(*amounts, name)))
              << name << ' ' << member;
      }
      auto waits = used.waits;
      for (const json& row : report["waits"]) {
        if (row["begin"] != lo.value) continue;
        const auto found = waits.find({row["partition"], row["cpus"]});
        ASSERT_NE(found, waits.end()) << row;
        const auto& [seconds, not_known] = found->second;
        EXPECT_EQ(row["started"], static_cast<std::int64_t>(seconds.size()) + not_known);
        EXPECT_EQ(row["not_known"], not_known);
        if (!seconds.empty()) {
          EXPECT_EQ(row["median_s"], percentile(seconds, 50));
          EXPECT_EQ(row["most_of_90_percent_s"], percentile(seconds, 90));
          EXPECT_EQ(row["longest_s"], std::ranges::max(seconds));
        }
        waits.erase(found);
      }
      EXPECT_TRUE(waits.empty());
    }
    EXPECT_EQ(rows, 4 * k_months.size());
    EXPECT_EQ(report["rows"].size(), rows);
  }

  static void check_tables(const ReadTable& use, const ReadTable& gpus, const UsedSite& site) {
    for (const auto& [lo, hi] : k_months) {
      const Used used = site.used(lo, hi);
      const auto of_month = [begin = format_instant(lo)](ReadTable table) {
        std::erase_if(table.rows, [&begin](const CellsByHead& row) { return row.at("Begin") != begin; });
        return table;
      };
      const ReadTable month = of_month(use);
      for (const CellsByHead& row : month.rows) {
        EXPECT_EQ(printed_in(row, "Own") + printed_in(row, "Lent") + printed_in(row, "IdleWanted") +
                      printed_in(row, "IdleNotWanted") + printed_in(row, "Down") + printed_in(row, k_rounding),
                  printed_in(row, "Capacity"));
        const std::string& name = row.at("Organization");
        EXPECT_EQ(row.at("Drained"), name == k_rounding ? "" : "not known");
        EXPECT_EQ(row.at("Reserved"), name == k_rounding ? "" : "not known");
        if (name == k_rounding) continue;
        const auto amount = [&](const ByName& amounts) {
          return name == k_sum ? total_of(amounts) : amount_by(amounts, name);
        };
        expect_amount(row, "Capacity", amount(used.capacity));
        expect_amount(row, "Own", amount(used.own));
        expect_amount(row, "Lent", amount(used.lent));
        expect_amount(row, "IdleWanted", amount(used.wanted));
        expect_amount(row, "IdleNotWanted", amount(used.unwanted));
        expect_amount(row, "Down", amount(used.down));
      }
      expect_columns_add_up(month, "Organization", {"Capacity", "Own", "Lent", "IdleWanted", "IdleNotWanted", "Down"});
      const ReadTable of_gpus = of_month(gpus);
      for (const CellsByHead& row : of_gpus.rows) {
        EXPECT_EQ(
            printed_in(row, "Own") + printed_in(row, "Lent") + printed_in(row, "Unused") + printed_in(row, k_rounding),
            printed_in(row, "GpuHours"));
        if (row.at("Organization") != k_rounding && row.at("Organization") != k_sum)
          expect_amount(row, "GpuHours", amount_by(used.gpu_capacity, row.at("Organization")));
      }
      expect_columns_add_up(of_gpus, "Organization", {"GpuHours", "Own", "Lent", "Unused", "Borrowed"});
    }
  }
};

TEST_F(Utilization, is_what_happened_on_every_paper) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    SCOPED_TRACE(seed);
    const UsedSite site = UsedSite{.random = std::mt19937_64(seed)}.make();
    const std::string name = file("l" + std::to_string(seed));
    site.write(name);
    const std::string asked = " --ledger " + name + " -S 2023-07-01";
    const json report = json::parse(shown("history --utilization --json" + asked))["utilization"];
    check_report(report, site);
    EXPECT_EQ(report["not_known"], (json{"drained", "reserved"}));
    const auto tables = text_tables(shown("history --utilization" + asked));
    const ReadTable use = with_head(tables, {"Begin", "Organization", "Capacity"});
    const ReadTable gpus = with_head(tables, {"Begin", "Organization", "GpuHours"});
    const ReadTable waits = with_head(tables, {"Begin", "Partition", "CPUs"});
    check_tables(use, gpus, site);
    const std::string out = page(asked + " --utilization", "page");
    EXPECT_EQ(in_words(use.rows), page_table(out, "Utilization").rows);
    EXPECT_EQ(in_words(gpus.rows), page_table(out, "GPU hours").rows);
    EXPECT_EQ(in_words(waits.rows), page_table(out, "Waits of runs that began").rows);
    const auto exact = parsed_csv(shown("history --utilization --csv" + asked));
    const Used whole = site.used(k_books_begin, k_books_end);
    for (const auto& [item, amounts] : std::map<std::string, const ByName*>{{"own", &whole.own},
                                                                            {"lent", &whole.lent},
                                                                            {"capacity", &whole.capacity},
                                                                            {"down", &whole.down},
                                                                            {"gpu_lent", &whole.gpu_lent}})
      expect_same(hours_of(exact, item), *amounts, item);
    for (const auto& row : exact) {
      if (row.at("item") == "drained" || row.at("item") == "reserved") EXPECT_EQ(row.at("exact") + row.at("hours"), "");
    }
    // The files of the page have the same values.
    std::size_t lines = 0;
    for (const char* values : {"utilization.csv", "gpus.csv", "waits.csv"})
      lines += parsed_csv(content_of(file("page") + '/' + values)).size();
    EXPECT_EQ(lines, exact.size());
    (void)page(asked, "page");
    for (const char* values : {"utilization.csv", "gpus.csv", "waits.csv"})
      EXPECT_FALSE(std::filesystem::exists(file("page") + '/' + values)) << values;
  }
}

}  // namespace
}  // namespace shapley::ctl
