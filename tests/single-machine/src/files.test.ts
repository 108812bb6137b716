import { parseConfig } from "@oaas/config";
import { describe, expect, test } from "vitest";
import { crmConfig } from "../../../apps/class-runtime-manager/src/config.ts";
import { pmConfig } from "../../../apps/package-manager/src/config.ts";
import { PROGRAM_FOLDER, PROGRAMS, settingsOf } from "../../../tools/images/programs.ts";
import { readCompose, readUnit } from "./files.ts";

const SCHEMAS = { "package-manager": pmConfig, "class-runtime-manager": crmConfig } as const;
const MANAGERS = ["package-manager", "class-runtime-manager"] as const;
const compose = readCompose();

/** The problems of settings. Files of secrets have a content. */
function problemsOf(name: (typeof MANAGERS)[number], env: Readonly<Record<string, string>>): readonly string[] {
  const parsed = parseConfig<unknown>(SCHEMAS[name], { env, readFile: () => "secret" });
  return parsed.ok ? [] : parsed.error.map(({ path, message }) => `${path} ${message}`);
}

describe.each(MANAGERS)("the service %s of the Compose file", (name) => {
  const service = compose.services[name];

  test("has the image of npm run images, and another registry and version by variables", () => {
    expect(service?.image).toMatch(new RegExp(`^oaas/${name}:\\d+\\.\\d+\\.\\d+$`));
    const other = readCompose({ OAAS_REGISTRY: "registry.example/", OAAS_VERSION: "9.9.9" });
    expect(other.services[name]?.image).toBe(`registry.example/oaas/${name}:9.9.9`);
  });

  test("is restricted as its image permits", () => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] });
  });

  test("is checked with a program of its image", () => {
    const program = PROGRAMS.find((one) => one.name === name);
    if (program === undefined) throw new Error(`no image ${name}`);
    expect(service?.healthcheck?.test.slice(0, 2)).toEqual(["CMD", settingsOf(program).entrypoint[0]]);
    expect(service?.healthcheck?.test.at(-1)).toContain(
      `127.0.0.1:${Number.parseInt(program.ports[0] ?? "", 10)}/readyz`,
    );
  });
});

test("the Compose file publishes ports on loopback only", () => {
  const ports = Object.values(compose.services).flatMap(({ ports: published = [] }) => published);
  expect(ports).toEqual(["127.0.0.1:8080:8080"]);
});

test("the Compose file declares every secret and volume that it uses, and no other", () => {
  const services = Object.values(compose.services);
  const secrets = new Set(services.flatMap(({ secrets: used = [] }) => used));
  expect(Object.keys(compose.secrets).toSorted()).toEqual([...secrets].toSorted());
  const volumes = new Set(services.flatMap(({ volumes: used = [] }) => used.map((one) => one.split(":")[0] ?? "")));
  expect(Object.keys(compose.volumes).toSorted()).toEqual([...volumes].toSorted());
  const files = services.flatMap(
    ({ environment = {} }) => JSON.stringify(environment).match(/\/run\/secrets\/[\w-]+/g) ?? [],
  );
  expect([...new Set(files.map((file) => file.slice("/run/secrets/".length)))].toSorted()).toEqual(
    [...secrets].toSorted(),
  );
});

describe.each(MANAGERS)("the systemd unit of the %s", (name) => {
  const unit = readUnit(`oaas-${name}.service`);

  test("starts the bundle where the image has it, as a user that is not root", () => {
    expect(unit.get("ExecStart")).toEqual([`/usr/bin/node /${PROGRAM_FOLDER}/${name}.mjs`]);
    expect(unit.get("User")).toEqual(["oaas"]);
  });

  test("sets only settings that the program has", () => {
    const pairs = (unit.get("Environment") ?? []).flatMap((line) => line.split(" ")).map((pair) => pair.split("=", 2));
    expect(problemsOf(name, Object.fromEntries(pairs) as Record<string, string>)).toEqual([]);
  });
});

test.each(MANAGERS)("the Compose file sets only settings that the %s has", (name) => {
  expect(problemsOf(name, compose.services[name]?.environment ?? {})).toEqual([]);
});
