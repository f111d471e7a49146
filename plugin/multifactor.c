#include "plugin/multifactor.h"

#include <string.h>

#include "plugin/threads.h"

static shapley_gate_t gate; /* open while the stock plugin is loaded */
static plugin_context_t* context;
static shapley_stock_ops_t stock;

bool shapley_multifactor_load(void) {
  const char* names[k_shapley_stock_ops];
  memcpy(names, shapley_stock_names(), sizeof(names));
  context = plugin_context_create("priority", "priority/multifactor", (void**)&stock, names, sizeof(names));
  if (!context) return false;
  shapley_gate_open(&gate);
  return true;
}

void shapley_multifactor_unload(void) {
  shapley_gate_close(&gate);
  if (context) plugin_context_destroy(context);
  context = NULL;
}

/* The stock plugin's table for one call, or NULL when it is gone; then nothing is to be released. */
static const shapley_stock_ops_t* enter(void) {
  return shapley_gate_enter(&gate) ? &stock : NULL;
}

static void leave(void) {
  shapley_gate_leave(&gate);
}

uint32_t shapley_multifactor_set(job_record_t* job) {
  const shapley_stock_ops_t* ops = enter();
  if (!ops) return 0;
  uint32_t priority = ops->set(0, job);
  leave();
  return priority;
}

void shapley_multifactor_reconfig(bool assoc_clear) {
  const shapley_stock_ops_t* ops = enter();
  if (!ops) return;
  ops->reconfig(assoc_clear);
  leave();
}

void shapley_multifactor_set_assoc_usage(slurmdb_assoc_rec_t* assoc) {
  const shapley_stock_ops_t* ops = enter();
  if (!ops) return;
  ops->set_assoc_usage(assoc);
  leave();
}

double shapley_multifactor_calc_fs_factor(long double usage_efctv, long double shares_norm) {
  const shapley_stock_ops_t* ops = enter();
  if (!ops) return 0.0;
  double factor = shapley_stock_calc_fs_factor(ops, usage_efctv, shares_norm);
  leave();
  return factor;
}

shapley_list_t shapley_multifactor_get_factors(SHAPLEY_FACTORS_PARAMETERS) {
  const shapley_stock_ops_t* ops = enter();
  if (!ops) return NULL;
  shapley_list_t factors = ops->get_priority_factors_list(SHAPLEY_FACTORS_ARGUMENTS);
  leave();
  return factors;
}

void shapley_multifactor_job_end(job_record_t* job) {
  const shapley_stock_ops_t* ops = enter();
  if (!ops) return;
  ops->job_end(job);
  leave();
}

uint32_t shapley_multifactor_recover(uint32_t prio_boost) {
  const shapley_stock_ops_t* ops = enter();
  if (!ops) return prio_boost;
  uint32_t boost = shapley_stock_recover(ops, prio_boost);
  leave();
  return boost;
}

void shapley_multifactor_thread_start(void) {
  const shapley_stock_ops_t* ops = enter();
  if (!ops) return;
  shapley_stock_thread_start(ops);
  leave();
}
