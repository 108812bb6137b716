import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { annotationsOf, PROGRAMS, settingsOf } from "../../../tools/images/programs.ts";
import { ROOT } from "../../../tools/tasks/root.ts";
import { readStages } from "./containerfile.ts";

const TEXT = readFileSync(path.join(ROOT, "deploy", "images", "Containerfile"), "utf8");
const [build, ...stages] = readStages(TEXT);

test("the Containerfile has one image for each of npm run images", () => {
  expect(stages.map(({ name }) => name)).toEqual(PROGRAMS.map(({ name }) => name));
});

test("the build stage writes the root file systems with the tool of npm run images", () => {
  expect(build?.name).toBe("build");
  expect(build?.from).toMatch(/^--platform=\$BUILDPLATFORM node:24-slim@sha256:[0-9a-f]{64}$/);
  expect(build?.runs).toEqual([
    "node tools/bootstrap.mjs images --root-file-systems --platform linux/$TARGETARCH --out /root-file-systems " +
      "&& mv /root-file-systems/$TARGETARCH /target",
  ]);
});

describe.each(PROGRAMS)("the image $name", (program) => {
  const stage = stages.find(({ name }) => name === program.name);

  test("has exactly the root file system of that program, without further instructions", () => {
    expect(stage?.from).toBe("scratch");
    expect(stage?.copies).toEqual([`--from=build /target/${program.name}/ /`]);
    expect(stage?.runs).toEqual([]);
  });

  test("has the run settings and labels of npm run images", () => {
    const { entrypoint, env, ports, user, workingDir } = settingsOf(program);
    expect(stage).toMatchObject({ entrypoint, env, ports, user, workingDir });
    const { title, description, licenses } = Object.fromEntries(
      Object.entries(annotationsOf(program, { version: "0", created: "0" })).map(([name, value]) => [
        name.slice(name.lastIndexOf(".") + 1),
        value,
      ]),
    );
    const prefix = "org.opencontainers.image";
    expect(stage?.labels).toEqual({
      [`${prefix}.title`]: title,
      [`${prefix}.description`]: description,
      [`${prefix}.licenses`]: licenses,
    });
  });
});

test("instructions that the comparison does not know are rejected", () => {
  expect(() => readStages("FROM scratch AS x\nVOLUME /data\n")).toThrow("unknown instruction VOLUME");
});
