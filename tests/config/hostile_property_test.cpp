// Whatever the bytes: an answer, and every fault with words and a line of the file.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "config/configuration.hpp"

namespace shapley::config {
namespace {

void check_answer(const std::string& yaml) {
  const auto configuration = parse(yaml);
  if (configuration) {
    RC_ASSERT(!configuration->organizations.empty());
    return;
  }
  RC_ASSERT(!configuration.error().empty());
  const auto last_line = std::count(yaml.begin(), yaml.end(), '\n') + 1;
  for (const Fault& fault : configuration.error()) {
    RC_ASSERT(!fault.what.empty());
    RC_ASSERT(!fault.remedy.empty());
    RC_ASSERT(fault.line >= 0 && fault.line <= last_line);
  }
}

RC_GTEST_PROP(HostileFiles, OfRandomBytesAreAnswered, ()) {
  check_answer(*rc::gen::arbitrary<std::string>());
}

// Pieces of YAML and of our own file in any order.
RC_GTEST_PROP(HostileFiles, OfRandomPiecesAreAnswered, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "\n", "\n", "\n  ", "\n    - ", "\n  - ", " ", "\t", ":", ": ", "[", "]", "{", "}", ",", "'", "\"", "#", "|\n",
      ">\n", "&a ", "*a", "!!str ", "? ", "---\n", "...\n", "~", "%", "organizations:", "name: a", "nodes: ", "n[1-4]",
      "share: 1/3", "from: 2026-01-01", "accounts: ", "weights: ", "cpu: 1", "ledger: /x", "\xff", "ä"));
  std::string yaml;
  for (const std::string& piece : pieces) yaml += piece;
  check_answer(yaml);
}

// A good file with one byte changed, as a slip of the editor leaves it.
RC_GTEST_PROP(HostileFiles, WithOneWrongByteAreAnswered, ()) {
  std::string yaml = R"(ledger: "/var/lib/shapley/ledger.db"
weights: {cpu: 1, gres/gpu: 32}
organizations:
  - name: physics
    accounts: [physics, 'astro']
    nodes:
      - n[1-4]
      - {nodes: "gpu[1-2]", share: 1/3, from: 2026-01-01, until: 2030-01-01}
  - name: biology
    accounts: &x [biology]
    nodes: []
)";
  RC_ASSERT(parse(yaml).has_value());
  yaml[*rc::gen::inRange<std::size_t>(0, yaml.size())] = *rc::gen::arbitrary<char>();
  check_answer(yaml);
}

}  // namespace
}  // namespace shapley::config
