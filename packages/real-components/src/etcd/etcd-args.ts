export interface EtcdServerSpec {
  readonly name: string;
  readonly dataDir: string;
  readonly clientUrl: string;
  readonly peerUrl: string;
  /** Serves `/health` without credentials. */
  readonly healthUrl: string;
  readonly initialCluster: string;
  /** Whether a write is synced to disk before it is acknowledged. */
  readonly fsync: boolean;
}

/** The arguments of an etcd server of 3.4 or later. */
export function etcdArgs(spec: EtcdServerSpec): string[] {
  return [
    `--name=${spec.name}`,
    `--data-dir=${spec.dataDir}`,
    `--listen-client-urls=${spec.clientUrl}`,
    `--advertise-client-urls=${spec.clientUrl}`,
    `--listen-peer-urls=${spec.peerUrl}`,
    `--initial-advertise-peer-urls=${spec.peerUrl}`,
    `--initial-cluster=${spec.initialCluster}`,
    `--listen-metrics-urls=${spec.healthUrl}`,
    "--log-level=warn",
    "--logger=zap",
    ...(spec.fsync ? [] : ["--unsafe-no-fsync"]),
  ];
}
