#include "daemon/books/user_names.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/number.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

namespace shapley::daemon {

namespace {

constexpr std::size_t k_most_asked = 200;  // in one question
constexpr Duration k_asked_again_after{24 * 3600};

}  // namespace

accounting::UserNames host_user_names(const std::vector<std::uint32_t>& users, const std::atomic<bool>& ended) {
  std::vector<std::string> words{"getent", "passwd"};
  for (const std::uint32_t user : users) words.push_back(std::to_string(user));
  const auto run = run_child(words, {.time = std::chrono::seconds(60),
                                     .output_bytes = 1UL << 20U,
                                     .error_bytes = 0,
                                     .ended = &ended,
                                     .is_dispensable = true,
                                     .environment = std::vector<std::string>{"PATH=/usr/bin:/bin", "LC_ALL=C"}});
  accounting::UserNames names;
  if (!run) return names;
  for (const std::string_view line : split(run->output, '\n')) {
    const auto fields = split(line, ':');
    const auto number = fields.size() > 2 ? parse_number<std::uint32_t>(fields[2]) : std::nullopt;
    if (number && !fields[0].empty() && std::ranges::find(users, *number) != users.end())
      names.emplace(*number, fields[0]);
  }
  return names;
}

NamedUsers::NamedUsers(Books& books, UserLookup lookup) : books_(books) {
  if (!lookup) return;
  thread_.emplace("", [this, lookup = std::move(lookup)](std::vector<std::uint32_t>& users) {
    accounting::UserNames names = lookup(users, ended_);
    const MutexLock lock(mutex_);
    answer_ = std::move(names);
  });
}

void NamedUsers::note(const protocol::Observations& frame, Instant now) {
  if (!thread_) return;
  if (now >= ask_again_) {
    asked_.clear();
    ask_again_ = now + k_asked_again_after;
  }
  for (const protocol::JobUpdate& job : frame.jobs) {
    if (!asked_.contains(job.user_id)) waiting_.insert(job.user_id);
  }
}

std::optional<accounting::UserNames> NamedUsers::take_answer() {
  const MutexLock lock(mutex_);
  return std::exchange(answer_, std::nullopt);
}

Expected<void> NamedUsers::record(Instant now) {
  if (!thread_) return {};
  if (auto answer = take_answer()) {
    found_.merge(*answer);
    is_asking_ = false;
  }
  if (!found_.empty()) {
    const accounting::UserNames known = books_.state().user_names();
    std::vector<accounting::Event> events;
    for (const auto& [user, name] : found_) {
      const auto before = known.find(user);
      if (before == known.end() || before->second != name) events.emplace_back(accounting::UserNamed{now, user, name});
    }
    SHAPLEY_TRY(books_.commit(events, now));
    found_.clear();
  }
  if (is_asking_ || waiting_.empty()) return {};
  std::vector<std::uint32_t> next;
  while (!waiting_.empty() && next.size() < k_most_asked) next.push_back(waiting_.extract(waiting_.begin()).value());
  asked_.insert(next.begin(), next.end());
  is_asking_ = true;
  thread_->give(std::move(next));
  return {};
}

}  // namespace shapley::daemon
