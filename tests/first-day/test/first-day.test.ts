import path from "node:path";
import { describeWith, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { missingTerminalReason } from "../../../apps/cli/test/pseudo-terminal.ts";
import { readClassObjects, type ClassObjects } from "../src/cluster-objects.ts";
import { screenText } from "../../../apps/cli/test/screen-text.ts";
import { composePage, stableText, type Step } from "../src/compose-page.ts";
import { startNewcomer, type Newcomer, type Screen } from "../src/newcomer.ts";
import { drawScreen } from "../src/screen-svg.ts";
import { plainText, tableRows } from "../src/screen-table.ts";

const PAGE = path.resolve(import.meta.dirname, "..", "..", "..", "docs", "first-day.md");
const PICTURE = path.resolve(PAGE, "..", "images", "first-class.svg");
const CLUSTERS = ["cloud", "edge"];

const INTRODUCTION = `# The first day

What a new user sees, from a fresh clone to a rollback: each block shows a command and the screen that
it left. A test (\`tests/first-day\`) types exactly these commands in a pseudo-terminal, compares every
state and number of replicas with the objects that \`kubectl\` reads at that moment, and fails when this
page is outdated. Ports, times and random names are replaced.

In a clone of this repository, \`npm start\` installs everything and starts three simulated clusters with
the examples ([the local stack](guides/local-stack.md)). The commands below run in a second terminal in
the same folder.`;

describeWith(["kubectl"], "the first day", () => {
  const steps: Step[] = [];
  let me: Newcomer;
  beforeAll(async () => {
    expect(missingTerminalReason()).toBeUndefined();
    me = await startNewcomer();
  }, 300_000);
  afterAll(() => me?.[Symbol.asyncDispose]());

  const record = (title: string, text: string, ...screens: readonly Screen[]): void => {
    steps.push({ title, text, screens });
  };

  /**
   * Types the status until every cluster shows the condition and the objects in the clusters did not change meanwhile.
   */
  const typeStatus = async (condition: string): Promise<{ screen: Screen; objects: readonly ClassObjects[] }> => {
    const command = "npx oaas deployment status notes";
    let result: { screen: Screen; objects: readonly ClassObjects[] } | undefined;
    await eventually(
      async () => {
        const objects = await readClassObjects(me, CLUSTERS, "notes");
        const screen = await me.type(command);
        const after = await readClassObjects(me, CLUSTERS, "notes");
        result = { screen, objects };
        const states = tableRows(screen.text, "CLUSTER").map(({ STATE }) => STATE);
        return states.every((state) => state === condition) && JSON.stringify(objects) === JSON.stringify(after);
      },
      { timeoutMs: 120_000, what: `${command} with ${condition}` },
    );
    return result!;
  };

  /** Compares the rows of a status with the objects: one row per class runtime, with its replicas. */
  const expectTruth = ({ screen, objects }: { screen: Screen; objects: readonly ClassObjects[] }): void => {
    const rows = tableRows(screen.text, "CLUSTER").map(({ CLUSTER, READY, UNIT }) => ({ CLUSTER, READY, UNIT }));
    expect(rows, screen.text).toEqual(
      objects.map(({ cluster, name, ready, desired }) => ({
        CLUSTER: cluster,
        READY: `${ready}/${desired}`,
        UNIT: name,
      })),
    );
  };

  /** The pods of the state store of the class cart, by uid: a restart creates others. */
  const storePods = async (): Promise<readonly string[]> => {
    const { items } = (await me.kubectl("cloud", "get", "pods")) as {
      readonly items: readonly { readonly metadata: { readonly name: string; readonly uid: string } }[];
    };
    const pods = items.map(({ metadata }) => metadata).filter(({ name }) => /^cart-.*-odgm-/.test(name));
    return pods.map(({ name, uid }) => `${name} ${uid}`).toSorted();
  };

  test("looks around", async () => {
    const screen = await me.type("npx oaas get deployments");
    expect(screen.code).toBe(0);
    const rows = tableRows(screen.text, "KEY");
    for (const { KEY = "", CLUSTERS: clusters = "" } of rows) {
      const found = await readClassObjects(me, clusters.split(", "), KEY);
      expect(found.map(({ cluster }) => cluster)).toEqual(clusters.split(", "));
    }
    expect(rows.map(({ KEY }) => KEY)).toEqual(expect.arrayContaining(["hello", "ledger", "shop-order"]));
  });

  test("calls an example", async () => {
    const answer = await me.type("npx oaas invoke hello greet --data Ann");
    expect(answer.code, answer.text).toBe(0);
    const { pod, body } = JSON.parse(plainText(answer.text)) as { readonly pod: string; readonly body: string };
    expect(body).toBe("Ann");
    expect(await me.kubectl("edge", "get", "pod", pod)).toMatchObject({
      status: { conditions: expect.arrayContaining([expect.objectContaining({ type: "Ready", status: "True" })]) },
    });
    const logs = await me.type("npx oaas logs hello --tail 1");
    record("Call an example", "A simulated function answers with the request it got.", answer, logs);
    expect(plainText(logs.text)).toContain("POST / 200");
  });

  test("writes and deploys a class", async () => {
    const init = await me.type(
      "npx oaas init notes --yes --name notes --class Note --function write --state none --cluster cloud --cluster edge",
    );
    expect(init.code, init.text).toBe(0);
    // Two replicas, so that one keeps serving while the other is updated.
    const edited = await me.type("sed -i 's/# min_scale: 1/min_scale: 2/' notes/package.yaml");
    const applied = await me.type("npx oaas apply -f notes --wait");
    expect(applied.code, applied.text).toBe(0);
    const status = await typeStatus("Running");
    expectTruth(status);
    expect(status.objects.map(({ phase }) => phase)).toEqual(["available", "available"]);
    expect(plainText(status.screen.text)).toMatch(/^notes +Running/);
    record(
      "Write and deploy a class",
      "`oaas init` writes two commented files; this class gets two replicas in each cluster.",
      init,
      edited,
      // Where it is noticed first differs.
      {
        ...applied,
        text: plainText(applied.text)
          .replace(/notes: [^]*?(?=error:)/, "…\n")
          .replace(/ in (?:cloud|edge)(?=:)/, " in cloud and edge"),
      },
      status.screen,
    );
  });

  test("a mistake is rejected with the line and the fix", async () => {
    await me.type("sed -i 's/class_key: Note/clas_key: Note/; s/- edge/- edgy/' notes/deployment.yaml");
    const rejected = await me.type("npx oaas apply -f notes");
    expect(rejected.code).not.toBe(0);
    expect(plainText(rejected.text)).toMatch(/deployment\.yaml:\d+:\d+ .*did you mean class_key\?/);
    await me.type("sed -i 's/clas_key: Note/class_key: Note/; s/- edgy/- edge/' notes/deployment.yaml");
    record(
      "Make a mistake",
      "Nothing is sent or changed; [36 more mistakes](guides/troubleshooting.md#common-mistakes) have a test each.",
      rejected,
    );
  });

  test("someone edits the cluster: the platform repairs it and says so", async () => {
    const [first] = await readClassObjects(me, ["cloud"], "notes");
    const edited = await me.type(
      `kubectl --kubeconfig .oaas/data/kubeconfig --context oaas-cloud set image deployment/${first?.name} '*=example.test/other:9'`,
    );
    expect(edited.code, edited.text).toBe(0);
    let history: Screen | undefined;
    await eventually(async () => {
      history = await me.type("npx oaas deployment history notes");
      expect(plainText(history.text)).toContain(
        'image was "example.test/other:9", is "example.test/notes-write:1.0.0" again. Changed by kubectl-set.',
      );
    });
    expect((await readClassObjects(me, ["cloud"], "notes"))[0]?.images).toEqual(["example.test/notes-write:1.0.0"]);
    record(
      "Someone edits the cluster",
      "The platform restores the image and records who changed it.",
      edited,
      history!,
    );
  });

  test("breaks the image: what runs keeps serving, and the status says so", async () => {
    const edited = await me.type("sed -i 's/notes-write:1.0.0/notes-write:missing/' notes/package.yaml");
    const applied = await me.type("npx oaas apply -f notes --wait");
    expect(applied.code, applied.text).not.toBe(0);
    expect(plainText(applied.text)).toContain("notes-write:missing");
    const status = await typeStatus("Degraded");
    expectTruth(status);
    expect(plainText(status.screen.text)).toMatch(/^notes +Degraded/);
    expect(status.objects.map(({ ready }) => ready)).toEqual([1, 1]);
    expect(status.objects.flatMap(({ images }) => images)).toEqual(
      Array.from({ length: 2 }, () => "example.test/notes-write:missing"),
    );
    const answer = await me.type("npx oaas invoke notes write --data still-here -o jsonpath='{.status}'");
    expect(answer.code, answer.text).toBe(0);
    const why = await me.type("npx oaas explain notes");
    expect(plainText(why.text)).toContain("Waiting will not help");
    record(
      "Deploy an image that does not exist",
      "The pods of the previous revision keep serving.",
      edited,
      // Where it is noticed first differs.
      {
        ...applied,
        text: plainText(applied.text)
          .replace(/notes: [^]*?(?=error:)/, "…\n")
          .replace(/ in (?:cloud|edge)(?=:)/, " in cloud and edge"),
      },
      status.screen,
      answer,
      why,
    );
  });

  test("rolls back", async () => {
    const rollback = await me.type("npx oaas deployment rollback notes --yes --wait");
    expect(rollback.code, rollback.text).toBe(0);
    const status = await typeStatus("Running");
    expectTruth(status);
    expect(plainText(status.screen.text)).toMatch(/^notes +Running/);
    const history = await me.type("npx oaas deployment history notes");
    record("Roll back", "The history keeps the outcome of each revision.", rollback, status.screen, history);
  });

  test("an object is still there after its class was updated", async () => {
    const deployed = await me.type("npx oaas apply -f examples/state/cart.yaml --wait");
    expect(deployed.code, deployed.text).toBe(0);
    const written = await me.type(
      `npx oaas object set cart ann --partition 0 --data '{"entries": {"items": {"json": ["tea", "milk"]}}}'`,
    );
    expect(written.code, written.text).toBe(0);
    const before = await storePods();
    expect(before.length).toBeGreaterThan(0);
    // Another image and another method.
    const edited = await me.type(
      "sed -e 's/cart-add:1.0.0/cart-add:2.0.0/' -e 's/^ *function_bindings:/&\\n      - { name: repeat, function_key: Cart.add }/' examples/state/cart.yaml > cart.yaml",
    );
    const updated = await me.type("npx oaas apply -f cart.yaml --wait");
    expect(updated.code, updated.text).toBe(0);
    const [cart] = await readClassObjects(me, ["cloud"], "cart");
    expect(cart?.images).toContain("example.test/cart-add:2.0.0");
    const shown = await me.type("npx oaas object get cart ann");
    expect(plainText(shown.text)).toMatch(/items +json +\["tea","milk"\]/);
    expect(await storePods(), "the state store did not restart").toEqual(before);
    const deleted = await me.type("npx oaas delete -f cart.yaml --yes && npx oaas wait --for=delete cart");
    expect(deleted.code, deleted.text).toBe(0);
    record(
      "Update a class that has state",
      "The update changes an image and adds a method. The state store keeps running, and its object is still there.",
      deployed,
      written,
      edited,
      updated,
      shown,
    );
  });

  test("deletes everything", async () => {
    const deleted = await me.type("npx oaas delete -f notes --yes && npx oaas wait --for=delete notes");
    expect(deleted.code, deleted.text).toBe(0);
    expect(await readClassObjects(me, CLUSTERS, "notes")).toEqual([]);
    record("Delete", "Nothing is left in the clusters.", deleted);
  });

  test("the live screen shows the nodes of every cluster", async () => {
    const lines = plainText(screenText(me.liveOutput())).split("\n");
    for (const cluster of ["edge", "cloud", "far-edge"]) {
      const { items } = (await me.kubectl(cluster, "get", "nodes")) as { readonly items: readonly unknown[] };
      const shown = lines.find((line) => line.includes(`Cluster ${cluster} `));
      expect(shown).toContain(`${items.length} ${items.length === 1 ? "node" : "nodes"}`);
    }
  });

  test("the page in the docs shows these screens", async () => {
    await expect(composePage(INTRODUCTION, steps)).toMatchFileSnapshot(PAGE);
    const screens = steps.find(({ title }) => title.startsWith("Write"))?.screens ?? [];
    const session = screens.map(({ command, text }) => `‹bold›$ ${command}‹/›\n${text}`).join("");
    await expect(drawScreen(stableText(session))).toMatchFileSnapshot(PICTURE);
  });
});
