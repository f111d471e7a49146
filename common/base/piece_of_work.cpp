#include "base/piece_of_work.hpp"

#include <utility>

#include "base/mutex.hpp"

namespace shapley {

struct PieceOfWork::All {
  Mutex mutex;
  std::list<Begun> begun SHAPLEY_GUARDED_BY(mutex);
};

// Lives as long as the process: threads may outlive static objects.
PieceOfWork::All& PieceOfWork::all() {
  static All& all = *new All;
  return all;
}

PieceOfWork::PieceOfWork(std::string thread, Clock::duration bound) {
  All& them = all();
  const MutexLock lock(them.mutex);
  own_ = them.begun.insert(them.begun.end(), {.thread = std::move(thread), .due = Clock::now() + bound});
}

PieceOfWork::~PieceOfWork() {
  All& them = all();
  const MutexLock lock(them.mutex);
  them.begun.erase(own_);
}

std::vector<std::string> PieceOfWork::overdue(Clock::time_point now) {
  All& them = all();
  const MutexLock lock(them.mutex);
  std::vector<std::string> threads;
  for (const Begun& one : them.begun) {
    if (now > one.due) threads.push_back(one.thread);
  }
  return threads;
}

}  // namespace shapley
