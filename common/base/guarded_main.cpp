#include "base/guarded_main.hpp"

#include <exception>
#include <new>

#include "base/printable.hpp"

namespace shapley {

int run_guarded(std::string_view program, int internal, const std::function<void(const std::string&)>& say,
                const std::function<int()>& body) {
  const std::string name(program);
  try {
    return body();
  } catch (const std::bad_alloc&) {
    say(name +
        ": there is not enough memory for this; ask for less at once (a shorter time, fewer rows), or allow it "
        "more (ulimit -v, MemoryMax= of its unit)");
    return k_exit_no_memory;
  } catch (const std::exception& defect) {
    say(name + ": internal error: " + printable(defect.what()) + "; this is a defect of " + name +
        ", please report it");
  } catch (...) {
    say(name + ": internal error of an unknown kind; this is a defect of " + name + ", please report it");
  }
  return internal;
}

}  // namespace shapley
