#!/bin/bash
# doctor-node.sh MAIN: a healthy node behind our CRI server, looked at by the doctor; then the same node with real troubles.
# Runs inside the UML lab machine, with a disk. Each look leaves NAME.json, and a line "NAME STATUS MILLISECONDS" on standard output.
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
runtime=$(sed -n 's/.*private, \(.*\)/\1/p' /run/up.out)
look old-runtime --runtime-endpoint "$runtime"
look no-runtime --runtime-endpoint unix:///run/nobody.sock
pods=$TMPDIR/keelson-up-0/pods
burstable=/sys/fs/cgroup/kubepods/burstable
roomy=$(echo $burstable/pod*)
newcomer() { # the cgroup of the one Burstable pod that was not there at first
  local p
  for p in $burstable/pod*; do [ "$p" = "$roomy" ] || [ ! -d "$p" ] || echo "$p"; done
}
held() { # until the newcomer has met memory.high some times
  local events
  for _ in $(seq 180); do
    events=$(sed -n 's/^high //p' "$(newcomer)/memory.events" 2> /dev/null)
    [ "${events:-0}" -gt 20 ] && break
    sleep 0.5
  done
}
# A pod whose page cache does not fit below memory.high: it is held back and gets on.
mkdir /run/disk
mkfs.ext4 -q -F "$LAB_DISKS" && mount "$LAB_DISKS" /run/disk || exit 1
dd if=/dev/zero of=/run/disk/file bs=1M count=96 2> /dev/null
sync
echo 3 > /proc/sys/vm/drop_caches # the pages are to be those of the pod
cat > "$pods/reader.yaml" << 'MANIFEST'
apiVersion: v1
kind: Pod
metadata: { name: reader }
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - name: main
      image: keelson.local/busybox:1
      imagePullPolicy: Never
      args: [/bin/sh, -c, 'while :; do cat /data/file > /dev/null; done']
      resources: { requests: { memory: 8Mi }, limits: { memory: 32Mi } }
      volumeMounts: [{ name: data, mountPath: /data, readOnly: true }]
  volumes: [{ name: data, hostPath: { path: /run/disk } }]
MANIFEST
held
look throttled
rm "$pods/reader.yaml"
for _ in $(seq 120); do [ -z "$(newcomer)" ] && break; sleep 0.5; done
# A pod whose memory does not fit, on a node without swap: it stands still.
pod tight '["200", "50"]' '{ requests: { memory: 16Mi }, limits: { memory: 128Mi } }'
cp /run/manifests/tight.yaml "$pods/"
held
# The kernel lets it sleep for up to two seconds at a time, and a look lasts less than one.
for _ in 1 2 3 4 5 6; do
  look stuck > /run/look
  grep -q '^stuck 4 ' /run/look && break
done
cat /run/look
# Somebody takes the protection away at the top, and the kubelet cannot put it back.
kubelet=$(pgrep -f 'main.js kubelet' | head -1)
kill -STOP "$kubelet"
echo 0 > /sys/fs/cgroup/kubepods/memory.min
look chain
kill -CONT "$kubelet"
kill -INT $up
wait $up
