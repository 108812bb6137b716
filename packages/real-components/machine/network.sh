#!/bin/sh
# The network of the real nodes, run by `unshare --net`: a network namespace without a connection to the machine's network.
# Arguments: the addresses, the range of the Services, then the program to run there.
set -eu
addresses=$1 services=$2
shift 2
iproute link set lo up
for address in $addresses; do iproute address add "$address/32" dev lo; done
# Service addresses exist only in the rules of kube-proxy, but programs of the node need a route to reach those rules.
iproute route add "$services" dev lo src "${addresses%% *}"
echo 1 > /proc/sys/net/ipv4/ip_forward
exec "$@"
