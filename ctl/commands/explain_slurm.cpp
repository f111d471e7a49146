#include "ctl/commands/explain_slurm.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/printable.hpp"

namespace shapley::ctl {

namespace {

std::string number_text(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : std::string();
}

// The sum that slurmctld computed, as sprio shows it.
std::string parts_line(const SlurmParts& part, bool is_strict) {
  std::string text =
      fmt::format("SITE {}{}", number_text(part.site), is_strict ? " (place and level)" : " (rank and level)");
  for (const auto& [value, title] :
       {std::pair(part.age, "age"), std::pair(part.assoc, "association"), std::pair(part.fairshare, "fairshare"),
        std::pair(part.jobsize, "job size"), std::pair(part.part_weight, "partition"), std::pair(part.qos, "QOS")}) {
    if (value.value_or(0) != 0) text += fmt::format(" + {} {}", title, number_text(value));
  }
  if (part.tres) text += " + TRES " + printable(*part.tres);
  if (part.nice.value_or(0) != 0) text += " - nice " + number_text(part.nice);
  return text;
}

std::string tiers_line(const SlurmFacts& slurm) {
  const SlurmTiers* tiers = slurm.known_tiers();
  if (tiers == nullptr) return "";
  std::optional<std::int64_t> own;
  const std::string partitions = "," + slurm.known_job()->partition + ",";
  for (const auto& [name, tier] : *tiers) {
    if (tier && partitions.find("," + name + ",") != std::string::npos) own = std::max(own.value_or(*tier), *tier);
  }
  std::string above;
  for (const auto& [name, tier] : *tiers) {
    if (own && tier && *tier > *own) above += (above.empty() ? "" : ", ") + name;
  }
  if (above.empty()) return "";
  return fmt::format("Slurm:    jobs of {} go first whatever their rank: a higher PriorityTier.\n", printable(above));
}

// "SITE 8952812 = 10000 + 11001 x 812 (place) + 0 (level)".
std::string site_sum(std::int64_t site, const StrictPlace& place) {
  const bool is_level = place.level * place.level_step != 0;
  return fmt::format("SITE {} = 10000 + {} x {} (place) + {} (level)", site, place.step, place.label,
                     is_level ? fmt::format("{} x {}", place.level_step, place.level) : std::string("0"));
}

std::string agreement(const Explanation& explanation) {
  const PriorityVerdict& verdict = explanation.priority;
  if (!verdict.place)
    return "Its rank is in it as the books ask for. With order weighted the other factors may outweigh it.";
  std::string text = site_sum(verdict.site.value_or(0), *verdict.place) + ", as the books ask for.";
  if (!verdict.place->in_line) {
    text +=
        " It has no place in line: it could not start when it was looked at last, or the jobs of its organization "
        "before it ask for more than the cluster has. So it goes after those in line, in an order of ranks that is up "
        "to ten minutes old.";
  }
  return text;
}

std::string disagreement(const PriorityVerdict& verdict) {
  std::string text = "NOT what the books ask for";
  if (verdict.wished_site) {
    text += fmt::format(" (SITE {})", number_text(verdict.wished_site));
  } else if (!verdict.set_directly) {
    text += fmt::format(" (no place gives SITE {})", number_text(verdict.site));
  }
  return fmt::format("{}: {}.", text, printable(verdict.why.value_or("")));
}

}  // namespace

std::string slurm_lines(const Explanation& explanation) {
  const SlurmFacts& slurm = explanation.slurm;
  if (!slurm.asked) {
    std::string text = fmt::format("Slurm:    not asked: {}.", printable(slurm.why));
    if (const auto& last = explanation.report.waits_for; last && *last != "startable")
      text += fmt::format(" Its plugin said last: {}.", printable(*last));
    return text + "\n";
  }
  if (slurm.known_job() == nullptr) return "Slurm:    it does not know the job any more.\n";
  const SlurmJob& job = *slurm.known_job();
  std::string text = "Slurm:    state " + printable(job.state);
  if (const auto reason = job.reported_reason())
    text += fmt::format(", reason {}: {}", printable(*reason), reason_sentence(*reason));
  text += ".";
  if (job.is_over()) return text + "\n";
  if (job.dependency) text += fmt::format(" Depends on {}.", printable(*job.dependency));
  if (job.reservation) text += fmt::format(" Reservation {}.", printable(*job.reservation));
  if (job.state == "PENDING" && job.start)
    text += fmt::format(" Slurm expects it to start at {}.", printable(*job.start));
  return text + "\n" + tiers_line(slurm);
}

std::string priority_lines(const Explanation& explanation) {
  const PriorityVerdict& verdict = explanation.priority;
  const auto& priorities = explanation.report.priorities;
  const bool is_strict = priorities && priorities->is_strict() && !priorities->observes();
  const std::vector<SlurmParts>* parts = explanation.slurm.known_parts();
  std::string text;
  if (verdict.set_directly) {
    text = fmt::format("Priority: {}.\n", number_text(verdict.priority));
  } else if (verdict.priority && parts != nullptr && !parts->empty()) {
    text = fmt::format("Priority: {} = {}.\n", number_text(verdict.priority), parts_line(parts->front(), is_strict));
    for (std::size_t i = 1; i < parts->size(); ++i) {
      const SlurmParts& part = (*parts)[i];
      text += fmt::format("          in {}: {} = {}.\n", printable(part.partition), number_text(part.priority),
                          parts_line(part, is_strict));
    }
  }
  const std::string head = text.empty() ? "Priority: " : "          ";
  if (verdict.agrees == true) return text + head + agreement(explanation) + "\n";
  if (verdict.agrees == false) return text + head + disagreement(verdict) + "\n";
  return fmt::format("{}{}not compared with the books: {}.\n", text, head, printable(verdict.why.value_or("")));
}

std::string test_only_line(const std::optional<std::string>& answer) {
  return answer ? fmt::format("\nSlurm:    {} (sbatch --test-only)\n", printable(*answer)) : "";
}

}  // namespace shapley::ctl
