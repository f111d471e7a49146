#include "plugin/client/spool/backlog.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/text.hpp"
#include "protocol/codec.hpp"

namespace shapley::client {

namespace {
constexpr std::size_t k_length_bytes = 4;  // of a wire frame, before its body

std::string encode_empty(std::uint64_t sequence, std::int64_t observed_at) {
  protocol::Observations nothing;
  nothing.sequence = sequence;
  nothing.observed_at = observed_at;
  return protocol::encode_frame(nothing);
}
}  // namespace

Backlog::Backlog(std::string spool_path, std::size_t max_bytes, Log log)
    : spool_(std::move(spool_path)), max_bytes_(max_bytes), log_(log) {}

void Backlog::recover() {
  const std::size_t before = entries_.size();
  const Expected<std::string> damage = spool_.open([this](Spool::Place place, std::string_view body) {
    const Expected<protocol::Message> message = protocol::decode_body(body);
    const auto* observations = message ? std::get_if<protocol::Observations>(&*message) : nullptr;
    if (observations == nullptr) return false;
    Entry entry;
    entry.sequence = next_sequence_;
    entry.observed_at = observations->observed_at;
    entry.place = place;
    entries_.push_back(std::move(entry));
    memory_bytes_ += sizeof(Entry);
    ++entries_in_file_;
    ++next_sequence_;
    return true;
  });
  if (!damage) {
    while (entries_.size() > before) {
      entries_.pop_back();
      memory_bytes_ -= sizeof(Entry);
      --entries_in_file_;
      --next_sequence_;
    }
    report_spool(tl::unexpected<Error>(damage.error()));
    return;
  }
  if (!damage->empty()) log_.error("spool: " + spool_.path() + ": " + *damage);
  if (entries_.size() > before) {
    log_.info("spool: " + spool_.path() + ": " + counted(entries_.size() - before, "message") +
              " of an earlier slurmctld will be sent first");
  }
}

void Backlog::add(Entry&& entry, const protocol::Message& message, Clock::time_point now) {
  entry.frame = protocol::encode_frame(message);
  entry.sequence = next_sequence_;
  entry.queued_at = now;
  const std::uint64_t bytes = entry.bytes();
  const bool in_snapshot = entry.in_snapshot;
  entries_.push_back(std::move(entry));
  ++next_sequence_;
  memory_bytes_ += bytes;
  if (in_snapshot) snapshot_bytes_ += bytes;
}

void Backlog::add_observations(protocol::Observations&& message, bool in_snapshot, Clock::time_point now) {
  message.sequence = next_sequence_;
  const std::int64_t observed_at = message.observed_at;
  add(Entry{.observed_at = observed_at, .in_snapshot = in_snapshot}, std::move(message), now);
}

void Backlog::add_snapshot_begin(std::int64_t observed_at, Clock::time_point now) {
  add(Entry{.observed_at = observed_at, .worth_spooling = false, .in_snapshot = true},
      protocol::SnapshotBegin{next_sequence_, observed_at}, now);
}

void Backlog::add_snapshot_end(std::int64_t observed_at, Clock::time_point now) {
  add(Entry{.observed_at = observed_at, .worth_spooling = false, .in_snapshot = true},
      protocol::SnapshotEnd{next_sequence_, observed_at}, now);
}

void Backlog::add_sign_of_life(std::int64_t observed_at, Clock::time_point now) {
  protocol::Observations nothing;
  nothing.sequence = next_sequence_;
  nothing.observed_at = observed_at;
  add(Entry{.observed_at = observed_at, .worth_spooling = false}, nothing, now);
}

std::size_t Backlog::index_of(std::uint64_t sequence) const {
  if (entries_.empty() || sequence <= entries_.front().sequence) return 0;
  return static_cast<std::size_t>(sequence - entries_.front().sequence);
}

bool Backlog::begin_connection(std::uint64_t acknowledged) {
  if (!acknowledge(acknowledged)) return false;
  unsent_ = entries_.empty() ? next_sequence_ : entries_.front().sequence;
  return true;
}

void Backlog::end_connection() {
  for (Entry& entry : entries_) {
    entry.in_snapshot = false;
    if (entry.worth_spooling) continue;
    memory_bytes_ -= entry.bytes();
    entry.frame = encode_empty(entry.sequence, entry.observed_at);
    memory_bytes_ += entry.bytes();
  }
  snapshot_bytes_ = 0;
}

std::optional<Backlog::Outgoing> Backlog::take_unsent() {
  if (!has_unsent()) return std::nullopt;
  const Entry& entry = entries_[index_of(unsent_)];
  Outgoing outgoing{entry.sequence, entry.frame.empty() ? load(entry) : entry.frame};
  ++unsent_;
  highest_sent_ = std::max(highest_sent_, entry.sequence);
  return outgoing;
}

std::string Backlog::load(const Entry& entry) {
  const Expected<std::string> body = spool_.read(entry.place);
  if (!body) {
    log_.error("spool: message " + std::to_string(entry.sequence) + " is lost: " + body.error().what);
    return encode_empty(entry.sequence, entry.observed_at);
  }
  Expected<protocol::Message> message = protocol::decode_body(*body);
  auto* observations = message ? std::get_if<protocol::Observations>(&*message) : nullptr;
  if (observations == nullptr) return encode_empty(entry.sequence, entry.observed_at);
  observations->sequence = entry.sequence;  // an earlier life numbered differently
  return protocol::encode_frame(*message);
}

bool Backlog::acknowledge(std::uint64_t sequence) {
  if (sequence > highest_sent_) return false;
  while (!entries_.empty() && entries_.front().sequence <= sequence) forget_front();
  unsent_ = std::max(unsent_, sequence + 1);
  unspooled_ = std::max(unspooled_, sequence + 1);
  // Only now: cutting the file at its front would mean copying it, and sending something twice does no harm.
  if (entries_in_file_ == 0 && spool_.bytes() > 0) report_spool(spool_.clear());
  return true;
}

void Backlog::forget_front() {
  const Entry& entry = entries_.front();
  memory_bytes_ -= sizeof(Entry) + entry.frame.size();
  if (entry.in_snapshot) snapshot_bytes_ -= entry.bytes();
  if (entry.place.length > 0) --entries_in_file_;
  entries_.pop_front();
}

bool Backlog::awaits_acknowledgement() const {
  return !entries_.empty() && entries_.front().sequence < unsent_;
}

std::optional<Clock::time_point> Backlog::oldest_unspooled() const {
  for (std::size_t i = index_of(unspooled_); i < entries_.size(); ++i) {
    if (entries_[i].needs_spooling()) return entries_[i].queued_at;
  }
  return std::nullopt;
}

void Backlog::spool(Clock::time_point until) {
  if (!oldest_unspooled() || *oldest_unspooled() > until) return;
  if (!spool_.is_open()) recover();
  if (!spool_.is_open()) return;
  const std::size_t from = index_of(unspooled_);
  std::size_t i = from;
  Expected<void> outcome;
  for (; i < entries_.size() && entries_[i].queued_at <= until; ++i) {
    Entry& entry = entries_[i];
    if (!entry.needs_spooling()) continue;
    const Expected<Spool::Place> place = spool_.append(std::string_view(entry.frame).substr(k_length_bytes));
    if (!place) {
      outcome = tl::unexpected<Error>(place.error());
      break;
    }
    entry.place = *place;
    ++entries_in_file_;
  }
  if (i > from) unspooled_ = entries_[i - 1].sequence + 1;
  const Expected<void> synced = spool_.sync();
  if (synced) release_frames(from, i);
  report_spool(outcome ? synced : outcome);
}

void Backlog::release_frames(std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    Entry& entry = entries_[i];
    if (entry.place.length == 0) continue;
    memory_bytes_ -= entry.frame.size();
    std::string().swap(entry.frame);
  }
}

void Backlog::report_spool(const Expected<void>& outcome) {
  if (outcome.has_value() != spool_fails_) return;
  spool_fails_ = !outcome.has_value();
  if (spool_fails_) {
    log_.error("spool: " + outcome.error().what +
               "; unacknowledged observations stay in memory until there is room and permission to write");
  } else {
    log_.info("spool: " + spool_.path() + ": can be written again");
  }
}

bool Backlog::within_bound() {
  if (counted_bytes() <= max_bytes_) return true;
  compact();
  return counted_bytes() <= max_bytes_;
}

void Backlog::compact() {
  std::optional<Spool::Place> first;
  for (const Entry& entry : entries_) {
    if (entry.place.length > 0 && (!first || entry.place.offset < first->offset)) first = entry.place;
  }
  // Copying is worthwhile only after a quarter of the bound, at least, was acknowledged since the last time.
  if (!first || Spool::bytes_before(*first) < max_bytes_ / 4) return;
  const Expected<std::uint64_t> shift = spool_.compact(*first);
  if (!shift) return report_spool(tl::unexpected<Error>(shift.error()));
  for (Entry& entry : entries_) {
    if (entry.place.length > 0) entry.place.offset -= *shift;
  }
}

void Backlog::drop() {
  entries_.clear();
  memory_bytes_ = 0;
  snapshot_bytes_ = 0;
  entries_in_file_ = 0;
  unsent_ = next_sequence_;
  unspooled_ = next_sequence_;
  if (spool_.bytes() > 0) report_spool(spool_.clear());
}

}  // namespace shapley::client
