// Knative's own reconcilers in one process beside its autoscaler. The stock controller cannot run there: both want port 8080,
// it for its health probes. So they start here without the probes, and without leader election, since there is only one.
package main

import (
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/signals"
	"knative.dev/serving/pkg/reconciler/configuration"
	"knative.dev/serving/pkg/reconciler/gc"
	"knative.dev/serving/pkg/reconciler/labeler"
	"knative.dev/serving/pkg/reconciler/revision"
	"knative.dev/serving/pkg/reconciler/route"
	"knative.dev/serving/pkg/reconciler/serverlessservice"
	"knative.dev/serving/pkg/reconciler/service"
)

func main() {
	ctx := sharedmain.WithHADisabled(sharedmain.WithHealthProbesDisabled(signals.NewContext()))
	sharedmain.MainWithConfig(ctx, "controller", injection.ParseAndGetRESTConfigOrDie(),
		configuration.NewController, labeler.NewController, revision.NewController, route.NewController,
		serverlessservice.NewController, service.NewController, gc.NewController)
}
