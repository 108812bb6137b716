import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { createRecordingMeter } from "@oaas/observability/testing";
import { makeAuthority } from "@oaas/testkit";
import { afterAll, expect, test } from "vitest";
import { CertificateExpiry } from "./certificate-expiry.ts";

const folder = mkdtempSync(path.join(tmpdir(), "oaas-certificate-expiry-"));
afterAll(() => rmSync(folder, { recursive: true }));

const authority = makeAuthority("ca", 3650);
const [first = "", second = ""] = [10, 40].map(
  (days) => makeAuthority("ca", days).issue({ commonName: "server" }).certificate,
);
const validityOf = (pem: string): readonly number[] => {
  const { validFromDate, validToDate } = new X509Certificate(pem);
  return [validFromDate, validToDate].map((date) => date.getTime() / 1000);
};

const meter = createRecordingMeter();
const expiry = new CertificateExpiry(meter);
const shown = (use: string, peer = ""): readonly (number | undefined)[] =>
  ["start", "expiry"].map((end) => meter.value(`oaas_certificate_${end}_timestamp_seconds`, { use, peer }));

test("shows the certificate of a chain that expires first", () => {
  expiry.show({ use: "server" }, `${authority.certificate}${first}`);
  expect(shown("server")).toEqual(validityOf(first));
  expiry.show({ use: "server" }, second);
  expect(shown("server")).toEqual(validityOf(second));
});

test.each(["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"])(
  "shows nothing for %j",
  (text) => {
    expiry.show({ use: "client", peer: "edge" }, first);
    expiry.show({ use: "client", peer: "edge" }, text);
    expect(shown("client", "edge")).toEqual([undefined, undefined]);
  },
);

test("removes only the series of one peer", () => {
  for (const peer of ["edge", "hub"]) expiry.show({ use: "client", peer }, first);
  expiry.remove({ use: "client", peer: "edge" });
  expect(shown("client", "edge")).toEqual([undefined, undefined]);
  expect(shown("client", "hub")).toEqual(validityOf(first));
});

test("follows a file that is replaced, deleted and restored", async () => {
  const { time } = virtualAmbient(1);
  const file = path.join(folder, "tls.crt");
  writeFileSync(file, first);
  const stop = expiry.follow({ use: "client", peer: "etcd" }, file, time);
  await time.advance(1);
  expect(shown("client", "etcd")).toEqual(validityOf(first));
  rmSync(file);
  await time.advance(60_000);
  expect(shown("client", "etcd")).toEqual([undefined, undefined]);
  writeFileSync(file, second);
  await time.advance(60_000);
  expect(shown("client", "etcd")).toEqual(validityOf(second));
  stop();
  writeFileSync(file, first);
  await time.advance(600_000);
  expect(shown("client", "etcd")).toEqual(validityOf(second));
});
