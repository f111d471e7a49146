#include "ctl/commands/explain_slurm.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/printable.hpp"

namespace shapley::ctl {

namespace {

std::string number_text(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : std::string();
}

// The sum that slurmctld computed, as sprio shows it.
std::string parts_line(const SlurmParts& part, bool is_strict) {
  std::string text = "SITE " + number_text(part.site) + (is_strict ? " (place and level)" : " (rank and level)");
  for (const auto& [value, title] :
       {std::pair(part.age, "age"), std::pair(part.assoc, "association"), std::pair(part.fairshare, "fairshare"),
        std::pair(part.jobsize, "job size"), std::pair(part.part_weight, "partition"), std::pair(part.qos, "QOS")}) {
    if (value.value_or(0) != 0) text += " + " + std::string(title) + " " + number_text(value);
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
  return "Slurm:    jobs of " + printable(above) + " go first whatever their rank: a higher PriorityTier.\n";
}

// "SITE 8952812 = 10000 + 11001 x 812 (place) + 0 (level)".
std::string site_sum(std::int64_t site, const StrictPlace& place) {
  const bool is_level = place.level * place.level_step != 0;
  return "SITE " + std::to_string(site) + " = 10000 + " + std::to_string(place.step) + " x " +
         std::to_string(place.label) + " (place) + " +
         (is_level ? std::to_string(place.level_step) + " x " + std::to_string(place.level) : std::string("0")) +
         " (level)";
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
    text += " (SITE " + number_text(verdict.wished_site) + ")";
  } else if (!verdict.set_directly) {
    text += " (no place gives SITE " + number_text(verdict.site) + ")";
  }
  return text + ": " + printable(verdict.why.value_or("")) + ".";
}

}  // namespace

std::string slurm_lines(const Explanation& explanation) {
  const SlurmFacts& slurm = explanation.slurm;
  if (!slurm.asked) {
    std::string text = "Slurm:    not asked: " + printable(slurm.why) + ".";
    if (const auto& last = explanation.report.waits_for; last && *last != "startable")
      text += " Its plugin said last: " + printable(*last) + ".";
    return text + "\n";
  }
  if (slurm.known_job() == nullptr) return "Slurm:    it does not know the job any more.\n";
  const SlurmJob& job = *slurm.known_job();
  std::string text = "Slurm:    state " + printable(job.state);
  if (const auto reason = job.told_reason()) text += ", reason " + printable(*reason) + ": " + reason_sentence(*reason);
  text += ".";
  if (job.is_over()) return text + "\n";
  if (job.dependency) text += " Depends on " + printable(*job.dependency) + ".";
  if (job.reservation) text += " Reservation " + printable(*job.reservation) + ".";
  if (job.state == "PENDING" && job.start) text += " Slurm expects it to start at " + printable(*job.start) + ".";
  return text + "\n" + tiers_line(slurm);
}

std::string priority_lines(const Explanation& explanation) {
  const PriorityVerdict& verdict = explanation.priority;
  const auto& priorities = explanation.report.priorities;
  const bool is_strict = priorities && priorities->is_strict() && !priorities->observes();
  const std::vector<SlurmParts>* parts = explanation.slurm.known_parts();
  std::string text;
  if (verdict.set_directly) {
    text = "Priority: " + number_text(verdict.priority) + ".\n";
  } else if (verdict.priority && parts != nullptr && !parts->empty()) {
    text = "Priority: " + number_text(verdict.priority) + " = " + parts_line(parts->front(), is_strict) + ".\n";
    for (std::size_t i = 1; i < parts->size(); ++i) {
      const SlurmParts& part = (*parts)[i];
      text += "          in " + printable(part.partition) + ": " + number_text(part.priority) + " = " +
              parts_line(part, is_strict) + ".\n";
    }
  }
  const std::string head = text.empty() ? "Priority: " : "          ";
  if (verdict.agrees == true) return text + head + agreement(explanation) + "\n";
  if (verdict.agrees == false) return text + head + disagreement(verdict) + "\n";
  return text + head + "not compared with the books: " + printable(verdict.why.value_or("")) + ".\n";
}

std::string test_only_line(const std::optional<std::string>& answer) {
  return answer ? "\nSlurm:    " + printable(*answer) + " (sbatch --test-only)\n" : "";
}

}  // namespace shapley::ctl
