#include "ctl/report/parts.hpp"

#include <algorithm>
#include <functional>

#include "charts/html.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/chain/hash_chain.hpp"

namespace shapley::ctl {

using charts::html;
using charts::Shape;

namespace {

const char* verdict_of(const Examination& examination) {
  if (!examination.report.clean()) return "NOT correct";
  return examination.is_empty() ? "Nothing was compared" : "Correct to the last unit";
}

std::string examination_html(const Examination& examination) {
  const ledger::AuditReport& audit = examination.report;
  const std::string subject = examination.kind == ExaminationKind::consortium
                                  ? "statements of other clusters"
                                  : std::filesystem::path(examination.subject).filename().native();
  std::string text = "<li>" + html(subject + ": " + what_was_checked(examination)) + ". <strong>" +
                     verdict_of(examination) + "</strong>\n<ul>\n";
  for (const ledger::Finding& finding : audit.findings)
    text += "<li class=\"bad\">" + html(finding.check + ": " + finding.what) + "</li>\n";
  for (const std::string& missing : audit.missing) text += item("Missing: " + missing);
  for (const std::string& note : audit.notes) text += item(note);
  return text + "</ul></li>\n";
}

}  // namespace

std::string paragraph(const std::string& text) {
  return "<p>" + html(text) + "</p>\n";
}

std::string item(const std::string& text) {
  return "<li>" + html(text) + "</li>\n";
}

std::string note(const std::string& text) {
  return "<p class=\"soft\">" + html(text) + "</p>\n";
}

std::string sheet_html(const Sheet& sheet) {
  return charts::table_html(sheet.table) +
         charts::download_html(sheet.file, csv_text(sheet.values), "Save as " + sheet.file + " (exact values)");
}

Expected<std::string> both_shapes(const std::string& label, const DrawShape& draw) {
  std::string drawn[2];
  for (const Shape shape : {Shape::wide, Shape::narrow}) {
    SHAPLEY_TRY_ASSIGN(drawn[shape == Shape::wide ? 0 : 1],
                       charts::inline_svg([&](const std::filesystem::path& file) { return draw(file, shape); }, label));
  }
  return charts::figure_html(drawn[0], drawn[1]);
}

std::vector<std::size_t> largest_of(const std::vector<double>& amounts, std::size_t most) {
  std::vector<std::size_t> chosen(amounts.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = i;
  std::ranges::stable_sort(chosen, std::greater{}, [&](std::size_t i) { return amounts[i]; });
  if (chosen.size() > most) chosen.resize(most);
  std::ranges::sort(chosen);
  return chosen;
}

std::string audit_html(const Examined& audit) {
  std::string text = "<ul>\n";
  for (const Examination& examination : audit.examinations) text += examination_html(examination);
  text += "</ul>\n";
  if (audit.missing)
    text += paragraph("Missing: " + ledger::described(*audit.missing) + "; what is before it was not audited.");
  return text + "<h3>Head of the chain</h3>\n" +
         paragraph("Event " + std::to_string(audit.head.sequence) +
                   ", the last one when the audit began; its hash, which depends on every event before it:") +
         "<pre>" + html(ledger::to_hex(audit.head.hash)) + "</pre>\n";
}

}  // namespace shapley::ctl
