/**
 * Real programs on this machine, such as Kubernetes, etcd and KWOK, for the local stack and for tests. Everything here is an
 * adapter for processes, files and ports.
 *
 * Reading order: components (list, obtaining, paths), process (the warden, which starts processes and cleans up),
 * certificates, kubernetes (a control plane in a folder).
 */
export * from "./components/index.ts";
export type { CertificateRequest, IssuedCertificate } from "@oaas/certificates";
export { makeAuthority, type Authority } from "./certificates/authority.ts";
export { etcdArgs, type EtcdServerSpec } from "./etcd/etcd-args.ts";
export { startCluster, type ClusterOptions, type ClusterParts, type LocalCluster } from "./kubernetes/start-cluster.ts";
export { kubeconfigText, type TokenUser } from "./kubernetes/kubeconfig.ts";
export type { Kubectl } from "./kubernetes/kubectl.ts";
export { runCommand, type CommandOptions, type CommandResult } from "./process/client-command.ts";
export { eventually, type EventuallyOptions } from "./process/eventually.ts";
export { canBind, freePorts, onFreePorts } from "./process/free-ports.ts";
export { probe, type ProbeAnswer, type ProbeOptions } from "./process/http-probe.ts";
export { untilReady } from "./process/ready.ts";
export { makeRunFolder, startFailure, type RunFolder } from "./process/run-folder.ts";
export { exitText, startProcess, type ProcessOptions, type RunningProcess } from "./process/running-process.ts";
export { writeImageArchive, type ImageFile, type ImageLayer, type ImageSpec } from "./node/image-archive.ts";
export { nodeLayer, nodeProgramImage, pauseImage } from "./node/node-images.ts";
export { missingForNodes, NODE_COMPONENTS, obstaclesToNodes } from "./node/requirements.ts";
export { startNodeCluster, type NodeCluster, type NodeClusterOptions } from "./node/start-node-cluster.ts";
