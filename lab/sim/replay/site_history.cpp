#include "sim/replay/site_history.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "accounting/events/event.hpp"
#include "base/text.hpp"
#include "config/configuration.hpp"
#include "ledger/readers/runs.hpp"
#include "ledger/store/ledger.hpp"
#include "sacct/row_checks.hpp"
#include "sacct/sacct_rows.hpp"
#include "sacct/site_nodes.hpp"
#include "sim/input/workload_source.hpp"
#include "site_rules/attribution.hpp"
#include "workload/trace_files.hpp"

namespace shapley::sim {

namespace {

struct PastJob {
  Instant release;
  Instant start;
  Duration run;
  std::optional<Duration> requested;
  std::uint32_t processors = 1;
  std::string organization;
  std::int64_t line = 0;  // of the export
};

struct Past {
  std::vector<PastJob> jobs;
  sacct::SiteNodes nodes;
  std::map<std::string, std::int64_t> left_out;  // by reason
  std::vector<std::string> notes;
};

template <typename Read>
Expected<void> read_file(const std::filesystem::path& file, const char* what, const Read& read) {
  const auto done = workload::read_input_file(file, read);
  if (!done) return with_context(what, done.error());
  return {};
}

Expected<void> read_nodes(const SiteHistorySource& source, Past& past) {
  return read_file(source.nodes, "nodes", [&](std::istream& text) -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(past.nodes, sacct::read_nodes(text));
    return {};
  });
}

void add_row(const sacct::SacctRow& row, const site_rules::Attribution& attribution, Past& past) {
  if (row.state == "RESIZING") {
    ++past.left_out["part[|s] of resized runs"];
  } else if (!row.ran()) {
    ++past.left_out["job[|s] that never ran"];
  } else if (!row.end) {
    ++past.left_out["job[|s] that had not ended"];
  } else if ((*row.end - *row.start - row.suspended).value < 1) {
    ++past.left_out["job[ that was|s that were] suspended all the time"];
  } else {
    past.jobs.push_back({.release = std::min(std::max(row.submit, row.eligible.value_or(row.submit)), *row.start),
                         .start = *row.start,
                         .run = *row.end - *row.start - row.suspended,
                         .requested = row.requested,
                         .processors = row.cpus,
                         .organization = std::string(attribution.organization_of(row)),
                         .line = row.line});
  }
}

Expected<Past> read_sacct(const SiteHistorySource& source, const config::Configuration& configuration) {
  Past past;
  sacct::SacctExport read(std::filesystem::temp_directory_path());
  SHAPLEY_TRY(read_file(source.trace, "trace", [&](std::istream& text) -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(read, sacct::read_sacct_rows(text, source.malformed));
    return sacct::check_rows(read, source.malformed);
  }));
  if (!source.nodes.empty()) {
    SHAPLEY_TRY(read_nodes(source, past));
    const auto checked = sacct::check_nodes(read, past.nodes, source.oversubscribed, source.malformed);
    if (!checked) return with_context("trace: " + source.trace.string(), checked.error());
  }
  site_rules::AccountParents parents;
  if (!source.accounts.empty()) {
    SHAPLEY_TRY(read_file(source.accounts, "accounts", [&](std::istream& text) -> Expected<void> {
      SHAPLEY_TRY_ASSIGN(parents, site_rules::read_account_parents(text));
      return {};
    }));
  }
  const site_rules::Attribution attribution(configuration, read.users, read.groups, std::move(parents));
  SHAPLEY_TRY(read.rows.for_each_job([&](const std::vector<sacct::SacctRow>& of_job) -> Expected<void> {
    for (const sacct::SacctRow& row : of_job) add_row(row, attribution, past);
    return {};
  }));
  if (source.nodes.empty()) {
    if (!read.has_nodes) {
      return fail(Errc::invalid_argument, "trace: " + source.trace.string() +
                                              ": line 1: there is no column NodeList, so the size of the nodes is "
                                              "unknown; export it, or give --nodes");
    }
    SHAPLEY_TRY_ASSIGN(past.nodes, sacct::nodes_by_use(read.rows));
    past.notes.emplace_back("Nodes have as many CPUs as jobs ever held on them at once; --nodes says what they have.");
  }
  for (const sacct::BadRow& row : read.bad)
    past.notes.push_back("Left out: line " + std::to_string(row.line) + ": " + row.why + ".");
  if (const std::string twice = sacct::note_of_twice(read.twice); !twice.empty()) past.notes.push_back(twice + ".");
  if (!read.has_limits) past.notes.emplace_back("The export has no time limits: run times are known in advance.");
  return past;
}

Expected<Past> read_ledger(const SiteHistorySource& source, const config::Configuration& configuration) {
  SHAPLEY_TRY_ASSIGN(const auto ledger, ledger::Ledger::open(source.trace, ledger::OpenMode::read_only));
  SHAPLEY_TRY_ASSIGN(const auto runs, ledger::runs(ledger));
  Past past;
  for (const ledger::EndedRun& run : runs) {
    if (!run.ended) {
      ++past.left_out["job[|s] that had not ended"];
      continue;
    }
    if (run.length.value < 1) {
      ++past.left_out["job[ that was|s that were] suspended all the time"];
      continue;
    }
    const std::int64_t processors = std::max<std::int64_t>(1, (run.processors.value + k_micro / 2) / k_micro);
    past.jobs.push_back({.release = std::min(run.submit, run.start),
                         .start = run.start,
                         .run = run.length,
                         .requested = {},
                         .processors = static_cast<std::uint32_t>(std::min<std::int64_t>(processors, UINT32_MAX)),
                         .organization = run.organization});
  }
  if (!source.nodes.empty()) {
    SHAPLEY_TRY(read_nodes(source, past));
  } else {
    SHAPLEY_TRY_ASSIGN(const auto recovered, ledger.recover());
    for (const std::string& name : recovered.state.nodes()) {
      const accounting::CapacityChanged* node = recovered.state.last_capacity(name);
      if (node == nullptr) continue;
      const std::int64_t whole = std::max(node->whole.value, node->processors.value) / k_micro;
      past.nodes[name].name = name;
      past.nodes[name].cpus = static_cast<std::uint32_t>(std::min<std::int64_t>(whole, UINT32_MAX));
    }
  }
  past.notes.emplace_back("A ledger has no time limits: run times are known in advance.");
  if (configuration.charge != config::Charge::cpu)
    past.notes.emplace_back("A job takes as many processors as it was charged for, in whole ones.");
  return past;
}

// Numbers of organizations: the configuration's, then guests, then commons.
class SiteNames {
 public:
  explicit SiteNames(const config::Configuration& configuration) {
    for (const config::OrganizationConfig& o : configuration.organizations) add(o.name);
    guests_ = add(std::string(accounting::k_guests));
    commons_ = add(std::string(accounting::k_commons));
  }
  // The organization of this name; guests if the name is unknown.
  [[nodiscard]] std::uint32_t number_of(const std::string& name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? guests_ : found->second;
  }
  [[nodiscard]] bool knows(const std::string& name) const { return name.empty() || numbers_.contains(name); }
  [[nodiscard]] const std::vector<std::string>& all() const { return names_; }

 private:
  std::uint32_t add(const std::string& name) {
    const auto [place, is_new] = numbers_.emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return place->second;
  }
  std::map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
  std::uint32_t guests_ = 0, commons_ = 0;
};

void keep_asked(const SiteHistorySource& source, Past& past) {
  const std::size_t before = past.jobs.size();
  std::erase_if(past.jobs, [&](const PastJob& job) {
    return (source.since && job.release < *source.since) || (source.until && job.release >= *source.until);
  });
  if (before != past.jobs.size())
    past.left_out["job[|s] outside the time asked for"] += static_cast<std::int64_t>(before - past.jobs.size());
  std::stable_sort(past.jobs.begin(), past.jobs.end(), [](const PastJob& a, const PastJob& b) {
    return std::pair(a.release, a.line) < std::pair(b.release, b.line);
  });
}

// A run beyond its limit is impossible, so it is cut to it. A job without a requested limit gets the greatest limit or
// run of any job.
void settle_requests(Estimates estimates, Past& past) {
  Duration longest;
  for (const PastJob& job : past.jobs) longest = std::max({longest, job.run, job.requested.value_or(Duration{})});
  const bool any = std::any_of(past.jobs.begin(), past.jobs.end(), [](const PastJob& j) { return j.requested; });
  std::int64_t cut = 0;
  for (PastJob& job : past.jobs) {
    if (estimates == Estimates::exact || !any) {
      job.requested = job.run;
    } else if (!job.requested || job.requested->value < 1) {
      job.requested = longest;
    } else if (job.run > *job.requested) {
      job.run = *job.requested;
      ++cut;
    }
  }
  if (cut > 0)
    past.notes.push_back(
        counted_as(cut, "job[|s] ran for longer than [its|their] time limit; [it ends|they end] at it here."));
}

// Removes organizations with neither jobs nor processors.
void drop_idle(const std::vector<std::string>& names, SiteHistory& history) {
  std::vector<bool> used(names.size(), false);
  for (const scheduling::Job& job : history.instance.jobs) used[job.organization] = true;
  for (const scheduling::Endowment& e : history.instance.endowments) {
    for (std::size_t u = 0; u < names.size(); ++u) used[u] = used[u] || e.processors[u] > 0;
  }
  std::vector<std::uint32_t> number(names.size());
  for (std::size_t u = 0; u < names.size(); ++u) {
    number[u] = static_cast<std::uint32_t>(history.organizations.size());
    if (used[u]) history.organizations.push_back(names[u]);
  }
  for (scheduling::Job& job : history.instance.jobs) job.organization = number[job.organization];
  for (scheduling::Endowment& e : history.instance.endowments) {
    for (std::size_t u = 0; u < names.size(); ++u) {
      if (used[u]) e.processors[number[u]] = e.processors[u];
    }
    e.processors.resize(history.organizations.size());
  }
}

// An instant that no sensible schedule reaches: four times the work on the fewest processors, limited so that psi fits
// into 63 bits (scheduling/instance.hpp).
Instant latest_end(const scheduling::EasyInstance& instance) {
  std::int64_t last = 0, longest = 0, work = 0;
  for (const scheduling::Job& job : instance.jobs) {
    last = std::max(last, job.release.value);
    longest = std::max(longest, job.duration.value);
    work += job.duration.value * job.processors;
  }
  std::int64_t fewest = INT64_MAX;
  std::int64_t most = 1;
  for (const scheduling::Endowment& e : instance.endowments) {
    const std::int64_t total = total_of(e);
    if (total > 0) fewest = std::min(fewest, total);
    most = std::max(most, total);
    last = std::max(last, e.at.value);
  }
  const auto room = static_cast<std::int64_t>(std::sqrt(0x1p63 / static_cast<double>(most))) - 1;
  return {std::min(room, last + 4 * (work / fewest) + 2 * longest)};
}

void leave_out_too_wide(Past& past, const std::vector<scheduling::Endowment>& endowments) {
  std::int64_t most = 0;
  for (const scheduling::Endowment& e : endowments) {
    most = std::max(most, total_of(e));
  }
  const auto gone = std::erase_if(past.jobs, [&](const PastJob& job) { return job.processors > most; });
  if (gone > 0) past.left_out["job[|s] wider than all nodes together"] += static_cast<std::int64_t>(gone);
}

void note_left_out(const SiteNames& names, Past& past) {
  std::set<std::string> unknown;
  for (const PastJob& job : past.jobs) {
    if (!names.knows(job.organization)) unknown.insert(job.organization);
  }
  for (const std::string& name : unknown)
    past.notes.push_back("Jobs of " + name + ", which the configuration does not name, count for guests.");
  for (const auto& [reason, count] : past.left_out)
    past.notes.push_back("Left out: " + counted_as(count, reason) + ".");
}

// Policies rank guests as they rank organizations.
void note_guests(const SiteNames& names, const config::Configuration& configuration, Past& past) {
  if (configuration.guests != accounting::Guests::last) return;
  const std::uint32_t guests = names.number_of(std::string(accounting::k_guests));
  if (std::ranges::none_of(past.jobs, [&](const PastJob& job) { return names.number_of(job.organization) == guests; }))
    return;
  past.notes.push_back("The configuration's guests: last is not replayed: jobs of guests are ranked by their key.");
}

using Spans = std::map<std::string, std::vector<accounting::OwnershipSpan>, std::less<>>;  // by node

const std::vector<accounting::OwnerPart>& owners_at(const Spans& spans, std::string_view node, Instant t) {
  static const std::vector<accounting::OwnerPart> k_nobody;
  const auto of_node = spans.find(node);
  if (of_node == spans.end()) return k_nobody;
  const std::vector<accounting::OwnerPart>* owners = &k_nobody;
  for (const accounting::OwnershipSpan& span : of_node->second) {
    if (span.from <= t) owners = &span.owners;
  }
  return *owners;
}

// `owned` in parts per million of a processor, their sum a whole number of processors.
std::vector<std::uint32_t> whole(const std::vector<std::int64_t>& owned) {
  std::vector<std::uint32_t> processors(owned.size());
  std::vector<std::size_t> by_remainder(owned.size());
  std::int64_t left = std::accumulate(owned.begin(), owned.end(), std::int64_t{0}) / accounting::k_whole_node;
  for (std::size_t u = 0; u < owned.size(); ++u) {
    processors[u] = static_cast<std::uint32_t>(owned[u] / accounting::k_whole_node);
    left -= processors[u];
  }
  std::iota(by_remainder.begin(), by_remainder.end(), std::size_t{0});
  std::stable_sort(by_remainder.begin(), by_remainder.end(), [&](std::size_t a, std::size_t b) {
    return owned[a] % accounting::k_whole_node > owned[b] % accounting::k_whole_node;
  });
  for (std::size_t i = 0; left > 0; ++i, --left) ++processors[by_remainder[i]];
  return processors;
}

}  // namespace

Expected<SiteHistory> read_site_history(const SiteHistorySource& source) {
  const auto loaded = config::load(source.config);
  if (!loaded) {
    return fail_in_lines(Errc::invalid_argument, "config",
                         config::format_faults(loaded.error(), source.config.string()));
  }
  const config::Configuration& configuration = loaded->configuration;
  SHAPLEY_TRY_ASSIGN(Past past,
                     is_ledger(source.trace) ? read_ledger(source, configuration) : read_sacct(source, configuration));
  keep_asked(source, past);
  if (past.jobs.empty())
    return fail(Errc::not_found,
                "trace: " + source.trace.string() + ": no job of that time has run; give another time");

  SiteHistory history;
  const SiteNames names(configuration);
  history.begin = past.jobs.front().release;
  history.rule.guarantee = {static_cast<std::int32_t>(configuration.guarantee)};
  if (configuration.rule == accounting::KeyRule::braking) history.rule.pace = game::pace_under(history.rule.guarantee);
  Instant end = history.begin;
  for (const PastJob& job : past.jobs) end = std::max(end, job.start + job.run);
  history.length = end - history.begin;
  SHAPLEY_TRY_ASSIGN(history.instance.endowments,
                     dated_owners(configuration, past.nodes, names.all(), history.begin, end));
  leave_out_too_wide(past, history.instance.endowments);
  settle_requests(source.estimates, past);
  note_left_out(names, past);
  note_guests(names, configuration, past);
  for (const PastJob& job : past.jobs) {
    history.instance.jobs.push_back({.release = Instant{(job.release - history.begin).value},
                                     .duration = job.run,
                                     .organization = names.number_of(job.organization),
                                     .processors = job.processors});
    history.instance.requested.push_back(*job.requested);
    history.recorded.start.push_back((job.start - history.begin).value);
  }
  history.instance.latest = latest_end(history.instance);
  drop_idle(names.all(), history);
  history.notes = std::move(past.notes);
  if (history.organizations.size() > scheduling::k_max_organizations)
    return fail(Errc::limit,
                "replay: " + std::to_string(history.organizations.size()) +
                    " organizations with jobs or processors, guests and commons among them, are more than " +
                    std::to_string(scheduling::k_max_organizations) +
                    "; merge small ones in a copy of the configuration");
  const auto valid = scheduling::validate(history.instance);
  if (!valid) return with_context("replay", valid.error());
  return history;
}

Expected<std::vector<scheduling::Endowment>> dated_owners(const config::Configuration& configuration,
                                                          const sacct::SiteNodes& nodes,
                                                          const std::vector<std::string>& organizations, Instant begin,
                                                          Instant end) {
  Spans spans;
  std::set<Instant> changes{begin};
  for (const accounting::OwnershipStated& stated : config::ownership_statements(configuration, k_beginning_of_time)) {
    spans[stated.node] = stated.spans;
    for (const accounting::OwnershipSpan& span : stated.spans) {
      if (span.from > begin && span.from < end) changes.insert(span.from);
    }
  }
  std::vector<scheduling::Endowment> endowments;
  for (const Instant t : changes) {
    std::vector<std::int64_t> owned(organizations.size());  // parts per million of a processor
    for (const auto& [name, node] : nodes) {
      std::int64_t left = std::int64_t{node.cpus} * accounting::k_whole_node;
      for (const accounting::OwnerPart& part : owners_at(spans, name, t)) {
        const auto place = std::find(organizations.begin(), organizations.end(), part.organization);
        const std::int64_t amount = std::int64_t{node.cpus} * part.parts_per_million;
        owned[static_cast<std::size_t>(place - organizations.begin())] += amount;
        left -= amount;
      }
      owned.back() += left;
    }
    scheduling::Endowment endowment{{(t - begin).value}, whole(owned)};
    if (endowments.empty() || endowments.back().processors != endowment.processors)
      endowments.push_back(std::move(endowment));
  }
  const auto& first = endowments.front().processors;
  if (endowments.size() == 1 && std::all_of(first.begin(), first.end(), [](std::uint32_t m) { return m == 0; }))
    return fail(Errc::not_found, "nodes: together they have no processor; give --nodes with all of them");
  return endowments;
}

}  // namespace shapley::sim
