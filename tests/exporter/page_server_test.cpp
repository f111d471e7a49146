// The page over HTTP, and those who would keep a scraper out.
#include "exporter/page_server.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "tests/support/waiting.hpp"

namespace shapley::exporter {
namespace {

class Serving : public testing::Test {
 protected:
  void start(PageServer::Limits limits, std::string page = "up 1\n") {
    stop_ = Descriptor(::eventfd(0, EFD_CLOEXEC));
    auto opened = PageServer::open(
        "127.0.0.1:0",
        [this, page = std::move(page)] {
          ++made;
          return page;
        },
        limits);
    ASSERT_TRUE(opened.has_value()) << opened.error().what;
    server_ = std::make_unique<PageServer>(std::move(*opened));
    thread_ = std::thread([this] { server_->serve(stop_.get()); });
  }
  void TearDown() override {
    ::eventfd_write(stop_.get(), 1);
    const test::Deadline deadline("the server's end");
    thread_.join();
  }

  [[nodiscard]] Descriptor connect() const {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_port = htons(server_->port());
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
    return socket;
  }
  static void say(const Descriptor& socket, const std::string& text) {
    EXPECT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  // Until the server ends the connection.
  static std::string all_of(const Descriptor& socket) {
    const test::Deadline deadline("the end of a connection");
    std::string text;
    std::array<char, 4096> buffer{};
    while (true) {
      const ssize_t n = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
      if (n <= 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(n));
    }
  }
  [[nodiscard]] std::string scrape(const std::string& request = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n") const {
    const Descriptor socket = connect();
    say(socket, request);
    return all_of(socket);
  }
  static PageServer::Limits no_hurry() {
    return {.request = test::k_timeout, .answer = test::k_timeout, .page = test::k_timeout};
  }

  std::atomic<int> made = 0;

 private:
  Descriptor stop_;
  std::unique_ptr<PageServer> server_;
  std::thread thread_;
};

// 226 silent connections stopped scrapes.
TEST_F(Serving, SilentConnectionsKeepNoScraperOut) {
  start(no_hurry());
  std::vector<Descriptor> silent;
  for (int i = 0; i < 400; ++i) {
    silent.push_back(connect());
    if (i % 2 == 0) say(silent.back(), "GET /metrics HTTP/1.1\r\n");
  }
  const std::string answer = scrape();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\nup 1\n")) << answer;
  EXPECT_EQ(all_of(silent.front()), "") << "the oldest gave way";
}

TEST_F(Serving, WhoSaysNothingIsHungUpOn) {
  start({.request = std::chrono::milliseconds(1)});
  EXPECT_EQ(all_of(connect()), "");
  const Descriptor half = connect();
  ::send(half.get(), "GET /metrics", 12, MSG_NOSIGNAL);
  EXPECT_EQ(all_of(half), "");
}

TEST_F(Serving, WhoTakesNothingKeepsNobodyWaiting) {
  start(no_hurry(), std::string(32U << 20U, 'x'));
  std::vector<Descriptor> lazy;
  for (int i = 0; i < 3; ++i) {
    lazy.push_back(connect());
    say(lazy.back(), "GET /metrics HTTP/1.0\r\n\r\n");
  }
  EXPECT_GT(scrape().size(), 32U << 20U);
  EXPECT_GT(all_of(lazy.back()).size(), 32U << 20U);
}

TEST_F(Serving, ScrapesOfTheSameMomentAskTheDaemonOnce) {
  start(no_hurry());
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(scrape().ends_with("up 1\n"));
  EXPECT_EQ(made, 1);
}

TEST_F(Serving, OtherRequestsAreRefused) {
  start(no_hurry());
  EXPECT_TRUE(scrape("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(scrape("GET /metricsx HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(scrape("GET /metrics?a=b HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(scrape("POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
  EXPECT_EQ(scrape(std::string(8192, 'x')), "") << "no request is so long";
  EXPECT_EQ(made, 1);
}

TEST(Listening, NeedsAnAddressAndPort) {
  const auto page = [] { return std::string(); };
  for (const char* wrong : {"", "9753", "localhost:9753", "127.0.0.1", "192.0.2.1:9753", "127.0.0.1:x"}) {
    EXPECT_FALSE(PageServer::open(wrong, page, {}).has_value()) << wrong;
  }
  EXPECT_TRUE(PageServer::open("127.0.0.1:0", page, {}).has_value());
}

}  // namespace
}  // namespace shapley::exporter
