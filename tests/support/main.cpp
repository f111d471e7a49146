// main() of every program of tests. A program holds the tests of a folder, which are compiled together; an entry of
// ctest is those of some of its files: `test_ledger audit_test.cpp backup_test.cpp`. Without names it runs all, and
// it takes GoogleTest's own options, too: `test_ledger --gtest_filter='Audit*'`.
#include <algorithm>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace {

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// A filter of GoogleTest for all tests that these files define; empty when one of them defines none, which is said.
std::string filter_for(const std::vector<std::string_view>& files) {
  const auto& program = *testing::UnitTest::GetInstance();
  std::set<std::string_view> without(files.begin(), files.end());
  std::string filter;
  for (int s = 0; s < program.total_test_suite_count(); ++s) {
    const auto& suite = *program.GetTestSuite(s);
    std::string chosen;
    int left_out = 0;
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const auto& test = *suite.GetTestInfo(t);
      const auto file = file_name(test.file());
      if (std::find(files.begin(), files.end(), file) == files.end()) {
        ++left_out;
        continue;
      }
      without.erase(file);
      chosen += std::string(suite.name()) + "." + test.name() + ":";
    }
    // GoogleTest prints its filter.
    filter += left_out == 0 && !chosen.empty() ? std::string(suite.name()) + ".*:" : chosen;
  }
  for (const auto file : without) std::cerr << "no test of this program is defined in " << file << "\n";
  return without.empty() ? filter : std::string();
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::vector<std::string_view> files(argv + 1, argv + argc);
  if (!files.empty()) {
    const auto filter = filter_for(files);
    if (filter.empty()) return 2;
    // What the environment leaves out (GTEST_FILTER=-...) stays left out.
    const std::string given = testing::GTEST_FLAG(filter);
    const auto left_out = given.find('-');
    testing::GTEST_FLAG(filter) = filter + (left_out == std::string::npos ? "" : given.substr(left_out));
  }
  return RUN_ALL_TESTS();
}
