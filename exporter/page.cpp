#include "exporter/page.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <ostream>
#include <string_view>
#include <utility>

#include <netdb.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>

#include "base/printable.hpp"
#include "base/slurm_text.hpp"
#include "exporter/samples.hpp"

namespace shapley::exporter {

namespace {

constexpr std::size_t k_most_request_bytes = 8192;

std::string response(std::string_view status, std::string_view type, const std::string& body) {
  return "HTTP/1.1 " + std::string(status) + "\r\nContent-Type: " + std::string(type) +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
}

Expected<Descriptor> listen_at(const addrinfo& address) {
  Descriptor socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return system_failure("socket", errno);
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket.get(), address.ai_addr, address.ai_addrlen) != 0) return system_failure("bind", errno);
  if (::listen(socket.get(), SOMAXCONN) != 0) return system_failure("listen", errno);
  return socket;
}

std::uint16_t port_of(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length);
  std::array<char, NI_MAXSERV> port{};
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), length, nullptr, 0, port.data(), port.size(),
                NI_NUMERICSERV);
  return parse_number<std::uint16_t>(port.data()).value_or(0);
}

using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily gauge(const Metric& metric, double value, Labels labels = {}) {
  MetricFamily family = without_samples(metric);
  add(family, value, std::move(labels));
  return family;
}

MetricFamily health_by_rule(const Metric& metric, const std::vector<health::Verdict>& verdicts) {
  MetricFamily family = without_samples(metric);
  for (const health::Verdict& verdict : verdicts)
    add(family, static_cast<double>(verdict.state()), {{"rule", std::string(verdict.rule)}});
  return family;
}

Expected<Status> status_of(const rpc_client::Endpoint& endpoint) {
  SHAPLEY_TRY_ASSIGN(rpc_client::Client client, rpc_client::Client::connect(endpoint));
  SHAPLEY_TRY_ASSIGN(nlohmann::json report, client.ask({{"request", "status"}, {"worth", true}}));
  return read_status(std::move(report));
}

Expected<health::Report> said(const Expected<Status>& status) {
  return status.map([](const Status& answer) { return answer.said; });
}

void nothing(const Status& /*status*/, MetricFamily& /*family*/) {}

}  // namespace

Expected<PageServer> PageServer::open(const std::string& listen, Page page, Limits limits) {
  const std::size_t colon = listen.rfind(':');
  if (colon == std::string::npos) return fail(Errc::invalid_argument, "no ADDRESS:PORT");
  std::string host = listen.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), listen.substr(colon + 1).c_str(), &hints, &found);
  if (error != 0) return fail(Errc::invalid_argument, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> address(found, &::freeaddrinfo);
  SHAPLEY_TRY_ASSIGN(Descriptor listening, listen_at(*address));
  const std::uint16_t port = port_of(listening);
  return PageServer(std::move(listening), port, std::move(page), limits);
}

std::string PageServer::answer_to(const std::string& request) {
  const std::string_view line = std::string_view(request).substr(0, request.find_first_of("\r\n"));
  const auto is_for = [&](std::string_view beginning) { return line.starts_with(beginning); };
  if (!is_for("GET ")) return response("405 Method Not Allowed", "text/plain", "GET /metrics\n");
  if (!is_for("GET /metrics ") && !is_for("GET /metrics?")) {
    return response("404 Not Found", "text/plain", "GET /metrics\n");
  }
  if (last_page_.empty() || Clock::now() >= last_made_ + limits_.page) {
    last_page_ = page_();
    last_made_ = Clock::now();
  }
  return response("200 OK", "text/plain; version=0.0.4; charset=utf-8", last_page_);
}

bool PageServer::read(Connection& connection) {
  std::array<char, k_most_request_bytes> buffer{};
  const ssize_t n = ::recv(connection.socket.get(), buffer.data(), buffer.size(), 0);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0) return false;
  connection.request.append(buffer.data(), static_cast<std::size_t>(n));
  if (connection.request.find("\r\n\r\n") == std::string::npos) {
    return connection.request.size() < k_most_request_bytes;
  }
  connection.answer = answer_to(connection.request);
  connection.until = Clock::now() + limits_.answer;
  return write(connection);
}

bool PageServer::write(Connection& connection) {
  const ssize_t n = ::send(connection.socket.get(), connection.answer.data(), connection.answer.size(), MSG_NOSIGNAL);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  connection.answer.erase(0, static_cast<std::size_t>(n));
  return !connection.answer.empty();
}

// Some at a time, so that those who are there already are read in between.
void PageServer::accept_some() {
  constexpr int k_at_a_time = 32;
  for (int i = 0; i < k_at_a_time; ++i) {
    Descriptor socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open()) return;
    if (connections_.size() >= limits_.connections) connections_.pop_front();
    connections_.push_back({.socket = std::move(socket), .until = Clock::now() + limits_.request});
    if (!read(connections_.back())) connections_.pop_back();
  }
}

int PageServer::milliseconds_to_wait() const {
  if (connections_.empty()) return -1;
  const auto first = std::min_element(connections_.begin(), connections_.end(),
                                      [](const Connection& a, const Connection& b) { return a.until < b.until; });
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(first->until - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(0, left.count()));
}

void PageServer::serve(int stop) {
  while (true) {
    std::vector<pollfd> polled{{.fd = stop, .events = POLLIN, .revents = 0},
                               {.fd = listening_.get(), .events = POLLIN, .revents = 0}};
    const std::size_t first = polled.size();
    for (const Connection& connection : connections_) {
      const short events = connection.answer.empty() ? POLLIN : POLLOUT;
      polled.push_back({.fd = connection.socket.get(), .events = events, .revents = 0});
    }
    ::poll(polled.data(), polled.size(), milliseconds_to_wait());
    if (polled[0].revents != 0) return;
    std::size_t at = first;
    const auto now = Clock::now();
    connections_.remove_if([&](Connection& connection) {
      const bool is_ready = polled[at++].revents != 0;
      if (!is_ready) return now >= connection.until;
      return !(connection.answer.empty() ? read(connection) : write(connection));
    });
    if (polled[1].revents != 0) accept_some();
  }
}

std::span<const Metric> own_metrics() {
  static const std::vector<Metric> table{
      {"shapley_up", MetricType::Gauge, "",
       "1: shapleyd answered this scrape; 0: it did not, and its metrics are absent", nothing},
      {"shapley_scrape_duration_seconds", MetricType::Gauge, "", "How long shapleyd took to answer, or was waited for",
       nothing},
      {"shapley_exporter_build_info", MetricType::Gauge, "version", "The exporter's version; always 1", nothing},
      {"shapley_health", MetricType::Gauge, "rule",
       "What shapleyctl health finds by each of its rules: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN", nothing},
  };
  return table;
}

std::vector<MetricFamily> Collector::Collect() const {
  const auto began = std::chrono::steady_clock::now();
  Expected<Status> status = status_of(endpoint_);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  tell(status ? std::string() : status.error().what);
  const auto own = own_metrics();
  std::vector<MetricFamily> families{gauge(own[0], status ? 1 : 0), gauge(own[1], took.count()),
                                     gauge(own[2], 1, {{"version", SHAPLEY_VERSION}}),
                                     health_by_rule(own[3], health::judge(said(status), limits_))};
  if (!status) return families;
  keep_top(status->report, top_);
  if (users_ != nullptr) add_users(status->report);
  for (MetricFamily& family : families_of(*status)) families.push_back(std::move(family));
  return families;
}

void Collector::add_users(nlohmann::json& report) const {
  UserFigures::Latest latest = users_->latest(report);
  report["users"] = std::move(latest.figures);
  const MutexLock lock(mutex_);
  if (latest.state == users_state_) return;
  users_state_ = std::move(latest.state);
  log_ << "shapley-exporter: " << printable(users_state_) << std::endl;
}

void Collector::tell(const std::string& fault) const {
  const MutexLock lock(mutex_);
  const bool was_away = !fault_.empty();
  const bool first = !std::exchange(asked_, true);
  fault_ = fault;
  if (!fault.empty() && (first || !was_away)) log_ << "shapley-exporter: " << printable(fault) << std::endl;
  if (fault.empty() && was_away) log_ << "shapley-exporter: shapleyd answers again" << std::endl;
}

}  // namespace shapley::exporter
