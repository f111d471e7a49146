// Archives made while a daemon writes the ledger, and completed when it has stopped.
#include <array>
#include <csignal>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "archive_fixture.hpp"
#include "ledger/chain/signing.hpp"
#include "tests/support/child.hpp"

namespace shapley::ledger {
namespace {

using namespace accounting;
using namespace testing;

// Steps of two processes, one after the other.
class Pipe {
 public:
  Pipe() {
    if (::pipe(ends_.data()) != 0) throw std::runtime_error("no pipe");
  }
  ~Pipe() {
    for (const int end : ends_) ::close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void put(char step = 'x') const { EXPECT_EQ(::write(ends_[1], &step, 1), 1); }
  // False: there are no more.
  [[nodiscard]] bool get() const {
    char step = k_end;
    EXPECT_EQ(::read(ends_[0], &step, 1), 1);
    return step != k_end;
  }
  void put_end() const { put(k_end); }

 private:
  static constexpr char k_end = '.';
  std::array<int, 2> ends_{};
};

// A run that comes as event number `i` after months were written.
std::vector<Event> later_run(int months, std::uint32_t i) {
  const SegmentOpened run = opened(95'000 + i, month_begin(months).value - k_day_s + 60 * i, "physics", 2, "n3");
  return {run, closed(run, run.begin.value + 30)};
}

class Preparing : public Archiving {
 protected:
  ArchiveResult prepared() const { return must(prepare_archives(file(), nullptr, k_now)); }
  void append_to_both(const std::vector<Event>& events, Instant received) const {
    for (const fs::path& ledger : {file(), twin()}) {
      Ledger open = writer(ledger);
      ASSERT_EQ(must(open.append(events, received)).appended, events.size());
    }
  }
  void expect_archived() const {
    EXPECT_FALSE(fs::exists(file().string() + ".archived"));
    EXPECT_EQ(rows(file(), "SELECT COUNT(*) FROM genesis"), Lines{"1"});
    EXPECT_EQ(reader(file()).last_sequence(), reader(twin()).last_sequence());
    expect_same_books(twin(), file());
    EXPECT_EQ(findings(file()), Lines{});
    for (const char* table : {"heads", "books_by_day WHERE day >= 1798761600"}) {
      const std::string all = std::string("SELECT * FROM ") + table;
      EXPECT_EQ(rows(file(), all), rows(twin(), all));
    }
  }
};

TEST_F(Preparing, a_daemon_goes_on_writing_meanwhile) {
  write_months(file());
  make_twin();
  const Pipe told;
  const Pipe go_on;
  test::Child child("the preparing", [&] {
    const auto result = prepare_archives(file(), nullptr, k_now, [&](const Progress&) {
      told.put();
      EXPECT_TRUE(go_on.get());
    });
    told.put_end();
    ::_exit(result && result->archives.size() == 3 ? 0 : 1);
  });
  std::vector<std::vector<Event>> appended;
  {
    // At each step; a lock that is held for long would make it fail.
    Ledger ledger = writer(file());
    while (told.get()) {
      appended.push_back(later_run(5, static_cast<std::uint32_t>(appended.size())));
      ASSERT_EQ(must(ledger.append(appended.back(), k_now)).appended, 2U);
      go_on.put();
    }
  }
  ASSERT_EQ(child.wait(), 0);
  EXPECT_GT(appended.size(), 20U);
  {
    Ledger ledger = writer(twin());
    for (const auto& events : appended) must(ledger.append(events, k_now));
  }
  EXPECT_EQ(rows(file(), "SELECT COUNT(*) FROM genesis"), Lines{"0"});
  EXPECT_EQ(rows(file(), "SELECT * FROM events"), rows(twin(), "SELECT * FROM events"));

  const ArchiveResult result = archived();
  EXPECT_TRUE(result.was_prepared);
  EXPECT_EQ(result.verified.events, reader(twin()).last_sequence());
  expect_archived();
  for (const char* month : {"2026-10", "2026-11", "2026-12"}) EXPECT_EQ(findings(unpacked(month)), Lines{});
}

TEST_F(Preparing, what_is_no_event_is_taken_over_too) {
  write_months(file());
  make_twin();
  EXPECT_EQ(prepared().archives.size(), 3U);
  static_cast<void>(must(make_key_files(directory() / "key")));
  const SigningKey key = must(SigningKey::read(directory() / "key"));
  for (const fs::path& ledger : {file(), twin()}) {
    Ledger open = writer(ledger);
    must(open.append(later_run(5, 1), k_now));
    Recovered books = must(open.recover());
    must(open.record_standings(books.state.now(), books.state, books.state.standings(books.state.now())));
    must(open.store_head(must(sign_head(open, key, k_now))));
    must(open.save_checkpoint(books.state, books.last_sequence, books.state.now()));
  }
  EXPECT_TRUE(archived().was_prepared);
  expect_archived();
  EXPECT_EQ(must(reader(file()).recover()).replayed, 0);
}

TEST_F(Preparing, what_does_not_fit_any_more_is_made_anew) {
  write_months(file());
  make_twin();
  struct Case {
    const char* name;
    std::function<void()> change;
  };
  const std::vector<Event> late = [] {
    const SegmentOpened run = opened(90'001, month_begin(1).value + 4 * k_day_s, "physics", 2, "n3");
    return std::vector<Event>{run, closed(run, run.begin.value + 60)};
  }();
  const fs::path ready = file().string() + ".archived";
  for (const Case& what : {Case{"an archive is gone", [&] { fs::remove(archive("2026-11")); }},
                           Case{"an archive is damaged", [&] { fs::resize_file(archive("2026-11"), 1000); }},
                           Case{"it is no ledger", [&] { std::ofstream(ready) << "another file"; }},
                           Case{"its rest is gone", [&] { fs::resize_file(ready, 4096); }},
                           Case{"archived books change", [&] { append_to_both(late, k_now); }}}) {
    SCOPED_TRACE(what.name);
    fs::remove_all(directory() / "archives");
    fs::remove(file());
    BackupResult restored;
    must(restore(twin(), file(), k_now, restored));
    prepared();
    fs::permissions(archive("2026-11"), fs::perms(0600));
    what.change();
    if (what.name == std::string_view("an archive is damaged")) {
      EXPECT_EQ(archive_closed_periods(file(), nullptr, k_now).error().code, Errc::conflict);
      EXPECT_EQ(rows(file(), "SELECT COUNT(*) FROM genesis"), Lines{"0"});
      fs::remove(archive("2026-11"));
    }
    const ArchiveResult result = archived();
    EXPECT_FALSE(result.was_prepared);
    EXPECT_GT(result.archives.size(), 0U);
    expect_archived();
  }
}

TEST_F(Preparing, is_done_again_after_a_completion_that_was_killed) {
  write_months(file(), 4, 5);
  make_twin();
  prepared();
  append_to_both(later_run(4, 1), k_now);
  test::Child child("the completing", [&] {
    const auto nothing = archive_closed_periods(file(), nullptr, k_now, [](const Progress& progress) {
      if (progress.what == "archives are read once more") ::raise(SIGKILL);
    });
    ::_exit(nothing ? 0 : 1);
  });
  ASSERT_EQ(child.wait(), -SIGKILL);
  prepared();
  append_to_both(later_run(4, 2), k_now);
  EXPECT_TRUE(archived().was_prepared);
  expect_archived();
}

TEST_F(Preparing, one_at_a_time) {
  write_months(file(), 3, 5);
  std::vector<Errc> refused;
  must(prepare_archives(file(), nullptr, k_now, [&](const Progress&) {
    if (refused.empty()) {
      refused = {prepare_archives(file(), nullptr, k_now).error().code,
                 archive_closed_periods(file(), nullptr, k_now).error().code};
    }
  }));
  EXPECT_EQ(refused, (std::vector{Errc::conflict, Errc::conflict}));
  EXPECT_TRUE(archived().was_prepared);
}

TEST_F(Preparing, killed_at_any_moment_of_the_completion_loses_nothing) {
  write_months(file(), 4, 5);
  make_twin();
  prepared();
  append_to_both(later_run(4, 1), k_now);
  append_to_both(later_run(4, 2), k_now + Duration{1});
  const fs::path before = directory() / "before";
  fs::create_directory(before);
  for (const char* name : {"ledger.db", "ledger.db.archived"}) fs::copy_file(directory() / name, before / name);
  const Lines all = rows(twin(), "SELECT * FROM events");
  int kills = 0;
  for (bool done = false; !done; ++kills) {
    ASSERT_LT(kills, 100);
    SCOPED_TRACE(kills);
    for (const char* log : {"-wal", "-shm"}) fs::remove(file().string() + ".archived" + log);
    for (const char* name : {"ledger.db", "ledger.db.archived"}) {
      fs::copy_file(before / name, directory() / name, fs::copy_options::overwrite_existing);
    }
    test::Child child("the completing", [&] {
      int calls = 0;
      const auto result = archive_closed_periods(file(), nullptr, k_now, [&](const Progress&) {
        if (calls++ == kills) ::raise(SIGKILL);
      });
      ::_exit(result && result->was_prepared ? 0 : 1);
    });
    const int ended = child.wait();
    done = ended == 0;
    if (!done) {
      ASSERT_EQ(ended, -SIGKILL);
    }
    if (rows(file(), "SELECT COUNT(*) FROM genesis") == Lines{"0"}) {
      ASSERT_EQ(rows(file(), "SELECT * FROM events"), all);
      EXPECT_TRUE(archived().was_prepared);
    }
    expect_archived();
  }
  EXPECT_GT(kills, 5);
}

}  // namespace
}  // namespace shapley::ledger
