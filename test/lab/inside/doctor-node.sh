#!/bin/bash
# doctor-node.sh MAIN: a healthy node behind our CRI server, looked at by the doctor; then the same node with real troubles.
# Runs inside the UML bed. Each look leaves NAME.json, and a line "NAME STATUS MILLISECONDS" on standard output.
main=$1
mkdir -p /run/manifests
pod() { # NAME ARGS RESOURCES
  cat > "/run/manifests/$1.yaml" << MANIFEST
apiVersion: v1
kind: Pod
metadata: { name: $1 }
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - { name: main, image: "keelson.local/hog:1", imagePullPolicy: Never, args: $2, resources: $3 }
MANIFEST
}
pod steady '["8", "1000"]' '{ requests: { cpu: 50m, memory: 32Mi }, limits: { cpu: 50m, memory: 32Mi } }'
pod roomy '["8", "1000"]' '{ requests: { memory: 16Mi }, limits: { memory: 64Mi } }'
node "$main" up --pods /run/manifests > /run/up.out 2> /run/up.err &
up=$!
for _ in $(seq 600); do grep -q 'node ready after' /run/up.out && break; kill -0 $up 2> /dev/null || break; sleep 0.5; done
grep -q 'node ready after' /run/up.out || { cat /run/up.out /run/up.err; exit 1; }
sleep 12 # the CRI server has measured once by then

look() { # NAME FLAGS...
  local name=$1 begin end status
  shift
  begin=$(date +%s%N)
  node "$main" doctor -o json --timeout 15 "$@" > "$LAB_OUT/$name.json" 2> "$LAB_OUT/$name.err"
  status=$?
  end=$(date +%s%N)
  echo "$name $status $(((end - begin) / 1000000))"
}
look healthy
runtime=$(sed -n 's/.*a private one, \(.*\)/\1/p' /run/up.out)
look old-runtime --container-runtime-endpoint "$runtime"
look no-runtime --container-runtime-endpoint unix:///run/nobody.sock
# A pod that wants more than memory.high; the kubelet takes it up like any other manifest.
pod tight '["62", "50"]' '{ requests: { memory: 16Mi }, limits: { memory: 64Mi } }'
cp /run/manifests/tight.yaml "$TMPDIR"/keelson-up-0/pods/
for _ in $(seq 120); do
  grep -qsE '^high [1-9]' /sys/fs/cgroup/kubepods/burstable/memory.events && break
  sleep 0.5
done
look throttled
# Somebody takes the protection away at the top, and the kubelet cannot put it back.
kubelet=$(pgrep -f 'main.js kubelet' | head -1)
kill -STOP "$kubelet"
echo 0 > /sys/fs/cgroup/kubepods/memory.min
look chain
kill -CONT "$kubelet"
kill -INT $up
wait $up
