#include "sim/instance_file.hpp"

#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

namespace shapley::sim {

namespace {

using Json = nlohmann::json;

Expected<std::int64_t> integer(const Json& value, const std::string& name) {
  if (!value.is_number_integer())
    return fail(Errc::invalid_argument, name + ": expected an integer, found " + value.dump());
  return value.get<std::int64_t>();
}

Expected<fairness::Job> parse_job(const Json& entry, const std::string& name) {
  if (!entry.is_array() || entry.size() != 3) {
    return fail(Errc::invalid_argument, name + ": expected [release, duration, organization], found " + entry.dump());
  }
  SHAPLEY_TRY_ASSIGN(const std::int64_t release, integer(entry[0], name + "[0]"));
  SHAPLEY_TRY_ASSIGN(const std::int64_t duration, integer(entry[1], name + "[1]"));
  SHAPLEY_TRY_ASSIGN(const std::int64_t organization, integer(entry[2], name + "[2]"));
  if (organization < 0 || organization > 0xffff)
    return fail(Errc::invalid_argument, name + "[2]: no such organization");
  return fairness::Job{{release}, {duration}, static_cast<std::uint32_t>(organization)};
}

Expected<void> check_members(const Json& root) {
  if (!root.is_object()) return fail(Errc::invalid_argument, "expected an object with machines, jobs and t_end");
  for (const char* member : {"machines", "jobs", "t_end"}) {
    if (!root.contains(member))
      return fail(Errc::invalid_argument, std::string("member \"") + member + "\" is missing");
  }
  if (!root["machines"].is_array())
    return fail(Errc::invalid_argument, "machines: expected an array of processor counts");
  if (!root["jobs"].is_array())
    return fail(Errc::invalid_argument, "jobs: expected an array of [release, duration, organization]");
  return {};
}

}  // namespace

Expected<fairness::Instance> parse_instance_json(std::string_view text) {
  const Json parsed = Json::parse(text, nullptr, false);
  if (parsed.is_discarded()) return fail(Errc::invalid_argument, "not JSON");
  // The golden files wrap the instance beside its expected results.
  const Json& root = parsed.is_object() && parsed.contains("instance") ? parsed["instance"] : parsed;
  SHAPLEY_TRY(check_members(root));
  fairness::Instance instance;
  for (std::size_t i = 0; i < root["machines"].size(); ++i) {
    const std::string name = "machines[" + std::to_string(i) + "]";
    SHAPLEY_TRY_ASSIGN(const std::int64_t count, integer(root["machines"][i], name));
    if (count < 0 || count > 10'000'000)
      return fail(Errc::invalid_argument, name + ": expected 0 to 10,000,000 processors");
    instance.processors.push_back(static_cast<std::uint32_t>(count));
  }
  for (std::size_t i = 0; i < root["jobs"].size(); ++i) {
    SHAPLEY_TRY_ASSIGN(const fairness::Job job, parse_job(root["jobs"][i], "jobs[" + std::to_string(i) + "]"));
    instance.jobs.push_back(job);
  }
  SHAPLEY_TRY_ASSIGN(instance.end.value, integer(root["t_end"], "t_end"));
  SHAPLEY_TRY(fairness::validate(instance));
  return instance;
}

Expected<fairness::Instance> read_instance(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) return fail(Errc::io, "instance: " + file.string() + ": cannot be read");
  std::stringstream text;
  text << stream.rdbuf();
  auto instance = parse_instance_json(text.str());
  if (!instance) return with_context("instance: " + file.string(), instance.error());
  return instance;
}

}  // namespace shapley::sim
