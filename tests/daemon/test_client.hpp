// A plain blocking client of shapleyd's socket, for tests.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "protocol/codec.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

// How long a test waits for what must come. Long, because a busy machine is slow; nothing waits so long when all is
// well.
inline constexpr std::chrono::seconds k_patience{240};

class TestClient {
 public:
  // Connects; is_connected() says whether that worked.
  explicit TestClient(const std::filesystem::path& socket);
  ~TestClient();
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  [[nodiscard]] bool is_connected() const { return descriptor_ >= 0; }
  void send(const protocol::Message& message);
  // Bytes as they are; false: the peer closed.
  bool send_bytes(std::string_view bytes);
  // The next message; nullopt: the peer closed, or said nothing for `k_patience` (a test failure).
  [[nodiscard]] std::optional<protocol::Message> next();

  // Skips other messages until one of this type comes; a test failure if the connection ends first.
  template <typename Wanted>
  Wanted expect() {
    while (auto message = next()) {
      if (auto* wanted = std::get_if<Wanted>(&*message)) return std::move(*wanted);
    }
    ADD_FAILURE() << "the connection ended before the expected message";
    return {};
  }
  // Everything up to the end of the connection; the last Refused's reason, if there was one.
  [[nodiscard]] std::string read_refusal();
  [[nodiscard]] nlohmann::json ask(const std::string& request);

 private:
  int descriptor_ = -1;
  std::uint64_t queries_ = 0;
  protocol::FrameReader reader_;
};

}  // namespace shapley::daemon
