// The small notations of the configuration file, as pure functions. Errors are Errc::invalid_argument and say what is
// allowed; callers add key and line.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/types.hpp"

namespace shapley::config {

// A part of a node, exactly as it was written: numerator / denominator, at least a millionth and at most 1. In lowest
// terms, the denominator at most 10^11.
struct Share {
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;

  // Rounded down.
  [[nodiscard]] std::int64_t parts_per_million() const;
  friend bool operator==(const Share&, const Share&) = default;
};

// A fraction "1/3", a percentage "33.3%" or a decimal "0.333", above 0 and at most 1.
[[nodiscard]] Expected<Share> parse_share(std::string_view text);

// As parse_share, in parts per million, rounded down, with 0 allowed: a guarantee, the weight of what runs.
[[nodiscard]] Expected<std::int64_t> parse_part(std::string_view text);

// The weight of a processor of one cluster among those of others: a decimal from 0.001 to 1000. In parts per million.
[[nodiscard]] Expected<std::int64_t> parse_weight(std::string_view text);

inline constexpr Duration k_longest_duration{365LL * 24 * 3600};
// "300" (seconds), "45s", "5m", "1h", "7d".
[[nodiscard]] Expected<Duration> parse_duration(std::string_view text, Duration least, Duration most);

inline constexpr std::int64_t k_least_memory = std::int64_t{16} << 20U;
inline constexpr std::int64_t k_most_memory = std::int64_t{1} << 40U;
// Bytes, from the least to the most that is allowed: "1073741824", "65536K", "512M", "2G", "1T".
[[nodiscard]] Expected<std::int64_t> parse_memory(std::string_view text);

struct IntegerRange {
  std::int64_t least;
  std::int64_t most;
};
// Decimal digits only.
[[nodiscard]] Expected<std::int64_t> parse_integer(std::string_view text, IntegerRange range);

// "33.3333 %" for 333333.
[[nodiscard]] std::string format_share(std::int64_t parts_per_million);

// "'staus' is no command; did you mean status?" of the first word of a command line that is no option; nullopt: there
// is no such word.
[[nodiscard]] std::optional<std::string> no_command(std::span<const std::string> words,
                                                    const std::vector<std::string>& commands);

// "'--jsno' is no option of this command; did you mean --json?" of the first long option of `words`, which no command
// took; nullopt: none of them is one.
[[nodiscard]] std::optional<std::string> no_option(std::span<const std::string> words,
                                                   const std::vector<std::string>& options);

// What is wrong with a command line that a CLI::App refused with `error`. A word where a command is expected, and an
// option that the command does not have, are named with the command or option that they may mean.
template <typename App>
[[nodiscard]] std::string fault_of(const App& app, const std::exception& error) {
  std::vector<std::string> known;
  const std::vector<const App*> all = app.get_subcommands([](const App* /*command*/) { return true; });
  if (app.get_subcommands().empty() && !all.empty()) {
    for (const App* command : all) known.push_back(command->get_name());
    if (const auto fault = no_command(app.remaining(), known)) return *fault;
  }
  std::vector<const App*> chosen{&app};
  for (const App* command : app.get_subcommands()) chosen.push_back(command);
  for (const App* command : chosen) {
    for (const auto* option : command->get_options()) {
      if (option->get_group().empty()) continue;  // hidden
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
  }
  return no_option(app.remaining(true), known).value_or(error.what());
}

// The text in quotes, on one line of a message: long texts are cut, control characters escaped.
[[nodiscard]] std::string shown(std::string_view text);

// "a, b or c" with last " or ".
[[nodiscard]] std::string join(std::span<const std::string_view> words, std::string_view last);

// "512M" for 536870912, in the form that parse_memory reads.
[[nodiscard]] std::string memory_text(std::int64_t bytes);

// For people: millionths as a decimal of at most six digits ("0.333333", "1"), and a duration in the largest unit of
// which it is a whole number ("7 days", "90 minutes", "0 seconds").
[[nodiscard]] std::string part_text(std::int64_t parts_per_million);
[[nodiscard]] std::string seconds_text(Duration duration);

// HOST:PORT, as the configuration names where to listen or connect.
struct Endpoint {
  std::string host;  // a name or an address, IPv6 without brackets
  std::uint16_t port = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// An IPv6 address is written in brackets: [::1]:7020. Errc::invalid_argument, with the remedy.
[[nodiscard]] Expected<Endpoint> parse_endpoint(std::string_view text);

}  // namespace shapley::config
