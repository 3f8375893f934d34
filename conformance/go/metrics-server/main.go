// Asks a node for /metrics/resource with metrics-server's own client and decoder, and prints what it kept as JSON.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/metrics-server/pkg/scraper/client"
	"sigs.k8s.io/metrics-server/pkg/scraper/client/resource"
)

// Cumulative numbers are strings: they pass 2^53.
type point struct {
	Start, Time int64
	CPU, Memory string
}

func main() {
	address := flag.String("address", "127.0.0.1", "address of the node")
	port := flag.Int("port", 10250, "port of the node")
	node := flag.String("node", "", "name of the node")
	ca := flag.String("ca-file", "", "authority of the node's certificate")
	token := flag.String("token-file", "", "token for the node")
	flag.Parse()
	if err := run(*address, *port, *node, *ca, *token); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(address string, port int, name, ca, token string) error {
	c, err := resource.NewForConfig(&client.KubeletClientConfig{
		Client: rest.Config{
			BearerTokenFile: token,
			TLSClientConfig: rest.TLSClientConfig{CAFile: ca},
			Timeout:         10 * time.Second,
		},
		AddressTypePriority: []corev1.NodeAddressType{corev1.NodeInternalIP},
		Scheme:              "https",
		DefaultPort:         port,
	})
	if err != nil {
		return err
	}
	batch, err := c.GetMetrics(context.Background(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: corev1.NodeStatus{
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}},
		},
	})
	if err != nil {
		return err
	}
	out := struct {
		Nodes map[string]point
		Pods  map[string]map[string]point
	}{map[string]point{}, map[string]map[string]point{}}
	for node, p := range batch.Nodes {
		out.Nodes[node] = point{p.StartTime.UnixMilli(), p.Timestamp.UnixMilli(), fmt.Sprint(p.CumulativeCPUUsed), fmt.Sprint(p.MemoryUsage)}
	}
	for pod, m := range batch.Pods {
		containers := map[string]point{}
		for c, p := range m.Containers {
			containers[c] = point{p.StartTime.UnixMilli(), p.Timestamp.UnixMilli(), fmt.Sprint(p.CumulativeCPUUsed), fmt.Sprint(p.MemoryUsage)}
		}
		out.Pods[pod.String()] = containers
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}
