#include "records.hpp"

namespace shapley::daemon {

config::OrganizationConfig organization(const std::string& name, const std::string& account, const std::string& node) {
  config::OrganizationConfig o;
  o.name = name;
  o.rules = {{RuleKind::account, account, 0}};
  config::NodeClaim claim;
  claim.nodes = {node};
  o.nodes = {claim};
  return o;
}

Site site_in(const TempDirectory& directory) {
  Site site;
  site.configuration.ledger = directory / "ledger.db";
  site.configuration.socket = directory / "sock";
  site.configuration.slurm_user = "root";
  site.configuration.organizations = {organization("physics", "phys", "n1"), organization("chemistry", "chem", "n2")};
  site.rules = {{"physics", RuleKind::account, "phys", 0}, {"chemistry", RuleKind::account, "chem", 0}};
  site.text = "two organizations";
  return site;
}

std::string yaml_in(const TempDirectory& directory) {
  return "ledger: " + (directory / "ledger.db").string() + "\nsocket: " + (directory / "sock").string() +
         "\nslurm_user: root\norganizations:\n  - name: physics\n    accounts: [phys]\n    nodes: [n1]\n"
         "  - name: chemistry\n    accounts: [chem]\n    nodes: [n2]\n";
}

protocol::Hello feeder_hello(std::uint64_t instance) {
  protocol::Hello hello;
  hello.role = protocol::Role::feeder;
  hello.program = "test feeder";
  hello.cluster = "box";
  hello.slurm_version = "22.05.8";
  hello.instance = instance;
  hello.interval_ms = 1000;
  hello.min_job_age_s = 300;
  return hello;
}

protocol::NodeRecord node_record(const std::string& name) {
  return {.name = name, .cpus = 8, .usable = true, .tres = {{"cpu", 8}}};
}

protocol::JobUpdate running(const Job& job) {
  protocol::JobUpdate r = waiting(job);
  r.state = protocol::JobState::running;
  r.slurm_state = "RUNNING";
  r.start_time = job.start;
  r.nodes = {{job.node, job.cpus}};
  return r;
}

protocol::JobUpdate ended(const Job& job, std::int64_t end) {
  protocol::JobUpdate r = running(job);
  r.state = protocol::JobState::ended;
  r.slurm_state = "COMPLETED";
  r.end_time = end;
  return r;
}

protocol::JobUpdate waiting(const Job& job) {
  protocol::JobUpdate r;
  r.job_id = job.id;
  r.account = job.account;
  r.user_id = 1000;
  r.partition = "batch";
  r.slurm_state = "PENDING";
  r.submit_time = job.start;
  r.eligible_time = job.start;
  r.requested_cpus = job.cpus;
  r.tres = {{"cpu", job.cpus}};
  return r;
}

}  // namespace shapley::daemon
