import fc from "fast-check";
import type { JsonObject } from "@oaas/kube-core";
import type { WriteStep } from "./one-object-server.ts";

const text = fc.constantFrom("1", "2");
const names = fc.constantFrom("x", "y", "z");
const maps = fc.dictionary(names, text, { maxKeys: 3 });
const anything = fc.oneof(
  text,
  fc.array(text, { maxLength: 2 }),
  maps,
  fc.dictionary(names, maps, { maxKeys: 2 }),
  fc.constant(null),
);
const optional = { requiredKeys: [] };

const specs = fc.record(
  {
    a: text,
    b: fc.constantFrom(1, 2),
    o: fc.record({ x: text, y: text }, optional),
    gm: maps,
    am: maps,
    al: fc.array(text, { maxLength: 2 }),
    set: fc.uniqueArray(names),
    ml: fc.uniqueArray(fc.record({ k: names, v: text, w: fc.constant(1) }, { requiredKeys: ["k"] }), {
      selector: ({ k }) => k,
    }),
    ml2: fc.uniqueArray(
      fc.record(
        { port: fc.constantFrom(80, 443), protocol: fc.constantFrom("TCP", "UDP"), name: text },
        { requiredKeys: ["port"] },
      ),
      { selector: ({ port, protocol = "TCP" }) => `${port}/${protocol}` },
    ),
    any: anything,
    anyo: fc.dictionary(names, anything, { maxKeys: 2 }),
    lo: fc.array(fc.record({ p: text }, optional), { maxLength: 2 }),
    ios: fc.constantFrom(1, "1"),
    nul: fc.constantFrom(null, "1"),
    mo: fc.dictionary(names, fc.record({ p: text }, optional), { maxKeys: 2 }),
  },
  optional,
);

const metadata = fc.record(
  { labels: maps, finalizers: fc.uniqueArray(fc.constantFrom("example.test/a", "example.test/b")) },
  optional,
);
const bodies = fc
  .tuple(fc.option(specs, { freq: 8 }), fc.option(metadata, { freq: 2 }))
  .map(([spec, meta]) => ({ ...(spec === null ? {} : { spec }), ...(meta === null ? {} : { metadata: meta }) }));
const statusBodies = fc.record({ status: fc.record({ ready: fc.boolean(), n: fc.constantFrom(1, 2) }, optional) });

const who = fc.constantFrom("m1", "m2", "m3");
const force = fc.boolean();
const subresource = fc.constant("status" as const);

const laterSteps = fc.oneof(
  { weight: 6, arbitrary: fc.record({ apply: who, force, body: bodies }) },
  { weight: 2, arbitrary: fc.record({ patch: who, body: bodies }) },
  { weight: 2, arbitrary: fc.record({ update: who, body: bodies }) },
  { weight: 1, arbitrary: fc.record({ apply: who, force, subresource, body: statusBodies }) },
  { weight: 1, arbitrary: fc.record({ patch: who, subresource, body: statusBodies }) },
);
const firstSteps = fc.oneof(fc.record({ create: who, body: bodies }), fc.record({ apply: who, body: bodies }));

/** Any sequence of writes by three managers to one object of the recorded kind, starting with its creation. */
export const writeSequences: fc.Arbitrary<readonly WriteStep[]> = fc
  .tuple(firstSteps, fc.array(laterSteps, { minLength: 1, maxLength: 7 }))
  .map(([first, later]) => [first, ...later].map((step) => step as WriteStep & { readonly body: JsonObject }));
