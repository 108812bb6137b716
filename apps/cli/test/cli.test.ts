import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually, startProcess, type ProcessUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCliRunner, readText, type CliResult } from "./cli-runner.ts";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const SHOP = path.join(ROOT, "examples", "packages", "shop.yaml");
const ORDER = path.join(ROOT, "examples", "deployments", "shop-order.yaml");

describe("oaas with a package manager", () => {
  let home: string;
  let pm: ProcessUnderTest;
  let oaas: ReturnType<typeof createCliRunner>;
  let url: string;

  beforeAll(async () => {
    home = await mkdtemp(path.join(tmpdir(), "oaas-cli-"));
    const logFile = path.join(home, "pm.log");
    pm = await startProcess({
      name: "pm",
      command: process.execPath,
      args: [path.join(ROOT, "apps", "package-manager", "src", "main.ts")],
      cwd: home,
      logFile,
      env: { SERVER_PORT: "0", SERVER_RATE_LIMIT: "100000", LOG_LEVEL: "info", PACKAGE_REVISIONS_KEEP: "3" },
    });
    await eventually(
      async () => {
        const port = /package manager listening.*"port":(?<port>\d+)|"port":(?<before>\d+).*listening/.exec(
          await readText(logFile),
        )?.groups;
        url = `http://127.0.0.1:${port?.["port"] ?? port?.["before"] ?? ""}`;
        return port !== undefined;
      },
      { timeoutMs: 60_000, what: "the package manager" },
    );
    oaas = createCliRunner(home, { OAAS_PM_URL: url });
  });
  afterAll(async () => {
    await pm?.stop(0);
    await rm(home, { recursive: true, force: true });
  });

  const file = async (name: string, text: string): Promise<string> => {
    const at = path.join(home, name);
    await writeFile(at, text);
    return at;
  };

  test("lists the commands in help and suggests the nearest command for a typo", async () => {
    const help = await oaas("--help");
    expect(help.code).toBe(0);
    for (const word of ["apply", "plan", "deployment", "cluster", "doctor", "completion"])
      expect(help.out).toContain(word);
    const wrong = await oaas("pakage list");
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.err).toContain("package");
    expect(await oaas("package list --nope")).toMatchObject({ code: 2 });
  });

  test("lists the audit trail and verifies its lines", async () => {
    expect((await oaas(`apply -f ${SHOP}`)).code).toBe(0);
    expect((await oaas("package delete shop --yes")).code).toBe(0);
    const listed = await oaas("audit list --action deletePackage --since 1h --limit 1");
    expect(listed.out).toMatch(
      /AGE +ACTOR +ACTION +TARGET +OUTCOME\n.*anonymous@.* deletePackage +\/api\/v1\/packages\/shop/,
    );
    expect((await oaas("audit list --actor stranger")).code).toBe(0);
    const lines = (await readText(path.join(home, "pm.log"))).split("\n");
    const whole = await file("audit.jsonl", lines.join("\n"));
    const verified = await oaas(`audit verify ${whole}`);
    expect(verified).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+ lines verified: \S+ 1-\d+\n$/) as string,
    });
    const at = lines.findIndex((line) => line.includes('"action":"deletePackage"'));
    const changed = lines.with(at, (lines[at] ?? "").replace('"deletePackage"', '"createPackage"'));
    const broken = await file("broken.jsonl", changed.join("\n"));
    expect(await oaas(`audit verify ${broken}`)).toMatchObject({
      code: 1,
      out: `${broken}:${at + 1} was changed: its hash does not match its content\n`,
    });
    expect(await oaas("audit verify nothing.jsonl")).toMatchObject({ code: 2 });
  });

  test("applies, prints, updates, diffs, rolls back and deletes a package", async () => {
    expect(await oaas(`apply -f ${SHOP} --reason first`)).toEqual({ code: 0, out: "package/shop created\n", err: "" });
    expect(await oaas(`diff -f ${SHOP}`)).toEqual({ code: 0, out: "", err: "" });
    expect((await oaas(`apply -f ${SHOP}`)).out).toBe("package/shop unchanged\n");

    const list = await oaas("package list");
    expect(list.out).toMatch(/^NAME\s+VERSION\s+CLASSES\s+FUNCTIONS\s+AGE\nshop\s+1\.0\.0\s+1\s+3\s+\d+s\n$/);
    expect((await oaas("pkg ls -o name")).out).toBe("package/shop\n");
    expect((await oaas(["package", "get", "shop", "-o", "jsonpath={.classes[*].key} {.functions[0].key}"])).out).toBe(
      "Order Order.place\n",
    );
    expect(JSON.parse((await oaas("package get shop -o json")).out)).toMatchObject({ name: "shop" });
    expect((await oaas("package get shop -o yaml")).out).toContain("name: shop\n");
    expect((await oaas("class list")).out).toContain("shop.Order");
    expect((await oaas("fn list Order.total -o name")).out).toMatch(/^function\/.*Order\.total\n$/);

    const second = await file("second.yaml", (await readText(SHOP)).replace("order-total:1.0.0", "order-total:2.0.0"));
    const diff = await oaas(`diff -f ${second}`);
    expect(diff.code).toBe(1);
    expect(diff.out).toContain(
      "- $.functions['Order.total'].provision_config.container_image: \"example.test/order-total:1.0.0\"",
    );
    expect(diff.out).toContain(
      "+ $.functions['Order.total'].provision_config.container_image: \"example.test/order-total:2.0.0\"",
    );
    const dry = await oaas(`apply -f ${second} --dry-run`);
    expect(dry.out).toContain("package/shop: would update");
    expect((await oaas(`diff -f ${second}`)).code, "a dry run changes nothing").toBe(1);
    expect((await oaas(`apply -f ${second}`)).out).toBe("package/shop updated\n");

    expect((await oaas("package diff shop")).out).toContain("order-total:2.0.0");
    expect(await oaas("package rollback shop"), "no terminal to ask").toMatchObject({
      code: 2,
      err: expect.stringMatching(/the one before 2 is 1\n.*with --to 1, or with --yes/) as string,
    });
    const declined = await oaas("package rollback shop", { answers: ["n"] });
    expect(declined).toMatchObject({ code: 1, out: "" });
    expect(declined.err).toMatch(/Roll package shop back from revision 2 to 1 \(\d+\w old, "first"\)\? \[y\/N\]/);
    expect((await oaas("package rollback shop --yes --reason back")).out).toContain("as in revision 1");
    const history = await oaas("package history shop");
    expect(
      history.out
        .split("\n")
        .slice(1, 4)
        .map((line) => line.split(/\s{2,}/)[0]),
    ).toEqual(["3", "2", "1"]);
    expect(history.out).toContain("back");
    expect(history.err).toBe("");

    expect((await oaas("package rollback shop --to 2")).code).toBe(0);
    const pruned = await oaas("package history shop");
    expect(pruned.out).toMatch(/^4 [^]*^3 [^]*^2 /m);
    expect(pruned.err, "PACKAGE_REVISIONS_KEEP").toBe("1 older revision was removed\n");
    expect((await oaas("package history shop -o json")).err).toBe("");
    expect(await oaas("package rollback shop --to 1")).toMatchObject({
      code: 3,
      err: expect.stringContaining('revision 1 of package "shop" was removed; the oldest is 2') as string,
    });

    expect(await oaas("package delete shop")).toMatchObject({ code: 2, out: "" });
    expect(await oaas("package delete shop", { answers: ["n"] })).toMatchObject({ code: 1 });
    expect(await oaas("package delete shop", { answers: ["yes"] })).toMatchObject({
      code: 0,
      out: "package/shop deleted\n",
    });
    expect(await oaas("package get shop")).toMatchObject({ code: 3 });
  });

  test("reports an invalid document with line and column, and applies nothing without --keep-going", async () => {
    const mixed = await file(
      "mixed.yaml",
      `${await readText(SHOP)}---\nname: broken\nversion: 1.0.0\nclasses:\n  - key: Bad\n    function_bindings:\n      - { name: go, function_key: go, acess_modifier: PUBLIC }\nfunctions: []\n`,
    );
    const refused = await oaas(`apply -f ${mixed}`);
    expect(refused.code).toBe(2);
    expect(refused.out).toBe("");
    expect(refused.err).toMatch(/mixed\.yaml:\d+:\d+ \$\.classes\[0\]/);
    expect(refused.err).toContain("acess_modifier: unknown field; did you mean access_modifier?");
    const broken = await file("broken.yaml", `${await readText(SHOP)}---\nname: [\n---\nkind: Pod\n`);
    const unread = await oaas(`apply -f ${broken}`);
    expect(unread).toMatchObject({ code: 2, out: "" });
    expect(unread.err).toMatch(/broken\.yaml:\d+:\d+: not valid YAML.*broken\.yaml:\d+:1: this is neither/s);
    const validated = await oaas(`package validate -f ${broken} -o json`);
    expect(validated.code).toBe(2);
    expect(JSON.parse(validated.out)).toEqual([{ kind: "package", name: "shop", result: "is valid" }]);
    expect((await oaas("package list")).out).toBe("No packages.\n");

    expect(await oaas(`apply -f ${mixed} --keep-going`)).not.toMatchObject({ code: 0 });
    expect((await oaas("package list -o name")).out).toBe("package/shop\n");
    expect((await oaas(`delete -f ${SHOP} --yes -o name`)).out).toBe("package/shop\n");
    expect(await oaas(`apply -f ${broken} --keep-going`)).toMatchObject({ code: 2, out: "package/shop created\n" });
    expect((await oaas(`delete -f ${SHOP} --yes`)).out).toBe("package/shop deleted\n");
    expect((await oaas(`delete -f ${SHOP} --yes`)).out).toBe("package/shop not found\n");
  });

  describe("dry run on the package manager before any write", () => {
    const good = "name: good\nversion: 1.0.0\nclasses: []\nfunctions: []\n";
    const loose =
      "name: loose\nclasses:\n  - key: Bad\n    function_bindings:\n      - { name: go, function_key: gone, access_modifier: PUBLIC }\nfunctions: []\n";
    const nothing = async (): Promise<void> => expect((await oaas("package list")).out).toBe("No packages.\n");

    test("applies nothing if one document is invalid, unless --keep-going", async () => {
      const both = await file("both.yaml", `${good}---\n${loose}`);
      const refused = await oaas(`apply -f ${both}`);
      expect({ code: refused.code, out: refused.out }).toEqual({ code: 1, out: "" });
      expect(refused.err).toMatch(
        /both\.yaml:10:\d+ \$\.classes\[0\]\.function_bindings\[0\]\.function_key: the package has no function "gone"; add the function/,
      );
      expect(refused.err).toContain("Nothing was applied.");
      await nothing();
      expect(await oaas(`apply -f ${both} --keep-going`)).toMatchObject({ code: 1, out: "package/good created\n" });
      expect((await oaas(`delete -f ${both} --yes`)).code).toBe(0);
    });

    test("diff, dry run and validate report the location; --offline cannot detect it", async () => {
      const bad = await file("loose.yaml", loose);
      for (const line of [`diff -f ${bad}`, `apply -f ${bad} --dry-run`, `package validate -f ${bad}`]) {
        const seen = await oaas(line);
        expect({ line, code: seen.code, out: seen.out }).toEqual({ line, code: 2, out: "" });
        expect(seen.err).toMatch(/loose\.yaml:5:\d+ \$\.classes\[0\].*has no function "gone"/);
      }
      expect((await oaas(`package validate -f ${bad} --offline`)).out).toBe("package/loose is valid\n");
      await nothing();
    });

    test("checks dependent packages and plans a deployment of their class in one run", async () => {
      const text = `name: upper\nclasses: [{ key: Top }]\nfunctions: []\ndependencies: [good]\n---\n${good}---\nkey: top\npackage_name: upper\nclass_key: Top\n`;
      const needing = await file("needing.yaml", text);
      const packages = await file("packages.yaml", text.split("---\nkey")[0] ?? "");
      expect((await oaas(`apply -f ${packages} --dry-run`)).out).toMatch(
        /package\/good: would create \(revision 1\).*package\/upper: would create \(revision 1\)/s,
      );
      const dry = await oaas(`apply -f ${needing} --dry-run`);
      // The deployment is planned with the package of the same file; only a cluster is missing.
      expect(dry).toMatchObject({ code: 2, err: expect.stringContaining("cluster") as string });
      expect((await oaas(`apply -f ${needing}`)).out, "nothing is applied by half").toBe("");
      expect(await oaas(`package validate -f ${needing}`)).toMatchObject({
        code: 2,
        out: "package/good is valid\npackage/upper is valid\n",
      });
      const typo = await oaas(`diff -f ${await file("typo.yaml", text.replace("class_key: Top", "class_key: Tpo"))}`);
      expect(typo.code).toBe(2);
      expect(typo.err).toMatch(/typo\.yaml:13:\d+ \$\.class_key: package upper has no class Tpo; did you mean Top\?/);
      await nothing();
      const circle = await file(
        "circle.yaml",
        text.replace("functions: []\n---\nkey", "dependencies: [upper]\n---\nkey"),
      );
      expect((await oaas(`apply -f ${circle}`)).err).toContain("is a dependency cycle: upper → good → upper");
      await nothing();
    });

    test("shows the revision and the changes of an update", async () => {
      const first = await file("first.yaml", good);
      await oaas(`apply -f ${first}`);
      const next = await file("next.yaml", good.replace("1.0.0", "1.1.0"));
      const dry = JSON.parse((await oaas(`apply -f ${next} --dry-run -o json`)).out) as unknown;
      expect(dry).toEqual([
        {
          kind: "package",
          name: "good",
          result: "would update",
          revision: 2,
          changes: [{ path: "$.version", change: "changed", before: "1.0.0", after: "1.1.0" }],
        },
      ]);
      expect((await oaas("package history good -o name")).out).toBe("revision/1\n");
      await oaas("package delete good --yes");
    });

    test("validate suggests --offline without a package manager", async () => {
      const env = { OAAS_PM_URL: "http://127.0.0.1:1" };
      const seen = await oaas(`package validate -f ${SHOP}`, { env });
      expect(seen.code).toBe(6);
      expect(seen.err).toContain("--offline");
      expect((await oaas(`package validate -f ${SHOP} --offline`, { env })).code).toBe(0);
    });
  });

  test("reads standard input and folders, and rejects duplicate documents", async () => {
    expect((await oaas("apply -f -", { input: await readText(SHOP) })).out).toBe("package/shop created\n");
    const folder = path.dirname(SHOP);
    expect((await oaas(`apply ${folder}`)).out).toContain("package/counter created\n");
    const twice = await oaas(`apply -f ${SHOP} -f ${SHOP}`);
    expect(twice).toMatchObject({ code: 2, out: "" });
    expect(twice.err).toContain("remove one of them");
  });

  test.each<[string, string, number, RegExp]>([
    ["a missing file", "apply -f nowhere.yaml", 2, /file nowhere\.yaml does not exist.*check the path/s],
    ["an empty folder", "apply -f FOLDER", 2, /no documents in .*use a file/s],
    ["no file", "apply", 2, /no file given/],
    ["an unknown output format", "package list -o xml", 2, /unknown output format "xml".*jsonpath/s],
    ["an invalid JSONPath", "package list -o jsonpath={.a[x]}", 2, /is invalid at "\[x.*use paths such as/s],
    ["an unfinished JSONPath", "package list -o jsonpath={.name", 2, /unbalanced braces.*use a template such as/s],
    ["an empty JSONPath", "package list -o jsonpath=", 2, /template is empty.*use a template such as/s],
    ["an unknown context", "package list --context nowhere", 2, /context "nowhere" does not exist/],
    [
      "an unknown command",
      "package lst",
      2,
      /unknown command "lst"; did you mean list\?\n {2}hint: see oaas package --help/,
    ],
    [
      "an unknown flag",
      "package list --patern x",
      2,
      /unknown flag --patern; did you mean --pattern\?.*package list --help/s,
    ],
    ["an unexpected argument", "package list x", 2, /unexpected argument "x".*oaas package list --help/s],
    ["a missing argument", "package get", 2, /<name> is missing.*oaas package get --help/s],
    ["a missing flag", "diff", 2, /--filename is required.*oaas diff --help/s],
    ["a revision that is not a number", "package rollback shop --to one", 2, /to: "one" is not a positive integer/],
    ["revision 0", "package diff shop --from 0", 2, /from: "0" is not a positive integer/],
    ["a fractional count", "events --count 0.5", 2, /count: "0\.5" is not a positive integer/],
    ["an unknown topic", "events --topic rain", 2, /topic: unknown value "rain"; use one of deployment, operation/],
    [
      "an unknown condition",
      "deployment list --condition Rain",
      2,
      /condition: unknown value "Rain"; use one of Pending/,
    ],
    [
      "a percentage instead of a fraction",
      `plan -f ${ORDER} --availability 99`,
      2,
      /availability: .*for 99 % write 0\.99/,
    ],
    ["an unknown package", "package get unknown", 3, /"unknown" was not found.*hint: .*oaas package list/s],
    ["an unknown deployment", "deployment status unknown", 3, /unknown.*not found.*oaas deployment list/s],
    ["an unknown cluster", "cluster health mars", 3, /mars.*not found.*oaas cluster list/s],
    ["a cluster without an address", "cluster add mars", 2, /<url> is missing/],
    [
      "a cluster with an invalid address",
      "cluster add mars not-a-url",
      2,
      /url: "not-a-url" is not an http or https URL.*such as http/s,
    ],
    [
      "a label without a value",
      "cluster add mars http://127.0.0.1:9 --label zone",
      2,
      /--label: "zone" has no value.*zone=a/s,
    ],
    [
      "a missing token file",
      "cluster add mars http://127.0.0.1:9 --token-file nowhere",
      2,
      /--token-file: file nowhere does not exist/,
    ],
    [
      "a login with an invalid address",
      "login not-a-url",
      2,
      /URL: "not-a-url" is not an http or https URL.*such as http/s,
    ],
    ["a wait for an unknown condition", "wait --for=rain unknown", 2, /--for: unknown condition "rain"/],
    ["an invalid duration", "wait unknown --timeout soon", 2, /timeout: "soon" is not a duration, such as 90s/],
    ["an unknown shell", "completion tcsh", 2, /bash, zsh, fish/],
    [
      "a confirmation without a terminal",
      "cluster remove mars",
      2,
      /needs confirmation, and standard input is not a terminal.*--yes/s,
    ],
  ])("rejects %s", async (_, line, code, words) => {
    const empty = await mkdtemp(path.join(home, "empty-"));
    const seen = await oaas(line.replace("FOLDER", empty));
    expect({ code: seen.code, out: seen.out }).toEqual({ code, out: "" });
    expect(seen.err).toMatch(words);
  });

  test("rejects an empty name and files without permission", async () => {
    expect(await oaas(["package", "get", ""])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/name: must not be empty/),
    });
    const env = { OAAS_PM_URL: "", OAAS_CONFIG: home };
    expect(await oaas("package list", { env })).toMatchObject({
      code: 2,
      err: expect.stringMatching(/cannot read/),
    });
    const nowhere = { OAAS_CONFIG: path.join(SHOP, "config.yaml") };
    const login = await oaas(`login ${url} --no-token`, { env: nowhere });
    expect(login).toMatchObject({ code: 2, out: "" });
    expect(login.err).toMatch(/cannot (?:read|write).*check the path/s);
  });

  test.skipIf(process.platform !== "linux")("fails if the config folder cannot be created", async () => {
    const login = await oaas(`login ${url} --no-token`, { env: { OAAS_CONFIG: "/proc/none/config.yaml" } });
    expect(login).toMatchObject({ code: 2, out: "" });
    expect(login.err).toMatch(/cannot write.*OAAS_CONFIG/s);
  });

  test("accepts global flags before the command, and help before a command", async () => {
    expect((await oaas("-o json package list")).out).toBe((await oaas("package list -o json")).out);
    expect((await oaas("--output=name --context nowhere package list")).err).toContain(
      'context "nowhere" does not exist',
    );
    expect((await oaas("help package get")).out).toBe((await oaas("package get --help")).out);
    expect((await oaas("package list", { env: { OAAS_PM_URL: `${url}/api/v1/` } })).code).toBe(0);
  });

  test("prints every error as JSON with -o json", async () => {
    const parse = ({ err }: CliResult): unknown => JSON.parse(err);
    expect(parse(await oaas("package list -o json --nope"))).toMatchObject({
      error: expect.stringContaining("unknown flag --nope") as string,
      kind: "usage",
      exit_code: 2,
      fix: "see oaas package list --help",
    });
    const tab = await oaas(`apply -f ${await file("tab.yaml", "name: x\n\tversion: 1\n")} -o json`);
    expect(parse(tab)).toMatchObject({
      error: expect.stringMatching(/tab\.yaml:2:1.*with a tab/s) as string,
      exit_code: 2,
    });
    const unit = "key: x\nclass_key: C\nnfr_requirements: { availability: 99% }\n";
    expect(parse(await oaas(`apply -f ${await file("unit.yaml", unit)} -o json`))).toMatchObject({
      kind: "invalid-argument",
      violations: [
        {
          path: "$.nfr_requirements.availability",
          fix: "write 0.99",
          location: expect.stringContaining("unit.yaml:3:35") as string,
        },
      ],
    });
    const lost = await file("lost-json.yaml", "key: lost\npackage_name: nopackage\nclass_key: C\n");
    expect(parse(await oaas(`apply -f ${lost} -o json`))).toMatchObject({ violations: [{ path: "$.package_name" }] });
  });

  test("suggests the nearest existing name", async () => {
    const near = await file("near.yaml", (await readText(SHOP)).replace("name: shop", "name: nearby"));
    await oaas(`apply -f ${near}`);
    expect((await oaas("package get nerby")).err).toMatch(/"nerby" was not found\n +hint: did you mean nearby\?/);
    await oaas("package delete nearby --yes");
  });

  test("distinguishes an unknown host from a failed TLS handshake", async () => {
    const list = async (at: string): Promise<CliResult> => oaas("package list", { env: { OAAS_PM_URL: at } });
    expect(await list("http://unknown.invalid")).toMatchObject({
      code: 6,
      err: expect.stringMatching(/cannot resolve the host of http:\/\/unknown\.invalid .*check the address/),
    });
    expect(await list(url.replace("http", "https"))).toMatchObject({
      code: 6,
      err: expect.stringMatching(/does not speak TLS; is its address http:/),
    });
  });

  test("reports the location of an invalid deployment, and the flag of an invalid assumption", async () => {
    const lost = await file("lost.yaml", "key: lost\npackage_name: nopackage\nclass_key: C\n");
    for (const line of [`plan -f ${lost}`, `apply -f ${lost}`]) {
      const seen = await oaas(line);
      expect({ line, code: seen.code, out: seen.out }).toEqual({ line, code: 3, out: "" });
      expect(seen.err).toMatch(/"nopackage" was not found\n.*lost\.yaml:2:15 \$\.package_name: .*apply it first/);
    }
    const assumed = await oaas(`plan -f ${ORDER} --cluster-down mars`);
    expect(assumed.err).toMatch(/--cluster-down: mars is not a known cluster|was not found/);
  });

  test("reports the location of invalid YAML", async () => {
    const seen = await oaas(`apply -f ${await file("bad.yaml", "name: x\nclasses: [\n")}`);
    expect(seen.code).toBe(2);
    expect(seen.err).toMatch(/bad\.yaml:\d+:\d+: /);
  });

  test("explains why a plan fails without clusters", async () => {
    const plan = await oaas(`plan -f ${ORDER}`);
    expect(plan.code).not.toBe(0);
    expect(plan.err).toMatch(/error: .*\n/);
    expect((await oaas("cluster list")).out).toBe("No clusters.\n");
  });

  test("reports an unreachable package manager by exit code and hint", async () => {
    const seen = await oaas("package list", { env: { OAAS_PM_URL: "http://127.0.0.1:1" } });
    expect(seen.code).toBe(6);
    expect(seen.err).toMatch(/cannot connect to http:\/\/127\.0\.0\.1:1 .*oaas doctor/);
    const doctor = await oaas("doctor", { env: { OAAS_PM_URL: "http://127.0.0.1:1" } });
    expect(doctor.code).toBe(1);
    expect(doctor.out).toMatch(/package manager\s+failed/);
    const here = await oaas("doctor");
    expect(here.out).toMatch(/access\s+ok/);
    expect(here.out).toMatch(/clusters\s+failed\s+no clusters/);
  });

  test("health and doctor report why a cluster is unreachable", async () => {
    await oaas("cluster add mars http://127.0.0.1:9");
    const { code, out } = await oaas("cluster health mars");
    expect(code).toBe(1);
    expect(out).toMatch(/^NAME .*ERROR\nmars +Unknown .*ECONNREFUSED/);
    expect((await oaas("doctor")).out).toMatch(/clusters\s+failed\s+mars is Unknown \(.*ECONNREFUSED/);
    await oaas("cluster remove mars --yes");
  });

  test("saves contexts in a file that only the owner can read", async () => {
    const alone = createCliRunner(path.join(home, "person"));
    expect((await alone("context list")).out).toContain("http://127.0.0.1:8080");
    const login = await alone(`login --name here --token secret ${url}`);
    expect(login.code).toBe(0);
    const kept = path.join(home, "person", ".oaas", "config.yaml");
    expect((await stat(kept)).mode & 0o777).toBe(0o600);
    expect((await alone("context list")).out).toMatch(/\*\s+here\s+http.*saved/);
    expect((await alone("context list")).out).not.toContain("secret");
    expect((await alone("package list")).code).toBe(0);
    expect((await alone("context remove here")).err).toContain("current context");
    expect((await alone("ctx use local")).code).toBe(0);
    expect(await alone("context rm here"), "removing a token needs confirmation").toMatchObject({ code: 2, out: "" });
    expect(await alone("context rm here", { answers: ["n"] })).toMatchObject({ code: 1, out: "" });
    expect((await alone("context rm here", { answers: ["y"] })).out).toBe("Removed context here.\n");
    await alone(`context set other --pm ${url}`);
    expect((await alone("context get -o name")).out).toContain("context/other\n");
    await writeFile(kept, `current_context: a\ncontexts: { a: { pm_url: "${url}", token: x } }\n`);
    await chmod(kept, 0o644);
    expect((await alone("package list")).err).toMatch(/other users can read the tokens.*chmod 600/s);
    await writeFile(kept, "contexts: 5\n");
    const broken: CliResult = await alone("package list");
    expect(broken.code).toBe(2);
    expect(broken.err).toContain("oaas login");
  });

  test("prints the outcome of writes as JSON", async () => {
    const other = await file("other.yaml", (await readText(SHOP)).replace("name: shop", "name: other"));
    expect(JSON.parse((await oaas(`apply -f ${other} --dry-run -o json`)).out)).toMatchObject([
      { kind: "package", name: "other", result: "would create" },
    ]);
    expect(JSON.parse((await oaas(`apply -f ${other} -o json`)).out)).toEqual([
      { kind: "package", name: "other", result: "created", message: null },
    ]);
    expect((await oaas(["diff", "-f", other, "-o", "json"])).out).toBe("[]\n");
    expect((await oaas(["package", "delete", "other", "--yes", "-o", "jsonpath={.name} {.result}"])).out).toBe(
      "other deleted\n",
    );
  });

  test("accepts commands of the earlier Rust CLI", async () => {
    expect((await oaas(`pkg a ${SHOP} -p renamed -O`)).out).toBe("package/renamed created\n");
    expect((await oaas("cls ls renamed -o name")).out).toBe("class/renamed.Order\n");
    expect((await oaas("envs list")).out).toBe("No clusters.\n");
    const renamed = await file("renamed.yaml", (await readText(SHOP)).replace("name: shop", "name: renamed"));
    expect((await oaas(`package delete ${renamed} --yes`)).out).toBe("package/renamed deleted\n");
  });

  test("describes fields and rejects unknown ones", async () => {
    expect((await oaas("explain package.classes")).out).toMatch(
      /^package\.classes {2}list of object\n.*function_bindings\s+list of object/s,
    );
    expect(await oaas("explain package.clases")).toMatchObject({ code: 2, out: "" });
    expect(JSON.parse((await oaas("explain deployment.rollout.gate -o json")).out)).toMatchObject({
      type: "string",
      allowed: ["none", "accepted", "available"],
    });
  });

  test("distinguishes a missing, an expired and a rejected token", async () => {
    const server = createServer((_, response) => {
      response.writeHead(401, { "content-type": "application/problem+json" });
      response.end(JSON.stringify({ status: 401, code: "OAAS_UNAUTHENTICATED", detail: "The JWT has expired" }));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const claims = Buffer.from(JSON.stringify({ exp: 1_000_000_000 })).toString("base64url");
    for (const [token, words] of [
      ["", /no token is saved.*set OAAS_TOKEN/],
      [`e30.${claims}.x`, /the token expired \d+d ago; log in again/],
      ["opaque", /rejected the saved token; log in again/],
    ] as const) {
      const env = { OAAS_PM_URL: `http://127.0.0.1:${port}`, OAAS_TOKEN: token };
      const seen = await oaas("package list", { env });
      expect({ code: seen.code, out: seen.out }).toEqual({ code: 4, out: "" });
      expect(seen.err).toMatch(words);
    }
    server.close();
  });

  test.each([
    ["pkg a", "package apply"],
    ["p create", "package apply"],
    ["package c", "package apply"],
    ["pkg rm", "package delete"],
    ["p d", "package delete"],
    ["package r", "package delete"],
    ["deploy a", "deployment apply"],
    ["dep list", "deployment list"],
    ["de delete", "deployment delete"],
    ["cls list", "class list"],
    ["c list", "class list"],
    ["fn list", "function list"],
    ["f list", "function list"],
    ["class-runtimes list", "runtime list"],
    ["cr list", "runtime list"],
    ["runtimes list", "runtime list"],
    ["rts list", "runtime list"],
    ["environments list", "cluster list"],
    ["envs list", "cluster list"],
    ["env list", "cluster list"],
    ["clu list", "cluster list"],
    ["cl list", "cluster list"],
    ["ctx set", "context set"],
    ["context get", "context list"],
    ["ctx select", "context select"],
  ])("%s is an alias of %s", async (earlier, now) => {
    // Compare description and examples; the usage lines repeat the alias.
    const about = ({ out }: CliResult): string | undefined => /\n\n(.*?)\n\n(?:ALIASES|FLAGS)/s.exec(out)?.[1];
    const here = about(await oaas(`${now} --help`));
    expect(here).toContain("Examples:");
    expect(about(await oaas(`${earlier} --help`))).toBe(here);
  });

  test("completes commands, subcommands, flags and files in bash", async () => {
    const launcher = path.join(ROOT, "apps", "cli", "bin", "oaas.cjs");
    const script = (await oaas("completion bash")).out;
    const complete = (...words: readonly string[]): string[] => {
      const typed = words.map((word) => `'${word}'`).join(" ");
      const code = `oaas() { "${process.execPath}" "${launcher}" "$@"; }\n${script}
        COMP_WORDS=(oaas ${typed}); COMP_CWORD=${words.length}; _oaas_complete; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync("bash", ["-c", code], { encoding: "utf8" }).trim().split("\n");
    };
    expect(complete("pack")).toEqual(["package"]);
    expect(complete("package", "ro")).toEqual(["rollback"]);
    expect(complete("package", "list", "--pat")).toEqual(["--pattern"]);
    expect(complete("apply", "-f", "sho")).toEqual([""]);
  });

  test("proposes commands for completion", async () => {
    expect((await oaas(["__complete", "dep"])).out).toContain("deployment");
    expect((await oaas(["__complete", "package", ""])).out.split("\n")).toContain("rollback");
    for (const shell of ["bash", "zsh", "fish"])
      expect((await oaas(`completion ${shell}`)).out).toContain("oaas __complete");
  });

  test("streams events", async () => {
    const following = oaas("events --topic package --count 1 -o name");
    await eventually(async () => {
      await oaas(`apply -f ${SHOP}`);
      await oaas("package delete shop --yes");
      return Promise.race([
        following.then(() => true),
        new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 200)),
      ]);
    });
    expect((await following).out).toBe("package/shop\n");
  });
});
