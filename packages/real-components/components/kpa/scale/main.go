// Command scale runs Knative's autoscaler on observed concurrency, without a cluster.
//
// It reads {"cases":[{"name":…,"settings":…,"steps":[…]}]} from standard input and prints the decision of each step "scale".
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric/noop"
	"go.uber.org/zap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/serving/pkg/apis/autoscaling"
	"knative.dev/serving/pkg/apis/autoscaling/v1alpha1"
	"knative.dev/serving/pkg/autoscaler/metrics"
	"knative.dev/serving/pkg/autoscaler/scaling"
)

type settings struct {
	TargetValue         float64 `json:"targetValue"`
	TotalValue          float64 `json:"totalValue"`
	MaxScaleUpRate      float64 `json:"maxScaleUpRate"`
	MaxScaleDownRate    float64 `json:"maxScaleDownRate"`
	PanicThreshold      float64 `json:"panicThreshold"`
	StableWindowMs      int64   `json:"stableWindowMs"`
	PanicWindowMs       int64   `json:"panicWindowMs"`
	ScaleDownDelayMs    int64   `json:"scaleDownDelayMs"`
	TargetBurstCapacity float64 `json:"targetBurstCapacity"`
	ActivationScale     int32   `json:"activationScale"`
}

// step is one of: record (the concurrency of each second from a time on), scale.
type step struct {
	Op     string    `json:"op"`
	AtMs   int64     `json:"atMs"`
	Values []float64 `json:"values"`
	Ready  int       `json:"ready"`
}

type testCase struct {
	Name         string   `json:"name"`
	Settings     settings `json:"settings"`
	ReadyAtStart int      `json:"readyAtStart"`
	Steps        []step   `json:"steps"`
}

type decision struct {
	Valid               bool    `json:"valid"`
	Desired             int32   `json:"desired"`
	ExcessBurstCapacity int32   `json:"excessBurstCapacity"`
	Stable              float64 `json:"stable"`
	Panic               float64 `json:"panic"`
}

type result struct {
	Name      string     `json:"name"`
	Decisions []decision `json:"decisions"`
}

// readyPods is the number of ready pods, set by each step.
type readyPods struct{ count int }

func (r *readyPods) ReadyCount() (int, error)    { return r.count, nil }
func (r *readyPods) NotReadyCount() (int, error) { return 0, nil }

func main() {
	if len(os.Args) > 1 {
		fmt.Println("usage: scale < cases.json")
		return
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run() error {
	var input struct {
		Cases []testCase `json:"cases"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		return err
	}
	results := []result{}
	for _, c := range input.Cases {
		decisions, err := replay(c)
		if err != nil {
			return fmt.Errorf("case %q: %w", c.Name, err)
		}
		results = append(results, result{c.Name, decisions})
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"cases": results})
}

func replay(c testCase) ([]decision, error) {
	key := types.NamespacedName{Namespace: "default", Name: "revision"}
	logger := zap.NewNop().Sugar()
	// No scraper: samples are recorded as the activator's are.
	collector := metrics.NewMetricCollector(
		func(*v1alpha1.Metric, *zap.SugaredLogger) (metrics.StatsScraper, error) { return nil, nil }, logger)
	stableWindow := time.Duration(c.Settings.StableWindowMs) * time.Millisecond
	err := collector.CreateOrUpdate(&v1alpha1.Metric{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec: v1alpha1.MetricSpec{
			StableWindow: stableWindow,
			PanicWindow:  time.Duration(c.Settings.PanicWindowMs) * time.Millisecond,
			ScrapeTarget: "target",
		},
	})
	if err != nil {
		return nil, err
	}
	defer collector.Delete(key.Namespace, key.Name)

	// An autoscaler that starts with several pods panics from the time of its creation, which is the start of a case.
	// The delay of scaling down counts in steps of two seconds.
	start := time.Now().Truncate(2 * time.Second)
	pods := &readyPods{c.ReadyAtStart}
	scaler := scaling.New(*attribute.EmptySet(), noop.NewMeterProvider(), key.Namespace, key.Name, collector, pods,
		&scaling.DeciderSpec{
			MaxScaleUpRate:      c.Settings.MaxScaleUpRate,
			MaxScaleDownRate:    c.Settings.MaxScaleDownRate,
			ScalingMetric:       autoscaling.Concurrency,
			TargetValue:         c.Settings.TargetValue,
			TotalValue:          c.Settings.TotalValue,
			TargetBurstCapacity: c.Settings.TargetBurstCapacity,
			PanicThreshold:      c.Settings.PanicThreshold,
			StableWindow:        stableWindow,
			ScaleDownDelay:      time.Duration(c.Settings.ScaleDownDelayMs) * time.Millisecond,
			Reachable:           true,
			ActivationScale:     c.Settings.ActivationScale,
		})

	decisions := []decision{}
	for _, s := range c.Steps {
		at := start.Add(time.Duration(s.AtMs) * time.Millisecond)
		switch s.Op {
		case "record":
			for i, value := range s.Values {
				collector.Record(key, at.Add(time.Duration(i)*time.Second), metrics.Stat{AverageConcurrentRequests: value})
			}
		case "scale":
			pods.count = s.Ready
			scaled := scaler.Scale(logger, at)
			stable, panicking, _ := collector.StableAndPanicConcurrency(key, at)
			decisions = append(decisions,
				decision{scaled.ScaleValid, scaled.DesiredPodCount, scaled.ExcessBurstCapacity, stable, panicking})
		default:
			return nil, fmt.Errorf("unknown step %q", s.Op)
		}
	}
	return decisions, nil
}
