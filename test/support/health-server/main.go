// Command health is the gRPC health server of the lab's health image: standard grpc.health.v1, nothing else.
//
//	health [-port 9090] [-service NAME]... [-fail-file PATH]
//
// The server as a whole ("") and each named service are SERVING; while PATH exists they are NOT_SERVING.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

type names []string

func (n *names) String() string     { return "" }
func (n *names) Set(v string) error { *n = append(*n, v); return nil }

func main() {
	port := flag.Int("port", 9090, "port to listen on")
	failFile := flag.String("fail-file", "/tmp/unhealthy", "NOT_SERVING while this file exists")
	services := names{""}
	flag.Var(&services, "service", "service name to answer for; may be repeated")
	flag.Parse()

	listener, err := net.Listen("tcp", net.JoinHostPort("", strconv.Itoa(*port)))
	if err != nil {
		log.Fatal(err)
	}
	state := health.NewServer()
	server := grpc.NewServer()
	healthpb.RegisterHealthServer(server, state)

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	go func() {
		for ctx.Err() == nil {
			status := healthpb.HealthCheckResponse_SERVING
			if _, err := os.Stat(*failFile); err == nil {
				status = healthpb.HealthCheckResponse_NOT_SERVING
			}
			for _, name := range services {
				state.SetServingStatus(name, status)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	go func() {
		<-ctx.Done()
		server.Stop()
	}()
	log.Printf("health server on %s", listener.Addr())
	if err := server.Serve(listener); err != nil {
		log.Fatal(err)
	}
}
