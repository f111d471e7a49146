// What is said of the configuration's keys elsewhere, held against the table of common/config/keys.hpp.
#pragma once

#include <string>
#include <vector>

#include "config/keys.hpp"

namespace shapley::config::testing {

// Copies, so that a test can plant a difference.
struct KeyTable {
  std::vector<Key> file;
  std::vector<Key> workflow;
  std::vector<Key> organization;
  std::vector<Key> claim;
};
[[nodiscard]] KeyTable key_table();

struct Documents {
  std::string page;     // docs/reference/configuration.md
  std::string manual;   // packaging/man/shapleyd.yaml.5
  std::string example;  // etc/shapleyd.yaml
};
[[nodiscard]] Documents documents();

struct Difference {
  std::string subject;  // "page: stale_after"; also "manual: ", "example: " and "parser: "
  std::string what;
};

// The parser differs where a default that is written out means something else than one that is left out, or where it
// allows other words.
[[nodiscard]] std::vector<Difference> differences(const KeyTable& table, const Documents& documents);

}  // namespace shapley::config::testing
