/**
 * For tests only: the real programs our code talks to, on loopback, and the words tests wait with.
 *
 * Reading order: components (what real programs there are and how one is had), process (the warden that starts them and
 * leaves nothing behind), then one starter per program: etcd, kubernetes, prometheus, browser; faults (proxies that misbehave).
 * `@oaas/testkit/components` is the part that tools may import without vitest.
 */
export { componentFile } from "./components/component-file.ts";
export { cacheDir } from "./components/cache.ts";
export type { ComponentFileName, ComponentName } from "./components/manifest.ts";
export { describeWith } from "./describe-with.ts";
export { eventually, type EventuallyOptions } from "./waiting/eventually.ts";
export { sweepSize } from "./waiting/sweep-size.ts";
export { startEtcd, type EtcdOptions, type EtcdUnderTest } from "./etcd/start-etcd.ts";
export type { EtcdMember } from "./etcd/etcd-member.ts";
export type { ClientTls, EtcdCredentials } from "./etcd/etcd-security.ts";
export { startKubernetes, type KubernetesOptions, type KubernetesUnderTest } from "./kubernetes/start-kubernetes.ts";
export type { AuditedRequest } from "./kubernetes/audit.ts";
export { kubeTarget, startKubeTarget, type KubeTarget } from "./kubernetes/kube-target.ts";
export type { TokenUser } from "./kubernetes/kubeconfig.ts";
export {
  startPrometheus,
  type PrometheusOptions,
  type PrometheusUnderTest,
  type QueriedSeries,
} from "./prometheus/start-prometheus.ts";
export type { Sample, Series } from "./prometheus/remote-write.ts";
export { startBrowser, type BrowserUnderTest } from "./browser/start-browser.ts";
export {
  makeAuthority,
  type Authority,
  type CertificateRequest,
  type IssuedCertificate,
} from "./certificates/authority.ts";
export { startHttpProxy, type HttpFate, type HttpProxy } from "./faults/http-proxy.ts";
export { startTcpProxy, type TcpFault, type TcpProxy } from "./faults/tcp-proxy.ts";
export { runCommand, type CommandOptions, type CommandResult } from "./process/client-command.ts";
export { freePorts, onFreePorts } from "./process/free-ports.ts";
export { startProcess, type ProcessOptions, type ProcessUnderTest } from "./process/process-under-test.ts";
export { makeRunFolder, type RunFolder } from "./process/run-folder.ts";
export { untilReady } from "./process/ready.ts";
