// `shapleyctl audit`: is the ledger correct to the last unit, by itself, against Slurm's own job records, and against
// signed heads that somebody kept?
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ctl/exit_code.hpp"
#include "ledger/audit/audit.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct AuditArguments {
  std::string ledger;    // empty: the one that the daemon keeps
  std::string archives;  // the directory; empty: near the ledger
  std::string against;   // empty: no comparison with Slurm's records
  std::string since;     // for that: only runs of this time; empty: all
  std::string until;
  std::vector<std::string> against_heads;
  std::string public_key;  // for against_heads
  bool head = false;       // only hand out a signed head (head.hpp)
  std::string sign_with;
  std::string output;
  bool json = false;
};

void add_audit(CLI::App& app, AuditArguments& arguments);

// ExitCode::findings when anything does not hold, else ExitCode::nothing_compared when no run was compared with the
// records, else ExitCode::incomplete when an archive is missing.
[[nodiscard]] Expected<ExitCode> run_audit(const AuditArguments& arguments, const Endpoint& endpoint,
                                           const Environment& environment);

enum class ExaminationKind { itself, records, heads };

// One of the examinations, for people.
struct Examination {
  std::string subject;  // the ledger's file, and the records' or heads'
  ExaminationKind kind = ExaminationKind::itself;
  ledger::AuditReport report;

  // A comparison of no run: nothing is known by it.
  [[nodiscard]] bool is_empty() const { return kind == ExaminationKind::records && report.runs_compared == 0; }
};
// "120 events, 40 segments: hash chain, ...", of one line.
[[nodiscard]] std::string what_was_checked(const Examination& examination);
[[nodiscard]] std::string render_examination(const Examination& examination);
[[nodiscard]] nlohmann::json examination_json(const Examination& examination);

}  // namespace shapley::ctl
