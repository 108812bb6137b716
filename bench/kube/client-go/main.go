// The contender in the benchmarks of kube-runtime: the same work done with Kubernetes' own Go library.
//
//	contender apply    <kubeconfig> <objects file> <concurrency> <warm-up objects>
//
// It prints one line of JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 4 {
		return fmt.Errorf("too few arguments: %q", args)
	}
	config, err := clientcmd.BuildConfigFromFlags("", args[1])
	if err != nil {
		return err
	}
	// No limit on the client's side: the server is what we measure against.
	config.QPS = -1
	switch args[0] {
	case "apply":
		return apply(config, args[2], number(args[3]), number(args[4]))
	}
	return fmt.Errorf("unknown command %q", args[0])
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return value
}

func say(result map[string]any) error {
	return json.NewEncoder(os.Stdout).Encode(result)
}

// cpuMillis is the processor time of this process so far, user and system.
func cpuMillis() float64 {
	usage := rusage()
	total := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	return float64(total) / float64(time.Millisecond)
}

func peakRssBytes() int64 {
	return rusage().Maxrss * 1024
}

func rusage() syscall.Rusage {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage
}

func millisSince(start time.Time) float64 {
	return float64(time.Since(start)) / float64(time.Millisecond)
}
