import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readKubeConfig, type KubeConfigDocument } from "./kube-config.ts";

const file = (text: string, name = "config"): KubeConfigDocument => ({
  name,
  content: parse(text) as unknown,
  resolveFile: (relative) => (relative.startsWith("/") ? relative : `/home/me/.kube/${relative}`),
});

const FULL = file(`
current-context: dev
contexts:
- {name: dev, context: {cluster: here, user: me, namespace: team}}
- {name: prod, context: {cluster: there, user: robot}}
clusters:
- {name: here, cluster: {server: "https://127.0.0.1:6443/", certificate-authority: ca.crt, tls-server-name: api, proxy-url: "http://proxy:3128"}}
- {name: there, cluster: {server: "https://there/k8s", certificate-authority-data: QUJD, insecure-skip-tls-verify: true}}
users:
- {name: me, user: {client-certificate: me.crt, client-key-data: S0VZ, as: root, as-groups: [admins]}}
- name: robot
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/login, args: [--fast], env: [{name: A, value: b}], provideClusterInfo: true}
`);

describe("reading", () => {
  test("reads the current context with files relative to the kubeconfig", () => {
    expect(readKubeConfig([FULL])).toEqual({
      ok: true,
      value: {
        server: "https://127.0.0.1:6443",
        tls: {
          insecure: false,
          ca: { file: "/home/me/.kube/ca.crt" },
          certificate: { file: "/home/me/.kube/me.crt" },
          key: { data: "S0VZ" },
          serverName: "api",
        },
        proxyUrl: "http://proxy:3128",
        credentials: { type: "none" },
        impersonate: { user: "root", groups: ["admins"] },
        namespace: "team",
        origin: 'context "dev" of config',
      },
    });
  });

  test("reads a selected context with an exec plugin and a path in the server URL", () => {
    const result = readKubeConfig([FULL], { context: "prod", namespace: "other" });
    expect(result).toMatchObject({
      ok: true,
      value: {
        server: "https://there/k8s",
        tls: { insecure: true, ca: { data: "QUJD" } },
        namespace: "other",
        credentials: {
          type: "exec",
          plugin: { command: "/home/me/.kube/bin/login", args: ["--fast"], env: { A: "b" }, provideClusterInfo: true },
        },
      },
    });
  });

  test("merges several files, first definition wins", () => {
    const first = file("current-context: prod", "first");
    const second = file("users: [{name: robot, user: {token: abc}}]", "second");
    expect(readKubeConfig([first, second, FULL])).toMatchObject({
      ok: true,
      value: { server: "https://there/k8s", credentials: { type: "token", token: "abc" } },
    });
  });

  test.each([
    ["token: abc\n    tokenFile: t", { type: "token-file", file: "/home/me/.kube/t" }],
    ["username: u\n    password: p", { type: "basic", username: "u", password: "p" }],
    ["token: ''", { type: "none" }],
  ])("reads credentials from %j", (user, credentials) => {
    const config = file(`
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: "http://localhost"}}]
users:
- name: u
  user:
    ${user}`);
    expect(readKubeConfig([config])).toMatchObject({ ok: true, value: { credentials } });
  });
});

describe("errors with location and fix", () => {
  test.each([
    [
      "no current context",
      file("contexts: [{name: a, context: {}}]"),
      {},
      [["$.current-context", "choose a context: a"]],
    ],
    ["unknown context", FULL, { context: "nope" }, [["$.contexts", "defined are: dev, prod"]]],
    [
      "unknown cluster and unknown user, reported together",
      file("current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]"),
      {},
      [
        ["$.clusters", "defined are: none"],
        ["$.users", "defined are: none"],
      ],
    ],
    [
      "invalid server URL, key without certificate, old exec plugin version, removed auth provider",
      file(`
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: "localhost:80"}}]
users: [{name: u, user: {client-key: k, auth-provider: {name: gcp}, exec: {apiVersion: client.authentication.k8s.io/v1alpha1}}}]`),
      {},
      [
        ["$.clusters.k.server", "write https://host:port"],
        ["$.users.u.exec.command", "name the program to run"],
        ["$.users.u.exec.apiVersion", "use client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1"],
        ["$.users.u['auth-provider']", "use the provider's exec plugin"],
        ["$.users.u['client-certificate']", "a client certificate and its key must be set together"],
      ],
    ],
    ["file without a mapping", file("just text"), {}, [["$['current-context']", "choose a context: none is defined"]]],
  ] as const)("%s", (_name, config, selection, expected) => {
    const result = readKubeConfig([config], selection);
    expect(result.ok).toBe(false);
    if (!result.ok) {
      expect(
        result.error.map(({ path, fix }) => [path.replace("$['current-context']", "$.current-context"), fix]),
      ).toEqual(expected.map(([path, fix]) => [path.replace("$['current-context']", "$.current-context"), fix]));
    }
  });
});
