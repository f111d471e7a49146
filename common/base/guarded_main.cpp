#include "base/guarded_main.hpp"

#include <cstdlib>
#include <exception>
#include <new>

#include "base/printable.hpp"

namespace shapley {

namespace {

struct Program {
  std::string name;
  int internal = 0;
  std::function<void(const std::string&)> say;

  // The exit code.
  [[nodiscard]] int say_why(const std::exception_ptr& thrown) const {
    const std::string report = "; this is a defect of " + name + ", please report it";
    try {
      if (thrown) std::rethrow_exception(thrown);
      say(name + ": internal error without an exception" + report);
    } catch (const std::bad_alloc&) {
      say(name +
          ": there is not enough memory for this; ask for less at once (a shorter time, fewer rows), or allow it "
          "more (ulimit -v, MemoryMax= of its unit)");
      return k_exit_no_memory;
    } catch (const std::exception& defect) {
      say(name + ": internal error: " + printable(defect.what()) + report);
    } catch (...) {
      say(name + ": internal error of an unknown kind" + report);
    }
    return internal;
  }
};

const Program* running = nullptr;

}  // namespace

int run_guarded(std::string_view program, int internal, const std::function<void(const std::string&)>& say,
                const std::function<int()>& body) {
  const Program guarded{std::string(program), internal, say};
  running = &guarded;
  // An exception that leaves another thread comes here.
  const std::terminate_handler before =
      std::set_terminate([] { std::_Exit(running->say_why(std::current_exception())); });
  int code = 0;
  try {
    code = body();
  } catch (...) {
    code = guarded.say_why(std::current_exception());
  }
  std::set_terminate(before);
  return code;
}

}  // namespace shapley
