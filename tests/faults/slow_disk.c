/* Preloaded, it makes a process's disk slow: each write at a place of a file and each sync waits for the milliseconds
 * in the file that SHAPLEY_SLOW_DISK names, which is read each time; the file is replaced (rename) to change that.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void wait_for_disk(void) {
  const char* file = getenv("SHAPLEY_SLOW_DISK");
  int descriptor = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
  char text[32] = {0};
  if (descriptor < 0) abort();
  if (read(descriptor, text, sizeof text - 1) < 0) abort();
  close(descriptor);
  long milliseconds = strtol(text, NULL, 10);
  struct timespec rest = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
  while (nanosleep(&rest, &rest) != 0) {
  }
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t at) {
  wait_for_disk();
  return syscall(SYS_pwrite64, descriptor, bytes, size, at);
}

int fdatasync(int descriptor) {
  wait_for_disk();
  return (int)syscall(SYS_fdatasync, descriptor);
}

int fsync(int descriptor) {
  wait_for_disk();
  return (int)syscall(SYS_fsync, descriptor);
}
