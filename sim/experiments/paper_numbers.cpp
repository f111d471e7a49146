#include "sim/experiments/paper_numbers.hpp"

namespace shapley::sim {

namespace {

struct Row {
  std::string_view policy;
  // In the order of the papers' columns: LPC-EGEE, PIK-IPLEX, SHARCNET-Whale, RICC.
  std::array<PaperNumber, 4> numbers;
};

constexpr std::array<std::string_view, 4> k_columns{"LPC-EGEE", "PIK-IPLEX", "SHARCNET-Whale", "RICC"};

constexpr std::array k_table_1{Row{"round_robin", {{{238, 353}, {6, 33}, {145, 38}, {2839, 357}}}},
                               Row{"rand", {{{8, 21}, {0.014, 0.01}, {6, 6}, {162, 187}}}},
                               Row{"direct_contr", {{{5, 11}, {0.02, 0.15}, {10, 7}, {537, 303}}}},
                               Row{"fair_share", {{{16, 25}, {0.3, 1.38}, {13, 8}, {626, 309}}}},
                               Row{"ut_fair_share", {{{16, 25}, {0.3, 1.38}, {38, 67}, {515, 284}}}},
                               Row{"curr_fair_share", {{{87, 106}, {0.3, 1.58}, {145, 80}, {1231, 243}}}}};

constexpr std::array k_table_2{Row{"round_robin", {{{4511, 6257}, {242, 1420}, {404, 1221}, {10850, 13773}}}},
                               Row{"rand", {{{562, 1670}, {1.3, 7}, {26, 158}, {771, 1479}}}},
                               Row{"direct_contr", {{{410, 1083}, {0.2, 1.4}, {60, 204}, {1808, 3397}}}},
                               Row{"fair_share", {{{575, 1404}, {2.3, 12}, {94, 307}, {2746, 4070}}}},
                               Row{"ut_fair_share", {{{888, 2101}, {1.2, 5}, {120, 344}, {4963, 6080}}}},
                               Row{"curr_fair_share", {{{1082, 2091}, {2.2, 11}, {180, 805}, {5387, 9083}}}}};

}  // namespace

std::optional<PaperNumber> paper_number(int table, std::string_view trace, std::string_view policy) {
  for (const Row& row : table == 1 ? k_table_1 : k_table_2) {
    if (row.policy != policy) continue;
    for (std::size_t column = 0; column < k_columns.size(); ++column)
      if (k_columns[column] == trace) return row.numbers[column];
  }
  return std::nullopt;
}

}  // namespace shapley::sim
