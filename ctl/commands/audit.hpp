// `shapleyctl audit`: checks whether the ledger is correct to the last unit, by itself, against Slurm's own job
// records, against signed heads that were kept, and against the ledgers of other clusters of its consortium.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "ctl/client.hpp"
#include "ctl/environment.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/chain/signing.hpp"
#include "ledger/file/files.hpp"
#include "ledger/replication/chain_copy.hpp"

namespace CLI {
class App;
}

namespace shapley::ctl {

struct AuditArguments {
  std::string ledger;    // empty: the one that the daemon keeps
  std::string archives;  // the directory; empty: beside the ledger
  std::string against;   // empty: no comparison with Slurm's records
  std::string since;     // with `against`: only runs of this time; empty: all
  std::string until;
  std::vector<std::string> against_heads;
  std::string public_key;                    // for against_heads
  std::vector<std::string> consortium;       // ledgers of other clusters
  bool is_for_others = false;                // what is said of them names no folders of this host
  std::vector<std::string> consortium_keys;  // their public keys
  bool head = false;                         // print a signed head instead
  std::string sign_with;
  std::string output;
  bool json = false;
};

void add_audit(CLI::App& app, AuditArguments& arguments);

// ExitCode::findings when anything does not hold, else ExitCode::nothing_compared when no run was compared with the
// records, or no statement with the consortium's ledgers, else ExitCode::incomplete when an archive is missing, or what
// a statement would be compared with.
[[nodiscard]] Expected<ExitCode> run_audit(const AuditArguments& arguments, const Endpoint& endpoint,
                                           const Environment& environment);

enum class ExaminationKind { itself, records, heads, consortium };

// One of the examinations and its report.
struct Examination {
  std::string subject;  // the ledger's file, and the records' or heads'
  ExaminationKind kind = ExaminationKind::itself;
  ledger::AuditReport report;

  // Whether no run, or no statement, was compared, so that the comparison proves nothing.
  [[nodiscard]] bool is_empty() const {
    if (kind == ExaminationKind::consortium) return report.statements == 0;
    return kind == ExaminationKind::records && report.runs_compared == 0;
  }
};
// "120 events, 40 segments: hash chain, ...", in one line.
[[nodiscard]] std::string what_was_checked(const Examination& examination);
[[nodiscard]] std::string render_examination(const Examination& examination);
[[nodiscard]] nlohmann::json examination_json(const Examination& examination);

// The examinations of an audit: the ledger itself, its archives, Slurm's records, signed heads.

struct Examined {
  std::vector<Examination> examinations;
  ledger::Position head;                       // the last event before the audit began
  std::optional<ledger::ArchiveLink> missing;  // an archive is missing
};

// The examinations of `file` and of everything else that the arguments name. Findings are no error.
[[nodiscard]] Expected<Examined> examine(const std::filesystem::path& file, const AuditArguments& arguments,
                                         const ledger::OnProgress& on_progress);

// `shapleyctl audit --head`: a signed head of the ledger, to mail or to publish.

// A signed head of `ledger`, signed with the private key `sign_with`; without a key the newest head that the file
// holds; without both the head that the daemon signs now. Errc::not_found when the file holds none, Errc::denied or
// Errc::unavailable when the daemon has no key or is away.
[[nodiscard]] Expected<ledger::SignedHead> wanted_head(const std::string& ledger, const std::string& sign_with,
                                                       const Endpoint& endpoint);

}  // namespace shapley::ctl
