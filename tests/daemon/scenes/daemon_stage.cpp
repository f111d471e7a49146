#include "daemon_stage.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "ledger/audit/audit.hpp"
#include "ledger/store/backup.hpp"
#include "tests/support/must.hpp"

namespace shapley::daemon {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

template <typename Texts>
std::string joined(const Texts& texts, const std::string& between) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : between) + text;
  return all;
}

std::string or_nothing(std::string text) {
  return text.empty() ? "nothing" : text;
}

// "40d", "-2h", "61": seconds.
std::int64_t seconds_in(const std::string& text) {
  const std::string number = text.substr(0, text.find_first_of("dh"));
  const std::int64_t unit = text.ends_with('d') ? k_day : text.ends_with('h') ? 3600 : 1;
  return number_in(number) * unit;
}

// Instants near those of a scene are numbers of its seconds.
bool is_instant(std::int64_t number) {
  return number > k_begin - 3000 * k_day && number < k_begin + 3000 * k_day;
}
json in_seconds_of_scene(json value) {
  if (value.is_number_integer() && is_instant(value.get<std::int64_t>()))
    return value.get<std::int64_t>() - k_scene_zero;
  if (value.is_structured()) {
    for (json& member : value) member = in_seconds_of_scene(member);
  }
  return value;
}
std::string in_seconds_of_scene(const std::string& cell) {
  static const std::regex integer("[0-9]{9,12}");
  if (!std::regex_match(cell, integer) || !is_instant(std::stoll(cell))) return cell;
  return std::to_string(std::stoll(cell) - k_scene_zero);
}
// "@1030" is the instant of that second of the scene.
std::string with_instants(const std::string& text) {
  std::string all;
  static const std::regex instant("@(-?[0-9]+)");
  auto at = text.cbegin();
  for (std::sregex_iterator it(text.begin(), text.end(), instant), end; it != end; ++it) {
    all.append(at, (*it)[0].first);
    all += std::to_string(k_scene_zero + std::stoll((*it)[1]));
    at = (*it)[0].second;
  }
  return all.append(at, text.cend());
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// A record of job 1 of account phys on 4 CPUs of n1, unless the words say otherwise; submitted and eligible when it
// starts. "on=n2": all its CPUs are there.
protocol::JobUpdate record(const std::vector<std::string>& words) {
  std::vector<std::string> changed = words;
  for (std::string& word : changed) {
    if (word.starts_with("on=") && word.find(':') == std::string::npos && word.size() > 3) word += ":0";
  }
  protocol::JobUpdate r = record_in(
      changed, 0,
      [](protocol::JobState state) {
        protocol::JobUpdate made = state == protocol::JobState::pending ? waiting({}) : running({});
        made.state = state;
        if (state == protocol::JobState::ended) made.slurm_state = "COMPLETED";
        if (state == protocol::JobState::suspended) made.slurm_state = "SUSPENDED";
        return made;
      },
      k_scene_zero);
  if (r.submit_time == 0) r.submit_time = r.start_time;
  if (r.eligible_time == 0) r.eligible_time = r.submit_time;
  if (r.state == protocol::JobState::pending) r.start_time = 0;
  r.tres = {{"cpu", r.requested_cpus}};
  for (auto& share : r.nodes) {
    if (share.cpus == 0 || r.nodes.size() == 1) share.cpus = r.requested_cpus;
  }
  return r;
}

// "n1 down partitions=a,b reservations=x"
protocol::NodeRecord node(const std::vector<std::string>& words) {
  protocol::NodeRecord node = node_record(words.at(0));
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "down") {
      node.usable = false;
    } else if (words[i].starts_with("partitions=")) {
      node.partitions = parts_of(words[i].substr(11), ',');
    } else if (words[i].starts_with("reservations=")) {
      node.reservations = parts_of(words[i].substr(13), ',');
    } else {
      throw std::runtime_error("no member of a node: " + words[i]);
    }
  }
  return node;
}

void fill_disk(bool is_full) {
  static rlimit before = [] {
    rlimit now{};
    getrlimit(RLIMIT_FSIZE, &now);
    return now;
  }();
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit = before;
  if (is_full) limit.rlim_cur = 0;
  setrlimit(RLIMIT_FSIZE, &limit);
}

void flip_a_bit(const fs::path& file, double where) {
  std::fstream bytes(file, std::ios::binary | std::ios::in | std::ios::out);
  const auto at = static_cast<std::streamoff>(static_cast<double>(fs::file_size(file)) * where);
  bytes.seekg(at);
  const int byte = bytes.get();
  bytes.seekp(at);
  bytes.put(static_cast<char>(byte ^ 1));
}

}  // namespace

DaemonStage::DaemonStage() {
  add_commands_of_time();
  add_commands_of_shapleyd();
  add_commands_of_the_plugin();
  add_commands_of_files();
  add_questions();
  add_corrections();
}

void DaemonStage::add(const std::string& command, std::function<std::string(const Words&)> act) {
  commands_[command] = std::move(act);
}

std::string DaemonStage::play(const std::string& line) {
  Words words = words_of(line);
  const auto found = commands_.find(words.front());
  if (found == commands_.end()) throw std::runtime_error("no command: " + words.front());
  words.erase(words.begin());
  const std::string comes_of_it = found->second(words);
  return std::regex_replace(comes_of_it, std::regex(host_.directory.path().string()), "DIRECTORY");
}

void DaemonStage::add_commands_of_time() {
  add("pass", [this](const Words& words) {
    const std::int64_t times = words.size() > 1 ? number_in(words[1]) : 1;
    for (std::int64_t i = 0; i < times; ++i) pass(seconds_in(words.at(0)));
    return "";
  });
  add("later", [this](const Words& words) {
    host_.clock.pass(seconds_in(words.at(0)));
    return "";
  });
  add("settle", [this](const Words&) {
    slurmctld_.settle();
    return "";
  });
  add("clock", [this](const Words& words) {
    set_clock(words);
    return "";
  });
}

void DaemonStage::pass(std::int64_t seconds) {
  if (is_automatic_) return slurmctld_.pass(seconds);
  host_.clock.pass(seconds);
  if (host_.service) host_.service->tick(host_.now());
}

void DaemonStage::set_clock(const Words& words) {
  const std::int64_t ahead = words.at(0) == "right"  ? -host_.clock.ahead
                             : words.at(0) == "1970" ? -host_.clock.truth
                                                     : seconds_in(words.at(0));
  if (words.back() == "unseen") {
    host_.clock.set_wall_by(ahead);
  } else {
    slurmctld_.set_wall_by(ahead);
  }
}

void DaemonStage::start() {
  host_.start();
  if (is_automatic_) slurmctld_.connect_again();
}

void DaemonStage::add_commands_of_shapleyd() {
  add("kill", [this](const Words&) {
    host_.kill();
    return "";
  });
  add("start", [this](const Words&) {
    start();
    return "";
  });
  add("stop", [this](const Words&) {
    host_.service->stop(host_.now());
    host_.kill();
    return "";
  });
  add("boot", [this](const Words&) {
    host_.boot();
    if (is_automatic_) slurmctld_.restart();
    return "";
  });
  add("forget", [this](const Words&) {
    host_.forget_the_past();
    return connect({});
  });
  add("tick", [this](const Words&) {
    host_.service->tick(host_.now());
    return "";
  });
  add("process", [this](const Words&) {
    host_.service->process(host_.now());
    return "";
  });
  add("configure", [this](const Words& words) {
    configure(words);
    return "";
  });
  add("reload", [this](const Words&) {
    const auto reloaded = host_.service->reload(host_.site, host_.now());
    return reloaded ? "" : "refused: " + reloaded.error().what;
  });
  add("accept", [this](const Words&) {
    host_.service->accept_clock();
    return "";
  });
  add("import", [this](const Words&) -> std::string {
    host_.kill();
    const std::string fault = slurmctld_.import_records();
    if (!fault.empty()) return fault;
    start();
    return "";
  });
}

void DaemonStage::configure(const Words& words) {
  config::Configuration& configuration = host_.site.configuration;
  config::OrganizationConfig& physics = configuration.organizations[0];
  const std::string what = joined(words, " ");
  if (what == "workflows") {
    physics.workflows.fairness = true;
  } else if (what == "workflows by dependency") {
    physics.workflows.workflow_key = {workflow::KeyRule::dependency};
  } else if (words.at(0) == "portions") {
    host_.options.intake.portion_records = static_cast<std::size_t>(number_in(words.at(1)));
  } else if (words.at(0) == "physics") {
    physics.name = host_.site.rules[0].organization = words.at(2);
    host_.site.text = "organizations " + words.at(2);
  } else if (words.at(0) == "text") {
    host_.site.text += words.at(1);
  } else {
    throw std::runtime_error("no configuration: " + what);
  }
}

void DaemonStage::add_commands_of_the_plugin() {
  add("slurmctld", [this](const Words& words) {
    if (std::exchange(is_automatic_, true)) {
      slurmctld_.restart();
    } else {
      start();
    }
    if (!words.empty() && words.back() != "restarts") throw std::runtime_error("slurmctld restarts");
    return "";
  });
  add("job", [this](const Words& words) {
    job(words);
    return "";
  });
  add("connect", [this](const Words& words) { return connect(words); });
  add("disconnect", [this](const Words&) {
    host_.service->end_session();
    return "";
  });
  add("work", [this](const Words& words) {
    for (std::int64_t left = number_in(words.at(0)); left > 0; --left) work();
    return "";
  });
  add("many", [this](const Words& words) {
    many(words);
    return "";
  });
  add("snapshot", [this](const Words& words) {
    snapshot(words);
    return "";
  });
  add("queue", [this](const Words& words) {
    send(observations(words));
    return "";
  });
  add("see", [this](const Words& words) {
    send(observations(words));
    host_.service->process(host_.now());
    return "";
  });
}

// "1 phys n2", "7 phys waits", "1 ends"
void DaemonStage::job(const Words& words) {
  const auto id = static_cast<std::uint32_t>(number_in(words.at(0)));
  if (words.at(1) == "ends") {
    slurmctld_.end(id);
  } else if (words.at(2) == "waits") {
    slurmctld_.submit(id, words.at(1));
  } else {
    slurmctld_.start(id, words.at(1), words.at(2));
  }
}

std::string DaemonStage::connect(const Words& words) {
  if (!host_.service) host_.start();
  protocol::Hello hello = feeder_hello(instance_ + 1);
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (name == "again") {
      hello.instance = instance_;
    } else if (name == "cluster") {
      hello.cluster = value;
    } else if (name == "in") {
      hello.state_location = value.empty() ? "" : "/var/spool/" + value;
      hello.state_location_id = value;
    } else if (name == "device") {
      hello.state_location_id = value;
    } else if (name == "backlog") {
      hello.backlog = static_cast<std::uint64_t>(number_in(value));
    } else if (name == "since") {
      hello.observing_since = k_scene_zero + number_in(value);
    } else if (name == "before") {
      hello.observed_before = k_scene_zero + number_in(value);
    } else if (name == "ran") {
      hello.controller_ran_at = k_scene_zero + number_in(value);
    } else {
      throw std::runtime_error("no member of a Hello: " + name);
    }
  }
  const bool is_connected = host_.service->feeder() && host_.service->feeder()->connected;
  const auto admitted = host_.service->cluster().admit(hello, is_connected, host_.now());
  if (!admitted) return "refused: " + admitted.error().what;
  host_.service->begin_session(hello, host_.now());
  instance_ = hello.instance;
  sequence_ = host_.service->acknowledged(instance_);
  return "";
}

void DaemonStage::send(FeederFrame frame) {
  std::visit(
      [this](auto& f) {
        f.sequence = ++sequence_;
        if (f.observed_at == 0) f.observed_at = host_.now().value;
      },
      frame);
  host_.service->receive(std::move(frame), host_.now());
}

// Records, one after the other: "running 950 job=2 on=n2; gone 1 3; node n2 down; node n1 gone; of runs only; at 950".
protocol::Observations DaemonStage::observations(const Words& words) const {
  protocol::Observations seen;
  for (const std::string& part : parts_of(joined(words, " "), ';')) {
    const Words of_part = words_of(part);
    if (of_part[0] == "at") {
      seen.observed_at = k_scene_zero + number_in(of_part.at(1));
    } else if (of_part[0] == "of") {
      seen.runs_only = true;
    } else if (of_part[0] == "gone") {
      for (std::size_t i = 1; i < of_part.size(); ++i)
        seen.gone.push_back(static_cast<std::uint32_t>(number_in(of_part[i])));
    } else if (of_part[0] == "node" && of_part.back() == "gone") {
      seen.gone_nodes.push_back(of_part.at(1));
    } else if (of_part[0] == "node") {
      seen.nodes.push_back(node({of_part.begin() + 1, of_part.end()}));
    } else {
      seen.jobs.push_back(record(of_part));
    }
  }
  return seen;
}

// A run ended before it was seen.
void DaemonStage::work() {
  host_.clock.pass(10);
  const std::int64_t at = host_.now().value;
  protocol::Observations seen;
  seen.jobs = {ended({.id = ++last_job_, .start = at - 8}, at - 2)};
  send(std::move(seen));
  host_.service->process(host_.now());
}

// "20 run 2000": so many jobs of one CPU begin at once, and end so many seconds later. "20 wait".
void DaemonStage::many(const Words& words) {
  const std::int64_t length = words.at(1) == "run" ? seconds_in(words.at(2)) : 0;
  protocol::Observations begun;
  protocol::Observations over;
  for (std::int64_t left = number_in(words.at(0)); left > 0; --left) {
    const Job job{.id = ++last_job_, .cpus = 1, .start = host_.now().value};
    begun.jobs.push_back(length > 0 ? running(job) : waiting(job));
    over.jobs.push_back(ended(job, job.start + length));
  }
  send(std::move(begun));
  host_.service->process(host_.now());
  if (length == 0) return;
  host_.clock.pass(length);
  send(std::move(over));
  host_.service->process(host_.now());
}

// "begins", "ends", or a whole one, of both nodes if it says nothing of nodes.
void DaemonStage::snapshot(const Words& words) {
  const std::string what = joined(words, " ");
  if (what != "ends") send(protocol::SnapshotBegin{});
  if (what != "begins" && what != "ends") {
    protocol::Observations all = observations(words);
    if (all.nodes.empty()) all.nodes = {node_record("n1"), node_record("n2")};
    send(std::move(all));
  }
  if (what != "begins") send(protocol::SnapshotEnd{});
  host_.service->process(host_.now());
}

void DaemonStage::add_commands_of_files() {
  add("disk", [](const Words& words) {
    fill_disk(words.at(0) == "full");
    return "";
  });
  add("crash", [this](const Words& words) {
    crash(words);
    return "";
  });
  add("back", [this](const Words& words) {
    back_up(words);
    return "";
  });
  add("restore", [this](const Words& words) {
    restore(words);
    return "";
  });
  add("rename", [this](const Words& words) {
    fs::rename(host_.directory / words.at(0), host_.directory / words.at(1));
    return "";
  });
  add("remove", [this](const Words& words) {
    for (const std::string& name : words) fs::remove(host_.directory / name);
    return "";
  });
  add("there", [this](const Words& words) { return fs::exists(host_.directory / words.at(0)) ? "yes" : "no"; });
  add("saving", [this](const Words&) { return host_.service->books().is_saving_checkpoint() ? "yes" : "no"; });
  add("audit", [this](const Words&) {
    std::vector<std::string> checks;
    for (const ledger::Finding& finding : must(ledger::audit(host_.service->books().ledger())).findings)
      checks.push_back(finding.check);
    return checks.empty() ? "clean" : joined(checks, "; ");
  });
}

// "up COPY", "up COPY of LEDGER"
void DaemonStage::back_up(const Words& words) {
  const fs::path from = words.size() > 2 ? host_.directory / words.at(3) : host_.site.configuration.ledger;
  must(ledger::back_up(from, host_.directory / words.at(1), ledger::Overwrite::yes));
}

// "NAME", or "NAME as OTHER": another ledger, which shapleyd uses from then on. It is started.
void DaemonStage::restore(const Words& words) {
  const fs::path copy = host_.directory / words.at(0);
  host_.kill();
  if (words.size() > 1) host_.site.configuration.ledger = host_.directory / words.at(2);
  ledger::BackupResult result;
  must(ledger::restore(copy, host_.site.configuration.ledger, Instant{host_.clock.wall()}, result));
  host_.start();
}

// The files as they are now, as a kill leaves them, become those of the next start. "and a bit of the log flips".
void DaemonStage::crash(const Words& words) {
  Rng unused(1);  // the disk keeps everything that was written
  host_.die(unused);
  if (!words.empty()) flip_a_bit(ledger("-wal"), 0.5);
  host_.start();
}

void DaemonStage::add_questions() {
  add("runs", [this](const Words&) { return booked("run"); });
  add("waits", [this](const Words&) { return booked("wait"); });
  add("lost_runs", [this](const Words&) { return std::to_string(host_.service->intake().lost_runs()); });
  add("resolved", [this](const Words&) {
    return rows(
        "SELECT payload ->> 'placement', 'since', at, payload ->> 'nodes' FROM events "
        "WHERE kind = 'placement_resolved' ORDER BY seq");
  });
  add("residual", [this](const Words&) {
    return rows(
        "SELECT at, payload ->> 'seconds', payload ->> 'runs' FROM events "
        "WHERE kind = 'residual_measured' ORDER BY seq");
  });
  add("gaps", [this](const Words&) {
    std::vector<std::string> texts;
    for (const BookedGap& gap : host_.gaps())
      texts.push_back(std::to_string(gap.begin) + '-' + std::to_string(gap.end) + ' ' + gap.cause);
    return or_nothing(joined(texts, "; "));
  });
  add("periods",
      [this](const Words&) { return std::to_string(host_.service->books().state().closed_periods().size()); });
  add("events", [this](const Words&) { return new_events(); });
  add("ranks", [this](const Words&) { return joined(host_.service->ranks().organizations, " "); });
  add("levels", [this](const Words&) {
    std::vector<std::string> levels;
    for (const protocol::JobLevel& job : host_.service->workflows().levels().jobs)
      levels.push_back(std::to_string(job.job_id) + ':' + std::to_string(job.level));
    return or_nothing(joined(levels, " "));
  });
  add("acknowledged", [this](const Words&) {
    const std::uint64_t last = host_.service->acknowledged(instance_);
    return std::to_string(last) + (last == sequence_ ? ", all" : "");
  });
  add("kept", [this](const Words&) { return std::to_string(slurmctld_.unacknowledged()); });
  add("lost", [this](const Words&) { return host_.service->books().lost() ? "yes" : "no"; });
  add("failures", [this](const Words&) {
    std::vector<std::string> names;
    for (const auto& [name, why] : host_.service->failures()) names.push_back(name);
    return or_nothing(joined(names, " "));
  });
  add("capacity", [this](const Words& words) {
    std::vector<std::string> of_nodes;
    for (const std::string& name : words)
      of_nodes.push_back(std::to_string(
          host_.service->books().state().capacity(name).value_or(ProcessorMillionths{0}).value / k_micro));
    return joined(of_nodes, " ");
  });
  add("status", [this](const Words& words) { return asked(R"({"request":"status"})", words); });
  add("ask", [this](const Words& words) {
    const std::string all = joined(words, " ");
    const std::size_t end = all.rfind('}') + 1;
    return asked(all.substr(0, end), words_of(all.substr(end)));
  });
  add("sql", [this](const Words& words) { return rows(with_instants(joined(words, " "))); });
}

void DaemonStage::add_corrections() {
  add("attribute", [this](const Words& words) {
    return asked(R"({"request":"adjust","reason":"a typo","attribute":{"job":)" + words.at(0) + R"(,"into":")" +
                     words.at(1) + R"("}})",
                 {"error/code", "adjustment/number", "core_hours"});
  });
  add("reverse", [this](const Words& words) {
    return asked(R"({"request":"adjust","reason":"it was none","reverse":)" + words.at(0) + "}",
                 {"error/code", "adjustment/number"});
  });
}

std::string DaemonStage::rows(const std::string& sql) const {
  std::vector<std::string> rows;
  for (const auto& row : host_.query(sql)) {
    std::vector<std::string> cells;
    for (const std::string& cell : row) cells.push_back(in_seconds_of_scene(cell));
    rows.push_back(joined(cells, " "));
  }
  return or_nothing(joined(rows, "; "));
}

std::string DaemonStage::new_events() {
  std::vector<std::string> kinds;
  for (const auto& row : host_.query("SELECT kind, count(*) FROM events WHERE seq > " + std::to_string(known_events_) +
                                     " GROUP BY kind ORDER BY min(seq)"))
    kinds.push_back(row[0] + (row[1] == "1" ? "" : " " + row[1]));
  known_events_ = host_.service->books().last_sequence();
  return or_nothing(joined(kinds, ", "));
}

std::string DaemonStage::booked(const std::string& kind) const {
  std::vector<std::string> texts;
  for (const Booked& each : host_.booked(kind))
    texts.push_back(each.text() + (kind == "wait" ? " for " + each.processors : ""));
  return or_nothing(joined(texts, "; "));
}

// The members at these pointers ("daemon/gaps/count"), or all of the answer.
std::string DaemonStage::asked(const std::string& request, const Words& pointers) const {
  const json answer = in_seconds_of_scene(host_.ask(with_instants(request)));
  if (pointers.empty()) return answer.dump();
  std::vector<std::string> values;
  for (const std::string& pointer : pointers) {
    const json::json_pointer at("/" + pointer);
    values.push_back(answer.contains(at) ? text_of(answer.at(at)) : "absent");
  }
  return joined(values, "; ");
}

}  // namespace shapley::daemon
