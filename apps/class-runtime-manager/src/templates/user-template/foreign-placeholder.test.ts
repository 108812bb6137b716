import { expect, test } from "vitest";
import { templateSpecOf } from "../../rendering/testing/inputs.ts";
import { userTemplate } from "./user-template.ts";

const command = (text: string): object => ({
  spec: { template: { spec: { containers: [{ name: "function", command: ["sh", "-c", text] }] } } },
});

function violationsOf(manifest: object): readonly string[] {
  const manifests = [{ apiVersion: "apps/v1", kind: "Deployment", ...manifest }];
  const made = userTemplate("mine", templateSpecOf({ template_type: "Deployment", manifests }));
  return made.ok ? [] : made.error.map(({ path, message, fix }) => `${path}: ${message}; ${fix}`);
}

test.each([
  { case: "a name", manifest: { metadata: { name: "${function.name}-x" } } },
  { case: "an unknown name", manifest: { metadata: { name: "${CLASS_NAME}" } } },
  { case: "a label", manifest: { metadata: { labels: { app: "${ function.key }" } } } },
  {
    case: "an image",
    manifest: { spec: { template: { spec: { containers: [{ name: "side", image: "${IMAGE}" }] } } } },
  },
  { case: "empty", manifest: { metadata: { name: "a${}" } } },
  { case: "in a command, with a known path", manifest: command("serve ${function.port}") },
  { case: "a typo in a known path", manifest: command("serve ${function.prot}") },
])("rejects a placeholder of another language: $case", ({ manifest }) => {
  const [first = "", ...more] = violationsOf(manifest);
  expect(more).toEqual([]);
  expect(first).toMatch(/\$\{.*\} is not a placeholder and would be sent unchanged; write \{\{ /);
});

test("explains how to write the placeholder and how to escape it", () => {
  expect(violationsOf(command("echo ${class.name}"))).toEqual([
    '$.manifests[0].spec.template.spec.containers[0].command[2]: ${class.name} is not a placeholder and would be sent unchanged; write {{ class.name }}, or {{ "${class.name}" }} to pass it to the program',
  ]);
});

test.each([
  { case: "a variable of the shell", manifest: command("cd ${HOME} && ls ${TMPDIR:-/tmp}") },
  { case: "an object of Kubernetes", manifest: command("echo $(FUNCTION_KEY)") },
  { case: "escaped", manifest: command('echo {{ "${class.name}" }}') },
  {
    case: "an annotation of another writer",
    manifest: { metadata: { annotations: { "example.test/a": "${request.id}" } } },
  },
])("keeps: $case", ({ manifest }) => {
  expect(violationsOf(manifest)).toEqual([]);
});
