// Command hpareplicas runs the replica calculator of kube-controller-manager on given pods, without a cluster.
//
// It reads {"cases":[…]} from standard input and prints what the calculator returns for each case.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	autoscaling "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"k8s.io/kubernetes/pkg/controller/podautoscaler"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
)

// Times are milliseconds before now.
type pod struct {
	Phase        string `json:"phase"`
	IsDeleting   bool   `json:"isDeleting"`
	StartedMs    *int64 `json:"startedMs"`
	IsReady      *bool  `json:"isReady"`
	ReadySinceMs int64  `json:"readySinceMs"`
	Request      int64  `json:"request"`
	Usage        *int64 `json:"usage"`
	MeasuredMs   int64  `json:"measuredMs"`
	WindowMs     int64  `json:"windowMs"`
}

type testCase struct {
	Current      int32  `json:"current"`
	Resource     string `json:"resource"`
	Utilization  int32  `json:"utilization"`
	AverageValue int64  `json:"averageValue"`
	Pods         []pod  `json:"pods"`
}

type result struct {
	Error       string `json:"error,omitempty"`
	Replicas    int32  `json:"replicas"`
	Utilization int32  `json:"utilization"`
	Average     int64  `json:"average"`
}

const (
	tolerance             = 0.1
	cpuInitialization     = 5 * time.Minute
	initialReadinessDelay = 30 * time.Second
)

func main() {
	if len(os.Args) > 1 {
		fmt.Println("usage: hpareplicas < cases.json")
		return
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "hpareplicas:", err)
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
		results = append(results, calculate(c))
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"cases": results})
}

func calculate(c testCase) result {
	now := time.Now()
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	usage := usages{}
	for i, p := range c.Pods {
		name := fmt.Sprintf("pod-%d", i)
		_ = indexer.Add(podOf(name, p, c.Resource, now))
		if p.Usage != nil {
			usage[name] = metrics.PodMetric{Value: *p.Usage, Timestamp: before(now, p.MeasuredMs),
				Window: time.Duration(p.WindowMs) * time.Millisecond}
		}
	}
	calculator := podautoscaler.NewReplicaCalculator(
		usage, corelisters.NewPodLister(indexer), cpuInitialization, initialReadinessDelay)
	ctx, selector := context.Background(), labels.Everything()
	if c.Utilization > 0 {
		replicas, utilization, average, _, err := calculator.GetResourceReplicas(
			ctx, c.Current, c.Utilization, corev1.ResourceName(c.Resource), tolerances(), "default", selector, "")
		if err != nil {
			return result{Error: err.Error()}
		}
		return result{Replicas: replicas, Utilization: utilization, Average: average}
	}
	replicas, average, _, err := calculator.GetRawResourceReplicas(
		ctx, c.Current, c.AverageValue, corev1.ResourceName(c.Resource), tolerances(), "default", selector, "")
	if err != nil {
		return result{Error: err.Error()}
	}
	return result{Replicas: replicas, Average: average}
}

// tolerances sets the two fields of the type, which are not exported: down and up.
func tolerances() podautoscaler.Tolerances {
	var t podautoscaler.Tolerances
	*(*[2]float64)(unsafe.Pointer(&t)) = [2]float64{tolerance, tolerance}
	return t
}

func before(now time.Time, ms int64) time.Time {
	return now.Add(-time.Duration(ms) * time.Millisecond)
}

func podOf(name string, p pod, resourceName string, now time.Time) *corev1.Pod {
	request := resource.NewMilliQuantity(p.Request, resource.DecimalSI)
	made := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name:      "main",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceName(resourceName): *request}},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodPhase(p.Phase)},
	}
	if p.IsDeleting {
		made.DeletionTimestamp = &metav1.Time{Time: now}
	}
	if p.StartedMs != nil {
		made.Status.StartTime = &metav1.Time{Time: before(now, *p.StartedMs)}
	}
	if p.IsReady != nil {
		status := corev1.ConditionFalse
		if *p.IsReady {
			status = corev1.ConditionTrue
		}
		made.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.Time{Time: before(now, p.ReadySinceMs)}}}
	}
	return made
}

// usages is what the metrics API returns, by pod. The calculator changes the map that it gets.
type usages metrics.PodMetricsInfo

func (u usages) GetResourceMetric(_ context.Context, _ corev1.ResourceName, _ string, _ labels.Selector, _ string) (metrics.PodMetricsInfo, time.Time, error) {
	return metrics.PodMetricsInfo(u), time.Now(), nil
}

var errNotServed = errors.New("not served")

func (usages) GetRawMetric(string, string, labels.Selector, labels.Selector) (metrics.PodMetricsInfo, time.Time, error) {
	return nil, time.Time{}, errNotServed
}

func (usages) GetObjectMetric(string, string, *autoscaling.CrossVersionObjectReference, labels.Selector) (int64, time.Time, error) {
	return 0, time.Time{}, errNotServed
}

func (usages) GetExternalMetric(string, string, labels.Selector) ([]int64, time.Time, error) {
	return nil, time.Time{}, errNotServed
}
