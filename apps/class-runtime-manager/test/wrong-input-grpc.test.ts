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

/** Codes that indicate a bug of the server. */
const SERVER_ERRORS = new Set(["INTERNAL", "UNKNOWN", "DATA_LOSS"]);

const nameOf = ({ grpc }: RawResponse): string | undefined => (grpc === undefined ? undefined : grpcStatusName(grpc));
const validRequest = (id = "order-1"): Uint8Array =>
  toBinary(DeployRequestSchema, create(DeployRequestSchema, { deploymentUnit: unit(id) }));

describe("arbitrary bytes over gRPC", () => {
  let fixture: GrpcFixture;
  let raw: RawGrpc;
  beforeAll(async () => {
    fixture = await startGrpcServices();
    raw = rawGrpc(fixture.port);
  });
  afterEach(async () => {
    // The server still serves the next caller.
    await eventually(async () => (await fixture.deployments.listClassRuntimes({})).items.length >= 0);
  });
  afterAll(async () => {
    raw.close();
    await fixture.close();
  });

  test.each(METHODS.map((method) => ({ path: `/${method.parent.typeName}/${method.name}` })))(
    "$path returns no server error and writes nothing",
    async ({ path }) => {
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
          const response = await raw.send(path, encodeFrame(bytes));
          expect(nameOf(response)).toBeDefined();
          expect(SERVER_ERRORS).not.toContain(nameOf(response));
          if (path === DEPLOY) expect(nameOf(response)).toBe("INVALID_ARGUMENT");
          expect(fixture.classes.writes).toEqual([]);
        }),
        { numRuns: sweepSize(25, 5_000) },
      );
    },
    600_000,
  );

  test("a mutated request is rejected without a write, or writes a valid object", async () => {
    const message = validRequest();
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
        const before = fixture.classes.writes.length;
        const response = await raw.send(DEPLOY, encodeFrame(bytes));
        expect(SERVER_ERRORS).not.toContain(nameOf(response));
        if (nameOf(response) !== "OK") expect(fixture.classes.writes).toHaveLength(before);
        for (const object of fixture.classes.list()) expect(classRuntime.safeParse(object).success).toBe(true);
      }),
      { numRuns: sweepSize(300, 20_000) },
    );
  }, 600_000);

  test("ignores fields of a later version", async () => {
    const later = Buffer.concat([validRequest("from-later"), Buffer.from([0x92, 0xa7, 0x12, 0x03, 1, 2, 3])]);
    expect(nameOf(await raw.send(DEPLOY, encodeFrame(later)))).toBe("OK");
    expect(fixture.classes.writes.at(-1)).toBe("create shop/from-later");
  });

  // Below the messages grpc-js answers, with the codes that gRPC has for it.
  describe("invalid framing", () => {
    const message = validRequest("framed");
    test.each<{
      case: string;
      body: Uint8Array;
      code: string;
      headers?: Record<string, string>;
    }>([
      { case: "no message", body: new Uint8Array(), code: "UNIMPLEMENTED" },
      { case: "half a frame header", body: encodeFrame(message).subarray(0, 3), code: "UNIMPLEMENTED" },
      { case: "fewer bytes than declared", body: encodeFrame(message, { says: 10_000 }), code: "UNIMPLEMENTED" },
      { case: "more bytes than declared", body: encodeFrame(message, { says: 3 }), code: "RESOURCE_EXHAUSTED" },
      {
        case: "two messages in a unary call",
        body: Buffer.concat([encodeFrame(message), encodeFrame(message)]),
        code: "UNIMPLEMENTED",
      },
      {
        case: "unknown compression",
        body: encodeFrame(message, { flag: 1 }),
        code: "UNIMPLEMENTED",
        headers: { "grpc-encoding": "rot13" },
      },
      {
        case: "invalid gzip data",
        body: encodeFrame(message, { flag: 1 }),
        code: "INTERNAL",
        headers: { "grpc-encoding": "gzip" },
      },
      {
        case: "a length of four gigabytes",
        body: encodeFrame(message, { says: 0xff_ff_ff_ff }),
        code: "RESOURCE_EXHAUSTED",
      },
      { case: "larger than the limit", body: encodeFrame(Buffer.alloc(9 * 2 ** 20)), code: "RESOURCE_EXHAUSTED" },
    ])("$case", async ({ body, code, headers }) => {
      const before = [...fixture.classes.writes];
      const response = await raw.send(DEPLOY, body, headers);
      expect(nameOf(response)).toBe(code);
      expect(fixture.classes.writes).toEqual(before);
    });
  });

  test.each<{ case: string; path?: string; headers?: Record<string, string>; code: string }>([
    { case: "an unknown method", path: `/${DeploymentService.typeName}/Explode`, code: "UNIMPLEMENTED" },
    { case: "an unknown service", path: "/no.such.Service/Call", code: "UNIMPLEMENTED" },
    { case: "an invalid path", path: "/", code: "UNIMPLEMENTED" },
    { case: "an invalid deadline", headers: { "grpc-timeout": "soon" }, code: "INTERNAL" },
  ])("$case", async ({ path = DEPLOY, headers, code }) => {
    const before = [...fixture.classes.writes];
    const response = await raw.send(path, encodeFrame(validRequest("addressed")), headers);
    expect(nameOf(response)).toBe(code);
    expect(fixture.classes.writes).toEqual(before);
  });

  test("survives arbitrary bytes on the port", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 64 }), fc.boolean(), async (bytes, asHttp2) => {
        const preface = asHttp2 ? Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") : Buffer.alloc(0);
        await new Promise<void>((resolve) => {
          const socket = connect(fixture.port, "127.0.0.1", () => socket.end(Buffer.concat([preface, bytes])));
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
const withFunction = (over: object) => (valid: Unit) => ({
  ...valid,
  functions: [{ functionKey: "place", ...over }],
});
const withProvision = (name: string, value: unknown) => (valid: Unit) => {
  const [fn] = valid["functions"] as { provisionConfig?: object }[];
  return { ...valid, functions: [{ ...fn, provisionConfig: { ...fn?.provisionConfig, [name]: value } }] };
};

/** Independent ways to make a unit invalid, with the path of the violation. */
const MUTATIONS: readonly { case: string; mutate: (valid: Unit) => Unit; path: string }[] = [
  { case: "an id of 80 characters", mutate: (valid) => ({ ...valid, id: "a".repeat(80) }), path: "id" },
  {
    case: "a package name with a space",
    mutate: (valid) => ({ ...valid, packageName: "my shop" }),
    path: "package_name",
  },
  { case: "no class key", mutate: (valid) => ({ ...valid, classKey: "" }), path: "class_key" },
  {
    case: "an invalid cpu request",
    mutate: withProvision("cpuRequest", "lots"),
    path: "functions[0].provision_config.cpu_request",
  },
  {
    case: "an invalid memory request",
    mutate: withProvision("memoryRequest", "much"),
    path: "functions[0].provision_config.memory_request",
  },
  { case: "port 70000", mutate: withProvision("port", 70_000), path: "functions[0].provision_config.port" },
  {
    case: "an invalid image",
    mutate: withProvision("containerImage", "Not An Image"),
    path: "functions[0].provision_config.container_image",
  },
  {
    case: "availability of 3",
    mutate: (valid) => ({ ...valid, nfrRequirements: { availability: 3 } }),
    path: "nfr_requirements.availability",
  },
  {
    case: "a template name with a slash",
    mutate: (valid) => ({ ...valid, selectedTemplate: "a/b" }),
    path: "selected_template",
  },
  {
    case: "a sampling rate of 2",
    mutate: (valid) => ({ ...valid, telemetry: { samplingRate: 2 } }),
    path: "telemetry.sampling_rate",
  },
];

describe("invalid values over gRPC", () => {
  let fixture: GrpcFixture;
  beforeAll(async () => {
    fixture = await startGrpcServices();
  });
  afterAll(() => fixture.close());

  const faultOf = (deploymentUnit: Unit): Promise<Fault> =>
    fixture.deployments.deploy({ deploymentUnit }).then(
      () => {
        throw new Error("the call succeeded");
      },
      (thrown: unknown) => Fault.from(thrown),
    );

  test("returns every violation of any combination and writes nothing", async () => {
    await fc.assert(
      fc.asyncProperty(fc.subarray([...MUTATIONS], { minLength: 1 }), async (chosen) => {
        const invalid = chosen.reduce((valid, { mutate }) => mutate(valid), unit("order-1") as Unit);
        const fault = await faultOf(invalid);
        expect(fault.kind).toBe("invalid-argument");
        const paths = fault.violations.map(({ path }) => path);
        for (const { path, case: name } of chosen) expect(paths, name).toContain(`$.deployment_unit.${path}`);
        expect(fixture.classes.writes).toEqual([]);
      }),
      { numRuns: sweepSize(60, 2_000) },
    );
  }, 600_000);

  test.each<{ case: string; mutate: (valid: Unit) => Unit; path: string }>([
    { case: "neither functions nor state", mutate: (valid) => ({ ...valid, functions: [] }), path: "functions" },
    { case: "a function without image or module", mutate: withFunction({}), path: "functions[0].provision_config" },
    { case: "an id with a slash", mutate: (valid) => ({ ...valid, id: "a/b" }), path: "id" },
    { case: "an id with non-ASCII letters", mutate: (valid) => ({ ...valid, id: "bestellung-ä" }), path: "id" },
    { case: "an id with a line break", mutate: (valid) => ({ ...valid, id: "a\nb" }), path: "id" },
  ])("rejects $case", async ({ mutate, path }) => {
    const fault = await faultOf(mutate(unit("order-1")));
    expect(fault.violations.map((violation) => violation.path)).toContain(`$.deployment_unit.${path}`);
    expect(fixture.classes.writes).toEqual([]);
  });

  test("accepts an id with capitals and dots, and its retry", async () => {
    const id = "Shop.Order.V1";
    const deploy = () => fixture.deployments.deploy({ deploymentUnit: unit(id) });
    expect((await deploy()).outcome).toBe(DeployOutcome.CREATED);
    expect((await deploy()).outcome).toBe(DeployOutcome.UNCHANGED);
    expect(fixture.classes.writes).toHaveLength(1);
    await fixture.deployments.deleteDeployment({ deploymentId: id });
    expect(fixture.classes.writes).toHaveLength(2);
  });
});
