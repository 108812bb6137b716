import { expect, test } from "vitest";
import { proxyFromEnv } from "./proxy-from-env.ts";

const PROXY = "http://proxy.test:3128";

test.each([
  ["https://k8s.test:6443", { HTTPS_PROXY: PROXY }, PROXY],
  ["https://k8s.test:6443", { https_proxy: PROXY }, PROXY],
  ["https://k8s.test:6443", { HTTPS_PROXY: "proxy.test:3128" }, PROXY],
  ["https://k8s.test:6443", { HTTP_PROXY: PROXY }, undefined],
  ["http://k8s.test", { HTTP_PROXY: PROXY }, PROXY],
  ["https://127.0.0.1:6443", { HTTPS_PROXY: PROXY }, undefined],
  ["https://[::1]:6443", { HTTPS_PROXY: PROXY }, undefined],
  ["https://localhost:6443", { HTTPS_PROXY: PROXY }, undefined],
  ["https://k8s.test", { HTTPS_PROXY: PROXY, NO_PROXY: "*" }, undefined],
  ["https://k8s.test", { HTTPS_PROXY: PROXY, NO_PROXY: "other, K8S.test" }, undefined],
  ["https://api.k8s.test", { HTTPS_PROXY: PROXY, NO_PROXY: "k8s.test" }, undefined],
  ["https://apik8s.test", { HTTPS_PROXY: PROXY, NO_PROXY: "k8s.test" }, PROXY],
  ["https://k8s.test", { HTTPS_PROXY: PROXY, NO_PROXY: ".k8s.test" }, PROXY],
  ["https://api.k8s.test", { HTTPS_PROXY: PROXY, no_proxy: ".k8s.test" }, undefined],
  ["https://k8s.test:6443", { HTTPS_PROXY: PROXY, NO_PROXY: "k8s.test:6443" }, undefined],
  ["https://k8s.test:6443", { HTTPS_PROXY: PROXY, NO_PROXY: "k8s.test:443" }, PROXY],
  ["https://k8s.test", { HTTPS_PROXY: PROXY, NO_PROXY: "k8s.test:443" }, undefined],
  ["https://10.1.2.3:6443", { HTTPS_PROXY: PROXY, NO_PROXY: "10.0.0.0/8" }, undefined],
  ["https://11.1.2.3:6443", { HTTPS_PROXY: PROXY, NO_PROXY: "10.0.0.0/8,10.0.0.0/99,10.0.0.0/x" }, PROXY],
  ["https://10.1.2.3:6443", { HTTPS_PROXY: PROXY, NO_PROXY: "10.1.2.3" }, undefined],
  ["https://[fd00::1]:6443", { HTTPS_PROXY: PROXY, NO_PROXY: "fd00::/8" }, undefined],
  ["https://[fd00::1]:6443", { HTTPS_PROXY: PROXY, NO_PROXY: "fd00::1" }, undefined],
  ["https://k8s.test", {}, undefined],
])("sends %s with %j through %s", (server, env, proxy) => {
  expect(proxyFromEnv(server, env)).toBe(proxy);
});

test("rejects an invalid proxy URL without printing its password", () => {
  expect(() => proxyFromEnv("https://k8s.test", { HTTPS_PROXY: "socks5://me:secret@proxy" })).toThrow(
    expect.objectContaining({ kind: "invalid-argument", message: expect.not.stringContaining("secret") as string }),
  );
});
