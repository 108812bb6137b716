import { extraEnvTemplate, networkPolicy, routeValues, workloadValues } from "./common-values.ts";
import { choice, flag, group, labels, list, text, whole, type Chart, type Values } from "./model.ts";

/** Variables that the templates set from other values. */
const ROUTER_ENV = [
  "OPRC_LOG",
  "OPRC_ZENOH_MODE",
  "OPRC_ZENOH_PORT",
  "OPRC_ZENOH_PROTOCOL",
  "OPRC_ZENOH_PEERS",
  "OPRC_ZENOH_CONFIG",
  "OPRC_ZENOH_SCOUTING_MULTICAST_ENABLED",
];
const GATEWAY_ENV = [
  "HTTP_PORT",
  "REQUEST_TIMEOUT_MS",
  "MAX_PAYLOAD_BYTES",
  "RUST_LOG",
  "OPRC_ZENOH_MODE",
  "OPRC_ZENOH_PEERS",
  "OPRC_ZENOH_SCOUTING_MULTICAST_ENABLED",
];

/** A host name or an IPv4 address, with a port. */
const ENDPOINT = "[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?:[0-9]{1,5}$";

const router: Values = {
  enabled: flag("Installs the routers.", true),
  replicas: whole("Routers. A state store uses any of them; with two, one may restart.", 2, 1, 9),
  peers: list(
    "Addresses of the routers of **every** other cluster, for example `tls/routers.cloud.example:17447`; `tcp/` without `tls`. A full mesh survives the loss of a cluster, a star fails with its hub.",
    { type: "string", pattern: `^(tcp|tls)/${ENDPOINT}` },
  ),
  tls: group("Mutual TLS between the routers of different clusters, in a second container.", {
    secretName: text("Secret with `tls.crt`, `tls.key`, and in `ca.crt` the authorities of the other clusters."),
    verifyNames: flag("Requires that a certificate is valid for the host name in `peers`.", true),
  }),
  external: group("A Service for the routers of other clusters.", {
    enabled: flag("Creates it.", false),
    type: choice("Type.", "LoadBalancer", ["ClusterIP", "NodePort", "LoadBalancer"]),
    annotations: labels("Its annotations."),
    from: list(
      "Peers that reach it, for example an ipBlock of another cluster. Required without TLS: who reaches a router reads and writes every object.",
      { type: "object" },
    ),
  }),
  log: text("Log filter (`OPRC_LOG`).", "info", { minLength: 1 }),
  service: group("The Service that class runtime managers find.", { annotations: labels("Its annotations.") }),
  networkPolicy: networkPolicy(
    "pods of classes in every namespace, gateways, and routers",
    "More peers, for example the gateway of another namespace.",
  ),
  podDisruptionBudget: group("The PodDisruptionBudget.", { enabled: flag("Creates it with several replicas.", true) }),
  ...workloadValues({ requests: { cpu: "50m", memory: "64Mi" }, limits: { memory: "512Mi" } }),
};

const gateway: Values = {
  enabled: flag("Installs the gateway.", true),
  replicas: whole("Replicas.", 2, 1, 50),
  routers: list("Addresses of routers, if `router.enabled` is false. Default: the routers of this release.", {
    type: "string",
    pattern: `^tcp/${ENDPOINT}`,
  }),
  requestTimeoutMs: whole("Time limit of a call of a function, in milliseconds.", 30_000, 1),
  maxPayloadBytes: whole("Largest request body.", 52_428_800, 1),
  log: text("Log filter (`RUST_LOG`).", "info", { minLength: 1 }),
  service: group("The Service.", {
    type: choice("Type.", "ClusterIP", ["ClusterIP", "NodePort", "LoadBalancer"]),
    annotations: labels("Its annotations."),
  }),
  ...routeValues(""),
  networkPolicy: networkPolicy(
    "pods of this namespace",
    "More peers. Required for an Ingress or an HTTPRoute: the pods of their controller.",
  ),
  podDisruptionBudget: group("The PodDisruptionBudget.", { enabled: flag("Creates it with several replicas.", true) }),
  ...workloadValues({ requests: { cpu: "50m", memory: "64Mi" }, limits: { memory: "512Mi" } }),
};

export const dataPlaneChart: Chart = {
  name: "oaas-data-plane",
  description: "Routers and gateway of the data plane of OaaS",
  keywords: ["router", "gateway", "objects"],
  images: [],
  values: {
    router: group("Routers, which connect state stores, functions and gateways.", router),
    gateway: group("The gateway: REST and gRPC calls from outside to objects and functions.", gateway),
  },
  readme: [
    "Install one release per cluster, in the namespace of the class runtime manager; objects have fixed names. The images of",
    "router and gateway are not part of OaaS: name yours, by digest. Guides: [install](../../../docs/guides/install.md),",
    "[state](../../../docs/guides/state.md), [several clusters](../../../docs/guides/multi-cluster.md).",
    "",
    "```sh example",
    "helm install oaas-data-plane deploy/charts/oaas-data-plane --namespace oaas-system --values images.yaml",
    "```",
    "",
    "**Routers** are found by the labels `app=router` and `platform=oaas` of their Service `oprc-router`, in the namespace of",
    "a class and in `routers.namespace` of the class runtime manager. All classes of a cluster share them.",
    "`kubectl rollout restart statefulset/oprc-router` loads renewed certificates.",
    "",
    "**The gateway does not authenticate callers**: who reaches it reads and writes every object of the network. Its",
    "NetworkPolicy admits pods of its namespace only. Put something that authenticates before it.",
    "",
    "## What the images must do",
    "",
    "The chart was written for router and gateway of the earlier implementation and assumes of them:",
    "",
    "- router: reads `OPRC_ZENOH_PORT`, `OPRC_ZENOH_PEERS` (addresses with commas), `OPRC_ZENOH_SCOUTING_MULTICAST_ENABLED`,",
    "  `OPRC_LOG`, and for TLS `OPRC_ZENOH_PROTOCOL=tls` and the section `transport.link.tls` of a Zenoh configuration in",
    "  `OPRC_ZENOH_CONFIG`. It listens at one address only, so TLS has a container of its own, of the same image. It accepts a",
    "  peer that is itself: it then logs a warning every few seconds and stays connected to the others.",
    "- gateway: reads `HTTP_PORT`, `REQUEST_TIMEOUT_MS`, `MAX_PAYLOAD_BYTES`, `RUST_LOG` and `OPRC_ZENOH_*` as a Zenoh client;",
    "  serves REST and gRPC on one port, and `/healthz` and `/readyz`, which do not say whether a router is connected.",
    "- both: run as any user, with a read-only root file system, and end on SIGTERM.",
    "",
    "The ports in the pods are 17447 (Zenoh), 17448 (Zenoh over TLS) and 8080 (gateway).",
  ].join("\n"),
  files: {
    "templates/_extra-env.tpl":
      extraEnvTemplate("oprc-router", ROUTER_ENV) + extraEnvTemplate("oprc-gateway", GATEWAY_ENV),
  },
};
