package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const patience = 45 * time.Second

// trimmed drops what no controller reads, as our informers do by default.
func trimmed(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

// syncOnce fills a cache as a controller does: typed objects, shared informer, defaults, managed fields dropped on entry.
// The cache is answered so that the caller decides how long it stays in memory.
func syncOnce(client kubernetes.Interface, namespace string) (cache.SharedIndexInformer, func(), error) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithNamespace(namespace), informers.WithTransform(trimmed))
	informer := factory.Core().V1().ConfigMaps().Informer()
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {}})
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	factory.Start(ctx.Done())
	stop := func() {
		cancel()
		factory.Shutdown()
	}
	// The library's own wait looks every 100 ms, too coarse to measure by.
	for deadline := time.Now().Add(patience); !registration.HasSynced(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			stop()
			return nil, nil, fmt.Errorf("not synced after %s", patience)
		}
	}
	return informer, stop, nil
}

func syncFresh(config *rest.Config, namespace, warmUp string) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	_, stopWarm, err := syncOnce(client, warmUp)
	if err != nil {
		return err
	}
	stopWarm()
	heap, rss, cpu, start := heapBytes(), rssBytes(), cpuMillis(), time.Now()
	informer, stop, err := syncOnce(client, namespace)
	if err != nil {
		return err
	}
	ms, cpuMs := millisSince(start), cpuMillis()-cpu
	heapAfter := heapBytes()
	result := map[string]any{
		"objects": len(informer.GetStore().ListKeys()), "ms": ms, "cpuMs": cpuMs,
		"heapBytes": heapAfter - heap, "rssBytes": rssBytes() - rss, "peakRssBytes": peakRssBytes(),
	}
	stop()
	return say(result)
}

// heapBytes is what is live after a collection; the second one also frees what finalizers held.
func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// heldSource lists what was there when the program began, and watches from that version on.
type heldSource struct {
	client    kubernetes.Interface
	namespace string
	held      *corev1.ConfigMapList
}

func (source heldSource) List(metav1.ListOptions) (apiruntime.Object, error) {
	return source.held.DeepCopy(), nil
}

func (source heldSource) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return source.client.CoreV1().ConfigMaps(source.namespace).Watch(context.Background(), options)
}

// IsWatchListSemanticsUnSupported makes the library list first: a streamed list would be of today, without the backlog.
func (source heldSource) IsWatchListSemanticsUnSupported() bool { return true }

func replay(config *rest.Config, namespace string, events int) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	held, err := client.CoreV1().ConfigMaps(namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	if err := say(map[string]any{"held": len(held.Items)}); err != nil {
		return err
	}
	source := heldSource{client: client, namespace: namespace, held: held}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if err := replayOnce(source, events); err != nil {
			return err
		}
	}
	return nil
}

func replayOnce(source heldSource, events int) error {
	informer := cache.NewSharedIndexInformer(source, &corev1.ConfigMap{}, 0,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	if err := informer.SetTransform(trimmed); err != nil {
		return err
	}
	var updates atomic.Int64
	first, last := make(chan struct{}), make(chan struct{})
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) {
		switch updates.Add(1) {
		case 1:
			close(first)
		case int64(events):
			close(last)
		}
	}}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	go informer.RunWithContext(ctx)
	if !wait(ctx, first) {
		return fmt.Errorf("no event after %s", patience)
	}
	cpu, start := cpuMillis(), time.Now()
	if !wait(ctx, last) {
		return fmt.Errorf("%d of %d events after %s", updates.Load(), events, patience)
	}
	return say(map[string]any{"events": events - 1, "ms": millisSince(start), "cpuMs": cpuMillis() - cpu})
}

func wait(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}
