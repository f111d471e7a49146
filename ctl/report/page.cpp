#include "ctl/report/page.hpp"

#include <filesystem>
#include <sstream>

#include "base/calendar.hpp"
#include "charts/html.hpp"
#include "ctl/commands/interval.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/report/figures.hpp"
#include "ctl/report/sheets.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/chain/hash_chain.hpp"

namespace shapley::ctl {

namespace {

using charts::html;
using nlohmann::json;

std::string paragraph(const std::string& text) {
  return "<p>" + html(text) + "</p>\n";
}

std::string item(const std::string& text) {
  return "<li>" + html(text) + "</li>\n";
}

std::string text_of(const json& object, const char* member) {
  return object[member].is_string() ? object[member].get<std::string>() : std::string();
}

std::string sheet_html(const Sheet& sheet) {
  return charts::table_html(sheet.table) +
         charts::download_html(sheet.file, sheet.csv, "Save as " + sheet.file + " (exact values)");
}

std::string intro(const SiteReport& report) {
  const json& statement = report.statement;
  std::string text = paragraph("From " + text_of(statement, "since_utc") + " to " + text_of(statement, "until_utc") +
                               "; months and days are those of UTC.");
  std::istringstream bounds(recorded_line(statement));
  for (std::string line; std::getline(bounds, line);) text += paragraph(line);
  text +=
      "<p class=\"soft\">Amounts are core-hours. A standing is what an organization gave less what it got, on "
      "average over its period so far: owed by the others (+) or to them (-). Everything else is a sum over the "
      "time. What was given is credited by the estimator " +
      html(text_of(statement, "contribution")) + ".</p>\n";
  if (!report.exact() || !report.proof.clean())
    text += "<p class=\"bad\">These books are not proven: see <a href=\"#proof\">the books' proof</a>.</p>\n";
  return text;
}

// A line for each organization is read, fifty are not: the table has them.
std::string sentences(const SiteReport& report) {
  const json& last = report.statement["periods"].back();
  std::string text = paragraph("Standings at " + text_of(last, "end_utc") + ", of the period since " +
                               text_of(last, "period_begin_utc") + ":");
  if (last["organizations"].size() > k_most_lines + 1) return text;
  text += "<ul>\n";
  for (const json& row : last["organizations"]) text += item(text_of(row, "name") + ' ' + text_of(row, "sentence"));
  return text + "</ul>\n";
}

std::string period_notes(const SiteReport& report) {
  const json& periods = report.statement["periods"];
  if (periods.size() < 2) return {};
  std::string text = "Standings start again from zero where a period begins:";
  for (const json& part : periods) {
    if (part["opens_period"] == true) text += ' ' + text_of(part, "period_begin_utc").substr(0, 10);
  }
  return "<p class=\"soft\">" + html(text) + ".</p>\n";
}

std::string examination_html(const Examination& examination) {
  const ledger::AuditReport& audit = examination.report;
  const std::string file = std::filesystem::path(examination.subject).filename().native();
  std::string text = "<li>" + html(file + ": " + what_was_checked(examination)) + ". <strong>" +
                     (audit.clean() ? "Correct to the last unit" : "NOT correct") + "</strong>\n<ul>\n";
  for (const ledger::Finding& finding : audit.findings)
    text += "<li class=\"bad\">" + html(finding.check + ": " + finding.what) + "</li>\n";
  for (const std::string& note : audit.notes) text += item(note);
  return text + "</ul></li>\n";
}

// Text of several lines that must stay what they are.
std::string lines_html(const std::string& text) {
  std::string escaped;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) escaped += html(line) + '\n';
  return escaped;
}

std::string corrections_html(const SiteReport& report) {
  const Sheet sheet = corrections_sheet(report);
  const std::string heading = "<h2>Corrections of the books</h2>\n";
  if (sheet.table.rows.empty())
    return heading + paragraph("None was made in that time, nor a later one that changed amounts of it.");
  return heading +
         paragraph(
             "What was corrected in that time, and later what changed amounts of it. The figures above are those that "
             "hold with them.") +
         sheet_html(sheet);
}

std::string signature_text(const Proof& proof) {
  switch (proof.signature) {
    case SignatureState::good:
      return "The signature is good: it was checked with the public key that was named.";
    case SignatureState::bad:
      return "The signature is NOT good: " + proof.signature_fault;
    case SignatureState::unchecked:
      return "The signature was not checked here; shapleyctl report --public-key FILE does.";
  }
  return {};
}

std::string proof_html(const SiteReport& report) {
  const Proof& proof = report.proof;
  std::string text = "<h2 id=\"proof\">The books' proof</h2>\n<h3>Sums</h3>\n";
  text += report.exact()
              ? paragraph(
                    "Exact: got = own + borrowed, given by direct_contr = own + lent, to the unit, "
                    "summed over every part of every run.")
              : "<p class=\"bad\">NOT exact: what was held is not what was booked; run shapleyctl audit.</p>\n";
  text += "<h3>Audit</h3>\n";
  if (proof.audit) {
    text += "<ul>\n";
    for (const Examination& examination : proof.audit->examinations) text += examination_html(examination);
    text += "</ul>\n";
    if (proof.audit->missing) {
      text +=
          paragraph("Missing: " + ledger::described(*proof.audit->missing) + "; what is before it was not audited.");
    }
    text += "<h3>Head of the chain</h3>\n" +
            paragraph("Event " + std::to_string(proof.audit->head.sequence) +
                      ", the last one when the audit began; its hash, which hangs on every event before it:") +
            "<pre>" + html(ledger::to_hex(proof.audit->head.hash)) + "</pre>\n";
  } else {
    text += paragraph("No audit was made for this page: " + proof.no_audit + ".");
  }
  text += "<h3>Signed head</h3>\n";
  if (!proof.head) return text + paragraph("There is none: " + proof.no_head + ".");
  const std::string state = signature_text(proof);
  return text + paragraph("Whoever keeps it can prove later that no event up to it was changed.") + "<pre>" +
         lines_html(proof.head->text()) + "</pre>\n" +
         (proof.signature == SignatureState::bad ? "<p class=\"bad\">" + html(state) + "</p>\n" : paragraph(state));
}

}  // namespace

Expected<std::string> report_page(const SiteReport& report, Charts charts) {
  using Figure = Expected<std::string> (*)(const SiteReport&);
  const auto drawn = [&](Figure figure) -> Expected<std::string> {
    if (charts == Charts::left_out) return std::string();
    return figure(report);
  };
  SHAPLEY_TRY_ASSIGN(const std::string standings, drawn(standings_figure));
  SHAPLEY_TRY_ASSIGN(const std::string lending, drawn(lending_figure));
  SHAPLEY_TRY_ASSIGN(const std::string waiting, drawn(waiting_figure));
  SHAPLEY_TRY_ASSIGN(const std::string months, drawn(months_figure));
  const std::string time = text_of(report.statement, "since_utc").substr(0, 10) + " to " +
                           text_of(report.statement, "until_utc").substr(0, 10);
  return charts::page_begin(report.heading + ", " + time, report.heading) + intro(report) +
         "<h2>Every organization</h2>\n" + sentences(report) + sheet_html(overview_sheet(report)) +
         "<h2>Standings over time</h2>\n" +
         "<p>What each organization gave less what it got, in core-hours, on average over the period so far: above 0 "
         "it is owed by the others, below 0 it owes them.</p>\n" +
         period_notes(report) + standings + sheet_html(standings_sheet(report)) + "<h2>Who lent to whom</h2>\n" +
         "<p>Core-hours that jobs of one organization ran on processors of another.</p>\n" + lending +
         "<p class=\"soft\">In the table a row is an owner, a column the organization whose jobs ran there; where both "
         "are one, its own use. An empty cell: nothing.</p>\n" +
         sheet_html(lending_sheet(report)) + "<h2>Waiting by organization</h2>\n" +
         "<p>What its jobs that could have started asked for, times how long they waited, in core-hours.</p>\n" +
         waiting + sheet_html(waiting_sheet(report)) + "<h2>Given and got by month</h2>\n" +
         "<p>Core-hours of each month (UTC): credited for what an organization offered, and run by its jobs.</p>\n" +
         months + sheet_html(months_sheet(report)) + corrections_html(report) + proof_html(report) + charts::page_end();
}

}  // namespace shapley::ctl
