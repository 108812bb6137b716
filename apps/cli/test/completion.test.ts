import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { componentFile, describeWith } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCliRunner } from "./cli-runner.ts";
import { missingTerminalReason, runInTerminal } from "./pseudo-terminal.ts";

const CLI = path.resolve(import.meta.dirname, "..", "src", "main.ts");

/** The objects of a package manager, as far as completion reads them. */
const OBJECTS: Readonly<Record<string, readonly object[]>> = {
  "/api/v1/deployments": [{ key: "hello" }, { key: "shop-order" }, { key: "shop-cart" }],
  "/api/v1/packages": [{ name: "shop" }],
  "/api/v1/clusters": [{ name: "edge" }, { name: "cloud" }],
  "/api/v1/classes": [{ key: "shop.Order" }],
};

let folder: string;
let server: Server;
let url: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "oaas-completion-"));
  server = createServer((request, response) => {
    const [where = ""] = (request.url ?? "").split("?");
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(OBJECTS[where] ?? []));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("oaas __complete", () => {
  const complete = async (words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string[]> => {
    const { code, out, err } = await createCliRunner(folder, { OAAS_PM_URL: url, ...env })(["__complete", ...words]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    return out.split("\n").filter((line) => line !== "");
  };

  test.each<[string, readonly string[]]>([
    ["get deploym", ["deployments", "deployment"]],
    ["get al", ["all"]],
    ["get deploy sh", ["shop-order", "shop-cart"]],
    ["get deploy shop-order sh", ["shop-cart"]],
    ["get -o json deploy he", ["hello"]],
    ["-o json get deploy he", ["hello"]],
    ["describe deploy/he", ["deploy/hello"]],
    ["delete pkg/", ["pkg/shop"]],
    ["rollout undo deployment/shop-c", ["deployment/shop-c".replace(/c$/, "cart")]],
    ["get pods ", []],
    ["deployment status h", ["hello"]],
    ["logs deployment/h", ["deployment/hello"]],
    ["explain shop-o", ["shop-order"]],
    ["explain func", ["function"]],
    ["package get ", ["shop"]],
    ["class list ", ["shop.Order"]],
    ["cluster health e", ["edge"]],
    ["top --cluster c", ["cloud"]],
    ["top --cluster=c", ["--cluster=cloud"]],
    ["plan --cluster-down ", ["edge", "cloud"]],
    ["lab run cluster-d", ["cluster-down"]],
    ["context select l", ["local"]],
    ["get pkg --context l", ["local"]],
    ["deployment list --condition R", ["Running"]],
    ["events --topic clu", ["cluster"]],
    ["init --state S", ["STRONG"]],
    ["completion z", ["zsh"]],
    ["get deploy -o cu", ["custom-columns="]],
    ["get deploy --sort", ["--sort-by"]],
    ["roll", ["rollout"]],
    ["package ro", ["rollback"]],
  ])("%j proposes %j", async (line, expected) => {
    expect(await complete(line.split(" "))).toEqual(expected);
  });

  test("proposes flags after a dash only", async () => {
    expect(await complete(["apply", ""])).toEqual([]);
    expect(await complete(["apply", "-"])).toContain("--filename");
  });

  test("bash's words around = are one word", async () => {
    expect(await complete(["top", "--cluster", "=", "c"])).toEqual(["cloud"]);
    expect(await complete(["top", "--cluster", "="])).toEqual(["edge", "cloud"]);
  });

  test("is silent when the package manager is down, hangs, or the context does not exist", async () => {
    expect(await complete(["get", "deploy", ""], { OAAS_PM_URL: "http://127.0.0.1:1" })).toEqual([]);
    const hanging = createServer(() => undefined);
    await once(hanging.listen(0, "127.0.0.1"), "listening");
    const { port } = hanging.address() as AddressInfo;
    expect(await complete(["get", "deploy", ""], { OAAS_PM_URL: `http://127.0.0.1:${port}` })).toEqual([]);
    hanging.closeAllConnections();
    hanging.close();
    expect(await complete(["get", "deploy", "--context", "nowhere", ""])).toEqual([]);
  });
});

/** Types a line with Tab into a real shell; the command `oaas` of the shell prints what it would run. */
async function typeInto(
  shell: readonly string[],
  line: string,
  { env, setUp }: { readonly env: Readonly<Record<string, string>>; readonly setUp: string },
): Promise<string | undefined> {
  const programs = path.join(folder, "bin");
  mkdirSync(programs, { recursive: true });
  const program = path.join(programs, "oaas");
  writeFileSync(
    program,
    `#!/bin/sh\ncase $1 in __complete|completion) exec "${process.execPath}" "${CLI}" "$@" ;; esac\necho "RAN:$*:"\n`,
  );
  chmodSync(program, 0o755);
  const { raw } = await runInTerminal(shell, {
    cwd: folder,
    env: { HOME: folder, OAAS_PM_URL: url, PATH: `${programs}:${process.env["PATH"] ?? ""}`, ...env },
    input: [
      { after: "START>", text: `${setUp}; echo SET''UP\r` },
      { after: "SETUP", text: `${line}\r` },
      { after: "RAN:", text: "exit\r" },
    ],
  });
  // The program's output starts a line; the echo of the typed line does not contain the marker.
  return /RAN:(?<words>[^:]*):/.exec(raw)?.groups?.["words"];
}

const LINES: readonly (readonly [string, string])[] = [
  ["oaas describe deployment hel\t", "describe deployment hello"],
  ["oaas get deploy/hel\t", "get deploy/hello"],
  ["oaas top --cluster clo\t", "top --cluster cloud"],
  ["oaas deployment list --condition Run\t", "deployment list --condition Running"],
  ["oaas lab run cluster-d\t", "lab run cluster-down"],
];

const noTerminal = missingTerminalReason();
const needsTerminal = noTerminal === undefined || process.env["CI"] === "true" ? describe : describe.skip;
if (noTerminal !== undefined) process.stderr.write(`SKIPPED "completion in a shell": ${noTerminal}\n`);

needsTerminal("completion in a shell", () => {
  test.each(LINES)("bash completes %j", async (line, expected) => {
    const options = { env: { PS1: "START>" }, setUp: "source <(oaas completion bash)" };
    expect(await typeInto(["bash", "--norc", "--noprofile", "-i"], line, options)).toBe(expected);
  });

  test("bash completes a value after = and files after -f", async () => {
    const options = { env: { PS1: "START>" }, setUp: "source <(oaas completion bash); touch shop.yaml" };
    const bash = ["bash", "--norc", "--noprofile", "-i"];
    expect(await typeInto(bash, "oaas top --cluster=clo\t", options)).toBe("top --cluster=cloud");
    expect(await typeInto(bash, "oaas apply -f sho\t", options)).toBe("apply -f shop.yaml");
  });

  describeWith(["zsh"], "zsh", () => {
    beforeAll(() => {
      const root = path.resolve(componentFile("zsh"), "..", "..");
      // zsh has its folders compiled in, and here it is unpacked elsewhere.
      const settings = `module_path=(${root}/usr/lib/*/zsh/*(/)); fpath=(${root}/usr/share/zsh/functions/**/*(/))
autoload -Uz compinit; compinit -u -D; PS1='START>'\n`;
      writeFileSync(path.join(folder, ".zshrc"), settings);
    });
    const zsh = () => [componentFile("zsh"), "-i"];
    const options = () => ({ env: { ZDOTDIR: folder }, setUp: "source <(oaas completion zsh)" });

    test.each(LINES)("completes %j", async (line, expected) => {
      expect(await typeInto(zsh(), line, options())).toBe(expected);
    });
    test("completes files after -f", async () => {
      writeFileSync(path.join(folder, "shop.yaml"), "");
      expect(await typeInto(zsh(), "oaas apply -f sho\t", options())).toBe("apply -f shop.yaml");
    });
  });

  describeWith(["fish"], "fish", () => {
    const prompt = "function fish_prompt; echo -n 'START>'; end";
    const fish = () => [componentFile("fish"), "--no-config", "-i", "-C", prompt];
    const options = { env: {}, setUp: "oaas completion fish | source" };

    test.each(LINES)("completes %j", async (line, expected) => {
      expect(await typeInto(fish(), line, options)).toBe(expected);
    });
    test("completes files after -f", async () => {
      writeFileSync(path.join(folder, "shop.yaml"), "");
      expect(await typeInto(fish(), "oaas apply -f sho\t", options)).toBe("apply -f shop.yaml");
    });
  });
});
