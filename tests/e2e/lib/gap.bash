# Times in which slurmctld runs and no plugin looks at its records. To be sourced after jobs.bash.

# plugin_away, plugin_back: slurmctld without our plugin, and with it again. Associations' usage is none of basic's business.
plugin_away() {
  cp "$SLURM_CONF" "$CLUSTER_DIR/slurm.conf.own"
  sed -i 's|^PriorityType=.*|PriorityType=priority/basic|; /^PriorityParameters=/d' "$SLURM_CONF"
  ctld_restart
}
plugin_back() {
  cat "$CLUSTER_DIR/slurm.conf.own" >"$SLURM_CONF"
  ctld_restart
}

# lose_a_run: the plugin is away for more than 20 s, in which a job, $lost, begins, is requeued and held; then the plugin is connected again.
lose_a_run() {
  between_launches plugin_away
  wait_until 30 nodes_ready
  open_queue
  lost=$(submit astro -n4 "sleep 3000")
  wait_until 30 job_is "$lost" RUNNING
  wait_until 10 seconds_passed 2
  scontrol requeue "$lost"
  wait_until 30 requeued_times "$lost" 1
  wait_until 30 job_is "$lost" PENDING
  scontrol hold "$lost"
  wait_until 60 seconds_passed 20
  between_launches plugin_back
  wait_until 30 plugin_connected
}
