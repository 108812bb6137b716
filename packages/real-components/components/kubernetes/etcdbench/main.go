// Command etcdbench measures etcd through its own Go client, so that another client can be compared in the same run.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

type result struct {
	Operation  string  `json:"operation"`
	Operations int     `json:"operations"`
	ValueBytes int     `json:"valueBytes"`
	Clients    int     `json:"clients"`
	Seconds    float64 `json:"seconds"`
	PerSecond  float64 `json:"perSecond"`
	P50Ms      float64 `json:"p50Ms"`
	P99Ms      float64 `json:"p99Ms"`
}

func main() {
	flag.CommandLine.SetOutput(os.Stdout)
	endpoints := flag.String("endpoints", "http://127.0.0.1:2379", "comma-separated endpoints")
	operation := flag.String("operation", "put", "put or get")
	count := flag.Int("n", 10000, "number of operations")
	size := flag.Int("size", 256, "bytes per value")
	clients := flag.Int("c", 16, "goroutines, all on one connection")
	prefix := flag.String("prefix", "/oaas/bench/", "key prefix")
	flag.Parse()
	if err := run(strings.Split(*endpoints, ","), *operation, *count, *size, *clients, *prefix); err != nil {
		fmt.Fprintln(os.Stderr, "etcdbench:", err)
		os.Exit(1)
	}
}

func run(endpoints []string, operation string, count, size, clients int, prefix string) error {
	if operation != "put" && operation != "get" {
		return fmt.Errorf("operation %q is neither put nor get", operation)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, DialTimeout: 5 * time.Second})
	if err != nil {
		return err
	}
	defer client.Close()
	value := make([]byte, size)
	rand.Read(value)
	key := func(i int) string { return fmt.Sprintf("%s%08d", prefix, i) }
	do := func(ctx context.Context, i int) error {
		if operation == "get" {
			_, err := client.Get(ctx, key(i))
			return err
		}
		_, err := client.Put(ctx, key(i), string(value))
		return err
	}
	// Connects, so that the first measured operation does not pay for it.
	if _, err := client.Get(context.Background(), prefix); err != nil {
		return err
	}
	elapsed, took, err := measure(count, clients, do)
	if err != nil {
		return err
	}
	sort.Slice(took, func(a, b int) bool { return took[a] < took[b] })
	ms := func(quantile float64) float64 { return float64(took[int(quantile*float64(count-1))]) / 1e6 }
	return json.NewEncoder(os.Stdout).Encode(result{
		Operation: operation, Operations: count, ValueBytes: size, Clients: clients,
		Seconds: elapsed.Seconds(), PerSecond: float64(count) / elapsed.Seconds(), P50Ms: ms(0.5), P99Ms: ms(0.99),
	})
}

func measure(count, clients int, do func(context.Context, int) error) (time.Duration, []time.Duration, error) {
	took := make([]time.Duration, count)
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var group sync.WaitGroup
	begun := time.Now()
	for range clients {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < count && failed.Load() == nil; i = int(next.Add(1)) - 1 {
				at := time.Now()
				if err := do(context.Background(), i); err != nil {
					failed.Store(&err)
				}
				took[i] = time.Since(at)
			}
		})
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return 0, nil, *err
	}
	return time.Since(begun), took, nil
}
