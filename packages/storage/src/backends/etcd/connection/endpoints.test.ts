import type { Fault } from "@oaas/foundation";
import { describe, expect, test } from "vitest";
import { parseEndpoints } from "./endpoints.ts";

describe("endpoints", () => {
  const good: { case: string; endpoints: string[]; tlsFiles: boolean; tls: boolean; addresses: string[] }[] = [
    { case: "bare", endpoints: ["localhost:2379"], tlsFiles: false, tls: false, addresses: ["localhost:2379"] },
    { case: "bare with TLS files", endpoints: ["e:2379"], tlsFiles: true, tls: true, addresses: ["e:2379"] },
    { case: "http", endpoints: ["http://a:1", "http://b:2/"], tlsFiles: false, tls: false, addresses: ["a:1", "b:2"] },
    {
      case: "https with the system's certificate authorities",
      endpoints: ["https://a:1"],
      tlsFiles: false,
      tls: true,
      addresses: ["a:1"],
    },
    { case: "IPv6", endpoints: ["http://[::1]:2379"], tlsFiles: false, tls: false, addresses: ["[::1]:2379"] },
  ];
  test.each(good)("$case", ({ endpoints, tlsFiles, tls, addresses }) => {
    expect(parseEndpoints(endpoints, tlsFiles)).toEqual({ addresses, tls });
  });

  const bad: { case: string; endpoints: string[]; tlsFiles: boolean; paths: string[] }[] = [
    { case: "no endpoint", endpoints: [], tlsFiles: false, paths: ["$"] },
    {
      case: "missing port, unknown scheme",
      endpoints: ["a", "ftp://a:1", "a:1"],
      tlsFiles: false,
      paths: ["$[0]", "$[1]"],
    },
    { case: "http and https", endpoints: ["http://a:1", "https://b:1"], tlsFiles: false, paths: ["$"] },
    { case: "http, but TLS files", endpoints: ["http://a:1"], tlsFiles: true, paths: ["$"] },
  ];
  test.each(bad)("rejects: $case", ({ endpoints, tlsFiles, paths }) => {
    try {
      parseEndpoints(endpoints, tlsFiles);
    } catch (thrown) {
      expect((thrown as Fault).violations.map(({ path }) => path)).toEqual(paths);
      return;
    }
    throw new Error("it was accepted");
  });
});
