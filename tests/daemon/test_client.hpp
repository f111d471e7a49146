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
#include "tests/support/waiting.hpp"

namespace shapley::daemon {

using test::k_timeout;

class TestClient {
 public:
  // Connects; is_connected() says whether that worked.
  explicit TestClient(const std::filesystem::path& socket);
  ~TestClient();
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  [[nodiscard]] bool is_connected() const { return descriptor_ >= 0; }
  void send(const protocol::Message& message);
  // Bytes as they are; false: the peer closed, or took nothing for k_timeout (a test failure).
  bool send_bytes(std::string_view bytes);
  // Sends nothing more, but goes on reading.
  void end_writing() const;
  // The next message; nullopt: the peer closed, or said nothing for k_timeout (a test failure).
  [[nodiscard]] std::optional<protocol::Message> next();

  // Skips other messages until one of this type comes; a test failure, at the place of the call, if the connection ends
  // first, or if only others come for k_timeout.
  template <typename Wanted>
  Wanted expect(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    const auto end = std::chrono::steady_clock::now() + k_timeout;
    const char* why = "only other messages came";
    while (std::chrono::steady_clock::now() < end) {
      auto message = next();
      if (!message) {
        why = "the connection ended";
        break;
      }
      if (auto* wanted = std::get_if<Wanted>(&*message)) return std::move(*wanted);
    }
    ADD_FAILURE_AT(file, line) << why << " before the expected message";
    return {};
  }
  // Everything up to the end of the connection; the last Refused's reason, if there was one. A connection that is
  // still open after k_timeout is a test failure.
  [[nodiscard]] std::string read_refusal();
  [[nodiscard]] nlohmann::json ask(const std::string& request);

 private:
  [[nodiscard]] bool readable() const;

  int descriptor_ = -1;
  std::uint64_t queries_ = 0;
  protocol::FrameReader reader_;
};

}  // namespace shapley::daemon
