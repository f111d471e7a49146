// Random books whose every amount is computed a second time, from the list of their runs: what a person with a
// calculator would get.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/calendar.hpp"
#include "tests/ledger/adjusting.hpp"
#include "tests/ledger/ledger_fixture.hpp"

namespace shapley::ctl {

inline constexpr Instant k_books_begin{1'688'169'600};  // 2023-07-01T00:00:00Z
inline constexpr Instant k_august{1'690'848'000};       // 2023-08-01T00:00:00Z
inline constexpr Instant k_september{1'693'526'400};    // 2023-09-01T00:00:00Z
inline constexpr Instant k_october{1'696'118'400};      // 2023-10-01T00:00:00Z
inline constexpr Instant k_books_end{1'696'464'000};    // 2023-10-05T00:00:00Z

struct CalculatorRun {
  std::string organization;
  std::string owner;  // of the node
  std::string account;
  std::uint32_t user = 0;
  std::int64_t cores = 0;
  Instant submit, begin, end;
};

struct CalculatorAmount {
  std::string from, to;
  Int128 work = 0;
  Instant at;
};

using ByName = std::map<std::string, Int128>;

// Of all organizations during some time: work in millionths of a processor-second.
struct CalculatorSums {
  ByName given, got, settled, own, lent, borrowed, waited;
  std::map<std::pair<std::string, std::string>, Int128> pairs;  // by owner and borrower
  // By organization, account and user: on its own processors, and on others'.
  std::map<std::tuple<std::string, std::string, std::uint32_t>, std::pair<Int128, Int128>> users;
};

// A standing, in millionths of a processor-second: balance / elapsed.
struct CalculatorStanding {
  Int128 balance = 0;
  std::int64_t elapsed = 1;
};

struct CalculatorBooks {
  Period period = Period::none;
  std::vector<std::string> names;  // with guests and commons
  std::vector<CalculatorRun> runs = {};
  std::vector<CalculatorAmount> amounts = {};

  // Work during [lo, hi).
  [[nodiscard]] CalculatorSums sums(Instant lo, Instant hi) const {
    CalculatorSums sums;
    for (const CalculatorRun& run : runs) {
      const Int128 work = length(run.begin, run.end, lo, hi) * run.cores;
      sums.waited[run.organization] += length(run.submit, run.begin, lo, hi) * run.cores;
      if (work == 0) continue;
      sums.given[run.owner] += work;
      sums.got[run.organization] += work;
      auto& [own, borrowed] = sums.users[{run.organization, run.account, run.user}];
      if (run.owner == run.organization) {
        sums.own[run.organization] += work;
        own += work;
        continue;
      }
      borrowed += work;
      sums.lent[run.owner] += work;
      sums.borrowed[run.organization] += work;
      sums.pairs[{run.owner, run.organization}] += work;
    }
    for (const CalculatorAmount& amount : amounts) {
      if (amount.at < lo || amount.at >= hi) continue;
      sums.settled[amount.from] += amount.work;
      sums.settled[amount.to] -= amount.work;
    }
    return sums;
  }

  // What each owner gave less what it got, and what was settled, during [lo, hi).
  [[nodiscard]] ByName balances(Instant lo, Instant hi) const {
    const CalculatorSums sums = this->sums(lo, hi);
    ByName balances = sums.settled;
    for (const auto& [name, work] : sums.given) balances[name] += work;
    for (const auto& [name, work] : sums.got) balances[name] -= work;
    return balances;
  }

  // What of each owner's node, which has 16 processors, was idle while jobs waited: as much of all that was idle as
  // they asked for, each owner's part rounded down to the millionth.
  [[nodiscard]] ByName idle_wanted(Instant lo, Instant hi) const {
    std::vector<Instant> instants{lo, hi};
    for (const CalculatorRun& run : runs) {
      for (const Instant t : {run.submit, run.begin, run.end}) {
        if (lo < t && t < hi) instants.push_back(t);
      }
    }
    std::ranges::sort(instants);
    ByName wanted;
    for (std::size_t i = 0; i + 1 < instants.size(); ++i) {
      const Instant t = instants[i];
      ByName idle;
      for (const std::string& name : names) idle[name] = name == "guests" || name == "commons" ? 0 : 16 * k_micro;
      Int128 waiting = 0;
      for (const CalculatorRun& run : runs) {
        if (run.begin <= t && t < run.end) idle[run.owner] -= run.cores * k_micro;
        if (run.submit <= t && t < run.begin) waiting += run.cores * k_micro;
      }
      Int128 all = 0;
      for (const auto& [name, processors] : idle) all += processors;
      if (all == 0) continue;
      for (const auto& [name, processors] : idle)
        wanted[name] += processors * std::min(all, waiting) / all * (instants[i + 1] - t).value;
    }
    return wanted;
  }

  // The begin of the period that holds the second before t.
  [[nodiscard]] Instant period_begin_before(Instant t) const {
    if (period == Period::none) return k_books_begin;
    return std::max(k_books_begin, shapley::period_begin(Period::monthly, t - Duration{1}));
  }

  // The sum over seconds of the period of (given - got) so far, and what was agreed on.
  [[nodiscard]] CalculatorStanding standing(const std::string& name, Instant begin, Instant t) const {
    CalculatorStanding standing{.balance = 0, .elapsed = std::max<std::int64_t>(1, (t - begin).value)};
    const auto add = [&](const std::string& whose, Int128 utility) {
      if (whose == name) standing.balance += utility;
    };
    for (const CalculatorRun& run : runs) {
      const Instant from = std::max(run.begin, begin);
      const Instant to = std::min(run.end, t);
      if (from >= to) continue;
      const Int128 seconds = (to - from).value;
      const Int128 utility = Int128{k_micro} * run.cores * ((t - from).value + (t - to).value + 1) * seconds / 2;
      add(run.owner, utility);
      add(run.organization, -utility);
    }
    for (const CalculatorAmount& amount : amounts) {
      if (amount.at < begin || amount.at >= t) continue;
      add(amount.from, amount.work * (t - amount.at).value);
      add(amount.to, -amount.work * (t - amount.at).value);
    }
    return standing;
  }

 private:
  static Int128 length(Instant begin, Instant end, Instant lo, Instant hi) {
    return Int128{k_micro} * std::max<std::int64_t>(0, (std::min(end, hi) - std::max(begin, lo)).value);
  }
};

// Books of some organizations, each with a node of its own, guests among the jobs.
struct CalculatorSite {
  std::mt19937_64 random;
  CalculatorBooks books = {};

  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); }

  CalculatorBooks& make(std::size_t organizations, Period period) {
    books.period = period;
    for (std::size_t i = 0; i < organizations; ++i) books.names.push_back("org" + std::to_string(i));
    // Jobs one after the other on each node; often across the end of a month, to the second now and then.
    for (const std::string& owner : books.names) {
      for (Instant free = k_books_begin + Duration{below(50'000)}; free < k_books_end - Duration{500'000};) {
        CalculatorRun run{.owner = owner, .cores = 1 + below(16)};
        const std::int64_t who = below(static_cast<std::int64_t>(organizations) + 1);
        run.organization = who == 0 ? "guests" : books.names[static_cast<std::size_t>(who) - 1];
        run.account = run.organization + (below(2) == 0 ? "" : "_lab");
        run.user = 4'000'000 + static_cast<std::uint32_t>(below(3));
        run.submit = free + Duration{below(20'000)};
        run.begin = run.submit + Duration{below(9'000)};
        run.end = run.begin + Duration{1 + below(400'000)};
        for (const Instant edge : {k_august, k_september, k_october}) {
          if (below(2) == 0 && run.begin < edge && run.end > edge) run.end = edge;
        }
        free = run.end;
        books.runs.push_back(run);
      }
    }
    books.runs.front().submit = books.runs.front().begin;  // of it only the run is corrected, not a wait
    const std::array edges{k_books_begin,
                           k_august - Duration{1},
                           k_august,
                           k_september,
                           k_october - Duration{1},
                           k_october,
                           k_august + Duration{1 + below(900'000)}};
    for (const Instant at : edges) {
      const std::size_t from = static_cast<std::size_t>(below(static_cast<std::int64_t>(organizations)));
      books.amounts.push_back({.from = books.names[from],
                               .to = books.names[(from + 1) % organizations],
                               .work = Int128{1 + below(2'000'000)} * (k_micro / 10),
                               .at = at});
    }
    books.names.push_back("guests");
    books.names.push_back("commons");
    return books;
  }

  // `name_of`: what the ledger calls an organization. `first`: events that come first. The first run is booked as that
  // of another organization, and corrected.
  template <typename NameOf>
  void write(const std::filesystem::path& file, const NameOf& name_of, std::vector<accounting::Event> events) const {
    using namespace accounting;
    std::vector<std::string> configured;
    for (const std::string& name : books.names) {
      if (name == k_guests || name == k_commons) continue;
      configured.push_back(name_of(name));
      events.emplace_back(OwnershipStated{"n_" + name, k_books_begin, {{k_books_begin, {{name_of(name), 1'000'000}}}}});
      events.emplace_back(CapacityChanged{"n_" + name, k_books_begin, 0, {16 * k_micro}});
    }
    events.emplace_back(OrganizationsDeclared{k_books_begin, configured});
    events.emplace_back(PeriodDeclared{k_books_begin, books.period});
    for (std::uint32_t i = 0; i < books.runs.size(); ++i) add_run(events, i, name_of);
    ledger::Ledger ledger = ledger::testing::writer(file);
    ledger::testing::must(ledger.append(events, k_books_end));
    ledger::testing::make(ledger,
                          ledger::AttributionAsked{.job = JobId{1}, .into = name_of(books.runs.front().organization)},
                          k_books_end);
    for (const CalculatorAmount& amount : books.amounts) {
      ledger::testing::make(
          ledger, ledger::SettlementAsked{name_of(amount.from), name_of(amount.to), CpuTime{amount.work}, amount.at},
          k_books_end);
    }
  }

 private:
  template <typename NameOf>
  void add_run(std::vector<accounting::Event>& events, std::uint32_t i, const NameOf& name_of) const {
    using namespace accounting;
    const CalculatorRun& run = books.runs[i];
    const JobId job{i + 1};
    const std::string organization =
        i > 0 ? name_of(run.organization) : name_of(run.organization == "org0" ? "org1" : "org0");
    JobDescribed described;
    described.job = job;
    described.submit = run.submit;
    described.organization = organization;
    described.account = run.account;
    described.user_id = run.user;
    events.emplace_back(described);
    const ProcessorMillionths cores{run.cores * k_micro};
    if (run.begin > run.submit) {
      const SegmentKey wait{SegmentKind::wait, job, run.submit, 0};
      events.emplace_back(SegmentOpened{
          .key = wait, .organization = organization, .begin = run.submit, .processors = cores, .nodes = {}});
      events.emplace_back(SegmentClosed{wait, run.begin, CloseReason::started, ""});
    }
    const SegmentKey key{SegmentKind::run, job, run.begin, 0};
    events.emplace_back(SegmentOpened{.key = key,
                                      .organization = organization,
                                      .begin = run.begin,
                                      .processors = cores,
                                      .nodes = {{"n_" + run.owner, cores}}});
    events.emplace_back(SegmentClosed{key, run.end, CloseReason::ended, ""});
  }
};

}  // namespace shapley::ctl
