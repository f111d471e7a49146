#include "sim/input/grid_file.hpp"

#include "base/bounded_text.hpp"
#include "sim/json.hpp"

namespace shapley::sim {

namespace {

Expected<std::int64_t> member(const Json& object, const char* key, const std::string& name) {
  if (!object.contains(key)) return fail(Errc::invalid_argument, name + ": member \"" + key + "\" is missing");
  return integer(object[key], name + "." + key);
}

Expected<void> add_job(const Json& entry, std::size_t position, NamedGrid& into) {
  const std::string name = "jobs[" + std::to_string(position) + "]";
  if (!entry.is_object())
    return fail(Errc::invalid_argument, name + ": expected {\"owner\", \"p\", \"q\"}, found " + entry.dump());
  SHAPLEY_TRY_ASSIGN(const std::int64_t owner, member(entry, "owner", name));
  SHAPLEY_TRY_ASSIGN(const std::int64_t length, member(entry, "p", name));
  SHAPLEY_TRY_ASSIGN(const std::int64_t processors, member(entry, "q", name));
  std::int64_t id = static_cast<std::int64_t>(position);
  if (entry.contains("id")) {
    SHAPLEY_TRY_ASSIGN(id, integer(entry["id"], name + ".id"));
  }
  if (owner < 0 || owner > 0xffff) return fail(Errc::invalid_argument, name + ".owner: no such organization");
  into.grid.jobs.push_back({static_cast<std::uint32_t>(owner), length, processors});
  into.ids.push_back(id);
  return {};
}

Expected<void> check_grid_members(const Json& root) {
  if (!root.is_object() || !root.contains("m") || !root["m"].is_array() || !root.contains("jobs") ||
      !root["jobs"].is_array())
    return fail(Errc::invalid_argument, "expected an object with arrays \"m\" and \"jobs\"");
  return {};
}

}  // namespace

Expected<NamedGrid> parse_grid_json(std::string_view text) {
  const Json parsed = Json::parse(text, nullptr, false);
  if (parsed.is_discarded()) return fail(Errc::invalid_argument, "not JSON");
  const Json& root = parsed.is_object() && parsed.contains("input") ? parsed["input"] : parsed;
  SHAPLEY_TRY(check_grid_members(root));
  NamedGrid result;
  for (std::size_t k = 0; k < root["m"].size(); ++k) {
    SHAPLEY_TRY_ASSIGN(const std::int64_t size, integer(root["m"][k], "m[" + std::to_string(k) + "]"));
    result.grid.clusters.push_back(size);
  }
  for (std::size_t i = 0; i < root["jobs"].size(); ++i) SHAPLEY_TRY(add_job(root["jobs"][i], i, result));
  SHAPLEY_TRY(planning::validate(result.grid));
  return result;
}

Expected<NamedGrid> read_grid(const std::filesystem::path& file) {
  const auto text = read_text_file(file, k_max_document);
  if (!text) return with_context("instance", text.error());
  auto grid = parse_grid_json(*text);
  if (!grid) return with_context("instance: " + file.string(), grid.error());
  return grid;
}

}  // namespace shapley::sim
