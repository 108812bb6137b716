#!/bin/sh
# One real node, in its own mount and process namespaces: when this process ends, the kernel ends all containers and
# removes all mounts. Argument: the folder of the node.
set -eu
node=$1
trap 'exit 143' TERM

# Everything that containerd, CNI and the kubelet write outside the folder.
for folder in /run /var/lib /var/log; do mount -t tmpfs tmpfs "$folder"; done
# The kubelet sets these for the whole machine, so it gets files to write into.
for setting in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys \
  kernel/keys/root_maxbytes; do
  [ -e "/proc/sys/$setting" ] || continue
  copy=$node/sysctl-$(basename "$setting")
  cat "/proc/sys/$setting" > "$copy"
  mount --bind "$copy" "/proc/sys/$setting"
done
mkdir /var/lib/kubelet
mount --bind "$node/volumes" /var/lib/kubelet
mount --make-rshared /

containerd --config "$node/containerd.toml" > "$node/containerd.log" 2>&1 &
tries=0
until ctr --connect-timeout 1s version > /dev/null 2>&1; do
  tries=$((tries + 1))
  if ! kill -0 $! 2> /dev/null || [ "$tries" -gt 600 ]; then
    echo "containerd did not start; the last lines of its log:" >&2
    tail -n 20 "$node/containerd.log" >&2
    exit 1
  fi
  sleep 0.1
done
for image in "$node"/images/*.tar; do ctr --namespace k8s.io images import "$image"; done

"$KUBELET" --config="$node/kubelet.json" --kubeconfig="$node/kubeconfig" --root-dir=/var/lib/kubelet \
  --housekeeping-interval=2s --cert-dir="$node/pki" --hostname-override="$(cat "$node/name")" --node-ip="$(cat "$node/address")" \
  --node-labels="oaas.io/node=real" > "$node/kubelet.log" 2>&1 &
status=0
# Also reaps processes of containers whose parent ended.
wait $! || status=$?
echo "the kubelet ended with status $status; the last lines of its log:" >&2
tail -n 20 "$node/kubelet.log" >&2
exit "$status"
