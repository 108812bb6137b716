// Command recommend runs the model and the recommender of the vertical pod autoscaler on samples, without a cluster.
//
// It reads {"cases":[{"name":…,"steps":[…]}]} from standard input and prints what VPA recommends at each step "recommend".
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	vpa_types "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
	"k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/config"
	"k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/logic"
	"k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/model"
)

// step is one of: cpu, memory (samples of a pod at a fixed interval), oom, recommend.
type step struct {
	Op           string  `json:"op"`
	Pod          string  `json:"pod"`
	AtMs         int64   `json:"atMs"`
	StepMs       int64   `json:"stepMs"`
	Values       []int64 `json:"values"`
	RequestBytes int64   `json:"requestBytes"`
}

type testCase struct {
	Name  string `json:"name"`
	Steps []step `json:"steps"`
}

type amounts struct {
	CPU    int64 `json:"cpu"`
	Memory int64 `json:"memory"`
}

type histogram struct {
	ReferenceMs int64          `json:"referenceMs"`
	TotalWeight float64        `json:"totalWeight"`
	Buckets     map[int]uint32 `json:"buckets"`
}

type recommendation struct {
	Target          amounts   `json:"target"`
	LowerBound      amounts   `json:"lowerBound"`
	UpperBound      amounts   `json:"upperBound"`
	SampleCount     int       `json:"sampleCount"`
	CPUHistogram    histogram `json:"cpuHistogram"`
	MemoryHistogram histogram `json:"memoryHistogram"`
}

type result struct {
	Name            string           `json:"name"`
	Recommendations []recommendation `json:"recommendations"`
}

func main() {
	if len(os.Args) > 1 {
		fmt.Println("usage: recommend < cases.json")
		return
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "recommend:", err)
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
		recommendations, err := replay(c.Steps)
		if err != nil {
			return fmt.Errorf("case %q: %w", c.Name, err)
		}
		results = append(results, result{c.Name, recommendations})
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"cases": results})
}

func replay(steps []step) ([]recommendation, error) {
	aggregate := model.NewAggregateContainerState()
	pods := map[string]*model.ContainerState{}
	results := []recommendation{}
	for _, s := range steps {
		if _, known := pods[s.Pod]; !known {
			pods[s.Pod] = model.NewContainerState(nil, aggregate)
		}
		switch s.Op {
		case "cpu", "memory":
			addSamples(pods[s.Pod], s)
		case "oom":
			// An OOM that is too old is discarded with an error, as in the recommender.
			_ = pods[s.Pod].RecordOOM(time.UnixMilli(s.AtMs).UTC(), model.ResourceAmount(s.RequestBytes))
		case "recommend":
			recommended, err := recommend(aggregate)
			if err != nil {
				return nil, err
			}
			results = append(results, recommended)
		default:
			return nil, fmt.Errorf("unknown step %q", s.Op)
		}
	}
	return results, nil
}

func addSamples(pod *model.ContainerState, s step) {
	for i, value := range s.Values {
		at := time.UnixMilli(s.AtMs + int64(i)*s.StepMs).UTC()
		pod.AddSample(&model.ContainerUsageSample{
			MeasureStart: at, Usage: model.ResourceAmount(value), Resource: model.ResourceName(s.Op)})
	}
}

func recommend(aggregate *model.AggregateContainerState) (recommendation, error) {
	checkpoint, err := aggregate.SaveToCheckpoint()
	if err != nil {
		return recommendation{}, err
	}
	defaults := config.DefaultRecommenderConfig()
	recommender := logic.CreatePodResourceRecommender(logic.RecommendationConfig{
		SafetyMarginFraction:       defaults.SafetyMarginFraction,
		PodMinCPUMillicores:        defaults.PodMinCPUMillicores,
		PodMinMemoryMb:             defaults.PodMinMemoryMb,
		TargetCPUPercentile:        defaults.TargetCPUPercentile,
		LowerBoundCPUPercentile:    defaults.LowerBoundCPUPercentile,
		UpperBoundCPUPercentile:    defaults.UpperBoundCPUPercentile,
		ConfidenceIntervalCPU:      defaults.ConfidenceIntervalCPU,
		TargetMemoryPercentile:     defaults.TargetMemoryPercentile,
		LowerBoundMemoryPercentile: defaults.LowerBoundMemoryPercentile,
		UpperBoundMemoryPercentile: defaults.UpperBoundMemoryPercentile,
		ConfidenceIntervalMemory:   defaults.ConfidenceIntervalMemory,
	})
	recommended := recommender.GetRecommendedPodResources(model.ContainerNameToAggregateStateMap{"main": aggregate})["main"]
	return recommendation{
		Target:          amountsOf(recommended.Target),
		LowerBound:      amountsOf(recommended.LowerBound),
		UpperBound:      amountsOf(recommended.UpperBound),
		SampleCount:     checkpoint.TotalSamplesCount,
		CPUHistogram:    histogramOf(checkpoint.CPUHistogram),
		MemoryHistogram: histogramOf(checkpoint.MemoryHistogram),
	}, nil
}

func amountsOf(resources model.Resources) amounts {
	return amounts{int64(resources[model.ResourceCPU]), int64(resources[model.ResourceMemory])}
}

func histogramOf(checkpoint vpa_types.HistogramCheckpoint) histogram {
	return histogram{checkpoint.ReferenceTimestamp.UnixMilli(), checkpoint.TotalWeight, checkpoint.BucketWeights}
}
