// Counts each thread's allocations, to show that rank() makes none. In a file of its own, so that the compiler does not
// inline one half of a replaced pair.
#include <cstdint>
#include <cstdlib>
#include <new>

#include "support.hpp"

namespace {
thread_local std::uint64_t t_allocations = 0;
}

void* operator new(std::size_t size) {
  ++t_allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
// The library's own calls the one above; a sanitizer's does not, and takes what the deletes below free for foreign.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++t_allocations;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace shapley::client::testing {

std::uint64_t allocations_of_this_thread() {
  return t_allocations;
}

}  // namespace shapley::client::testing
