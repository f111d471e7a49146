#include "daemon/controllers/acknowledgements.hpp"

namespace shapley::daemon {

void Acknowledgements::begin() {
  pending_.clear();
  released_ = 0;
}

void Acknowledgements::confirm(std::int64_t sequence, std::int64_t head, Milliseconds now) {
  // While events come all the time it never has the last one; what there was at its last question is enough.
  const bool is_current = sequence >= head_then_ && now < asked_ + k_silence;
  in_step_ = in_step(now) || is_current || sequence == head;
  confirmed_ = sequence;
  head_then_ = head;
  asked_ = now;
}

void Acknowledgements::note_durable(std::uint64_t message, std::int64_t head, Milliseconds now) {
  const std::uint64_t last = pending_.empty() ? released_ : pending_.back().message;
  if (message > last) pending_.push_back({message, head, now});
}

std::uint64_t Acknowledgements::released(Milliseconds now) {
  while (!pending_.empty()) {
    const Pending& next = pending_.front();
    if (next.head > confirmed_) {
      in_step_ = in_step(now) && now < next.since + k_patience;
      if (in_step_) break;
      alone_ += next.message - released_;
    }
    released_ = next.message;
    pending_.pop_front();
  }
  return released_;
}

}  // namespace shapley::daemon
