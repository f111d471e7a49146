// Whatever reads a whole ledger takes memory for what is open and for what the books look back on, not for the ledger's
// length: with hindsight, and the books of every day.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <malloc.h>
#include <nlohmann/json.hpp>

#include "ledger/audit/audit.hpp"
#include "ledger/readers/books_then.hpp"
#include "ledger/readers/past_books.hpp"
#include "ledger/reports/statement.hpp"
#include "ledger_fixture.hpp"

namespace {

// Bytes that the program's own code holds now, and held at most.
std::atomic<std::size_t> held_now{0};
std::atomic<std::size_t> held_most{0};

void* take(std::size_t size) {
  void* memory = std::malloc(size);  // NOLINT: this is operator new
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t now = held_now += malloc_usable_size(memory);
  if (now > held_most) held_most = now;
  return memory;
}

void give_back(void* memory) noexcept {
  if (memory != nullptr) held_now -= malloc_usable_size(memory);
  std::free(memory);  // NOLINT: this is operator delete
}

}  // namespace

void* operator new(std::size_t size) {
  return take(size);
}
void* operator new[](std::size_t size) {
  return take(size);
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete[](void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  give_back(memory);
}
void operator delete[](void* memory, std::size_t /*size*/) noexcept {
  give_back(memory);
}

namespace shapley::ledger {
namespace {

using namespace testing;
using accounting::Event;

constexpr std::int64_t k_begin = 1'700'006'400;  // a midnight
constexpr std::int64_t k_day = 24 * 3600;
constexpr std::uint32_t k_organizations = 8;
constexpr std::int64_t k_between = 60;  // seconds from job to job

// Ten jobs run at any time, each on the node of the next organization.
void write_jobs(const std::filesystem::path& file, std::uint32_t jobs) {
  Ledger ledger = writer(file);
  accounting::State books;
  accounting::OrganizationsDeclared organizations{{k_begin}, {}};
  std::vector<Event> events;
  for (std::uint32_t i = 0; i < k_organizations; ++i) {
    const std::string name = "o" + std::to_string(i);
    organizations.names.push_back(name);
    events.emplace_back(
        accounting::OwnershipStated{"n" + name, {k_begin}, {{{k_begin}, {{name, accounting::k_whole_node}}}}});
    events.emplace_back(accounting::CapacityChanged{"n" + name, {k_begin}, 0, {4 * k_micro}, {4 * k_micro}});
  }
  events.insert(events.begin(), organizations);
  for (std::uint32_t job = 1; job <= jobs; ++job) {
    const std::int64_t begin = k_begin + k_between * std::int64_t{job};
    const std::string organization = "o" + std::to_string(job % k_organizations);
    accounting::JobDescribed described;
    described.job = {job};
    described.submit = {begin};
    described.organization = described.account = organization;
    described.user_id = job % 100;
    events.emplace_back(described);
    const auto run = opened(job, begin, organization, 1, "no" + std::to_string((job + 1) % k_organizations));
    events.insert(events.end(), {run, closed(run, begin + 10 * k_between)});
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return time_of(a) < time_of(b); });
  Instant day{k_begin};
  // A quarter of a day's: so the last checkpoint is as old at the end of a ledger of few days as of one of many.
  constexpr std::size_t k_batch = 3 * k_day / k_between / 4;
  for (std::size_t i = 0; i < events.size(); i += k_batch) {
    const std::vector<Event> batch(events.begin() + static_cast<std::ptrdiff_t>(i),
                                   events.begin() + static_cast<std::ptrdiff_t>(std::min(i + k_batch, events.size())));
    must(ledger.append(batch, time_of(batch.back())));
    for (const Event& event : batch) must(books.apply(event));
    books.compact();
    if (books.now() - day < Duration{k_day}) continue;
    day = books.now();
    must(ledger.record_standings(day, books, books.advance(day).standings()));
    must(ledger.save_checkpoint(books, ledger.last_sequence(), day));
  }
}

// Twice the horizon of the books, and three times as much.
constexpr std::uint32_t k_few = 4 * k_day / k_between;
constexpr std::uint32_t k_many = 3 * k_few;
// So that books forget many times in few days.
constexpr ReplayPace k_pace{.events_between_compactions = 2'000};

class PeakMemory : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (ledgers) return;  // of another suite: they are read only
    ledgers.emplace();
    write_jobs(file_of(k_few), k_few);
    write_jobs(file_of(k_many), k_many);
  }
  static std::filesystem::path file_of(std::uint32_t jobs) { return ledgers->path() / (std::to_string(jobs) + ".db"); }

  using Read = std::function<void(const Ledger& ledger, const std::filesystem::path& file)>;
  // What `read` takes at most of a ledger of so many jobs, in MB.
  static double peak(std::uint32_t jobs, const Read& read) {
    const Ledger ledger = reader(file_of(jobs));
    const std::size_t before = held_now;
    held_most = before;
    read(ledger, file_of(jobs));
    return static_cast<double>(held_most - before) / 1e6;
  }
  static void expect_bounded(const Read& read) {
    const double few = peak(k_few, read);
    const double many = peak(k_many, read);
    RecordProperty("few", std::to_string(few));
    RecordProperty("many", std::to_string(many));
    EXPECT_LT(many, 1.05 * few);
  }

 private:
  static inline std::optional<TempDirectory> ledgers;
};

TEST_F(PeakMemory, of_an_audit) {
  expect_bounded([](const Ledger& ledger, const auto& /*file*/) {
    EXPECT_TRUE(must(audit(ledger, {.pace = k_pace})).findings.empty());
  });
}

// Of the whole time that the ledger knows.
class PastPeakMemory : public PeakMemory {
 protected:
  template <typename Report>
  static void expect_bounded(const Report& report) {
    PeakMemory::expect_bounded([&](const Ledger& ledger, const std::filesystem::path& file) {
      const Instant since{k_begin + k_between};
      const Instant until = must(last_recorded(ledger));
      PastBooks books = must(PastBooks::read(ledger, {.ledger = file, .since = since, .until = until, .pace = k_pace}));
      EXPECT_EQ(must(report(books,
                            IntervalAsked{
                                .since = since,
                                .until = until,
                                .estimator = *accounting::parse_estimator("hindsight"),
                            }))
                    .exact,
                true);
    });
  }
};

TEST_F(PastPeakMemory, of_a_statement) {
  expect_bounded([](PastBooks& books, const IntervalAsked& asked) { return statement_report(books, asked); });
}

TEST_F(PastPeakMemory, of_a_history) {
  expect_bounded(
      [](PastBooks& books, const IntervalAsked& asked) { return history_report(books, asked, Interval::month); });
}

TEST_F(PastPeakMemory, of_one_instant) {
  PeakMemory::expect_bounded([](const Ledger& ledger, const std::filesystem::path& file) {
    must(books_then(ledger, {.at = must(last_recorded(ledger)), .archives = file.parent_path(), .pace = k_pace}));
  });
}

}  // namespace
}  // namespace shapley::ledger
