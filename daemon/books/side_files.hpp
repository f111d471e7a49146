// Small files beside the ledger, LEDGER.SUFFIX, for values that are not facts of the books, and so not events, but have
// to outlive the process. Each file contains one value as JSON. A file that is missing or malformed has no value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/description.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/books/trusted_clock.hpp"
#include "protocol/messages.hpp"
#include "protocol/self_report.hpp"

namespace shapley::protocol {

SHAPLEY_DESCRIBE(PrivilegedUser, user_id, is_operator, accounts);
SHAPLEY_DESCRIBE(Privacy, jobs, usage, users);

}  // namespace shapley::protocol

namespace shapley::daemon {

SHAPLEY_DESCRIBE(ClockDoubt, since, ahead, is_exact, is_witnessed);

// The last backup, audit and papers of a month that shapleyctl reported, because a process that makes a backup or
// audits a copy may not be able to write in the ledger's directory. A report names the last event that was copied or
// checked, with its hash; one about another ledger, or a forged one, is refused (requests/orders.cpp).
struct Upkeep {
  static constexpr const char* k_suffix = ".upkeep";
  static constexpr const char* k_task = "keep when backups and audits were";
  using Backup = protocol::LastBackup;
  using Audit = protocol::LastAudit;
  using Papers = protocol::LastPapers;
  std::optional<Backup> backup;
  std::optional<Audit> audit;
  std::optional<Papers> papers = {};
  friend bool operator==(const Upkeep&, const Upkeep&) = default;
};
SHAPLEY_DESCRIBE(Upkeep, backup, audit, (supplement, papers));

// The plugin's last report of PrivateData, so that a daemon that starts before slurmctld, or whose slurmctld is away,
// continues to hide private data.
struct KeptPrivacy {
  static constexpr const char* k_suffix = ".privacy";
  static constexpr const char* k_task = "keep what is private";
  Instant told_at;  // since when this has been in force
  protocol::Privacy privacy;
  friend bool operator==(const KeptPrivacy&, const KeptPrivacy&) = default;
};
SHAPLEY_DESCRIBE(KeptPrivacy, told_at, privacy);

// A job's start that a wrong clock put into the future.
struct WrongStart {
  std::uint32_t job = 0;
  Instant at;
  friend bool operator==(const WrongStart&, const WrongStart&) = default;
};
SHAPLEY_DESCRIBE(WrongStart, job, at);

// The offset of the trusted time from the time since boot, the boot, and the doubt about the wall clock, so that
// shapleyd does not believe a wrong wall clock after a restart. The offset is valid only within the same boot.
struct KeptClock {
  static constexpr const char* k_suffix = ".clock";
  static constexpr const char* k_task = "keep the clock";
  std::string boot;
  Duration offset;  // TrustedClock::offset()
  // Kept until the messages of the wrong clock are dropped: in any boot they are not to be read.
  std::optional<TrustedClock::Doubt> doubt;
  std::vector<WrongStart> wrong_starts = {};  // Intake::wrong_starts(), in any boot
};
SHAPLEY_DESCRIBE(KeptClock, boot, offset, doubt, (supplement, wrong_starts));

// The approximate instant until which a feeder scanned: shapleyd may end together with slurmctld, and on a quiet
// cluster there is no other record of this.
struct KeptLook {
  static constexpr const char* k_suffix = ".look";
  static constexpr const char* k_task = "keep when slurmctld was seen";
  Instant until = k_beginning_of_time;
};
SHAPLEY_DESCRIBE(KeptLook, until);

// The feeder that was admitted last: after a restart of shapleyd a second slurmctld of the same ClusterName may come
// first (cluster_name.hpp). Members of protocol::Hello.
struct KeptFeeder {
  static constexpr const char* k_suffix = ".feeder";
  static constexpr const char* k_task = "keep whose feeder was admitted";
  std::string state_location;
  std::string state_location_id;
  friend bool operator==(const KeptFeeder&, const KeptFeeder&) = default;
};
SHAPLEY_DESCRIBE(KeptFeeder, state_location, state_location_id);

template <typename Value>
class SideFile {
 public:
  // Reads the file of this ledger, at most k_max_document bytes.
  explicit SideFile(const std::filesystem::path& ledger);

  [[nodiscard]] static std::filesystem::path path_of(const std::filesystem::path& ledger) {
    return ledger.string() + Value::k_suffix;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const std::optional<Value>& value() const { return value_; }
  // Sets the value. Then write() has to be called, and repeated while it fails.
  void set(Value value) {
    value_ = std::move(value);
    is_written_ = false;
  }
  // Replaces the file atomically, with mode 0600, unless it has the value already. Errc::io, Errc::no_space.
  [[nodiscard]] Expected<void> write();

 private:
  std::filesystem::path path_;
  std::optional<Value> value_;
  bool is_written_ = true;
};

extern template class SideFile<Upkeep>;
extern template class SideFile<KeptPrivacy>;
extern template class SideFile<KeptClock>;
extern template class SideFile<KeptLook>;
extern template class SideFile<KeptFeeder>;

}  // namespace shapley::daemon
