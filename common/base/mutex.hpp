// A mutex whose use clang checks when it compiles (-Wthread-safety, in the presets that build with it): a member that
// is SHAPLEY_GUARDED_BY a mutex is read and written only while that mutex is held. GCC's library does not annotate
// std::mutex.
#pragma once

#include <mutex>

#ifdef __clang__
#define SHAPLEY_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define SHAPLEY_THREAD_ATTRIBUTE(attribute)
#endif
#define SHAPLEY_GUARDED_BY(mutex) SHAPLEY_THREAD_ATTRIBUTE(guarded_by(mutex))
// The caller holds the mutex.
#define SHAPLEY_HOLDS(mutex) SHAPLEY_THREAD_ATTRIBUTE(requires_capability(mutex))

namespace shapley {

class SHAPLEY_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void lock() SHAPLEY_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void unlock() SHAPLEY_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

// Holds the mutex until the end of its block. A std::condition_variable_any waits with the mutex itself, in a loop that
// tests the condition: a lambda would be checked as a function that does not hold the mutex.
class SHAPLEY_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) SHAPLEY_THREAD_ATTRIBUTE(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() SHAPLEY_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace shapley
