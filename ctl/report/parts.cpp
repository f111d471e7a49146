#include "ctl/report/parts.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <sstream>

#include "base/json.hpp"
#include "ctl/commands/audit.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/chain/hash_chain.hpp"
#include "tables/instants.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

const char* verdict_of(const Examination& examination) {
  if (!examination.report.clean()) return "NOT correct";
  if (examination.is_empty()) return "Nothing was compared";
  return examination.report.unchecked.empty() ? "Correct to the last unit"
                                              : "What was checked is correct to the last unit";
}

json values_of(const Examination& examination) {
  json findings = json::array();
  for (const ledger::Finding& finding : examination.report.findings)
    findings.push_back({{"check", finding.check}, {"what", finding.what}});
  return {{"subject", examination.kind == ExaminationKind::consortium
                          ? "statements of other clusters"
                          : std::filesystem::path(examination.subject).filename().native()},
          {"checked", what_was_checked(examination)},
          {"verdict", verdict_of(examination)},
          {"findings", std::move(findings)},
          {"missing", examination.report.missing},
          {"unchecked", examination.report.unchecked},
          {"notes", examination.report.notes}};
}

json values_of(const Examined& audit) {
  json examinations = json::array();
  for (const Examination& examination : audit.examinations) examinations.push_back(values_of(examination));
  return {{"examinations", std::move(examinations)},
          {"missing", audit.missing ? json(ledger::described(*audit.missing)) : json()},
          {"sequence", audit.head.sequence},
          {"hash", ledger::to_hex(audit.head.hash)}};
}

}  // namespace

std::vector<std::string> text_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string time_in_words(const ledger::IntervalHeading& of) {
  return tables::date_in_words(of.since) + " to " + tables::date_in_words(of.until);
}

json values_of(const Sheet& sheet) {
  return sheet_values(sheet.table, sheet.file, sheet.values);
}

json values_of_balances(const std::vector<Sheet>& sheets, const ledger::AmountUnit& in) {
  if (sheets.empty()) return nullptr;
  json each = json::array();
  for (const Sheet& sheet : sheets) {
    json values = values_of(sheet);
    values["name"] = sheet.table.name;
    values["note"] = sheet.file == k_invoice_file
                         ? json("Balances at the rate, in money per hour: + is to be paid to it, - by it.")
                         : json();
    each.push_back(std::move(values));
  }
  return {{"unit", in.in_full()}, {"each", std::move(each)}};
}

json values_of(const std::optional<charts::Figure>& figure, const Sheet& sheet) {
  return {{"figure", json_of(figure)}, {"sheet", values_of(sheet)}};
}

json values_of(const Proof& proof) {
  return {{"audit", proof.audit ? values_of(*proof.audit) : json()}, {"no_audit", proof.no_audit}};
}

charts::Figure note_alone(const std::string& text) {
  return {.notes = {text}};
}

std::vector<std::size_t> largest_of(const std::vector<double>& amounts, std::size_t most) {
  std::vector<std::size_t> chosen(amounts.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = i;
  std::ranges::stable_sort(chosen, std::greater{}, [&](std::size_t i) { return amounts[i]; });
  if (chosen.size() > most) chosen.resize(most);
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace shapley::ctl
