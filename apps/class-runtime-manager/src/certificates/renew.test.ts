import { X509Certificate } from "node:crypto";
import { createAuthority } from "@oaas/certificates";
import { describe, expect, it, test } from "vitest";
import { firstExpiryMs, renewCertificates, type CertificateRules, type CertificateSet } from "./renew.ts";

const DAY_MS = 86_400_000;
const START_MS = Date.parse("2026-01-01T00:00:00Z");
const NOTHING: CertificateSet = { authority: {}, server: {}, client: {} };

const rulesAt = (nowMs: number, over: Partial<CertificateRules> = {}): CertificateRules => ({
  nowMs,
  validMs: 90 * DAY_MS,
  serverNames: ["oprc-crm.oaas-system", "oprc-crm"],
  clientName: "oprc-pm",
  ...over,
});
const read = (pem: string | undefined): X509Certificate => new X509Certificate(pem ?? "");
const bundleOf = (text = ""): X509Certificate[] =>
  text
    .split(/(?<=-----END CERTIFICATE-----\n)/)
    .filter((pem) => pem !== "")
    .map(read);

/** Whether a peer that trusts this bundle accepts the certificate at this time, as TLS does. */
function isAccepted(leaf: string | undefined, trusted: string | undefined, nowMs: number): boolean {
  const certificate = read(leaf);
  const isValid = (c: X509Certificate): boolean =>
    c.validFromDate.getTime() <= nowMs && nowMs < c.validToDate.getTime();
  return isValid(certificate) && bundleOf(trusted).some((ca) => isValid(ca) && certificate.verify(ca.publicKey));
}

describe("renewCertificates", () => {
  const first = renewCertificates(NOTHING, rulesAt(START_MS));

  it("creates an authority and the certificates of both sides", () => {
    const ca = read(first.authority["ca.crt"]);
    expect(ca.ca).toBe(true);
    expect(first.authority["ca.crt"]).toBe(first.authority["tls.crt"]);
    const server = read(first.server["tls.crt"]);
    expect(server.checkHost("oprc-crm.oaas-system")).toBe("oprc-crm.oaas-system");
    expect(server.checkHost("oprc-crm")).toBe("oprc-crm");
    expect(server.checkHost("other.oaas-system")).toBeUndefined();
    expect(read(first.client["tls.crt"]).subject).toBe("CN=oprc-pm");
    for (const leaf of [first.server, first.client]) {
      expect(read(leaf["tls.crt"]).checkIssued(ca)).toBe(true);
      expect(leaf["ca.crt"]).toBe(first.authority["ca.crt"]);
      expect(Object.keys(leaf).toSorted()).toEqual(["ca.crt", "tls.crt", "tls.key"]);
    }
    expect(firstExpiryMs(first)).toBe(START_MS + 90 * DAY_MS);
  });

  it("changes nothing during two thirds of the lifetime", () => {
    const later = renewCertificates(first, rulesAt(START_MS + 59 * DAY_MS));
    expect(later.authority).toBe(first.authority);
    expect(later.server).toBe(first.server);
    expect(later.client).toBe(first.client);
  });

  it("renews the certificates in the last third, with the same authority", () => {
    const later = renewCertificates(first, rulesAt(START_MS + 61 * DAY_MS));
    expect(later.authority).toBe(first.authority);
    expect(later.server["tls.crt"]).not.toBe(first.server["tls.crt"]);
    expect(later.client["tls.key"]).not.toBe(first.client["tls.key"]);
    expect(firstExpiryMs(later)).toBe(START_MS + 151 * DAY_MS);
  });

  test.each([
    { why: "the Secret was emptied", server: {} },
    { why: "the key was replaced", server: { ...first.server, "tls.key": first.client["tls.key"] ?? "" } },
    { why: "the text is not a certificate", server: { ...first.server, "tls.crt": "nonsense" } },
    { why: "it is the certificate of the other side", server: first.client },
    {
      why: "another authority signed it",
      server: renewCertificates(NOTHING, rulesAt(START_MS)).server,
    },
  ])("replaces a certificate when $why", ({ server }) => {
    const repaired = renewCertificates({ ...first, server }, rulesAt(START_MS + DAY_MS));
    expect(repaired.authority).toBe(first.authority);
    expect(repaired.client).toBe(first.client);
    expect(isAccepted(repaired.server["tls.crt"], repaired.client["ca.crt"], START_MS + DAY_MS)).toBe(true);
    expect(read(repaired.server["tls.crt"]).checkHost("oprc-crm")).toBe("oprc-crm");
  });

  it("replaces the certificate of the server when its names change", () => {
    const renamed = renewCertificates(first, rulesAt(START_MS, { serverNames: ["crm.example"] }));
    expect(read(renamed.server["tls.crt"]).checkHost("crm.example")).toBe("crm.example");
    expect(renamed.client).toBe(first.client);
  });

  it("corrects the trusted authorities without a new certificate", () => {
    const repaired = renewCertificates({ ...first, client: { ...first.client, "ca.crt": "" } }, rulesAt(START_MS));
    expect(repaired.client).toEqual(first.client);
  });

  test.each([
    { why: "it was emptied", authority: {} },
    { why: "its key is lost", authority: { ...first.authority, "tls.key": "" } },
    { why: "it is not an authority", authority: first.client },
  ])("replaces the authority and all certificates when $why", ({ authority }) => {
    const repaired = renewCertificates({ ...first, authority }, rulesAt(START_MS + DAY_MS));
    for (const [leaf, peer] of [
      [repaired.server, repaired.client],
      [repaired.client, repaired.server],
    ] as const)
      expect(isAccepted(leaf["tls.crt"], peer["ca.crt"], START_MS + DAY_MS)).toBe(true);
  });

  it("never issues a certificate that outlives its authority", () => {
    const ends = new Date(START_MS + 20 * DAY_MS);
    const short = createAuthority("oaas-authority", { from: new Date(START_MS - DAY_MS), to: ends });
    const authority = { "tls.crt": short.certificate, "tls.key": short.key, "ca.crt": short.certificate };
    const set = renewCertificates({ ...NOTHING, authority }, rulesAt(START_MS));
    expect(firstExpiryMs(set)).toBe(ends.getTime());
  });

  it("keeps both sides connected for 20 years, although each learns of changes up to 12 hours late", () => {
    let stored = first;
    let seen = { server: first.server, client: first.client };
    let authorities = 1;
    let changedMs = START_MS;
    let stepMs = 0;
    for (let nowMs = START_MS; nowMs < START_MS + 20 * 365 * DAY_MS; nowMs += stepMs) {
      const next = renewCertificates(stored, rulesAt(nowMs, { validMs: 3 * 365 * DAY_MS }));
      if (next.server !== stored.server || next.client !== stored.client) changedMs = nowMs;
      // Long steps only while both sides have had time to learn of everything.
      stepMs = nowMs - changedMs < 3 * DAY_MS ? DAY_MS / 2 : 60 * DAY_MS;
      if (next.authority["tls.crt"] !== stored.authority["tls.crt"]) authorities += 1;
      // The server serves with the new certificate at once, and the client still has the files of the last step.
      for (const [server, client] of [
        [next.server, seen.client],
        [seen.server, next.client],
        [next.server, next.client],
      ] as const) {
        expect(isAccepted(server["tls.crt"], client["ca.crt"], nowMs), new Date(nowMs).toISOString()).toBe(true);
        expect(isAccepted(client["tls.crt"], server["ca.crt"], nowMs), new Date(nowMs).toISOString()).toBe(true);
      }
      expect(bundleOf(next.server["ca.crt"]).length).toBeLessThanOrEqual(3);
      stored = next;
      seen = { server: next.server, client: next.client };
    }
    expect(authorities).toBeGreaterThanOrEqual(3);
  });
});
