import { X509Certificate } from "node:crypto";
import { mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { GRPC_STATUS } from "@oaas/contracts/grpc";
import { conflict, failedPrecondition, Fault, invalidArgument, resourceExhausted, unavailable } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import type { ClusterName, UnitId } from "@oaas/models";
import { NOOP_LOGGER, type CorrelationId, type Logger } from "@oaas/observability";
import { createAsyncContext, createPinoLogger } from "@oaas/observability/node";
import { createRecordingMeter } from "@oaas/observability/testing";
import { eventually, makeAuthority } from "@oaas/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { DEFAULT_GUARD, type GuardPolicy } from "../src/adapters/crm/guard/cluster-guard.ts";
import { GrpcCrmGateway } from "../src/adapters/crm/crm-gateway.ts";
import type { RuntimeChange, UnitReport } from "../src/ports.ts";
import { FakeClusterBook } from "./fakes/cluster-book.ts";
import { startRawGrpc } from "./fakes/raw-grpc.ts";
import { ScriptedCrm, type ScriptedCrmOptions } from "./fakes/scripted-crm.ts";
import { DEPLOYING, DOWN, RUNNING } from "./fakes/scripted-units.ts";
import { unitOf } from "./fakes/units.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const context = createAsyncContext();
const meter = createRecordingMeter();

function gatewayOver(
  book: FakeClusterBook,
  guard: Partial<GuardPolicy> = {},
  logger: Logger = NOOP_LOGGER,
): GrpcCrmGateway {
  const gateway = new GrpcCrmGateway({
    clusters: book,
    ambient: realAmbient,
    context,
    logger,
    meter,
    guard: { ...DEFAULT_GUARD, ...guard },
  });
  open.push(gateway);
  return gateway;
}

async function cluster(options?: ScriptedCrmOptions): Promise<ScriptedCrm> {
  const crm = await ScriptedCrm.start(options);
  open.push(crm);
  return crm;
}

/** One scripted cluster named edge, and a gateway that knows it. */
async function edge(
  options?: ScriptedCrmOptions,
  registration = {},
  guard: Partial<GuardPolicy> = {},
  logger: Logger = NOOP_LOGGER,
) {
  const crm = await cluster(options);
  const book = new FakeClusterBook();
  const name = book.put("edge", crm.url, registration);
  return { crm, book, name, gateway: gatewayOver(book, guard, logger) };
}

async function all(reports: AsyncIterable<UnitReport>): Promise<UnitReport[]> {
  const found: UnitReport[] = [];
  for await (const report of reports) found.push(report);
  return found;
}

async function faultOf(call: Promise<unknown>): Promise<Fault> {
  return call.then(
    () => expect.unreachable("the call succeeded"),
    (thrown: unknown) => Fault.from(thrown),
  );
}

describe("GrpcCrmGateway with our manager", () => {
  it("grants a restart, and reads whether the turn is over", async () => {
    const { crm, gateway, name } = await edge();
    const unit = unitOf("cart-1");
    await gateway.deploy(name, unit);
    const grant = { nodeId: 7, turnId: "turn-1" };
    expect(await gateway.grantRestart(name, unit.id, grant, { namespace: "shop" })).toBe(true);
    expect(await gateway.grantRestart(name, unit.id, grant)).toBe(false);
    expect(crm.callsOf("GrantRestart")[0]?.request).toMatchObject({
      deploymentId: unit.id,
      nodeId: 7n,
      turnId: "turn-1",
      namespace: "shop",
    });
    await expect(gateway.grantRestart(name, "other" as UnitId, grant)).rejects.toMatchObject({ kind: "not-found" });
  });

  it("deploys, reads, lists, explains and removes, idempotently", async () => {
    const { crm, gateway, name } = await edge();
    const unit = unitOf("cart-1");
    crm.units.settle = () => DEPLOYING;
    await gateway.deploy(name, unit);
    await gateway.deploy(name, unit);
    expect(crm.units.size).toBe(1);
    expect(await gateway.unit(name, unit.id)).toMatchObject({ condition: "deploying", phase: "progressing" });
    crm.units.set(unit.id, RUNNING);
    expect(await gateway.unit(name, unit.id)).toMatchObject({
      unitId: "cart-1",
      condition: "running",
      phase: "available",
      digest: "d1",
      revision: 1,
      managedBy: "pm",
      deploymentKey: "cart",
      runtime: { cluster: "edge", classKey: "shop.Cart", targetEnvironment: "oaas-scripted" },
    });
    crm.units.set("cart-1", DOWN);
    expect(await gateway.explain(name, unit.id)).toMatchObject({
      level: "class",
      verdict: "permanent",
      causes: [{ level: "function", name: "Cart.add" }],
    });
    expect(await all(gateway.runtimes(name, { condition: "running" }))).toEqual([]);
    expect(await all(gateway.runtimes(name, { classKey: "Cart", packageName: "shop" }))).toHaveLength(1);
    expect((await gateway.topology(name)).nodes.map(({ id }) => id)).toEqual([
      "environment::scripted",
      "class::cart-1",
    ]);
    expect((await faultOf(gateway.remove(name, unit.id, { revision: 0 }))).kind).toBe("failed-precondition");
    await gateway.remove(name, unit.id, { revision: 1 });
    await gateway.remove(name, unit.id);
    expect(await gateway.unit(name, unit.id)).toBeUndefined();
  });

  describe("replicas that are not the leader", () => {
    const notLeader = unavailable("the leader", '"crm-1" is the leader', {
      code: "OAAS_NOT_LEADER",
      retryAfterMs: 1_000,
    });

    it("are left over a new connection, which then stays", async () => {
      const { crm, gateway, name } = await edge();
      await gateway.unit(name, "cart-1" as UnitId);
      expect(crm.connections).toBe(1);
      crm.next("Deploy", { do: "fail", fault: notLeader }, { do: "fail", fault: notLeader });
      await gateway.deploy(name, unitOf("cart-1"));
      expect(crm.units.size).toBe(1);
      // The former ones are closed when their calls had time to finish.
      expect(crm.connections).toBe(3);
      await gateway.deploy(name, unitOf("cart-2"));
      expect(crm.connections).toBe(3);
    });

    it("open one new connection for all calls that they reject", async () => {
      const { crm, gateway, name } = await edge();
      await gateway.unit(name, "cart-1" as UnitId);
      const ids = ["a", "b", "c", "d"];
      crm.next("Deploy", ...ids.map(() => ({ do: "fail", fault: notLeader }) as const));
      await Promise.all(ids.map((id) => gateway.deploy(name, unitOf(id))));
      expect(crm.units.size).toBe(4);
      expect(crm.connections).toBeLessThan(2 + ids.length);
    });

    it("are reported when no replica is the leader before the deadline, and do not open the breaker", async () => {
      const { crm, gateway, name } = await edge({}, { timeoutSeconds: 1 });
      crm.always({ do: "fail", fault: notLeader }, "Deploy");
      const fault = await faultOf(gateway.deploy(name, unitOf("cart-1")));
      expect([fault.code, fault.message]).toEqual(["OAAS_NOT_LEADER", 'cluster "edge": "crm-1" is the leader']);
      expect(crm.connections).toBeLessThanOrEqual(16);
      expect(gateway.breaker(name)).toBe("closed");
    });
  });

  it("sends the namespace with every call about a unit", async () => {
    const { crm, gateway, name } = await edge();
    const unit = unitOf("cart-1");
    const options = { namespace: "shop" };
    await gateway.deploy(name, unit, options);
    await gateway.unit(name, unit.id, options);
    await gateway.explain(name, unit.id, options);
    const request = { functionKey: "add", method: "", path: "", headers: {}, body: new Uint8Array() };
    const query = { follow: false, previous: false };
    await Promise.allSettled([
      gateway.enforcement(name, unit.id, options),
      gateway.signals(name, unit.id, {}, options),
      gateway.object(name, unit.id, { kind: "Deployment", name: "x" }, options),
      gateway.pods(name, unit.id, options),
      gateway.conditions(name, unit.id, options),
      gateway.render(name, unit, options),
      gateway.invoke(name, unit.id, request, options),
      gateway.logs(name, unit.id, query, options)[Symbol.asyncIterator]().next(),
    ]);
    await gateway.remove(name, unit.id, { ...options, revision: 1 });
    expect(crm.calls.length).toBeGreaterThanOrEqual(8);
    for (const { method, request } of crm.calls)
      expect([method, request]).toEqual([method, expect.objectContaining(options)]);
  });

  it("sends correlation id, trace, token and deadline", async () => {
    const { crm, gateway, name } = await edge({}, { token: "s3cret" });
    const span = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", sampled: true };
    await context.run({ correlationId: "corr-1" as CorrelationId, span }, () => gateway.deploy(name, unitOf("a")));
    await gateway.unit(name, "a" as UnitId);
    const [deploy, read] = crm.calls;
    expect(deploy).toMatchObject({ correlationId: "corr-1", authorization: "Bearer s3cret" });
    expect(deploy?.traceparent).toContain("0af7651916cd43dd8448eb211c80319c");
    expect(deploy?.remainingMs).toBeGreaterThan(5_000);
    expect(deploy?.remainingMs).toBeLessThanOrEqual(15_000);
    expect(read?.remainingMs).toBeLessThanOrEqual(5_000);
    expect(read?.correlationId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("lists all pages", async () => {
    const { crm, gateway, name } = await edge();
    for (let n = 0; n < 1_203; n += 1) crm.units.put(unitOf(`unit-${String(n).padStart(4, "0")}`));
    const ids = (await all(gateway.runtimes(name, {}))).map(({ unitId }) => unitId);
    expect(new Set(ids).size).toBe(1_203);
    expect(crm.callsOf("ListClassRuntimes")).toHaveLength(3);
  });

  it("watches a snapshot and then changes, until the caller aborts", async () => {
    const { crm, gateway, name } = await edge();
    crm.units.put(unitOf("a"));
    const stop = new AbortController();
    const seen: RuntimeChange[] = [];
    const watching = (async () => {
      for await (const change of gateway.watch(name, { signal: stop.signal })) seen.push(change);
    })();
    await eventually(() => seen.length === 3);
    crm.units.set("a", DOWN);
    crm.units.put(unitOf("b"));
    crm.units.remove("a");
    await eventually(() => seen.length === 6);
    expect(seen.map((change) => (change.type === "changed" ? change.report.condition : change.type))).toEqual([
      "syncing",
      "running",
      "synced",
      "down",
      "running",
      "removed",
    ]);
    stop.abort();
    await expect(watching).rejects.toMatchObject({ detail: { kind: "cancelled" } });
  });
});

describe("GrpcCrmGateway with failing clusters", () => {
  const refusals: { fault: Fault; calls: number; why: string }[] = [
    { fault: unavailable("api", "down"), calls: 3, why: "is retryable" },
    { fault: conflict("class runtime", "a"), calls: 3, why: "is retryable" },
    { fault: resourceExhausted("quota", "full"), calls: 3, why: "is retryable" },
    { fault: failedPrecondition("odgm", "ODGM is off"), calls: 1, why: "is not retryable" },
    {
      fault: invalidArgument("unit", [{ path: "$.id", message: "is odd", fix: "even it" }]),
      calls: 1,
      why: "is not retryable",
    },
    { fault: new Fault({ kind: "internal" }, "bug"), calls: 1, why: "is not retryable" },
    { fault: new Fault({ kind: "unauthenticated" }, "who?"), calls: 1, why: "is not retryable" },
    { fault: new Fault({ kind: "permission-denied", action: "x" }, "no"), calls: 1, why: "is not retryable" },
  ];
  it.each(refusals)("a read that fails with $fault.kind $why", async ({ fault, calls }) => {
    const { crm, gateway, name } = await edge();
    crm.always({ do: "fail", fault });
    const seen = await faultOf(gateway.unit(name, "a" as UnitId));
    expect(seen.kind).toBe(fault.kind);
    expect(seen.message).toContain('cluster "edge"');
    expect(seen.violations).toEqual(fault.violations);
    expect(crm.callsOf("GetClassRuntime")).toHaveLength(calls);
    expect((await faultOf(gateway.deploy(name, unitOf("a")))).kind).toBe(fault.kind);
    expect(crm.callsOf("Deploy"), "the saga retries writes").toHaveLength(1);
  });

  const codes: { code: keyof typeof GRPC_STATUS; kind: string; calls: number; why: string }[] = [
    { code: "INTERNAL", kind: "unavailable", calls: 3, why: "the Rust manager returns it when Kubernetes is down" },
    { code: "UNKNOWN", kind: "unavailable", calls: 3, why: "a proxy may return it" },
    { code: "UNAVAILABLE", kind: "unavailable", calls: 3, why: "standard meaning" },
    { code: "ABORTED", kind: "conflict", calls: 3, why: "standard meaning" },
    { code: "OUT_OF_RANGE", kind: "invalid-argument", calls: 1, why: "the request is invalid" },
    { code: "DATA_LOSS", kind: "internal", calls: 1, why: "not retryable" },
    { code: "ALREADY_EXISTS", kind: "already-exists", calls: 1, why: "the name is taken" },
    { code: "UNIMPLEMENTED", kind: "unimplemented", calls: 1, why: "the service is missing" },
  ];
  it.each(codes)("a bare $code is $kind: $why", async ({ code, kind, calls }) => {
    const raw = await startRawGrpc(GRPC_STATUS[code]);
    open.push(raw);
    const book = new FakeClusterBook();
    const name = book.put("foreign", raw.url);
    const fault = await faultOf(gatewayOver(book).unit(name, "a" as UnitId));
    expect([fault.kind, raw.calls.length]).toEqual([kind, calls]);
    expect(fault.message).toContain('cluster "foreign"');
  });

  it("creates the unit once when the caller retries after a lost response", async () => {
    const { crm, gateway, name } = await edge();
    crm.next("Deploy", { do: "lose-answer" });
    expect((await faultOf(gateway.deploy(name, unitOf("a")))).retryable).toBe(true);
    await gateway.deploy(name, unitOf("a"));
    expect(crm.units.size).toBe(1);
    expect(crm.callsOf("Deploy")).toHaveLength(2);
  });

  it("ends calls to a hanging cluster at the deadline, without delaying other clusters", async () => {
    const hung = await cluster({ name: "hung" });
    const well = await cluster({ name: "well" });
    hung.always({ do: "hang" });
    const book = new FakeClusterBook();
    const gateway = gatewayOver(book);
    const caller = new AbortController();
    const slow = book.put("slow", hung.url, { timeoutSeconds: 300 });
    const held = faultOf(gateway.deploy(slow, unitOf("a"), { signal: caller.signal }));
    await eventually(() => hung.callsOf("Deploy").length === 1);
    const good = book.put("well", well.url);
    await Promise.all(Array.from({ length: 20 }, (_, n) => gateway.deploy(good, unitOf(`u-${n}`))));
    caller.abort();
    expect((await held).kind, "the call was pending until the abort").toBe("cancelled");
    const fast = book.put("fast", hung.url, { timeoutSeconds: 1 });
    expect((await faultOf(gateway.deploy(fast, unitOf("a")))).kind).toBe("deadline-exceeded");
  });

  it("rejects calls to a dead cluster after some failures, until it responds again", async () => {
    const { crm, gateway, name } = await edge({}, { retryAttempts: 1 }, { breaker: { threshold: 2, openMs: 60_000 } });
    await gateway.deploy(name, unitOf("a"));
    await crm.down();
    for (let n = 0; n < 2; n += 1) expect((await faultOf(gateway.unit(name, "a" as UnitId))).kind).toBe("unavailable");
    expect(gateway.breaker(name)).toBe("open");
    expect((await faultOf(gateway.unit(name, "a" as UnitId))).message).toMatch(
      /circuit breaker open after 2 consecutive failures/,
    );
    await crm.up();
    await eventually(() => gateway.health(name));
    expect(gateway.breaker(name)).toBe("closed");
    expect(await gateway.unit(name, "a" as UnitId)).toBeDefined();
  });

  it("treats a cluster that accepts connections and never responds as unreachable", async () => {
    const { crm, gateway, name } = await edge({}, { timeoutSeconds: 1 });
    crm.mute();
    expect((await faultOf(gateway.health(name))).kind).toMatch(/deadline-exceeded|unavailable/);
  });

  it("limits concurrent calls", async () => {
    const { crm, gateway, name } = await edge({}, {}, { maxConcurrent: 3 });
    // Held, because fast responses might not overlap.
    const overlap = Promise.withResolvers<void>();
    crm.always({ do: "hold", until: overlap.promise }, "Deploy");
    const calls = Array.from({ length: 12 }, (_, n) => gateway.deploy(name, unitOf(`u-${n}`)));
    await eventually(() => crm.mostAtOnce("Deploy") === 3, { what: "three calls to be in flight" });
    overlap.resolve();
    await Promise.all(calls);
    expect(crm.mostAtOnce("Deploy")).toBe(3);
    expect(crm.units.size).toBe(12);
  });

  it("returns not-found for an unknown cluster and closes the connection of a removed one", async () => {
    const { crm, book, gateway, name } = await edge();
    await gateway.health(name);
    expect(crm.connections).toBe(1);
    book.delete(name);
    await eventually(() => crm.connections === 0);
    expect((await faultOf(gateway.health(name))).detail).toMatchObject({ kind: "not-found", name: "edge" });
    expect((await faultOf(gateway.unit("x" as ClusterName, "a" as UnitId))).kind).toBe("not-found");
  });

  it("cancels the call when the caller aborts", async () => {
    const { crm, gateway, name } = await edge();
    crm.always({ do: "hang" }, "Deploy");
    const caller = new AbortController();
    const call = faultOf(gateway.deploy(name, unitOf("a"), { signal: caller.signal }));
    await eventually(() => crm.callsOf("Deploy").length === 1);
    caller.abort();
    expect((await call).kind).toBe("cancelled");
    expect(crm.callsOf("Deploy")).toHaveLength(1);
  });
});

describe("GrpcCrmGateway with the Rust manager", () => {
  it("lists by offset, applies filters itself, and works without watch and explain", async () => {
    const { crm, gateway, name } = await edge({ flavour: "rust" });
    for (let n = 0; n < 1_001; n += 1) {
      crm.units.put(unitOf(`unit-${n}`, { classKey: n % 2 === 0 ? "Even" : "Odd" }));
    }
    expect(await all(gateway.runtimes(name, {}))).toHaveLength(1_001);
    expect(await all(gateway.runtimes(name, { classKey: "Even", condition: "running" }))).toHaveLength(501);
    expect(await all(gateway.runtimes(name, { environment: "oaas-scripted" }))).toHaveLength(1_001);
    expect(await all(gateway.runtimes(name, { environment: "elsewhere" }))).toEqual([]);
    expect(await gateway.explain(name, "unit-1" as UnitId)).toBeUndefined();
    await expect(gateway.watch(name)[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      detail: { kind: "unimplemented" },
    });
    expect(await gateway.unit(name, "unit-1" as UnitId)).not.toHaveProperty("digest");
    expect(await gateway.health(name)).toMatchObject({ status: "healthy", availability: 0.99, cluster: "edge" });
  });

  const updates: { detected: "by health" | "by the first response"; why: string }[] = [
    { detected: "by health", why: "the usual order" },
    { detected: "by the first response", why: "a deployment before the first health check" },
  ];
  it.each(updates)("replaces a changed unit, detected $detected", async ({ detected }) => {
    const { crm, gateway, name } = await edge({ flavour: "rust" });
    if (detected === "by health") await gateway.health(name);
    await gateway.deploy(name, unitOf("a", { classKey: "Old" }));
    await gateway.deploy(name, unitOf("a", { classKey: "Old" }));
    expect(crm.callsOf("DeleteDeployment")).toHaveLength(0);
    await gateway.deploy(name, unitOf("a", { classKey: "New", digest: "d2", revision: 2n }));
    expect(crm.units.get("a")?.unit.classKey).toBe("New");
    expect(crm.callsOf("DeleteDeployment")).toHaveLength(1);
    await gateway.deploy(name, unitOf("a", { classKey: "New", digest: "d2", revision: 2n }));
    expect(crm.callsOf("DeleteDeployment")).toHaveLength(1);
  });

  it("replaces a unit of another process unless it has the first revision", async () => {
    const { crm, gateway, name } = await edge({ flavour: "rust" });
    crm.units.put(unitOf("a", { classKey: "Old" }));
    await gateway.deploy(name, unitOf("a", { classKey: "New", digest: "d2", revision: 2n }));
    expect(crm.units.get("a")?.unit.classKey).toBe("New");
  });
});

describe("TLS and tokens", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "oaas-pm-tls-"));
  const write = (name: string, text: string): string => {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    return file;
  };

  it("verifies the server, sends a client certificate, and reloads replaced files", async () => {
    const servers = makeAuthority("servers");
    const clients = makeAuthority("clients");
    const server = servers.issue({ commonName: "crm", hosts: ["127.0.0.1", "localhost"] });
    const [first, second] = ["pm-1", "pm-2"].map((commonName) => clients.issue({ commonName }));
    const caFile = write("ca.crt", makeAuthority("strangers").certificate);
    const certificateFile = write("tls.crt", first!.certificate);
    const keyFile = write("tls.key", first!.key);
    const tokenFile = write("token", "old\n");
    const { crm, gateway, name } = await edge(
      {
        tls: {
          cert: server.certificate,
          key: server.key,
          ca: clients.certificate,
          requestCert: true,
          rejectUnauthorized: true,
        },
      },
      { tls: { caFile, certificateFile, keyFile, insecure: false }, tokenFile, timeoutSeconds: 3, retryAttempts: 1 },
    );
    expect((await faultOf(gateway.health(name))).kind).toMatch(/unavailable|deadline-exceeded/);
    write("ca.crt", servers.certificate);
    await eventually(() => gateway.health(name));
    expect(crm.calls.at(-1)).toMatchObject({ certificate: "pm-1", authorization: "Bearer old" });
    write("tls.crt", second!.certificate);
    write("tls.key", second!.key);
    write("token", "new\n");
    for (const file of [certificateFile, keyFile, tokenFile]) utimesSync(file, new Date(), new Date());
    await eventually(async () => {
      await gateway.health(name);
      expect(crm.calls.at(-1)).toMatchObject({ certificate: "pm-2", authorization: "Bearer new" });
    });
    const expiry = (): number | undefined =>
      meter.value("oaas_certificate_expiry_timestamp_seconds", { use: "client", peer: name });
    expect(expiry()).toBe(new X509Certificate(second!.certificate).validToDate.getTime() / 1000);
    gateway.close();
    expect(expiry()).toBeUndefined();
  });

  it("logs unusable files of a partial rotation and keeps the previous ones", async () => {
    const authority = makeAuthority("everybody");
    const server = authority.issue({ commonName: "crm", hosts: ["127.0.0.1", "localhost"] });
    const [first, second] = ["pm-1", "pm-2"].map((commonName) => authority.issue({ commonName }));
    const files = {
      caFile: write("half-ca.crt", authority.certificate),
      certificateFile: write("half-tls.crt", first!.certificate),
      keyFile: write("half-tls.key", first!.key),
      tokenFile: write("half-token", "old"),
    };
    const { tokenFile, ...tls } = files;
    const logged: string[] = [];
    const { crm, gateway, name } = await edge(
      {
        tls: {
          cert: server.certificate,
          key: server.key,
          ca: authority.certificate,
          requestCert: true,
          rejectUnauthorized: true,
        },
      },
      { tls: { ...tls, insecure: false }, tokenFile, retryAttempts: 1 },
      {},
      createPinoLogger({
        clock: realAmbient.clock,
        level: "error",
        destination: {
          write: (line) => void logged.push(JSON.stringify((JSON.parse(line) as { fault: unknown }).fault)),
        },
      }),
    );
    await gateway.health(name);
    // Each change alone is invalid: a certificate without its key, files without PEM, an empty token.
    const invalid = [
      {
        file: tls.certificateFile,
        text: second!.certificate,
        valid: first!.certificate,
        message: "does not match the certificate in",
      },
      { file: tls.keyFile, text: "nonsense", valid: first!.key, message: "does not contain a usable private key" },
      { file: tls.caFile, text: "", valid: authority.certificate, message: "does not contain a certificate" },
      { file: tokenFile, text: "\n", valid: "old", message: "is empty" },
      { file: tokenFile, text: "two\nlines\n", valid: "new", message: "does not contain a single valid token" },
    ];
    for (const { file, text, valid, message } of invalid) {
      logged.length = 0;
      writeFileSync(file, text);
      await eventually(async () => {
        await gateway.health(name);
        expect(logged).toEqual([expect.stringContaining(message)]);
      });
      expect(crm.calls.at(-1)).toMatchObject({ certificate: "pm-1", authorization: "Bearer old" });
      writeFileSync(file, valid);
    }
    await eventually(async () => {
      await gateway.health(name);
      expect(crm.calls.at(-1)?.authorization).toBe("Bearer new");
    });
  });

  it("names a file without a valid token", async () => {
    const tokenFile = write("no-token", "s3cret word");
    const { gateway, name } = await edge({}, { tokenFile });
    const fault = await faultOf(gateway.health(name));
    expect(fault.kind).toBe("failed-precondition");
    expect(fault.message).toBe(
      `cluster "edge": ${tokenFile} does not contain a single valid token; write the token into it, on one line`,
    );
  });

  it("names a missing file", async () => {
    const { gateway, name } = await edge({}, { tokenFile: "/nowhere/token" });
    const fault = await faultOf(gateway.health(name));
    expect(fault.kind).toBe("failed-precondition");
    expect(fault.message).toBe('cluster "edge": /nowhere/token cannot be read: ENOENT');
  });
});
