#include "consortium.hpp"

#include <algorithm>

#include "accounting/events/event.hpp"
#include "base/calendar.hpp"
#include "tests/ledger/ledger_fixture.hpp"

namespace shapley::ctl {

namespace {

using namespace accounting;

constexpr std::int64_t k_cores = 16;  // of each node; each organization owns one

struct Site {
  const std::vector<std::string>& names;
  std::vector<Event> events = {};
  std::uint32_t last_job = 0;

  // Waits, then runs.
  void job(std::size_t user, std::size_t owner, Instant submit, Duration wait, Duration run, std::int64_t cores) {
    const JobId id{++last_job};
    JobDescribed described;
    described.job = id;
    described.submit = submit;
    described.organization = names[user];
    described.account = names[user];
    described.user_id = 4'000'000 + static_cast<std::uint32_t>(user);
    events.emplace_back(described);
    if (wait.value > 0) {
      const SegmentOpened waiting{.key = {SegmentKind::wait, id, submit, 0},
                                  .organization = names[user],
                                  .begin = submit,
                                  .processors = {cores * k_micro},
                                  .nodes = {}};
      events.emplace_back(waiting);
      events.emplace_back(SegmentClosed{waiting.key, submit + wait, CloseReason::started, ""});
    }
    const Instant begin = submit + wait;
    const SegmentOpened running{.key = {SegmentKind::run, id, begin, 0},
                                .organization = names[user],
                                .begin = begin,
                                .processors = {cores * k_micro},
                                .nodes = {{"n" + std::to_string(owner), {cores * k_micro}}}};
    events.emplace_back(running);
    events.emplace_back(SegmentClosed{running.key, begin + run, CloseReason::ended, ""});
  }
};

std::string yaml_of(const std::vector<std::string>& names) {
  std::string text = "organizations:\n";
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += "  - name: " + names[i] + "\n    title: \"Institute " + std::to_string(i + 1) +
            " <of> Applied & Other Sciences\"\n    accounts: [" + names[i] + "]\n    nodes: [{ nodes: n" +
            std::to_string(i) + " }]\n";
  }
  return text;
}

}  // namespace

std::vector<std::string> consortium_names(std::size_t organizations) {
  std::vector<std::string> names{"physics", "biology", "library"};
  for (std::size_t i = names.size(); i < organizations; ++i) {
    names.push_back("institute_for_applied_research_" + std::to_string(100 + i + 1).substr(1));
  }
  names.resize(organizations);
  return names;
}

void write_consortium(const std::filesystem::path& file, const std::vector<std::string>& names) {
  Site site{.names = names};
  site.events.emplace_back(OrganizationsDeclared{k_consortium_begin, names});
  site.events.emplace_back(PeriodDeclared{k_consortium_begin, Period::monthly});
  site.events.emplace_back(ConfigurationLoaded{k_consortium_begin, yaml_of(names)});
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string node = "n" + std::to_string(i);
    site.events.emplace_back(
        OwnershipStated{node, k_consortium_begin, {{k_consortium_begin, {{names[i], 1'000'000}}}}});
    site.events.emplace_back(CapacityChanged{node, k_consortium_begin, 0, {k_cores * k_micro}});
  }
  const std::size_t n = names.size();
  for (std::int64_t day = 0; day < (k_consortium_end - k_consortium_begin).value / k_day_s; ++day) {
    const auto shift = static_cast<std::size_t>(day);
    for (std::size_t user = 0; user < n; ++user) {
      const Instant morning = k_consortium_begin + Duration{day * k_day_s};
      // Some use much, some little; half of them have phases of weeks.
      const auto weight = static_cast<std::int64_t>(1 + (user * 5 + (shift / 9) * 3) % 7);
      site.job(user, user, morning, {0}, {weight * 3600}, 8);
      site.job(user, (user + 1 + (shift + user * user) % std::max<std::size_t>(1, n - 1)) % n,
               morning + Duration{4 * 3600}, {weight * 700}, {weight * 2000}, 2 + weight);
    }
  }
  ledger::Ledger ledger = ledger::testing::writer(file);
  ledger::testing::must(ledger.append(site.events, k_consortium_end));
}

}  // namespace shapley::ctl
