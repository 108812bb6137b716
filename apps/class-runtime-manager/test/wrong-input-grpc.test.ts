import { connect } from "node:net";
import { create, toBinary, type DescMethodUnary } from "@bufbuild/protobuf";
import { classRuntime } from "@oaas/contracts/crd";
import {
  CrmInfoService,
  DeploymentService,
  DeployOutcome,
  DeployRequestSchema,
  grpcStatusName,
  HealthService,
  TopologyService,
} from "@oaas/contracts/grpc";
import { Fault } from "@oaas/foundation";
import { eventually, sweepSize } from "@oaas/testkit";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startGrpcServices, unit, type GrpcFixture } from "./support/grpc-fixture.ts";
import { encodeFrame, rawGrpc, type RawResponse, type RawGrpc } from "./support/raw-grpc.ts";

const DEPLOY = `/${DeploymentService.typeName}/Deploy`;
const METHODS = [DeploymentService, CrmInfoService, TopologyService, HealthService]
  .flatMap(({ methods }) => methods)
  .filter((method): method is DescMethodUnary => method.methodKind === "unary");

/** Codes that say that something is wrong with us, or that nobody has thought of it. */
const OURS = new Set(["INTERNAL", "UNKNOWN", "DATA_LOSS"]);

const nameOf = ({ grpc }: RawResponse): string | undefined => (grpc === undefined ? undefined : grpcStatusName(grpc));
const good = (id = "order-1"): Uint8Array =>
  toBinary(DeployRequestSchema, create(DeployRequestSchema, { deploymentUnit: unit(id) }));

describe("any bytes over gRPC", () => {
  let serving: GrpcFixture;
  let raw: RawGrpc;
  beforeAll(async () => {
    serving = await startGrpcServices();
    raw = rawGrpc(serving.port);
  });
  afterEach(async () => {
    // Whatever came before: it lives, and the next caller is served.
    await eventually(async () => (await serving.deployments.listClassRuntimes({})).items.length >= 0);
  });
  afterAll(async () => {
    raw.close();
    await serving.close();
  });

  test.each(METHODS.map((method) => ({ path: `/${method.parent.typeName}/${method.name}` })))(
    "$path: never a fault of ours, nothing written",
    async ({ path }) => {
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
          const answer = await raw.send(path, encodeFrame(bytes));
          expect(nameOf(answer)).toBeDefined();
          expect(OURS).not.toContain(nameOf(answer));
          if (path === DEPLOY) expect(nameOf(answer)).toBe("INVALID_ARGUMENT");
          expect(serving.classes.writes).toEqual([]);
        }),
        { numRuns: sweepSize(25, 5_000) },
      );
    },
    600_000,
  );

  test("a good request with bytes changed, left out or put in: what is refused writes nothing, what is written is legal", async () => {
    const message = good();
    const edit = fc.record({
      at: fc.nat(message.length - 1),
      remove: fc.nat(3),
      insert: fc.uint8Array({ maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
        let bytes = Buffer.from(message);
        for (const { at, remove, insert } of edits) {
          bytes = Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + remove)]);
        }
        const before = serving.classes.writes.length;
        const answer = await raw.send(DEPLOY, encodeFrame(bytes));
        expect(OURS).not.toContain(nameOf(answer));
        if (nameOf(answer) !== "OK") expect(serving.classes.writes).toHaveLength(before);
        for (const object of serving.classes.list()) expect(classRuntime.safeParse(object).success).toBe(true);
      }),
      { numRuns: sweepSize(300, 20_000) },
    );
  }, 600_000);

  test("fields from a later version are passed over", async () => {
    const later = Buffer.concat([good("from-later"), Buffer.from([0x92, 0xa7, 0x12, 0x03, 1, 2, 3])]);
    expect(nameOf(await raw.send(DEPLOY, encodeFrame(later)))).toBe("OK");
    expect(serving.classes.writes.at(-1)).toBe("create shop/from-later");
  });

  // Below the messages grpc-js answers, with the codes that gRPC has for it.
  describe("wrong framing", () => {
    const message = good("framed");
    test.each<{
      why: string;
      body: Uint8Array;
      code: string;
      headers?: Record<string, string>;
    }>([
      { why: "no message at all", body: new Uint8Array(), code: "UNIMPLEMENTED" },
      { why: "half a frame header", body: encodeFrame(message).subarray(0, 3), code: "UNIMPLEMENTED" },
      { why: "fewer bytes than said", body: encodeFrame(message, { says: 10_000 }), code: "UNIMPLEMENTED" },
      { why: "more bytes than said", body: encodeFrame(message, { says: 3 }), code: "RESOURCE_EXHAUSTED" },
      {
        why: "two messages in a call for one",
        body: Buffer.concat([encodeFrame(message), encodeFrame(message)]),
        code: "UNIMPLEMENTED",
      },
      {
        why: "compressed by nothing we know",
        body: encodeFrame(message, { flag: 1 }),
        code: "UNIMPLEMENTED",
        headers: { "grpc-encoding": "rot13" },
      },
      {
        why: "not gzip though it says so",
        body: encodeFrame(message, { flag: 1 }),
        code: "INTERNAL",
        headers: { "grpc-encoding": "gzip" },
      },
      {
        why: "a length of four gigabytes",
        body: encodeFrame(message, { says: 0xff_ff_ff_ff }),
        code: "RESOURCE_EXHAUSTED",
      },
      { why: "larger than is taken", body: encodeFrame(Buffer.alloc(9 * 2 ** 20)), code: "RESOURCE_EXHAUSTED" },
    ])("$why", async ({ body, code, headers }) => {
      const before = [...serving.classes.writes];
      const answer = await raw.send(DEPLOY, body, headers);
      expect(nameOf(answer)).toBe(code);
      expect(serving.classes.writes).toEqual(before);
    });
  });

  test.each<{ why: string; path?: string; headers?: Record<string, string>; code: string }>([
    { why: "a method that is not there", path: `/${DeploymentService.typeName}/Explode`, code: "UNIMPLEMENTED" },
    { why: "a service that is not there", path: "/no.such.Service/Call", code: "UNIMPLEMENTED" },
    { why: "a path that is none", path: "/", code: "UNIMPLEMENTED" },
    { why: "a deadline that is none", headers: { "grpc-timeout": "soon" }, code: "INTERNAL" },
  ])("$why", async ({ path = DEPLOY, headers, code }) => {
    const before = [...serving.classes.writes];
    const answer = await raw.send(path, encodeFrame(good("addressed")), headers);
    expect(nameOf(answer)).toBe(code);
    expect(serving.classes.writes).toEqual(before);
  });

  test("anything at all on the port: the connection ends, the server does not", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 64 }), fc.boolean(), async (bytes, asHttp2) => {
        const preface = asHttp2 ? Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") : Buffer.alloc(0);
        await new Promise<void>((resolve) => {
          const socket = connect(serving.port, "127.0.0.1", () => socket.end(Buffer.concat([preface, bytes])));
          socket.on("error", () => undefined);
          socket.on("close", () => resolve());
          socket.resume();
        });
      }),
      { numRuns: sweepSize(30, 2_000) },
    );
  }, 600_000);
});

type Unit = Record<string, unknown>;
const withFunction = (over: object) => (given: Unit) => ({
  ...given,
  functions: [{ functionKey: "place", ...over }],
});
const withProvision = (name: string, value: unknown) => (given: Unit) => {
  const [fn] = given["functions"] as { provisionConfig?: object }[];
  return { ...given, functions: [{ ...fn, provisionConfig: { ...fn?.provisionConfig, [name]: value } }] };
};

/** Ways to spoil a unit that do not get into each other's way, and where each is told. */
const SPOILERS: readonly { why: string; spoil: (given: Unit) => Unit; path: string }[] = [
  { why: "an id of 80 characters", spoil: (given) => ({ ...given, id: "a".repeat(80) }), path: "id" },
  {
    why: "a package name with a space",
    spoil: (given) => ({ ...given, packageName: "my shop" }),
    path: "package_name",
  },
  { why: "no class", spoil: (given) => ({ ...given, classKey: "" }), path: "class_key" },
  { why: "cpu of lots", spoil: withProvision("cpuRequest", "lots"), path: "functions[0].provision_config.cpu_request" },
  {
    why: "memory of much",
    spoil: withProvision("memoryRequest", "much"),
    path: "functions[0].provision_config.memory_request",
  },
  { why: "port 70000", spoil: withProvision("port", 70_000), path: "functions[0].provision_config.port" },
  {
    why: "an image that is none",
    spoil: withProvision("containerImage", "Not An Image"),
    path: "functions[0].provision_config.container_image",
  },
  {
    why: "availability of 3",
    spoil: (given) => ({ ...given, nfrRequirements: { availability: 3 } }),
    path: "nfr_requirements.availability",
  },
  {
    why: "a template name with a slash",
    spoil: (given) => ({ ...given, selectedTemplate: "a/b" }),
    path: "selected_template",
  },
  {
    why: "a sampling rate of 2",
    spoil: (given) => ({ ...given, telemetry: { samplingRate: 2 } }),
    path: "telemetry.sampling_rate",
  },
];

describe("wrong values over gRPC", () => {
  let serving: GrpcFixture;
  beforeAll(async () => {
    serving = await startGrpcServices();
  });
  afterAll(() => serving.close());

  const faultOf = (deploymentUnit: Unit): Promise<Fault> =>
    serving.deployments.deploy({ deploymentUnit }).then(
      () => {
        throw new Error("it was accepted");
      },
      (thrown: unknown) => Fault.from(thrown),
    );

  test("every violation of any mixture is told, and nothing is written", async () => {
    await fc.assert(
      fc.asyncProperty(fc.subarray([...SPOILERS], { minLength: 1 }), async (chosen) => {
        const spoiled = chosen.reduce((given, { spoil }) => spoil(given), unit("order-1") as Unit);
        const fault = await faultOf(spoiled);
        expect(fault.kind).toBe("invalid-argument");
        const paths = fault.violations.map(({ path }) => path);
        for (const { path, why } of chosen) expect(paths, why).toContain(`$.deployment_unit.${path}`);
        expect(serving.classes.writes).toEqual([]);
      }),
      { numRuns: sweepSize(60, 2_000) },
    );
  }, 600_000);

  test.each<{ why: string; spoil: (given: Unit) => Unit; path: string }>([
    { why: "neither functions nor state", spoil: (given) => ({ ...given, functions: [] }), path: "functions" },
    { why: "a function without image or module", spoil: withFunction({}), path: "functions[0].provision_config" },
    { why: "an id of a slash", spoil: (given) => ({ ...given, id: "a/b" }), path: "id" },
    { why: "an id of letters from elsewhere", spoil: (given) => ({ ...given, id: "bestellung-ä" }), path: "id" },
    { why: "an id with a line break", spoil: (given) => ({ ...given, id: "a\nb" }), path: "id" },
  ])("$why is refused", async ({ spoil, path }) => {
    const fault = await faultOf(spoil(unit("order-1")));
    expect(fault.violations.map((violation) => violation.path)).toContain(`$.deployment_unit.${path}`);
    expect(serving.classes.writes).toEqual([]);
  });

  test("an id with capitals and dots is taken, and so is its retry", async () => {
    const id = "Shop.Order.V1";
    const deploy = () => serving.deployments.deploy({ deploymentUnit: unit(id) });
    expect((await deploy()).outcome).toBe(DeployOutcome.CREATED);
    expect((await deploy()).outcome).toBe(DeployOutcome.UNCHANGED);
    expect(serving.classes.writes).toHaveLength(1);
    await serving.deployments.deleteDeployment({ deploymentId: id });
    expect(serving.classes.writes).toHaveLength(2);
  });
});
