#!/usr/bin/env bats
# charge: billing where Slurm cuts the bills of small jobs to 0.

load lib/e2e

# Nodes of 16 CPUs. main bills CPUs, cheap a tenth of one, and every node is in both.
setup() {
  CLUSTER_RANKING="guarantee: 0.5"
  cluster_prepare
  three_organizations "charge: billing"
  echo "PartitionName=cheap Nodes=ALL TRESBillingWeights=CPU=0.1 MaxTime=INFINITE DefaultTime=60 State=UP" >>"$SLURM_CONF"
  cluster_start
  wait_until 15 plugin_connected
}

# figure_is ORGANIZATION MEMBER VALUE: of the present, by the books.
figure_is() {
  shapleyctl status --json |
    jq -e --arg name "$1" --arg member "$2" --argjson value "$3" '.organizations[] | select(.name == $name) | .[$member] == $value' >/dev/null
}

@test "an organization that runs on its nodes for nothing has its guarantee" {
  # A job of 8 CPUs is billed 0.8, which is cut to 0.
  for node in n1 n2; do submit astro -p cheap -w "$node" -n8 "$(until_told end)" >/dev/null; done
  submit bio -p main -w n3 -n16 "$(until_told end)" >/dev/null
  submit astro -p main -w n3 -n1 "true" >/dev/null
  wait_until 30 figure_is astro used 16
  wait_until 30 figure_is astro waiting 1
  figure_is astro owned 32
  figure_is astro charged 2e-06
  figure_is astro guarantee 0.5
  figure_is astro below_guarantee false
  figure_is astro lacking 0
  run shapleyctl check-config --against-slurm "$CLUSTER_DIR/shapleyd.yaml"
  [[ "$output" == *"the partitions of n[1-4] have different TRESBillingWeights: cheap (CPU=0.1), main (no weights: CPUs)"* ]]
  [[ "$output" == *"a small job may be billed 0 in cheap (CPU=0.1)"* ]]
  tell end
  wait_drained 60
}
