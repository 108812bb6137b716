import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createAuthority } from "@oaas/certificates";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { createRecordingMeter } from "@oaas/observability/testing";
import { afterAll, expect, test } from "vitest";
import { CertificateExpiry } from "./certificate-expiry.ts";

const folder = mkdtempSync(path.join(tmpdir(), "oaas-certificate-expiry-"));
afterAll(() => rmSync(folder, { recursive: true }));

const day = (date: string): Date => new Date(`${date}T00:00:00Z`);
const seconds = (date: string): number => day(date).getTime() / 1000;
const authority = createAuthority("ca", { from: day("2026-01-01"), to: day("2036-01-01") });
const issue = (from: string, to: string): string =>
  authority.issue({ commonName: "server" }, { from: day(from), to: day(to) }).certificate;

const meter = createRecordingMeter();
const expiry = new CertificateExpiry(meter);
const shown = (use: string, peer = ""): readonly (number | undefined)[] =>
  ["start", "expiry"].map((end) => meter.value(`oaas_certificate_${end}_timestamp_seconds`, { use, peer }));

test("shows the certificate of a chain that expires first", () => {
  const leaf = issue("2026-02-01", "2026-05-01");
  expiry.show({ use: "server" }, `${authority.certificate}${leaf}`);
  expect(shown("server")).toEqual([seconds("2026-02-01"), seconds("2026-05-01")]);
  expiry.show({ use: "server" }, issue("2026-04-01", "2026-07-01"));
  expect(shown("server")).toEqual([seconds("2026-04-01"), seconds("2026-07-01")]);
});

test.each(["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"])(
  "shows nothing for %j",
  (text) => {
    expiry.show({ use: "client", peer: "edge" }, issue("2026-01-01", "2026-04-01"));
    expiry.show({ use: "client", peer: "edge" }, text);
    expect(shown("client", "edge")).toEqual([undefined, undefined]);
  },
);

test("removes only the series of one peer", () => {
  for (const peer of ["edge", "hub"]) expiry.show({ use: "client", peer }, issue("2026-01-01", "2026-04-01"));
  expiry.remove({ use: "client", peer: "edge" });
  expect(shown("client", "edge")).toEqual([undefined, undefined]);
  expect(shown("client", "hub")).toEqual([seconds("2026-01-01"), seconds("2026-04-01")]);
});

test("follows a file that is replaced, deleted and restored", async () => {
  const { time } = virtualAmbient(1);
  const file = path.join(folder, "tls.crt");
  writeFileSync(file, issue("2026-01-01", "2026-04-01"));
  const stop = expiry.follow({ use: "client", peer: "etcd" }, file, time);
  await time.advance(1);
  expect(shown("client", "etcd")).toEqual([seconds("2026-01-01"), seconds("2026-04-01")]);
  rmSync(file);
  await time.advance(60_000);
  expect(shown("client", "etcd")).toEqual([undefined, undefined]);
  writeFileSync(file, issue("2026-03-01", "2026-06-01"));
  await time.advance(60_000);
  expect(shown("client", "etcd")).toEqual([seconds("2026-03-01"), seconds("2026-06-01")]);
  stop();
  writeFileSync(file, issue("2026-05-01", "2026-08-01"));
  await time.advance(600_000);
  expect(shown("client", "etcd")).toEqual([seconds("2026-03-01"), seconds("2026-06-01")]);
});
