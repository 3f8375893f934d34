#!/bin/bash
# up-endpoint.sh MAIN: `keelson up` over a runtime that is there already and stays; once with manifests, once with no pods.
# Runs inside the UML lab machine, whose containerd is that runtime.
mkdir -p /run/manifests
cat > /run/manifests/own.yaml << 'MANIFEST'
apiVersion: v1
kind: Pod
metadata: { name: own }
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - { name: main, image: "keelson.local/busybox:1", imagePullPolicy: Never, args: [/bin/sh, -c, "sleep 100000"] }
MANIFEST
ctr() { command ctr --address "${CONTAINER_RUNTIME_ENDPOINT#unix://}" --namespace k8s.io "$@"; }
run() { # NAME FLAGS...
  local name=$1
  shift
  node "$main" up --runtime-endpoint "$CONTAINER_RUNTIME_ENDPOINT" "$@" > "/run/$name.out" 2> "/run/$name.err" &
  local up=$!
  for _ in $(seq 300); do grep -q 'node ready after' "/run/$name.out" && break; kill -0 $up 2> /dev/null || break; sleep 0.5; done
  echo "$name containers while it runs: $(ctr containers ls -q | wc -l)"
  kill -INT $up
  wait $up || { echo "$name ended with $?"; cat "/run/$name.out" "/run/$name.err"; exit 1; }
  grep -E 'machine|node ready  ' "/run/$name.out"
  echo "$name containers after: $(ctr containers ls -q | wc -l)"
  [ -d /sys/fs/cgroup/kubepods ] && echo "$name left kubepods"
  return 0
}
main=$1
run manifests --pods /run/manifests
run nothing --no-demo
ctr version | grep -q Server && echo "the runtime answers"
