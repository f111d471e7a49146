// Skeleton: every function of the contract exists, so that the shim links; it observes nothing and ranks nobody.
#include "plugin/client/shapley_client.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>

struct shapley_client {
  std::mutex mutex;
  std::condition_variable changed;
  bool hinted = false;
  bool stopping = false;
};

extern "C" {

shapley_client_t* shapley_client_create(const shapley_client_options_t*) {
  return new (std::nothrow) shapley_client;
}
void shapley_client_destroy(shapley_client_t* client) {
  delete client;
}

void shapley_client_scan_begin(shapley_client_t*, int64_t) {}
bool shapley_client_scan_job(shapley_client_t*, uint32_t, uint64_t) {
  return true;
}
void shapley_client_scan_record(shapley_client_t*, const shapley_job_t*) {}
bool shapley_client_scan_node(shapley_client_t*, uint32_t, uint64_t) {
  return true;
}
void shapley_client_scan_node_record(shapley_client_t*, uint32_t, const shapley_node_t*) {}
void shapley_client_scan_end(shapley_client_t*, bool) {}

shapley_order_t shapley_client_order(shapley_client_t*) {
  return {};
}
uint32_t shapley_client_rank(shapley_client_t*, const shapley_job_traits_t*) {
  return 0;
}

void shapley_client_hint(shapley_client_t* client) {
  const std::lock_guard lock(client->mutex);
  client->hinted = true;
  client->changed.notify_all();
}

enum shapley_wake shapley_client_wait(shapley_client_t* client, uint32_t timeout_ms) {
  std::unique_lock lock(client->mutex);
  client->changed.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                           [&] { return client->hinted || client->stopping; });
  if (client->stopping) return SHAPLEY_WAKE_STOP;
  if (!client->hinted) return SHAPLEY_WAKE_TICK;
  client->hinted = false;
  return SHAPLEY_WAKE_HINT;
}

void shapley_client_stop(shapley_client_t* client) {
  const std::lock_guard lock(client->mutex);
  client->stopping = true;
  client->changed.notify_all();
}

shapley_client_counters_t shapley_client_counters(shapley_client_t*) {
  return {};
}
}
