// Every key that the configuration file may hold, as pages describe it.
//
// The texts are those of the rows by which the file is read (rows.hpp): the manual page is made of them, the table of
// docs/reference/configuration.md is written from them, and the comments of the example are tested against them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace shapley::config {

// Where shapleyd and shapleyctl look for the file.
inline constexpr std::string_view k_default_file = "/etc/shapley/shapleyd.yaml";

struct Key {
  std::string_view name;
  // What may be written; the value that holds if the key is missing, `in quotes` when it could be written; and what the
  // key is for.
  std::string type;
  std::string fallback;
  std::string meaning;
};

inline constexpr std::string_view k_required = "required";

// The keys of one table of the file.
struct KeyTable {
  std::string_view within;   // what stands before their names on the reference page: "workflows: "
  std::string_view heading;  // on the manual page; empty: the file's top level
  std::vector<Key> keys;
};

// In the order of the reference page.
[[nodiscard]] std::vector<KeyTable> key_tables();

// Keys that releases before had at the file's top level: why there is none any more, and what to write instead.
struct FormerKey {
  std::string_view name;
  std::string_view why;
  std::string_view remedy;
};
inline constexpr auto k_former_keys = std::to_array<FormerKey>({
    {"horizon", "ranks do not look a fixed time ahead any more",
     "leave it out; what horizon: 0 was is rule: published"},
    {"running_weight", "what runs counts in full, by the rule that brakes", "leave it out"},
    {"shapley_rate", "there is no such estimator any more", "leave it out"},
});

}  // namespace shapley::config
