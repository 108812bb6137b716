package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

var deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}

func apply(config *rest.Config, file string, concurrency, warmUp int) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var objects []map[string]any
	if err := json.Unmarshal(text, &objects); err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := applyAll(client, objects[:warmUp], concurrency); err != nil {
		return err
	}
	measured := objects[warmUp:]
	cpu, start := cpuMillis(), time.Now()
	if err := applyAll(client, measured, concurrency); err != nil {
		return err
	}
	ms := millisSince(start)
	return say(map[string]any{
		"applied": len(measured), "ms": ms, "cpuMs": cpuMillis() - cpu, "peakRssBytes": peakRssBytes(),
	})
}

func applyAll(client dynamic.Interface, objects []map[string]any, concurrency int) error {
	work := make(chan map[string]any)
	failures := make(chan error, concurrency)
	var workers sync.WaitGroup
	for range concurrency {
		workers.Go(func() {
			var failed error
			for object := range work {
				if failed == nil {
					failed = applyOne(client, &unstructured.Unstructured{Object: object})
				}
			}
			failures <- failed
		})
	}
	for _, object := range objects {
		work <- object
	}
	close(work)
	workers.Wait()
	close(failures)
	var all []error
	for failure := range failures {
		all = append(all, failure)
	}
	return errors.Join(all...)
}

func applyOne(client dynamic.Interface, object *unstructured.Unstructured) error {
	applied, err := client.Resource(deployments).Namespace(object.GetNamespace()).
		Apply(context.Background(), object.GetName(), object, metav1.ApplyOptions{FieldManager: "bench", Force: true})
	if err != nil {
		return err
	}
	if applied.GetUID() == "" {
		return errors.New("the answer has no uid")
	}
	return nil
}
