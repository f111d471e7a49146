#include "ctl/import/import.hpp"

#include <algorithm>
#include <array>
#include <istream>
#include <map>
#include <optional>
#include <set>
#include <streambuf>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "accounting/state/state.hpp"
#include "base/calendar.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "config/configuration.hpp"
#include "ctl/import/held_runs.hpp"
#include "ledger/chain/hash_chain.hpp"
#include "ledger/file/files.hpp"
#include "ledger/readers/declarations.hpp"
#include "ledger/readers/runs.hpp"
#include "ledger/store/ledger.hpp"
#include "sacct/row_checks.hpp"
#include "sacct/runs.hpp"

namespace shapley::ctl {

namespace {

using ledger::BookedRun;
using sacct::BadRow;
using sacct::Run;

std::string name_of(const Run& run) {
  return fmt::format("job {}, run from {}", run.first().job, format_instant(run.start()));
}

std::optional<BadRow> difference(const Run& run, const BookedRun& booked) {
  if (!booked.end_seen || !run.end()) return std::nullopt;
  if (*run.end() != *booked.end) {
    return BadRow{run.last().line,
                  fmt::format("End: {}: the ledger has its end at {}", name_of(run), format_instant(*booked.end))};
  }
  std::uint64_t cpus = 0;
  for (const sacct::SacctRow& row : run.rows) cpus = std::max<std::uint64_t>(cpus, row.cpus);
  if (booked.cpus == 0 || cpus == booked.cpus) return std::nullopt;
  return BadRow{run.first().line,
                fmt::format("AllocCPUS: {}: the ledger has {} CPUs of it", name_of(run), booked.cpus)};
}

// The run of the ledger at the same time.
const BookedRun* beside(const Run& run, const std::vector<BookedRun>& booked, const std::set<Instant>& recorded) {
  const Instant end = run.end().value_or(k_end_of_time);
  const auto found = std::ranges::find_if(booked, [&](const BookedRun& other) {
    return other.end && !recorded.contains(other.start) && run.start() < *other.end && other.start < end;
  });
  return found == booked.end() ? nullptr : &*found;
}

// A row is malformed if the ledger lacks its run but has a run of the same job at the same time that the rows lack. The
// first such row is an error (Malformed::refuse), or such rows are moved from `rows` to `bad`. Returns the rows with
// another end or number of CPUs than the ledger's run, if the end of that run was observed: the ledger is not changed
// by them.
Expected<std::vector<BadRow>> check_booked(const ledger::Ledger& ledger, sacct::SacctExport& sacct,
                                           sacct::Malformed choice) {
  std::vector<BadRow> differing;
  sacct::Findings findings(sacct, choice);
  SHAPLEY_TRY(sacct.rows.for_each_job([&](const std::vector<sacct::SacctRow>& of_job) -> Expected<void> {
    const std::vector<Run> runs = sacct::runs_of(of_job);
    if (runs.empty()) return {};
    const std::uint32_t job = of_job.front().job;
    std::set<Instant> recorded;
    for (const Run& run : runs) recorded.insert(run.start());
    SHAPLEY_TRY_ASSIGN(const std::vector<BookedRun> booked, ledger::booked_runs(ledger, JobId{job}));
    sacct::Faults faults;
    for (const Run& run : runs) {
      const auto same = std::ranges::find(booked, run.start(), &BookedRun::start);
      if (same != booked.end()) {
        if (auto differs = difference(run, *same)) differing.push_back(*std::move(differs));
      } else if (const BookedRun* other = beside(run, booked, recorded)) {
        const std::string why = fmt::format(
            "Start: in the ledger job {} runs from {} to {}, at the same time; is the export of another cluster? "
            "Correct the row, or leave it out",
            job, format_instant(other->start), format_instant(*other->end));
        for (const std::int64_t line : run.lines()) faults.emplace(line, why);
      }
    }
    findings.take(faults);
    return {};
  }));
  SHAPLEY_TRY(findings.finish());
  std::ranges::sort(differing, {}, &BadRow::line);
  return differing;
}

using accounting::Event;
using std::filesystem::path;

constexpr std::size_t k_batch = 10'000;  // events of one transaction of a new ledger

// A file that is read once, from its begin to its end (it may be a pipe), and hashed at the same time.
class HashedFile : public std::streambuf {
 public:
  HashedFile(InputFile file, ledger::Hasher& hasher) : in_(std::move(file)), hasher_(hasher), block_(k_block) {
    hasher_.begin();
  }
  // Whether the file has been read without errors.
  [[nodiscard]] bool is_sound() const { return !in_.bad(); }

 protected:
  int_type underflow() override {
    in_.read(block_.data(), static_cast<std::streamsize>(block_.size()));
    const std::streamsize count = in_.gcount();
    if (count == 0) return traits_type::eof();
    hasher_.add({block_.data(), static_cast<std::size_t>(count)});
    setg(block_.data(), block_.data(), block_.data() + count);
    return traits_type::to_int_type(block_.front());
  }

 private:
  static constexpr std::size_t k_block = std::size_t{1} << 16U;
  InputFile in_;
  ledger::Hasher& hasher_;
  std::vector<char> block_;
};

// The result of `read` on the file, and the file's hash.
template <typename Read>
auto parse_file(const path& file, const Read& read, std::string* sha256 = nullptr)
    -> decltype(read(std::declval<std::istream&>())) {
  SHAPLEY_TRY_ASSIGN(ledger::Hasher hasher, ledger::Hasher::create());
  const auto unreadable = [&] {
    return fail(Errc::io, fmt::format("import: {}: cannot be read; is it there, and may you read it?", file.string()));
  };
  auto opened = InputFile::open(file);
  if (!opened) return unreadable();
  HashedFile text(*std::move(opened), hasher);
  std::istream in(&text);
  auto parsed = read(in);
  if (!text.is_sound()) return unreadable();
  if (!parsed) return with_context("import: " + file.string(), std::move(parsed).error());
  SHAPLEY_TRY_ASSIGN(const ledger::Digest digest, hasher.finish());
  if (sha256 != nullptr) *sha256 = ledger::to_hex(digest);
  return parsed;
}

// The input, which is read completely before the first write.
struct Past {
  config::Loaded site;
  sacct::SacctExport sacct;
  Instant first = k_end_of_time;  // that a run names
  std::string sha256;
  site_rules::AccountParents parents;
  std::optional<sacct::SiteNodes> nodes;  // as they were given
};

Expected<Past> read_past(const ImportQuestion& question) {
  auto loaded = config::load(question.config);
  if (!loaded) {
    return fail_in_lines(Errc::invalid_argument, "import",
                         config::format_faults(loaded.error(), question.config.string()));
  }
  path directory = (question.into.empty() ? question.ledger : question.into).parent_path();
  if (directory.empty()) directory = ".";
  Past past{
      .site = *std::move(loaded), .sacct = sacct::SacctExport(directory), .sha256 = {}, .parents = {}, .nodes = {}};
  const auto read_rows = [&](std::istream& in) -> Expected<sacct::SacctExport> {
    SHAPLEY_TRY_ASSIGN(sacct::SacctExport rows, sacct::read_sacct_rows(in, question.malformed, directory));
    SHAPLEY_TRY(sacct::check_rows(rows, question.malformed));
    return rows;
  };
  SHAPLEY_TRY_ASSIGN(past.sacct, parse_file(question.sacct, read_rows, &past.sha256));
  if (!past.sacct.has_nodes) {
    return fail(Errc::invalid_argument, fmt::format("import: {}: line 1: column NodeList is missing; without it it is "
                                                    "not known whose nodes were used; export it, too",
                                                    question.sacct.string()));
  }
  if (const auto placed = sacct::check_places(past.sacct, question.malformed); !placed)
    return with_context("import: " + question.sacct.string(), placed.error());
  if (past.site.configuration.charge == config::Charge::billing) {
    if (const auto billed = sacct::check_billing(past.sacct, question.malformed); !billed)
      return with_context("import: " + question.sacct.string(), billed.error());
  }
  if (!question.accounts.empty()) {
    SHAPLEY_TRY_ASSIGN(past.parents, parse_file(question.accounts, site_rules::read_account_parents));
  }
  if (!question.nodes.empty()) {
    SHAPLEY_TRY_ASSIGN(past.nodes, parse_file(question.nodes, sacct::read_nodes));
  }
  return past;
}

Expected<void> need_runs(const ImportQuestion& question, Past& past) {
  SHAPLEY_TRY_ASSIGN(past.first, first_instant(past.sacct.rows));
  if (past.first != k_end_of_time) return {};
  const std::size_t bad = past.sacct.bad.size();
  return fail(Errc::not_found,
              fmt::format("import: {}: no row of it is a run{}", question.sacct.string(),
                          bad == 0 ? std::string("; export an earlier time")
                                   : fmt::format(", and {}; without --malformed skip the first one is named",
                                                 counted_as(static_cast<std::int64_t>(bad),
                                                            "[was|were] left out as malformed"))));
}

Expected<void> check_nodes(const ImportQuestion& question, const sacct::SiteNodes& nodes, Past& past) {
  auto checked = sacct::check_nodes(past.sacct, nodes, question.oversubscribed, question.malformed);
  if (!checked) return with_context("import: " + question.sacct.string(), std::move(checked).error());
  return need_runs(question, past);
}

daemon::ReadingRules rules_of(const Past& past, const site_rules::Attribution& attribution) {
  return {attribution.classifier(), daemon::Charging(daemon::charge_rule(past.site.configuration))};
}

// The first events of a new ledger: the configuration, as if it had always been in force, and nodes that never failed.
std::vector<Event> beginning(const Past& past, const sacct::SiteNodes& nodes, const daemon::Charging& charging,
                             Instant at) {
  const config::Configuration& configuration = past.site.configuration;
  std::vector<Event> events;
  accounting::OrganizationsDeclared organizations{at, {}};
  for (const config::OrganizationConfig& o : configuration.organizations) organizations.names.push_back(o.name);
  events.emplace_back(std::move(organizations));
  for (accounting::OwnershipStated& stated : config::ownership_statements(configuration, Instant{0}))
    events.emplace_back(std::move(stated));
  if (configuration.period != Period::none) events.emplace_back(accounting::PeriodDeclared{at, configuration.period});
  events.emplace_back(config::ranking_statement(configuration, at));
  events.emplace_back(config::charge_statement(configuration, at));
  if (auto hindsight = config::hindsight_statement(configuration, Instant{0}, true, nullptr))
    events.emplace_back(std::move(*hindsight));
  events.emplace_back(accounting::ConfigurationLoaded{at, past.site.text});
  for (const auto& [name, node] : nodes) {
    accounting::CapacityChanged capacity = charging.capacity_of(node);
    capacity.at = at;
    events.emplace_back(std::move(capacity));
  }
  return events;
}

Event origin_of(const ImportQuestion& question, const Past& past, const PastRuns& runs) {
  return accounting::HistoryImported{.at = question.now,
                                     .file = question.sacct.filename().string(),
                                     .sha256 = past.sha256,
                                     .rows = past.sacct.rows.size(),
                                     .runs = runs.runs,
                                     .known = runs.known,
                                     .since = runs.since,
                                     .until = runs.until,
                                     .author = "uid " + std::to_string(::getuid()),
                                     .reason = question.reason};
}

void note_assumptions(const ImportQuestion& question, const Past& past, const PastRuns& runs, ImportResult& result) {
  const auto note = [&](std::int64_t count, const std::string& what) {
    if (count > 0) result.notes.push_back(counted_as(count, what));
  };
  note(past.sacct.steps, "row[|s] of job steps left out");
  note(past.sacct.pending_arrays, "row[|s] of array tasks that have not started left out");
  note(runs.never_ran, "job[|s] that never ran left out");
  note(runs.known, "run[ was|s were] in the ledger already");
  note(runs.restored, "run[|s] had been retracted, because slurmctld forgot [it: it counts|them: they count] again");
  note(result.ends, "run[|s] in the ledger whose end was not seen [ends now as it is|end now as they are] recorded");
  note(runs.not_ended, "run[|s] had not ended: [it is|they are] open");
  if (std::string twice = sacct::note_of_twice(past.sacct.twice); !twice.empty())
    result.notes.push_back(std::move(twice));
  if (!question.oversubscribed) {
    note(static_cast<std::int64_t>(runs.without_room.size()),
         fmt::format("run[|s] held CPUs for which [its|their] nodes had no room beside other runs ({}): what a node "
                     "has is divided among its runs",
                     sacct::lines_text(runs.without_room)));
  }
  note(runs.suspended, "run[ was|s were] suspended; when is not known, so it is taken to be [its|their] last seconds");
}

Expected<void> append(ledger::Ledger& ledger, std::span<const Event> events, Instant now, ImportResult& result) {
  auto appended = ledger.append(events, now);
  if (!appended) return with_context("import", std::move(appended).error());
  result.events += static_cast<std::int64_t>(appended->appended);
  return {};
}

// The names that the ledger does not have, or has otherwise and not of a later time.
std::vector<Event> users_of(const PastRuns& runs, const accounting::State& books) {
  std::vector<Event> events;
  for (const auto& [number, user] : runs.users) {
    if (!books.is_called(user)) events.emplace_back(user);
  }
  return events;
}

// Writes the events of a new ledger in several transactions.
class Writer {
 public:
  Writer(ledger::Ledger& ledger, Instant now, ImportResult& result) : ledger_(ledger), now_(now), result_(result) {}
  Expected<void> take(std::span<const Event> events) {
    waiting_.insert(waiting_.end(), events.begin(), events.end());
    return waiting_.size() < k_batch ? Expected<void>{} : flush();
  }
  Expected<void> flush() {
    SHAPLEY_TRY(append(ledger_, waiting_, now_, result_));
    waiting_.clear();
    return {};
  }

 private:
  ledger::Ledger& ledger_;
  Instant now_;
  ImportResult& result_;
  std::vector<Event> waiting_;
};

// With `charge: billing` a node is worth what slurmctld says, which nothing else shows.
Expected<void> check_worth(const ImportQuestion& question, const Past& past) {
  if (past.site.configuration.charge != config::Charge::billing) return {};
  if (!past.nodes) {
    return fail(Errc::invalid_argument, fmt::format("import: {}: charge: billing needs to know what each node is "
                                                    "worth; give --nodes the output of scontrol show nodes --oneliner",
                                                    question.config.string()));
  }
  for (const auto& [name, node] : *past.nodes) {
    if (std::ranges::find(node.tres, "billing", &protocol::Tres::name) != node.tres.end()) continue;
    return fail(
        Errc::invalid_argument,
        fmt::format(
            "import: {}: node {}: has no {}, which says what the node is worth (charge: billing); export the nodes by "
            "scontrol show nodes --oneliner, and where Slurm bills nothing for a node write billing=0 there",
            question.nodes.string(), name, node.tres.empty() ? "CfgTRES" : "billing in CfgTRES"));
  }
  return {};
}

Expected<void> write_new(const ImportQuestion& question, const Past& past, const path& file, ImportResult& result) {
  const site_rules::Attribution attribution(past.site.configuration, past.sacct.users, past.sacct.groups, past.parents);
  const daemon::ReadingRules rules = rules_of(past, attribution);
  sacct::SiteNodes nodes;
  if (past.nodes) {
    nodes = *past.nodes;
  } else {
    SHAPLEY_TRY_ASSIGN(nodes, sacct::nodes_by_use(past.sacct.rows));
    result.notes.emplace_back(
        "nodes have as many CPUs as runs ever held on them at once; nothing is known of their memory and generic "
        "resources (--nodes says)");
  }
  SHAPLEY_TRY_ASSIGN(ledger::Ledger ledger, ledger::Ledger::open(file, ledger::OpenMode::create_or_write));
  Writer writer(ledger, question.now, result);
  accounting::State books;
  const auto begin = beginning(past, nodes, rules.charging, past.first);
  for (const Event& event : begin) {
    const auto applied = books.apply(event);
    if (!applied) return with_context("import: " + accounting::event_key(event), applied.error());
  }
  SHAPLEY_TRY(writer.take(begin));
  auto runs = past_runs({.rows = past.sacct.rows,
                         .attribution = attribution,
                         .nodes = nodes,
                         .rules = rules,
                         .waits = true,
                         .known = [](JobId, Instant, std::optional<Instant>, Duration,
                                     const std::string&) { return Expected<KnownRun>(KnownRun{}); }},
                        books, [&](std::span<const Event> events) { return writer.take(events); });
  if (!runs) return with_context("import: " + question.sacct.string(), std::move(runs).error());
  result.runs = *runs;
  SHAPLEY_TRY(writer.take(users_of(*runs, accounting::State())));
  const std::array<Event, 1> origin{origin_of(question, past, *runs)};
  SHAPLEY_TRY(writer.take(origin));
  SHAPLEY_TRY(writer.flush());
  books.compact();
  return {};
}

Expected<void> make_new(const ImportQuestion& question, Past& past, ImportResult& result) {
  if (std::filesystem::exists(question.ledger)) {
    return fail(Errc::conflict,
                fmt::format("import: {} is there already; name a new file, or fill its gaps with --into",
                            question.ledger.string()));
  }
  SHAPLEY_TRY(check_worth(question, past));
  if (past.nodes) SHAPLEY_TRY(check_nodes(question, *past.nodes, past));
  const path partial_name = question.ledger.string() + ".importing";
  const ledger::PartialFile partial(partial_name);
  const auto written = write_new(question, past, partial.file(), result);
  std::error_code ignored;
  std::filesystem::remove(partial_name.string() + ".lock", ignored);
  if (!written) {
    for (const char* rest : {"-wal", "-shm"}) std::filesystem::remove(partial_name.string() + rest, ignored);
    return tl::unexpected<Error>(written.error());
  }
  return partial.become(question.ledger);
}

// Runs of one ledger are charged by the rule that it declares, and audited by it.
Expected<void> check_charge(const ledger::Ledger& ledger, const ImportQuestion& question, const Past& past) {
  SHAPLEY_TRY_ASSIGN(const auto declarations, ledger::declarations(ledger));
  const accounting::ChargeDeclared* last = nullptr;
  for (const Event& event : declarations) {
    if (const auto* charge = std::get_if<accounting::ChargeDeclared>(&event)) last = charge;
  }
  if (last == nullptr || config::charge_statement(past.site.configuration, last->at) == *last) return {};
  return fail(Errc::conflict, fmt::format("import: {}: charge, weights or node_weights are not what {} declared last "
                                          "(charge: {}); import with the configuration that is in force there",
                                          question.config.string(), question.into.string(), last->charge));
}

// All refusals are decided before the transaction.
Expected<void> check_open(ledger::Ledger& ledger, const ImportQuestion& question, std::span<const Event> events) {
  for (const Event& event : events) {
    SHAPLEY_TRY_ASSIGN(const bool archived, ledger.is_archived(event));
    if (!archived) continue;
    return fail(Errc::denied, fmt::format("import: {}: {} lies in a period that was archived and cannot be changed; "
                                          "leave rows of that time out of the export",
                                          question.into.string(), accounting::event_key(event)));
  }
  return {};
}

Expected<KnownRun> known_run(const ledger::Ledger& ledger, JobId job, Instant start) {
  SHAPLEY_TRY_ASSIGN(const auto segments, ledger::segments_of_run(ledger, job, start));
  KnownRun known;
  for (const ledger::RunSegment& segment : segments) {
    if (!segment.retracted) return KnownRun{.counts = true};
    known.retracted.push_back({segment.ordinal, segment.begin, segment.end, segment.organization, true});
  }
  return known;
}

Expected<void> fill_gaps(const ImportQuestion& question, Past& past, ImportResult& result) {
  if (!std::filesystem::exists(question.into))
    return fail(Errc::not_found,
                fmt::format("import: {}: no such ledger; --ledger makes a new one", question.into.string()));
  // Of an empty file a ledger would be made that knows no owner.
  std::error_code not_a_file;
  if (std::filesystem::file_size(question.into, not_a_file) == 0)
    return fail(Errc::corrupt,
                fmt::format("import: {}: an empty file, not a ledger; restore one, or move this file away: "
                            "--ledger makes a new one",
                            question.into.string()));
  SHAPLEY_TRY_ASSIGN(ledger::Ledger ledger, ledger::Ledger::open(question.into, ledger::OpenMode::create_or_write));
  SHAPLEY_TRY(check_charge(ledger, question, past));
  SHAPLEY_TRY_ASSIGN(ledger::Recovered recovered, ledger.recover());
  sacct::SiteNodes nodes = past.nodes.value_or(sacct::SiteNodes{});
  accounting::State books;
  for (const std::string& name : recovered.state.nodes()) {
    const accounting::CapacityChanged* known = recovered.state.last_capacity(name);
    if (known == nullptr) continue;
    accounting::CapacityChanged capacity = *known;
    capacity.at = past.first;
    SHAPLEY_TRY(books.apply(capacity));
    protocol::NodeRecord& node = nodes[name];
    node.name = name;
    if (node.cpus > 0) continue;
    node.cpus = capacity.cpus;
    node.memory = static_cast<std::uint64_t>(capacity.memory);
    for (const Resource& gres : capacity.gres) node.gres.push_back({gres.name, static_cast<std::uint64_t>(gres.count)});
  }
  SHAPLEY_TRY(check_nodes(question, nodes, past));
  auto differing = check_booked(ledger, past.sacct, question.malformed);
  if (!differing) return with_context("import: " + question.sacct.string(), std::move(differing).error());
  result.differing = *std::move(differing);
  const site_rules::Attribution attribution(past.site.configuration, past.sacct.users, past.sacct.groups, past.parents);
  const daemon::ReadingRules rules = rules_of(past, attribution);
  std::vector<Event> events;
  Instant since = k_end_of_time;  // of runs whose end is corrected
  Instant until = k_beginning_of_time;
  const auto known = [&](JobId job, Instant start, std::optional<Instant> end, Duration suspended,
                         const std::string& job_state) -> Expected<KnownRun> {
    SHAPLEY_TRY_ASSIGN(KnownRun run, known_run(ledger, job, start));
    if (!run.counts || !end) return run;
    SHAPLEY_TRY_ASSIGN(const auto unseen, ledger::unseen_end(ledger, job, start));
    if (!unseen) return run;
    const auto mended = ledger::end_as_recorded(*unseen, {*end, suspended, job_state}, question.now);
    if (mended.empty()) return run;
    events.insert(events.end(), mended.begin(), mended.end());
    ++result.ends;
    since = std::min(since, start);
    until = std::max(until, *end);
    return run;
  };
  auto runs = past_runs({.rows = past.sacct.rows,
                         .attribution = attribution,
                         .nodes = nodes,
                         .rules = rules,
                         .waits = false,
                         .known = known,
                         .held = [&](Instant from, Instant to,
                                     const auto& add) { return add_held(ledger, events, nodes, from, to, add); }},
                        books, [&](std::span<const Event> some) {
                          events.insert(events.end(), some.begin(), some.end());
                          return Expected<void>{};
                        });
  if (!runs) return with_context("import: " + question.sacct.string(), std::move(runs).error());
  result.runs = *runs;
  if (events.empty()) return {};
  if (runs->runs == 0) runs->since = since;
  if (runs->runs == 0) runs->until = until;
  for (Event& named : users_of(*runs, recovered.state)) events.push_back(std::move(named));
  events.push_back(origin_of(question, past, *runs));
  SHAPLEY_TRY(check_open(ledger, question, events));
  return append(ledger, events, question.now, result);
}

}  // namespace

Expected<ImportResult> import_history(const ImportQuestion& question) {
  SHAPLEY_TRY_ASSIGN(Past past, read_past(question));
  SHAPLEY_TRY(need_runs(question, past));
  ImportResult result;
  SHAPLEY_TRY(question.into.empty() ? make_new(question, past, result) : fill_gaps(question, past, result));
  result.rows = past.sacct.rows.size();
  result.bad = past.sacct.bad;
  note_assumptions(question, past, result.runs, result);
  return result;
}

}  // namespace shapley::ctl
