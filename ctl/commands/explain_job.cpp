#include "ctl/commands/explain_job.hpp"

#include <cstdint>

#include <nlohmann/json.hpp>
#include <pwd.h>

#include "base/printable.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/rank_text.hpp"
#include "ctl/output/table.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

std::string login_of(const json& job) {
  if (!job["user_id"].is_number_integer()) return "?";
  const auto number = job["user_id"].get<std::uint32_t>();
  const passwd* entry = ::getpwuid(number);
  return entry == nullptr ? std::to_string(number) : std::string(entry->pw_name);
}

std::string rule_words(const json& rule) {
  return "the rule " + member_text(rule, "kind") + " " + member_text(rule, "name");
}

// Where the rules in force lead elsewhere.
std::string today(const json& report) {
  const json& rule = report["rule"];
  if (rule.is_null()) return report["job"]["organization"] == "guests" ? "" : "; no rule in force has it so";
  return "; by " + rule_words(rule) + " it would be of " + member_text(rule, "organization") + " now";
}

// "by the rule account bio", or what else made it so.
std::string rule_text(const json& report) {
  const json booked = report.value("booked_by", json::object());
  const std::string by = booked.value("by", "unknown");
  if (by == "rule") return "by " + rule_words(report["rule"]);
  if (by == "adjustment") {
    return "by adjustment " + member_text(booked, "number") + " of " + member_text(booked, "at_utc") + " (" +
           member_text(booked, "reason") + ")" + today(report);
  }
  if (by == "rule of then") {
    return "by " + rule_words(booked["rule"]) + " of the configuration of " + member_text(booked, "loaded_utc") +
           today(report);
  }
  if (by == "no rule") return report["rule"].is_null() ? "no rule matches" : "no rule matched it then" + today(report);
  if (by == "account above") return "by an account above " + member_text(report["job"], "account");
  return "as it was booked" + today(report);
}

std::string whose_line(const json& report) {
  const json& job = report["job"];
  return "Job " + member_text(job, "job_id") + " (user " + login_of(job) + ", account " + member_text(job, "account") +
         ", partition " + member_text(job, "partition") +
         (member_text(job, "qos").empty() ? std::string() : ", QOS " + member_text(job, "qos")) + ", submitted " +
         member_text(job, "submit_utc") + ") is of " + member_text(job, "organization") + ": " + rule_text(report) +
         ".\n";
}

bool is_configuring(const json& report) {
  const json slurm = report.value("slurm", json());
  return slurm.is_object() && slurm["asked"] == true && slurm["job"].is_object() &&
         slurm["job"]["state"] == "CONFIGURING";
}

// "It ran on 2 processors from ... to ... (1 h 2 min; COMPLETED)."
std::string ran_line(const json& report, const json& history) {
  const std::int64_t length = history["end"].get<std::int64_t>() - history["begin"].get<std::int64_t>();
  const auto held = history["held_s"].get<std::int64_t>();
  const std::string suspended = held < length ? ", suspended for " + short_duration(length - held) + " of it" : "";
  const std::string state = member_text(report["job"], "slurm_state");
  return "It ran on " + count_of(history["processors"], "processor") + " from " + member_text(history, "begin_utc") +
         " to " + member_text(history, "end_utc") + " (" + short_duration(length) + suspended +
         (state.empty() ? "" : "; " + state) + ").\n";
}

std::string state_line(const json& report) {
  const json& job = report["job"];
  const std::string state = job["state"];
  const std::string processors = count_of(job["processors"], "processor");
  const std::string since = job["since"].is_null() ? std::string() : since_text(job["since"], report["at"]);
  if (state == "waiting") return "It has waited for " + processors + " since " + since + ".\n";
  if (state == "running" && is_configuring(report)) {
    return "It has " + processors + " since " + since +
           " and has not begun: its nodes boot, or PrologSlurmctld runs. Slurm counts its time anew when nodes that "
           "boot are up.\n";
  }
  if (state == "running") return "It runs on " + processors + " since " + since + ".\n";
  if (state == "blocked" && report["waits_for"] == "nice") {
    return "It does not wait for its turn: its --nice is above 10000, so it goes behind jobs of other organizations by "
           "its own wish and is no demand in the books.\n";
  }
  if (state == "blocked") {
    return "It does not wait for its turn: Slurm would not start it now whatever is free, so it is no demand in the "
           "books.\n";
  }
  if (state == "suspended") return "It is suspended.\n";
  if (state == "not submitted") return "It had not been submitted.\n";
  const json history = report.value("history", json());
  if (history.is_object() && history["end"].is_number_integer()) return ran_line(report, history);
  const std::string word = member_text(job, "slurm_state");
  const std::string ended = word.empty() ? "It has ended" : "It has ended (" + word + ")";
  return report["past"] == true || job["begin"].is_number_integer() ? ended + ".\n"
                                                                    : ended + " without having started.\n";
}

// How long it had waited, and what started meanwhile.
std::string history_lines(const json& report) {
  const json history = report.value("history", json());
  if (!history.is_object()) return "";
  if (history["waited_s"].is_null()) return "";
  if (history["waited_s"] == 0) return "It started as soon as it could.\n";
  std::string text = "Before it started it had waited for " + short_duration(history["waited_s"].get<std::int64_t>()) +
                     ", since " + member_text(history, "waited_since_utc");
  const json& meanwhile = history["meanwhile"];
  if (meanwhile.is_null()) return text + ". So much started meanwhile that it is not listed.\n";
  if (meanwhile["organizations"].empty()) return text + ", and nothing else started meanwhile.\n";
  text += ". Meanwhile started: " + demands_text(meanwhile["organizations"]) + ". The last of them:\n";
  for (auto start = meanwhile["last"].rbegin(); start != meanwhile["last"].rend(); ++start) {
    text += "  " + member_text(*start, "begin_utc") + "  job " + member_text(*start, "job") + " of " +
            member_text(*start, "organization") + " on " + count_of((*start)["processors"], "processor") + "\n";
  }
  const json hidden = meanwhile.value("hidden", json::object());
  for (const auto& [organization, jobs] : hidden.items())
    text += "  " + count_of(jobs, "job") + " of " + printable(organization) + ", not yours to see (PrivateData)\n";
  return text;
}

}  // namespace

std::string demands_text(const json& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const json& row = rows[i];
    text += i == 0 ? "" : i + 1 == rows.size() ? " and " : ", ";
    text += member_text(row, "organization") + " " + count_of(row["jobs"], "job") + " with " +
            (i == 0 ? count_of(row["processors"], "processor") : member_text(row, "processors"));
  }
  return text;
}

std::string job_lines(const json& report) {
  return whose_line(report) + state_line(report) + history_lines(report);
}

}  // namespace shapley::ctl
