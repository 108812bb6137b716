import type { TlsOptions } from "node:tls";
import { X509Certificate } from "node:crypto";
import { conflict, failedPrecondition } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { createRecordingLogger, createRecordingMeter } from "@oaas/observability/testing";
import { CertificateExpiry } from "@oaas/rpc";
import { expect, test } from "vitest";
import type { CertificateSet, SecretData } from "./renew.ts";
import { SelfSignedCertificates, type CertificateStore } from "./self-signed-certificates.ts";

const MINUTE_MS = 60_000;

/** Three Secrets with versions, as the API server keeps them. */
class TestSecrets {
  readonly ambient = virtualAmbient(1);
  readonly logs = createRecordingLogger();
  readonly meter = createRecordingMeter();
  problem: string | undefined;
  writes = 0;
  parts: Record<keyof CertificateSet, { data: SecretData; version: number }> = {
    authority: { data: {}, version: 1 },
    server: { data: {}, version: 1 },
    client: { data: {}, version: 1 },
  };
  readonly #running: SelfSignedCertificates[] = [];

  readonly store: CertificateStore = {
    load: async () => {
      if (this.problem !== undefined) throw failedPrecondition("Secret", this.problem);
      const { authority, server, client } = this.parts;
      return {
        authority: authority.data,
        server: server.data,
        client: client.data,
        versions: {
          authority: String(authority.version),
          server: String(server.version),
          client: String(client.version),
        },
      };
    },
    save: async (part, data, version) => {
      if (version !== String(this.parts[part].version)) throw conflict("Secret", part);
      this.parts[part] = { data, version: this.parts[part].version + 1 };
      this.writes += 1;
    },
  };

  start(): { certificates: SelfSignedCertificates; applied: TlsOptions[] } {
    const certificates = new SelfSignedCertificates({
      ambient: this.ambient,
      logger: this.logs.log,
      store: this.store,
      rules: { validMs: 60 * MINUTE_MS, serverNames: ["oprc-crm"], clientName: "oprc-pm" },
      mtls: true,
      expiry: new CertificateExpiry(this.meter),
    });
    const applied: TlsOptions[] = [];
    certificates.start((options) => applied.push(options));
    this.#running.push(certificates);
    return { certificates, applied };
  }

  async close(): Promise<void> {
    await Promise.all(this.#running.map((certificates) => certificates.close()));
  }
}

test("creates the certificates, serves with them, and writes nothing while they are valid", async () => {
  const secrets = new TestSecrets();
  const { certificates, applied } = secrets.start();
  await secrets.ambient.time.advance(1);
  expect(certificates.problem).toBeUndefined();
  expect(secrets.writes).toBe(3);
  expect(applied).toEqual([
    {
      cert: secrets.parts.server.data["tls.crt"],
      key: secrets.parts.server.data["tls.key"],
      ca: secrets.parts.server.data["ca.crt"],
      requestCert: true,
      rejectUnauthorized: false,
    },
  ]);
  await secrets.ambient.time.advance(35 * MINUTE_MS);
  expect(secrets.writes).toBe(3);
  await secrets.close();
});

test("renews the certificates before they expire, and applies them", async () => {
  const secrets = new TestSecrets();
  const { applied } = secrets.start();
  await secrets.ambient.time.advance(180 * MINUTE_MS);
  expect(applied.length).toBeGreaterThanOrEqual(4);
  const expiry = new X509Certificate(secrets.parts.server.data["tls.crt"] ?? "").validToDate.getTime();
  expect(expiry - secrets.ambient.clock.now()).toBeGreaterThan(15 * MINUTE_MS);
  await secrets.close();
});

test("two replicas agree on one set of certificates", async () => {
  const secrets = new TestSecrets();
  const [a, b] = [secrets.start(), secrets.start()];
  await secrets.ambient.time.advance(60_000);
  expect(secrets.writes).toBe(3);
  expect(a.applied.at(-1)?.cert).toBe(secrets.parts.server.data["tls.crt"]);
  expect(b.applied.at(-1)?.cert).toBe(secrets.parts.server.data["tls.crt"]);
  await secrets.close();
});

test("names the problem once, serves with a placeholder, and recovers when it is fixed", async () => {
  const secrets = new TestSecrets();
  secrets.problem = "Secret oaas-system/oprc-crm-tls does not exist";
  const { certificates, applied } = secrets.start();
  expect(new X509Certificate(String(certificates.placeholder().cert)).subject).toBe("CN=placeholder");
  await secrets.ambient.time.advance(60_000);
  expect(certificates.problem).toContain("oprc-crm-tls does not exist");
  expect(applied).toEqual([]);
  expect(secrets.logs.messages("warn")).toHaveLength(1);
  secrets.problem = undefined;
  await secrets.ambient.time.advance(2_000);
  expect(certificates.problem).toBeUndefined();
  expect(applied).toHaveLength(1);
  await secrets.close();
});

test("keeps serving with the loaded certificate while the API server does not respond", async () => {
  const secrets = new TestSecrets();
  const { certificates, applied } = secrets.start();
  await secrets.ambient.time.advance(1);
  secrets.problem = "connection refused";
  await secrets.ambient.time.advance(50 * MINUTE_MS);
  expect(certificates.problem).toBeUndefined();
  expect(applied).toHaveLength(1);
  await secrets.close();
});

test("is a client with the certificate of the server, as soon as there is one", async () => {
  const secrets = new TestSecrets();
  secrets.problem = "Secret oaas-authority does not exist";
  const { certificates } = secrets.start();
  await secrets.ambient.time.advance(1);
  expect(() => certificates.clientTls()).toThrow("Secret oaas-authority does not exist");
  secrets.problem = undefined;
  await secrets.ambient.time.advance(MINUTE_MS);
  const { server } = secrets.parts;
  expect(certificates.clientTls()).toEqual({
    certificate: server.data["tls.crt"],
    key: server.data["tls.key"],
    ca: server.data["ca.crt"],
  });
  await secrets.close();
});

test("shows when the certificates expire, and that renewal fails", async () => {
  const secrets = new TestSecrets();
  const left = (use: string, peer = ""): number => {
    const expiresAt = secrets.meter.value("oaas_certificate_expiry_timestamp_seconds", { use, peer }) ?? 0;
    return Math.round(expiresAt * 1000 - secrets.ambient.clock.now()) / MINUTE_MS;
  };
  secrets.start();
  await secrets.ambient.time.advance(1);
  expect(left("server")).toBeCloseTo(60, 1);
  expect(left("issued", "oprc-pm")).toBeCloseTo(60, 1);
  expect(left("authority")).toBeGreaterThan(3600 * 1440);
  await secrets.ambient.time.advance(50 * MINUTE_MS);
  expect(left("server")).toBeGreaterThan(40);
  secrets.problem = "the API server does not respond";
  await secrets.ambient.time.advance(70 * MINUTE_MS);
  expect(left("server")).toBeLessThan(0);
  await secrets.close();
});
