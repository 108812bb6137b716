import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { VirtualTime } from "@oaas/foundation/virtual";
import { NOOP_METER } from "@oaas/observability";
import { CertificateExpiry } from "@oaas/rpc";
import { makeAuthority } from "@oaas/testkit";
import { expect, test } from "vitest";
import type { CrmConfig } from "../config.ts";
import { loadTlsFiles } from "./tls-files.ts";

test("reloads a certificate that was replaced within one tick of the file system clock", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "oaas-tls-files-"));
  const [certFile, keyFile] = [path.join(folder, "crt"), path.join(folder, "key")];
  const modifiedAt = new Date("2026-01-01T00:00:00Z");
  const write = (content: string): void => {
    for (const file of [certFile, keyFile]) {
      writeFileSync(file, content);
      utimesSync(file, modifiedAt, modifiedAt);
    }
  };
  write("one");
  const time = new VirtualTime(0);
  const reloaded: unknown[] = [];
  const security = { mtls: false, certFile, keyFile } as CrmConfig["security"];
  const stop = loadTlsFiles(security, new CertificateExpiry(NOOP_METER))?.watch(
    time,
    ({ cert }) => reloaded.push(cert),
    (fault) => reloaded.push(fault.message),
  );
  await time.advance(20_000);
  expect(reloaded).toEqual([]);
  write("two");
  await time.advance(20_000);
  expect(reloaded).toEqual(["two"]);
  stop?.();
  rmSync(folder, { recursive: true });
});

test("reports an expired certificate until it is replaced", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "oaas-tls-files-"));
  const [certFile, keyFile] = [path.join(folder, "crt"), path.join(folder, "key")];
  const write = (validDays: number): void => {
    const { certificate, key } = makeAuthority("ca", validDays).issue({ commonName: "crm" });
    writeFileSync(certFile, certificate);
    writeFileSync(keyFile, key);
  };
  write(-1);
  const time = new VirtualTime(0);
  const security = { mtls: false, certFile, keyFile } as CrmConfig["security"];
  const source = loadTlsFiles(security, new CertificateExpiry(NOOP_METER));
  const ignore = (): void => undefined;
  const stop = source?.watch(time, ignore, ignore);
  expect(source?.problem(Date.now())).toMatch(/crt expired at \d{4}-.*Z; replace it$/);
  write(1);
  await time.advance(20_000);
  expect(source?.problem(Date.now())).toBeUndefined();
  stop?.();
  rmSync(folder, { recursive: true });
});
