// cAdvisor's library as a kubelet runs it: the kubelet's metric set, labels and housekeeping, on /metrics of a loopback
// port that is printed first. Names of pods come from the labels of their containers.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/google/cadvisor/lib/cache/memory"
	"github.com/google/cadvisor/lib/container"
	_ "github.com/google/cadvisor/lib/container/containerd/install"
	"github.com/google/cadvisor/lib/manager"
	"github.com/google/cadvisor/lib/metrics"
	info "github.com/google/cadvisor/lib/model"
	"github.com/google/cadvisor/lib/utils/sysfs"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/utils/clock"
)

func labels(c *info.ContainerInfo) map[string]string {
	name := ""
	if len(c.Aliases) > 0 {
		name = c.Aliases[0]
	}
	of := func(key string) string { return c.Spec.Labels["io.kubernetes."+key] }
	return map[string]string{
		"id":        c.Name,
		"name":      name,
		"image":     c.Spec.Image,
		"pod":       of("pod.name"),
		"namespace": of("pod.namespace"),
		"container": of("container.name"),
	}
}

func main() {
	roots := flag.String("roots", "/kubepods", "cgroups to look below, separated by commas")
	kinds := flag.String("metrics", "cpu,memory,disk,diskIO,network,process,oom_event", "metric set")
	if err := flag.Set("housekeeping_interval", "10s"); err != nil {
		panic(err)
	}
	flag.Parse()
	if err := run(strings.Split(*roots, ","), *kinds); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(roots []string, kinds string) error {
	set := container.MetricSet{}
	if err := set.Set(kinds); err != nil {
		return err
	}
	longest, dynamic := 15*time.Second, true
	m, err := manager.New(memory.New(2*time.Minute, nil), sysfs.NewRealSysFs(),
		manager.HousekeepingConfig{Interval: &longest, AllowDynamic: &dynamic}, set, roots, nil, "", 0)
	if err != nil {
		return err
	}
	if err := m.Start(); err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics.NewPrometheusCollector(m, labels, set, clock.RealClock{},
		info.RequestOptions{IdType: info.TypeName, Count: 1, Recursive: true}))
	registry.MustRegister(metrics.NewPrometheusMachineCollector(m, set))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	http.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	return http.Serve(listener, nil)
}
