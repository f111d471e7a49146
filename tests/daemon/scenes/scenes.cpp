#include "scenes.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <gtest/gtest.h>

namespace shapley::daemon {

namespace {

using protocol::JobState;
using protocol::JobUpdate;
using protocol::WaitReason;

struct Scene {
  std::string head;
  std::vector<std::string> lines;  // as they are in the file
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const std::string& line : lines) all += line + '\n';
    return all;
  }
};

struct File {
  std::string preface;
  std::vector<Scene> scenes;

  explicit File(const std::filesystem::path& path) {
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("#")) {
        preface += line + '\n';
      } else if (!line.empty() && line.front() != ' ') {
        scenes.push_back({line, {}});
      } else if (!line.empty()) {
        scenes.back().lines.push_back(line);
      }
    }
  }
  [[nodiscard]] const Scene& called(const std::string& head) const {
    const auto found = std::ranges::find(scenes, head, &Scene::head);
    if (found == scenes.end()) throw std::runtime_error("no scene: " + head);
    return *found;
  }
};

// A line without what comes of it.
std::string action_of(const std::string& line) {
  std::string action = line.substr(0, line.find(" ->"));
  while (action.ends_with(' ')) action.pop_back();
  return action;
}

class Performance {
 public:
  Performance(const File& file, const std::function<std::unique_ptr<Stage>()>& make_stage)
      : file_(file), make_stage_(make_stage), stage_(make_stage()) {}

  // The scene with what comes of each line behind "->", if $`name` is `value`.
  std::string of(const Scene& scene, const std::string& name, const std::string& value) {
    constexpr std::size_t k_column = 46;
    std::string text;
    for (const std::string& line : scene.lines) {
      const std::string action = action_of(line);
      std::string played = action.substr(2);
      if (const std::size_t hole = played.find('$'); hole != std::string::npos)
        played.replace(hole, name.size() + 1, value);
      const std::string comes_of_it = played.starts_with("each ") ? "" : play(played);
      text += action;
      if (!comes_of_it.empty())
        text += std::string(action.size() < k_column ? k_column - action.size() : 1, ' ') + "-> " + comes_of_it;
      text += '\n';
    }
    return text;
  }

 private:
  std::string play(const std::string& action) {
    if (std::isupper(static_cast<unsigned char>(action.front())) != 0) return {};
    if (action == "again") {
      stage_.reset();
      stage_ = make_stage_();
      return {};
    }
    try {
      if (action.starts_with("part ")) {
        for (const std::string& line : file_.called("Part: " + action.substr(5)).lines) play(action_of(line).substr(2));
        return {};
      }
      return stage_->play(action);
    } catch (const std::exception& fault) {
      return std::string("cannot be played: ") + fault.what();
    }
  }

  const File& file_;
  const std::function<std::unique_ptr<Stage>()>& make_stage_;
  std::unique_ptr<Stage> stage_;
};

WaitReason reason_of(const std::string& word) {
  const std::vector<std::pair<std::string, WaitReason>> reasons{{"startable", WaitReason::startable},
                                                                {"held", WaitReason::held},
                                                                {"dependency", WaitReason::dependency},
                                                                {"begin_time", WaitReason::begin_time},
                                                                {"nice", WaitReason::nice},
                                                                {"array_limit", WaitReason::array_limit},
                                                                {"account_limit", WaitReason::account_limit},
                                                                {"other", WaitReason::other}};
  for (const auto& [name, reason] : reasons) {
    if (name == word) return reason;
  }
  throw std::runtime_error("no reason: " + word);
}

decltype(JobUpdate::nodes) nodes_of(const std::string& text) {
  decltype(JobUpdate::nodes) nodes;
  for (const std::string& node : parts_of(text, ',')) {
    const std::size_t colon = node.find(':');
    nodes.push_back({node.substr(0, colon), static_cast<std::uint32_t>(number_in(node.substr(colon + 1)))});
  }
  return nodes;
}

void set_member(JobUpdate& r, const std::string& name, const std::string& value, std::int64_t since) {
  const auto to = [&](auto& member) {
    member = static_cast<std::remove_reference_t<decltype(member)>>(number_in(value));
  };
  const auto to_time = [&](std::int64_t& member) {
    to(member);
    if (member != 0) member += since;
  };
  if (name == "job") return to(r.job_id);
  if (name == "array") return to(r.array_job_id);
  if (name == "task") return to(r.array_task_id);
  if (name == "tasks") return to(r.pending_tasks);
  if (name == "cpus") return to(r.requested_cpus);
  if (name == "after") return r.depends_on.push_back(static_cast<std::uint32_t>(number_in(value)));
  if (name == "submit") return to_time(r.submit_time);
  if (name == "eligible") return to_time(r.eligible_time);
  if (name == "start") return to_time(r.start_time);
  if (name == "end") return to_time(r.end_time);
  if (name == "flip") return to_time(r.suspend_time);
  if (name == "ran") return to(r.pre_suspend_run_s);
  if (name == "slept") return to(r.total_suspended_s);
  if (name == "resize") return to_time(r.resize_time);
  if (name == "restarts") return to(r.restart_count);
  if (name == "account")
    r.account = value;
  else if (name == "name")
    r.name = value;
  else if (name == "partition")
    r.partition = value;
  else if (name == "asks")
    r.required_nodes = value;
  else if (name == "word")
    r.slurm_state = value;
  else if (name == "why")
    r.wait = reason_of(value);
  else if (name == "on")
    r.nodes = nodes_of(value);
  else
    throw std::runtime_error("no member: " + name);
}

}  // namespace

void expect_scenes_to_turn_out_as_written(const std::string& file, std::size_t at_least,
                                          const std::function<std::unique_ptr<Stage>()>& make_stage) {
  const File written(std::filesystem::path(SHAPLEY_SOURCE_DIR "/tests/daemon") / file);
  ASSERT_GE(written.scenes.size(), at_least);
  std::string as_played = written.preface;
  for (const Scene& scene : written.scenes) {
    SCOPED_TRACE(scene.head);
    as_played += '\n' + scene.head + '\n';
    if (scene.head.starts_with("Part: ")) {
      as_played += scene.text();
      continue;
    }
    std::vector<std::string> each = words_of(scene.lines.front());
    if (each.front() != "each") each = {"each", " ", ""};
    std::string turned_out;
    for (std::size_t i = 2; i < each.size(); ++i) {
      turned_out = Performance(written, make_stage).of(scene, each[1].substr(0, each[1].size() - 1), each[i]);
      EXPECT_EQ(turned_out, scene.text()) << each[i];
    }
    as_played += turned_out;
  }
  if (const char* folder = std::getenv("SHAPLEY_WRITE_SCENES"))
    std::ofstream(std::filesystem::path(folder) / std::filesystem::path(file).filename()) << as_played;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::istringstream in(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

std::int64_t number_in(const std::string& text) {
  std::istringstream in(text);
  std::int64_t number = 0;
  if (!(in >> number) || in.peek() != EOF) throw std::runtime_error("no number: " + text);
  return number;
}

JobUpdate record_in(const std::vector<std::string>& words, std::size_t first,
                    const std::function<JobUpdate(JobState)>& make, std::int64_t since) {
  const std::string& state = words.at(first);
  if (state != "waiting" && state != "running" && state != "suspended" && state != "ended")
    throw std::runtime_error("no state: " + state);
  JobUpdate r = make(state == "waiting"     ? JobState::pending
                     : state == "running"   ? JobState::running
                     : state == "suspended" ? JobState::suspended
                                            : JobState::ended);
  for (std::size_t i = first + 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (words[i] == "completing") {
      r.completing = true;
    } else if (equals == std::string::npos) {
      const std::size_t dash = words[i].find('-');
      r.start_time = since + number_in(words[i].substr(0, dash));
      if (dash != std::string::npos) r.end_time = since + number_in(words[i].substr(dash + 1));
    } else {
      set_member(r, words[i].substr(0, equals), words[i].substr(equals + 1), since);
    }
  }
  return r;
}

}  // namespace shapley::daemon
