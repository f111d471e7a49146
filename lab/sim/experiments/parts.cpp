#include "sim/experiments/parts.hpp"

#include <charconv>
#include <fstream>
#include <initializer_list>
#include <map>

#include "base/files.hpp"
#include "base/text.hpp"

namespace shapley::sim {

namespace {

namespace fs = std::filesystem;

struct PartFile {
  std::string program;  // with its version
  ExperimentSettings settings;
  std::size_t part = 0;
  std::size_t parts = 0;
  nlohmann::json measured;  // units of other parts are null
  std::string digest;       // of the text of this record without it
};
constexpr auto description_of(std::type_identity<PartFile>) {
  using P = PartFile;
  return describe(member("program", &P::program), member("settings", &P::settings), member("part", &P::part),
                  member("parts", &P::parts), member("measured", &P::measured), member("digest", &P::digest));
}

struct Origin {
  std::string program;
};
constexpr auto description_of(std::type_identity<Origin>) {
  return describe(member("program", &Origin::program));
}

constexpr const char* k_program = "shapley-sim " SHAPLEY_VERSION;

// Continues the hash with the bytes of the numbers.
std::uint64_t hash_of(std::initializer_list<std::int64_t> numbers, std::uint64_t hash) {
  for (const std::int64_t& number : numbers)
    hash = fnv1a({reinterpret_cast<const char*>(&number), sizeof number}, hash);
  return hash;
}

std::string digest_without_itself(PartFile file) {
  file.digest.clear();
  return std::to_string(fnv1a(text_of(json_of(file))));
}

Expected<PartFile> read_part(const std::string& name) {
  SHAPLEY_TRY_ASSIGN(const std::string text, read_text_file(name, k_max_text));
  const nlohmann::json json = parse_json(text);
  if (json.is_discarded()) {
    return fail(Errc::corrupt, name + " is damaged, or no part of an experiment (it is not JSON); run its part again");
  }
  // Checked first, because other versions may have other members.
  if (const auto origin = from_json<Origin>(json); origin && origin->program != k_program) {
    return fail(Errc::conflict, name + " was written by " + origin->program + ", this is " + k_program +
                                    "; run and merge all parts with one version");
  }
  auto file = from_json<PartFile>(json);
  if (!file) {
    return fail(Errc::corrupt,
                name + " is damaged, or no part of an experiment (" + file.error().what + "); run its part again");
  }
  if (file->digest != digest_without_itself(*file) || file->part < 1 || file->part > file->parts ||
      file->parts > k_most_parts)
    return fail(Errc::corrupt, name + " is damaged: it is not what was written; run its part again");
  return std::move(*file);
}

// The temporary name: a file with the final name is complete, even if the program is killed.
fs::path unfinished(fs::path file) {
  file += ".unfinished";
  return file;
}

Expected<void> write_text(const fs::path& file, const std::string& text) {
  std::ofstream stream(file);
  stream << text;
  stream.flush();
  if (!stream)
    return fail(Errc::io, "--out: " + file.string() + " cannot be written; is there room, and may you write there?");
  return {};
}

// Adds the values of `part` that `whole` lacks. False if both have a value and it differs; `place` is where.
bool fill(nlohmann::json& whole, const nlohmann::json& part, std::string& place) {
  if (part.is_null() || whole == part) return true;
  if (whole.is_null()) {
    whole = part;
    return true;
  }
  if (whole.type() != part.type() || whole.size() != part.size() || !whole.is_structured()) return false;
  auto item = whole.begin();
  std::size_t number = 0;
  for (const auto& [key, value] : part.items()) {
    const std::string name = whole.is_array() ? std::to_string(number++) : key;
    if (whole.is_array() || (item.key() == key)) {
      if (fill(*item++, value, place)) continue;
    }
    place = "/" + name + place;
    return false;
  }
  return true;
}

// The first setting in which two experiments differ, "seed: 1 and 2"; empty if they are equal.
std::string difference_of(const PartFile& one, const PartFile& other) {
  if (one.parts != other.parts)
    return "number of parts: " + std::to_string(one.parts) + " and " + std::to_string(other.parts);
  const nlohmann::json settings = json_of(one.settings);
  const nlohmann::json others = json_of(other.settings);
  for (const auto& [name, value] : settings.items())
    if (others.at(name) != value) return name + ": " + text_of(value) + " and " + text_of(others.at(name));
  return "";
}

Expected<void> expect_all(const std::map<std::size_t, std::string>& files, std::size_t parts) {
  std::string missing;
  for (std::size_t part = 1; part <= parts; ++part)
    if (!files.contains(part)) missing += (missing.empty() ? "" : ",") + std::to_string(part);
  if (missing.empty()) return {};
  return fail(Errc::not_found, "parts " + missing + " of " + std::to_string(parts) +
                                   " are missing; give their files, too, or run them (sbatch --array=" + missing + ")");
}

}  // namespace

Expected<Part> parse_part(std::string_view text) {
  Part part{0, 0};
  const char* end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, part.number);
  if (number.ec == std::errc() && number.ptr != end && *number.ptr == '/') {
    const auto of = std::from_chars(number.ptr + 1, end, part.of);
    if (of.ec == std::errc() && of.ptr == end && part.number >= 1 && part.number <= part.of && part.of <= k_most_parts)
      return part;
  }
  return fail(Errc::invalid_argument, "write which part of how many, from 1/1 to " + std::to_string(k_most_parts) +
                                          "/" + std::to_string(k_most_parts) + ", as 3/40");
}

Expected<void> expect_units(std::size_t found, std::size_t expected) {
  if (found == expected) return {};
  return fail(Errc::corrupt, "the parts have " + std::to_string(found) + " units, but the experiment has " +
                                 std::to_string(expected) + "; run and merge all parts with one build of shapley-sim");
}

std::string digest_of(const workload::Trace& trace) {
  std::uint64_t hash = k_fnv1a_basis;
  for (const workload::TraceJob& job : trace.jobs)
    hash = hash_of({job.id, job.submit.value, job.run.value, job.processors, job.user, job.group}, hash);
  return std::to_string(hash);
}

std::string digest_of(const scheduling::Instance& instance) {
  std::uint64_t hash = k_fnv1a_basis;
  for (const std::uint32_t processors : instance.processors) hash = hash_of({processors}, hash);
  for (const scheduling::Job& job : instance.jobs)
    hash = hash_of({job.release.value, job.duration.value, job.organization, job.processors}, hash);
  return std::to_string(hash);
}

Expected<void> prepare_part(const ExperimentArguments& arguments) {
  const auto& settings = static_cast<const ExperimentSettings&>(arguments);
  if (const auto read = from_json<ExperimentSettings>(json_of(settings)); !read)
    return fail(Errc::invalid_argument, "--part: " + read.error().what + "; choose a smaller one");
  return write_text(unfinished(arguments.out), "");
}

Expected<void> write_part(const ExperimentArguments& arguments, const nlohmann::json& measured) {
  const auto& settings = static_cast<const ExperimentSettings&>(arguments);
  PartFile file{k_program, settings, arguments.part->number, arguments.part->of, measured, ""};
  file.digest = digest_without_itself(file);
  SHAPLEY_TRY(write_text(unfinished(arguments.out), text_of(json_of(file)) + "\n"));
  std::error_code error;
  fs::rename(unfinished(arguments.out), arguments.out, error);
  if (error) return fail(Errc::io, "--out: " + arguments.out.string() + ": " + error.message());
  return {};
}

Expected<MergedParts> merge_parts(const std::vector<std::string>& files) {
  std::optional<PartFile> whole;
  std::map<std::size_t, std::string> names;  // by part
  for (const std::string& name : files) {
    SHAPLEY_TRY_ASSIGN(PartFile file, read_part(name));
    const std::string pair = files.front() + " and " + name;
    if (!whole) whole = file;
    if (const std::string difference = difference_of(*whole, file); !difference.empty())
      return fail(Errc::conflict, pair + " are of different experiments (" + difference + "); merge the parts of one");
    if (const auto [other, is_new] = names.emplace(file.part, name); !is_new) {
      return fail(Errc::conflict, other->second + " and " + name + " are both part " + std::to_string(file.part) +
                                      " of " + std::to_string(file.parts) + "; leave one of them out");
    }
    if (std::string place; !fill(whole->measured, file.measured, place)) {
      return fail(Errc::conflict,
                  pair + " do not fit together (measured" + place + " differs); were their traces the same?");
    }
  }
  SHAPLEY_TRY(expect_all(names, whole->parts));
  return MergedParts{std::move(whole->settings), std::move(whole->measured)};
}

}  // namespace shapley::sim
