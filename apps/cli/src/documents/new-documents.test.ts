import { classDeploymentFromWire, packageFromWire } from "@oaas/contracts/rest";
import fc from "fast-check";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { deploymentText, newContents, packageText, type NewClass } from "./new-documents.ts";

const SMALL: NewClass = {
  packageName: "hello",
  className: "Hello",
  functions: [{ name: "greet", image: "example.test/hello-greet:1.0.0" }],
  clusters: [],
};

const name = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9]{1,8}$/),
  fc.constantFrom("123", "true", "null", "1e3", "0x10", "no"),
);
const anyClass: fc.Arbitrary<NewClass> = fc
  .record({
    packageName: name,
    className: name,
    functions: fc.uniqueArray(
      fc.record({ name, image: fc.constantFrom("example.test/a:1.0.0", "localhost:5000/b@sha256:" + "a".repeat(64)) }),
      { minLength: 1, maxLength: 3, selector: (each) => each.name },
    ),
    consistency: fc.constantFrom(undefined, "NONE", "READ_YOUR_WRITE", "STRONG"),
    clusters: fc.uniqueArray(name, { maxLength: 3 }),
    availability: fc.constantFrom(undefined, 0, 0.5, 0.999),
  })
  .map(({ consistency, availability, ...rest }) => ({
    ...rest,
    ...(consistency === undefined ? {} : { consistency }),
    ...(availability === undefined ? {} : { availability }),
  }));

it("writes valid documents with exactly the chosen values", () => {
  fc.assert(
    fc.property(anyClass, (choices) => {
      const contents = newContents(choices);
      const [written, deployment] = [parse(packageText(choices)), parse(deploymentText(choices))] as unknown[];
      expect(written).toEqual(contents.package);
      expect(deployment).toEqual(contents.deployment);
      expect(packageFromWire(written)).toMatchObject({ ok: true });
      expect(classDeploymentFromWire(deployment)).toMatchObject({ ok: true });
    }),
  );
});

/** The text with every commented field switched on. */
const uncommented = (text: string): string => text.replaceAll(/^( *)# ( *[A-Za-z_]+:(?: \S+)?)$/gm, "$1$2");

it.each([
  ["without state and clusters", SMALL],
  ["with state, a cluster and a requirement", { ...SMALL, consistency: "NONE", clusters: ["edge"], availability: 0.9 }],
])("every commented field is valid: %s", (_, choices) => {
  const [text, deployment] = [packageText(choices), deploymentText(choices)].map(uncommented);
  expect(text).toMatch(/^ {6}max_scale: 5$/m);
  expect(deployment).toMatch(/^ {2}max_latency_ms: 100$/m);
  expect(packageFromWire(parse(text ?? ""))).toMatchObject({ ok: true });
  expect(classDeploymentFromWire(parse(deployment ?? ""))).toMatchObject({ ok: true });
});
