import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { makeAuthority } from "./authority.ts";

const authority = makeAuthority("test-ca");
const ca = new X509Certificate(authority.certificate);

describe("makeAuthority", () => {
  it("is self-signed and can sign certificates", () => {
    expect(ca.ca).toBe(true);
    expect(ca.subject).toBe("CN=test-ca");
    expect(ca.verify(ca.publicKey)).toBe(true);
  });

  it("does not verify certificates of another CA", () => {
    const other = new X509Certificate(makeAuthority("test-ca").issue({ commonName: "x" }).certificate);
    expect(other.verify(ca.publicKey)).toBe(false);
  });

  it.each([
    { case: "a client with a user name and no host", request: { commonName: "pm" }, hosts: [] },
    {
      case: "addresses and names",
      request: { commonName: "s", hosts: ["127.0.0.1", "localhost"] },
      hosts: ["localhost"],
    },
    {
      case: "content with two-byte and three-byte lengths",
      request: { commonName: "many", hosts: Array.from({ length: 40 }, (_, index) => `host-${index}.example.test`) },
      hosts: ["host-0.example.test", "host-39.example.test"],
    },
  ])("issues certificates that OpenSSL reads: $case", ({ request, hosts }) => {
    const issued = authority.issue(request);
    const read = new X509Certificate(issued.certificate);
    expect(read.verify(ca.publicKey)).toBe(true);
    expect(read.checkIssued(ca)).toBe(true);
    expect(read.ca).toBe(false);
    expect(read.subject).toBe(`CN=${request.commonName}`);
    expect(hosts.filter((host) => read.checkHost(host) === undefined)).toEqual([]);
    expect(read.checkHost("elsewhere.example.test")).toBeUndefined();
  });

  it("supports IPv4 addresses and organizations", () => {
    const { certificate } = authority.issue({ commonName: "a", organization: "system:masters", hosts: ["127.0.0.1"] });
    const read = new X509Certificate(certificate);
    expect(read.checkIP("127.0.0.1")).toBe("127.0.0.1");
    expect(read.checkIP("127.0.0.2")).toBeUndefined();
    expect(read.subject).toBe("O=system:masters\nCN=a");
  });
});
