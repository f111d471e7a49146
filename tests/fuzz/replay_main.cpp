// Runs a fuzz target over its corpus, so that every input that ever was a finding stays a test in every build.
// Usage: replay_TARGET CORPUS_FOLDER. A crash names the file that was read last.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/resource.h>

#include "fuzz.hpp"

namespace {

// The sanitizers reserve terabytes of address space; elsewhere an input that wants gigabytes shall fail, not swap.
void bound_memory() {
#ifndef SHAPLEY_SANITIZED
  constexpr rlim_t k_max_bytes = 2U << 30U;
  const rlimit limit{k_max_bytes, k_max_bytes};
  shapley::fuzz::require(setrlimit(RLIMIT_AS, &limit) == 0, "the memory can be bounded");
#endif
}

}  // namespace

int main(int argc, char** argv) {
  shapley::fuzz::require(argc == 2, "one argument, the corpus folder");
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  shapley::fuzz::require(!files.empty(), "the corpus has files");
  bound_memory();
  for (const auto& file : files) {
    std::fprintf(stderr, "%s\n", file.c_str());
    std::ifstream in(file, std::ios::binary);
    const std::string input(std::istreambuf_iterator<char>(in), {});
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  }
  std::printf("%zu inputs\n", files.size());
  return 0;
}
