// What the calculator's tests share: the times that are asked for, the program, and two clusters.
#pragma once

#include <array>
#include <cstdint>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "calculator_books.hpp"
#include "calculator_reader.hpp"
#include "program.hpp"

namespace shapley::ctl {

// What is asked for.
struct Span {
  const char* arguments;
  Instant since, until;
};
inline constexpr std::array k_spans{Span{"--month 2023-08", k_august, k_september},
                                    Span{"-S 2023-07-01 -E 2023-10-01", k_books_begin, k_october},
                                    Span{"-S 2023-01-01 -E 2024-01-01", k_books_begin, k_books_end}};

class Calculator : public testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name) const { return (directory.path() / name).string(); }
  [[nodiscard]] std::string shown(const std::string& arguments) const {
    return ends(ExitCode::success, run_shapleyctl(directory.path(), arguments)).out;
  }
  [[nodiscard]] std::string page(const std::string& arguments, const std::string& out) const {
    (void)shown("report --no-audit --no-charts --users -o " + file(out) + ' ' + arguments);
    return content_of(file(out + "/index.html"));
  }

  // The tree of the accounts.
  [[nodiscard]] std::string tree() const {
    std::ofstream(file("tree")) << "root|\n";
    for (const char* name : {"org0", "org1", "org2", "org3", "guests"})
      std::ofstream(file("tree"), std::ios::app) << name << "|root\n" << name << "_lab|" << name << '\n';
    return file("tree");
  }

  ledger::testing::TemporaryDirectory directory;
};

// The sums of the rows of a CSV by organization: those with this item.
inline ByName exact_of(const Rows& rows, const std::string& item) {
  ByName amounts;
  for (const auto& row : rows) {
    if (row.at("item") != item) continue;
    const std::int64_t micro = static_cast<std::int64_t>(*parse_micro(row.at("exact")));
    amounts[row.at("organization")] += micro;
    EXPECT_NEAR(std::stod(row.at(row.contains("core_hours") ? "core_hours" : "billing_hours")),
                static_cast<double>(micro) / 3.6e9, 1e-6);
  }
  return amounts;
}

inline void expect_same(const ByName& seen, const ByName& exact, const std::string& what) {
  for (const ByName* names : {&seen, &exact}) {
    for (const auto& [name, amount] : *names)
      EXPECT_TRUE(amount_by(seen, name) == amount_by(exact, name)) << what << ' ' << name;
  }
}

// Two clusters, whose processors are worth 2 and 1; org1 is called partner on the second.
struct TwoClusters {
  std::array<CalculatorSite, 2> sites;

  [[nodiscard]] static std::string name_in_south(const std::string& name) { return name == "org1" ? "partner" : name; }

  void write(const std::string& north, const std::string& south) const {
    using namespace accounting;
    ConsortiumDeclared declared{k_books_begin, "uni", 2 * k_whole_weight, {}};
    declared.clusters.push_back({.cluster = "south",
                                 .weight = k_whole_weight,
                                 .key = "SHA256:" + std::string(64, '1'),
                                 .names = {{"org1", "partner"}}});
    sites[0].write(north, [](const std::string& own) { return own; },
                   {ClusterNamed{k_books_begin, "north", "uid 0", ""}, declared});
    sites[1].write(
        south, name_in_south,
        {ClusterNamed{k_books_begin, "south", "uid 0", ""}, ConsortiumDeclared{k_books_begin, "", k_whole_weight, {}}});
  }
};

}  // namespace shapley::ctl
