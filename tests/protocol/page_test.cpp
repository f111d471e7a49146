// docs/reference/protocol.md says what messages.hpp and the codec do.
#include <cstddef>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/codec.hpp"
#include "protocol/messages.hpp"

namespace shapley::protocol {
namespace {

std::string read(const std::string& path) {
  std::ifstream stream(std::string(SHAPLEY_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(stream.good()) << path;
  return {std::istreambuf_iterator<char>(stream), {}};
}

const std::string& page() {
  static const std::string text = read("docs/reference/protocol.md");
  return text;
}

// The members that the table of a section names, in order.
std::vector<std::string> documented_members(const std::string& heading) {
  const std::size_t at = page().find("\n### " + heading + "\n");
  if (at == std::string::npos) return {"no section '" + heading + "'"};
  const std::size_t end = page().find("\n#", at + 2);
  const std::string section = page().substr(at, end - at);
  const std::regex row("\n\\| (\\w+) \\|");
  std::vector<std::string> members;
  for (std::sregex_iterator it(section.begin(), section.end(), row), last; it != last; ++it) {
    if ((*it)[1] != "member") members.push_back((*it)[1]);
  }
  return members;
}

// The members of a struct as its declaration has them.
std::vector<std::string> declared_members(const std::string& name) {
  static const std::string header = read("common/protocol/messages.hpp");
  const std::size_t at = header.find("struct " + name + " {");
  if (at == std::string::npos) return {"no struct '" + name + "'"};
  const std::string body = header.substr(at, header.find("\n};", at) - at);
  const std::regex declaration("\n  [\\w:]+(?:<[\\w:]+>)? ([\\w, ]+)(?: = [^;]+)?;");
  const std::regex word("\\w+");
  std::vector<std::string> members;
  for (std::sregex_iterator it(body.begin(), body.end(), declaration), last; it != last; ++it) {
    const std::string names = (*it)[1];
    for (std::sregex_iterator n(names.begin(), names.end(), word); n != last; ++n) members.push_back(n->str());
  }
  return members;
}

// The number of elements of the outermost array, read from the bytes: MessagePack's fixarray or array 16.
std::size_t encoded_members(const Message& message) {
  const std::string frame = encode_frame(message);
  const auto byte = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(frame.at(i))}; };
  if (byte(5) == 0xdcU) return (byte(6) << 8U) + byte(7);
  return (byte(5) & 0xf0U) == 0x90U ? byte(5) & 0x0fU : 0;
}

// The names in the declaration of Message, in its order.
std::vector<std::string> message_names() {
  const std::string header = read("common/protocol/messages.hpp");
  const std::string begin = "using Message = std::variant<";
  const std::size_t at = header.find(begin) + begin.size();
  const std::string list = header.substr(at, header.find('>', at) - at);
  const std::regex word("\\w+");
  return {std::sregex_token_iterator(list.begin(), list.end(), word), {}};
}

template <std::size_t... I>
std::vector<Message> one_of_each(std::index_sequence<I...> /*alternatives*/) {
  return {Message(std::in_place_index<I>)...};
}

TEST(Page, TellsTypeAndMembersOfEveryMessage) {
  const std::vector<Message> messages = one_of_each(std::make_index_sequence<std::variant_size_v<Message>>());
  const std::vector<std::string> names = message_names();
  ASSERT_EQ(names.size(), messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto type = static_cast<unsigned>(static_cast<unsigned char>(encode_frame(messages[i]).at(4)));
    const auto members = documented_members(names[i] + " (" + std::to_string(type) + ")");
    EXPECT_EQ(members, declared_members(names[i])) << names[i];
    EXPECT_EQ(members.size(), encoded_members(messages[i])) << names[i];
  }
}

TEST(Page, TellsTheMembersOfEveryRecord) {
  for (const char* name : {"JobUpdate", "NodeHolding", "Tres", "NodeRecord", "Rule", "ChargeRule", "Weight", "JobLevel",
                           "Privacy", "PrivilegedUser", "Wide", "Braking"}) {
    EXPECT_EQ(documented_members(name), declared_members(name)) << name;
    EXPECT_GT(documented_members(name).size(), 1U) << name;
  }
}

TEST(Page, TellsTheBoundsOfLevels) {
  EXPECT_NE(page().find("| level | u32 | 1 to " + std::to_string(k_max_level) + " |"), std::string::npos);
  EXPECT_NE(page().find("at most 200,000 jobs"), std::string::npos);
  EXPECT_EQ(k_max_level_jobs, 200'000U);
}

TEST(Page, TellsTheVersion) {
  EXPECT_NE(page().find("Version " + std::to_string(k_version) + "."), std::string::npos);
}

Message example(const std::string& name) {
  if (name == "Ack") return Ack{300};
  if (name == "Ranks") return Ranks{7, 1767225600, {"biology", "physics"}, {30, 0}, {4, 0}, {8, 0}};
  if (name == "Levels") return Levels{3, 1767225600, {{42, 2}, {1000, 15}}};
  JobUpdate job;
  job.job_id = 42;
  job.state = JobState::running;
  job.slurm_state = "RUNNING";
  job.user_id = 1000;
  job.group_id = 100;
  job.account = "bio";
  job.partition = "main";
  job.submit_time = job.eligible_time = 1767225580;
  job.start_time = 1767225590;
  job.requested_cpus = 2;
  job.nodes = {{"n1", 2, 4096, {{"gres/gpu", 1}}}};
  job.tres = {{"cpu", 2}};
  return Observations{2, 1767225600, {job}, {}, {}, {}};
}

TEST(Page, ShowsTheBytesThatTheCodecWrites) {
  const std::regex block("```hex\n(\\w+)\n([0-9a-f \n]*)```");
  const std::string& text = page();
  std::size_t blocks = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), block), last; it != last; ++it, ++blocks) {
    const std::string digits = std::regex_replace((*it)[2].str(), std::regex("[ \n]"), "");
    std::string written;
    for (const char c : encode_frame(example((*it)[1]))) {
      constexpr const char* k_hex = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      written += {k_hex[byte >> 4U], k_hex[byte & 0x0fU]};
    }
    EXPECT_EQ(digits, written) << (*it)[1];
  }
  EXPECT_EQ(blocks, 4U);
}

}  // namespace
}  // namespace shapley::protocol
