// Writes seeds of the binary formats, by the project's own writers: make_seeds CORPUS_FOLDER.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "accounting/state/state.hpp"
#include "ledger/encoding/event_json.hpp"
#include "plugin/client/spool/spool.hpp"
#include "protocol/codec.hpp"

namespace {

using namespace shapley;
using namespace shapley::accounting;
namespace protocol = shapley::protocol;

std::filesystem::path folder;

void write(const std::string& target, const std::string& name, const std::string& bytes) {
  std::filesystem::create_directories(folder / target);
  std::ofstream(folder / target / name, std::ios::binary) << bytes;
}

protocol::JobUpdate job(std::uint32_t id, protocol::JobState state, std::string word) {
  protocol::JobUpdate r;
  r.job_id = id;
  r.state = state;
  r.slurm_state = std::move(word);
  r.user_id = 1000;
  r.group_id = 100;
  r.account = "phys";
  r.account_ancestors = {"science", "root"};
  r.partition = "batch";
  r.qos = "normal";
  r.name = "wrap";
  r.submit_time = 1'700'000'000;
  r.eligible_time = 1'700'000'000;
  r.requested_cpus = 4;
  r.tres = {{"cpu", 4}, {"mem", 4096}};
  if (state == protocol::JobState::pending) {
    r.requested_nodes = 2;
    r.requested_memory = 4096;
    r.exclusive = id == 2;
    r.requested_gres = {{"gres/gpu", 3}};
    return r;
  }
  r.start_time = 1'700'000'010;
  r.nodes = {{"n1", 2, 2048, {{"gres/gpu", 1}}}, {"n2", 2, 2048, {{"gres/gpu", 2}, {"gres/shard", 4}}}};
  if (state == protocol::JobState::ended) r.end_time = 1'700'000'100;
  if (state == protocol::JobState::suspended) {
    r.suspend_time = 1'700'000'050;
    r.pre_suspend_run_s = 40;
  }
  return r;
}

protocol::Observations observations(std::uint64_t sequence, std::int64_t at, std::vector<protocol::JobUpdate> jobs) {
  protocol::Observations o;
  o.sequence = sequence;
  o.observed_at = at;
  o.jobs = std::move(jobs);
  return o;
}

std::vector<protocol::Observations> a_day() {
  using protocol::JobState;
  auto nodes = observations(2, 1'700'000'005, {job(1, JobState::pending, "PENDING")});
  nodes.nodes = {{"n1", 8, true, {{"cpu", 8}}, 16000, {{"gres/gpu", 4}}}, {"n2", 8, true, {{"cpu", 8}}, 16000, {}}};
  auto array = job(2, JobState::pending, "PENDING");
  array.array_job_id = 2;
  array.pending_tasks = 7;
  array.depends_on = {1};
  array.time_limit_s = 3600;
  auto requeued = job(1, JobState::pending, "PENDING");
  requeued.restart_count = 1;
  auto last = observations(6, 1'700'000'200, {requeued});
  last.gone = {2};
  last.gone_nodes = {"n2"};
  return {nodes, observations(3, 1'700'000'020, {job(1, JobState::running, "RUNNING"), array}),
          observations(4, 1'700'000'060, {job(1, JobState::suspended, "SUSPENDED")}),
          observations(5, 1'700'000'110, {job(1, JobState::ended, "COMPLETED")}), last};
}

void write_protocol() {
  protocol::Hello hello;
  hello.role = protocol::Role::feeder;
  hello.program = "priority/shapley 1.0.0";
  hello.cluster = "c";
  hello.slurm_version = "22.05.8";
  hello.instance = 1;
  const auto stream = [](const std::vector<protocol::Message>& messages) {
    std::string bytes;
    for (const auto& m : messages) bytes += protocol::encode_frame(m);
    return bytes;
  };
  const auto day = a_day();
  write("protocol", "feeder",
        '\x0f' + stream({hello, protocol::SnapshotBegin{1, 1'700'000'000}, day[0], protocol::SnapshotEnd{2, 1}}));
  auto told = observations(3, 1'700'000'010, {});
  told.privacy = {{.jobs = true, .usage = false, .users = {{1001, true, {}}, {1002, false, {"bio", "cells"}}}}};
  write("protocol", "privacy", '\xff' + stream({told}));
  write("protocol", "day", '\xff' + stream({day[1], day[2], day[3], day[4]}));
  write("protocol", "daemon",
        '\x01' + stream({protocol::Welcome{},
                         protocol::Rules{{{"physics", RuleKind::account, "phys", 0}},
                                         {Charge::weights, {{"cpu", 1}, {"gres/gpu", 32}}, {{"n1", 4}}},
                                         {{{"n1", "n2"}, {{"physics", 600'000}, {"commons", 400'000}}}}},
                         protocol::Levels{2, 1'700'000'000, {{1, 3}, {300, 15}}},
                         protocol::Ranks{3, 1'700'000'000, {"physics", "guests"}}, protocol::Ack{2},
                         protocol::Refused{"too many connections"}}));
  write("protocol", "reader",
        std::string(1, '\0') + stream({protocol::Hello{}, protocol::Query{1, R"({"request":"status"})"},
                                       protocol::Reply{1, R"({"pong":"shapleyd 1.0.0"})"}}));
  for (std::size_t i = 0; i < day.size(); ++i) write("observer", "scan" + std::to_string(i + 1), stream({day[i]}));
  write("observer", "day", stream({day[0], day[1], day[2], day[3], day[4]}));
}

void write_spools() {
  const auto day = a_day();
  const std::filesystem::path file = folder / "spool" / "frames";
  std::filesystem::create_directories(file.parent_path());
  std::filesystem::remove(file);
  client::Spool spool(file);
  if (!spool.open([](client::Spool::Place, std::string_view) { return true; })) return;
  for (const auto& o : day) (void)spool.append(std::string_view(protocol::encode_frame(o)).substr(4));
  std::ifstream in(file, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(in), {});
  write("spool", "torn", whole.substr(0, whole.size() - 9));
  std::string damaged = whole;
  damaged[90] = static_cast<char>(damaged[90] ^ 0x40);
  write("spool", "damaged", damaged);
  write("spool", "other_version", "shapley-spool 9 protocol 9\nSHPL");
}

std::vector<Event> events() {
  const SegmentKey run{SegmentKind::run, JobId{17}, Instant{1'700'000'000}, 0};
  const SegmentKey wait{SegmentKind::wait, JobId{18}, Instant{1'700'000'000}, 0};
  const ProcessorMillionths two{2 * k_micro};
  return {
      OrganizationsDeclared{Instant{1'699'999'000}, {"physics", "chemistry"}},
      PeriodDeclared{Instant{1'699'999'000}, Period::monthly},
      OwnershipStated{
          "n1",
          Instant{1'699'999'000},
          {{k_beginning_of_time, {{"physics", 600'000}, {"chemistry", 400'000}}}, {Instant{1'800'000'000}, {}}}},
      CapacityChanged{"n1", Instant{1'699'999'000}, 0, {4 * k_micro}},
      JobDescribed{JobId{17}, Instant{1'699'999'900}, "physics", 16, 3, 0, 1000, 100, "phys", "batch", "normal",
                   "a \xff name", ""},
      SegmentOpened{run, "physics", Instant{1'700'000'000}, two, {{"n1", two}}, "", Instant{1'699'999'950}, JobId{16}},
      SegmentOpened{wait, "chemistry", Instant{1'700'000'000}, two, {}},
      SegmentClosed{run, Instant{1'700'000'100}, CloseReason::ended, "COMPLETED"},
      SegmentRetracted{wait, Instant{1'700'000'200}},
      ConfigurationLoaded{Instant{1'700'000'300}, "organizations: ..."}};
}

void write_events_and_states() {
  State state;
  int number = 0;
  for (const Event& event : events()) {
    write("event_json", std::string(kind_of(event)) + std::to_string(number),
          std::string(kind_of(event)) + '\n' + ledger::encode(event));
    if (!state.apply(event)) std::abort();
    std::string saved = state.save();
    saved.resize(saved.rfind("end "));
    if (++number % 3 == 1) write("state_text", "after" + std::to_string(number), saved);
  }
  state.advance(Instant{1'705'000'000});
  std::string saved = state.save();
  saved.resize(saved.rfind("end "));
  write("state_text", "closed_periods", saved);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  folder = argv[1];
  write_protocol();
  write_spools();
  write_events_and_states();
  return 0;
}
