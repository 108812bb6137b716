/**
 * For tests only: real programs on loopback in temporary folders, and helpers to wait.
 *
 * Reading order: one starter per program (etcd, kubernetes, knative, keda, prometheus, OpenTelemetry Collector, browser), faults (proxies), describe-with.
 * `@oaas/real-components` obtains, starts and stops the programs; its exports are re-exported here.
 */
export {
  cacheDir,
  componentFile,
  type ComponentFileName,
  type ComponentName,
  eventually,
  type EventuallyOptions,
  freePorts,
  kubeconfigText,
  makeAuthority,
  type Authority,
  type CertificateRequest,
  type IssuedCertificate,
  makeRunFolder,
  onFreePorts,
  probe,
  type ProcessOptions,
  type RunFolder,
  runCommand,
  type CommandOptions,
  type CommandResult,
  type RunningProcess as ProcessUnderTest,
  startProcess,
  type TokenUser,
  untilReady,
} from "@oaas/real-components";
export { describeWith } from "./describe-with.ts";
export { holdTimer, type HeldTimer } from "./held-timer.ts";
export { describeOnNodes } from "./kubernetes/describe-on-nodes.ts";
export { sweepSize } from "./sweep-size.ts";
export { startEtcd, type EtcdOptions, type EtcdUnderTest } from "./etcd/start-etcd.ts";
export type { EtcdMember } from "./etcd/etcd-member.ts";
export type { ClientTls, EtcdCredentials } from "./etcd/etcd-security.ts";
export { startKubernetes, type KubernetesOptions, type KubernetesUnderTest } from "./kubernetes/start-kubernetes.ts";
export type { AuditedRequest } from "./kubernetes/audit.ts";
export { describeOnTarget, type TargetSuite } from "./kubernetes/describe-on-target.ts";
export { kubeTarget, startKubeTarget, type KubeTarget } from "./kubernetes/kube-target.ts";
export {
  kwokUsageConfigs,
  startMetricsServer,
  type MetricsServerUnderTest,
} from "./kubernetes/start-metrics-server.ts";
export {
  startKubeStateMetrics,
  type KubeStateMetricsOptions,
  type KubeStateMetricsUnderTest,
} from "./kubernetes/start-kube-state-metrics.ts";
export { startOtelCollector, type OtelCollectorUnderTest } from "./tracing/start-otel-collector.ts";
export { startMetricsApi, type MetricsApi, type PodUsage } from "./kubernetes/start-metrics-api.ts";
export { addKnativeKinds, removeKnativeKinds } from "./knative/knative-kinds.ts";
export { startKnative, type KnativeUnderTest } from "./knative/start-knative.ts";
export { addGatewayKinds } from "./gateway/gateway-kinds.ts";
export { addScaledObjectKind, removeScaledObjectKind } from "./keda/keda-kinds.ts";
export { startKeda, type KedaUnderTest } from "./keda/start-keda.ts";
export { addMonitorKinds, removeMonitorKinds } from "./prometheus/monitor-kinds.ts";
export {
  startPrometheus,
  type PrometheusOptions,
  type PrometheusUnderTest,
  type QueriedSeries,
} from "./prometheus/start-prometheus.ts";
export type { Sample, Series } from "./prometheus/remote-write.ts";
export { startBrowser, type BrowserUnderTest } from "./browser/start-browser.ts";
export { startHttpProxy, type HttpFate, type HttpProxy } from "./faults/http-proxy.ts";
export { startTcpProxy, type TcpFault, type TcpProxy } from "./faults/tcp-proxy.ts";
export { commandLine, processesWith } from "./processes.ts";
/** The embedded API server without sockets, for tests that choose its time. */
export { embeddedServer, MemoryTransport, type ApiServer } from "@oaas/kube-apiserver";
