/* What the plugin reads of PrivateData and of those who may see more than others, from users made by hand as the
 * association manager keeps them. */

#include "plugin/scan/privacy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/plugin/check.h"

/* ---- the client: keeps what it is handed, in words ----------------------------------------------- */

static char handed[4096];
static size_t passed, users, accounts;

void shapley_client_scan_privacy(shapley_client_t* client, const shapley_privacy_t* privacy) {
  (void)client;
  passed++;
  users = privacy->users_count;
  accounts = 0;
  size_t at = (size_t)snprintf(handed, sizeof(handed), "jobs %d usage %d", privacy->jobs, privacy->usage);
  for (size_t i = 0; i < privacy->users_count; i++) {
    const shapley_privileged_user_t* user = &privacy->users[i];
    accounts += user->accounts_count;
    if (privacy->users_count > 10 || user->accounts_count > 10) continue;
    at += (size_t)snprintf(handed + at, sizeof(handed) - at, "; %u%s", user->user_id,
                           user->is_operator ? " operator" : "");
    for (size_t a = 0; a < user->accounts_count; a++)
      at += (size_t)snprintf(handed + at, sizeof(handed) - at, " %s", user->accounts[a]);
  }
}

/* ---- the association manager's users ------------------------------------------------------------- */

static void no_destructor(void* element) {
  (void)element;
}

static void free_user(void* element) {
  slurmdb_user_rec_t* user = element;
  if (user->coord_accts) list_destroy(user->coord_accts);
  free(user);
}

static slurmdb_user_rec_t* add_user(uint32_t uid, uint16_t admin_level) {
  slurmdb_user_rec_t* user = calloc(1, sizeof(*user));
  user->uid = uid;
  user->admin_level = admin_level;
  list_append(assoc_mgr_user_list, user);
  return user;
}

static void add_coordinator(uint32_t uid, slurmdb_coord_rec_t* coordinated, size_t count) {
  slurmdb_user_rec_t* user = add_user(uid, SLURMDB_ADMIN_NONE);
  user->coord_accts = list_create(no_destructor);
  for (size_t i = 0; i < count; i++) list_append(user->coord_accts, &coordinated[i]);
}

static slurmdb_coord_rec_t k_biology[] = {{.name = "bio", .direct = 1}, {.name = "cells"}};

static void make_users(void) {
  assoc_mgr_user_list = list_create(free_user);
  add_user(1000, SLURMDB_ADMIN_NOTSET);
  add_user(1001, SLURMDB_ADMIN_NONE)->coord_accts = list_create(no_destructor);
  add_user(1002, SLURMDB_ADMIN_OPERATOR);
  add_user(1003, SLURMDB_ADMIN_SUPER_USER);
  add_user(NO_VAL, SLURMDB_ADMIN_SUPER_USER); /* this host does not know that user */
  add_coordinator(1004, k_biology, 2);
}

static void forget_users(void) {
  list_destroy(assoc_mgr_user_list);
  assoc_mgr_user_list = NULL;
}

/* What is handed over at this time, NULL: nothing. `locked`: whether the users are to be locked. */
static const char* read_at(shapley_privacy_reader_t* reader, int64_t now_ms, bool locked) {
  size_t before = passed;
  CHECK_EQ(shapley_privacy_begin(reader, now_ms), locked);
  shapley_privacy_pass(reader, NULL);
  return passed > before ? handed : NULL;
}

static const char* read_once(uint16_t private_data) {
  slurm_conf.private_data = private_data;
  shapley_privacy_reader_t reader = {0};
  const char* text = read_at(&reader, 1000, private_data & (PRIVATE_DATA_JOBS | PRIVATE_DATA_USAGE));
  shapley_privacy_free(&reader);
  return text;
}

/* ---- tests --------------------------------------------------------------------------------------- */

static void test_nothing_is_private(void) {
  make_users();
  CHECK_TEXT(read_once(0), "jobs 0 usage 0");
  CHECK_TEXT(read_once(PRIVATE_DATA_ACCOUNTS | PRIVATE_DATA_NODES), "jobs 0 usage 0");
  forget_users();
}

static void test_operators_and_coordinators_are_named(void) {
  make_users();
  const char* who = "; 1002 operator; 1003 operator; 1004 bio cells";
  char expected[256];
  snprintf(expected, sizeof(expected), "jobs 1 usage 0%s", who);
  CHECK_TEXT(read_once(PRIVATE_DATA_JOBS), expected);
  snprintf(expected, sizeof(expected), "jobs 0 usage 1%s", who);
  CHECK_TEXT(read_once(PRIVATE_DATA_USAGE | PRIVATE_DATA_USERS), expected);
  snprintf(expected, sizeof(expected), "jobs 1 usage 1%s", who);
  CHECK_TEXT(read_once(PRIVATE_DATA_JOBS | PRIVATE_DATA_USAGE), expected);
  forget_users();
}

/* slurmctld without slurmdbd knows no users. */
static void test_without_users_no_user_is_named(void) {
  assoc_mgr_user_list = NULL;
  CHECK_TEXT(read_once(PRIVATE_DATA_JOBS), "jobs 1 usage 0");
}

/* Labels decide there, and what they say is not passed on: a coordinator sees no more than others. */
static void test_labels_take_coordinators_sight(void) {
  make_users();
  char parameters[] = "ondemand,PrivateData,noselect";
  slurm_conf.mcs_plugin_params = parameters;
  CHECK_TEXT(read_once(PRIVATE_DATA_JOBS), "jobs 1 usage 0; 1002 operator; 1003 operator");
  slurm_conf.mcs_plugin_params = NULL;
  forget_users();
}

static void test_is_read_now_and_then(void) {
  make_users();
  shapley_privacy_reader_t reader = {0};
  slurm_conf.private_data = PRIVATE_DATA_JOBS;
  CHECK(read_at(&reader, 1000, true));
  CHECK(!read_at(&reader, 1100, false));
  CHECK(!read_at(&reader, 5999, false));
  CHECK(read_at(&reader, 6000, true));
  /* What slurm.conf says counts at once. */
  slurm_conf.private_data = 0;
  CHECK_TEXT(read_at(&reader, 6100, false), "jobs 0 usage 0");
  CHECK(!read_at(&reader, 6200, false));
  shapley_privacy_free(&reader);
  forget_users();
}

static void test_is_bounded(void) {
  assoc_mgr_user_list = list_create(free_user);
  static slurmdb_coord_rec_t many[k_shapley_max_coordinated_accounts];
  for (size_t i = 0; i < k_shapley_max_coordinated_accounts; i++) many[i].name = "account";
  add_coordinator(1, many, k_shapley_max_coordinated_accounts - 1);
  add_coordinator(2, many, 2);
  add_coordinator(3, many, 1);
  for (uint32_t i = 0; i < k_shapley_max_privileged_users; i++) add_user(1000 + i, SLURMDB_ADMIN_OPERATOR);
  CHECK(read_once(PRIVATE_DATA_JOBS));
  CHECK_EQ(users, k_shapley_max_privileged_users);
  CHECK_EQ(accounts, k_shapley_max_coordinated_accounts);
  forget_users();
}

int main(void) {
  test_nothing_is_private();
  test_operators_and_coordinators_are_named();
  test_without_users_no_user_is_named();
  test_labels_take_coordinators_sight();
  test_is_read_now_and_then();
  test_is_bounded();
  return failures != 0;
}
