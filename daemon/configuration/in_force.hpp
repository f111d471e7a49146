// Which configuration is in force since when, and why the file was refused when it was read again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "config/configuration.hpp"

namespace shapley::daemon {

class InForce {
 public:
  struct Refusal {
    Instant at;
    std::string why;  // one line
  };

  // `text`: the file as it was read. What was refused before is of no interest any more.
  void take_over(const std::string& text, Instant at);
  // The file was read again and not taken over; what was in force stays.
  void refuse(std::string why, Instant at) { refusal_ = Refusal{at, std::move(why)}; }

  // SHA-256 of the text, 64 lower-case hexadecimal digits, as `sha256sum` prints it; empty if it cannot be computed.
  [[nodiscard]] const std::string& hash() const { return hash_; }
  [[nodiscard]] Instant loaded_at() const { return loaded_at_; }
  // Of the last reload; nullopt if it was taken over, or there was none.
  [[nodiscard]] const std::optional<Refusal>& refusal() const { return refusal_; }

 private:
  std::string hash_;
  Instant loaded_at_;
  std::optional<Refusal> refusal_;
};

// The first of `faults` with file and line, and how many more there are. REQUIRES: not empty.
[[nodiscard]] std::string one_line(const std::vector<config::Fault>& faults, const std::string& file);

}  // namespace shapley::daemon
