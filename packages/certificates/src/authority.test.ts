import { createPrivateKey, X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createAuthority, openAuthority } from "./authority.ts";

const VALIDITY = { from: new Date("2026-01-01T00:00:00Z"), to: new Date("2046-01-01T00:00:00Z") };
const authority = createAuthority("test-ca", VALIDITY);
const ca = new X509Certificate(authority.certificate);

describe("createAuthority", () => {
  it("is self-signed and can sign certificates", () => {
    expect(ca.ca).toBe(true);
    expect(ca.subject).toBe("CN=test-ca");
    expect(ca.verify(ca.publicKey)).toBe(true);
  });

  it("does not verify certificates of another CA", () => {
    const other = new X509Certificate(
      createAuthority("test-ca", VALIDITY).issue({ commonName: "x" }, VALIDITY).certificate,
    );
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
    const issued = authority.issue(request, VALIDITY);
    const read = new X509Certificate(issued.certificate);
    expect(read.verify(ca.publicKey)).toBe(true);
    expect(read.checkIssued(ca)).toBe(true);
    expect(read.ca).toBe(false);
    expect(read.subject).toBe(`CN=${request.commonName}`);
    expect(hosts.filter((host) => read.checkHost(host) === undefined)).toEqual([]);
    expect(read.checkHost("elsewhere.example.test")).toBeUndefined();
  });

  it("supports IPv4 addresses and organizations", () => {
    const { certificate } = authority.issue(
      { commonName: "a", organization: "system:masters", hosts: ["127.0.0.1"] },
      VALIDITY,
    );
    const read = new X509Certificate(certificate);
    expect(read.checkIP("127.0.0.1")).toBe("127.0.0.1");
    expect(read.checkIP("127.0.0.2")).toBeUndefined();
    expect(read.subject).toBe("O=system:masters\nCN=a");
  });

  it("states the time in which a certificate is valid, and the keys of subject and issuer", () => {
    const validity = { from: new Date("2026-02-01T00:00:00Z"), to: new Date("2026-05-02T01:02:03Z") };
    const read = new X509Certificate(authority.issue({ commonName: "a" }, validity).certificate);
    expect(read.validFromDate).toEqual(validity.from);
    expect(read.validToDate).toEqual(validity.to);
    // The key identifiers: what strict verifiers demand, such as Python with VERIFY_X509_STRICT.
    for (const oid of ["551d0e", "551d23"]) expect(read.raw.toString("hex")).toContain(`0603${oid}`);
  });
});

describe("openAuthority", () => {
  it("issues certificates that the stored certificate verifies", () => {
    const { certificate, key } = authority;
    const issued = openAuthority({ certificate, key }).issue({ commonName: "later" }, VALIDITY);
    const read = new X509Certificate(issued.certificate);
    expect(read.checkIssued(ca)).toBe(true);
    expect(read.verify(ca.publicKey)).toBe(true);
    expect(read.checkPrivateKey(createPrivateKey(issued.key))).toBe(true);
  });

  it.each([
    {
      case: "the key of another authority",
      with: { certificate: authority.certificate, key: createAuthority("b", VALIDITY).key },
    },
    { case: "a certificate that is not one of an authority", with: authority.issue({ commonName: "x" }, VALIDITY) },
    { case: "text that is not PEM", with: { certificate: "no", key: "no" } },
  ])("rejects $case", ({ with: given }) => {
    expect(() => openAuthority(given)).toThrow();
  });
});
