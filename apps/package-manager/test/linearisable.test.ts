import { sweepSize } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isLinearisable, type Operation, type Step } from "./linearisable.ts";
import { echoPackage, startPm, type Answer, type PmUnderTest } from "./running-pm.ts";

/** A versioned register: the model of a package under concurrent writes. */
interface Register {
  readonly value: string | null;
  readonly version: number;
}

type Input =
  | { readonly do: "create" | "update"; readonly value: string; readonly ifVersion?: number }
  | { readonly do: "delete"; readonly ifVersion?: number }
  | { readonly do: "get" };

interface Output {
  readonly status: number;
  readonly value?: string | null;
  readonly version?: number;
}

/** Versions are store revisions: they grow by unknown steps, because other keys are written too. */
const step: Step<Register, Input, Output> = (state, input, { status, value, version = 0 }) => {
  const exists = state.value !== null;
  const matches = !("ifVersion" in input) || input.ifVersion === undefined || input.ifVersion === state.version;
  const ifSo = (holds: boolean, next: Register = state): Register | undefined => (holds ? next : undefined);
  if (status === 404) return ifSo(!exists && input.do !== "create");
  if (input.do === "get") return ifSo(status === 200 && exists && value === state.value && version === state.version);
  if (status === 412) return ifSo(exists && !matches);
  if (input.do === "create") {
    return status === 409 ? ifSo(exists) : ifSo(!exists && version > state.version, { value: input.value, version });
  }
  if (!exists || !matches) return undefined;
  if (input.do === "delete") return ifSo(status === 204, { value: null, version: state.version });
  return ifSo(status === 200 && version > state.version, { value: input.value, version });
};

describe("the checker itself", () => {
  const at = (calledAt: number, returnedAt: number, input: Input, output: Output): Operation<Input, Output> => ({
    calledAt,
    returnedAt,
    input,
    output,
  });
  const none: Register = { value: null, version: 0 };
  const created = at(0, 1, { do: "create", value: "a" }, { status: 201, version: 1 });

  test.each([
    {
      why: "concurrent operations",
      history: [created, at(2, 3, { do: "get" }, { status: 200, value: "a", version: 1 })],
      is: true,
    },
    {
      why: "an overlapping read may return either value",
      history: [created, at(0, 2, { do: "get" }, { status: 404 })],
      is: true,
    },
    { why: "a stale read", history: [created, at(2, 3, { do: "get" }, { status: 404 })], is: false },
    {
      why: "two creations that both succeed",
      history: [created, at(0, 1, { do: "create", value: "b" }, { status: 201, version: 2 })],
      is: false,
    },
    {
      why: "a lost update",
      history: [
        created,
        at(2, 4, { do: "update", value: "b", ifVersion: 1 }, { status: 200, version: 2 }),
        at(2, 4, { do: "update", value: "c", ifVersion: 1 }, { status: 200, version: 3 }),
      ],
      is: false,
    },
  ])("$why: $is", ({ history, is }) => {
    expect(isLinearisable(history, none, step)).toBe(is);
  });
});

describe("32 clients on one key", () => {
  let pm: PmUnderTest;
  beforeAll(async () => {
    pm = await startPm();
  });
  afterAll(() => pm.close());

  const versionOf = ({ headers }: Answer): number => Number((headers.get("etag") ?? "").replaceAll('"', ""));

  const perform = async (name: string, input: Input): Promise<Operation<Input, Output>> => {
    const headers = "ifVersion" in input && input.ifVersion !== undefined ? { "if-match": `"${input.ifVersion}"` } : {};
    const path = input.do === "create" ? "/api/v1/packages" : `/api/v1/packages/${name}`;
    const method = { create: "POST", update: "POST", delete: "DELETE", get: "GET" }[input.do];
    const body = "value" in input ? { body: echoPackage(name, { version: input.value }) } : {};
    const calledAt = performance.now();
    const answer = await pm.call(method, path, { headers, ...body });
    const returnedAt = performance.now();
    const output: Output = {
      status: answer.status,
      ...(answer.status < 300 && input.do !== "delete" ? { version: versionOf(answer) } : {}),
      ...(input.do === "get" && answer.status === 200 ? { value: answer.json.version as string } : {}),
    };
    return { input, output, calledAt, returnedAt };
  };

  test.each(Array.from({ length: sweepSize(3, 50) }, (_, round) => ({ round })))(
    "round $round is linearisable",
    async ({ round }) => {
      const name = `contended-${round}`;
      let known: number | undefined;
      const client = async (id: number): Promise<Operation<Input, Output>[]> => {
        const done: Operation<Input, Output>[] = [];
        for (let turn = 0; turn < 4; turn += 1) {
          const value = `v-${id}-${turn}`;
          const versioned = known === undefined ? {} : { ifVersion: known };
          const choices: readonly Input[] = [
            { do: "get" },
            { do: "create", value },
            { do: "update", value, ...versioned },
            { do: "update", value },
            { do: "delete", ...versioned },
          ];
          const operation = await perform(name, choices[(id + turn * 3 + round) % choices.length] as Input);
          known = operation.output.version ?? known;
          done.push(operation);
        }
        return done;
      };
      const history = (await Promise.all(Array.from({ length: 32 }, (_, id) => client(id)))).flat();
      expect(history.filter(({ output }) => output.status >= 500)).toEqual([]);
      expect(isLinearisable(history, { value: null, version: 0 }, step, ({ version }) => version)).toBe(true);
      expect(new Set(history.map(({ output }) => output.status)).size, "nothing was contended").toBeGreaterThan(3);
    },
  );

  test("one idempotency key has one effect and one response", async () => {
    const send = () =>
      pm.call("POST", "/api/v1/packages", { body: echoPackage("once"), headers: { "idempotency-key": "one" } });
    const answers = await Promise.all(Array.from({ length: 32 }, send));
    const ok = answers.filter(({ status }) => status === 201);
    expect(ok.length).toBeGreaterThan(0);
    expect(new Set(ok.map(versionOf)).size).toBe(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(ok.length === 32 ? [201] : [201, 409]));
    expect((await pm.call("GET", "/api/v1/packages/once/revisions")).json).toHaveLength(1);
    expect((await send()).status, "and later").toBe(201);
  });
});
