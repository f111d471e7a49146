#include "plugin/scan/privacy.h"

#include <stdlib.h>
#include <string.h>

/* A change of an operator or coordinator is noticed after this time at most. */
enum { k_read_again_ms = 5000 };

static const uint16_t k_hidden = PRIVATE_DATA_JOBS | PRIVATE_DATA_USAGE;

bool shapley_privacy_begin(shapley_privacy_reader_t* reader, int64_t now_ms) {
  uint16_t flags = slurm_conf.private_data & k_hidden;
  reader->due = !reader->read_ms || flags != reader->flags || now_ms - reader->read_ms >= k_read_again_ms;
  if (!reader->due) return false;
  reader->read_ms = now_ms;
  reader->flags = flags;
  return flags;
}

/* ---- users that nothing is hidden from ---------------------------------------------------------- */

typedef struct {
  shapley_privacy_reader_t* reader;
  bool coordinators; /* whether they see more than others */
  size_t users, accounts;
} listing_t;

/* Stops at the bound: accounts beyond it are visible to fewer users. */
static int add_account(void* element, void* to) {
  const slurmdb_coord_rec_t* coordinated = element;
  listing_t* listing = to;
  if (listing->accounts == k_shapley_max_coordinated_accounts) return -1;
  if (coordinated->name) listing->reader->accounts[listing->accounts++] = coordinated->name;
  return 0;
}

/* A user that this host does not know has no uid, by which slurmctld would find it. */
static int add_user(void* element, void* to) {
  const slurmdb_user_rec_t* record = element;
  listing_t* listing = to;
  bool is_operator = record->admin_level >= SLURMDB_ADMIN_OPERATOR;
  bool is_coordinator = listing->coordinators && record->coord_accts && list_count(record->coord_accts) > 0;
  if (record->uid == NO_VAL || (!is_operator && !is_coordinator)) return 0;
  if (listing->users == k_shapley_max_privileged_users) return -1;
  shapley_privileged_user_t* user = &listing->reader->users[listing->users++];
  const char** accounts = &listing->reader->accounts[listing->accounts];
  size_t before = listing->accounts;
  if (is_coordinator) list_for_each_ro(record->coord_accts, add_account, listing);
  *user = (shapley_privileged_user_t){.user_id = record->uid,
                                      .is_operator = is_operator,
                                      .accounts = accounts,
                                      .accounts_count = listing->accounts - before};
  return 0;
}

static bool has_room(shapley_privacy_reader_t* reader) {
  if (!reader->users) reader->users = calloc(k_shapley_max_privileged_users, sizeof(*reader->users));
  if (!reader->accounts) reader->accounts = calloc(k_shapley_max_coordinated_accounts, sizeof(*reader->accounts));
  return reader->users && reader->accounts;
}

/* Where labels decide instead of accounts, coordinators see no more than others; labels are not passed on. */
static bool do_labels_decide(void) {
  return slurm_conf.mcs_plugin_params && xstrcasestr(slurm_conf.mcs_plugin_params, "privatedata");
}

void shapley_privacy_pass(shapley_privacy_reader_t* reader, shapley_client_t* client) {
  if (!reader->due) return;
  reader->due = false;
  listing_t listing = {.reader = reader, .coordinators = !do_labels_decide()};
  if (reader->flags && assoc_mgr_user_list && has_room(reader))
    list_for_each_ro(assoc_mgr_user_list, add_user, &listing);
  shapley_privacy_t privacy = {
      .jobs = reader->flags & PRIVATE_DATA_JOBS,
      .usage = reader->flags & PRIVATE_DATA_USAGE,
      .users = reader->users,
      .users_count = listing.users,
  };
  shapley_client_scan_privacy(client, &privacy);
}

void shapley_privacy_free(shapley_privacy_reader_t* reader) {
  free(reader->users);
  free(reader->accounts);
  memset(reader, 0, sizeof(*reader));
}
