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
constexpr Duration k_pause{600};  // after a directory that was too slow

}  // namespace

FoundUsers host_user_names(const std::vector<std::uint32_t>& users, const std::atomic<bool>& ended) {
  std::vector<std::string> words{"getent", "passwd"};
  for (const std::uint32_t user : users) words.push_back(std::to_string(user));
  const auto run = run_child(words, {.time = std::chrono::seconds(60),
                                     .output_bytes = 1UL << 20U,
                                     .error_bytes = 0,
                                     .ended = &ended,
                                     .is_dispensable = true,
                                     .environment = std::vector<std::string>{"PATH=/usr/bin:/bin", "LC_ALL=C"}});
  FoundUsers found{.names = {}, .is_whole = run && run->end == ChildEnd::exited};
  if (!run) return found;
  // A line that was cut may name another number.
  const std::string_view whole_lines = std::string_view(run->output).substr(0, run->output.rfind('\n') + 1);
  for (const std::string_view line : split(whole_lines, '\n')) {
    const auto fields = split(line, ':');
    const auto number = fields.size() > 2 ? parse_number<std::uint32_t>(fields[2]) : std::nullopt;
    const bool is_name = !fields[0].empty() && fields[0].size() <= accounting::k_most_user_name;
    if (number && is_name && std::ranges::find(users, *number) != users.end()) found.names.emplace(*number, fields[0]);
  }
  return found;
}

NamedUsers::NamedUsers(Books& books, UserLookup lookup) : books_(books), most_asked_(k_most_asked) {
  if (!lookup) return;
  thread_.emplace("", [this, lookup = std::move(lookup)](std::vector<std::uint32_t>& users) {
    FoundUsers found = lookup(users, ended_);
    const MutexLock lock(mutex_);
    answer_ = std::move(found);
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

std::optional<FoundUsers> NamedUsers::take_answer() {
  const MutexLock lock(mutex_);
  return std::exchange(answer_, std::nullopt);
}

// What the directory did not come to is asked for again, half as many at once.
void NamedUsers::take_in(FoundUsers answer, Instant now) {
  if (!answer.is_whole) {
    for (const std::uint32_t user : asking_) {
      if (answer.names.contains(user)) continue;
      asked_.erase(user);
      waiting_.insert(user);
    }
    most_asked_ = std::max<std::size_t>(1, asking_.size() / 2);
    not_before_ = now + k_pause;
  } else {
    most_asked_ = k_most_asked;
  }
  found_.merge(answer.names);
  asking_.clear();
}

Expected<void> NamedUsers::record(Instant now) {
  if (!thread_) return {};
  if (auto answer = take_answer()) take_in(std::move(*answer), now);
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
  if (!asking_.empty() || waiting_.empty() || now < not_before_) return {};
  while (!waiting_.empty() && asking_.size() < most_asked_)
    asking_.push_back(waiting_.extract(waiting_.begin()).value());
  asked_.insert(asking_.begin(), asking_.end());
  thread_->give(std::vector<std::uint32_t>(asking_));
  return {};
}

}  // namespace shapley::daemon
