#include "bench.hpp"

#include <algorithm>
#include <map>

namespace shapley::daemon {

namespace {

std::string number(std::int64_t value) {
  return std::to_string(value);
}

std::string of_organization(const std::string& name) {
  return name == "physics" ? "" : " of " + name;
}

std::string name_of_segment(const accounting::SegmentKey& key, std::optional<Instant> begin = std::nullopt) {
  std::string name = key.job.value == 7 ? "" : "job " + number(key.job.value) + " ";
  name += key.kind == accounting::SegmentKind::run ? "run" : "wait";
  if (key.ordinal > 0) return name + " " + number(key.anchor.value) + "/" + number(key.ordinal);
  return begin == key.anchor ? name : name + " " + number(key.anchor.value);
}

std::string end_of_segment(const accounting::SegmentClosed& closed) {
  const bool is_cancelled = closed.job_state == "CANCELLED";
  return std::string(name_of(closed.reason)) + (is_cancelled ? ", CANCELLED" : "");
}

// The words of one observation, event by event.
class Words {
 public:
  Words(const Observation& observation, std::int64_t at) : at_(at) {
    for (const accounting::Event& event : observation.events) {
      if (const auto* closed = std::get_if<accounting::SegmentClosed>(&event)) ends_[closed->key] = closed;
    }
    for (const accounting::Event& event : observation.events) {
      std::visit([this](const auto& fact) { add(fact); }, event);
    }
    if (observation.lost.any()) {
      const bool is_closed = observation.lost.closed > 0;
      const Int128 work = is_closed ? observation.lost.closed_work : observation.lost.retracted_work;
      put("lost " + number(observation.lost.closed + observation.lost.retracted) + " of " +
          number(static_cast<std::int64_t>(work / k_micro)) + " s" + (is_closed ? "" : ", taken back"));
    }
    if (!observation.warnings.empty()) {
      put(observation.warnings.size() == 1 ? "a warning" : number(observation.warnings.size()) + " warnings");
    }
    if (observation.unsettled) put("look again");
  }
  [[nodiscard]] std::string text() const { return text_.empty() ? "nothing" : text_; }

 private:
  void put(const std::string& words) { text_ += (text_.empty() ? "" : "; ") + words; }

  void add(const accounting::JobDescribed& event) { put("described" + of_organization(event.organization)); }
  void add(const accounting::JobChanged& event) {
    std::string words = "changed" + of_organization(event.organization) + ", account " + event.account;
    if (!event.name.empty()) words += ", name " + event.name;
    if (event.array_task) words += ", task " + number(event.array_job) + "_" + number(*event.array_task);
    if (!event.partition.empty()) words += ", partition " + event.partition;
    put(words);
  }
  void add(const accounting::SegmentOpened& event) {
    const auto end = ends_.find(event.key);
    std::string words = name_of_segment(event.key, event.begin) + " [" + number(event.begin.value) + ",";
    words += end == ends_.end() ? "...)" : number(end->second->end.value) + ")";
    if (event.nodes.empty()) words += " " + number(event.processors.value / k_micro);
    for (const accounting::NodeShare& share : event.nodes) {
      words += " " + share.node + ":" + number(share.processors.value / k_micro);
    }
    words += of_organization(event.organization);
    if (!event.placement.empty()) words += " on " + event.placement;
    if (event.released) words += " since " + number(event.released->value);
    if (event.waited_as.value != 0) words += " as " + number(event.waited_as.value);
    if (end != ends_.end()) words += " (" + end_of_segment(*end->second) + ")";
    put(words);
    opened_.push_back(event.key);
  }
  void add(const accounting::SegmentClosed& event) {
    if (std::ranges::count(opened_, event.key) > 0) return;
    put(name_of_segment(event.key) + " ends at " + number(event.end.value) + " (" + end_of_segment(event) + ")");
  }
  void add(const accounting::SegmentRetracted& event) {
    put(name_of_segment(event.key) + " is taken back" +
        (event.at.value == at_ ? "" : " as of " + number(event.at.value)));
  }
  template <typename Other>
  void add(const Other& /*event*/) {
    put("another event");
  }

  std::int64_t at_;
  std::map<accounting::SegmentKey, const accounting::SegmentClosed*> ends_;
  std::vector<accounting::SegmentKey> opened_;
  std::string text_;
};

}  // namespace

std::string in_words(const Observation& observation, std::int64_t at) {
  return Words(observation, at).text();
}

Observation Bench::taken(Observation observation) {
  for (const accounting::Event& event : observation.events) {
    const auto applied = state.apply(event);
    EXPECT_TRUE(applied.has_value()) << accounting::event_key(event) << ": " << (applied ? "" : applied.error().what);
    EXPECT_EQ(applied.value_or(accounting::Applied::duplicate), accounting::Applied::changed)
        << accounting::event_key(event);
    history.push_back(event);
  }
  return observation;
}

std::vector<const accounting::LiveSegment*> Bench::segments() const {
  std::vector<const accounting::LiveSegment*> found = runs_of(state, JobId{7});
  std::stable_sort(found.begin(), found.end(),
                   [](const auto* a, const auto* b) { return a->opened.begin < b->opened.begin; });
  return found;
}

std::string Bench::runs() const {
  std::string text;
  for (const accounting::LiveSegment* s : segments()) {
    if (!text.empty()) text += "; ";
    text += '[' + number(s->opened.begin.value) + ',' + (s->end ? number(s->end->value) : "...") + ')';
    for (const accounting::NodeShare& share : s->opened.nodes) {
      text += ' ' + share.node + ':' + number(share.processors.value / k_micro);
    }
  }
  return text;
}

std::int64_t Bench::closed_run_seconds(std::optional<std::int64_t> start) const {
  std::int64_t sum = 0;
  for (const accounting::LiveSegment* s : segments()) {
    if (s->end && (!start || s->opened.key.anchor.value == *start)) sum += (*s->end - s->opened.begin).value;
  }
  return sum;
}

std::int64_t Bench::last_end(std::int64_t start) const {
  std::int64_t last = 0;
  for (const accounting::LiveSegment* s : segments()) {
    if (s->end && s->opened.key.anchor.value == start) last = std::max(last, s->end->value);
  }
  return last;
}

}  // namespace shapley::daemon
