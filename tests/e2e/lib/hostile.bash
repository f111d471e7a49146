# What a member's shell and a site say to everybody who logs in. To be sourced after jobs.bash.

# hostile COMMAND...: as from a shell that says much of Slurm's commands, of another time zone and language, within an allocation of another cluster.
hostile() (
  # The shell complains of a language that is not installed.
  { export SQUEUE_FORMAT=%i SQUEUE_STATES=RUNNING SQUEUE_PARTITION=none SQUEUE_SORT=-i SQUEUE_USERS=nobody SQUEUE_ARRAY=1 SPRIO_FORMAT=%i \
    SBATCH_PARTITION=none SBATCH_TIMELIMIT=1 SBATCH_ACCOUNT=nobody SBATCH_QOS=none SBATCH_CLUSTERS=another SALLOC_ACCOUNT=nobody SCONTROL_ALL=1 \
    SACCT_FORMAT=JobID SINFO_PARTITION=none SINFO_FORMAT=%P SACCTMGR_FORMAT=x SSHARE_FORMAT=x SLURM_CLUSTERS=another SLURM_TIME_FORMAT=relative \
    SLURM_BITSTR_LEN=4 SLURM_TOPO_LEN=4 SLURM_HINT=nomultithread SLURM_JOB_ID=4711 SLURM_JOB_NUM_NODES=99 SLURM_NTASKS=99 \
    TZ=Asia/Kolkata LANG=de_DE.UTF-8 LC_ALL=tr_TR.UTF-8 LANGUAGE=de; } 2>/dev/null
  "$@"
)
plain() { "$@"; }

# greet_all: job_submit greets all who submit, and slurmctld has read that.
greet_all() {
  printf '%s\n' 'function slurm_job_submit(d, p, u) slurm.log_user("Welcome. Your project has 12 days left."); return slurm.SUCCESS end' \
    'function slurm_job_modify(d, j, p, u) return slurm.SUCCESS end' 'return slurm.SUCCESS' >"$CLUSTER_DIR/job_submit.lua"
  echo JobSubmitPlugins=lua >>"$SLURM_CONF"
  reconfigure
  wait_until 10 _greeted
}
_greeted() { sbatch --test-only -A bio -n1 --wrap true 2>&1 | grep -q Welcome; }
