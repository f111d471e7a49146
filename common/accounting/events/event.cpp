#include "accounting/events/event.hpp"

#include <type_traits>

namespace shapley::accounting {

namespace {

template <typename Value>
void append_value(std::string& text, const Value& value) {
  if constexpr (Described<Value>) {
    for_each_member(value, [&](std::string_view, const auto& inner, auto) { append_value(text, inner); });
  } else {
    text += '/';
    if constexpr (std::is_same_v<Value, std::string>) {
      text += value;
    } else if constexpr (std::is_enum_v<Value>) {
      text += name_of(value);
    } else if constexpr (std::is_integral_v<Value>) {
      text += std::to_string(value);
    } else {
      text += std::to_string(value.value);
    }
  }
}

}  // namespace

JobDescribed JobChanged::description() const {
  return {job,      submit,  organization, array_job, array_task, het_job, user_id,
          group_id, account, partition,    qos,       name,       wckey};
}

JobChanged change_to(const JobDescribed& now, Instant at) {
  return {now.job,     now.submit,   at,          now.organization, now.array_job, now.array_task, now.het_job,
          now.user_id, now.group_id, now.account, now.partition,    now.qos,       now.name,       now.wckey};
}

std::string_view kind_of(const Event& event) {
  return std::visit([]<typename Fact>(const Fact&) { return k_description<Fact>.name; }, event);
}

Instant time_of(const Event& event) {
  Instant time;
  const auto take = [&](std::string_view, const auto& value, auto role) {
    if constexpr (is_time(role)) time = value;
  };
  std::visit([&](const auto& fact) { for_each_member(fact, take); }, event);
  return time;
}

std::string event_key(const Event& event) {
  std::string key(kind_of(event));
  const auto append = [&](std::string_view, const auto& value, auto role) {
    if constexpr (is_identity(role)) {
      if (!is_supplement(role) || value != std::remove_cvref_t<decltype(value)>{}) append_value(key, value);
    }
  };
  std::visit([&](const auto& fact) { for_each_member(fact, append); }, event);
  return key;
}

std::string_view name_of(SegmentKind kind) {
  return kind == SegmentKind::run ? "run" : "wait";
}

std::string_view name_of(CloseReason reason) {
  switch (reason) {
    case CloseReason::ended:
      return "ended";
    case CloseReason::suspended:
      return "suspended";
    case CloseReason::requeued:
      return "requeued";
    case CloseReason::resized:
      return "resized";
    case CloseReason::started:
      return "started";
    case CloseReason::changed:
      return "changed";
    case CloseReason::vanished:
      return "vanished";
  }
  return "ended";
}

std::string_view name_of(Guests guests) {
  return guests == Guests::last ? "last" : "ranked";
}

std::string_view name_of(KeyRule rule) {
  return rule == KeyRule::braking ? "braking" : "horizon";
}

std::string_view name_of(PeerAnswer answer) {
  return answer == PeerAnswer::answered ? "answered" : "silent";
}

std::string_view name_of(GapCause cause) {
  switch (cause) {
    case GapCause::slurmctld_down:
      return "slurmctld_down";
    case GapCause::unobserved:
      return "unobserved";
    case GapCause::dropped:
      return "dropped";
    case GapCause::wrong_clock:
      return "wrong_clock";
    case GapCause::events_lost:
      return "events_lost";
  }
  return "slurmctld_down";
}

std::string_view name_of(Coalitions coalitions) {
  switch (coalitions) {
    case Coalitions::all:
      return "all";
    case Coalitions::pairs:
      return "pairs";
    case Coalitions::none:
      return "none";
  }
  return "all";
}

std::string_view name_of(JobsStart jobs) {
  switch (jobs) {
    case JobsStart::parts:
      return "parts";
    case JobsStart::whole:
      return "whole";
  }
  return "unknown";
}

std::string_view name_of(AdjustmentKind kind) {
  switch (kind) {
    case AdjustmentKind::attribute:
      return "attribute";
    case AdjustmentKind::own:
      return "own";
    case AdjustmentKind::rename:
      return "rename";
    case AdjustmentKind::merge:
      return "merge";
    case AdjustmentKind::reverse:
      return "reverse";
    case AdjustmentKind::settle:
      return "settle";
  }
  return "attribute";
}

}  // namespace shapley::accounting
