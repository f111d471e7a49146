#include "scripted_books.hpp"

#include <string>

namespace shapley::ctl {

namespace {

using namespace accounting;

constexpr ProcessorMillionths k_one{k_micro};

Instant second(std::int64_t offset) {
  return k_example_begin + Duration{offset};
}

SegmentKey run_key(std::uint32_t job, std::int64_t begin) {
  return {.kind = SegmentKind::run, .job = JobId{job}, .anchor = second(begin), .ordinal = 0};
}

SegmentOpened run_on_both(std::uint32_t job, const std::string& organization, std::int64_t begin) {
  return {.key = run_key(job, begin),
          .organization = organization,
          .begin = second(begin),
          .processors = k_one + k_one,
          .nodes = {{"n1", k_one}, {"n2", k_one}}};
}

OwnershipStated owns(const std::string& organization, const std::string& node) {
  return {.node = node, .effective = second(0), .spans = {{second(0), {{organization, 1'000'000}}}}};
}

JobDescribed described(std::uint32_t job, const std::string& organization, std::int64_t submit) {
  return {.job = JobId{job},
          .submit = second(submit),
          .organization = organization,
          .array_task = std::nullopt,
          .user_id = 4'000'000'000U + job,
          .account = organization.empty() ? "none" : "acct",
          .partition = "main",
          .qos = "normal",
          .name = "it's job " + std::to_string(job),
          .wckey = ""};
}

}  // namespace

std::vector<Event> example_events() {
  const SegmentKey wait{.kind = SegmentKind::wait, .job = JobId{3}, .anchor = second(35), .ordinal = 0};
  return {
      OrganizationsDeclared{second(0), {"A", "B"}},
      PeriodDeclared{second(0), Period::none},
      owns("A", "n1"),
      owns("B", "n2"),
      CapacityChanged{"n1", second(0), 0, k_one},
      CapacityChanged{"n2", second(0), 0, k_one},
      described(1, "A", 0),
      run_on_both(1, "A", 0),
      SegmentClosed{run_key(1, 0), second(10), CloseReason::ended, "COMPLETED"},
      described(2, "B", 20),
      run_on_both(2, "B", 20),
      SegmentClosed{run_key(2, 20), second(30), CloseReason::ended, "FAILED"},
      described(3, std::string(k_guests), 35),
      SegmentOpened{wait, std::string(k_guests), second(35), {3 * k_micro / 2}, {}},
  };
}

}  // namespace shapley::ctl
