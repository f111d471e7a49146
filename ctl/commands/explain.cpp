#include "ctl/commands/explain.hpp"

#include <algorithm>
#include <ostream>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/printable.hpp"
#include "ctl/commands/explain_job.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/json_text.hpp"
#include "ctl/output/rank_text.hpp"
#include "ctl/output/table.hpp"
#include "ctl/slurm/job_facts.hpp"
#include "ctl/slurm/place.hpp"
#include "ctl/slurm/reasons.hpp"
#include "ctl/slurm/wished_priority.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;

std::string standing_line(const json& report) {
  const json& row = report["organization"];
  if (row["rank"].is_null()) return member_text(row, "name") + " has no rank.\n";
  std::string text = member_text(row, "name") + " has rank " + member_text(row, "rank") + " of " +
                     member_text(report, "ranked") + ": it " + member_text(row, "sentence") + "; key " +
                     signed_core_hours(row["key_core_hours"].get<double>()) + horizon_text(report["ranking"]) + ".";
  if (row["below_guarantee"] == true) {
    text += " It runs on fewer than its guaranteed part of its own processors, so it goes before those that do not.";
  }
  text += " It owns " + count_of(row["owned"], "processor") + " and uses " + member_text(row, "used") + ".";
  const json& ahead = report["ahead"]["organizations"];
  if (std::ranges::any_of(ahead, [](const json& other) { return other.value("by_what_runs", false); })) {
    const double running = row["running_core_hours"].get<double>();
    text += " It gives " + member_text(row, "gives") + " now";
    if (running != 0) {
      text += std::string(", and what runs now ") + (running < 0 ? "lowers" : "raises") + " its key by " +
              unsigned_core_hours(running);
    }
    text += "; if nothing ran it would have a better rank.";
  }
  return text + "\n";
}

bool is_place_known(const json& report) {
  const json place = report.value("place", json());
  return place.is_object() && place["known"] == true;
}

// "1st", "2nd", "3rd", "4th", "11th".
std::string ordinal(const json& number) {
  const auto n = number.get<std::int64_t>();
  const std::int64_t last = n / 10 % 10 == 1 ? 0 : n % 10;
  const char* ending = last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
  return std::to_string(n) + ending;
}

// "By leads astro may start 35 more processors, bio 2 and chem all that the cluster has before it."
std::string leads_line(const json& leads) {
  std::string text;
  for (std::size_t i = 0; i < leads.size(); ++i) {
    const json& count = leads[i]["processors"];
    text += i == 0 ? "By leads " : i + 1 == leads.size() ? " and " : ", ";
    text += member_text(leads[i], "organization") + (i == 0 ? " may start " : " ");
    text += count.is_null() ? "all that the cluster has" : plain_number(count);
    if (i == 0 && !count.is_null()) text += count == 1 ? " more processor" : " more processors";
  }
  return text.empty() ? "" : text + " before it.\n";
}

// Order strict: which jobs slurmctld tries before it.
std::string place_lines(const json& report) {
  const json place = report.value("place", json());
  if (!place.is_object()) return "";
  if (place["known"] == false) return "Place: not known: " + member_text(place, "why") + ".\n";
  std::string text = "Place: " + ordinal(place["position"]) + " of " + member_text(place, "of") + " that wait";
  if (place["before"].empty()) {
    text += ": no job goes before it";
  } else {
    const json& before = place["before"];
    const bool is_one = before.size() == 1 && before[0]["jobs"] == 1;
    text += ": " + demands_text(before) + (is_one ? " goes" : " go") + " before it";
  }
  if (place["truncated"] == true) text += ", as far as the 20,000 jobs of the lowest numbers show";
  return text + ".\n" + leads_line(place["leads"]);
}

// Since before the job that is asked about.
std::string longer_text(const json& own) {
  if (own["jobs"] == 1) return own["longer"] == 0 ? "but not for longer than this one" : "and for longer than this one";
  return member_text(own, "longer") + " of them for longer";
}

std::string ahead_lines(const json& report) {
  const json& ahead = report["ahead"];
  // Where jobs have places, ranks say no more than which organization is served next.
  std::string text = is_place_known(report) ? "Better ranks: " : "Before it: ";
  if (ahead["jobs"] == 0) {
    text += "no job of another organization.\n";
  } else {
    std::string of;
    for (const json& row : ahead["organizations"]) {
      if (row["jobs"] == 0) continue;
      of += (of.empty() ? "" : ", ") + member_text(row, "organization") + " (rank " + member_text(row, "rank") + ": " +
            count_of(row["jobs"], "job") + ", " + count_of(row["processors"], "processor") +
            (row["because"] == "guarantee" ? ", below its guarantee" : "") +
            (row.value("by_what_runs", false) ? ", by what runs now" : "") + ")";
    }
    text += count_of(ahead["jobs"], "job") + (ahead["jobs"] == 1 ? " that asks for " : " that ask for ") +
            count_of(ahead["processors"], "processor") + ", of " + of + ".\n";
  }
  const json& own = report["own"];
  if (own["jobs"] != 0) {
    text += "Within " + member_text(report["organization"], "name") + ": " + count_of(own["jobs"], "other job") +
            (own["jobs"] == 1 ? " waits" : " wait") + " for " + count_of(own["processors"], "processor") + ", " +
            longer_text(own) + "; which of these goes first is up to Slurm's own factors.\n";
  }
  return text;
}

std::string turns_lines(const json& report) {
  const json& turns = report["turns"];
  const std::string name = member_text(report["organization"], "name");
  if (turns["next"].empty()) {
    return "If nothing starts or ends " + name + " keeps its rank" + until_text(turns) + ".\n";
  }
  std::string text;
  constexpr std::size_t k_told = 3;
  for (std::size_t i = 0; i < turns["next"].size() && i < k_told; ++i) {
    const json& turn = turns["next"][i];
    const std::string other = member_text(turn, "organization");
    const bool is_ahead = turn["ahead"] == true;
    text += (text.empty() ? "If nothing starts or ends " : "; ") + (is_ahead ? name : other) + " passes " +
            (is_ahead ? other : name) + " at " + ahead_text(turn["at"], report["at"]);
  }
  return text + ".\n";
}

// What was said of ranks is not what orders jobs now.
std::string mode_line(const json& report) {
  const json& priorities = report["priorities"];
  if (priorities.is_null() || priorities["mode"] != "observe") return "";
  return "Ranks are not in force (mode observe): Slurm's own priorities order the jobs, the above is what ranks would "
         "say.\n";
}

// The sum that slurmctld made, as sprio shows it.
std::string parts_line(const json& part, bool is_strict) {
  std::string text = "SITE " + member_text(part, "site") + (is_strict ? " (place and level)" : " (rank and level)");
  for (const auto& [member, title] :
       {std::pair("age", "age"), std::pair("assoc", "association"), std::pair("fairshare", "fairshare"),
        std::pair("jobsize", "job size"), std::pair("part_weight", "partition"), std::pair("qos", "QOS")}) {
    if (part[member].is_number() && part[member] != 0)
      text += " + " + std::string(title) + " " + member_text(part, member);
  }
  if (!part["tres"].is_null()) text += " + TRES " + member_text(part, "tres");
  if (part["nice"].is_number() && part["nice"] != 0) text += " - nice " + member_text(part, "nice");
  return text;
}

std::string tiers_line(const json& slurm) {
  if (!slurm["tiers"].is_object()) return "";
  std::int64_t own = 0;
  bool is_known = false;
  const std::string partitions = "," + slurm["job"]["partition"].get<std::string>() + ",";
  for (const auto& [name, tier] : slurm["tiers"].items()) {
    if (!tier.is_number() || partitions.find("," + name + ",") == std::string::npos) continue;
    own = is_known ? std::max(own, tier.get<std::int64_t>()) : tier.get<std::int64_t>();
    is_known = true;
  }
  std::string above;
  for (const auto& [name, tier] : slurm["tiers"].items()) {
    if (is_known && tier.is_number() && tier.get<std::int64_t>() > own) above += (above.empty() ? "" : ", ") + name;
  }
  if (above.empty()) return "";
  return "Slurm:    jobs of " + printable_line(above) + " go first whatever their rank: a higher PriorityTier.\n";
}

std::string slurm_lines(const json& report) {
  const json& slurm = report["slurm"];
  if (slurm["asked"] != true) {
    std::string text = "Slurm:    not asked: " + member_text(slurm, "why") + ".";
    if (!report["waits_for"].is_null() && report["waits_for"] != "startable") {
      text += " Its plugin said last: " + member_text(report, "waits_for") + ".";
    }
    return text + "\n";
  }
  if (slurm["job"].is_null()) return "Slurm:    it does not know the job any more.\n";
  const json& job = slurm["job"];
  std::string text = "Slurm:    state " + member_text(job, "state");
  if (!job["reason"].is_null() && job["reason"] != "None") {
    const std::string reason = job["reason"];
    text += ", reason " + printable_line(reason) + ": " + reason_sentence(reason);
  }
  text += ".";
  if (!job["dependency"].is_null()) text += " Depends on " + member_text(job, "dependency") + ".";
  if (!job["reservation"].is_null()) text += " Reservation " + member_text(job, "reservation") + ".";
  if (job["state"] == "PENDING" && !job["start"].is_null()) {
    text += " Slurm expects it to start at " + member_text(job, "start") + " (local time).";
  }
  return text + "\n" + tiers_line(slurm);
}

// "SITE 8952812 = 10000 + 11001 x 812 (place) + 0 (level)".
std::string site_sum(const json& site, const json& place) {
  const auto level_part = place["level"].get<std::int64_t>() * place["level_step"].get<std::int64_t>();
  return "SITE " + plain_number(site) + " = 10000 + " + member_text(place, "step") + " x " +
         member_text(place, "label") + " (place) + " +
         (level_part == 0 ? std::string("0") : member_text(place, "level_step") + " x " + member_text(place, "level")) +
         " (level)";
}

std::string agreement(const json& report) {
  const json& verdict = report["priority"];
  if (report["priorities"]["order"] == "weighted") {
    return "Its rank is in it as the books ask for. With order weighted the other factors may outweigh it.";
  }
  std::string text = site_sum(verdict["site"], verdict["place"]) + ", as the books ask for.";
  if (verdict["place"]["in_line"] == false) {
    text +=
        " It has no place in line: it could not start when it was looked at last, or the jobs of its organization "
        "before it ask for more than the cluster has. So it goes after those in line, in an order of ranks that is up "
        "to ten minutes old.";
  }
  return text;
}

std::string disagreement(const json& report) {
  const json& verdict = report["priority"];
  std::string text = "NOT what the books ask for";
  if (verdict["wished_site"].is_number()) {
    text += " (SITE " + member_text(verdict, "wished_site") + ")";
  } else if (verdict["set_directly"] != true) {
    text += " (no place gives SITE " + member_text(verdict, "site") + ")";
  }
  return text + ": " + member_text(verdict, "why") + ".";
}

std::string priority_lines(const json& report) {
  const json& verdict = report["priority"];
  const json& priorities = report["priorities"];
  const bool is_strict = priorities.is_object() && priorities["order"] == "strict" && priorities["mode"] != "observe";
  std::string text;
  if (verdict["set_directly"] == true) {
    text = "Priority: " + member_text(verdict, "priority") + ".\n";
  } else if (verdict["priority"].is_number()) {
    text = "Priority: " + member_text(verdict, "priority") + " = " +
           parts_line(report["slurm"]["parts"][0], is_strict) + ".\n";
    for (std::size_t i = 1; i < report["slurm"]["parts"].size(); ++i) {
      const json& part = report["slurm"]["parts"][i];
      text += "          in " + member_text(part, "partition") + ": " + member_text(part, "priority") + " = " +
              parts_line(part, is_strict) + ".\n";
    }
  }
  const std::string head = text.empty() ? "Priority: " : "          ";
  if (verdict["agrees"] == true) return text + head + agreement(report) + "\n";
  if (verdict["agrees"] == false) return text + head + disagreement(report) + "\n";
  return text + head + "not compared with the books: " + member_text(verdict, "why") + ".\n";
}

// null: jobs have no places here.
json place_in(const json& report, const Endpoint& endpoint, const Environment& environment) {
  const json& priorities = report["priorities"];
  if (!priorities.is_object() || priorities["order"] != "strict" || priorities["mode"] == "observe") return nullptr;
  if (report["job"]["state"] != "waiting" || report["slurm"]["asked"] != true) return nullptr;
  auto client = Client::connect(endpoint);
  if (!client) return place_not_known(client.error().what);
  const auto queue = client->ask({{"request", "queue"}});
  if (!queue && queue.error().code == Errc::denied)
    return place_not_known("jobs of others are private here (PrivateData)");
  if (!queue) return place_not_known(queue.error().what);
  const auto records = pending_records(environment.run_program);
  if (!records) return place_not_known(records.error().what);
  return place_of(report["job"]["job"], report["job"]["organization"], *records, *queue, report["organizations"]);
}

// Of the past: what was there and what started next.
std::string past_lines(const json& report) {
  std::string text = "\nAt " + member_text(report, "at_utc") + ":\n" + standings_table(report["organizations"]) + "\n";
  const json hidden = report.value("hidden_starts", json::object());
  if (report["next_starts"].empty() && hidden.empty()) return text + "Nothing has started since.\n";
  text += "Started next:\n";
  for (const json& start : report["next_starts"]) {
    text += "  " + member_text(start, "begin_utc") + "  job " +
            member_text(start, start.contains("job_id") ? "job_id" : "job") + " of " +
            member_text(start, "organization") +
            (start["rank"].is_null() ? std::string() : " (rank " + member_text(start, "rank") + ")") + " on " +
            count_of(start["processors"], "processor") + "\n";
  }
  for (const auto& [organization, jobs] : hidden.items())
    text += "  " + count_of(jobs, "job") + " of " + printable(organization) + ", not yours to see (PrivateData)\n";
  return text;
}

}  // namespace

void add_rank_options(CLI::App& command, RankSource& source, bool& json) {
  command.add_option("--ledger", source.ledger, "Read this ledger file, a copy included; no daemon is asked")
      ->type_name("FILE");
  command.add_option("--at", source.at, "As it was then: 2026-11-21 or 2026-11-21T07:00:00 (UTC)")->type_name("TIME");
  command.add_option("--archives", source.archives, "Where the ledger's archives are, for --at")
      ->type_name("DIRECTORY");
  command.add_flag("--json", json, "Print JSON instead of text");
}

void add_explain(CLI::App& app, ExplainArguments& arguments) {
  CLI::App* command = app.add_subcommand("explain", "Why is this job waiting?");
  command->add_option("JOB", arguments.job, "Its number, ARRAY_TASK, or JOB+PART of a heterogeneous job")->required();
  add_rank_options(*command, arguments.source, arguments.json);
}

std::string render_explanation(const json& report) {
  const bool waits = report["job"]["state"] == "waiting" || report["job"]["state"] == "blocked";
  std::string text = job_lines(report) + "\n" + standing_line(report);
  if (waits) text += place_lines(report) + ahead_lines(report) + turns_lines(report) + mode_line(report);
  if (report["past"] == true) return text + past_lines(report);
  return text + "\n" + slurm_lines(report) + priority_lines(report);
}

Expected<ExitCode> run_explain(const ExplainArguments& arguments, const Endpoint& endpoint,
                               const Environment& environment) {
  SHAPLEY_TRY_ASSIGN(json report,
                     rank_answer({{"request", "explain"}, {"job", arguments.job}}, arguments.source, endpoint));
  const bool is_live = arguments.source.ledger.empty() && arguments.source.at.empty();
  // squeue and sprio know a part of a heterogeneous job by its number.
  const bool is_part = arguments.job.find('+') != std::string::npos;
  const std::string job = is_part ? member_text(report["job"], "job") : arguments.job;
  report["slurm"] = is_live ? slurm_facts(job, environment.run_program)
                            : slurm_not_asked("this is of a ledger or of the past, and Slurm knows the present only");
  report["place"] = place_in(report, endpoint, environment);
  report["priority"] = compare_priority(report["priorities"], report["slurm"], report["job"]["organization"]);
  environment.out << (arguments.json ? json_text(report) : render_explanation(report));
  return ExitCode::success;
}

}  // namespace shapley::ctl
