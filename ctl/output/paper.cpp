#include "ctl/output/paper.hpp"

#include <algorithm>

#include "base/contract.hpp"

namespace shapley::ctl {

namespace {

using ledger::AccountReport;
using ledger::AccountRow;
using ledger::Amount;
using ledger::k_core_hour;

Int128 magnitude(Int128 value) {
  return value < 0 ? -value : value;
}

CpuTime largest_amount_of(const AccountReport& report) {
  Int128 largest = 0;
  const auto see = [&](const Amount& amount) { largest = std::max(largest, magnitude(amount.work.value)); };
  for (const ledger::PeriodPart& part : report.periods) {
    for (const ledger::PeriodRow& row : part.organizations)
      for (const Amount& amount : {row.opening.difference, row.given, row.got, row.settled, row.closing.difference})
        see(amount);
  }
  for (const AccountRow& row : report.organizations) see(row.got);
  return {largest};
}

std::vector<CpuTime> works_of(const std::vector<ledger::LentPair>& pairs) {
  std::vector<CpuTime> works;
  for (const ledger::LentPair& pair : pairs) works.push_back(pair.work);
  return works;
}

}  // namespace

std::string signed_unit_text(Units units, int decimals) {
  return (units > 0 ? "+" : "") + unit_text(units, decimals);
}

PaperAmounts::PaperAmounts(CpuTime largest)
    : decimals_(magnitude(largest.value) >= 100 * k_core_hour ? 1
                : magnitude(largest.value) >= k_core_hour     ? 2
                                                              : k_most_decimals) {}

PaperAmounts::PaperAmounts(const AccountReport& report, CpuTime others)
    : PaperAmounts(CpuTime{std::max(largest_amount_of(report).value, magnitude(others.value))}) {}

PaperAmounts PaperAmounts::with_decimals(int decimals) {
  SHAPLEY_REQUIRE(decimals >= 1 && decimals <= k_most_decimals);
  PaperAmounts amounts;
  amounts.decimals_ = decimals;
  return amounts;
}

Units PaperAmounts::nearest(CpuTime work) const {
  return ledger::core_hour_units(work, decimals_);
}

Units PaperAmounts::left_over(std::span<const CpuTime> amounts) const {
  CpuTime sum;
  Units printed = 0;
  for (const CpuTime amount : amounts) {
    sum += amount;
    printed += nearest(amount);
  }
  return nearest(sum) - printed;
}

void ColumnSums::add(std::span<const Units> line) {
  added_.resize(std::max(added_.size(), line.size()));
  for (std::size_t i = 0; i < line.size(); ++i) added_[i] += line[i];
}

std::vector<Units> ColumnSums::rest(std::span<const Units> sum) const {
  std::vector<Units> rest(sum.begin(), sum.end());
  for (std::size_t i = 0; i < std::min(rest.size(), added_.size()); ++i) rest[i] -= added_[i];
  return rest;
}

void AmountRows::push(nlohmann::json words, std::span<const Units> line, bool is_rest) {
  SHAPLEY_REQUIRE(line.size() == fields_.size());
  has_.resize(fields_.size());
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const bool is_signed = is_rest || fields_[i].is_signed;
    words[std::string(fields_[i].name)] = is_signed ? amounts_.signed_text(line[i]) : amounts_.text(line[i]);
    has_[i] = has_[i] || line[i] != 0;
  }
  rows_.push_back(std::move(words));
}

void AmountRows::add(nlohmann::json words, std::span<const Units> line) {
  push(std::move(words), line, false);
  sums_.add(line);
  ++lines_;
}

void AmountRows::note_rest(nlohmann::json words, std::span<const Units> rest) {
  if (std::ranges::any_of(rest, [](Units units) { return units != 0; })) push(std::move(words), rest, true);
}

void AmountRows::add_rest(nlohmann::json words, std::span<const Units> rest) {
  note_rest(std::move(words), rest);
  sums_.add(rest);
}

void AmountRows::finish(const nlohmann::json& rest_words, const nlohmann::json& sum_words, std::span<const Units> sum) {
  if (lines_ < 2) return;
  note_rest(rest_words, sums_.rest(sum));
  push(sum_words, sum, false);
}

bool AmountRows::has(std::string_view field) const {
  const auto found = std::ranges::find(fields_, field, &AmountField::name);
  const auto column = static_cast<std::size_t>(found - fields_.begin());
  return column < has_.size() && has_[column];
}

std::vector<PairsLeftOver> pairs_left_over(const AccountReport& report, const PaperAmounts& amounts) {
  std::vector<PairsLeftOver> rests;
  for (const AccountRow& row : report.organizations) {
    rests.push_back(
        {.lent = amounts.left_over(works_of(row.lent_to)), .borrowed = amounts.left_over(works_of(row.borrowed_from))});
  }
  return rests;
}

}  // namespace shapley::ctl
