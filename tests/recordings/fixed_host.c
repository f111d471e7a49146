/* Preloaded, it gives a program a host on which nothing changes: its wall clock always says the second since 1970 in
 * SHAPLEY_RECORDED_AT, synchronized, a million seconds after it was started; its name is "recorder", its only user is
 * root, and root runs the program. The monotonic clock, by which programs wait, is the machine's own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

static time_t recorded_at(void) {
  const char* seconds = getenv("SHAPLEY_RECORDED_AT");
  if (!seconds) abort();
  return strtol(seconds, NULL, 10);
}

int clock_gettime(clockid_t id, struct timespec* now) {
  switch (id) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
      *now = (struct timespec){.tv_sec = recorded_at()};
      return 0;
    case CLOCK_BOOTTIME:
      *now = (struct timespec){.tv_sec = 1000000};
      return 0;
    default:
      return (int)syscall(SYS_clock_gettime, id, now);
  }
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  (void)zone;
  *now = (struct timeval){.tv_sec = recorded_at()};
  return 0;
}

time_t time(time_t* to) {
  time_t now = recorded_at();
  if (to) *to = now;
  return now;
}

int adjtimex(struct timex* state) {
  state->status = 0;
  return TIME_OK;
}

int gethostname(char* name, size_t size) {
  static const char own[] = "recorder";
  if (size < sizeof(own)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(name, own, sizeof(own));
  return 0;
}

uid_t getuid(void) {
  return 0;
}

static struct passwd root = {.pw_name = "root", .pw_passwd = "", .pw_gecos = "", .pw_dir = "/", .pw_shell = ""};

struct passwd* getpwuid(uid_t id) {
  return id == 0 ? &root : NULL;
}

struct passwd* getpwnam(const char* name) {
  return strcmp(name, root.pw_name) == 0 ? &root : NULL;
}

static int give(const struct passwd* found, struct passwd* entry, struct passwd** result) {
  *result = NULL;
  if (!found) return 0;
  *entry = *found;
  *result = entry;
  return 0;
}

int getpwuid_r(uid_t id, struct passwd* entry, char* texts, size_t size, struct passwd** result) {
  (void)texts, (void)size;
  return give(getpwuid(id), entry, result);
}

int getpwnam_r(const char* name, struct passwd* entry, char* texts, size_t size, struct passwd** result) {
  (void)texts, (void)size;
  return give(getpwnam(name), entry, result);
}
