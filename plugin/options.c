#include "plugin/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { k_min_interval_ms = 100, k_max_interval_ms = 60000, k_max_spool_mib = 65536 };

static const char k_allowed[] = "allowed: socket=PATH, interval=SECONDS (0.1 to 60), spool_max=MIB (1 to 65536)";

/* A plain decimal number and nothing after it. strtod alone would take "nan", "0x1p3" and leading blanks. */
static bool parse_number(const char* text, double* number) {
  char* end = NULL;
  if (!text[0] || strspn(text, "0123456789.") != strlen(text)) return false;
  *number = strtod(text, &end);
  return *end == '\0' && isfinite(*number);
}

static bool set_socket(const char* value, shapley_options_t* options) {
  if (value[0] != '/' || strlen(value) >= sizeof(options->socket_path)) return false;
  memcpy(options->socket_path, value, strlen(value) + 1);
  return true;
}

static bool set_interval(const char* value, shapley_options_t* options) {
  double seconds = 0;
  if (!parse_number(value, &seconds)) return false;
  double milliseconds = round(seconds * 1000);
  if (milliseconds < k_min_interval_ms || milliseconds > k_max_interval_ms) return false;
  options->interval_ms = (uint32_t)milliseconds;
  return true;
}

static bool set_spool_max(const char* value, shapley_options_t* options) {
  double mib = 0;
  if (!parse_number(value, &mib) || mib != floor(mib) || mib < 1 || mib > k_max_spool_mib) return false;
  options->spool_max_bytes = (uint64_t)mib << 20;
  return true;
}

static const struct {
  const char* key;
  bool (*set)(const char* value, shapley_options_t* options);
  const char* expected;
} k_options[] = {
    {"socket", set_socket, "an absolute path of at most 107 characters"},
    {"interval", set_interval, "seconds from 0.1 to 60, decimals allowed"},
    {"spool_max", set_spool_max, "whole MiB from 1 to 65536"},
};
enum { k_options_count = sizeof(k_options) / sizeof(k_options[0]) };

/* One "key=value". `given` has a bit for each key already met. */
static bool parse_one(char* item, unsigned* given, shapley_options_t* options, char* fault, size_t fault_size) {
  char* equals = strchr(item, '=');
  if (equals) *equals = '\0';
  for (size_t i = 0; i < k_options_count; i++) {
    if (strcmp(item, k_options[i].key) != 0) continue;
    if (!equals) {
      snprintf(fault, fault_size, "%s needs a value: %s", item, k_options[i].expected);
    } else if (*given & (1u << i)) {
      snprintf(fault, fault_size, "%s is given twice", item);
    } else if (!k_options[i].set(equals + 1, options)) {
      snprintf(fault, fault_size, "%s=%s: expected %s", item, equals + 1, k_options[i].expected);
    } else {
      *given |= 1u << i;
      return true;
    }
    return false;
  }
  snprintf(fault, fault_size, "unknown option \"%s\"; %s", item, k_allowed);
  return false;
}

bool shapley_options_parse(const char* text, shapley_options_t* options, char* fault, size_t fault_size) {
  shapley_options_t read = {
      .socket_path = "/run/shapley/shapleyd.sock", .interval_ms = 1000, .spool_max_bytes = 64u << 20};
  char copy[1024];
  unsigned given = 0;

  if (text && strlen(text) >= sizeof(copy)) {
    snprintf(fault, fault_size, "longer than %zu characters", sizeof(copy) - 1);
    return false;
  }
  snprintf(copy, sizeof(copy), "%s", text ? text : "");
  char* rest = NULL;
  for (char* item = strtok_r(copy, ",", &rest); item; item = strtok_r(NULL, ",", &rest)) {
    item += strspn(item, " \t");
    item[strcspn(item, " \t")] = '\0';
    if (item[0] && !parse_one(item, &given, &read, fault, fault_size)) return false;
  }
  *options = read;
  return true;
}
