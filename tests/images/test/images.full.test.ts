import { generateKeyPairSync } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  componentFile,
  describeWith,
  eventually,
  freePorts,
  makeAuthority,
  makeRunFolder,
  onFreePorts,
  probe,
  runCommand,
  startKubeTarget,
  startProcess,
  untilReady,
  type ProcessUnderTest,
  type RunFolder,
} from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../../../tools/tasks/root.ts";
import { listTree } from "./list-tree.ts";
import { indexDigest, runContainer, startContainer, unpackImage, type UnpackedImage } from "./container.ts";

const { version: VERSION } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as { version: string };
const NAMES = ["package-manager", "class-runtime-manager", "cli"] as const;
const HOST = process.arch === "arm64" ? "arm64" : "amd64";

describeWith(["crane", "regctl", "kubernetes"], "images", () => {
  let folder: RunFolder;
  let out = "";
  beforeAll(async () => {
    folder = await makeRunFolder("images");
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    writeFileSync(file("key.pem"), privateKey.export({ type: "pkcs8", format: "pem" }));
    writeFileSync(file("key.pub"), publicKey.export({ type: "spki", format: "pem" }));
    out = file("first");
    await images("--out", out, "--signing-key", file("key.pem"));
  });
  afterAll(() => folder.remove());

  function file(name: string): string {
    return path.join(folder.path, name);
  }

  it("have the same digests and archives in a second build", async () => {
    await images("--out", file("second"));
    for (const name of NAMES) {
      expect(indexDigest(path.join(file("second"), name)), name).toBe(indexDigest(path.join(out, name)));
    }
    const checksums = readFileSync(path.join(out, "SHA256SUMS"), "utf8");
    expect(readFileSync(path.join(file("second"), "SHA256SUMS"), "utf8")).toBe(checksums);
    expect(checksums.trim().split("\n")).toHaveLength(6);
    const checked = await runCommand("sha256sum", ["--check", "SHA256SUMS"], { cwd: out });
    expect(checked.exitCode).toBe(0);
  });

  it("are verified with the public key", async () => {
    const output = await images("--out", out, "--verify", "--public-key", file("key.pub"));
    expect(output.match(/verified, signed/g)).toHaveLength(3);
  });

  it("have archives that crane validates", async () => {
    for (const name of readdirSync(out).filter((name) => name.endsWith(".tar"))) {
      await crane("validate", "--tarball", path.join(out, name));
    }
  });

  describe("in a registry", () => {
    let registry: { readonly process: ProcessUnderTest; readonly host: string };
    const repository = (name: string): string => `${registry.host}/oaas/${name}`;
    beforeAll(async () => {
      registry = await onFreePorts(1, async ([port = 0]) => {
        const host = `127.0.0.1:${port}`;
        const process = await startProcess({
          command: componentFile("crane"),
          args: ["registry", "serve", "--address", host],
          cwd: folder.path,
          logFile: file("registry.log"),
        });
        await untilReady(process, async () => (await probe(`http://${host}/v2/`)).status === 200);
        return { process, host };
      });
      for (const name of NAMES) {
        const source = `ocidir://${path.join(out, name)}:${VERSION}`;
        await regctl("image", "copy", "--referrers", "--digest-tags", source, `${repository(name)}:${VERSION}`);
      }
    });
    afterAll(async () => void (await registry.process.stop()));

    function regctl(...args: readonly string[]): Promise<string> {
      return succeed(componentFile("regctl"), ["--host", `reg=${registry.host},tls=disabled`, ...args]);
    }

    it.each(NAMES)("%s keeps its digest and is valid for both platforms", async (name) => {
      const reference = `${repository(name)}:${VERSION}`;
      expect((await crane("digest", reference)).trim()).toBe(indexDigest(path.join(out, name)));
      for (const platform of ["linux/amd64", "linux/arm64"])
        await crane("validate", "--remote", reference, "--platform", platform);
      const config = JSON.parse(await crane("config", "--platform", "linux/arm64", reference)) as object;
      expect(config).toMatchObject({ os: "linux", architecture: "arm64", config: { User: "65532:65532" } });
    });

    it.each(NAMES)("%s has its provenance, bills of materials and signatures", async (name) => {
      const tree = await regctl("artifact", "tree", `${repository(name)}:${VERSION}`);
      expect(tree.match(/application\/vnd\.dsse\.envelope/g)).toHaveLength(1);
      expect(tree.match(/application\/vnd\.cyclonedx\+json/g)).toHaveLength(2);
      expect(tree.match(/application\/vnd\.dev\.cosign\.artifact\.sig/g)).toHaveLength(5);
      const tags = await crane("ls", repository(name));
      expect(tags.split("\n")).toContain(`${indexDigest(path.join(out, name)).replace(":", "-")}.sig`);
    });

    it("is pulled with the same content", async () => {
      const pulled = file("pulled");
      await crane("pull", "--format", "oci", `${repository("cli")}:${VERSION}`, pulled);
      expect(indexDigest(pulled)).toBe(indexDigest(path.join(out, "cli")));
      const exported = await crane(
        "export",
        "--platform",
        `linux/${HOST}`,
        `${repository("cli")}:${VERSION}`,
        file("cli.tar"),
      );
      expect(exported).toBe("");
      const listing = await succeed("tar", ["-tf", file("cli.tar")]);
      expect(listing.split("\n")).toContain("opt/oaas/cli.mjs");
    });
  });

  describe.runIf(process.getuid?.() === 0)("unpacked", () => {
    const unpacked = new Map<string, UnpackedImage>();
    beforeAll(async () => {
      for (const name of NAMES) unpacked.set(name, await unpackImage(path.join(out, name), HOST, file(`root-${name}`)));
    });
    const imageOf = (name: string): UnpackedImage => {
      const found = unpacked.get(name);
      if (found === undefined) throw new Error(`no image ${name}`);
      return found;
    };

    it.each(NAMES)("%s has no shell, no set-user-id file, and exactly the libraries that Node loads", async (name) => {
      const { root } = imageOf(name);
      expect(readdirSync(path.join(root, "usr", "bin"))).toEqual(["node"]);
      const special = await succeed("find", [root, "-perm", "/6000"]);
      expect(special).toBe("");
      const ld = HOST === "amd64" ? "/lib64/ld-linux-x86-64.so.2" : "/lib/ld-linux-aarch64.so.1";
      const listed = await succeed("chroot", [root, ld, "--list", "/usr/bin/node"]);
      const loaded = [...listed.matchAll(/=> \/\S+\/(\S+\.so[.\d]*) /g)].map(([, library]) => library ?? "");
      const libraries = readdirSync(
        path.join(root, "usr", "lib", HOST === "amd64" ? "x86_64-linux-gnu" : "aarch64-linux-gnu"),
      );
      // libstdc++ is a link to its version.
      const present = libraries.filter((library) => !/^ld-linux|\.so\.6\.\d/.test(library));
      expect(present.toSorted()).toEqual(loaded.filter((library) => !library.startsWith("ld-linux")).toSorted());
    });

    it("the command line runs as a user that is not root, on a read-only root file system", async () => {
      const help = await runContainer(imageOf("cli"), { args: ["--help"] });
      expect(help).toMatchObject({ exitCode: 0, output: expect.stringMatching(/oaas apply/) as string });
      const unreachable = await runContainer(imageOf("cli"), {
        args: ["package", "list"],
        env: { OAAS_PM_URL: "http://127.0.0.1:9" },
      });
      expect(unreachable.output).toMatch(/127\.0\.0\.1:9/);
      expect(unreachable.exitCode).toBeGreaterThan(0);
    });

    it.each(["package-manager", "class-runtime-manager"])("%s prints its help", async (name) => {
      const { exitCode, output } = await runContainer(imageOf(name), { args: ["--help"] });
      expect(output).toMatch(/Settings are environment variables/);
      expect(exitCode).toBe(0);
    });

    it("the package manager serves with a durable store as process 1, and stops on SIGTERM", async () => {
      const [port = 0] = await freePorts(1);
      const log = file("pm.log");
      const manager = await startContainer(imageOf("package-manager"), log, {
        volumes: ["/var/lib/oaas"],
        env: { SERVER_PORT: String(port), STORAGE_TYPE: "sqlite", LOG_FORMAT: "json" },
      });
      await untilReady(manager, async () => (await probe(`http://127.0.0.1:${port}/readyz`)).status === 200);
      const health = await probe(`http://127.0.0.1:${port}/health`);
      expect(health.status).toBe(200);
      const program = await programOf("/opt/oaas/package-manager.mjs");
      expect(program).toMatchObject({ Uid: "65532\t65532\t65532\t65532", Gid: "65532\t65532\t65532\t65532" });
      expect(program["NSpid"]?.split("\t").at(-1)).toBe("1");
      expect(await manager.stop(60_000)).toMatchObject({ code: 0 });
    });

    it("the package manager serves the console and its files with a strict policy", async () => {
      const [port = 0] = await freePorts(1);
      const manager = await startContainer(imageOf("package-manager"), file("pm-console.log"), {
        volumes: ["/var/lib/oaas"],
        env: { SERVER_PORT: String(port), STORAGE_TYPE: "memory" },
      });
      const url = `http://127.0.0.1:${port}`;
      await untilReady(manager, async () => (await probe(`${url}/readyz`)).status === 200);
      const page = await fetch(url, { headers: { accept: "text/html" }, redirect: "manual" });
      expect(page.status).toBe(200);
      const policy = page.headers.get("content-security-policy") ?? "";
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      const named = [...(await page.text()).matchAll(/(?:src|href)="(?<file>\/[^"]+\.(?:js|css|svg))"/g)];
      expect(named.length).toBeGreaterThan(2);
      for (const { groups } of named) {
        const answer = await fetch(url + (groups?.["file"] ?? ""));
        expect(answer.status, groups?.["file"]).toBe(200);
        expect(answer.headers.get("content-type")).toMatch(/javascript|css|svg/);
        expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
        expect((await answer.text()).length).toBeGreaterThan(100);
      }
      // A page of the console that is opened by its address.
      const inner = await fetch(`${url}/deployments`, { headers: { accept: "text/html" } });
      expect(inner.headers.get("content-type")).toMatch(/text\/html/);
      expect(inner.headers.get("content-security-policy")).toBe(policy);
      expect(await manager.stop(60_000)).toMatchObject({ code: 0 });
    });

    it("the package manager names the folder that it cannot write to", async () => {
      const { exitCode, output } = await runContainer(imageOf("package-manager"), {
        env: { SERVER_PORT: "0", STORAGE_TYPE: "sqlite" },
      });
      expect(exitCode).toBeGreaterThan(0);
      expect(output).toMatch(/oaas-pm\.db/);
    });

    it("the class runtime manager becomes ready on an API server", async () => {
      await using cluster = await startKubeTarget({}, "embedded");
      await cluster.kubectl(["apply", "--server-side", "-f", path.join(ROOT, "deploy", "crds")]);
      const kubeconfig = await succeed(componentFile("kubectl"), [
        "config",
        "view",
        "--raw",
        "--flatten",
        `--kubeconfig=${cluster.kubeconfig}`,
      ]);
      const image = imageOf("class-runtime-manager");
      writeFileSync(path.join(image.root, "kubeconfig"), kubeconfig, { mode: 0o644 });
      const [port = 0] = await freePorts(1);
      const manager = await startContainer(image, file("crm.log"), {
        env: { KUBECONFIG: "/kubeconfig", HTTP_PORT: String(port), OPRC_CRM_HTTP_HOST: "127.0.0.1" },
      });
      await untilReady(manager, async () => (await probe(`http://127.0.0.1:${port}/healthz`)).status === 200);
      await eventually(async () => expect((await probe(`http://127.0.0.1:${port}/readyz`)).status).toBe(200));
      expect(await manager.stop(60_000)).toMatchObject({ code: 0 });
    });

    it("Node trusts a certificate authority that replaces the file of the image", async () => {
      const authority = makeAuthority("mounted");
      const { root } = imageOf("cli");
      const bundle = path.join(root, "etc", "ssl", "certs", "ca-certificates.crt");
      expect(readFileSync(bundle, "utf8").match(/BEGIN CERTIFICATE/g)?.length).toBeGreaterThan(100);
      writeFileSync(bundle, authority.certificate);
      const script = `console.log(require("node:tls").getCACertificates().includes(${JSON.stringify(authority.certificate)}))`;
      const { output } = await runContainer(
        { ...imageOf("cli"), config: { ...imageOf("cli").config, Entrypoint: ["/usr/bin/node"] } },
        { args: ["-e", script] },
      );
      expect(output).toBe("true\n");
    });

    it("the root file systems for the Containerfile have the same files, modes and owners", async () => {
      const trees = file("trees");
      await images("--out", trees, "--root-file-systems", "--platform", `linux/${HOST}`);
      for (const name of NAMES) {
        const fresh = await unpackImage(path.join(out, name), HOST, file(`compared-${name}`));
        expect(await listTree(path.join(trees, HOST, name)), name).toEqual(await listTree(fresh.root));
      }
    });

    it("programs of arm64 are in the images of arm64", async () => {
      const { root } = await unpackImage(path.join(out, "cli"), "arm64", file("root-arm64"));
      // The machine of an ELF file is at byte 18; 183 is AArch64.
      const libraries = readdirSync(path.join(root, "usr", "lib", "aarch64-linux-gnu")).map(
        (name) => `usr/lib/aarch64-linux-gnu/${name}`,
      );
      for (const program of ["usr/bin/node", ...libraries]) {
        expect(readFileSync(path.join(root, program)).readUInt16LE(18), program).toBe(183);
      }
    });
  });
});

async function succeed(command: string, args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCommand(command, args, { timeoutMs: 300_000 });
  if (exitCode !== 0) throw new Error(`${command} ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

function crane(...args: readonly string[]): Promise<string> {
  return succeed(componentFile("crane"), args);
}

/** Runs npm run images with the environment of this process, because npm finds its registry there. */
async function images(...args: readonly string[]): Promise<string> {
  const env = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const all = [path.join(ROOT, "tools", "run.ts"), "images", ...args];
  const { exitCode, stdout, stderr } = await runCommand(process.execPath, all, {
    env: Object.fromEntries(env),
    timeoutMs: 600_000,
  });
  if (exitCode !== 0) throw new Error(stdout + stderr);
  return stdout;
}

/** The fields of /proc/PID/status of the process with this program. */
async function programOf(program: string): Promise<Readonly<Record<string, string>>> {
  return eventually(() => {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      if (line !== `/usr/bin/node\0${program}\0`) continue;
      const fields = readFileSync(`/proc/${pid}/status`, "utf8")
        .split("\n")
        .map((field) => field.split(":\t"));
      return Object.fromEntries(fields) as Record<string, string>;
    }
    throw new Error(`${program} does not run`);
  });
}
