// The process's time zone for as long as this lives.
#pragma once

#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>

namespace shapley::testing {

class TimeZone {
 public:
  explicit TimeZone(const char* name) {
    if (const char* before = std::getenv("TZ")) before_ = before;
    ::setenv("TZ", name, 1);
    ::tzset();
  }
  ~TimeZone() {
    before_ ? ::setenv("TZ", before_->c_str(), 1) : ::unsetenv("TZ");
    ::tzset();
  }
  TimeZone(const TimeZone&) = delete;
  TimeZone& operator=(const TimeZone&) = delete;

 private:
  std::optional<std::string> before_;
};

// Central Europe's rules, whether or not this machine has the time zone data base.
inline constexpr const char* k_berlin = "CET-1CEST,M3.5.0,M10.5.0/3";

}  // namespace shapley::testing
