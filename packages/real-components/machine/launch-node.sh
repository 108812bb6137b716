#!/bin/sh
# Starts node.sh in new namespaces and removes its cgroups when all its processes have ended, also after SIGKILL.
# Arguments: the process whose network it joins, the folder of the node, the name of its cgroup.
set -eu
network=$1 node=$2 cgroup=$3
here=$(dirname "$0")

hierarchies() {
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then echo /sys/fs/cgroup; return; fi
  for folder in /sys/fs/cgroup/*; do
    if [ -e "$folder/cgroup.procs" ] && [ ! -L "$folder" ]; then echo "$folder"; fi
  done
}
for folder in $(hierarchies); do mkdir -p "$folder/$cgroup"; done
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  # Controllers that the system enabled at its root; those missing are reported by the kubelet.
  for controller in cpu cpuset memory pids io hugetlb; do
    echo "+$controller" > /sys/fs/cgroup/cgroup.subtree_control 2> /dev/null || true
  done
fi

# The pipe is open in every process of the node: when it closes, all have ended. The janitor has its own session, so that
# it survives a signal to this process group.
{
  sh -c 'echo "$$" > "$2/pid"
    exec nsenter --net="/proc/$1/ns/net" unshare --pid --mount --fork --kill-child --mount-proc --propagation private \
      sh "$0" "$2" 2>&1' "$here/node.sh" "$network" "$node"
} | setsid sh "$here/janitor.sh" "$cgroup" $(hierarchies)
