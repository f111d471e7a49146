#include "accounting/events/event.hpp"

#include <array>
#include <utility>

namespace shapley::accounting {

namespace {

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
// C++20 deduces this itself; clang 14, which builds the fuzz targets, does not yet.
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::string text_of(const SegmentKey& key) {
  return std::string(name_of(key.kind)) + '/' + std::to_string(key.job.value) + '/' + std::to_string(key.anchor.value) +
         '/' + std::to_string(key.ordinal);
}

std::string identity_of(const Event& event) {
  return std::visit(
      Overloaded{
          [](const SegmentOpened& e) { return text_of(e.key); },
          [](const SegmentClosed& e) { return text_of(e.key); },
          [](const SegmentRetracted& e) { return text_of(e.key); },
          [](const OrganizationsDeclared& e) { return std::to_string(e.at.value); },
          [](const OwnershipStated& e) { return e.node + '/' + std::to_string(e.effective.value); },
          [](const CapacityChanged& e) {
            return e.node + '/' + std::to_string(e.at.value) + '/' + std::to_string(e.ordinal);
          },
          [](const PeriodDeclared& e) { return std::to_string(e.at.value); },
          [](const JobDescribed& e) { return std::to_string(e.job.value) + '/' + std::to_string(e.submit.value); },
          [](const ConfigurationLoaded& e) { return std::to_string(e.at.value); },
      },
      event);
}

constexpr std::array k_close_reasons{CloseReason::ended,   CloseReason::suspended, CloseReason::requeued,
                                     CloseReason::resized, CloseReason::started,   CloseReason::changed,
                                     CloseReason::vanished};

}  // namespace

std::string_view kind_of(const Event& event) {
  constexpr std::array<std::string_view, std::variant_size_v<Event>> names{
      "segment_opened",   "segment_closed",  "segment_retracted", "organizations_declared", "ownership_stated",
      "capacity_changed", "period_declared", "job_described",     "configuration_loaded"};
  return names[event.index()];
}

Instant time_of(const Event& event) {
  return std::visit(Overloaded{
                        [](const SegmentOpened& e) { return e.begin; },
                        [](const SegmentClosed& e) { return e.end; },
                        [](const OwnershipStated& e) { return e.effective; },
                        [](const JobDescribed& e) { return e.submit; },
                        [](const auto& e) { return e.at; },
                    },
                    event);
}

std::string event_key(const Event& event) {
  return std::string(kind_of(event)) + '/' + identity_of(event);
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

std::optional<SegmentKind> parse_segment_kind(std::string_view name) {
  if (name == "run") return SegmentKind::run;
  if (name == "wait") return SegmentKind::wait;
  return std::nullopt;
}

std::optional<CloseReason> parse_close_reason(std::string_view name) {
  for (const CloseReason reason : k_close_reasons) {
    if (name == name_of(reason)) return reason;
  }
  return std::nullopt;
}

}  // namespace shapley::accounting
