// A spool file as a crash or a disk may leave it, opened by the next slurmctld, added to, and opened once more.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "fuzz.hpp"
#include "plugin/client/spool/backlog.hpp"
#include "protocol/codec.hpp"

namespace {

using shapley::fuzz::require;
namespace client = shapley::client;
namespace protocol = shapley::protocol;

// A folder in memory where there is one: a sync of every input would measure the disk.
class Folder {
 public:
  Folder() {
    const bool shared_memory = std::filesystem::is_directory("/dev/shm");
    const std::filesystem::path parent = shared_memory ? "/dev/shm" : std::filesystem::temp_directory_path();
    std::string pattern = (parent / "shapley-fuzz-XXXXXX").string();
    require(mkdtemp(pattern.data()) != nullptr, "a folder can be made");
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file() const { return path_ / "spool"; }

 private:
  std::filesystem::path path_;
};

std::vector<protocol::Observations> sent_by(client::Backlog& backlog) {
  std::vector<protocol::Observations> sent;
  std::uint64_t last = 0;
  while (auto outgoing = backlog.take_unsent()) {
    require(outgoing->sequence == last + 1, "sequence numbers rise by one");
    last = outgoing->sequence;
    auto message = protocol::decode_body(std::string_view(outgoing->frame).substr(4));
    require(message && std::holds_alternative<protocol::Observations>(*message), "what is sent can be read");
    auto& observations = std::get<protocol::Observations>(*message);
    require(observations.sequence == last, "a frame carries its own number");
    sent.push_back(std::move(observations));
  }
  return sent;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  std::ofstream(folder.file(), std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  constexpr std::size_t k_bound = 64U << 20U;
  const client::Log silent(nullptr);
  std::vector<protocol::Observations> before;
  {
    client::Backlog backlog(folder.file(), k_bound, silent);
    backlog.recover();
    before = sent_by(backlog);
    require(backlog.entries() == before.size(), "every entry is sent");
    protocol::Observations news;
    news.observed_at = 1'700'000'000;
    news.gone = {17};
    const client::Clock::time_point now{};
    backlog.add_observations(protocol::Observations(news), false, now);
    backlog.spool(now);
    news.sequence = before.size() + 1;
    before.push_back(news);
  }
  client::Backlog next_life(folder.file(), k_bound, silent);
  next_life.recover();
  require(sent_by(next_life) == before, "a second opening finds what the first one found, and what was added");
  require(next_life.acknowledge(before.size()) && next_life.empty() && next_life.file_bytes() == 0,
          "acknowledged means forgotten");
  return 0;
}
