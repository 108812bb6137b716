import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { componentFile, describeWith, eventually, runCommand, startEtcd, type EtcdUnderTest } from "../src/index.ts";

const VERSIONS = [
  { version: "3.6", component: "etcd", etcdctl: "etcdctl" },
  { version: "3.4", component: "etcd34", etcdctl: "etcdctl34" },
] as const;

describe.each(VERSIONS)("etcd $version", ({ version, component, etcdctl }) => {
  describeWith([component], "one member without TLS", () => {
    it("has the requested version and keeps acknowledged keys after kill -9 with fsync", async () => {
      await using etcd = await startEtcd({ version, fsync: true });
      expect(await etcd.etcdctl("endpoint", "status", "-w", "json")).toContain(`"version":"${version}.`);
      for (let key = 0; key < 10; key += 1) await etcd.etcdctl("put", `/k/${key}`, String(key));
      const [member] = etcd.members;
      await member?.kill();
      await expect(etcd.etcdctl("--dial-timeout=1s", "--command-timeout=1s", "get", "/k/0")).rejects.toThrow();
      await member?.start();
      expect((await etcd.etcdctl("get", "--prefix", "/k/", "--keys-only")).match(/\/k\//g)).toHaveLength(10);
    });

    it("hangs while frozen and responds after the thaw", async () => {
      await using etcd = await startEtcd({ version });
      const [member] = etcd.members;
      member?.freeze();
      await expect(etcd.etcdctl("--command-timeout=300ms", "put", "a", "1")).rejects.toThrow(/deadline/i);
      member?.thaw();
      await eventually(() => etcd.etcdctl("put", "a", "2"), { what: "a write after the thaw" });
      expect(await etcd.etcdctl("get", "a", "--print-value-only")).toBe("2\n");
    });

    it("rejects writes beyond its quota", async () => {
      await using etcd = await startEtcd({ version, quotaBytes: 2 * 1024 * 1024 });
      const fill = async (): Promise<void> => {
        for (let key = 0; key < 60; key += 1) await etcd.etcdctl("put", `/q/${key}`, "x".repeat(100_000));
      };
      await expect(fill()).rejects.toThrow(/space exceeded/);
    });
  });

  describeWith([component], "TLS and authentication", () => {
    let etcd: EtcdUnderTest;
    beforeAll(async () => {
      etcd = await startEtcd({ version, tls: true, auth: true });
    });
    afterAll(() => etcd?.close());

    const as = (flags: readonly string[], ...args: string[]) =>
      runCommand(componentFile(etcdctl), [
        `--endpoints=${etcd.endpoints[0]}`,
        "--command-timeout=3s",
        ...flags,
        ...args,
      ]);
    const certificate = (): string[] => {
      const { caFile, certFile, keyFile } = etcd.tls!;
      return [`--cacert=${caFile}`, `--cert=${certFile}`, `--key=${keyFile}`];
    };

    it("limits pm to /oaas/ by certificate", async () => {
      expect(await as(certificate(), "put", "/oaas/a", "1")).toMatchObject({ exitCode: 0 });
      const elsewhere = await as(certificate(), "put", "/other/a", "1");
      expect(elsewhere.exitCode).not.toBe(0);
      expect(elsewhere.stderr).toContain("permission denied");
    });

    it("authenticates pm by password and rejects a wrong one", async () => {
      const { username, password } = etcd.auth!;
      expect(await as([...certificate(), `--user=${username}:${password}`], "get", "/oaas/a")).toMatchObject({
        exitCode: 0,
      });
      const wrong = await as([...certificate(), `--user=${username}:wrong`], "get", "/oaas/a");
      expect(wrong.stderr).toContain("authentication failed");
    });

    it("rejects a client without a certificate", async () => {
      const { exitCode } = await as([`--cacert=${etcd.tls!.caFile}`], "get", "/oaas/a");
      expect(exitCode).not.toBe(0);
    });

    it("gives root all rights", async () => {
      expect(await etcd.etcdctl("user", "list")).toBe("pm\nroot\n");
    });
  });

  describeWith([component], "three members", () => {
    it("keep serving without one member, stop without two, and recover", async () => {
      await using etcd = await startEtcd({ version, members: 3, tls: true });
      await etcd.etcdctl("put", "a", "1");
      const [first, second, third] = etcd.members;
      await first?.kill();
      await eventually(() => etcd.etcdctl("put", "a", "2"), { what: "a write with two members" });
      await second?.stop();
      await expect(etcd.etcdctl("--command-timeout=1s", "put", "a", "3")).rejects.toThrow();
      await first?.start();
      await second?.start();
      await eventually(() => etcd.etcdctl("endpoint", "health"), { what: "three healthy members" });
      expect(await third?.logTail()).toBeTypeOf("string");
      // The write without a quorum was not acknowledged: it may or may not have been applied.
      expect(await etcd.etcdctl("get", "a", "--print-value-only")).toMatch(/^[23]\n$/);
    });
  });
});
