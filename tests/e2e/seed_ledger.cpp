// seed_ledger FILE SECONDS: a ledger that begins with the mean residual run time of a site, so that a shapleyd whose
// time runs faster than a site's does not assume an hour for it.
#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "accounting/events/event.hpp"
#include "base/process.hpp"
#include "ledger/store/ledger.hpp"

namespace {

int seed(const char* file, std::int64_t seconds) {
  using namespace shapley;
  const Instant now{
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count()};
  auto ledger = ledger::Ledger::open(file, ledger::OpenMode::create_or_write);
  const std::array<accounting::Event, 1> events{accounting::ResidualMeasured{.at = now, .seconds = seconds, .runs = 1}};
  const auto appended = ledger.and_then([&](ledger::Ledger& open) { return open.append(events, now); });
  if (appended && appended->appended == 1) return 0;
  std::cerr << "seed_ledger: " << file << ": "
            << (appended ? "the event was refused; take a new file, and 1 second to 365 days" : appended.error().what)
            << '\n';
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: seed_ledger FILE SECONDS\n";
    return 2;
  }
  return shapley::run_guarded(
      "seed_ledger", 1, [](const std::string& text) { std::cerr << text << '\n'; },
      [&] { return seed(argv[1], std::strtoll(argv[2], nullptr, 10)); });
}
