import type { JsonObject } from "@oaas/kube-core";
import type { RequestStep, Step, Subject } from "../src/case.ts";
import { create, get, mergePatch, pod, remove, replace, service } from "../src/case-steps.ts";

const PAIR = {
  containers: [
    { name: "main", image: "example.test/web:1" },
    { name: "side", image: "example.test/side:1" },
  ],
};

function endpoints(name: string, subset: JsonObject): Step {
  return create("endpoints", { apiVersion: "v1", kind: "Endpoints", metadata: { name }, subsets: [subset] });
}

/** A slice of the Service of this name, as its controller writes it. */
function slice(name: string, ready: boolean, port: JsonObject): Step {
  return create("endpointslices", {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: `${name}-1`, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.1.1.1"], conditions: { ready } }],
    ports: [port],
  });
}

function denied(method: string, path: string): RequestStep {
  return { do: `${method} ${path}`, as: "alice", want: 403 };
}

/** A request of a method whose responses have no body. */
function deniedWithoutBody(path: string): RequestStep {
  return { do: `HEAD ${path}`, as: "alice", want: 403, show: [] };
}

export const proxiesAndLogs: Subject = {
  subject: "proxies and logs",
  needs: "api",
  cases: [
    {
      name: "the log of a pod without a node is empty",
      given: [create("pods", pod("p"))],
      steps: [
        get("pods/p/log"),
        get("pods/p/log?follow=true&tailLines=1&timestamps=true"),
        get("pods/p/log?container=main"),
        get("pods/p/log?pretty=true"),
      ],
    },
    {
      name: "the log of an unknown pod or container",
      given: [
        create("pods", pod("pair", { ...PAIR, initContainers: [{ name: "first", image: "example.test/web:1" }] })),
      ],
      steps: [
        get("pods/none/log", { want: 404 }),
        get("pods/pair/log", { want: 400 }),
        get("pods/pair/log?container=side"),
        get("pods/pair/log?container=first"),
        get("pods/pair/log?container=other", { want: 400 }),
      ],
    },
    {
      name: "the log of a pod with two containers names them",
      given: [create("pods", pod("pair", PAIR))],
      steps: [get("pods/pair/log", { want: 400 })],
    },
    {
      name: "rejects invalid log options",
      given: [create("pods", pod("p"))],
      steps: [
        get("pods/p/log?tailLines=-1", { want: 422 }),
        get("pods/p/log?tailLines=0"),
        get("pods/p/log?tailLines=x", { want: 400 }),
        get("pods/p/log?limitBytes=0", { want: 422 }),
        get("pods/p/log?limitBytes=1.5", { want: 400 }),
        get("pods/p/log?sinceSeconds=0", { want: 422 }),
        get("pods/p/log?sinceSeconds=-1&tailLines=-2&limitBytes=-3", { want: 422 }),
        get("pods/p/log?sinceTime=yesterday", { want: 400 }),
        get("pods/p/log?sinceTime=2026-01-31T12:00:00Z"),
        get("pods/p/log?sinceSeconds=5&sinceTime=2026-01-31T12:00:00Z", { want: 422 }),
        get("pods/p/log?stream=Both", { want: 422 }),
        get("pods/p/log?stream=Stdout&tailLines=5", { want: 422 }),
        get("pods/p/log?stream=All", { want: 422 }),
        get("pods/p/log?follow=nonsense"),
        get("pods/none/log?tailLines=-1", { want: 422 }),
      ],
    },
    {
      name: "a log is read only",
      given: [create("pods", pod("p"))],
      steps: [
        create("pods/p/log", {}, { want: 405 }),
        remove("pods/p/log", undefined, { want: 405 }),
        get("pods/p/log/more", { want: 404 }),
      ],
    },
    {
      name: "a proxy to an unknown service or pod",
      steps: [
        get("services/none/proxy/", { want: 404 }),
        get("services/none:80/proxy/", { want: 404 }),
        get("pods/none/proxy/", { want: 404 }),
        get("pods/none:80/proxy/", { want: 404 }),
        get("services/none/proxy", { want: 404 }),
      ],
    },
    {
      name: "a proxy to a service without endpoints",
      given: [create("services", service("web", { ports: [{ name: "http", port: 80 }] }))],
      steps: [
        get("services/web/proxy/", { want: 404 }),
        get("services/web:http/proxy/", { want: 404 }),
        get("services/web:80/proxy/", { want: 404 }),
        get("services/web:81/proxy/", { want: 503 }),
        get("services/http:web:http/proxy/a/b?c=d", { want: 404 }),
        create("services/web:http/proxy/a", {}, { want: 404 }),
        replace("services/web:http/proxy/a", {}, { want: 404 }),
        mergePatch("services/web:http/proxy/a", {}, { want: 404 }),
        remove("services/web:http/proxy/a", undefined, { want: 404 }),
      ],
    },
    {
      name: "a proxy reads Endpoints, not EndpointSlices",
      given: [
        create("services", service("web", { ports: [{ name: "http", port: 80 }] })),
        endpoints("web", { notReadyAddresses: [{ ip: "10.1.1.1" }], ports: [{ name: "http", port: 8080 }] }),
        create("services", service("other", { ports: [{ name: "http", port: 80 }] })),
        slice("other", false, { name: "http", port: 8080 }),
      ],
      steps: [get("services/web:http/proxy/", { want: 503 }), get("services/other:http/proxy/", { want: 404 })],
    },
    {
      name: "a proxy to a service whose endpoints are not ready or have another port",
      given: [
        create("services", service("web", { ports: [{ name: "http", port: 80 }] })),
        endpoints("web", { notReadyAddresses: [{ ip: "10.1.1.1" }], ports: [{ name: "http", port: 8080 }] }),
        slice("web", false, { name: "http", port: 8080 }),
        create("services", service("other", { ports: [{ name: "http", port: 80 }] })),
        endpoints("other", { addresses: [{ ip: "10.1.1.1" }], ports: [{ name: "grpc", port: 8080 }] }),
        slice("other", true, { name: "grpc", port: 8080 }),
      ],
      steps: [
        get("services/web:http/proxy/", { want: 503 }),
        get("services/other:http/proxy/", { want: 503 }),
        get("services/other/proxy/", { want: 503 }),
      ],
    },
    {
      name: "rejects an invalid name of a proxied object",
      steps: [
        get("services/a:b:c:d/proxy/", { want: 400 }),
        get("services/ftp:a:b/proxy/", { want: 400 }),
        get("services/:80/proxy/", { want: 400 }),
        get("pods/a:b:c:d/proxy/", { want: 400 }),
      ],
    },
    {
      name: "a proxy to a pod without an address",
      given: [create("pods", pod("p"))],
      steps: [
        get("pods/p/proxy/", { want: 400 }),
        get("pods/p:8080/proxy/x", { want: 400 }),
        get("pods/https:p:8080/proxy/x", { want: 400 }),
      ],
    },
    {
      name: "proxies and logs need their own permissions",
      given: [create("services", service("web")), create("pods", pod("p"))],
      steps: [
        denied("GET", "services/web/proxy/a/b"),
        denied("GET", "services/https:web:http/proxy/a?watch=true"),
        denied("POST", "services/web/proxy/a/b"),
        denied("PUT", "services/web/proxy/a/b"),
        denied("PATCH", "services/web/proxy/a/b"),
        denied("DELETE", "services/web/proxy/a/b"),
        denied("OPTIONS", "services/web/proxy/a/b"),
        deniedWithoutBody("services/web/proxy/a/b"),
        denied("GET", "pods/p/proxy/a"),
        denied("GET", "pods/p/log"),
        denied("GET", "pods/p/log?follow=true"),
      ],
    },
  ],
};
