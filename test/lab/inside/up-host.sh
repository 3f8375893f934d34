#!/bin/bash
# up-host.sh MAIN TAR: `keelson up` with an image archive on a host that is its own: what the machine has before and after must be the same.
# Runs inside the UML lab machine, where this user is root and cgroup v2 is the only hierarchy.
look() {
  echo "== cgroups"; find /sys/fs/cgroup -type d | sort
  echo "== mounts"; awk '{print $5}' /proc/self/mountinfo | sort
  echo "== links"; ip -o link | awk -F': ' '{print $2}' | sort
  echo "== namespaces"; ls /run/netns 2> /dev/null
  echo "== rules"; iptables-save 2> /dev/null | grep -v '^#' | grep '^-A'
  echo "== processes"; ps -eo comm= | grep -E 'containerd|node|pause|hog|cache' | sort
  echo "== files"; ls "$TMPDIR" /var/lib/kubelet /var/lib/keelson /var/log/pods 2> /dev/null
}
look > /run/before
node "$1" up --image-tar "$2" > /run/up.out 2> /run/up.err &
up=$!
for _ in $(seq 600); do grep -q 'node ready after' /run/up.out && break; kill -0 $up 2> /dev/null || break; sleep 0.5; done
cat /run/up.out /run/up.err
if grep -q 'node ready after' /run/up.out; then
  node "$1" doctor --checks cgroup-driver,protection-chain,unified-support,runtime-support --verbose --timeout 20
  echo "doctor: $?"
fi
kill -INT $up
wait $up || { echo "up ended with $?"; cat /run/up.err; exit 1; }
for _ in $(seq 20); do look > /run/after; cmp -s /run/before /run/after && break; sleep 0.5; done
diff /run/before /run/after && echo "SAME MACHINE"
