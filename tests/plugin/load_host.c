/* Loads priority_shapley.so through Slurm's own loader in a process that is not slurmctld, as sshare does.
 *
 * Usage: LD_PRELOAD=LIBSLURMFULL load_host SLURM_CONF PROGRAM
 * Preloaded, the library's symbols come before libc's, as in Slurm's own programs; else its error() would be glibc's.
 * With PROGRAM sshare the plugin must load, answer through the stock plugin, unload, and do it all again. With PROGRAM
 * slurmctld it believes to be in slurmctld, whose symbols this process lacks: it must refuse, not crash.
 * Needs no Slurm header: what it calls is looked up by name, so it is right for every release.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* find(const char* name) {
  void* symbol = dlsym(RTLD_DEFAULT, name);
  if (symbol) return symbol;
  fprintf(stderr, "no %s here: is libslurmfull preloaded?\n", name);
  exit(1);
}

/* Which program this is: by its name up to 24.11, by a bit from 25.05 on (run_in_daemon.h). */
static void pretend_to_be(char* program) {
  uint32_t* bits = dlsym(RTLD_DEFAULT, "slurm_daemon");
  if (bits)
    *bits = strcmp(program, "slurmctld") ? 0 : 1U << 3;
  else
    *(char**)find("slurm_prog_name") = program;
}

/* The stock plugin's 2^-(usage / shares / damping), the damping factor being 1 by default. From 25.11 on no program
 * asks a priority plugin for it. */
static int check_fs_factor(void) {
  double (*calc_fs_factor)(long double, long double);
  *(void**)&calc_fs_factor = dlsym(RTLD_DEFAULT, "priority_g_calc_fs_factor");
  if (!calc_fs_factor) return 0;
  double factor = calc_fs_factor(0.5L, 0.25L);
  if (fabs(factor - 0.25) < 1e-9) return 0;
  fprintf(stderr, "calc_fs_factor(0.5, 0.25) is %f, expected 2^-2\n", factor);
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  pretend_to_be(argv[2]);
  void (*conf_init)(const char*);
  int (*priority_init)(void);
  int (*priority_fini)(void);
  *(void**)&conf_init = find("slurm_conf_init");
  *(void**)&priority_init = find("priority_g_init");
  *(void**)&priority_fini = find("priority_g_fini");

  conf_init(argv[1]);
  if (!strcmp(argv[2], "slurmctld")) return priority_init() == 0;
  for (int round = 0; round < 2; round++)
    if (priority_init() != 0 || check_fs_factor() || priority_fini() != 0) return 1;
  return 0;
}
